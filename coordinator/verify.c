#include "coordinator/verify.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/terms.h"
#include "coordinator/repeat_game.h"
#include "coordinator/verify_captures.h"
#include "coordinator/verify_repeat.h"
#include "coordinator/verify_tune.h"
#include "engine/adjudicate.h"
#include "coordinator/withdraw.h"

struct verify {
    const struct record *record;
    const struct verify_watch *watch;
    const uint64_t *disputed;
    size_t disputed_count, disputed_at;
    struct terms *terms;
    struct play_setup setup; /* of the terms */
    struct game *game;
    uint8_t scores[2 * GAME_PLIES_MAX]; /* of the game at hand */
    char opening[PLAY_OPENING_MAX + 1];
    int opening_length;
    uint64_t pair; /* the one being read */
    bool legs[2];
    unsigned half_points[2];
    bool started;
    bool awaits; /* audits or disputes of counted pairs are open */
    /* the count */
    uint64_t prefix; /* pairs counted so far */
    bool open;       /* the prefix may still grow */
    uint64_t limit;  /* pairs that may count */
    int64_t counts[STATISTICS_PAIR_COUNTS], batch[STATISTICS_PAIR_BINS];
    bool has_test;
    struct sprt_test test;
    struct sprt_state sprt;
    uint64_t games, differences;
    struct verify_tune *tune;      /* NULL: no tune */
    struct verify_repeat *repeats; /* NULL: every pair counts */
    bool used_up;                  /* repeats have ended the test */
    struct captures captures;
    bool no_memory;
};

static void differ(struct verify *verify, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void differ(struct verify *verify, const char *format, ...)
{
    char text[VERIFY_TEXT_MAX];
    int used =
        snprintf(text, sizeof text, "experiment %llu", (unsigned long long)verify->record->experiment.id);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, sizeof text - (size_t)used, format, arguments);
    va_end(arguments);
    verify->differences++;
    verify->watch->difference(verify->watch->context, text);
}

struct verify *verify_create(const struct record *record, const uint64_t *disputed, size_t disputed_count,
                             const struct verify_watch *watch)
{
    struct verify *verify = calloc(1, sizeof *verify);
    if (!verify)
        return NULL;
    char reason[STORE_TEXT];
    const struct store_experiment *experiment = &record->experiment;
    verify->record = record;
    verify->watch = watch;
    verify->disputed = disputed;
    verify->disputed_count = disputed_count;
    verify->open = true;
    verify->limit = record->has_verdict ? record->verdict.counters.prefix_pairs : experiment->planned_pairs;
    if (terms_hold(experiment, &verify->terms, reason) != STORE_OK) {
        differ(verify, ": %s", reason);
        free(verify);
        return NULL;
    }
    verify->setup = verify->terms->setup;
    verify->game = game_create(verify->setup.rules, NULL);
    bool repeats = experiment->repeat_rule != REPEAT_RULE_NONE;
    if (verify->game && repeats)
        verify->repeats = verify_repeat_create(verify->setup.rules);
    if (!verify->game || (repeats && !verify->repeats)) {
        verify_destroy(verify);
        return NULL;
    }
    verify->has_test = record_test(record, &verify->test);
    if (verify->has_test)
        sprt_init(&verify->sprt, &verify->test, STATISTICS_PAIR_BINS);
    if (experiment->kind == STORE_TUNE)
        verify->tune = verify_tune_create(record);
    if (experiment->has_sprt && !verify->has_test)
        differ(verify, ": its sequential test is not one that this program knows");
    return verify;
}

void verify_destroy(struct verify *verify)
{
    if (!verify)
        return;
    game_destroy(verify->game);
    terms_destroy(verify->terms);
    verify_tune_destroy(verify->tune);
    verify_repeat_destroy(verify->repeats);
    captures_done(&verify->captures);
    free(verify);
}

/* --- one game --- */

static bool is_claim(enum game_reason reason)
{
    return reason >= GAME_REASON_AGREED;
}

static void check_opening(struct verify *verify, const struct store_game *game)
{
    if (verify->opening_length < 0)
        differ(verify, " pair %llu: there is no opening for it", (unsigned long long)game->pair);
    else if (game->plies < (size_t)verify->opening_length ||
             memcmp(game->moves, verify->opening, (size_t)verify->opening_length) != 0)
        differ(verify, " pair %llu leg %u: does not start with the opening %s of its pair",
               (unsigned long long)game->pair, game->leg, verify->opening);
}

