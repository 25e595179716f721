/* The coordinator of the simulation: the pure modules, and what the server and the writer do with them. */
#include "engine/mix.h"
#include "tests/fault/simulation_parts.h"

/* --- games --- */

uint8_t truth(const struct world *w, uint32_t x, uint64_t pair, unsigned leg)
{
    const struct experiment *e = &w->experiments[x];
    uint64_t dice = mix(mix(mix(w->seed, x), pair), leg) % 100;
    return dice < e->win ? 3 : dice < e->win + e->draw ? 2 : 1;
}

/* A liar tells the same lie each time. */
static uint8_t told(const struct world *w, uint32_t worker, uint32_t x, uint64_t pair, unsigned leg)
{
    uint8_t content = truth(w, x, pair, leg);
    uint64_t dice = mix(mix(mix(mix(w->seed, 1000 + worker), x), pair), leg);
    if (!w->workers[worker].liar || dice % 100 >= LIE_PERCENT)
        return content;
    return (uint8_t)((content + (dice >> 32) % 2) % 3 + 1);
}

struct game *game_of(struct experiment *e, uint64_t pair, unsigned leg)
{
    return &e->games[2 * pair + leg];
}

/* The content that two independent workers gave; 0 for none. */
uint8_t agreed(const struct game *game)
{
    for (unsigned i = 0; i < game->run_count; i++)
        for (unsigned j = 0; j < i; j++)
            if (game->runs[i].content == game->runs[j].content)
                return game->runs[i].content;
    return 0;
}

static bool contested(const struct game *game)
{
    for (unsigned i = 1; i < game->run_count; i++)
        if (game->runs[i].content != game->runs[0].content)
            return true;
    return false;
}

static bool played_by(const struct game *game, uint32_t worker)
{
    for (unsigned i = 0; i < game->run_count; i++)
        if (game->runs[i].worker == worker)
            return true;
    return false;
}

static uint64_t identity(uint32_t worker)
{
    return worker + 1;
}

/* --- the coordinator --- */

struct tally *tally_new(struct world *w, const struct experiment *e)
{
    struct tally *tally = tally_create(e->pairs, e->window, e->tested ? &e->test : NULL);
    must(w, tally != NULL);
    return tally;
}

static struct tally *tally_of_rows(struct world *w, struct experiment *e)
{
    struct tally *tally = tally_new(w, e);
    for (uint64_t pair = 0; pair < e->pairs; pair++) {
        if (e->disputed[pair])
            must(w, tally_reach(tally, pair) == 0 && tally_hold(tally, pair) == 0);
        for (unsigned leg = 0; leg < 2; leg++)
            if (game_of(e, pair, leg)->stored) {
                must(w, tally_reach(tally, pair) == 0);
                must(w, tally_add(tally, pair, leg, game_of(e, pair, leg)->stored - 1u) >= 0);
            }
    }
    return tally;
}

static void rows_close(struct world *w, const struct lease *leases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        w->rows[leases[i].id - 1].open = false;
}

static void row_close(struct world *w, const struct audit_lease *lease)
{
    if (lease->lease != 0)
        w->rows[lease->lease - 1].open = false;
}

static void row_insert(struct world *w, const struct lease *lease, bool again)
{
    must(w, lease->id == w->row_count + 1);
    if (w->row_count == w->row_room) {
        w->row_room = w->row_room ? 2 * w->row_room : 4096;
        w->rows = enlarge(w, w->rows, w->row_room * sizeof *w->rows);
    }
    w->rows[w->row_count++] = (struct row){*lease, true, again, w->now, false};
    w->report->leases++;
}

static bool due(const struct world *w, uint32_t x, uint64_t pair)
{
    return audit_is_due(w->secret, x, pair, 0, w->experiments[x].audit_ppm);
}

