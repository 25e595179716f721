/* The watch over the play threads: a long thought goes on, one whose thread stands still is found, whoever
 * else plays under its lease. */
#include "worker/players.h"

#include <dirent.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>

#include "engine/build.h"
#include "proto/progress.h"
#include "proto/socket.h"
#include "tests/unit/worker/scratch.h"
#include "worker/bounds.h"

enum { TURN_MS = 50, STILL_MS = 1500, DEADLINE_MS = 60000, AWAY_MS = 1000000000 };

struct scene {
    struct queue *tasks, *outcomes;
    struct players *players;
    struct lease *leases[2];
    struct weights *weights;
    int wake_fd;
    int64_t now_ms; /* the watcher's clock: the test turns it */
};

/* --- a thread that stands still: it waits inside a signal handler --- */

static sem_t holds, goes_on;

static void stand_still(int number)
{
    (void)number;
    sem_post(&holds);
    while (sem_wait(&goes_on) != 0)
        ;
}

/* The other threads of this process. */
static size_t play_threads(pid_t threads[2])
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        pid_t thread = atoi(entry->d_name);
        if (thread > 0 && thread != gettid() && count < 2)
            threads[count++] = thread;
    }
    closedir(folder);
    return count;
}

static void freeze(pid_t thread)
{
    assert_int_equal(syscall(SYS_tgkill, getpid(), thread, SIGUSR2), 0);
    while (sem_wait(&holds) != 0)
        ;
}

/* --- two threads, each with a lease of its own and one thought that never ends --- */

static int set_up(void **state)
{
    static struct scene scene;
    char reason[512];
    struct sigaction action = {.sa_handler = stand_still};
    struct message_player player = {.depth_limit = SEARCH_DEPTH_MAX};
    struct message_lease_grant grant = {.lease = 1, .attempt = 1, .pair_count = 1, .term_ms = 2000};
    grant.spec = (struct message_spec){.experiment = 1,
                                       .kind = MESSAGE_SELFPLAY,
                                       .rules = "site",
                                       .opening_plies = 4,
                                       .a = player,
                                       .b = player};
    scene = (struct scene){.now_ms = 1000, .wake_fd = wake_create()};
    scene.tasks = queue_create(sizeof(struct task), 8);
    scene.outcomes = queue_create(sizeof(struct outcome), 8);
    scene.weights = weights_create_starting("site");
    scene.players = players_create(2, NULL, scene.tasks, scene.outcomes, scene.wake_fd);
    if (!scene.weights || !scene.players || sem_init(&holds, 0, 0) != 0 || sem_init(&goes_on, 0, 0) != 0 ||
        sigaction(SIGUSR2, &action, NULL) != 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        struct lease *lease = lease_create(&grant, engine_build(), reason, sizeof reason);
        struct task task = {.lease = lease};
        assert_non_null(lease);
        lease_bound_time(lease, 60000, 0, 0);
        lease->sides[0].weights = lease->sides[1].weights = scene.weights;
        scene.leases[i] = lease;
        assert_int_equal(queue_push(scene.tasks, &task), QUEUE_OK);
    }
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;
    struct outcome outcome;
    sem_post(&goes_on); /* so that a test that fails ends, too */
    sem_post(&goes_on);
    for (int i = 0; i < 2; i++)
        atomic_store(&scene->leases[i]->stop, true);
    queue_close(scene->tasks);
    queue_close(scene->outcomes);
    players_destroy(scene->players);
    while (queue_try_pop(scene->outcomes, &outcome) == QUEUE_OK)
        outcome_done(&outcome);
    queue_destroy(scene->tasks);
    queue_destroy(scene->outcomes);
    lease_destroy(scene->leases[0]);
    lease_destroy(scene->leases[1]);
    weights_destroy(scene->weights);
    close(scene->wake_fd);
    return 0;
}

static void turn(struct scene *scene, int64_t passed_ms)
{
    scene->now_ms += passed_ms;
    players_look(scene->players, scene->now_ms);
}

/* Turns until `count` threads stand still; the watcher's clock goes faster than the real one. */
static void turn_until_still(struct scene *scene, unsigned count)
{
    int64_t until_ms = progress_now_ms() + DEADLINE_MS;
    while (players_still_count(scene->players, STILL_MS) != count) {
        assert_true(progress_now_ms() < until_ms);
        turn(scene, TURN_MS);
        sched_yield();
    }
}

/* Until both threads are deep in thought: stopped before, one might hold a lock that all need. */
static void turn_until_deep(struct scene *scene)
{
    int64_t until_ms = progress_now_ms() + DEADLINE_MS;
    for (int seen[2] = {0}; seen[0] < 5 || seen[1] < 5;) {
        int64_t since_ms = scene->now_ms;
        turn(scene, 1);
        for (int i = 0; i < 2; i++)
            seen[i] += players_think(scene->players, scene->leases[i], since_ms);
        assert_true(progress_now_ms() < until_ms);
        sched_yield();
    }
}

/* Its pulse goes on under a search of which no ply comes. */
static void a_long_thought_is_no_standing_still(void **state)
{
    struct scene *scene = *state;
    turn_until_deep(scene);
    for (int i = 0; i < 2; i++)
        assert_int_equal(players_plies(scene->players, scene->leases[i]), 0);
    assert_null(players_still(scene->players, AWAY_MS));
}

static void a_thread_that_stands_still_is_found(void **state)
{
    struct scene *scene = *state;
    pid_t threads[2];
    turn_until_deep(scene);
    assert_int_equal(play_threads(threads), 2);
    freeze(threads[0]);
    turn_until_still(scene, 1);
    freeze(threads[1]);
    turn_until_still(scene, 2);
    int64_t since_ms = scene->now_ms;
    turn(scene, TURN_MS);
    for (int i = 0; i < 2; i++) {
        assert_false(players_think(scene->players, scene->leases[i], since_ms));
        assert_non_null(players_still(scene->players, STILL_MS));
        atomic_store(&players_still(scene->players, STILL_MS)->stop, true); /* given back: told once */
    }
    assert_null(players_still(scene->players, STILL_MS));
    sem_post(&goes_on);
    sem_post(&goes_on);
    turn_until_still(scene, 0); /* awake, they give their games up */
}

/* A process that was stopped as a whole, and its watcher with it. */
static void a_watcher_that_was_away_blames_nobody(void **state)
{
    struct scene *scene = *state;
    pid_t threads[2];
    turn_until_deep(scene);
    assert_int_equal(play_threads(threads), 2);
    for (int i = 0; i < 2; i++)
        freeze(threads[i]);
    turn(scene, TURN_MS);
    turn(scene, AWAY_MS);
    assert_int_equal(players_still_count(scene->players, AWAY_MS / 2), 0);
    turn_until_still(scene, 2);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_long_thought_is_no_standing_still),
        TEST(a_thread_that_stands_still_is_found),
        TEST(a_watcher_that_was_away_blames_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
