/* A player that is another program: the same games as the search in this process, and programs that hang,
 * crash or speak nonsense, each within its bound. */
#include "worker/process.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/build.h"
#include "proto/artifact.h"
#include "proto/progress.h"
#include "tests/unit/worker/scratch.h"
#include "worker/files.h"

enum { MOVE_MS = 1500, NODES = 300, HASH_KIB = 1024 };

static char folder[SCRATCH_PATH];
static struct rules rules;
static struct weights *weights;

static int set_up(void **state)
{
    (void)state;
    char reason[256];
    signal(SIGPIPE, SIG_IGN);
    scratch_create(folder);
    weights = weights_create_starting("site");
    return weights != NULL && rules_parse("site", &rules, reason, sizeof reason) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    weights_destroy(weights);
    scratch_destroy(folder);
    return 0;
}

/* A script of its own name. */
static const char *script(const char *name, const char *text)
{
    static char path[SCRATCH_PATH + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", text);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
    return path;
}

/* Player a is the program, b the search. */
static enum play_status play(struct process *process, const char *engine, const char *options, uint64_t pair,
                             unsigned leg, atomic_bool *stop, struct play_record *record)
{
    struct play_seats *seats = play_seats_create();
    struct play_setup setup = {.rules = &rules, .seed = 77, .opening_plies = 4};
    struct play_side side = {.weights = weights, .limits = {.nodes = NODES}, .hash_kib = HASH_KIB};
    struct dialect_setup program = {.rules = "site", .hash_kib = HASH_KIB, .options = options};
    struct dialect_limits limits = {.nodes = NODES};
    if (process != NULL) {
        process_seat(process, engine, &program, &limits, MOVE_MS);
        play_seats_use(seats, 0, process_mover(process));
    }
    enum play_status status = play_game(seats, &setup, &side, &side, pair, leg, stop, NULL, record);
    play_seats_destroy(seats);
    return status;
}

static const char *real_engine(void)
{
    static char path[4200];
    char own[4096];
    ssize_t size = readlink("/proc/self/exe", own, sizeof own - 1);
    assert_true(size > 0);
    own[size] = '\0';
    for (int up = 0; up < 3; up++)
        *strrchr(own, '/') = '\0';
    snprintf(path, sizeof path, "%s/kroo-engine", own);
    return path;
}

static void plays_the_same_games_as_the_search(void **state)
{
    (void)state;
    struct process *process = process_create();
    for (uint64_t pair = 0; pair < 3; pair++)
        for (unsigned leg = 0; leg < 2; leg++) {
            struct play_record ours, theirs;
            assert_int_equal(play(NULL, NULL, "", pair, leg, NULL, &ours), PLAY_DONE);
            assert_int_equal(play(process, real_engine(), "", pair, leg, NULL, &theirs), PLAY_DONE);
            assert_string_equal(ours.moves, theirs.moves);
            assert_int_equal(ours.result, theirs.result);
            assert_true(theirs.nodes > 0 && theirs.nodes <= ours.nodes); /* as told: finished iterations */
            assert_string_equal(process_reason(process), "");
            play_record_done(&ours);
            play_record_done(&theirs);
        }
    process_destroy(process);
}

static void an_option_that_is_none_gives_no_game(void **state)
{
    (void)state;
    struct process *process = process_create();
    struct play_record record;
    assert_int_equal(play(process, real_engine(), "Nonsense=1", 0, 0, NULL, &record), PLAY_FAILED);
    assert_non_null(strstr(process_reason(process), "has no option Nonsense"));
    assert_int_equal(play(process, real_engine(), "Level=Grandmother", 0, 0, NULL, &record), PLAY_FAILED);
    assert_non_null(strstr(process_reason(process), "Level needs"));
    assert_int_equal(play(process, real_engine(), "Level=Apprentice\nSeed=3", 0, 0, NULL, &record),
                     PLAY_DONE);
    play_record_done(&record);
    process_destroy(process);
}

static void check_failure(const char *engine, const char *why)
{
    struct process *process = process_create();
    struct play_record record;
    int64_t began = progress_now_ms();
    assert_int_equal(play(process, engine, "", 0, 0, NULL, &record), PLAY_FAILED);
    if (strstr(process_reason(process), why) == NULL)
        fail_msg("said '%s', expected '%s'", process_reason(process), why);
    assert_true(progress_now_ms() - began < 60000);
    process_destroy(process);
}

#define GREET                                                                                                \
    "n=0; while read -r line; do case $line in uci) echo id name Toy; echo uciok;; isready) echo readyok;; " \
    "go*) n=$((n+1)); "
#define END ";; esac; done"

static void what_fails_before_its_first_move_gives_no_game(void **state)
{
    (void)state;
    check_failure("/no/such/program", "No such file");
    check_failure(script("ends", "echo broken >&2; exit 7"), "it exited with status 7, and wrote \"broken");
    check_failure(script("dies", "kill -9 $$"), "killed by signal 9");
    check_failure(script("floods", "exec yes"), "more than any program should");
    check_failure(script("long", "head -c 100000 /dev/zero | tr '\\0' x; cat"),
                  "more than any program should");
    check_failure(script("nul", "head -c 10 /dev/zero; cat"), "more than any program should");
    check_failure(script("hangs", GREET "exec tail -f /dev/null" END),
                  "no `bestmove` in answer to `go`: it did "
                  "not answer in time");
    check_failure(script("word", GREET "echo bestmove resign" END), "no house");
    check_failure(script("wrong", GREET "echo bestmove 0000" END), "no house");
}

/* A program that passes on what the real engine says, until line `word` has come `times` times. */
static const char *fails_at(const char *name, const char *word, int times, const char *fault)
{
    char text[8192];
    snprintf(
        text, sizeof text,
        "p=%s/%s; rm -f $p.in $p.out; mkfifo $p.in $p.out; %s <$p.in >$p.out & exec 3>$p.in 4<$p.out; n=0\n"
        "relay() { while read -r answer <&4; do echo \"$answer\"; case $answer in $1*) return;; esac; done; "
        "}\n"
        "while read -r line; do case $line in %s*) n=$((n+1)); [ $n -le %d ] || { %s; };; esac\n"
        "echo \"$line\" >&3; case $line in uci) relay uciok;; isready) relay readyok;; go*) relay bestmove;; "
        "esac; done",
        folder, name, real_engine(), word, times, fault);
    return script(name, text);
}

static void check_claim(const char *engine, unsigned leg, enum game_reason reason)
{
    struct process *process = process_create();
    struct play_record record;
    assert_int_equal(play(process, engine, "", 0, leg, NULL, &record), PLAY_DONE);
    assert_int_equal(record.reason, reason);
    assert_int_equal(record.result, leg == 0 ? GAME_NORTH_WINS : GAME_SOUTH_WINS);
    assert_int_equal(record.plies, 4 + 4 + leg); /* opening, two moves each; North's turn is a ply later */
    play_record_done(&record);
    process_destroy(process);
}

static void what_fails_later_loses(void **state)
{
    (void)state;
    check_claim(fails_at("late-end", "go", 2, "exit 3"), 0, GAME_REASON_CRASH);
    check_claim(fails_at("late-end-north", "go", 2, "exit 3"), 1, GAME_REASON_CRASH);
    check_claim(fails_at("late-hang", "go", 2, "exec tail -f /dev/null"), 0, GAME_REASON_CRASH);
    check_claim(fails_at("late-flood", "go", 2, "exec yes info"), 0, GAME_REASON_CRASH);
    check_claim(fails_at("late-illegal", "go", 2, "echo bestmove Z; continue"), 0, GAME_REASON_ILLEGAL_MOVE);
}

static void a_program_that_died_between_games_is_started_again(void **state)
{
    (void)state;
    struct process *process = process_create();
    const char *mortal = fails_at("mortal", "ucinewgame", 1, "exit 5");
    for (uint64_t pair = 0; pair < 2; pair++) {
        struct play_record ours, theirs;
        assert_int_equal(play(NULL, NULL, "", pair, 0, NULL, &ours), PLAY_DONE);
        assert_int_equal(play(process, mortal, "", pair, 0, NULL, &theirs), PLAY_DONE);
        assert_string_equal(ours.moves, theirs.moves);
        play_record_done(&ours);
        play_record_done(&theirs);
    }
    process_destroy(process);
}

static void a_game_that_is_stopped_is_no_game(void **state)
{
    (void)state;
    struct process *process = process_create();
    struct play_record record;
    atomic_bool stop = true;
    int64_t began = progress_now_ms();
    const char *slow = script("slow", GREET "exec tail -f /dev/null" END);
    assert_int_equal(play(process, slow, "", 0, 0, &stop, &record), PLAY_STOPPED);
    assert_true(progress_now_ms() - began < MOVE_MS);
    process_destroy(process);
}

/* --- files --- */

static void files_are_verified_and_set_apart(void **state)
{
    (void)state;
    struct folder home;
    char reason[512], inside[SCRATCH_PATH + 16];
    uint8_t sha256[ARTIFACT_HASH];
    struct stat status;
    const struct held_file *held, *again;
    snprintf(inside, sizeof inside, "%s/state", folder);
    assert_int_equal(folder_open(&home, inside, reason, sizeof reason), FOLDER_OK);
    struct files *files = files_create(&home, reason, sizeof reason);
    assert_non_null(files);
    assert_int_equal(artifact_write(home.artifacts, "#!/bin/sh\n", 10, sha256, reason, sizeof reason),
                     ARTIFACT_OK);
    assert_int_equal(files_hold(files, FILES_ENGINE, sha256, &rules, &held, reason, sizeof reason), CACHE_OK);
    assert_int_equal(stat(held->path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0500);
    assert_int_equal(held->path[0], '/');
    assert_int_equal(files_hold(files, FILES_ENGINE, sha256, &rules, &again, reason, sizeof reason),
                     CACHE_OK);
    assert_ptr_equal(held, again);
    files_release(files, again);
    /* Changed behind our back: never run, fetched anew. */
    assert_int_equal(chmod(held->path, 0700), 0);
    FILE *file = fopen(held->path, "a");
    assert_non_null(file);
    fputs("exit\n", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(files_hold(files, FILES_ENGINE, sha256, &rules, &again, reason, sizeof reason),
                     CACHE_ERROR_ABSENT);
    /* An engine is no table. */
    assert_int_equal(artifact_write(home.artifacts, "#!/bin/sh\n", 10, sha256, reason, sizeof reason),
                     ARTIFACT_OK);
    assert_int_equal(files_hold(files, FILES_TABLES, sha256, &rules, &again, reason, sizeof reason),
                     CACHE_ERROR_WEIGHTS);
    assert_int_equal(files_share_tables(files, "/no/such/tables", reason, sizeof reason), -1);
    files_release(files, held);
    files_destroy(files);
    folder_close(&home);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plays_the_same_games_as_the_search),
        cmocka_unit_test(an_option_that_is_none_gives_no_game),
        cmocka_unit_test(what_fails_before_its_first_move_gives_no_game),
        cmocka_unit_test(what_fails_later_loses),
        cmocka_unit_test(a_program_that_died_between_games_is_started_again),
        cmocka_unit_test(a_game_that_is_stopped_is_no_game),
        cmocka_unit_test(files_are_verified_and_set_apart),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