static void want_again(struct world *w, uint32_t x, uint64_t pair)
{
    struct experiment *e = &w->experiments[x];
    struct audit_pair again = {.pair = pair, .disputed = e->disputed[pair]};
    for (unsigned leg = 0; leg < 2; leg++)
        for (unsigned i = 0; i < game_of(e, pair, leg)->run_count; i++)
            audit_pair_add(&again, identity(game_of(e, pair, leg)->runs[i].worker));
    must(w, audit_want(w->audits, x, &again));
}

/* An end that is decided, but not written while pairs that it counts are played again. */
static bool awaits(const struct world *w, uint32_t x)
{
    const struct experiment *e = &w->experiments[x];
    for (uint64_t pair = 0; pair <= tally_decided_at(e->tally); pair++)
        if (e->disputed[pair] || (due(w, x, pair) && !e->audited[pair]))
            return true;
    return false;
}

static void look_at_the_end(struct world *w, uint32_t x)
{
    struct experiment *e = &w->experiments[x];
    bool decided = tally_decision(e->tally) != TALLY_NONE;
    if (e->over)
        return;
    if (decided && e->running) {
        lease_experiment_close(w->book, x);
        must(w, schedule_remove(w->schedule, x));
        e->running = false;
    } else if (!decided && !e->running) {
        lease_experiment_reopen(w->book, x);
        must(w, schedule_add(w->schedule, x, e->priority) == 0);
        e->running = true;
        w->report->reopened++;
    }
    if (!decided || awaits(w, x))
        return;
    e->over = true;
    w->running--;
    audit_drop(w->audits, x);
    w->report->ended_ms = w->now;
}

/* A pair that was disputed after it was counted: a restart holds the prefix there. */
static bool counted_dispute(const struct experiment *e)
{
    for (uint64_t pair = 0; pair < tally_prefix(e->tally) && e->open_disputes > 0; pair++)
        if (e->disputed[pair])
            return true;
    return false;
}

static void book_fill(struct world *w, uint32_t x)
{
    struct experiment *e = &w->experiments[x];
    uint64_t prefix = tally_prefix(e->tally);
    must(w, lease_experiment_add(w->book, x, e->pairs, e->window, prefix) == LEASE_OK);
    for (size_t i = 0; i < w->row_count; i++) {
        struct row *row = &w->rows[i];
        if (row->again || row->lost || row->lease.experiment != x ||
            row->lease.first + row->lease.count <= prefix)
            continue;
        enum lease_status status = lease_restore(w->book, &row->lease, row->open, w->now);
        /* Of two leases of the same pairs the first is taken up again. */
        if ((status == LEASE_OVERLAP || status == LEASE_STALE) && row->open)
            row->open = false;
        else
            must(w, status == LEASE_OK);
    }
    lease_experiment_terms(w->book, x, e->core_cap, true);
    struct lease finished[LEASE_TWINS];
    for (uint64_t pair = prefix; pair < e->pairs; pair++)
        if (game_of(e, pair, 0)->stored && game_of(e, pair, 1)->stored) {
            rows_close(w, finished, lease_done(w->book, x, pair, 0, w->now, finished));
            if (e->disputed[pair])
                must(w, lease_reissue(w->book, x, pair, 0) == LEASE_OK);
        }
    e->running = tally_decision(e->tally) == TALLY_NONE;
    if (e->running)
        must(w, schedule_add(w->schedule, x, e->priority) == 0);
    else
        lease_experiment_close(w->book, x);
    for (uint64_t pair = 0; pair < e->pairs && !e->over; pair++)
        if (game_of(e, pair, 0)->stored && game_of(e, pair, 1)->stored &&
            (e->disputed[pair] ? pair < prefix : due(w, x, pair) && !e->audited[pair]))
            want_again(w, x, pair);
}

/* Leases are told before their rows are written: a crash takes the last of them, of which only the numbers
 * stay taken. What the lost ones had counted of attempts is forgotten with them. */
