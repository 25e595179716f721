/* Weights as JSON: back as they went, and each fault refused with the name of its field. */
#include "proto/weights_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/weights_text.h"
#include "tests/unit/engine/kinds.h"

static struct weights *weights_of_kind(enum weights_kind kind)
{
    return kind == WEIGHTS_TABLE ? kinds_table("site", 5, 1)
           : kind == WEIGHTS_NET ? kinds_net("site", 5, 900, 4)
                                 : kinds_features("site", 5, 500, 3);
}

static void check_same_file(const struct weights *weights, const struct weights *again)
{
    void *bytes, *bytes_again;
    size_t size, size_again;
    assert_int_equal(weights_serialize(weights, &bytes, &size), WEIGHTS_OK);
    assert_int_equal(weights_serialize(again, &bytes_again, &size_again), WEIGHTS_OK);
    assert_int_equal(size_again, size);
    assert_memory_equal(bytes_again, bytes, size);
    free(bytes);
    free(bytes_again);
}

/* Parses what `root` says; takes `root`. */
static struct weights *parse(json_t *root, const char *rules, char reason[WEIGHTS_JSON_REASON])
{
    char *text = json_dumps(root, 0);
    struct weights *weights = weights_json_parse(text, strlen(text), rules, reason);
    free(text);
    json_decref(root);
    return weights;
}

static void every_kind_comes_back_as_it_was(void **state)
{
    (void)state;
    char reason[WEIGHTS_JSON_REASON];
    for (int kind = WEIGHTS_TABLE; kind <= WEIGHTS_FEATURES; kind++) {
        struct weights *weights = weights_of_kind((enum weights_kind)kind);
        json_t *root = weights_json(weights);
        assert_non_null(root);
        assert_int_equal(json_array_size(json_object_get(root, "vectors")), WEIGHTS_VECTORS);
        struct weights *again = parse(root, "site", reason);
        if (!again)
            fail_msg("%s", reason);
        check_same_file(weights, again);
        weights_destroy(weights);
        weights_destroy(again);
    }
}

/* The files under tests/vectors/weights were written once: format and evaluation stay what they were, and the
 * JSON beside each says the same. */
static void stored_files_stay_what_they_are(void **state)
{
    (void)state;
    const char *const names[] = {"table", "net", "features"};
    static char text[WEIGHTS_JSON_MAX];
    for (int kind = 0; kind < 3; kind++) {
        char path[64], reason[WEIGHTS_JSON_REASON];
        struct weights *weights = NULL;
        snprintf(path, sizeof path, "tests/vectors/weights/%s.weights", names[kind]);
        assert_int_equal(weights_load(path, "site", &weights), WEIGHTS_OK);
        assert_string_equal(weights_kind_name(weights->kind), names[kind]);
        snprintf(path, sizeof path, "tests/vectors/weights/%s.json", names[kind]);
        FILE *stream = fopen(path, "rb");
        assert_non_null(stream);
        size_t length = fread(text, 1, sizeof text, stream);
        fclose(stream);
        struct weights *again = weights_json_parse(text, length, "site", reason);
        if (!again)
            fail_msg("%s: %s", path, reason);
        check_same_file(weights, again);
        weights_destroy(weights);
        weights_destroy(again);
    }
}

struct fault {
    enum weights_kind kind;
    const char *path;   /* names and indices, divided by dots */
    const char *value;  /* JSON; NULL takes the member away */
    const char *reason; /* must be part of what is said */
};

