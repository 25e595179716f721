/* Weights by content, found by number, hash, name and line; champions change by verdict or by hand. */
#include "tests/unit/sql/fixture.h"

static struct store *store;

static int open_store(void **state)
{
    if (fixture_migrate(state) != 0)
        return -1;
    store = fixture_open("kroo_coordinator");
    return 0;
}

static int close_store(void **state)
{
    (void)state;
    store_close(store);
    return 0;
}

static void hex_of(const uint8_t sha256[STORE_HASH], char hex[65])
{
    sodium_bin2hex(hex, 65, sha256, STORE_HASH);
}

static void content_comes_back(void **state)
{
    (void)state;
    enum { SIZE = 300000 };
    unsigned char *content = malloc(SIZE);
    assert_non_null(content);
    for (size_t i = 0; i < SIZE; i++)
        content[i] = (unsigned char)(i * i >> 3);
    struct store_weights weights = {.rules = "site", .kind = "net", .name = "big"};
    crypto_hash_sha256(weights.sha256, content, SIZE);
    assert_ok(store, store_weights_put(store, &weights, content, SIZE));
    assert_ok(store, store_weights_put(store, &weights, content, SIZE));
    void *found;
    size_t size;
    assert_ok(store, store_artifact_get(store, weights.sha256, &found, &size));
    assert_int_equal(size, SIZE);
    assert_memory_equal(found, content, SIZE);
    free(found);
    assert_string_equal(fixture_cell(store, "select count(*) from weights where name = 'big'"), "1");

    weights.sha256[3] ^= 1; /* not the hash of the content */
    assert_int_equal(store_weights_put(store, &weights, content, SIZE), STORE_ERROR_REFUSED);
    assert_non_null(strstr(store_reason(store), "artifact_sha256"));
    assert_int_equal(store_artifact_get(store, weights.sha256, &found, &size), STORE_ERROR_REFUSED);
    assert_null(found);
    assert_int_equal(store_weights_put(store, &weights, content, 0), STORE_ERROR_REFUSED);
    free(content);
}

static void refuse_find(const char *text, const char *word)
{
    struct store_weights found;
    uint64_t number;
    assert_int_equal(store_weights_find(store, text, &found, &number), STORE_ERROR_REFUSED);
    if (strstr(store_reason(store), word) == NULL)
        fail_msg("no word of %s in: %s", word, store_reason(store));
}

static void found_by_what_people_say(void **state)
{
    (void)state;
    struct store_weights parent = fixture_weights(store, "parent"), found;
    struct store_weights child = {
        .rules = "site,repetitions=2", .kind = "table", .name = "child", .has_parent = true};
    memcpy(child.parent, parent.sha256, STORE_HASH);
    crypto_hash_sha256(child.sha256, (const unsigned char *)"child content", 13);
    assert_ok(store, store_weights_put(store, &child, "child content", 13));
    uint64_t number, again;
    assert_ok(store, store_weights_find(store, "child", &found, &number));
    assert_memory_equal(found.sha256, child.sha256, STORE_HASH);
    assert_memory_equal(found.parent, parent.sha256, STORE_HASH);
    assert_true(found.has_parent && found.training_run == 0);
    assert_string_equal(found.rules, "site,repetitions=2");
    assert_string_equal(found.kind, "table");

    char hex[65], text[32];
    hex_of(child.sha256, hex);
    assert_ok(store, store_weights_find(store, hex, &found, &again));
    assert_true(again == number);
    hex[8] = '\0';
    for (char *letter = hex; *letter != '\0'; letter++)
        *letter = (char)(*letter >= 'a' && *letter <= 'f' ? *letter - 32 : *letter);
    assert_ok(store, store_weights_find(store, hex, &found, &again));
    assert_true(again == number);
    snprintf(text, sizeof text, "%" PRIu64, number);
    assert_ok(store, store_weights_find(store, text, &found, &again));
    assert_true(again == number);

    hex[7] = '\0'; /* seven letters are too few */
    refuse_find(hex, "no weights");
    refuse_find("nobody", "no weights");
    refuse_find("", "no weights");
    refuse_find("999999", "no weights");
    refuse_find("'; drop table weights; --", "no weights");
    struct store_weights twin = {.rules = "site", .kind = "table", .name = "child"};
    crypto_hash_sha256(twin.sha256, (const unsigned char *)"twin", 4);
    assert_ok(store, store_weights_put(store, &twin, "twin", 4));
    refuse_find("child", "names 2 weights");
    assert_string_equal(
        fixture_cell(store, "select string_agg(distance || ':' || ancestor_name, ' ' order by distance) "
                            "from weights_lineage where sha256 = sha256('child content')"),
        "0:child 1:parent");
}

static void champions_by_hand(void **state)
{
    (void)state;
    struct store_weights one = fixture_weights(store, "one"), two = fixture_weights(store, "two"), found;
    uint64_t first, second, again, number;
    uint8_t sha256[STORE_HASH];
    assert_int_equal(store_champion(store, "hand", sha256, &first), STORE_ERROR_REFUSED);
    refuse_find("champion:hand", "no champion yet");
    assert_ok(store, store_promote(store, "hand", one.sha256, 0, "tester", "start", &first));
    assert_ok(store, store_promote(store, "hand", one.sha256, 0, "tester", "sent again", &again));
    assert_true(again == first);
    assert_ok(store, store_promote(store, "hand", two.sha256, 0, "tester", NULL, &second));
    assert_true(second > first);
    assert_ok(store, store_champion(store, "hand", sha256, &again));
    assert_true(again == second);
    assert_memory_equal(sha256, two.sha256, STORE_HASH);
    assert_ok(store, store_weights_find(store, "champion:hand", &found, &number));
    assert_memory_equal(found.sha256, two.sha256, STORE_HASH);
    assert_ok(store, store_promote(store, "hand", one.sha256, 0, "tester", "back", &again));
    assert_true(again > second);

    sha256[0] ^= 0xff;
    assert_int_equal(store_promote(store, "hand", sha256, 0, "tester", "", &again), STORE_ERROR_REFUSED);
    assert_int_equal(store_promote(store, "hand", two.sha256, 0, "", "by nobody", &again),
                     STORE_ERROR_REFUSED);
    assert_ok(store, store_promote(store, STORE_LINE, one.sha256, 0, "tester", "", &again));
    assert_ok(store, store_weights_find(store, "champion", &found, &number));
    assert_memory_equal(found.sha256, one.sha256, STORE_HASH);
}