static void lose_rows(struct world *w)
{
    size_t kept = w->row_count;
    while (kept > 0 && w->rows[kept - 1].told_ms > w->now - COMMIT_MS && !w->rows[kept - 1].again &&
           roll(w, 4))
        kept--;
    for (size_t i = kept; i < w->row_count; i++) {
        const struct lease *lease = &w->rows[i].lease;
        uint16_t *attempts = w->experiments[lease->experiment].attempts;
        w->rows[i].lost = true;
        w->rows[i].open = false;
        for (uint64_t pair = lease->first; pair < lease->first + lease->count; pair++)
            attempts[pair] = 0;
    }
    w->report->rows_lost += w->row_count - kept;
}

/* From the rows alone; what was in memory must have said the same. */
void coordinator_start(struct world *w)
{
    struct lease_policy policy = lease_policy_default();
    policy.term_ms = TERM_MS;
    policy.leases_per_session = HANDS;
    lose_rows(w);
    lease_book_destroy(w->book);
    schedule_destroy(w->schedule);
    audit_book_destroy(w->audits);
    w->book = lease_book_create(&policy, w->row_count + 1);
    w->schedule = schedule_create();
    w->audits = audit_book_create(TERM_MS);
    must(w, w->book && w->schedule && w->audits);
    for (uint32_t x = 0; x < w->experiment_count; x++) {
        struct experiment *e = &w->experiments[x];
        struct tally *rebuilt = tally_of_rows(w, e);
        must(w, !e->tally || counted_dispute(e) || tally_equal(rebuilt, e->tally));
        tally_destroy(e->tally);
        e->tally = rebuilt;
    }
    for (size_t i = 0; i < w->row_count; i++) {
        const struct lease *lease = &w->rows[i].lease;
        if (w->rows[i].again ||
            lease->first + lease->count <= tally_prefix(w->experiments[lease->experiment].tally))
            w->rows[i].open = false;
    }
    for (uint32_t x = 0; x < w->experiment_count; x++)
        book_fill(w, x);
}

/* Games were taken out: the prefix falls back, and the books are filled anew. */
static void count_anew(struct world *w, uint32_t x)
{
    struct experiment *e = &w->experiments[x];
    struct tally *recounted = tally_of_rows(w, e);
    tally_swap(e->tally, recounted);
    tally_destroy(recounted);
    if (e->running)
        must(w, schedule_remove(w->schedule, x));
    for (size_t i = 0; i < w->row_count; i++)
        if (w->rows[i].again && w->rows[i].lease.experiment == x)
            w->rows[i].open = false;
    lease_experiment_remove(w->book, x);
    audit_drop(w->audits, x);
    book_fill(w, x);
    look_at_the_end(w, x);
}

void lapse(struct world *w)
{
    struct lease lapsed[16];
    struct audit_lease again[16];
    size_t count;
    do {
        count = lease_expire(w->book, w->now, lapsed, 16);
        rows_close(w, lapsed, count);
        w->report->lapses += count;
    } while (count == 16);
    do {
        count = audit_expire(w->audits, w->now, again, 16);
        for (size_t i = 0; i < count; i++)
            row_close(w, &again[i]);
        w->report->lapses += count;
    } while (count == 16);
    must(w, lease_next_deadline(w->book) > w->now);
}

/* A fresh lease, as its row would be looked at. */
static void check_lease(struct world *w, const struct lease *lease, bool twin)
{
    struct experiment *e = &w->experiments[lease->experiment];
    must(w, lease->count >= 1 && tally_decision(e->tally) == TALLY_NONE);
    must(w, lease->first + lease->count <= e->pairs);
    must(w, lease->first + lease->count <= e->furthest);
    for (uint64_t pair = lease->first; pair < lease->first + lease->count; pair++) {
        /* A range that goes out twice may hold finished pairs, and pairs that a third lease has. */
        bool done = lease_pair_done(w->book, lease->experiment, pair);
        must(w, done || !game_of(e, pair, 0)->stored || !game_of(e, pair, 1)->stored || e->disputed[pair]);
        must(w, !done || lease->left < lease->count);
        must(w, done || twin || lease->attempt > e->attempts[pair]);
        if (!done && e->attempts[pair] < lease->attempt)
            e->attempts[pair] = (uint16_t)lease->attempt;
    }
}