static const struct fault faults[] = {
    {WEIGHTS_TABLE, "format", "\"weights\"", "format: \"weights\""},
    {WEIGHTS_TABLE, "format", NULL, "format is missing"},
    {WEIGHTS_TABLE, "version", "2", "version: 2 is not from 1 to 1"},
    {WEIGHTS_TABLE, "kind", "\"tree\"", "kind: \"tree\""},
    {WEIGHTS_TABLE, "kind", "\"features\"", "phases[0].store: there is no such field"},
    {WEIGHTS_TABLE, "rules", "\"chess\"", "rules: "},
    {WEIGHTS_TABLE, "rules", "\"ghana\"", "rules: these weights are for ghana, not for site"},
    {WEIGHTS_TABLE, "rules", "7", "rules: a text"},
    {WEIGHTS_TABLE, "shift", "15", "shift: 15 is not from 0 to 14"},
    {WEIGHTS_TABLE, "shift", "1.5", "shift: a whole number"},
    {WEIGHTS_TABLE, "per_logit", "-1", "per_logit: -1"},
    {WEIGHTS_TABLE, "colour", "1", "colour: there is no such field"},
    {WEIGHTS_TABLE, "hidden_shift", "1", "hidden_shift: there is no such field"},
    {WEIGHTS_TABLE, "phases", "[]", "phases: an array of 4"},
    {WEIGHTS_TABLE, "phases.1", "3", "phases[1]: an object"},
    {WEIGHTS_TABLE, "phases.2.bias", "40000", "phases[2].bias: 40000 is not from -32768 to 32767"},
    {WEIGHTS_TABLE, "phases.2.store", NULL, "phases[2].store is missing"},
    {WEIGHTS_TABLE, "phases.3.houses.11", "[1]", "phases[3].houses[11]: an array of 13"},
    {WEIGHTS_TABLE, "phases.3.houses.4.12", "null", "phases[3].houses[4][12]: a whole number"},
    {WEIGHTS_TABLE, "phases.0.store", "700", "too large"},
    {WEIGHTS_TABLE, "phases.0.store", "1", ".score: 235 is promised, but these weights give 263"},
    {WEIGHTS_TABLE, "vectors", "{}", "vectors: an array"},
    {WEIGHTS_TABLE, "vectors.3.position", "\"4-4\"", "vectors[3].position: "},
    {WEIGHTS_TABLE, "vectors.3.position", NULL, "vectors[3].position: a text"},
    {WEIGHTS_TABLE, "vectors.9.score", "\"5\"", "vectors[9].score: a whole number"},
    {WEIGHTS_TABLE, "vectors.9.score", "31999", "vectors[9].score: 31999 is promised"},
    {WEIGHTS_TABLE, "provenance", "[]", "provenance: an object"},
    {WEIGHTS_NET, "hidden_shift", NULL, "hidden_shift is missing"},
    {WEIGHTS_NET, "hidden_shift", "-1", "hidden_shift: -1"},
    {WEIGHTS_NET, "phases", "[]", "phases: there is no such field"},
    {WEIGHTS_NET, "hidden_bias", "[]", "hidden_bias: an array of 32"},
    {WEIGHTS_NET, "hidden_bias.7", "99999", "hidden_bias[7]: 99999"},
    {WEIGHTS_NET, "hidden_bias.7", "32767", "too large"},
    {WEIGHTS_NET, "houses", "[[]]", "houses: an array of 12"},
    {WEIGHTS_NET, "houses.3", "[[]]", "houses[3]: an array of 16"},
    {WEIGHTS_NET, "houses.3.15", "[]", "houses[3][15]: an array of 32"},
    {WEIGHTS_NET, "houses.3.15.31", "\"a\"", "houses[3][15][31]: a whole number"},
    {WEIGHTS_NET, "store", "[]", "store: an array of 51"},
    {WEIGHTS_NET, "output.0", "-32769", "output[0]: -32769"},
    {WEIGHTS_NET, "output_bias", "2147483648", "output_bias: 2147483648"},
    {WEIGHTS_NET, "output_bias", "2147483647", "too large"},
    {WEIGHTS_FEATURES, "phases.1.own_kroos", NULL, "phases[1].own_kroos is missing"},
    {WEIGHTS_FEATURES, "phases.1.own_kroos", "32768", "phases[1].own_kroos: 32768"},
    {WEIGHTS_FEATURES, "phases.1.own_crows", "1", "phases[1].own_crows: there is no such field"},
};

/* Puts the fault's value in its place. */
static void spoil(json_t *root, const struct fault *fault)
{
    char path[96];
    snprintf(path, sizeof path, "%s", fault->path);
    char *saved = NULL, *step = strtok_r(path, ".", &saved), *next;
    for (; (next = strtok_r(NULL, ".", &saved)) != NULL; step = next)
        root = json_is_array(root) ? json_array_get(root, (size_t)atoi(step)) : json_object_get(root, step);
    json_t *value = fault->value ? json_loads(fault->value, JSON_DECODE_ANY, NULL) : NULL;
    if (!value)
        assert_int_equal(json_object_del(root, step), 0);
    else if (json_is_array(root))
        assert_int_equal(json_array_set_new(root, (size_t)atoi(step), value), 0);
    else
        assert_int_equal(json_object_set_new(root, step, value), 0);
}

