#include "coordinator/referee.h"

#include <stdio.h>
#include <string.h>

#include "engine/adjudicate.h"

int referee_init(struct referee *referee, const struct store_experiment *experiment, char *reason,
                 size_t reason_size)
{
    char text[STORE_TEXT] = "no memory to replay games";
    memset(referee, 0, sizeof *referee);
    if (terms_hold(experiment, &referee->terms, text) == STORE_OK)
        referee->replayer = replayer_create(&referee->terms->rules);
    bool ends_games =
        referee->replayer && (referee->terms->setup.adjudication || referee->terms->setup.resign_plies > 0);
    if (ends_games)
        referee->game = game_create(&referee->terms->rules, NULL);
    if (!referee->replayer || (ends_games && !referee->game)) {
        snprintf(reason, reason_size, "%s", text);
        referee_done(referee);
        return -1;
    }
    referee->experiment = experiment;
    referee->setup = referee->terms->setup;
    return 0;
}

void referee_done(struct referee *referee)
{
    replayer_destroy(referee->replayer);
    game_destroy(referee->game);
    terms_destroy(referee->terms);
    referee->game = NULL;
    referee->replayer = NULL;
    referee->terms = NULL;
}

static int check_moves(const struct message_game *received, const struct replay_outcome *outcome,
                       char *reason, size_t reason_size)
{
    const char *what = outcome->error == GAME_ERROR_OVER     ? "the game was over"
                       : outcome->error == GAME_ERROR_LENGTH ? "the game is too long"
                                                             : "not a legal move";
    if (outcome->error == GAME_OK && outcome->ending.result != GAME_UNFINISHED)
        return 0;
    if (outcome->error == GAME_OK)
        snprintf(reason, reason_size, "the game is not over after %zu plies", received->plies);
    else
        snprintf(reason, reason_size, "ply %zu, %c: %s", outcome->plies + 1, received->moves[outcome->plies],
                 what);
    return -1;
}

/* Of a tune: both sides as their batch has them, weights and options. */
static int check_batch(const struct referee *referee, const struct message_game *received, char *reason,
                       size_t reason_size)
{
    const struct tune_pairing *pairing =
        referee->players ? tune_book_find(referee->players, received->pair) : NULL;
    if (!pairing || message_hash_is_none(pairing->weights[0])) {
        snprintf(reason, reason_size, "no players of its batch are known");
        return -1;
    }
    if (memcmp(received->weights_a, pairing->weights[0], STORE_HASH) != 0 ||
        memcmp(received->weights_b, pairing->weights[1], STORE_HASH) != 0) {
        snprintf(reason, reason_size, "played with other weights than its batch has");
        return -1;
    }
    if (memcmp(received->options_a, pairing->options_sha256[0], STORE_HASH) != 0 ||
        memcmp(received->options_b, pairing->options_sha256[1], STORE_HASH) != 0) {
        snprintf(reason, reason_size, "played with other options than its batch has");
        return -1;
    }
    return 0;
}

static int check_weights(const struct referee *referee, const struct message_game *received, char *reason,
                         size_t reason_size)
{
    const uint8_t *a = referee->experiment->a.weights, *b = referee->experiment->b.weights;
    if (referee->experiment->kind == STORE_TUNE)
        return check_batch(referee, received, reason, reason_size);
    if (memcmp(received->weights_a, a, STORE_HASH) == 0 && memcmp(received->weights_b, b, STORE_HASH) == 0)
        return 0;
    snprintf(reason, reason_size, "played with other weights than the experiment names");
    return -1;
}

static int check_players(const struct referee *referee, const struct message_game *received, char *reason,
                         size_t reason_size)
{
    const struct store_experiment *experiment = referee->experiment;
    if (received->pair >= experiment->planned_pairs || received->leg > 1) {
        snprintf(reason, reason_size, "the experiment has no such pair or leg");
        return -1;
    }
    if (check_weights(referee, received, reason, reason_size) != 0)
        return -1;
    if (memcmp(received->engine_a, experiment->a.engine, STORE_HASH) != 0 ||
        memcmp(received->engine_b, experiment->b.engine, STORE_HASH) != 0) {
        snprintf(reason, reason_size, "played by other engines than the experiment names");
        return -1;
    }
    if (memcmp(received->tables_a, experiment->a.tables, STORE_HASH) != 0 ||
        memcmp(received->tables_b, experiment->b.tables, STORE_HASH) != 0) {
        snprintf(reason, reason_size, "played with other endgame tables than the experiment names");
        return -1;
    }
    if (strcmp(received->engine_build, experiment->a.engine_build) != 0) {
        snprintf(reason, reason_size, "played by %s, the experiment needs %s", received->engine_build,
                 experiment->a.engine_build);
        return -1;
    }
    if (experiment->with_scores && received->scores_size != 2 * received->plies) {
        snprintf(reason, reason_size, "%zu bytes of scores for %zu plies", received->scores_size,
                 received->plies);
        return -1;
    }
    return 0;
}

static int check_opening(const struct referee *referee, const struct message_game *received, char *reason,
                         size_t reason_size)
{
    char opening[PLAY_OPENING_MAX + 1];
    int length = play_opening(&referee->setup, received->pair, opening);
    if (length < 0 && referee->setup.book) {
        snprintf(reason, reason_size, "the book has %u openings, none is left for pair %llu",
                 referee->setup.book->count, (unsigned long long)received->pair);
        return -1;
    }
    if (length < 0) {
        snprintf(reason, reason_size, "these rules leave no opening of %u plies",
                 referee->setup.opening_plies);
        return -1;
    }
    if (received->plies < (size_t)length || memcmp(received->moves, opening, (size_t)length) != 0) {
        snprintf(reason, reason_size, "does not start with the opening %s of its pair", opening);
        return -1;
    }
    return 0;
}