static void grant(struct world *w, const struct event *e, const struct lease *lease)
{
    post(w, (struct event){.kind = GRANTED,
                           .worker = e->worker,
                           .session = e->session,
                           .lease = lease->id,
                           .experiment = (uint32_t)lease->experiment,
                           .pair = lease->first,
                           .count = lease->count});
}

static int32_t rank(void *context, uint64_t experiment)
{
    const struct world *w = context;
    return w->experiments[experiment].over ? AUDIT_NOT : 0;
}

/* Only pairs that the prefix waits for ask for it; here they go out by the lease book. */
static size_t able(void *context, uint64_t experiment, const uint64_t **workers)
{
    (void)context;
    (void)experiment;
    *workers = NULL;
    return 0;
}

static bool grant_again(struct world *w, const struct event *e)
{
    struct audit_lease taken;
    struct audit_ask ask = {.worker = identity(e->worker),
                            .session = e->session,
                            .lease = lease_number(w->book),
                            .cores = SLOTS,
                            .context = w,
                            .rank = rank,
                            .able = able};
    if (!audit_take(w->audits, &ask, w->now, &taken))
        return false;
    struct experiment *x = &w->experiments[taken.experiment];
    lease_number_use(w->book);
    must(w, !played_by(game_of(x, taken.pair, 0), e->worker) &&
                !played_by(game_of(x, taken.pair, 1), e->worker));
    struct lease lease = {
        .id = taken.lease, .experiment = taken.experiment, .first = taken.pair, .count = 1, .left = 1};
    row_insert(w, &lease, true);
    grant(w, e, &lease);
    return true;
}

void on_ask(struct world *w, const struct event *e)
{
    struct lease lease;
    if (w->workers[e->worker].aside || grant_again(w, e))
        return;
    struct schedule_asker asker = {.session = e->session, .credit = e->count, .slots = SLOTS, .tags = ""};
    struct lease_ask ask = {.session = e->session, .credit = e->count, .slots = SLOTS};
    struct schedule_pick pick = schedule_pick(w->schedule, w->book, &asker, false, w->now);
    if (pick.outcome != SCHEDULE_PICKED) {
        must(w, pick.because[0] != '\0');
        return;
    }
    enum lease_status status = pick.twin ? lease_twin(w->book, pick.experiment, &ask, w->now, &lease)
                                         : lease_grant(w->book, pick.experiment, &ask, w->now, &lease);
    if (pick.twin && status == LEASE_CAPPED)
        return;
    must(w, status == LEASE_OK);
    must(w, lease.left <= e->count && lease.left >= 1 && (pick.twin || lease.left == lease.count));
    w->report->twins += pick.twin;
    struct lease_experiment_view view;
    uint32_t cap = w->experiments[pick.experiment].core_cap;
    must(w, lease_experiment_look(w->book, pick.experiment, e->session, SLOTS, &view));
    must(w, cap == 0 || view.cores <= cap);
    check_lease(w, &lease, pick.twin);
    row_insert(w, &lease, false);
    grant(w, e, &lease);
}

/* --- results --- */

/* Two workers agree on every game of the pair that was contested: what they say is what is stored. */
static void settle(struct world *w, uint32_t x, uint64_t pair)
{
    struct experiment *e = &w->experiments[x];
    bool replaced = false;
    for (unsigned leg = 0; leg < 2; leg++) {
        struct game *game = game_of(e, pair, leg);
        for (unsigned i = 0; i < game->run_count && contested(game); i++)
            w->workers[game->runs[i].worker].charges += game->runs[i].content != agreed(game);
        if (contested(game) && game->stored != agreed(game)) {
            game->stored = agreed(game);
            replaced = true;
        }
    }
    w->report->replaced += replaced;
    w->charged = true;
    e->disputed[pair] = false;
    e->open_disputes--;
    if (tally_is_held(e->tally, pair)) {
        tally_settle(e->tally, pair, !replaced);
        for (unsigned leg = 0; leg < 2 && replaced; leg++)
            if (game_of(e, pair, leg)->stored)
                must(w, tally_add(e->tally, pair, leg, game_of(e, pair, leg)->stored - 1u) >= 0);
    } else if (replaced) {
        struct tally *recounted = tally_of_rows(w, e);
        tally_swap(e->tally, recounted);
        tally_destroy(recounted);
    }
}

