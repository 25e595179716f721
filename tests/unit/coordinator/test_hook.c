#include "coordinator/hook.h"

#include "tests/unit/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char folder[64], output[128];

static void write_program(const char *name, const char *text, mode_t mode)
{
    char path[192];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(path, mode), 0);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/kroo-hook.XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(output, sizeof output, "%s/said", folder);
    write_program(
        "tell",
        "#!/bin/sh\necho \"$KROO_EXPERIMENT $KROO_VERDICT $KROO_PAIRS $KROO_NOTE $2 ${HOME-none}\" >$1\n",
        0700);
    write_program("bad", "#!/bin/sh\nexit 3\n", 0700);
    write_program("endless", "#!/bin/sh\ntail -f /dev/null\n", 0700);
    write_program("open", "#!/bin/sh\n", 0722);
    write_program("plain", "#!/bin/sh\n", 0600);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void only_the_operators_programs_are_hooks(void **state)
{
    (void)state;
    static const struct {
        const char *command, *says;
    } wrong[] = {
        {"", "a name"},
        {"nothing", "no hook"},
        {"plain", "no hook"},
        {"open", "changed by others"},
        {"../tell", "file name"},
        {"/bin/sh", "file name"},
        {".hidden", "file name"},
        {"tell; rm", "letters, digits"},
        {"tell $HOME", "letters, digits"},
        {"tell `x`", "letters, digits"},
        {"tell a b c d e f g h i j k l m n o p", "arguments"},
    };
    struct hook_table table = {.folder = folder};
    char reason[HOOK_REASON_MAX];
    assert_true(hook_check(&table, "tell /tmp/x a=b", reason));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        reason[0] = '\0';
        assert_false(hook_check(&table, wrong[i].command, reason));
        if (!strstr(reason, wrong[i].says))
            fail_msg("\"%s\": %s", wrong[i].command, reason);
    }
    table.folder = NULL;
    assert_false(hook_check(&table, "tell", reason));
    assert_non_null(strstr(reason, "setting `hooks`"));
}

static bool wait_for_end(struct hook_table *table, int64_t now_ms, bool *succeeded,
                         char outcome[HOOK_REASON_MAX])
{
    uint64_t experiment = 0;
    for (int i = 0; i < 2000; i++) {
        if (hook_reap(table, now_ms, &experiment, succeeded, outcome)) {
            assert_true(experiment == 7);
            return true;
        }
        struct timespec nap = {.tv_nsec = 10000000};
        nanosleep(&nap, NULL);
    }
    return false;
}

static struct store_hook hook_of(const char *command)
{
    struct store_hook hook = {.experiment = 7, .counted_pairs = 12, .kind = "match", .verdict = "accepted"};
    snprintf(hook.command, sizeof hook.command, "%s", command);
    snprintf(hook.note, sizeof hook.note, "$(id) is no command");
    return hook;
}

static void it_runs_with_what_it_is_told(void **state)
{
    (void)state;
    struct hook_table table = {.folder = folder};
    char reason[HOOK_REASON_MAX], command[192], said[256] = "";
    bool succeeded = false;
    snprintf(command, sizeof command, "tell %s x=1", output);
    struct store_hook hook = hook_of(command);
    assert_true(hook_start(&table, &hook, 1000, reason));
    assert_int_equal(hook_room(&table), HOOK_RUNNING_MAX - 1);
    assert_true(wait_for_end(&table, 1000, &succeeded, reason));
    assert_true(succeeded);
    assert_string_equal(reason, "exit status 0");
    assert_int_equal(hook_room(&table), HOOK_RUNNING_MAX);
    FILE *file = fopen(output, "r");
    assert_non_null(file);
    assert_non_null(fgets(said, sizeof said, file));
    fclose(file);
    assert_string_equal(said, "7 accepted 12 $(id) is no command x=1 none\n");
    hook = hook_of("bad");
    assert_true(hook_start(&table, &hook, 1000, reason));
    assert_true(wait_for_end(&table, 1000, &succeeded, reason));
    assert_false(succeeded);
    assert_string_equal(reason, "exit status 3");
}

static void it_is_ended_at_its_deadline_and_bounded(void **state)
{
    (void)state;
    struct hook_table table = {.folder = folder};
    struct store_hook hook = hook_of("endless");
    char reason[HOOK_REASON_MAX];
    bool succeeded = true;
    uint64_t experiment;
    for (int i = 0; i < HOOK_RUNNING_MAX; i++)
        assert_true(hook_start(&table, &hook, 1000, reason));
    assert_int_equal(hook_room(&table), 0);
    assert_false(hook_start(&table, &hook, 1000, reason));
    assert_false(hook_reap(&table, 1000 + HOOK_DEADLINE_MS - 1, &experiment, &succeeded, reason));
    for (int i = 0; i < HOOK_RUNNING_MAX; i++) {
        assert_true(wait_for_end(&table, 1000 + HOOK_DEADLINE_MS, &succeeded, reason));
        assert_false(succeeded);
        assert_non_null(strstr(reason, "60 s"));
    }
    assert_int_equal(hook_room(&table), HOOK_RUNNING_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_operators_programs_are_hooks),
        cmocka_unit_test(it_runs_with_what_it_is_told),
        cmocka_unit_test(it_is_ended_at_its_deadline_and_bounded),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
