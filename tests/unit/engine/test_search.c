/* The search against a plain minimax that keeps the whole history and no table. */
#include "engine/search.h"

#include <stdlib.h>
#include <string.h>

#include "engine/mix.h"
#include "tests/unit/check.h"

/* --- the plain player: every rule spelled out, nothing shared with the search but sowing --- */

enum { PLAIN_MAX = 2048 };

struct plain {
    const struct rules *rules;
    const struct weights *weights;
    struct board boards[PLAIN_MAX]; /* since the last capture */
    int count;
    int ply;
    enum side side;
};

static int plain_margin_score(const struct plain *plain, enum rules_leftovers leftovers)
{
    struct board board = plain->boards[plain->count - 1];
    int unfed = plain->rules->unfed_loses ? board_unfed(board) : 0;
    int margin = unfed != 0 ? unfed : board_margin(board, leftovers);
    return margin == 0 ? 0 : margin > 0 ? SEARCH_WIN - plain->ply : plain->ply - SEARCH_WIN;
}

static bool plain_over(const struct plain *plain, int *score)
{
    struct board board = plain->boards[plain->count - 1];
    const struct rules *rules = plain->rules;
    switch (board_end(board, board_legal(rules, board))) {
    case BOARD_MAJORITY:
    case BOARD_EVEN:
        *score = plain_margin_score(plain, RULES_LEFTOVERS_STAY);
        return true;
    case BOARD_NO_MOVE:
        *score = plain_margin_score(plain, rules->leftovers);
        return true;
    case BOARD_GOES_ON:
        break;
    }
    int occurrences = 0;
    for (int i = plain->count - 1; i >= 0; i -= 2)
        occurrences += board_equal(plain->boards[i], board);
    *score = plain_margin_score(plain, rules->stop_leftovers);
    return (rules->repetitions != 0 && occurrences >= rules->repetitions) ||
           (rules->quiet_limit != 0 && plain->count - 1 >= rules->quiet_limit);
}

static bool plain_make(struct plain *plain, int house, struct plain *next)
{
    struct board before = plain->boards[plain->count - 1], after = board_make(plain->rules, before, house);
    bool captures = board_captured(before, after) > 0;
    int kept = captures ? 0 : plain->count;
    next->rules = plain->rules;
    next->weights = plain->weights;
    memcpy(next->boards, plain->boards, (size_t)kept * sizeof after);
    next->boards[kept] = after;
    next->count = kept + 1;
    next->ply = plain->ply + 1;
    next->side = 1 - plain->side;
    return captures;
}

static struct plain plain_from(const struct game *game, const struct weights *weights)
{
    struct plain plain = {.rules = game_rules(game), .weights = weights, .side = game_position(game).side};
    struct game_history history = game_history(game);
    assert_true(history.count < PLAIN_MAX - 64);
    memcpy(plain.boards, history.boards, history.count * sizeof history.boards[0]);
    plain.count = (int)history.count;
    return plain;
}

/* Full width to `depth`, then captures against standing still. */
static int plain_value(struct plain *plain, int depth)
{
    int best = -SEARCH_WIN, score;
    if (plain_over(plain, &score))
        return score;
    struct board board = plain->boards[plain->count - 1];
    if (depth <= 0) {
        struct position position = board_to_position(board, plain->side);
        best = weights_evaluate(plain->weights, &position);
    }
    struct plain *next = malloc(sizeof *next);
    for (unsigned legal = board_legal(plain->rules, board); legal != 0; legal &= legal - 1) {
        if (!plain_make(plain, __builtin_ctz(legal), next) && depth <= 0)
            continue;
        int value = -plain_value(next, depth - 1);
        best = value > best ? value : best;
    }
    free(next);
    return best;
}

/* Whether the mover (sign 1) can force a win, or the opponent (sign -1) a loss, within `depth` plies. */
static bool plain_forces(struct plain *plain, int depth, int sign)
{
    int score;
    if (plain_over(plain, &score))
        return score * sign > 0;
    if (depth == 0)
        return false;
    bool forced = sign < 0;
    struct plain *next = malloc(sizeof *next);
    unsigned legal = board_legal(plain->rules, plain->boards[plain->count - 1]);
    for (; legal != 0 && forced == (sign < 0); legal &= legal - 1) {
        plain_make(plain, __builtin_ctz(legal), next);
        forced = plain_forces(next, depth - 1, -sign);
    }
    free(next);
    return forced;
}