static bool settled(struct experiment *e, uint64_t pair)
{
    for (unsigned leg = 0; leg < 2; leg++)
        if (contested(game_of(e, pair, leg)) && !agreed(game_of(e, pair, leg)))
            return false;
    return true;
}

static void close_audit(struct world *w, uint32_t x, uint64_t pair)
{
    struct audit_lease out;
    if (audit_close(w->audits, x, pair, &out))
        row_close(w, &out);
}

/* Somebody played a game of a pair that is stored: the audit is done, a dispute begins, goes on, or ends. */
static void compare(struct world *w, const struct event *r)
{
    struct experiment *e = &w->experiments[r->experiment];
    uint64_t pair = r->pair;
    struct game *first = game_of(e, pair, 0), *second = game_of(e, pair, 1);
    bool both = first->stored && second->stored;
    if (!e->disputed[pair] && (contested(first) || contested(second)) && !settled(e, pair)) {
        e->disputed[pair] = true;
        e->open_disputes++;
        w->report->disputes++;
        if (pair >= tally_prefix(e->tally))
            must(w, tally_hold(e->tally, pair) == 0);
    } else if (e->disputed[pair] && settled(e, pair))
        settle(w, r->experiment, pair);
    if (both && !e->disputed[pair] && !e->audited[pair] && agreed(first) && agreed(second)) {
        e->audited[pair] = true;
        w->report->audits += due(w, r->experiment, pair);
    }
}

/* What the books hear when a result of the pair is committed. */
static void tell_books(struct world *w, const struct event *r, uint64_t prefix_before)
{
    uint32_t x = r->experiment;
    struct experiment *e = &w->experiments[x];
    struct lease finished[LEASE_TWINS];
    struct game *first = game_of(e, r->pair, 0), *second = game_of(e, r->pair, 1);
    bool complete = first->stored && second->stored;
    bool whole = played_by(first, r->worker) && played_by(second, r->worker);
    if (complete && (!e->disputed[r->pair] || whole))
        rows_close(w, finished, lease_done(w->book, x, r->pair, r->session, w->now, finished));
    if (complete && e->disputed[r->pair]) {
        /* Not by the lease book where the prefix has fallen back behind what that knows. */
        bool waited_for = r->pair >= prefix_before && tally_is_held(e->tally, r->pair);
        if (!waited_for || lease_reissue(w->book, x, r->pair, r->session) != LEASE_OK)
            want_again(w, x, r->pair);
    }
    if (complete && due(w, x, r->pair) && !e->audited[r->pair])
        want_again(w, x, r->pair);
    else if (complete && !e->disputed[r->pair])
        close_audit(w, x, r->pair);
    lease_experiment_advance(w->book, x, tally_prefix(e->tally));
    if (e->furthest < tally_prefix(e->tally) + e->window)
        e->furthest = tally_prefix(e->tally) + e->window;
}

static void charge(struct world *w, const struct event *r)
{
    /* Experiments differ in what their games cost. */
    double core_ms = (r->experiment + 1) * (double)(20 + roll(w, 60));
    schedule_charge(w->schedule, r->experiment, core_ms);
    lease_experiment_cost(w->book, r->experiment, r->session, 1, core_ms);
}

