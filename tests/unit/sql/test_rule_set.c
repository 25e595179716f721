/* The rule sets in the database are the engine's presets, field by field. */
#include "tests/unit/sql/fixture.h"

#include "engine/rules.h"

static void the_presets_are_rows(void **state)
{
    (void)state;
    struct store *store = fixture_open("kroo_reader");
    size_t presets = 0;
    for (const struct rules *rules; (rules = rules_preset(presets)) != NULL; presets++) {
        char repetitions[16], quiet_limit[16];
        snprintf(repetitions, sizeof repetitions, "%d", rules->repetitions);
        snprintf(quiet_limit, sizeof quiet_limit, "%d", rules->quiet_limit);
        const char *const fields[] = {rules->name,
                                      rules_preset_summary(presets),
                                      rules_slam_text(rules->slam),
                                      rules_feeding_text(rules->feeding),
                                      rules_leftovers_text(rules->leftovers),
                                      rules_leftovers_text(rules->stop_leftovers),
                                      repetitions,
                                      quiet_limit,
                                      rules->unfed_loses ? "t" : "f"};
        struct store_table table;
        assert_ok(store, store_query(store, "select r.* from rule_set r where name = $1", fields, 1, &table));
        assert_int_equal(table.rows, 1);
        assert_int_equal(table.columns, sizeof fields / sizeof fields[0]);
        for (size_t column = 0; column < table.columns; column++)
            assert_string_equal(store_cell(&table, 0, column), fields[column]);
        store_table_done(&table);
    }
    assert_int_equal(strtoul(fixture_cell(store, "select count(*) from rule_set"), NULL, 10), presets);
    store_close(store);
}

int main(int argc, char **argv)
{
    (void)argc;
    database_main(argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_presets_are_rows)};
    return cmocka_run_group_tests(tests, fixture_migrate, NULL);
}