/* --- helpers --- */

static struct rules rules_of(const char *text)
{
    struct rules rules;
    char reason[512];
    if (rules_parse(text, &rules, reason, sizeof reason) != 0)
        fail_msg("%s: %s", text, reason);
    return rules;
}

static struct position position_of(const char *text)
{
    struct position position;
    char reason[256];
    if (position_parse(text, &position, reason, sizeof reason) != 0)
        fail_msg("%s: %s", text, reason);
    return position;
}

static int random_house(const struct game *game, uint64_t bits)
{
    unsigned legal = game_legal(game);
    for (uint32_t skip = mix_below(bits, (uint32_t)__builtin_popcount(legal)); skip > 0; skip--)
        legal &= legal - 1;
    return __builtin_ctz(legal) + 6 * game_position(game).side;
}

static void play_randomly(struct game *game, uint64_t seed, int plies)
{
    for (int ply = 0; ply < plies && !game_over(game); ply++)
        assert_int_equal(game_play(game, random_house(game, mix(seed, (uint64_t)ply))), GAME_OK);
}

/* `seeds` on the board, the rest in the stores nearly evenly. */
static struct position random_endgame(uint64_t seed, int seeds)
{
    struct position position = {.side = (uint8_t)(mix(seed, 1000) & 1)};
    for (int i = 0; i < seeds; i++)
        position.houses[mix_below(mix(seed, (uint64_t)i), 12)]++;
    int south = (48 - seeds) / 2 + (int)mix_below(mix(seed, 1001), 3) - 1;
    position.stores[0] = (uint8_t)(south > 24 ? 24 : south);
    position.stores[1] = (uint8_t)(48 - seeds - position.stores[0]);
    if (position.stores[1] > 24) {
        position.stores[1] = 24;
        position.stores[0] = (uint8_t)(24 - seeds);
    }
    return position;
}

static struct search_info run(struct search *search, const struct game *game, const struct weights *weights,
                              struct search_limits limits)
{
    struct search_info info;
    int house = search_run(search, game, weights, &limits, NULL, NULL, NULL, &info);
    assert_int_equal(house, info.pv[0]);
    assert_true(info.pv_length >= 1);
    int own = house - 6 * game_position(game).side;
    assert_true(own >= 0 && own < 6 && (game_legal(game) >> own & 1));
    return info;
}

static const char *const rule_sets[] = {
    "site",         "international",         "school",         "ghana",           "togo",         "auale",
    "slam-illegal", "slam-rest-to-opponent", "slam-keep-last", "slam-keep-first", "slam-allowed", "awari",
};
enum { RULE_SETS = sizeof rule_sets / sizeof rule_sets[0] };

/* House weights that make equal scores of different lines unlikely. */
static struct weights *lively_weights(const char *rules)
{
    struct weights_phase phases[WEIGHTS_PHASES];
    uint64_t at = 0;
    for (int p = 0; p < WEIGHTS_PHASES; p++) {
        phases[p].bias = 7;
        phases[p].store = 100;
        for (int h = 0; h < WEIGHTS_HOUSES; h++)
            for (int c = 0; c < WEIGHTS_COUNTS; c++)
                phases[p].house[h][c] = (int16_t)((int)mix_below(mix(77, at++), 201) - 100);
    }
    struct weights *weights = NULL;
    assert_int_equal(weights_create_table(rules, 0, 0, phases, "{}", &weights), WEIGHTS_OK);
    return weights;
}

/* --- tests --- */

static void scores_are_those_of_plain_minimax(void **state)
{
    (void)state;
    struct search *search = search_create(256);
    for (int r = 0; r < RULE_SETS; r++) {
        struct rules rules = rules_of(rule_sets[r]);
        struct weights *weights = lively_weights(rule_sets[r]);
        struct game *game = game_create(&rules, NULL);
        for (uint64_t k = 0; k < 24; k++) {
            game_reset(game, NULL);
            play_randomly(game, mix(k, 1), (int)mix_below(mix(k, 2), 90));
            if (game_over(game))
                continue;
            struct plain plain = plain_from(game, weights);
            for (int depth = 1; depth <= 4; depth++) {
                search_new_game(search);
                struct search_info info =
                    run(search, game, weights, (struct search_limits){.depth = depth, .full_width = true});
                assert_int_equal(info.score, plain_value(&plain, depth));
            }
        }
        game_destroy(game);
        weights_destroy(weights);
    }
    search_destroy(search);
}