static void check_ending(struct verify *verify, const struct store_game *game)
{
    enum game_result result = game_result(verify->game);
    const char *reason = game_reason_text(game_reason(verify->game));
    struct position end = game_position(verify->game);
    if (strcmp(game->result, game_result_text(result)) != 0 || strcmp(game->reason, reason) != 0)
        differ(verify, " pair %llu leg %u: stored %s by %s, the replay gives %s by %s",
               (unsigned long long)game->pair, game->leg, game->result, game->reason,
               game_result_text(result), reason);
    if (game->south != end.stores[SIDE_SOUTH] || game->north != end.stores[SIDE_NORTH])
        differ(verify, " pair %llu leg %u: stored %u-%u seeds, the replay gives %u-%u",
               (unsigned long long)game->pair, game->leg, game->south, game->north, end.stores[SIDE_SOUTH],
               end.stores[SIDE_NORTH]);
    if (game->claimed)
        differ(verify, " pair %llu leg %u: marked as claimed, yet the replay shows its end",
               (unsigned long long)game->pair, game->leg);
}

/* Where the terms end the game; true when they do, and everything about that end has been compared. */
static bool check_early_end(struct verify *verify, const struct store_game *game)
{
    struct adjudicate_replay early;
    adjudicate_replay(&verify->setup, game->pair, game->leg, verify->game, game->moves, strlen(game->moves),
                      game->scores, &early);
    if (game->resign_ply != early.resign_ply)
        differ(verify,
               " pair %llu leg %u: a resignation is noted after ply %u, the scores make it %zu (0: none)",
               (unsigned long long)game->pair, game->leg, game->resign_ply, early.resign_ply);
    if (early.ending.result == GAME_UNFINISHED)
        return false;
    const char *result = game_result_text(early.ending.result),
               *reason = game_reason_text(early.ending.reason);
    if (early.plies != strlen(game->moves))
        differ(verify, " pair %llu leg %u: played on after ply %zu, where it ended: %s by %s",
               (unsigned long long)game->pair, game->leg, early.plies, result, reason);
    else if (strcmp(game->result, result) != 0 || strcmp(game->reason, reason) != 0 ||
             game->south != early.stores[SIDE_SOUTH] || game->north != early.stores[SIDE_NORTH] ||
             game->claimed != (early.ending.reason == GAME_REASON_RESIGN))
        differ(verify, " pair %llu leg %u: stored %s by %s, %u-%u seeds, the replay gives %s by %s, %u-%u",
               (unsigned long long)game->pair, game->leg, game->result, game->reason, game->south,
               game->north, result, reason, early.stores[SIDE_SOUTH], early.stores[SIDE_NORTH]);
    return true;
}

static void check_replay(struct verify *verify, const struct store_game *game)
{
    if (check_early_end(verify, game))
        return;
    size_t played = 0;
    game_reset(verify->game, NULL);
    enum game_error error = game_play_text(verify->game, game->moves, strlen(game->moves), &played);
    int reason = game_reason_parse(game->reason);
    if (error != GAME_OK)
        differ(verify, " pair %llu leg %u: ply %zu, %c, is refused in the replay: %s",
               (unsigned long long)game->pair, game->leg, played + 1, game->moves[played],
               error == GAME_ERROR_OVER ? "the game was over" : "not a legal move");
    else if (game_over(verify->game))
        check_ending(verify, game);
    else if (reason < 0 || !is_claim((enum game_reason)reason) || reason == GAME_REASON_RESIGN ||
             !game->claimed)
        differ(verify, " pair %llu leg %u: stored as %s by %s, yet the game is not over after %zu plies",
               (unsigned long long)game->pair, game->leg, game->result, game->reason, game->plies);
}

static void check_fields(struct verify *verify, const struct store_game *game)
{
    int result = game_result_parse(game->result);
    unsigned points = result == GAME_DRAW ? 1 : (result == GAME_SOUTH_WINS) == (game->leg == 0) ? 2 : 0;
    if (result < 0 || game->a_half_points != points)
        differ(verify, " pair %llu leg %u: %u half points for player a, its result %s makes them %u",
               (unsigned long long)game->pair, game->leg, game->a_half_points, game->result, points);
    if (strlen(game->moves) != game->plies)
        differ(verify, " pair %llu leg %u: %zu plies are stored, the moves are %zu",
               (unsigned long long)game->pair, game->leg, game->plies, strlen(game->moves));
    if (verify->record->experiment.with_scores && game->scores_size != 2 * game->plies)
        differ(verify, " pair %llu leg %u: %zu bytes of scores for %zu plies", (unsigned long long)game->pair,
               game->leg, game->scores_size, game->plies);
    if (game->pair >= verify->record->experiment.planned_pairs)
        differ(verify, " pair %llu: beyond the %llu planned", (unsigned long long)game->pair,
               (unsigned long long)verify->record->experiment.planned_pairs);
}