static void each_fault_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        char reason[WEIGHTS_JSON_REASON];
        struct weights *weights = weights_of_kind(faults[i].kind);
        json_t *root = weights_json(weights);
        weights_destroy(weights);
        spoil(root, &faults[i]);
        weights = parse(root, "site", reason);
        if (weights || !strstr(reason, faults[i].reason))
            fail_msg("case %zu, %s: \"%s\"", i, faults[i].path, weights ? "taken" : reason);
    }
}

static void what_is_no_json_is_refused(void **state)
{
    (void)state;
    const char *const texts[] = {
        "", "{", "[]", "7", "{\"format\":1,\"format\":2}", "{\"format\":\"\\u0000\"}"};
    char reason[WEIGHTS_JSON_REASON];
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_null(weights_json_parse(texts[i], strlen(texts[i]), NULL, reason));
        assert_true(strlen(reason) > 10);
    }
    char *large = calloc(1, WEIGHTS_JSON_MAX + 1);
    assert_null(weights_json_parse(large, WEIGHTS_JSON_MAX + 1, NULL, reason));
    assert_non_null(strstr(reason, "more than"));
    free(large);
}

/* What a person can leave out, and what an export adds. */
static void optional_fields_are_optional(void **state)
{
    (void)state;
    const char *const optional[] = {"vectors", "provenance", "per_logit", "unit", "phase_seeds_min"};
    char reason[WEIGHTS_JSON_REASON], hash[65];
    struct weights *weights = kinds_table("site", 5, 1);
    json_t *root = weights_json(weights);
    for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++)
        json_object_del(root, optional[i]);
    json_object_set_new(root, "number", json_integer(7));
    json_object_set_new(root, "sha256", json_string("abc"));
    char *text = json_dumps(root, 0);
    assert_false(weights_json_sha256(text, strlen(text), hash));
    free(text);
    struct weights *again = parse(root, NULL, reason);
    assert_non_null(again);
    assert_string_equal(again->provenance, "{\"source\":\"import\"}");
    assert_int_equal(again->per_logit, 0);
    assert_memory_equal(again->phases, weights->phases, sizeof weights->phases);
    weights_destroy(again);
    weights_destroy(weights);
    const char named[] = "{\"sha256\":\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"}";
    assert_true(weights_json_sha256(named, strlen(named), hash));
    assert_int_equal(strlen(hash), 64);
}

static void texts_hold_the_numbers(void **state)
{
    (void)state;
    for (int kind = WEIGHTS_TABLE; kind <= WEIGHTS_FEATURES; kind++) {
        struct weights *weights = weights_of_kind((enum weights_kind)kind);
        const struct weights_text what = {weights, "evil */ int x; /*", "ab", "none"};
        char *c = NULL, *md = NULL;
        size_t c_size, md_size;
        FILE *stream = open_memstream(&c, &c_size);
        assert_int_equal(weights_text_c(&what, stream), 0);
        fclose(stream);
        stream = open_memstream(&md, &md_size);
        assert_int_equal(weights_text_md(weights, stream), 0);
        fclose(stream);
        assert_null(strstr(c, "int x; /*"));
        assert_non_null(strstr(c, weights_kind_name((enum weights_kind)kind)));
        assert_non_null(strstr(c, "kroo_weights_evaluate"));
        assert_non_null(strstr(md, "## Test positions"));
        assert_non_null(strstr(md, kind == WEIGHTS_TABLE ? "| a |"
                                   : kind == WEIGHTS_NET ? "| 31 |"
                                                         : "`own_best_capture`"));
        free(c);
        free(md);
        weights_destroy(weights);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_comes_back_as_it_was),
        cmocka_unit_test(stored_files_stay_what_they_are),
        cmocka_unit_test(each_fault_is_named),
        cmocka_unit_test(what_is_no_json_is_refused),
        cmocka_unit_test(optional_fields_are_optional),
        cmocka_unit_test(texts_hold_the_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