/* Searches `deep` plies or more; whatever is claimed must be so, and whatever is so within `depth` must be
 * claimed. Claims further away than `far` are believed. Returns whether a claim was checked. */
static bool check_claim(struct search *search, const struct game *game, const struct weights *weights,
                        int depth, int deep, int far, struct search_info *info)
{
    *info = run(search, game, weights, (struct search_limits){.depth = deep, .full_width = true});
    struct plain plain = plain_from(game, weights);
    int plies = SEARCH_WIN - abs(info->score);
    if (abs(info->score) <= SEARCH_WIN_BOUND) {
        if (plain_forces(&plain, depth, 1) || plain_forces(&plain, depth, -1))
            fail_msg("%s, %s: decided, but %d claimed", plain.rules->name, game_moves(game), info->score);
        return false;
    }
    if (plies > far)
        return false;
    if (!plain_forces(&plain, plies, info->score > 0 ? 1 : -1))
        fail_msg("%s, %s: %d claimed, not so", plain.rules->name, game_moves(game), info->score);
    return true;
}

/* The selective search may miss what is so, but what it claims is so. */
static void check_selective_claim(struct search *search, const struct game *game,
                                  const struct weights *weights, int deep, int far)
{
    struct search_info info = run(search, game, weights, (struct search_limits){.depth = deep});
    struct plain plain = plain_from(game, weights);
    int plies = SEARCH_WIN - abs(info.score);
    if (abs(info.score) > SEARCH_WIN_BOUND && plies <= far &&
        !plain_forces(&plain, plies, info.score > 0 ? 1 : -1))
        fail_msg("%s, %s: %d claimed, not so", plain.rules->name, game_moves(game), info.score);
}

/* Endgames of few seeds under stopping rules that are always in reach, all searched with one table that is
 * never emptied, now shallow, now deep: a value carried from one history to another would show. */
static void check_claims(const char *rules_text, int depth, uint64_t games)
{
    struct rules rules = rules_of(rules_text);
    struct weights *weights = lively_weights(rules_text);
    struct search *search = search_create(1024), *selective = search_create(1024);
    struct game *game = game_create(&rules, NULL);
    int claims = 0;
    for (uint64_t k = 0; k < games; k++) {
        struct position start = random_endgame(mix(31, k / 4), 2 + (int)(k / 4 % 4));
        game_reset(game, &start);
        for (uint64_t ply = 0; ply < 60 && !game_over(game); ply++) {
            struct search_info info;
            int deep = depth + (int)(mix(mix(k, 9), ply) % 3) * 5;
            claims += check_claim(search, game, weights, depth, deep, depth + 4, &info);
            check_selective_claim(selective, game, weights, deep, depth + 4);
            bool wander = mix(mix(k, 7), ply) % 3 != 0;
            game_play(game, wander ? random_house(game, mix(mix(k, 8), ply)) : info.pv[0]);
        }
    }
    assert_true(claims > 20);
    game_destroy(game);
    search_destroy(search);
    search_destroy(selective);
    weights_destroy(weights);
}

static void claims_hold_under_second_occurrence(void **state)
{
    (void)state;
    check_claims("auale", 12, 160);
}

static void claims_hold_under_third_occurrence(void **state)
{
    (void)state;
    check_claims("site", 13, 160);
}

static void claims_hold_near_a_quiet_limit(void **state)
{
    (void)state;
    check_claims("site,quiet_limit=17", 12, 120);
    check_claims("school,quiet_limit=15", 10, 120);
}

static void claims_hold_under_togo(void **state)
{
    (void)state;
    check_claims("togo,repetitions=2", 11, 120);
}

/* DESIGN section 10: a win for whoever comes to it fresh, a draw at the end of this history, with the table
 * full of the fresh verdict; and the fresh verdict again with the table full of the draw. */