static void commit(struct world *w, const struct event *r, uint8_t content)
{
    struct experiment *e = &w->experiments[r->experiment];
    struct game *game = game_of(e, r->pair, r->leg);
    uint64_t prefix_before = tally_prefix(e->tally);
    if (e->over && game->stored) {
        w->report->duplicates++;
        return;
    }
    if (!game->stored) {
        must(w, tally_reach(e->tally, r->pair) == 0);
        enum tally_answer answer = tally_add(e->tally, r->pair, r->leg, content - 1u);
        must(w, answer == TALLY_ADDED || answer == TALLY_COUNTED || answer == TALLY_LATE);
        w->report->late += answer == TALLY_LATE;
        game->stored = content;
        game->commits++;
        w->report->games++;
        charge(w, r);
    } else
        must(w, tally_add(e->tally, r->pair, r->leg, content - 1u) == TALLY_DUPLICATE ||
                    tally_decision(e->tally));
    if (played_by(game, r->worker) || game->run_count == RUNS)
        w->report->duplicates++;
    else
        game->runs[game->run_count++] = (struct run){r->worker, content};
    if (e->over)
        return;
    compare(w, r);
    tell_books(w, r, prefix_before);
    look_at_the_end(w, r->experiment);
}

void on_goodbye(struct world *w, const struct event *e)
{
    struct lease released[HANDS];
    struct audit_lease again[16];
    rows_close(w, released, lease_session_end(w->book, e->session, released, HANDS));
    size_t count = audit_session_end(w->audits, e->session, again, 16);
    for (size_t i = 0; i < count; i++)
        row_close(w, &again[i]);
}

/* Of a game that only this worker played nothing is left: its pair is played again. */
static bool forget(struct experiment *e, uint64_t pair, unsigned leg, uint32_t worker)
{
    struct game *game = game_of(e, pair, leg);
    bool stands = false;
    unsigned kept = 0;
    for (unsigned i = 0; i < game->run_count; i++)
        if (game->runs[i].worker != worker) {
            game->runs[kept++] = game->runs[i];
            stands |= game->runs[i].content == game->stored;
        }
    if (kept == game->run_count)
        return false;
    game->run_count = (uint8_t)kept;
    if (!stands)
        *game = (struct game){0};
    else if (contested(game) && agreed(game)) /* by whom the lie of two had outvoted */
        game->stored = agreed(game);
    return true;
}

static void set_aside(struct world *w, uint32_t worker)
{
    w->workers[worker].aside = true;
    w->report->set_aside++;
    on_goodbye(w, &(struct event){.session = w->workers[worker].session});
    for (uint32_t x = 0; x < w->experiment_count; x++) {
        struct experiment *e = &w->experiments[x];
        bool moved = false;
        for (uint64_t pair = 0; pair < e->pairs && !e->over; pair++) {
            bool first = forget(e, pair, 0, worker), second = forget(e, pair, 1, worker);
            if (!first && !second)
                continue;
            moved = true;
            e->open_disputes -= e->disputed[pair];
            e->disputed[pair] = !settled(e, pair);
            e->open_disputes += e->disputed[pair];
            e->audited[pair] &= agreed(game_of(e, pair, 0)) && agreed(game_of(e, pair, 1));
        }
        if (moved)
            count_anew(w, x);
    }
}

void on_result(struct world *w, const struct event *e)
{
    if (w->workers[e->worker].aside)
        return;
    uint8_t content = told(w, e->worker, e->experiment, e->pair, e->leg);
    w->report->lies += content != truth(w, e->experiment, e->pair, e->leg);
    if (percent(w, w->faults.commit_fails)) {
        w->report->failures++;
        return;
    }
    commit(w, e, content);
    for (uint32_t i = 0; i < w->worker_count && w->charged; i++)
        if (w->workers[i].charges >= CHARGES && !w->workers[i].aside)
            set_aside(w, i);
    w->charged = false;
    struct event ack = *e;
    ack.kind = ACK;
    post(w, ack);
}

void on_report(struct world *w, const struct event *e)
{
    if (audit_progress(w->audits, e->lease, e->session, e->progress, w->now))
        return;
    if (lease_progress(w->book, e->lease, e->session, e->progress, w->now) == LEASE_UNKNOWN)
        post(w,
             (struct event){.kind = DROPPED, .worker = e->worker, .session = e->session, .lease = e->lease});
}
