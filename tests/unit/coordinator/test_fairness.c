/* Shares in core-seconds (CASES fishtest#435, #362, #458, #1558, #2443): a farm of unlike workers,
 * experiments of shares 1 to 10 whose games cost from a hundredth of a second to six, half an hour by a clock
 * that is a number. What each was given must be its share within a tenth. And: odd numbers of play threads
 * are kept busy, and the end of an experiment is spread over all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/lease.h"
#include "coordinator/schedule.h"
#include "engine/mix.h"
#include "tests/unit/check.h"

enum { EXPERIMENTS = 10, WORKERS = 24, HOLDS = 8, SLOTS_MAX = 16, AHEAD_MS = 3000 };

/* A worker as worker/workload.c makes it: asks for three seconds of work when it holds half of that. */
struct worker {
    uint32_t slots;
    double slowness;
    struct hold {
        struct lease lease;
        uint64_t next; /* game to begin */
        uint64_t open; /* games not finished */
    } holds[HOLDS];
    int hold_count;
    struct game {
        int64_t ends_ms; /* 0: the slot is idle */
        uint64_t experiment, pair;
        double ms;
    } games[SLOTS_MAX];
    double game_ms[EXPERIMENTS + 1];
    int64_t busy_ms, idle_ms;
};

struct farm {
    struct schedule *schedule;
    struct lease_book *book;
    struct worker workers[WORKERS];
    uint64_t dice;
    double cost_ms[EXPERIMENTS + 1], given_ms[EXPERIMENTS + 1];
    uint8_t *legs[EXPERIMENTS + 1]; /* finished games of a pair */
};

static double chance(struct farm *farm)
{
    return (double)(mix(77, farm->dice++) >> 11) / 9007199254740992.0;
}

static void farm_init(struct farm *farm, int experiments, uint64_t pairs)
{
    struct lease_policy policy = lease_policy_default();
    memset(farm, 0, sizeof *farm);
    farm->schedule = schedule_create();
    farm->book = lease_book_create(&policy, 1);
    for (uint64_t x = 1; x <= (uint64_t)experiments; x++) {
        assert_int_equal(schedule_add(farm->schedule, x, 0), 0);
        assert_int_equal(lease_experiment_add(farm->book, x, pairs, LEASE_WINDOW_MAX, 0), LEASE_OK);
        farm->legs[x] = calloc(pairs, 1);
        assert_non_null(farm->legs[x]);
    }
    for (int i = 0; i < WORKERS; i++)
        farm->workers[i] = (struct worker){.slots = 1 + (uint32_t)i % 4, .slowness = 1 + (i % 5) * 0.5};
}

static void farm_done(struct farm *farm)
{
    schedule_destroy(farm->schedule);
    lease_book_destroy(farm->book);
    for (int x = 0; x <= EXPERIMENTS; x++)
        free(farm->legs[x]);
}

static double work_ahead_ms(const struct worker *worker)
{
    double ms = 0;
    uint64_t open = 0;
    for (int i = 0; i < worker->hold_count; i++) {
        const struct hold *hold = &worker->holds[i];
        double game_ms = worker->game_ms[hold->lease.experiment];
        ms += (double)hold->open * (game_ms > 0 ? game_ms : 1000);
        open += hold->open;
    }
    return open > worker->slots ? ms * (double)(open - worker->slots) / (double)open / worker->slots : 0;
}

static void ask(struct farm *farm, int index, int64_t now)
{
    struct worker *worker = &farm->workers[index];
    double ahead = work_ahead_ms(worker);
    uint64_t session = 100 + (uint64_t)index;
    if (ahead > AHEAD_MS / 2.0 || worker->hold_count == HOLDS)
        return;
    struct schedule_asker asker = {.session = session, .credit = 4096, .slots = worker->slots, .tags = ""};
    struct lease_ask wants = {
        .session = session, .credit = 4096, .slots = worker->slots, .work_ms = (uint32_t)(AHEAD_MS - ahead)};
    struct schedule_pick pick = schedule_pick(farm->schedule, farm->book, &asker, false, now);
    if (pick.outcome != SCHEDULE_PICKED || pick.twin)
        return;
    struct hold *hold = &worker->holds[worker->hold_count++];
    assert_int_equal(lease_grant(farm->book, pick.experiment, &wants, now, &hold->lease), LEASE_OK);
    hold->next = 0;
    hold->open = 2 * (uint64_t)hold->lease.count;
}

static void finish(struct farm *farm, int index, struct game *game, int64_t now)
{
    struct worker *worker = &farm->workers[index];
    uint64_t x = game->experiment, session = 100 + (uint64_t)index;
    farm->given_ms[x] += game->ms;
    worker->game_ms[x] =
        worker->game_ms[x] > 0 ? worker->game_ms[x] + (game->ms - worker->game_ms[x]) / 4 : game->ms;
    schedule_charge(farm->schedule, x, game->ms);
    lease_experiment_cost(farm->book, x, session, 1, game->ms);
    if (++farm->legs[x][game->pair] == 2)
        lease_done(farm->book, x, game->pair, session, now, NULL);
    for (int i = 0; i < worker->hold_count; i++) {
        struct hold *hold = &worker->holds[i];
        if (hold->lease.experiment == x && game->pair >= hold->lease.first &&
            game->pair < hold->lease.first + hold->lease.count && --hold->open == 0) {
            memmove(hold, hold + 1, (size_t)(--worker->hold_count - i) * sizeof *hold);
            break;
        }
    }
    game->ends_ms = 0;
}