static void a_win_is_not_carried_into_a_history_that_draws(void **state)
{
    (void)state;
    const char *cycle = "cDdEfFaAbCcDdEeFaAbBcDdEfFaAbCcDdEeFaAb";
    struct rules rules = rules_of("site");
    struct weights *weights = weights_create_starting("site");
    struct position fresh = position_of("0-2-0-0-0-0-0-0-1-0-0-1-22-22-S");
    struct game *game = game_create(&rules, &fresh), *long_game = NULL;
    struct search *search = search_create(SEARCH_HASH_KIB);
    struct search_info info = run(search, game, weights, (struct search_limits){.depth = 40});
    assert_true(info.score > SEARCH_WIN_BOUND);

    assert_int_equal(game_play_letter(game, 'B'), GAME_OK);
    struct position child = game_position(game);
    long_game = game_create(&rules, &child);
    size_t played;
    assert_int_equal(game_play_text(long_game, cycle, strlen(cycle), &played), GAME_OK);
    struct position again = game_position(long_game);
    assert_memory_equal(&again, &fresh, sizeof again);
    for (size_t plies = 0; plies <= played; plies++) { /* every step of the way, the table full of the rest */
        game_reset(long_game, &child);
        size_t made;
        assert_int_equal(game_play_text(long_game, cycle, plies, &made), GAME_OK);
        check_claim(search, long_game, weights, 12, 12 + (int)(plies % 3) * 6, 24, &info);
    }
    info = run(search, long_game, weights, (struct search_limits){.depth = 40});
    assert_int_equal(info.score, 0);
    assert_int_equal(info.pv[0], position_letter_house('B'));
    assert_int_equal(game_play_letter(long_game, 'B'), GAME_OK);
    assert_int_equal(game_reason(long_game), GAME_REASON_REPETITION);
    assert_int_equal(game_result(long_game), GAME_DRAW);

    search_new_game(search);
    game_reset(long_game, &child);
    assert_int_equal(game_play_text(long_game, cycle, strlen(cycle), &played), GAME_OK);
    assert_int_equal(run(search, long_game, weights, (struct search_limits){.depth = 40}).score, 0);
    game_reset(game, &fresh);
    assert_true(run(search, game, weights, (struct search_limits){.depth = 40}).score > SEARCH_WIN_BOUND);
    game_destroy(game);
    game_destroy(long_game);
    search_destroy(search);
    weights_destroy(weights);
}

static int verdict(int score)
{
    return (score > SEARCH_WIN_BOUND) - (score < -SEARCH_WIN_BOUND);
}

/* The board of `game` is searched deep as if it had no history, then with its history at every depth from
 * the same table. What is claimed must be what an empty table says. Returns whether the history matters. */
static int check_borrowed(struct search *full, struct search *empty, const struct game *game,
                          const struct weights *weights, int deep)
{
    struct position position = game_position(game);
    struct game *fresh = game_create(game_rules(game), &position);
    struct search_limits limits = {.depth = deep, .full_width = true};
    search_new_game(full);
    search_new_game(empty);
    int without = run(full, fresh, weights, limits).score, with = run(empty, game, weights, limits).score;
    for (limits.depth = 1; limits.depth <= deep; limits.depth++) {
        int score = run(full, game, weights, limits).score;
        if (verdict(score) != 0 && verdict(score) != verdict(with))
            fail_msg("%s, %s, depth %d: %d from a table that knows %d; an empty one says %d",
                     game_rules(game)->name, game_moves(game), limits.depth, score, without, with);
    }
    game_destroy(fresh);
    return verdict(with) != verdict(without);
}

/* DESIGN section 10 and random endgames: verdicts that hold without a history and not with it. */
static void a_verdict_is_not_borrowed_from_another_history(void **state)
{
    (void)state;
    const char *cycle = "cDdEfFaAbCcDdEeFaAbBcDdEfFaAbCcDdEeFaAb";
    struct search *full = search_create(1024), *empty = search_create(1024);
    int mattered = 0;
    for (int r = 0; r < 4; r++) {
        const char *text = (const char *[]){"site", "auale", "site,quiet_limit=21", "togo,repetitions=2"}[r];
        struct rules rules = rules_of(text);
        struct weights *weights = weights_create_starting(text);
        struct game *game = game_create(&rules, NULL);
        struct position fresh = position_of("0-2-0-0-0-0-0-0-1-0-0-1-22-22-S");
        game_reset(game, &fresh);
        game_play_letter(game, 'B');
        fresh = game_position(game);
        for (size_t plies = 0; plies <= strlen(cycle); plies++) {
            size_t made;
            game_reset(game, &fresh);
            game_play_text(game, cycle, plies, &made);
            if (made == plies && !game_over(game))
                mattered += check_borrowed(full, empty, game, weights, 30);
        }
        for (uint64_t k = 0; k < 60; k++) {
            struct position start = random_endgame(mix(67, k), 2 + (int)(k % 3));
            game_reset(game, &start);
            for (uint64_t ply = 0; ply < 44 && !game_over(game); ply++) {
                if (ply > 12 && ply % 3 == 0)
                    mattered += check_borrowed(full, empty, game, weights, 24);
                if (!game_over(game))
                    game_play(game, random_house(game, mix(mix(k, 13), ply)));
            }
        }
        game_destroy(game);
        weights_destroy(weights);
    }
    assert_true(mattered > 20);
    search_destroy(full);
    search_destroy(empty);
}

