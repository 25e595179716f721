#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fault/simulation_parts.h"

/* --- the workers --- */

static void worker_start(struct world *w, uint32_t index)
{
    struct worker *worker = &w->workers[index];
    *worker = (struct worker){.session = ++w->next_session,
                              .alive = true,
                              .liar = worker->liar,
                              .aside = worker->aside,
                              .charges = worker->charges};
    worker->leg_ms = roll(w, 20) == 0 ? 2500 : 30 + roll(w, 300);
    push(w, (struct event){.kind = TICK, .worker = index, .session = worker->session}, 1 + roll(w, 1000));
}

static void worker_die(struct world *w, uint32_t index)
{
    struct worker *worker = &w->workers[index];
    if (roll(w, 2))
        post(w, (struct event){.kind = GOODBYE, .worker = index, .session = worker->session});
    worker->alive = false;
    w->report->deaths++;
    /* One in eight never comes back. */
    if (roll(w, 8))
        push(w, (struct event){.kind = REVIVE, .worker = index}, 1000 + roll(w, 20000));
}

static void hand_drop(struct worker *worker, unsigned hand)
{
    worker->hands[hand] = worker->hands[--worker->hand_count];
}

static void report_progress(struct world *w, uint32_t index)
{
    const struct worker *worker = &w->workers[index];
    if (worker->hand_count > 0)
        post(w, (struct event){.kind = REPORT,
                               .worker = index,
                               .session = worker->session,
                               .lease = worker->hands[0].lease,
                               .progress = worker->hands[0].played});
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
        report_progress(w, index);
    if (hand->played == 2 * (uint64_t)hand->count)
        hand_drop(worker, 0);
}

static void on_tick(struct world *w, const struct event *e)
{
    struct worker *worker = &w->workers[e->worker];
    if (!worker->alive || worker->session != e->session)
        return;
    if (sick(w) && !worker->hung && roll(w, w->faults.hang_one_in) == 0) {
        worker->hung = true;
        w->report->hangs++;
    }
    if (sick(w) && roll(w, worker->hung ? w->faults.die_one_in / 8 + 1 : w->faults.die_one_in) == 0) {
        worker_die(w, e->worker);
        return;
    }
    if (worker->hung) {
        report_progress(w, e->worker); /* what it had reached, again and again */
        push(w, *e, 5000);
        return;
    }
    worker_play(w, e->worker);
    if (worker->hand_count < 2 && roll(w, 4) == 0)
        post(w, (struct event){
                    .kind = ASK, .worker = e->worker, .session = worker->session, .count = 1 + roll(w, 40)});
    if (worker->spooled > 0 && roll(w, 12) == 0)
        for (unsigned i = 0; i < worker->spooled; i++)
            post(w, worker->spool[i]);
    push(w, *e, (worker->hand_count || worker->spooled ? worker->leg_ms : 400) + roll(w, 20));
}

static void on_granted(struct world *w, const struct event *e)
{
    struct worker *worker = &w->workers[e->worker];
    if (!worker->alive || worker->session != e->session || worker->hand_count == HANDS)
        return;
    for (unsigned i = 0; i < worker->hand_count; i++)
        if (worker->hands[i].lease == e->lease)
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
    if (!sick(w))
        return;
    coordinator_start(w);
    w->report->restarts++;
    push(w, *e, w->faults.restart_ms / 2 + roll(w, (uint32_t)w->faults.restart_ms));
}

static void on_revive(struct world *w, const struct event *e)
{
    worker_start(w, e->worker);
}

static void handle(struct world *w, const struct event *e)
{
    static void (*const handlers[])(struct world *, const struct event *) = {
        [TICK] = on_tick,     [REVIVE] = on_revive,   [RESTART] = on_restart, [ASK] = on_ask,
        [RESULT] = on_result, [REPORT] = on_report,   [GOODBYE] = on_goodbye, [GRANTED] = on_granted,
        [ACK] = on_ack,       [DROPPED] = on_dropped,
    };
    handlers[e->kind](w, e);
}

/* --- the run --- */

static void plan_experiment(struct world *w, uint32_t x)
{
    struct experiment *e = &w->experiments[x];
    uint32_t most = w->worker_count < 500 ? 1500 : 3 * w->worker_count;
    *e = (struct experiment){.pairs = most / 4 + roll(w, most),
                             .window = 64 + roll(w, roll(w, 2) ? 64 : most),
                             .priority = roll(w, 3) == 0 ? 5 : 0,
                             .win = 38 + roll(w, 16),
                             .draw = 4 + roll(w, 20),
                             .tested = roll(w, 3) > 0};
    static const uint32_t shares[] = {0, 20000, 100000, AUDIT_PPM};
    e->audit_ppm = shares[roll(w, 4)];
    e->core_cap = roll(w, 4) == 0 ? SLOTS * (1 + w->worker_count / 4) : 0;
    static const uint32_t batches[] = {1, 8, 16, 32};
    e->test = (struct sprt_test){roll(w, 2) ? STATISTICS_NORMALIZED : STATISTICS_LOGISTIC,
                                 0,
                                 5 + roll(w, 60),
                                 0.05,
                                 0.05,
                                 batches[roll(w, 4)]};
    e->furthest = e->window;
    e->games = blank(w, 2 * e->pairs, sizeof *e->games);
    e->attempts = blank(w, e->pairs, sizeof *e->attempts);
    e->disputed = blank(w, e->pairs, sizeof *e->disputed);
    e->audited = blank(w, e->pairs, sizeof *e->audited);
}

