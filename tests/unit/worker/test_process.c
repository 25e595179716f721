/* A player that is another program: the same games as the search in this process, and programs that hang,
 * crash or speak nonsense, each within its bound. */
#include "worker/process.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/build.h"
#include "proto/artifact.h"
#include "proto/program.h"
#include "proto/progress.h"
#include "tests/unit/worker/players.h"
#include "worker/files.h"

enum { MOVE_MS = 2500, NODES = 300, HASH_KIB = 1024 };

static int silence_ms = MOVE_MS;
static int64_t most_ms; /* 0: no more than that */

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

/* Player a is the program, b the search. */
static enum play_status play(struct process *process, const char *engine, const char *options, uint64_t pair,
                             unsigned leg, atomic_bool *stop, struct play_record *record)
{
    struct play_seats *seats = play_seats_create();
    struct play_setup setup = {.rules = &rules, .seed = 77, .opening_plies = 4};
    struct play_side side = {.weights = weights, .limits = {.nodes = NODES}, .hash_kib = HASH_KIB};
    struct dialect_setup program = {.rules = "site", .hash_kib = HASH_KIB, .options = options};
    struct dialect_limits limits = {.nodes = NODES, .most_ms = most_ms};
    if (process != NULL) {
        process_seat(process, engine, &program, &limits, silence_ms);
        play_seats_use(seats, 0, process_mover(process));
    }
    enum play_status status = play_game(seats, &setup, &side, &side, pair, leg, stop, NULL, record);
    play_seats_destroy(seats);
    return status;
}

static void plays_the_same_games_as_the_search(void **state)
{
    (void)state;
    struct process *process = process_create();
    for (uint64_t pair = 0; pair < 3; pair++)
        for (unsigned leg = 0; leg < 2; leg++) {
            struct play_record ours, theirs;
            assert_int_equal(play(NULL, NULL, "", pair, leg, NULL, &ours), PLAY_DONE);
            assert_int_equal(play(process, built("kroo-engine"), "", pair, leg, NULL, &theirs), PLAY_DONE);
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
    assert_int_equal(play(process, built("kroo-engine"), "Nonsense=1", 0, 0, NULL, &record), PLAY_FAILED);
    play_record_done(&record);
    assert_non_null(strstr(process_reason(process), "has no option Nonsense"));
    assert_int_equal(play(process, built("kroo-engine"), "Level=Grandmother", 0, 0, NULL, &record),
                     PLAY_FAILED);
    play_record_done(&record);
    assert_non_null(strstr(process_reason(process), "Level needs"));
    assert_int_equal(play(process, built("kroo-engine"), "Level=Apprentice\nSeed=3", 0, 0, NULL, &record),
                     PLAY_DONE);
    play_record_done(&record);
    process_destroy(process);
}

static void check_failure(const char *engine, const char *why)
{
    struct process *process = process_create();
    struct play_record record;
    int64_t began = progress_now_ms();
    if (play(process, engine, "", 0, 0, NULL, &record) != PLAY_FAILED)
        fail_msg("%s played", engine);
    play_record_done(&record);
    if (strstr(process_reason(process), why) == NULL)
        fail_msg("said '%s', expected '%s'", process_reason(process), why);
    assert_true(progress_now_ms() - began < 60000);
    process_destroy(process);
}

static void what_fails_before_its_first_move_gives_no_game(void **state)
{
    (void)state;
    static const struct {
        const char *fault, *why;
    } cases[] = {
        {"crash", "it was killed by signal 11"},
        {"quit", "it exited with status 9, and wrote \"broken"},
        {"close", "it closed its output and runs on"},
        {"flood", "it says more than any program should"},
        {"long", "it says more than any program should"},
        {"zeros", "it says more than any program should"},
    };
    static const char *const steps[] = {"start", "uci", "isready", "ucinewgame", "position", "go"};
    check_failure("/no/such/program", "No such file");
    check_failure("/bin/true", "it exited with status 0");
    check_failure("/bin/cat", "no `uciok` in answer to `uci`");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t step = 0; step < sizeof steps / sizeof *steps; step++) {
            char fault[64];
            snprintf(fault, sizeof fault, "%s-%s-1", cases[i].fault, steps[step]);
            check_failure(player(folder, fault), cases[i].why);
        }
}

/* What is silent costs its deadline: the greeting's, that of `isready`, and that of a move. */
static void what_is_silent_before_its_first_move_gives_no_game(void **state)
{
    (void)state;
    static const char silent[] = "it did not answer in time";
    check_failure(player(folder, "hang-go-1"), "no `bestmove` in answer to `go`: it did not answer in time");
    check_failure(player(folder, "mute-start-1"), silent);
    check_failure(player(folder, "hang-isready-1"), "no `readyok` in answer to `isready`");
    check_failure(player(folder, "mute-isready-2"), "no `readyok` in answer to `isready`");
    check_failure(player(folder, "hang-ucinewgame-1"), "no `readyok` in answer to `isready`");
    check_failure(player(folder, "mute-position-1"), silent);
    check_failure(player(folder, "garble-go-1"), "its answer to `go` is no house");
    check_failure(player(folder, "illegal-go-1"), "its answer to `go` is no house");
}