/* The next game of the earliest lease. */
static void begin(struct farm *farm, struct worker *worker, struct game *game, int64_t now)
{
    for (int i = 0; i < worker->hold_count; i++) {
        struct hold *hold = &worker->holds[i];
        if (hold->next == 2 * (uint64_t)hold->lease.count)
            continue;
        game->experiment = hold->lease.experiment;
        game->pair = hold->lease.first + hold->next++ / 2;
        game->ms = farm->cost_ms[game->experiment] * worker->slowness * (0.3 + 1.4 * chance(farm));
        int64_t takes = (int64_t)game->ms;
        game->ms = (double)(takes > 0 ? takes : 1);
        game->ends_ms = now + (int64_t)game->ms;
        return;
    }
}

static void step(struct farm *farm, int64_t now)
{
    for (int i = 0; i < WORKERS; i++) {
        struct worker *worker = &farm->workers[i];
        for (uint32_t slot = 0; slot < worker->slots; slot++)
            if (worker->games[slot].ends_ms > 0 && worker->games[slot].ends_ms <= now)
                finish(farm, i, &worker->games[slot], now);
        ask(farm, i, now);
        for (uint32_t slot = 0; slot < worker->slots; slot++) {
            if (worker->games[slot].ends_ms == 0)
                begin(farm, worker, &worker->games[slot], now);
            *(worker->games[slot].ends_ms > 0 ? &worker->busy_ms : &worker->idle_ms) += 1;
        }
    }
}

static void shares_are_fair_in_core_time(void **state)
{
    (void)state;
    static const double cost_ms[EXPERIMENTS + 1] = {0, 900, 30, 2500, 10, 700, 6000, 60, 1500, 250, 15};
    static struct farm farm;
    double all = 0;
    farm_init(&farm, EXPERIMENTS, 4000000);
    memcpy(farm.cost_ms, cost_ms, sizeof cost_ms);
    for (uint64_t x = 1; x <= EXPERIMENTS; x++)
        assert_true(schedule_set_share(farm.schedule, x, (uint32_t)x));
    for (int64_t now = 1; now <= 30 * 60 * 1000; now++)
        step(&farm, now);
    for (int x = 1; x <= EXPERIMENTS; x++)
        all += farm.given_ms[x];
    for (int x = 1; x <= EXPERIMENTS; x++) {
        double ratio = farm.given_ms[x] / all / (x / 55.0);
        if (getenv("SIMULATION_REPORT"))
            printf("# share %d: %.0f core-seconds, %.3f of what is its own\n", x, farm.given_ms[x] / 1000,
                   ratio);
        assert_true(ratio > 0.9 && ratio < 1.1);
    }
    farm_done(&farm);
}

/* fishtest#1635: workers of 7, 11 and 13 play threads, games of a second: more than 95 % busy. */
static void odd_workers_are_busy(void **state)
{
    (void)state;
    static const uint32_t slots[] = {7, 11, 13};
    static struct farm farm;
    farm_init(&farm, 2, 400000);
    farm.cost_ms[1] = 1000;
    farm.cost_ms[2] = 90;
    for (int i = 0; i < WORKERS; i++) {
        farm.workers[i].slots = slots[i % 3];
        farm.workers[i].slowness = 1;
    }
    for (int64_t now = 1; now <= 3 * 60 * 1000; now++)
        step(&farm, now);
    for (int i = 0; i < WORKERS; i++) {
        const struct worker *worker = &farm.workers[i];
        assert_true(worker->idle_ms * 20 < worker->busy_ms);
    }
    farm_done(&farm);
}

/* From the first moment that somebody has nothing to do, all are done within two games of the slowest. */
static void the_end_is_spread_over_all(void **state)
{
    (void)state;
    static struct farm farm;
    int64_t first_idle = 0, now = 1;
    farm_init(&farm, 1, 20000);
    farm.cost_ms[1] = 200;
    for (; lease_experiment_available(farm.book, 1) > 0 || lease_count(farm.book) > 0; now++) {
        step(&farm, now);
        for (int i = 0; i < WORKERS && first_idle == 0; i++)
            if (farm.workers[i].hold_count == 0)
                first_idle = now;
        assert_true(now < 3600 * 1000);
    }
    if (getenv("SIMULATION_REPORT"))
        printf("# done in %lld ms, first idle at %lld ms\n", (long long)now, (long long)first_idle);
    /* The slowest takes up to 1.02 s for a game, a pair has two. */
    assert_true(first_idle > 0 && now - first_idle < 4 * 1020);
    farm_done(&farm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_fair_in_core_time),
        cmocka_unit_test(odd_workers_are_busy),
        cmocka_unit_test(the_end_is_spread_over_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
