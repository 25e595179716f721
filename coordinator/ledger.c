#include "coordinator/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql/store_repeat.h"

bool ledger_test(const struct store_experiment *experiment, struct sprt_test *test)
{
    if (!experiment->has_sprt)
        return false;
    *test = (struct sprt_test){
        .elo0 = experiment->sprt.elo0,
        .elo1 = experiment->sprt.elo1,
        .alpha = experiment->sprt.alpha,
        .beta = experiment->sprt.beta,
        .batch = experiment->sprt.batch,
    };
    return statistics_model_parse(experiment->sprt.model, &test->model) == 0;
}

struct ledger *ledger_create(const struct store_experiment *experiment)
{
    enum { WINDOW = 1 }; /* none: what is added or held is reached for, however far beyond the prefix */
    struct ledger *ledger = calloc(1, sizeof *ledger);
    if (!ledger)
        return NULL;
    struct sprt_test test;
    bool tested = ledger_test(experiment, &test);
    ledger->experiment = *experiment;
    if (tested == experiment->has_sprt)
        ledger->tally = tally_create(experiment->planned_pairs, WINDOW, tested ? &test : NULL);
    ledger->ended = experiment->state == STORE_FINISHED || experiment->state == STORE_STOPPED;
    if (!ledger->tally) {
        free(ledger);
        return NULL;
    }
    return ledger;
}

void ledger_destroy(struct ledger *ledger)
{
    if (!ledger)
        return;
    tally_destroy(ledger->tally);
    ledger_discard(ledger);
    pairlist_done(&ledger->again);
    repeat_game_destroy(ledger->games);
    terms_destroy(ledger->terms);
    course_destroy(ledger->course);
    free(ledger->fleet);
    free(ledger);
}

int ledger_tell_repeats(struct ledger *ledger)
{
    struct rules rules;
    char reason[STORE_TEXT];
    if (ledger->experiment.repeat_rule == REPEAT_RULE_NONE)
        return 0;
    const struct play_setup *setup = ledger->terms ? &ledger->terms->setup : NULL;
    /* Without its book nothing is played and nothing can be referred; what is stored is counted as far as it
     * goes. */
    if (!setup && rules_parse(ledger->experiment.rules, &rules, reason, sizeof reason) != 0)
        return 0;
    ledger->games = repeat_game_create(setup ? setup->rules : &rules, setup);
    tally_tell_repeats(ledger->tally);
    return ledger->games ? 0 : -1;
}

struct repeat_key ledger_key(const struct ledger *ledger, const struct store_game *game)
{
    if (!ledger->games)
        return (struct repeat_key){{0, 0}};
    return repeat_game_key(ledger->games, game->pair, game->leg, game->moves, game->result, game->reason);
}

enum tally_answer ledger_add_game(const struct ledger *ledger, struct tally *tally,
                                  const struct store_game *game)
{
    struct repeat_key key = ledger_key(ledger, game);
    if (tally_reach(tally, game->pair) != 0)
        return TALLY_MEMORY;
    return tally_add_game(tally, game->pair, game->leg, game->a_half_points, &key);
}

int ledger_hold(struct tally *tally, uint64_t pair)
{
    return tally_reach(tally, pair) != 0 || tally_hold(tally, pair) == -2 ? -1 : 0;
}

enum store_error ledger_put_repeats(const struct ledger *ledger, struct store *store)
{
    size_t count;
    const struct tally_repeat *found = tally_repeats(ledger->draft, &count);
    if (count == 0 && !ledger->recounted)
        return STORE_OK;
    struct store_repeat *rows = malloc((count ? count : 1) * sizeof *rows);
    if (!rows)
        return STORE_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct store_repeat){found[i].pair, found[i].first};
    enum store_error error =
        store_repeats_put(store, ledger->experiment.id, ledger->recounted ? 0 : found[0].pair, rows, count);
    free(rows);
    return error;
}

int ledger_draft(struct ledger *ledger)
{
    if (ledger->draft)
        return 0;
    ledger->draft = tally_clone(ledger->tally);
    if (!ledger->draft)
        return -1;
    ledger->draft_games_stored = ledger->games_stored;
    ledger->draft_ended = ledger->ended;
    return 0;
}

