/* Text from outside reaches SQL as parameters alone: whatever stands in it is stored as it is, finds nothing,
 * or is refused; no statement of its own ever runs. */
#include "sql/store_seal.h"
#include "tests/unit/sql/fixture.h"

static struct store *store;

static const char *const hostile[] = {
    "x'); drop table kroo.event; --",
    "x\"; drop table kroo.event; --",
    "\\'; drop table kroo.event; --",
    "$1",
    "$$; drop table kroo.event; $$",
    "x' or '1'='1",
    "%s%n%1$s",
    "/* x */ -- y",
};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

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

/* The newest row of a text column is what was given; the column holds it in full. */
static void assert_newest(const char *sql, const char *text)
{
    assert_string_equal(fixture_cell(store, sql), text);
}

static void text_of_events_sessions_and_faults(void **state)
{
    (void)state;
    struct store_experiment experiment = fixture_experiment(store);
    for (size_t i = 0; i < HOSTILE; i++) {
        struct store_session session = {.id = 900 + i, .slots = 1, .peer = "local", .tags = ""};
        snprintf(experiment.note, sizeof experiment.note, "%s", hostile[i]);
        snprintf(experiment.idempotency_key, sizeof experiment.idempotency_key, "%s", hostile[i]);
        snprintf(session.name, sizeof session.name, "%s", hostile[i]);
        snprintf(session.engine_build, sizeof session.engine_build, "%s", hostile[i]);
        uint64_t id = fixture_create(store, &experiment);
        assert_newest("select note from experiment order by id desc limit 1", hostile[i]);
        assert_newest("select idempotency_key from experiment order by id desc limit 1", hostile[i]);
        assert_ok(store, store_begin(store));
        assert_ok(store, store_session_insert(store, &session));
        struct store_fault fault = {.experiment = id, .session = session.id, .kind = "unsigned", .moves = ""};
        snprintf(fault.why, sizeof fault.why, "%s", hostile[i]);
        assert_ok(store, store_fault_put(store, &fault));
        assert_ok(store, store_event(store, "test", id, session.id, hostile[i]));
        assert_ok(store, store_commit(store));
        assert_newest("select name from session order by id desc limit 1", hostile[i]);
        assert_newest("select why from fault order by id desc limit 1", hostile[i]);
        assert_newest("select text from event order by id desc limit 1", hostile[i]);
    }
}

static void names_that_find_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOSTILE; i++) {
        struct store_weights weights;
        struct store_engine engine;
        struct store_tables tables;
        struct store_table table;
        uint64_t number;
        uint8_t champion[STORE_HASH];
        const char *parameters[] = {hostile[i]};
        assert_int_equal(store_weights_find(store, hostile[i], &weights, &number), STORE_ERROR_REFUSED);
        assert_int_equal(store_engine_find(store, hostile[i], NULL, &engine), STORE_ERROR_REFUSED);
        assert_int_equal(store_tables_find(store, hostile[i], NULL, &tables), STORE_ERROR_REFUSED);
        assert_int_equal(store_champion(store, hostile[i], champion, &number), STORE_ERROR_REFUSED);
        assert_ok(store, store_query(store, "select $1::text", parameters, 1, &table));
        assert_string_equal(store_cell(&table, 0, 0), hostile[i]);
        store_table_done(&table);
    }
}

static void names_that_are_none_are_refused_by_the_tables(void **state)
{
    (void)state;
    struct store_weights weights = fixture_weights(store, "signed");
    for (size_t i = 0; i < HOSTILE; i++) {
        struct store_seal seal = {.kind = "engine", .architecture = "any"};
        struct store_peer peer = {.role = "worker"};
        struct store_engine engine = {.note = ""};
        bool existed;
        snprintf(seal.name, sizeof seal.name, "%s", hostile[i]);
        snprintf(peer.public_key, sizeof peer.public_key, "%.40s", hostile[i]);
        snprintf(peer.name, sizeof peer.name, "%s", hostile[i]);
        snprintf(engine.name, sizeof engine.name, "%s", hostile[i]);
        memcpy(engine.sha256, weights.sha256, STORE_HASH);
        assert_int_not_equal(store_seal_put(store, weights.sha256, &seal, "tester"), STORE_OK);
        assert_int_not_equal(store_peer_allow(store, &peer, "tester"), STORE_OK);
        assert_int_not_equal(store_peer_revoke(store, hostile[i], "tester"), STORE_ERROR_CONNECTION);
        assert_ok(store, store_begin(store));
        assert_int_not_equal(store_engine_put(store, &engine, "x", 1, "tester", &existed), STORE_OK);
        assert_ok(store, store_rollback(store));
    }
    assert_string_equal(fixture_cell(store, "select count(*) from artifact_seal"), "0");
    assert_string_equal(fixture_cell(store, "select count(*) from peer"), "0");
}

static void seals_come_back_as_they_are(void **state)
{
    (void)state;
    struct store_weights weights = fixture_weights(store, "sealed");
    struct store_seal seals[STORE_SEALS_MAX], seal = {.kind = "engine", .architecture = "any", .name = "x"};
    size_t count;
    for (unsigned i = 0; i < STORE_SEALS_MAX + 3; i++) {
        seal.key[0] = (uint8_t)i;
        seal.signature[63] = (uint8_t)i;
        assert_ok(store, store_seal_put(store, weights.sha256, &seal, "tester"));
        assert_ok(store, store_seal_put(store, weights.sha256, &seal, "tester"));
    }
    assert_ok(store, store_seals(store, weights.sha256, seals, &count));
    assert_int_equal(count, STORE_SEALS_MAX);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(seals[i].key[0], seals[i].signature[63]);
    weights.sha256[0] ^= 1;
    assert_ok(store, store_seals(store, weights.sha256, seals, &count));
    assert_int_equal(count, 0);
}

/* No table has gone. */
static void everything_is_still_there(void **state)
{
    (void)state;
    assert_string_equal(fixture_cell(store, "select count(*) > 0 from event"), "t");
}

int main(int argc, char **argv)
{
    (void)argc;
    database_main(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_events_sessions_and_faults),
        cmocka_unit_test(names_that_find_nothing),
        cmocka_unit_test(names_that_are_none_are_refused_by_the_tables),
        cmocka_unit_test(seals_come_back_as_they_are),
        cmocka_unit_test(everything_is_still_there),
    };
    return cmocka_run_group_tests(tests, open_store, close_store);
}
