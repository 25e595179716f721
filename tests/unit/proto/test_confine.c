/* What a confined program cannot do, tried by one that tries (tests/players/prisoner.c). What needs
 * namespaces is skipped, with the reason, where the machine gives none. */
#include "proto/confine.h"

#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proto/program.h"
#include "proto/progress.h"
#include "tests/unit/proto/scratch.h"

enum { WAIT_MS = 20000 };

static char folder[64], name[16]; /* the program has a name of its own, by which it is looked for */

/* The prisoner of this build, copied into the folder. */
static void copy_prisoner(void)
{
    char own[4096], command[8192];
    ssize_t size = readlink("/proc/self/exe", own, sizeof own - 1);
    assert_true(size > 0);
    own[size] = '\0';
    for (int up = 0; up < 2; up++)
        *strrchr(own, '/') = '\0';
    snprintf(name, sizeof name, "lag-%d", (int)getpid());
    snprintf(command, sizeof command, "cp '%s/players/prisoner' '%s'", own, scratch_path(folder, name));
    assert_int_equal(system(command), 0);
}

static struct program *lock_up(const struct confine *confine)
{
    char reason[512];
    struct confine given = *confine;
    given.files[0] = scratch_path(folder, name);
    struct program *program = program_start(given.files[0], NULL, &given, NULL, reason, sizeof reason);
    if (program == NULL)
        fail_msg("%s", reason);
    return program;
}

static const char *ask(struct program *program, const char *attempt)
{
    const char *answer = NULL;
    struct program_wait wait = program_wait_begin(WAIT_MS);
    assert_int_equal(program_say(program, WAIT_MS, "%s", attempt), PROGRAM_OK);
    enum program_error error = program_hear(program, &wait, &answer);
    if (error != PROGRAM_OK)
        fail_msg("no answer to `%s`: %s", attempt, program_error_text(error));
    return answer;
}

static void need_namespaces(void)
{
    const char *why;
    if (confine_level(&why) == CONFINE_NAMESPACES)
        return;
    print_message("no namespaces: %s\n", why);
    skip();
}

static void no_socket_can_be_made(void **state)
{
    (void)state;
    struct confine confine = confine_player();
    struct program *program = lock_up(&confine);
    const char *const families[] = {"socket inet", "socket inet6", "socket unix", "socket netlink"};
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(ask(program, families[i]), "not: Operation not permitted");
    program_destroy(program);
}

static void memory_has_a_bound(void **state)
{
    (void)state;
#ifdef CONFINE_SANITIZED
    skip();
#endif
    struct confine confine = confine_player();
    confine.memory_bytes = 256 << 20;
    struct program *program = lock_up(&confine);
    int most = atoi(ask(program, "memory 4096"));
    assert_in_range(most, 200, 256);
    program_destroy(program);
}

static void files_have_a_bound(void **state)
{
    (void)state;
    char attempt[256];
    struct confine confine = confine_player();
    confine.file_bytes = 3 << 20;
    struct program *program = lock_up(&confine);
    if (confine_level(NULL) == CONFINE_NAMESPACES)
        snprintf(attempt, sizeof attempt, "fill big");
    else
        snprintf(attempt, sizeof attempt, "fill %s/big", folder);
    assert_string_equal(ask(program, attempt), "3");
    program_destroy(program);
}

static void processor_time_has_a_bound(void **state)
{
    (void)state;
    char end[256];
    const char *line;
    struct confine confine = confine_player();
    confine.cpu_seconds = 1;
    struct program *program = lock_up(&confine);
    struct program_wait wait = program_wait_begin(60000);
    assert_int_equal(program_say(program, WAIT_MS, "spin"), PROGRAM_OK);
    assert_int_equal(program_hear(program, &wait, &line), PROGRAM_ERROR_OVER);
    program_end_text(program, end, sizeof end);
    assert_non_null(strstr(end, "killed by signal"));
    program_destroy(program);
}

static void its_group_cannot_be_left(void **state)
{
    (void)state;
    struct confine confine = confine_player();
    struct program *program = lock_up(&confine);
    assert_string_equal(ask(program, "leave"), "not");
    program_destroy(program);
}

static void processes_have_a_bound(void **state)
{
    (void)state;
    need_namespaces();
    struct confine confine = confine_player();
    confine.processes = 10;
    struct program *one = lock_up(&confine), *other = lock_up(&confine);
    int first = atoi(ask(one, "fork 100")), second = atoi(ask(other, "fork 100"));
    assert_in_range(first, 5, 10); /* each program is counted for itself */
    assert_in_range(second, 5, 10);
    program_destroy(one);
    program_destroy(other);
}