static void a_win_in_one_is_taken(void **state)
{
    (void)state;
    struct rules rules = rules_of("site");
    struct weights *weights = weights_create_starting("site");
    struct position position = position_of("0-0-0-0-0-1-1-0-3-0-0-0-23-20-S");
    struct game *game = game_create(&rules, &position);
    struct search *search = search_create(64);
    struct search_info info = run(search, game, weights, (struct search_limits){.nodes = 1000});
    assert_int_equal(info.pv[0], position_letter_house('F'));
    assert_int_equal(info.score, SEARCH_WIN - 1);
    assert_int_equal(game_play(game, info.pv[0]), GAME_OK);
    assert_int_equal(game_result(game), GAME_SOUTH_WINS);
    assert_int_equal(
        search_run(search, game, weights, &(struct search_limits){.depth = 1}, NULL, NULL, NULL, &info), -1);
    game_destroy(game);
    search_destroy(search);
    weights_destroy(weights);
}

static void same_info(const struct search_info *a, const struct search_info *b)
{
    assert_int_equal(a->depth, b->depth);
    assert_int_equal(a->score, b->score);
    assert_int_equal(a->nodes, b->nodes);
    assert_int_equal(a->hashfull, b->hashfull);
    assert_int_equal(a->pv_length, b->pv_length);
    assert_memory_equal(a->pv, b->pv, (size_t)a->pv_length);
}

static void node_limits_are_exact_and_repeatable(void **state)
{
    (void)state;
    struct search *search = search_create(64);
    for (int r = 0; r < RULE_SETS; r++) {
        struct rules rules = rules_of(rule_sets[r]);
        struct weights *weights = lively_weights(rule_sets[r]);
        struct game *game = game_create(&rules, NULL);
        play_randomly(game, 3, 10);
        for (uint64_t nodes = 1; nodes <= 3000; nodes = nodes < 40 ? nodes + 1 : nodes * 5 / 3) {
            struct search *other = search_create(64);
            search_new_game(search);
            struct search_info info = run(search, game, weights, (struct search_limits){.nodes = nodes});
            struct search_info again = run(other, game, weights, (struct search_limits){.nodes = nodes});
            assert_int_equal(info.nodes, nodes);
            same_info(&info, &again);
            search_destroy(other);
        }
        game_destroy(game);
        weights_destroy(weights);
    }
    search_destroy(search);
}

/* 1,100 games pass the wrap of the game counter twice. */
static void a_new_game_plays_as_with_an_empty_table(void **state)
{
    (void)state;
    struct rules rules = rules_of("site");
    struct weights *weights = lively_weights("site");
    struct game *game = game_create(&rules, NULL), *filler = game_create(&rules, NULL);
    struct search *search = search_create(4);
    struct search_limits limits = {.nodes = 700};
    struct search_info first = run(search, game, weights, limits);
    play_randomly(filler, 11, 6);
    for (int k = 0; k < 1100; k++) {
        search_new_game(search);
        if (k % 3 == 0)
            run(search, filler, weights, limits);
        search_new_game(search);
        struct search_info info = run(search, game, weights, limits);
        same_info(&info, &first);
    }
    game_destroy(game);
    game_destroy(filler);
    search_destroy(search);
    weights_destroy(weights);
}