/* --- the count --- */

static bool is_disputed(struct verify *verify, uint64_t pair)
{
    while (verify->disputed_at < verify->disputed_count && verify->disputed[verify->disputed_at] < pair)
        verify->disputed_at++;
    return verify->disputed_at < verify->disputed_count && verify->disputed[verify->disputed_at] == pair;
}

static uint64_t repeated(const struct verify *verify)
{
    return verify->repeats ? verify_repeat_count(verify->repeats) : 0;
}

/* Is the pair that comes next a repeat, which belongs to the prefix and counts in nothing? */
static bool pass_over(struct verify *verify)
{
    int found = verify->repeats ? verify_repeat_pair(verify->repeats, verify->pair) : 0;
    if (found < 0) {
        differ(verify, ": no memory to compare its pairs");
        verify->open = false;
    }
    if (found == 0)
        return false;
    verify->prefix += found > 0;
    verify->used_up = found > 0 && verify->has_test && verify_repeat_is_over(verify->repeats);
    verify->open = verify->open && !verify->used_up;
    return true;
}

static void feed_test(struct verify *verify, enum statistics_pair class)
{
    verify->batch[statistics_pair_bin(class)]++;
    if ((verify->prefix - repeated(verify)) % verify->test.batch != 0)
        return;
    if (sprt_feed(&verify->sprt, &verify->test, verify->batch) != SPRT_OPEN)
        verify->open = false;
    memset(verify->batch, 0, sizeof verify->batch);
}

/* The pair that was being read is complete as far as it is stored: does the prefix grow over it? */
static void close_pair(struct verify *verify)
{
    if (!verify->started || !verify->open)
        return;
    bool waits = !verify->record->has_verdict && is_disputed(verify, verify->pair);
    if (verify->pair != verify->prefix || !verify->legs[0] || !verify->legs[1] || waits ||
        verify->prefix >= verify->limit) {
        verify->open = false;
        return;
    }
    if (pass_over(verify))
        return;
    enum statistics_pair class = statistics_pair_class(verify->half_points[0], verify->half_points[1]);
    verify->counts[class]++;
    verify->prefix++;
    if (verify->tune && verify_tune_count(verify->tune, verify->half_points) != 0)
        verify->open = false;
    if (verify->has_test)
        feed_test(verify, class);
}

static void open_pair(struct verify *verify, uint64_t pair)
{
    close_pair(verify);
    if (verify->started && pair < verify->pair)
        differ(verify, " pair %llu comes after pair %llu: the games are not in key order",
               (unsigned long long)pair, (unsigned long long)verify->pair);
    verify->started = true;
    verify->pair = pair;
    verify->legs[0] = verify->legs[1] = false;
    verify->opening_length = play_opening(&verify->setup, pair, verify->opening);
}

void verify_game(struct verify *verify, const struct store_game *game)
{
    verify->games++;
    if (game->leg > 1) {
        differ(verify, " pair %llu: there is no leg %u", (unsigned long long)game->pair, game->leg);
        return;
    }
    if (!verify->started || game->pair != verify->pair)
        open_pair(verify, game->pair);
    if (verify->legs[game->leg])
        differ(verify, " pair %llu leg %u is stored twice", (unsigned long long)game->pair, game->leg);
    verify->legs[game->leg] = true;
    verify->half_points[game->leg] = game->a_half_points;
    check_fields(verify, game);
    check_opening(verify, game);
    check_replay(verify, game);
    if (verify->repeats)
        verify_repeat_game(verify->repeats, game,
                           verify->opening_length > 0 ? (size_t)verify->opening_length : 0);
    if (captures_count(&verify->captures, game->experiment, game->pair / STORE_SEGMENT_PAIRS,
                       verify->setup.rules, game->moves, strlen(game->moves)) != 0)
        verify->no_memory = true;
    if (verify->watch->progress && verify->games % 256 == 0)
        verify->watch->progress(verify->watch->context, verify->games);
}

/* --- the comparison --- */

static void compare(struct verify *verify, const char *where, const char *what, uint64_t stored,
                    uint64_t counted)
{
    if (stored != counted)
        differ(verify, ": %s says %s %llu, the games make it %llu", where, what, (unsigned long long)stored,
               (unsigned long long)counted);
}