static void it_sees_what_it_was_given_alone(void **state)
{
    (void)state;
    need_namespaces();
    char attempt[600];
    const char *secret = scratch_path(folder, "secret"), *given = scratch_path(folder, "given");
    scratch_write(secret, "weights", 7, 0644);
    scratch_write(given, "weights", 7, 0644);
    struct confine confine = confine_player();
    confine.files[1] = given;
    struct program *program = lock_up(&confine);
    snprintf(attempt, sizeof attempt, "read %s", secret);
    assert_string_equal(ask(program, attempt), "not: No such file or directory");
    assert_string_equal(ask(program, "read /etc/passwd"), "not: No such file or directory");
    snprintf(attempt, sizeof attempt, "read %s", given);
    assert_string_equal(ask(program, attempt), "done");
    snprintf(attempt, sizeof attempt, "write %s", given);
    assert_ptr_equal(strstr(ask(program, attempt), "done"), NULL);
    snprintf(attempt, sizeof attempt, "write %s/new", folder);
    assert_ptr_equal(strstr(ask(program, attempt), "done"), NULL);
    assert_ptr_equal(strstr(ask(program, "write /usr/new"), "done"), NULL);
    assert_string_equal(ask(program, "write new"), "done");
    assert_string_equal(ask(program, "who"), CONFINE_WORK " 1");
    snprintf(attempt, sizeof attempt, "kill %d", (int)getpid());
    assert_string_equal(ask(program, attempt), "not: No such process");
    program_destroy(program);
    program = lock_up(&confine); /* what it wrote is gone */
    assert_string_equal(ask(program, "read new"), "not: No such file or directory");
    program_destroy(program);
}

static void a_folder_for_work_is_kept(void **state)
{
    (void)state;
    const char *work = scratch_path(folder, "work"), *made = scratch_path(folder, "work/made");
    assert_int_equal(mkdir(work, 0777), 0);
    assert_int_equal(chmod(work, 0777), 0);
    struct confine confine = confine_player();
    confine.work = work;
    struct program *program = lock_up(&confine);
    assert_string_equal(ask(program, "write made"), "done");
    program_destroy(program);
    assert_int_equal(access(made, F_OK), 0);
}

/* Processes of our prisoner's name that run. */
static int count_prisoners(void)
{
    int count = 0;
    DIR *all = opendir("/proc");
    assert_non_null(all);
    for (struct dirent *entry; (entry = readdir(all)) != NULL;) {
        char path[300], comm[32] = "";
        snprintf(path, sizeof path, "/proc/%s/comm", entry->d_name);
        FILE *file = fopen(path, "re");
        if (file != NULL && fgets(comm, sizeof comm, file) != NULL)
            count += strncmp(comm, name, strlen(name)) == 0 && comm[strlen(name)] == '\n';
        if (file != NULL)
            fclose(file);
    }
    closedir(all);
    return count;
}

static void its_children_end_with_it(void **state)
{
    (void)state;
    struct confine confine = confine_player();
    struct program *program = lock_up(&confine);
    assert_int_equal(atoi(ask(program, "fork 5")), 5);
    assert_int_equal(count_prisoners(), 6);
    program_destroy(program);
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int64_t until = progress_now_ms() + WAIT_MS; count_prisoners() > 0 && progress_now_ms() < until;)
        nanosleep(&pause, NULL);
    assert_int_equal(count_prisoners(), 0);
}

static void what_is_no_program_has_a_reason(void **state)
{
    (void)state;
    char reason[512] = "";
    struct confine confine = confine_player();
    assert_null(program_start("/no/such/program", NULL, &confine, NULL, reason, sizeof reason));
    assert_non_null(strstr(reason, "No such file"));
    confine.files[0] = "/no/such/file";
    if (confine_level(NULL) == CONFINE_NAMESPACES) {
        assert_null(program_start("/bin/true", NULL, &confine, NULL, reason, sizeof reason));
        assert_non_null(strstr(reason, "/no/such/file: No such file"));
    }
}

static int set_up(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    snprintf(folder, sizeof folder, "%s", scratch_folder());
    copy_prisoner();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_remove(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_socket_can_be_made),
        cmocka_unit_test(memory_has_a_bound),
        cmocka_unit_test(files_have_a_bound),
        cmocka_unit_test(processor_time_has_a_bound),
        cmocka_unit_test(its_group_cannot_be_left),
        cmocka_unit_test(processes_have_a_bound),
        cmocka_unit_test(it_sees_what_it_was_given_alone),
        cmocka_unit_test(a_folder_for_work_is_kept),
        cmocka_unit_test(its_children_end_with_it),
        cmocka_unit_test(what_is_no_program_has_a_reason),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
