/* A coordinator made of nothing but tally, lease and schedule, some hundred workers, and a network that
 * loses, repeats, delays and reorders. Workers die, hang, come back; the coordinator is killed and rebuilt
 * from its rows; transactions fail. What must come out: every game stored once, every counter and verdict as
 * if one worker had played in order, and an end. Time is a number; nothing waits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/lease.h"
#include "coordinator/schedule.h"
#include "coordinator/tally.h"
#include "engine/mix.h"
#include "tests/unit/check.h"

enum {
    WORKERS = 150,
    EXPERIMENTS = 4,
    PAIRS_MOST = 3000,
    ROWS_MAX = 200000,
    SPOOL = 96,
    HANDS = 3, /* leases a worker works through */
    SLOTS = 2,
    EVENTS_MAX = 4000000,
    TERM = 20000,
    LAST_MS = 4 * 3600 * 1000,
};

static const struct plan {
    uint64_t pairs, window;
    int32_t priority;
    unsigned win, draw; /* percent, player a */
    bool tested;
    struct sprt_test test;
    uint32_t core_cap;
} plans[EXPERIMENTS] = {
    {3000, 512, 0, 48, 10, true, {STATISTICS_NORMALIZED, 0, 40, 0.05, 0.05, 8}, 0},
    {3000, 300, 0, 44, 12, true, {STATISTICS_LOGISTIC, 0, 40, 0.05, 0.05, 1}, 0},
    {700, 4096, 5, 45, 10, false, {0}, 200},
    {333, 64, 0, 45, 10, true, {STATISTICS_NORMALIZED, 0, 2, 0.01, 0.01, 16}, 0},
};

enum event_kind { TICK, REVIVE, RESTART, ASK, RESULT, REPORT, GOODBYE, GRANTED, ACK, DROPPED };

struct event {
    int64_t at;
    uint64_t order; /* among equals */
    enum event_kind kind;
    uint32_t worker;
    uint64_t session, lease, progress;
    uint32_t experiment, leg;
    uint64_t pair;
    uint32_t count;
};

struct hand {
    uint64_t lease, first, played;
    uint32_t experiment, count;
};

struct worker {
    uint64_t session;
    bool alive, hung;
    int64_t leg_ms;
    struct hand hands[HANDS];
    unsigned hand_count;
    struct event spool[SPOOL];
    unsigned spooled;
};

/* What a database would hold. */
struct row {
    struct lease lease;
    bool open;
};

struct world {
    uint64_t seed, dice;
    int64_t now;
    struct event *heap;
    size_t events, handled;
    uint64_t next_order, next_session;
    struct worker workers[WORKERS];
    struct row *rows;
    size_t row_count;
    uint8_t stored[EXPERIMENTS][PAIRS_MOST][2]; /* times a game was committed */
    uint16_t attempts[EXPERIMENTS][PAIRS_MOST]; /* highest seen */
    struct tally *tallies[EXPERIMENTS];
    struct lease_book *book;
    struct schedule *schedule;
    unsigned restarts, twins, lapses, duplicates, failures, lates, deaths;
};

/* --- dice and the network --- */

static uint32_t roll(struct world *w, uint32_t sides)
{
    return mix_below(mix(w->seed, w->dice++), sides);
}

static bool earlier(const struct event *one, const struct event *other)
{
    return one->at != other->at ? one->at < other->at : one->order < other->order;
}

static void push(struct world *w, struct event event, int64_t delay_ms)
{
    assert_true(w->events < EVENTS_MAX / 8);
    event.at = w->now + delay_ms;
    event.order = w->next_order++;
    size_t at = w->events++;
    for (; at > 0 && earlier(&event, &w->heap[(at - 1) / 2]); at = (at - 1) / 2)
        w->heap[at] = w->heap[(at - 1) / 2];
    w->heap[at] = event;
}

static struct event pop(struct world *w)
{
    struct event first = w->heap[0], last = w->heap[--w->events];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= w->events)
            break;
        if (child + 1 < w->events && earlier(&w->heap[child + 1], &w->heap[child]))
            child++;
        if (!earlier(&w->heap[child], &last))
            break;
        w->heap[at] = w->heap[child];
        at = child;
    }
    w->heap[at] = last;
    return first;
}

/* Lost one time in ten, repeated as often, late by up to two seconds and now and then by a minute. */
static void post(struct world *w, struct event message)
{
    unsigned copies = roll(w, 10) == 0 ? 0 : roll(w, 10) == 0 ? 2 : 1;
    while (copies-- > 0)
        push(w, message, roll(w, 200) == 0 ? 60000 : 1 + roll(w, 2000));
}