static bool near(double stored, double computed)
{
    return fabs(stored - computed) <= 1e-9 * fmax(1, fabs(computed));
}

static void compare_real(struct verify *verify, const char *what, double stored, double computed)
{
    if (!near(stored, computed))
        differ(verify, ": %s is stored as %.12g, the games make it %.12g", what, stored, computed);
}

static void compare_counters(struct verify *verify, const char *where, const struct store_counters *stored)
{
    static const char *const names[] = {"LL", "LD", "DD", "WL", "DW", "WW"};
    int64_t counts[STATISTICS_PAIR_COUNTS];
    const int64_t *n = verify->counts;
    record_counts(stored, counts);
    compare(verify, where, "counted pairs", stored->prefix_pairs, verify->prefix);
    compare(verify, where, "repeated pairs", stored->repeated_pairs, repeated(verify));
    for (int i = 0; i < STATISTICS_PAIR_COUNTS; i++)
        compare(verify, where, names[i], (uint64_t)counts[i], (uint64_t)n[i]);
    compare(verify, where, "games won", stored->wins, (uint64_t)(2 * n[PAIR_WW] + n[PAIR_DW] + n[PAIR_WL]));
    compare(verify, where, "games drawn", stored->draws,
            (uint64_t)(n[PAIR_LD] + n[PAIR_DW] + 2 * n[PAIR_DD]));
    compare(verify, where, "games lost", stored->losses,
            (uint64_t)(2 * n[PAIR_LL] + n[PAIR_LD] + n[PAIR_WL]));
    if (verify->has_test)
        compare_real(verify, "the LLR", stored->llr, verify->sprt.llr);
}

static const char *expected_verdict(const struct verify *verify)
{
    if (verify->has_test && verify->sprt.status != SPRT_OPEN)
        return sprt_status_name(verify->sprt.status);
    return verify->used_up || verify->prefix == verify->record->experiment.planned_pairs ? "undecided" : "";
}

static void compare_estimates(struct verify *verify, const struct store_verdict *verdict)
{
    struct statistics_sample sample;
    struct statistics_estimate estimate;
    if (verdict->formula_version != STATISTICS_FORMULA_VERSION || verify->prefix == 0 ||
        verify->record->experiment.kind != STORE_MATCH ||
        statistics_sample_set(&sample, verify->counts, STATISTICS_PAIR_COUNTS) != 0)
        return;
    statistics_estimate(&sample, &estimate);
    compare_real(verify, "Elo", verdict->elo, estimate.elo);
    compare_real(verify, "the lower end of Elo", verdict->elo_lo, estimate.elo_lo);
    compare_real(verify, "the upper end of Elo", verdict->elo_hi, estimate.elo_hi);
    compare_real(verify, "nElo", verdict->nelo, estimate.nelo);
    compare_real(verify, "LOS", verdict->los, estimate.los);
}

static void compare_verdict(struct verify *verify)
{
    const struct store_verdict *verdict = &verify->record->verdict;
    const char *expected = expected_verdict(verify);
    compare_counters(verify, "the verdict", &verdict->counters);
    if (strcmp(verdict->verdict, "aborted") != 0 && strcmp(verdict->verdict, expected) != 0)
        differ(verify, ": the verdict is %s, the games make it %s", verdict->verdict,
               *expected ? expected : "open");
    if (strcmp(verdict->verdict, "aborted") == 0 && verify->has_test && verify->sprt.status != SPRT_OPEN)
        differ(verify, ": aborted, yet the counted games had decided: %s",
               sprt_status_name(verify->sprt.status));
    compare_estimates(verify, verdict);
}

void verify_finish(struct verify *verify, struct verify_totals *totals)
{
    const struct record *record = verify->record;
    close_pair(verify);
    compare(verify, "the counter", "games stored", record->counters.games_stored, verify->games);
    compare_counters(verify, "the counter", &record->counters);
    if (record->has_verdict)
        compare_verdict(verify);
    else if (*expected_verdict(verify) && record->state == STORE_RUNNING && !verify->awaits)
        differ(verify, ": the counted games make it %s, yet there is no verdict", expected_verdict(verify));
    else if (record->state == STORE_FINISHED || record->state == STORE_STOPPED)
        differ(verify, ": it is %s without a verdict", record_state_name(record->state));
    totals->games += verify->games;
    totals->pairs_counted += verify->prefix - repeated(verify);
    if ((record->state == STORE_FINISHED || record->state == STORE_STOPPED) && record->open_leases > 0)
        differ(verify, ": it has ended, yet %llu leases are open", (unsigned long long)record->open_leases);
    totals->differences += verify->differences;
}

