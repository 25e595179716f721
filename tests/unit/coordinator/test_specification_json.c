#include "coordinator/specification_json.h"

#include "tests/unit/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fill_hash(uint8_t hash[MESSAGE_HASH], int seed)
{
    for (int i = 0; i < MESSAGE_HASH; i++)
        hash[i] = (uint8_t)(seed * 31 + i);
}

static struct message_player whole_player(int seed)
{
    struct message_player player = {.node_limit = 1000 + (uint64_t)seed,
                                    .depth_limit = 7,
                                    .time_ms = 20,
                                    .hash_kib = 2048,
                                    .clock_ms = 60000,
                                    .increment_ms = 100};
    fill_hash(player.weights, seed);
    fill_hash(player.engine, seed + 1);
    fill_hash(player.tables, seed + 2);
    snprintf(player.options, sizeof player.options, "Level=%d\nOwnBook=false", seed);
    return player;
}

/* Every field set to something that is no default. */
static struct message_create_experiment whole(void)
{
    struct message_create_experiment create = {
        .spec = {.kind = MESSAGE_MATCH,
                 .rules = "site,repetitions=2",
                 .seed = INT64_MAX,
                 .opening_plies = 5,
                 .noise_ppm = 123,
                 .a = whole_player(3),
                 .b = whole_player(40),
                 .with_scores = true,
                 .engine_build = "kroo-engine 1 abcdef",
                 .resign_score = 900,
                 .resign_plies = 4,
                 .resign_playout_ppm = 50000,
                 .reference_speed = 2500000},
        .pairs = 5000,
        .has_sprt = true,
        .sprt = {.model = "logistic", .elo0 = -1.25, .elo1 = 3.1, .alpha = 0.05, .beta = 0.1, .batch = 16},
        .priority = -3,
        .note = "größer",
        .audit_ppm = 20000,
        .share = 7,
        .core_cap = 12,
        .tags = "fast,x86_64",
        .on_finish = "tell all",
    };
    fill_hash(create.spec.book, 90);
    fill_hash(create.spec.adjudication, 91);
    fill_hash(create.tune, 92);
    return create;
}

static bool read_text(const char *text, struct message_create_experiment *out,
                      struct specification_names *names, char *reason)
{
    bool has_seed;
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(document);
    memset(out, 0, sizeof *out);
    bool taken = specification_json_read(document, out, names, &has_seed, reason);
    json_decref(document);
    return taken;
}

static void every_field_comes_back(void **state)
{
    (void)state;
    struct message_create_experiment create = whole(), back;
    struct specification_names names;
    char reason[SPECIFICATION_REASON_MAX] = "";
    json_t *document = specification_json_write(&create);
    char *text = json_dumps(document, JSON_REAL_PRECISION(15));
    if (!read_text(text, &back, &names, reason))
        fail_msg("%s", reason);
    json_t *again = specification_json_write(&back);
    char *second = json_dumps(again, JSON_REAL_PRECISION(15));
    assert_string_equal(second, text);
    assert_memory_equal(&back.spec.a, &create.spec.a, sizeof back.spec.a);
    assert_memory_equal(&back.spec.b, &create.spec.b, sizeof back.spec.b);
    assert_memory_equal(back.spec.book, create.spec.book, MESSAGE_HASH);
    assert_memory_equal(back.tune, create.tune, MESSAGE_HASH);
    assert_true(back.spec.seed == create.spec.seed);
    assert_close(back.sprt.elo1, 3.1, 0);
    assert_string_equal(back.note, create.note);
    assert_string_equal(back.on_finish, create.on_finish);
    assert_int_equal(back.priority, -3);
    assert_int_equal(names.a.weights[0] | names.book[0], 0);
    char differences[300];
    assert_false(specification_json_differ(&create, &back, differences, sizeof differences));
    free(text);
    free(second);
    json_decref(document);
    json_decref(again);
}

#define HEAD "\"kroo_specification\": 1, \"kind\": \"match\", \"pairs\": 2"