static unsigned score_of(const struct world *w, uint32_t experiment, uint64_t pair, unsigned leg)
{
    uint64_t dice = mix(mix(mix(w->seed, experiment), pair), leg) % 100;
    unsigned win = plans[experiment].win, draw = plans[experiment].draw;
    return dice < win ? 2 : dice < win + draw ? 1 : 0;
}

/* --- the coordinator --- */

static struct tally *tally_new(uint32_t x)
{
    const struct plan *plan = &plans[x];
    struct tally *tally = tally_create(plan->pairs, plan->window, plan->tested ? &plan->test : NULL);
    assert_non_null(tally);
    return tally;
}

static struct tally *tally_of_rows(const struct world *w, uint32_t x)
{
    struct tally *tally = tally_new(x);
    for (uint64_t pair = 0; pair < plans[x].pairs; pair++)
        for (unsigned leg = 0; leg < 2; leg++)
            if (w->stored[x][pair][leg])
                assert_true(tally_add(tally, pair, leg, score_of(w, x, pair, leg)) >= 0);
    return tally;
}

static void rows_close(struct world *w, const struct lease *leases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        w->rows[leases[i].id - 1].open = false;
}

static void book_fill(struct world *w, uint32_t x)
{
    uint64_t prefix = tally_prefix(w->tallies[x]);
    assert_int_equal(lease_experiment_add(w->book, x, plans[x].pairs, plans[x].window, prefix), LEASE_OK);
    for (size_t i = 0; i < w->row_count; i++) {
        struct row *row = &w->rows[i];
        if (row->lease.experiment != x || row->lease.first + row->lease.count <= prefix)
            continue;
        enum lease_status status = lease_restore(w->book, &row->lease, row->open, w->now);
        /* Of two leases of the same pairs the first is taken up again. */
        if (status == LEASE_OVERLAP && row->open)
            row->open = false;
        else
            assert_int_equal(status, LEASE_OK);
    }
    lease_experiment_terms(w->book, x, plans[x].core_cap, true);
    for (uint64_t pair = prefix; pair < plans[x].pairs; pair++)
        if (w->stored[x][pair][0] && w->stored[x][pair][1]) {
            struct lease finished[LEASE_TWINS];
            size_t count = lease_done(w->book, x, pair, 0, w->now, finished);
            rows_close(w, finished, count);
        }
    if (tally_decision(w->tallies[x]) == TALLY_NONE)
        assert_int_equal(schedule_add(w->schedule, x, plans[x].priority), 0);
    else
        lease_experiment_close(w->book, x);
}

/* From the rows alone; what was in memory must have said the same. */
static void coordinator_start(struct world *w)
{
    struct lease_policy policy = lease_policy_default();
    policy.term_ms = TERM;
    policy.leases_per_session = HANDS;
    lease_book_destroy(w->book);
    schedule_destroy(w->schedule);
    w->book = lease_book_create(&policy, w->row_count + 1);
    w->schedule = schedule_create();
    assert_true(w->book && w->schedule);
    for (uint32_t x = 0; x < EXPERIMENTS; x++) {
        struct tally *rebuilt = tally_of_rows(w, x);
        if (w->tallies[x])
            assert_true(tally_equal(rebuilt, w->tallies[x]));
        tally_destroy(w->tallies[x]);
        w->tallies[x] = rebuilt;
    }
    /* Rows that the prefix has passed are over. */
    for (size_t i = 0; i < w->row_count; i++) {
        const struct lease *lease = &w->rows[i].lease;
        if (lease->first + lease->count <= tally_prefix(w->tallies[lease->experiment]))
            w->rows[i].open = false;
    }
    for (uint32_t x = 0; x < EXPERIMENTS; x++)
        book_fill(w, x);
}

static void lapse(struct world *w)
{
    struct lease lapsed[16];
    size_t count;
    do {
        count = lease_expire(w->book, w->now, lapsed, 16);
        for (size_t i = 0; i < count; i++)
            w->rows[lapsed[i].id - 1].open = false;
        w->lapses += (unsigned)count;
    } while (count == 16);
    assert_true(lease_next_deadline(w->book) > w->now);
}