/* The half points of player a, who is South in leg 0. */
static uint8_t half_points(enum game_result result, unsigned leg)
{
    if (result == GAME_DRAW)
        return 1;
    bool south_won = result == GAME_SOUTH_WINS;
    return (leg == 0) == south_won ? 2 : 0;
}

static int check_claim(const struct message_game *received, enum game_result result, enum game_reason cause,
                       char *reason, size_t reason_size)
{
    if (strcmp(received->result, game_result_text(result)) == 0 &&
        strcmp(received->reason, game_reason_text(cause)) == 0)
        return 0;
    snprintf(reason, reason_size, "claimed %s by %s, the replay gives %s by %s", received->result,
             received->reason, game_result_text(result), game_reason_text(cause));
    return -1;
}

/* An ending that no replay can show, and the ending as it is to be stored. Only a program loses so, only when
 * it is its turn, and by a deadline only where it had one. The built-in engine, this very code, only
 * loses so when its clock runs out. */
static bool is_claim(const struct referee *referee, const struct message_game *received,
                     const struct game_ending *ending, struct game_ending *claimed)
{
    static const uint8_t none[STORE_HASH];
    int cause = game_reason_parse(received->reason);
    enum side loser = ending->position.side;
    bool is_a = (loser == SIDE_SOUTH) == (received->leg == 0);
    const struct store_player *player = is_a ? &referee->experiment->a : &referee->experiment->b;
    bool timed = player->limits.time_ms > 0 || player->limits.clock_ms > 0;
    bool built_in = memcmp(player->engine, none, STORE_HASH) == 0;
    if (ending->result != GAME_UNFINISHED ||
        (built_in && !(cause == GAME_REASON_DEADLINE && player->limits.clock_ms > 0)))
        return false;
    if (cause != GAME_REASON_ILLEGAL_MOVE && cause != GAME_REASON_CRASH &&
        !(cause == GAME_REASON_DEADLINE && timed))
        return false;
    *claimed = *ending;
    claimed->result = loser == SIDE_SOUTH ? GAME_NORTH_WINS : GAME_SOUTH_WINS;
    claimed->reason = (enum game_reason)cause;
    return true;
}

/* Where the terms (tables that adjudicate, resignation) end this game. 0; -1 with the reason when it was
 * played on beyond that. `early->ending` is GAME_UNFINISHED when they do not end it. */
static int look_for_early_end(struct referee *referee, const struct message_game *received,
                              struct adjudicate_replay *early, char *reason, size_t reason_size)
{
    *early = (struct adjudicate_replay){.plies = 0};
    if (!referee->game)
        return 0;
    const uint8_t *scores = received->scores_size == 2 * received->plies ? received->scores : NULL;
    adjudicate_replay(&referee->setup, received->pair, received->leg, referee->game, received->moves,
                      received->plies, scores, early);
    if (early->ending.result == GAME_UNFINISHED || early->plies == received->plies)
        return 0;
    snprintf(reason, reason_size, "played on after ply %zu, where it ended: %s by %s", early->plies,
             game_result_text(early->ending.result), game_reason_text(early->ending.reason));
    return -1;
}

int referee_judge(struct referee *referee, const struct message_game *received, struct store_game *row,
                  char *reason, size_t reason_size)
{
    if (check_players(referee, received, reason, reason_size) != 0 ||
        check_opening(referee, received, reason, reason_size) != 0)
        return -1;
    struct replay_game game = {.moves = received->moves, .length = received->plies};
    struct replay_outcome outcome;
    replay_games(referee->replayer, &game, 1, &outcome);
    struct game_ending claimed_ending;
    const struct game_ending *ending = &outcome.ending;
    struct adjudicate_replay early;
    if (look_for_early_end(referee, received, &early, reason, reason_size) != 0)
        return -1;
    bool ended_early = outcome.error == GAME_OK && early.ending.result != GAME_UNFINISHED;
    bool claimed = outcome.error == GAME_OK && !ended_early &&
                   is_claim(referee, received, &outcome.ending, &claimed_ending);
    if (ended_early) {
        claimed_ending = outcome.ending;
        claimed_ending.result = early.ending.result;
        claimed_ending.reason = early.ending.reason;
    }
    if (claimed || ended_early)
        ending = &claimed_ending;
    if ((!claimed && !ended_early && check_moves(received, &outcome, reason, reason_size) != 0) ||
        check_claim(received, ending->result, ending->reason, reason, reason_size) != 0)
        return -1;
    *row = (struct store_game){
        .experiment = received->experiment,
        .pair = received->pair,
        .leg = (uint8_t)received->leg,
        .attempt = received->attempt,
        .lease = received->lease,
        .moves = received->moves,
        .plies = received->plies,
        .scores = referee->experiment->with_scores ? received->scores : NULL,
        .scores_size = referee->experiment->with_scores ? received->scores_size : 0,
        .south = ending->position.stores[SIDE_SOUTH],
        .north = ending->position.stores[SIDE_NORTH],
        .claimed = claimed || ending->reason == GAME_REASON_RESIGN,
        .resign_ply = (uint32_t)early.resign_ply,
        .a_half_points = half_points(ending->result, received->leg),
        .nodes = received->nodes,
        .time_ms = received->time_ms,
        .core_us = received->core_us,
    };
    snprintf(row->result, sizeof row->result, "%s", game_result_text(ending->result));
    snprintf(row->reason, sizeof row->reason, "%s", game_reason_text(ending->reason));
    return 0;
}