/* --- from the database --- */

/* The same question asked in SQL, by other means. */
static enum store_error ask_sql(struct store *store, struct verify *verify, const char *const *parameters)
{
    struct store_table rows;
    enum store_error error = store_query(store,
                                         "select source, counter, recorded, recomputed from"
                                         " kroo.verify_counters($1::bigint)"
                                         " where recorded is distinct from recomputed",
                                         parameters, 1, &rows);
    if (error != STORE_OK)
        return error;
    for (size_t i = 0; i < rows.rows; i++)
        differ(verify, ": in SQL, %s says %s %s, the games make it %s", store_cell(&rows, i, 0),
               store_cell(&rows, i, 1), store_cell(&rows, i, 2), store_cell(&rows, i, 3));
    store_table_done(&rows);
    return STORE_OK;
}

/* A decided experiment waits for its audits; a verdict that would be another now must be marked as withdrawn.
 */
static enum store_error ask_standing(struct store *store, struct verify *verify,
                                     const char *const *parameters)
{
    const struct record *record = verify->record;
    struct store_table row;
    char reason[STORE_TEXT];
    bool changes = false;
    enum store_error error =
        store_query(store,
                    "select exists (select from kroo.audit where experiment_id = $1::bigint"
                    " and request_id = 0 and state = 'open') or exists (select from kroo.dispute"
                    " where experiment_id = $1::bigint and state = 'open' and was_counted),"
                    " exists (select from kroo.verdict_withdrawn where experiment_id = $1::bigint)",
                    parameters, 1, &row);
    if (error != STORE_OK)
        return error;
    verify->awaits = *store_cell(&row, 0, 0) == 't';
    bool withdrawn = *store_cell(&row, 0, 1) == 't';
    store_table_done(&row);
    if (!record->has_verdict || withdrawn)
        return STORE_OK;
    error = withdraw_judge(store, &record->experiment, record->verdict.verdict,
                           record->verdict.counters.prefix_pairs, &changes, reason);
    if (error == STORE_OK && changes)
        differ(verify, ": its verdict is not withdrawn, yet %.300s", reason);
    return error;
}

/* What is rolled up for the statistics must be what the games add up to. */
static enum store_error ask_rollups(struct store *store, struct verify *verify, const char *const *parameters)
{
    struct store_table rows;
    enum store_error error = store_query(store,
                                         "select source, place, recorded, recomputed"
                                         " from kroo.verify_rollups($1::bigint)",
                                         parameters, 1, &rows);
    if (error != STORE_OK)
        return error;
    for (size_t i = 0; i < rows.rows; i++)
        differ(verify, ": %s, %s, says %s, the games make it %s", store_cell(&rows, i, 0),
               store_cell(&rows, i, 1), store_cell(&rows, i, 2), store_cell(&rows, i, 3));
    store_table_done(&rows);
    return STORE_OK;
}

enum verify_column {
    PAIR,
    LEG,
    MOVES,
    PLIES,
    RESULT,
    REASON,
    SOUTH,
    NORTH,
    POINTS,
    CLAIMED,
    SCORES,
    RESIGN,
    SCORE_HEX
};

static const char games_sql[] =
    "select pair_no, leg, moves, plies, result, reason, south, north, a_half_points, claimed,"
    " coalesce(octet_length(scores), 0), coalesce(resign_ply, 0),"
    " case when (select resign_plies from kroo.experiment where id = $1::bigint) > 0"
    "  then encode(scores, 'hex') end"
    " from kroo.game where experiment_id = $1::bigint order by pair_no, leg";

static uint64_t cell_number(const struct store_table *row, size_t column)
{
    return strtoull(store_cell(row, 0, column), NULL, 10);
}