/* Looks at a fresh lease as its row would be looked at. */
static void row_insert(struct world *w, const struct lease *lease)
{
    uint32_t x = (uint32_t)lease->experiment;
    assert_true(w->row_count < ROWS_MAX && lease->id == w->row_count + 1 && lease->count >= 1);
    assert_int_equal(tally_decision(w->tallies[x]), TALLY_NONE);
    assert_true(lease->first + lease->count <= plans[x].pairs);
    assert_true(lease->first + lease->count <= tally_prefix(w->tallies[x]) + plans[x].window);
    for (uint64_t pair = lease->first; pair < lease->first + lease->count; pair++) {
        /* A range that goes out twice may hold finished pairs; they are not played again. */
        if (w->stored[x][pair][0] && w->stored[x][pair][1]) {
            assert_true(lease->left < lease->count);
            continue;
        }
        assert_int_equal(lease->attempt, w->attempts[x][pair] + 1);
        w->attempts[x][pair] = (uint16_t)lease->attempt;
    }
    w->rows[w->row_count++] = (struct row){*lease, true};
}

static void on_ask(struct world *w, const struct event *e)
{
    struct lease lease;
    struct schedule_asker asker = {.session = e->session, .credit = e->count, .slots = SLOTS, .tags = ""};
    struct lease_ask ask = {.session = e->session, .credit = e->count, .slots = SLOTS};
    struct schedule_pick pick = schedule_pick(w->schedule, w->book, &asker, false, w->now);
    if (pick.outcome != SCHEDULE_PICKED) {
        assert_true(pick.because[0] != '\0');
        return;
    }
    enum lease_status status = pick.twin ? lease_twin(w->book, pick.experiment, &ask, w->now, &lease)
                                         : lease_grant(w->book, pick.experiment, &ask, w->now, &lease);
    if (pick.twin && status == LEASE_CAPPED)
        return;
    assert_int_equal(status, LEASE_OK);
    assert_true(lease.left <= e->count && lease.left >= 1 && (pick.twin || lease.left == lease.count));
    w->twins += pick.twin;
    struct lease_experiment_view view;
    assert_true(lease_experiment_look(w->book, pick.experiment, e->session, SLOTS, &view));
    assert_true(plans[pick.experiment].core_cap == 0 || view.cores <= plans[pick.experiment].core_cap);
    row_insert(w, &lease);
    post(w, (struct event){.kind = GRANTED,
                           .worker = e->worker,
                           .session = e->session,
                           .lease = lease.id,
                           .experiment = (uint32_t)lease.experiment,
                           .pair = lease.first,
                           .count = lease.count});
}

static void after_commit(struct world *w, const struct event *e, enum tally_answer answer)
{
    struct tally *tally = w->tallies[e->experiment];
    struct lease finished[LEASE_TWINS];
    if (tally_pair_complete(tally, e->pair))
        rows_close(w, finished, lease_done(w->book, e->experiment, e->pair, e->session, w->now, finished));
    /* Experiments differ in what their games cost. */
    double core_ms = (e->experiment + 1) * (double)(20 + roll(w, 60));
    schedule_charge(w->schedule, e->experiment, core_ms);
    lease_experiment_cost(w->book, e->experiment, e->session, 1, core_ms);
    lease_experiment_advance(w->book, e->experiment, tally_prefix(tally));
    if (answer == TALLY_COUNTED && tally_decision(tally) != TALLY_NONE) {
        lease_experiment_close(w->book, e->experiment);
        assert_true(schedule_remove(w->schedule, e->experiment));
    }
}

static void on_result(struct world *w, const struct event *e)
{
    struct tally **tally = &w->tallies[e->experiment], *next = tally_clone(*tally);
    assert_non_null(next);
    enum tally_answer answer = tally_add(next, e->pair, e->leg, score_of(w, e->experiment, e->pair, e->leg));
    bool committed = roll(w, 50) > 0;
    assert_true(answer >= 0);
    assert_int_equal(answer == TALLY_DUPLICATE, w->stored[e->experiment][e->pair][e->leg]);
    if (committed && answer != TALLY_DUPLICATE) {
        w->stored[e->experiment][e->pair][e->leg]++;
        tally_swap(*tally, next);
        after_commit(w, e, answer);
    }
    tally_destroy(next);
    w->duplicates += answer == TALLY_DUPLICATE;
    w->lates += answer == TALLY_LATE;
    w->failures += !committed;
    struct event ack = *e;
    ack.kind = ACK;
    if (committed)
        post(w, ack);
}