static void files_may_be_named(void **state)
{
    (void)state;
    struct message_create_experiment create;
    struct specification_names names;
    char reason[SPECIFICATION_REASON_MAX] = "";
    assert_true(read_text(
        "{" HEAD ", \"key\": \"k\", \"a\": {\"weights\": \"champion\", \"engine\": \"v2\", \"nodes\": 5}, "
        "\"b\": {\"weights\": \"starting\", \"tables\": \"site-6\", \"nodes\": 5}, \"sprt\": null}",
        &create, &names, reason));
    assert_string_equal(names.a.weights, "champion");
    assert_string_equal(names.a.engine, "v2");
    assert_string_equal(names.b.tables, "site-6");
    assert_string_equal(create.idempotency_key, "k");
    assert_false(create.has_sprt);
    assert_true(read_text("{\"kroo_specification\": 1, \"kind\": \"selfplay\", \"pairs\": 2, \"a\": "
                          "{\"weights\": \"starting\", "
                          "\"nodes\": 5}}",
                          &create, &names, reason));
    assert_string_equal(names.b.weights, "starting");
    assert_true(create.spec.b.node_limit == 5);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"[]", "JSON object"},
        {"{}", "kroo_specification"},
        {"{\"kroo_specification\": 2, \"kind\": \"match\", \"pairs\": 2}", "must be 1"},
        {"{\"kroo_specification\": 1, \"kind\": \"match\"}", "\"pairs\" is missing"},
        {"{\"kroo_specification\": 1, \"pairs\": 2}", "\"kind\" is missing"},
        {"{\"kroo_specification\": 1, \"kind\": \"duel\", \"pairs\": 2}", "selfplay, match or tune"},
        {"{\"kroo_specification\": 1, \"kind\": \"match\", \"pairs\": 0}", "\"pairs\" is 0, outside 1"},
        {"{\"kroo_specification\": 1, \"kind\": \"match\", \"pairs\": -4}", "\"pairs\" is -4"},
        {"{\"kroo_specification\": 1, \"kind\": \"match\", \"pairs\": 2.5}", "whole number"},
        {"{\"kroo_specification\": 1, \"kind\": \"match\", \"pairs\": \"2\"}", "whole number"},
        {"{" HEAD "}", "\"a\" is missing"},
        {"{" HEAD ", \"a\": {}}", "\"a.weights\" is missing"},
        {"{" HEAD ", \"a\": {\"weights\": \"x\"}}", "\"b\" is missing"},
        {"{" HEAD ", \"a\": {\"weights\": \"x\", \"nodez\": 1}, \"b\": {}}", "\"a.nodez\" is unknown"},
        {"{" HEAD ", \"a\": {\"weights\": \"x\", \"nodes\": -1}, \"b\": {}}", "\"a.nodes\" is -1"},
        {"{" HEAD ", \"a\": {\"weights\": \"x\", \"options\": [\"novalue\"]}, \"b\": {}}", "\"a.options\""},
        {"{" HEAD ", \"a\": {\"weights\": 7}, \"b\": {}}", "\"a.weights\" is null, a sha256 or a name"},
        {"{" HEAD ", \"a\": {\"weights\": \"x\"}, \"b\": []}", "\"b.\" is an object"},
        {"{" HEAD ", \"a\": {\"weights\": \"x\"}, \"b\": {}, \"games\": 3}", "\"games\" is unknown"},
        {"{" HEAD ", \"a\": {\"weights\": \"x\"}, \"b\": {}, \"noise_ppm\": 1000001}",
         "\"noise_ppm\" is 1000001"},
        {"{" HEAD ", \"a\": {\"weights\": \"x\"}, \"b\": {}, \"with_scores\": 1}", "true or false"},
        {"{" HEAD ", \"a\": {\"weights\": \"x\"}, \"b\": {}, \"sprt\": {\"elo0\": 0}}", "needs all of"},
        {"{" HEAD ", \"a\": {\"weights\": \"x\"}, \"b\": {}, \"tags\": null}", "\"tags\" is a text"},
        {"{" HEAD ", \"a\": {\"weights\": \"x\"}, \"b\": {}, \"book\": "
         "\"0000000000000000000000000000000000000000000000000000000000000000\"}",
         "all zeros"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct message_create_experiment create;
        struct specification_names names;
        char reason[SPECIFICATION_REASON_MAX] = "";
        if (read_text(wrong[i].text, &create, &names, reason))
            fail_msg("taken: %s", wrong[i].text);
        if (!strstr(reason, wrong[i].says))
            fail_msg("%s says \"%s\", not \"%s\"", wrong[i].text, reason, wrong[i].says);
    }
}

static void differences_are_told(void **state)
{
    (void)state;
    struct message_create_experiment there = whole(), here = whole();
    char text[300];
    here.priority = 9;
    here.share = 1;
    here.core_cap = 0;
    snprintf(here.note, sizeof here.note, "another");
    snprintf(here.tags, sizeof here.tags, "slow");
    snprintf(here.spec.engine_build, sizeof here.spec.engine_build, "another");
    assert_false(specification_json_differ(&there, &here, text, sizeof text));
    here.pairs = 6000;
    here.spec.b.node_limit = 1;
    assert_true(specification_json_differ(&there, &here, text, sizeof text));
    assert_string_equal(text, "pairs is 5000 there, 6000 here; b.nodes is 1040 there, 1 here");
    here = whole();
    here.sprt.elo1 = 4;
    assert_true(specification_json_differ(&there, &here, text, sizeof text));
    assert_string_equal(text, "sprt.elo1 is 3.1 there, 4.0 here");
    here.has_sprt = false;
    assert_true(specification_json_differ(&there, &here, text, sizeof text));
    assert_non_null(strstr(text, "sprt is {"));
    /* Never beyond the text, however much differs. */
    memset(&here, 0, sizeof here);
    here.spec.kind = MESSAGE_SELFPLAY;
    char narrow[40];
    assert_true(specification_json_differ(&there, &here, narrow, sizeof narrow));
    assert_true(strlen(narrow) < sizeof narrow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_comes_back),
        cmocka_unit_test(files_may_be_named),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(differences_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