void ledger_keep(struct ledger *ledger)
{
    if (!ledger->draft) {
        ledger_discard(ledger);
        return;
    }
    tally_swap(ledger->tally, ledger->draft);
    if (ledger->course)
        course_keep(ledger->course);
    ledger->games_stored = ledger->draft_games_stored;
    ledger->ended = ledger->draft_ended;
    if (ledger->again_drafted) {
        struct pairlist kept = ledger->again;
        ledger->again = ledger->draft_again;
        ledger->draft_again = kept;
    }
    ledger_discard(ledger);
}

void ledger_discard(struct ledger *ledger)
{
    tally_destroy(ledger->draft);
    ledger->draft = NULL;
    pairlist_done(&ledger->draft_again);
    pairlist_done(&ledger->told);
    ledger->again_drafted = false;
    ledger->recounted = false;
    if (ledger->course)
        course_discard(ledger->course);
}

const struct pairlist *ledger_again(const struct ledger *ledger)
{
    return ledger->again_drafted ? &ledger->draft_again : &ledger->again;
}

struct pairlist *ledger_change_again(struct ledger *ledger)
{
    if (ledger_draft(ledger) != 0)
        return NULL;
    if (!ledger->again_drafted && !pairlist_copy(&ledger->draft_again, &ledger->again))
        return NULL;
    ledger->again_drafted = true;
    return &ledger->draft_again;
}

uint64_t ledger_awaiting(const struct ledger *ledger)
{
    const struct tally *tally = ledger->draft ? ledger->draft : ledger->tally;
    if (ledger_has_ended(ledger) || tally_decision(tally) == TALLY_NONE)
        return 0;
    return pairlist_below(ledger_again(ledger), tally_decided_at(tally) + 1);
}

enum store_error ledger_block(const struct ledger *ledger, struct store *store,
                              enum store_settlement settlement)
{
    return store_experiment_set_state(
        store, ledger->experiment.id, STORE_BLOCKED,
        settlement == STORE_DISPUTE_DIVERGENT
            ? "builds differ: workers of one architecture or build play a pair unlike those of another "
              "(table divergence); set those aside that are wrong, or give the experiment tags"
            : "a dispute that five runs did not settle: see table dispute");
}

struct settling {
    const struct ledger *ledger;
    bool failed;
};

static void take_settled(void *context, const struct store_game *game)
{
    struct settling *settling = context;
    if (ledger_add_game(settling->ledger, settling->ledger->draft, game) < 0)
        settling->failed = true;
}

enum store_error ledger_settle(struct ledger *ledger, struct store *store, uint64_t pair, bool *again,
                               bool *blocked)
{
    enum store_settlement settlement;
    int points[2];
    if (!tally_is_held(ledger->draft, pair))
        return STORE_OK;
    enum store_error error = store_dispute_settle(store, ledger->experiment.id, pair, &settlement, points);
    if (error != STORE_OK)
        return error;
    *again = settlement == STORE_DISPUTE_OPEN;
    *blocked = settlement == STORE_DISPUTE_BLOCKED || settlement == STORE_DISPUTE_DIVERGENT;
    if (*blocked)
        return ledger_block(ledger, store, settlement);
    if (*again)
        return STORE_OK;
    if (tally_settle(ledger->draft, pair, settlement != STORE_DISPUTE_REPLACED) < 0)
        return STORE_ERROR_MEMORY;
    if (settlement != STORE_DISPUTE_REPLACED)
        return STORE_OK;
    struct settling settling = {.ledger = ledger};
    error = store_played_pair(store, ledger->experiment.id, pair, take_settled, &settling);
    return error == STORE_OK && settling.failed ? STORE_ERROR_MEMORY : error;
}

static const struct tally *current(const struct ledger *ledger)
{
    return ledger->draft ? ledger->draft : ledger->tally;
}

bool ledger_has_ended(const struct ledger *ledger)
{
    return ledger->draft ? ledger->draft_ended : ledger->ended;
}

struct store_counters ledger_counters(const struct ledger *ledger)
{
    const struct tally *tally = current(ledger);
    const struct tally_totals *totals = tally_totals(tally);
    const struct sprt_state *sprt = tally_sprt(tally);
    return (struct store_counters){
        .games_stored = ledger->draft ? ledger->draft_games_stored : ledger->games_stored,
        .prefix_pairs = totals->pairs,
        .repeated_pairs = totals->repeated,
        .ll = totals->counts[PAIR_LL],
        .ld = totals->counts[PAIR_LD],
        .dd = totals->counts[PAIR_DD],
        .wl = totals->counts[PAIR_WL],
        .dw = totals->counts[PAIR_DW],
        .ww = totals->counts[PAIR_WW],
        .wins = totals->wins,
        .draws = totals->draws,
        .losses = totals->losses,
        .llr = sprt ? sprt->llr : 0,
    };
}