static void on_report(struct world *w, const struct event *e)
{
    enum lease_status status = lease_progress(w->book, e->lease, e->session, e->progress, w->now);
    if (status == LEASE_UNKNOWN)
        post(w,
             (struct event){.kind = DROPPED, .worker = e->worker, .session = e->session, .lease = e->lease});
}

static void on_goodbye(struct world *w, const struct event *e)
{
    struct lease released[HANDS];
    size_t count = lease_session_end(w->book, e->session, released, HANDS);
    for (size_t i = 0; i < count; i++)
        w->rows[released[i].id - 1].open = false;
}

/* --- the workers --- */

static void worker_start(struct world *w, uint32_t index)
{
    struct worker *worker = &w->workers[index];
    *worker = (struct worker){.session = ++w->next_session, .alive = true};
    worker->leg_ms = roll(w, 20) == 0 ? 2500 : 30 + roll(w, 300);
    push(w, (struct event){.kind = TICK, .worker = index, .session = worker->session}, 1 + roll(w, 1000));
}

static void worker_die(struct world *w, uint32_t index)
{
    struct worker *worker = &w->workers[index];
    if (roll(w, 2))
        post(w, (struct event){.kind = GOODBYE, .worker = index, .session = worker->session});
    worker->alive = false;
    w->deaths++;
    push(w, (struct event){.kind = REVIVE, .worker = index}, 1000 + roll(w, 20000));
}

static void hand_drop(struct worker *worker, unsigned hand)
{
    worker->hands[hand] = worker->hands[--worker->hand_count];
}

/* Plays one game of the first lease and spools it. */
static void worker_play(struct world *w, uint32_t index)
{
    struct worker *worker = &w->workers[index];
    struct hand *hand = &worker->hands[0];
    if (worker->hand_count == 0 || worker->spooled == SPOOL)
        return;
    struct event result = {.kind = RESULT,
                           .worker = index,
                           .session = worker->session,
                           .lease = hand->lease,
                           .experiment = hand->experiment,
                           .pair = hand->first + hand->played / 2,
                           .leg = (uint32_t)(hand->played % 2)};
    worker->spool[worker->spooled++] = result;
    post(w, result);
    hand->played++;
    if (roll(w, 3) == 0)
        post(w, (struct event){.kind = REPORT,
                               .worker = index,
                               .session = worker->session,
                               .lease = hand->lease,
                               .progress = hand->played});
    if (hand->played == 2 * (uint64_t)hand->count)
        hand_drop(worker, 0);
}

static void on_tick(struct world *w, const struct event *e)
{
    struct worker *worker = &w->workers[e->worker];
    if (!worker->alive || worker->session != e->session)
        return;
    if (roll(w, 1000) == 0)
        worker->hung = true;
    if (roll(w, worker->hung ? 200 : 1500) == 0) {
        worker_die(w, e->worker);
        return;
    }
    /* A hung worker goes on reporting what it had reached. */
    if (worker->hung && worker->hand_count > 0)
        post(w, (struct event){.kind = REPORT,
                               .worker = e->worker,
                               .session = worker->session,
                               .lease = worker->hands[0].lease,
                               .progress = worker->hands[0].played});
    if (!worker->hung) {
        worker_play(w, e->worker);
        if (worker->hand_count < 2 && roll(w, 4) == 0)
            post(w,
                 (struct event){
                     .kind = ASK, .worker = e->worker, .session = worker->session, .count = 1 + roll(w, 40)});
        if (roll(w, 12) == 0)
            for (unsigned i = 0; i < worker->spooled; i++)
                post(w, worker->spool[i]);
    }
    push(w, *e, worker->leg_ms + roll(w, 20));
}

static void on_granted(struct world *w, const struct event *e)
{
    struct worker *worker = &w->workers[e->worker];
    if (!worker->alive || worker->session != e->session || worker->hand_count == HANDS)
        return;
    worker->hands[worker->hand_count++] = (struct hand){e->lease, e->pair, 0, e->experiment, e->count};
}

static void on_ack(struct world *w, const struct event *e)
{
    struct worker *worker = &w->workers[e->worker];
    for (unsigned i = 0; i < worker->spooled; i++) {
        const struct event *s = &worker->spool[i];
        if (s->experiment == e->experiment && s->pair == e->pair && s->leg == e->leg) {
            worker->spool[i] = worker->spool[--worker->spooled];
            return;
        }
    }
}