/* Two hexadecimal digits a byte, as the server writes them. */
static const uint8_t *cell_bytes(const struct store_table *row, size_t column, uint8_t *out, size_t size)
{
    const char *text = store_cell(row, 0, column);
    size_t length = strlen(text) / 2;
    if (length == 0 || length > size)
        return NULL;
    for (size_t i = 0; i < length; i++) {
        const char digits[] = {text[2 * i], text[2 * i + 1], '\0'};
        out[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return out;
}

static int take_row(void *context, const struct store_table *row)
{
    struct verify *verify = context;
    struct store_game game = {
        .pair = cell_number(row, PAIR),
        .leg = (uint8_t)cell_number(row, LEG),
        .moves = store_cell(row, 0, MOVES),
        .plies = cell_number(row, PLIES),
        .south = (uint8_t)cell_number(row, SOUTH),
        .north = (uint8_t)cell_number(row, NORTH),
        .a_half_points = (uint8_t)cell_number(row, POINTS),
        .claimed = *store_cell(row, 0, CLAIMED) == 't',
        .scores_size = cell_number(row, SCORES),
        .resign_ply = (uint32_t)cell_number(row, RESIGN),
        .scores = cell_bytes(row, SCORE_HEX, verify->scores, sizeof verify->scores),
    };
    if (game.scores && game.scores_size != 2 * game.plies)
        game.scores = NULL;
    snprintf(game.result, sizeof game.result, "%s", store_cell(row, 0, RESULT));
    snprintf(game.reason, sizeof game.reason, "%s", store_cell(row, 0, REASON));
    verify_game(context, &game);
    return 0;
}

static void differ_part(void *context, const char *text)
{
    differ(context, "%s", text);
}

/* Where every pair counts there are no repeats. */
static enum store_error ask_repeats(struct store *store, struct verify *verify)
{
    uint64_t id = verify->record->experiment.id;
    struct store_repeat *stored;
    size_t count;
    if (verify->repeats)
        return verify_repeat_check(verify->repeats, store, id, differ_part, verify);
    enum store_error error = store_repeats(store, id, &stored, &count);
    if (error != STORE_OK)
        return error;
    free(stored);
    if (count > 0)
        differ(verify, ": pair_repeat names %zu pairs of it, yet all of its pairs count", count);
    return STORE_OK;
}

static enum store_error run(struct store *store, uint64_t experiment, const struct verify_watch *watch,
                            struct verify_totals *totals)
{
    struct record record;
    uint64_t *disputed = NULL;
    size_t count = 0;
    enum store_error error = record_load(store, experiment, &record);
    if (error == STORE_OK)
        error = store_disputed_pairs(store, experiment, &disputed, &count);
    if (error != STORE_OK)
        return error;
    char text[STORE_TEXT];
    struct terms *terms = NULL;
    /* What is missing is told by verify_create. */
    error = terms_load(store, &record.experiment, &terms, text);
    if (error == STORE_ERROR_CONNECTION || error == STORE_ERROR_MEMORY) {
        free(disputed);
        return error;
    }
    error = STORE_OK;
    struct verify *verify = verify_create(&record, disputed, count, watch);
    const char *parameters[] = {text};
    snprintf(text, sizeof text, "%llu", (unsigned long long)experiment);
    if (verify) {
        error = (enum store_error)store_stream(store, games_sql, parameters, 1, take_row, verify);
        if (error == STORE_OK)
            error = ask_sql(store, verify, parameters);
        if (error == STORE_OK)
            error = ask_rollups(store, verify, parameters);
        if (error == STORE_OK)
            error = verify->no_memory
                        ? STORE_ERROR_MEMORY
                        : verify_captures(store, experiment, &verify->captures, differ_part, verify);
        if (error == STORE_OK)
            error = ask_standing(store, verify, parameters);
        if (error == STORE_OK)
            close_pair(verify);
        if (error == STORE_OK)
            error = ask_repeats(store, verify);
        if (error == STORE_OK && verify->tune)
            error = verify_tune_check(verify->tune, store, differ_part, verify);
        if (error == STORE_OK)
            verify_finish(verify, totals);
    } else {
        totals->differences++;
    }
    verify_destroy(verify);
    terms_destroy(terms);
    free(disputed);
    return error;
}

static enum store_error command(struct store *store, const char *sql)
{
    struct store_table nothing;
    enum store_error error = store_query(store, sql, NULL, 0, &nothing);
    if (error == STORE_OK)
        store_table_done(&nothing);
    return error;
}

enum store_error verify_experiment(struct store *store, uint64_t experiment, const struct verify_watch *watch,
                                   struct verify_totals *totals)
{
    enum store_error error = command(store, "begin isolation level repeatable read read only");
    if (error == STORE_OK)
        error = command(store, "set local statement_timeout = 0");
    if (error != STORE_OK)
        return error;
    error = run(store, experiment, watch, totals);
    /* A failed statement has ended the snapshot; its reason must outlive the rollback. */
    if (error == STORE_OK)
        return command(store, "commit");
    return error;
}