static void check_claim(const char *fault, unsigned leg, enum game_reason reason)
{
    struct process *process = process_create();
    struct play_record record;
    assert_int_equal(play(process, player(folder, fault), "", 0, leg, NULL, &record), PLAY_DONE);
    if (record.reason != reason)
        fail_msg("%s ended by %s", fault, game_reason_text(record.reason));
    assert_int_equal(record.result, leg == 0 ? GAME_NORTH_WINS : GAME_SOUTH_WINS);
    assert_int_equal(record.plies, 4 + 4 + leg); /* opening, two moves each; North's turn is a ply later */
    play_record_done(&record);
    process_destroy(process);
}

static void what_fails_later_loses(void **state)
{
    (void)state;
    static const char *const crashes[] = {
        "crash-go-3",       "quit-go-3", "close-go-3", "flood-go-3",       "long-go-3",
        "zeros-go-3",       "hang-go-3", "mute-go-3",  "crash-position-3", "quit-position-3",
        "close-position-3", "eat-go-3",  "breed-go-3", "deaf-go-3"};
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        check_claim(crashes[i], i & 1, GAME_REASON_CRASH);
    if (confine_level(NULL) == CONFINE_NAMESPACES) /* elsewhere it would write where its user may */
        check_claim("litter-go-3", 0, GAME_REASON_CRASH);
    check_claim("illegal-go-3", 0, GAME_REASON_ILLEGAL_MOVE);
    check_claim("illegal-go-3", 1, GAME_REASON_ILLEGAL_MOVE);
    check_claim("garble-go-3", 0, GAME_REASON_ILLEGAL_MOVE);
}

/* Silence is a hang after a short while, a long thought is none while the program talks, and its end comes
 * all the same. The play thread's pulse goes on through all of it. */
static void a_program_that_talks_may_think_longer(void **state)
{
    (void)state;
    static const struct {
        const char *fault;
        int silence_ms, most_ms;
        enum game_reason reason;
        int least_ms;
    } cases[] = {
        {"ponder-go-6", 700, 30000, GAME_REASON_NONE, 1000}, /* silent no longer than 50 ms */
        {"ponder-go-6", 700, 0, GAME_REASON_CRASH, 700},     /* nobody allowed it more */
        {"chatter-go-3", 700, 1500, GAME_REASON_CRASH, 1500},
        {"hang-go-3", 700, 30000, GAME_REASON_CRASH, 700},
    };
    struct play_record ours, theirs;
    assert_int_equal(play(NULL, NULL, "", 0, 0, NULL, &ours), PLAY_DONE);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct process *process = process_create();
        atomic_uint pulse = 0;
        int64_t began = progress_now_ms();
        silence_ms = cases[i].silence_ms;
        most_ms = cases[i].most_ms;
        program_pulse_here(&pulse);
        assert_int_equal(play(process, player(folder, cases[i].fault), "", 0, 0, NULL, &theirs), PLAY_DONE);
        program_pulse_here(NULL);
        int64_t took_ms = progress_now_ms() - began;
        if (cases[i].reason == GAME_REASON_NONE)
            assert_string_equal(ours.moves, theirs.moves);
        else
            assert_int_equal(theirs.reason, cases[i].reason);
        assert_true(took_ms >= cases[i].least_ms);
        assert_true(cases[i].reason == GAME_REASON_NONE || cases[i].most_ms != 30000 || took_ms < 30000);
        assert_true((int)pulse > cases[i].least_ms / 100); /* every 50 ms, on a slow machine, too */
        play_record_done(&theirs);
        process_destroy(process);
    }
    silence_ms = MOVE_MS;
    most_ms = 0;
    play_record_done(&ours);
}

/* What a program remembers must not reach its next game: it is started afresh for each. */
static void each_game_has_a_process_of_its_own(void **state)
{
    (void)state;
    struct process *process = process_create();
    char learns[SCRATCH_PATH + 64];
    snprintf(learns, sizeof learns, "%s", player(folder, "illegal-ucinewgame-2"));
    for (uint64_t pair = 0; pair < 3; pair++) {
        struct play_record ours, theirs;
        assert_int_equal(play(NULL, NULL, "", pair, 0, NULL, &ours), PLAY_DONE);
        assert_int_equal(play(process, learns, "", pair, 0, NULL, &theirs), PLAY_DONE);
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
    const char *slow = player(folder, "hang-go-1");
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
    assert_int_equal(status.st_mode & 07777, 0555);
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
        cmocka_unit_test(what_is_silent_before_its_first_move_gives_no_game),
        cmocka_unit_test(what_fails_later_loses),
        cmocka_unit_test(a_program_that_talks_may_think_longer),
        cmocka_unit_test(each_game_has_a_process_of_its_own),
        cmocka_unit_test(a_game_that_is_stopped_is_no_game),
        cmocka_unit_test(files_are_verified_and_set_apart),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