static void on_dropped(struct world *w, const struct event *e)
{
    struct worker *worker = &w->workers[e->worker];
    for (unsigned i = 0; i < worker->hand_count; i++)
        if (worker->hands[i].lease == e->lease) {
            hand_drop(worker, i);
            return;
        }
}

static void on_restart(struct world *w, const struct event *e)
{
    coordinator_start(w);
    w->restarts++;
    push(w, *e, 5000 + roll(w, 60000));
}

static void on_revive(struct world *w, const struct event *e)
{
    worker_start(w, e->worker);
}

/* --- the run --- */

static void handle(struct world *w, const struct event *e)
{
    static void (*const handlers[])(struct world *, const struct event *) = {
        [TICK] = on_tick,     [REVIVE] = on_revive,   [RESTART] = on_restart, [ASK] = on_ask,
        [RESULT] = on_result, [REPORT] = on_report,   [GOODBYE] = on_goodbye, [GRANTED] = on_granted,
        [ACK] = on_ack,       [DROPPED] = on_dropped,
    };
    handlers[e->kind](w, e);
}

static void check_against_one_worker(const struct world *w)
{
    for (uint32_t x = 0; x < EXPERIMENTS; x++) {
        struct tally *expected = tally_new(x);
        uint64_t pair = 0;
        for (; tally_decision(expected) == TALLY_NONE; pair++)
            for (unsigned leg = 0; leg < 2; leg++)
                tally_add(expected, pair, leg, score_of(w, x, pair, leg));
        assert_int_equal(tally_decision(w->tallies[x]), tally_decision(expected));
        assert_int_equal(tally_decided_at(w->tallies[x]), tally_decided_at(expected));
        assert_memory_equal(tally_totals(w->tallies[x]), tally_totals(expected), sizeof(struct tally_totals));
        if (plans[x].tested)
            assert_memory_equal(tally_sprt(w->tallies[x]), tally_sprt(expected), sizeof(struct sprt_state));
        for (uint64_t p = 0; p < plans[x].pairs; p++)
            for (unsigned leg = 0; leg < 2; leg++)
                assert_true(p < pair ? w->stored[x][p][leg] == 1 : w->stored[x][p][leg] <= 1);
        tally_destroy(expected);
    }
}

static void simulate(uint64_t seed, bool restarts)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->seed = seed;
    w->heap = malloc(EVENTS_MAX / 8 * sizeof *w->heap);
    w->rows = malloc(ROWS_MAX * sizeof *w->rows);
    assert_true(w->heap && w->rows);
    coordinator_start(w);
    for (uint32_t i = 0; i < WORKERS; i++)
        worker_start(w, i);
    if (restarts)
        push(w, (struct event){.kind = RESTART}, 3000);
    while (schedule_count(w->schedule) > 0) {
        struct event e = pop(w);
        w->now = e.at;
        if (w->now > LAST_MS || ++w->handled > EVENTS_MAX)
            fail_msg("seed %llu: no end in sight at %lld ms", (unsigned long long)seed, (long long)w->now);
        lapse(w);
        handle(w, &e);
    }
    check_against_one_worker(w);
    /* Nothing above was spared. */
    assert_true((w->restarts > 0) == restarts && w->lapses > 10 && w->duplicates > 100 && w->failures > 10 &&
                w->deaths > 10 && w->twins > 0 && w->handled > 10000);
    if (getenv("SIMULATION_REPORT"))
        printf("# seed %llu: %zu events, %lld s, %zu leases, %u lapsed, %u restarts, %u deaths, %u "
               "duplicates, %u late, %u twins\n",
               (unsigned long long)seed, w->handled, (long long)w->now / 1000, w->row_count, w->lapses,
               w->restarts, w->deaths, w->duplicates, w->lates, w->twins);
    for (uint32_t x = 0; x < EXPERIMENTS; x++)
        tally_destroy(w->tallies[x]);
    lease_book_destroy(w->book);
    schedule_destroy(w->schedule);
    free(w->heap);
    free(w->rows);
    free(w);
}

static void lying_dropping_duplicating_workers_change_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++)
        simulate(seed, true);
}

/* A restart reads everything anew and so would cure a pair that the book has forgotten: here it must not
 * happen. */
static void they_come_to_an_end_without_restarts_too(void **state)
{
    (void)state;
    for (uint64_t seed = 101; seed <= 106; seed++)
        simulate(seed, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lying_dropping_duplicating_workers_change_nothing),
        cmocka_unit_test(they_come_to_an_end_without_restarts_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