static bool book_is_used_up(const struct ledger *ledger)
{
    const struct book *book = ledger->terms ? ledger->terms->setup.book : NULL;
    return book && tally_totals(current(ledger))->pairs == book->count &&
           tally_decision(current(ledger)) == TALLY_UNDECIDED;
}

/* Why an experiment is undecided, where it could not go on: pairs in pair order alone say so. */
static void end_reason(const struct ledger *ledger, char text[STORE_TEXT])
{
    const struct tally *tally = current(ledger);
    const struct tally_totals *totals = tally_totals(tally);
    text[0] = '\0';
    if (tally_is_used_up(tally))
        snprintf(
            text, STORE_TEXT,
            "its openings are used up: the last %llu pairs all repeat earlier ones, of %llu pairs %llu are "
            "different",
            (unsigned long long)tally_run(tally), (unsigned long long)totals->pairs,
            (unsigned long long)(totals->pairs - totals->repeated));
    else if (book_is_used_up(ledger))
        snprintf(text, STORE_TEXT, "the book is used up: it has no opening for another pair");
}

struct store_verdict ledger_verdict(const struct ledger *ledger, const char *by, const char *reason)
{
    const struct tally *tally = current(ledger);
    const struct tally_totals *totals = tally_totals(tally);
    const struct sprt_state *sprt = tally_sprt(tally);
    struct store_verdict verdict = {
        .experiment = ledger->experiment.id,
        .counters = ledger_counters(ledger),
        .has_sprt = sprt != NULL,
        .lower = sprt ? sprt->lower : 0,
        .upper = sprt ? sprt->upper : 0,
        .formula_version = STATISTICS_FORMULA_VERSION,
    };
    int64_t counts[STATISTICS_PAIR_COUNTS];
    for (int i = 0; i < STATISTICS_PAIR_COUNTS; i++)
        counts[i] = (int64_t)totals->counts[i];
    struct statistics_sample sample;
    struct statistics_estimate estimate;
    if (statistics_sample_set(&sample, counts, STATISTICS_PAIR_COUNTS) == 0) {
        statistics_estimate(&sample, &estimate);
        verdict.elo = estimate.elo;
        verdict.elo_lo = estimate.elo_lo;
        verdict.elo_hi = estimate.elo_hi;
        verdict.nelo = estimate.nelo;
        verdict.los = estimate.los;
    }
    snprintf(verdict.verdict, sizeof verdict.verdict, "%s",
             by ? "aborted" : tally_decision_name(tally_decision(tally)));
    snprintf(verdict.by, sizeof verdict.by, "%s", by ? by : "");
    char why[STORE_TEXT];
    end_reason(ledger, why);
    bool remarked = reason && *reason;
    snprintf(verdict.reason, sizeof verdict.reason, "%s%s%s", by ? "" : why,
             !by && *why && remarked ? "; " : "", remarked ? reason : "");
    return verdict;
}

void ledger_book_done(struct ledger_book *book)
{
    for (size_t i = 0; i < book->count; i++)
        ledger_destroy(book->ledgers[i]);
    free(book->ledgers);
    *book = (struct ledger_book){0};
}

struct ledger *ledger_book_find(const struct ledger_book *book, uint64_t experiment)
{
    for (size_t i = 0; i < book->count; i++)
        if (book->ledgers[i]->experiment.id == experiment)
            return book->ledgers[i];
    return NULL;
}

int ledger_book_add(struct ledger_book *book, struct ledger *ledger)
{
    if (book->count == book->room) {
        size_t room = book->room ? 2 * book->room : 16;
        struct ledger **larger = realloc(book->ledgers, room * sizeof *larger);
        if (!larger)
            return -1;
        book->ledgers = larger;
        book->room = room;
    }
    book->ledgers[book->count++] = ledger;
    return 0;
}

void ledger_book_remove(struct ledger_book *book, uint64_t experiment)
{
    for (size_t i = 0; i < book->count; i++)
        if (book->ledgers[i]->experiment.id == experiment) {
            ledger_destroy(book->ledgers[i]);
            book->ledgers[i] = book->ledgers[--book->count];
            return;
        }
}