static void only_an_accepted_verdict_promotes(void **state)
{
    (void)state;
    struct store_experiment experiment = fixture_experiment(store);
    struct store_weights challenger = fixture_weights(store, "challenger"),
                         other = fixture_weights(store, "other");
    memcpy(experiment.a.weights, challenger.sha256, STORE_HASH);
    experiment.kind = STORE_MATCH;
    experiment.noise_ppm = 0;
    experiment.has_sprt = true;
    experiment.sprt = (struct store_sprt){"logistic", 0, 5, 0.05, 0.05, 8};
    uint64_t id = fixture_create(store, &experiment), epoch, again;
    assert_int_equal(store_promote(store, "match", challenger.sha256, id, "coordinator", "", &epoch),
                     STORE_ERROR_REFUSED);
    assert_non_null(strstr(store_reason(store), "its verdict is not written"));
    struct store_verdict verdict = {
        .experiment = id,
        .verdict = "accepted",
        .counters = {.games_stored = 2, .prefix_pairs = 1, .ww = 1, .wins = 2, .llr = 3},
        .has_sprt = true,
        .lower = -2.9,
        .upper = 2.9,
        .formula_version = 1};
    bool written;
    assert_ok(store, store_verdict_write(store, &verdict, &written));
    assert_int_equal(store_promote(store, "match", other.sha256, id, "coordinator", "", &epoch),
                     STORE_ERROR_REFUSED);
    assert_ok(store, store_promote(store, "match", challenger.sha256, id, "coordinator", "", &epoch));
    assert_ok(store, store_promote(store, "match", other.sha256, 0, "tester", "by hand after it", &again));
    assert_ok(store,
              store_promote(store, "match", challenger.sha256, id, "coordinator", "sent again", &again));
    assert_true(again == epoch);

    struct store_experiment rejected = experiment;
    id = fixture_create(store, &rejected);
    verdict.experiment = id;
    snprintf(verdict.verdict, sizeof verdict.verdict, "rejected");
    assert_ok(store, store_verdict_write(store, &verdict, &written));
    assert_int_equal(store_promote(store, "match", challenger.sha256, id, "x", "", &epoch),
                     STORE_ERROR_REFUSED);
    assert_non_null(strstr(store_reason(store), "rejected"));
}

/* The trainer stores a run and its weights, each naming the other, in one transaction. */
static void a_training_run_and_its_weights(void **state)
{
    (void)state;
    struct store *trainer = fixture_open("kroo_trainer");
    struct store_weights fitted = {.rules = "site", .kind = "table", .name = "fitted"};
    crypto_hash_sha256(fitted.sha256, (const unsigned char *)"fitted", 6);
    static const char sql[] =
        "insert into training_run (state, started_at, rules, kind, seed, threads, core_type, blas, "
        "trainer_build, "
        "weights_sha256, lambda, ridge, manifest, games, positions, rows_merged) values ('finished', now(), "
        "'site', "
        "'table', 18446744073709551615, 2, 'Zen', 'OpenBLAS', 'kroo-train 1', sha256('fitted'), 0.4, 1e-6, "
        "'[{\"experiment\":1,\"first_pair\":0,\"pair_count\":10}]', 20, 2000, 1900) returning id";
    struct store_table table;
    assert_ok(trainer, store_begin(trainer));
    assert_ok(trainer, store_query(trainer, sql, NULL, 0, &table));
    fitted.training_run = strtoull(store_cell(&table, 0, 0), NULL, 10);
    store_table_done(&table);
    assert_ok(trainer, store_weights_put(trainer, &fitted, "fitted", 6));
    assert_ok(trainer, store_commit(trainer));

    uint64_t number;
    struct store_weights found;
    assert_ok(trainer, store_weights_find(trainer, "fitted", &found, &number));
    assert_true(found.training_run == fitted.training_run && found.training_run > 0);

    /* A run whose weights are missing is refused at COMMIT. */
    assert_ok(trainer, store_begin(trainer));
    char broken[sizeof sql];
    memcpy(broken, sql, sizeof sql);
    memcpy(strstr(broken, "'fitted'"), "'absent'", 8);
    assert_ok(trainer, store_query(trainer, broken, NULL, 0, &table));
    store_table_done(&table);
    assert_int_equal(store_commit(trainer), STORE_ERROR_REFUSED);
    store_close(trainer);
}

int main(int argc, char **argv)
{
    (void)argc;
    database_main(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_comes_back),
        cmocka_unit_test(found_by_what_people_say),
        cmocka_unit_test(champions_by_hand),
        cmocka_unit_test(only_an_accepted_verdict_promotes),
        cmocka_unit_test(a_training_run_and_its_weights),
    };
    return cmocka_run_group_tests(tests, open_store, close_store);
}