static void the_line_is_legal(void **state)
{
    (void)state;
    struct search *search = search_create(1024);
    for (int r = 0; r < RULE_SETS; r++) {
        struct rules rules = rules_of(rule_sets[r]);
        struct weights *weights = weights_create_starting(rule_sets[r]);
        struct game *game = game_create(&rules, NULL);
        for (uint64_t k = 0; k < 20; k++) {
            game_reset(game, NULL);
            play_randomly(game, mix(k, 4), (int)(5 * k));
            if (game_over(game))
                continue;
            struct search_info info = run(search, game, weights, (struct search_limits){.nodes = 20000});
            for (int i = 0; i < info.pv_length; i++)
                assert_int_equal(game_play(game, info.pv[i]), GAME_OK);
            assert_true(info.score < SEARCH_WIN_BOUND || game_over(game) || info.pv_length > 0);
        }
        game_destroy(game);
        weights_destroy(weights);
    }
    search_destroy(search);
}

/* Thousands of quiet plies: the path holds them, repetition is still seen. */
static void long_quiet_games_are_searched(void **state)
{
    (void)state;
    struct rules rules = rules_of("site,repetitions=0,quiet_limit=6000");
    struct weights *weights = weights_create_starting("site");
    struct position position = position_of("0-0-0-0-0-1-0-0-0-0-0-1-23-23-S");
    struct game *game = game_create(&rules, &position);
    struct search *search = search_create(64);
    while (!game_over(game)) {
        if (game_plies(game) % 100 == 0 || game_plies(game) > 5990)
            run(search, game, weights, (struct search_limits){.nodes = 200});
        unsigned legal = game_legal(game);
        assert_int_equal(game_play(game, __builtin_ctz(legal) + 6 * game_position(game).side), GAME_OK);
    }
    assert_int_equal(game_reason(game), GAME_REASON_QUIET_LIMIT);
    assert_int_equal(game_plies(game), 6000);
    game_destroy(game);
    search_destroy(search);
    weights_destroy(weights);
}

struct reports {
    int count;
    int last_depth;
    atomic_bool *stop;
};

static void count_report(void *context, const struct search_info *info)
{
    struct reports *reports = context;
    assert_int_equal(info->depth, reports->last_depth + 1);
    reports->last_depth = info->depth;
    if (++reports->count == 5)
        atomic_store(reports->stop, true);
}

static void stop_ends_a_search_without_limits(void **state)
{
    (void)state;
    struct rules rules = rules_of("site");
    struct weights *weights = weights_create_starting("site");
    struct game *game = game_create(&rules, NULL);
    struct search *search = search_create(1024);
    atomic_bool stop = false;
    struct reports reports = {.stop = &stop};
    struct search_info info;
    struct search_limits limits = {0};
    assert_true(search_run(search, game, weights, &limits, &stop, count_report, &reports, &info) >= 0);
    assert_true(info.depth >= 5);
    /* Already stopped: no ply can be searched, a legal move comes back all the same. */
    assert_true(search_run(search, game, weights, &limits, &stop, NULL, NULL, &info) >= 0);
    assert_int_equal(info.depth, 0);
    limits.time_ms = 5;
    assert_true(search_run(search, game, weights, &limits, NULL, NULL, NULL, &info) >= 0);
    assert_true(info.depth >= 1);
    game_destroy(game);
    search_destroy(search);
    weights_destroy(weights);
}

static void impossible_tables_are_refused(void **state)
{
    (void)state;
    assert_null(search_create(0));
    assert_null(search_create(UINT32_MAX));
    search_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_those_of_plain_minimax),
        cmocka_unit_test(claims_hold_under_second_occurrence),
        cmocka_unit_test(claims_hold_under_third_occurrence),
        cmocka_unit_test(claims_hold_near_a_quiet_limit),
        cmocka_unit_test(claims_hold_under_togo),
        cmocka_unit_test(a_win_is_not_carried_into_a_history_that_draws),
        cmocka_unit_test(a_verdict_is_not_borrowed_from_another_history),
        cmocka_unit_test(a_win_in_one_is_taken),
        cmocka_unit_test(node_limits_are_exact_and_repeatable),
        cmocka_unit_test(a_new_game_plays_as_with_an_empty_table),
        cmocka_unit_test(the_line_is_legal),
        cmocka_unit_test(long_quiet_games_are_searched),
        cmocka_unit_test(stop_ends_a_search_without_limits),
        cmocka_unit_test(impossible_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