static void begin(struct world *w, const struct simulation_plan *plan)
{
    w->worker_count = plan->workers;
    w->restarts = plan->restarts;
    w->faults = (struct faults){.lost = roll(w, 30),
                                .repeated = roll(w, 30),
                                .commit_fails = roll(w, 6),
                                .liars = roll(w, 3) ? 1 + roll(w, 25) : 0,
                                .delay_ms = 1 + roll(w, 3000),
                                .slow_one_in = 50 + roll(w, 2000),
                                .hang_one_in = 300 + roll(w, 5000),
                                .die_one_in = 300 + roll(w, 5000),
                                .until_ms = 20000 + roll(w, 240000),
                                .restart_ms = 4000 + roll(w, 60000)};
    for (unsigned i = 0; i < AUDIT_SECRET; i++)
        w->secret[i] = (uint8_t)roll(w, 256);
    w->experiment_count = 1 + roll(w, EXPERIMENTS_MAX);
    w->running = w->experiment_count;
    for (uint32_t x = 0; x < w->experiment_count; x++)
        plan_experiment(w, x);
    coordinator_start(w);
    w->workers = blank(w, w->worker_count, sizeof *w->workers);
    for (uint32_t i = 0; i < w->worker_count; i++) {
        w->workers[i].liar = roll(w, 100) < w->faults.liars;
        worker_start(w, i);
    }
    if (w->restarts)
        push(w, (struct event){.kind = RESTART}, w->faults.restart_ms);
}

/* What one worker would have got that played the stored games in their order. */
static void check_end(struct world *w, uint32_t x)
{
    struct experiment *e = &w->experiments[x];
    struct tally *expected = tally_new(w, e);
    bool same_lie = false;
    uint64_t pair = 0;
    for (; tally_decision(expected) == TALLY_NONE; pair++)
        for (unsigned leg = 0; leg < 2; leg++) {
            const struct game *game = game_of(e, pair, leg);
            must(w, game->stored && game->commits == 1);
            tally_add(expected, pair, leg, game->stored - 1u);
            same_lie |= agreed(game) && agreed(game) != truth(w, x, pair, leg);
        }
    must(w, tally_decision(e->tally) == tally_decision(expected));
    must(w, tally_decided_at(e->tally) == tally_decided_at(expected));
    must(w, memcmp(tally_totals(e->tally), tally_totals(expected), sizeof(struct tally_totals)) == 0);
    if (e->tested)
        must(w, memcmp(tally_sprt(e->tally), tally_sprt(expected), sizeof(struct sprt_state)) == 0);
    for (uint64_t p = 0; p < e->pairs; p++)
        must(w, game_of(e, p, 0)->commits <= 1 && game_of(e, p, 1)->commits <= 1);
    for (uint64_t p = 0; p < pair && e->audit_ppm == AUDIT_PPM && !same_lie; p++)
        for (unsigned leg = 0; leg < 2; leg++)
            must(w, game_of(e, p, leg)->stored == truth(w, x, p, leg));
    tally_destroy(expected);
}

static void run(struct world *w)
{
    while (w->running > 0) {
        must(w, w->heap.count > 0);
        struct event e = pop(w);
        w->now = e.at;
        w->report->events++;
        must(w, w->now < w->faults.until_ms + LIVENESS_MS);
        lapse(w);
        handle(w, &e);
    }
    for (uint32_t x = 0; x < w->experiment_count; x++)
        check_end(w, x);
}

void simulate(const struct simulation_plan *plan, struct simulation_report *report)
{
    *report = (struct simulation_report){0};
    struct world *w = calloc(1, sizeof *w);
    if (!w || plan->workers < 20 || plan->workers > SIMULATION_WORKERS_MAX) {
        report->failed = true;
        snprintf(report->failure, sizeof report->failure, "no memory, or no such number of workers");
        free(w);
        return;
    }
    w->seed = plan->seed;
    w->heap = (struct heap){.size = sizeof(struct event), .earlier = event_earlier};
    w->report = report;
    if (setjmp(w->out) == 0) {
        begin(w, plan);
        run(w);
    }
    report->simulated_ms = w->now;
    report->ended_ms = report->ended_ms > w->faults.until_ms ? report->ended_ms - w->faults.until_ms : 0;
    for (uint32_t x = 0; x < w->experiment_count; x++) {
        struct experiment *e = &w->experiments[x];
        tally_destroy(e->tally);
        free(e->games);
        free(e->attempts);
        free(e->disputed);
        free(e->audited);
    }
    lease_book_destroy(w->book);
    schedule_destroy(w->schedule);
    audit_book_destroy(w->audits);
    free(w->workers);
    free(w->heap.things);
    free(w->rows);
    free(w);
}
