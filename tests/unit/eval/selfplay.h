/* Real games for the trainer's tests, played by the engine's own play_game with the starting weights. */
#ifndef KROO_TESTS_SELFPLAY_H
#define KROO_TESTS_SELFPLAY_H

#include <stdlib.h>
#include <string.h>

#include "engine/bytes.h"
#include "engine/play.h"
#include "sql/store.h"

struct selfplay {
    struct rules rules;
    struct play_setup setup;
    struct store_training_game *games; /* 2 a pair, in (pair, leg) order */
    struct play_record *records;
    uint8_t **scores;
    size_t count;
};

static inline void selfplay_fill(struct selfplay *played, size_t i, uint64_t experiment)
{
    const struct play_record *record = &played->records[i];
    uint8_t *scores = malloc(2 * record->plies);
    for (size_t ply = 0; ply < record->plies; ply++)
        bytes_put_u16(scores + 2 * ply, (uint16_t)record->scores[ply]);
    struct store_training_game *game = &played->games[i];
    *game = (struct store_training_game){.experiment = experiment,
                                         .pair = i / 2,
                                         .leg = (unsigned)(i % 2),
                                         .moves = record->moves,
                                         .plies = record->plies,
                                         .scores = scores,
                                         .south = record->stores[0],
                                         .north = record->stores[1]};
    strcpy(game->result, game_result_text(record->result));
    strcpy(game->reason, game_reason_text(record->reason));
    played->scores[i] = scores;
}

/* `pairs` pairs at `nodes` nodes a move. Returns 0, or -1 when a game could not be played. */
static inline int selfplay_play(struct selfplay *played, uint64_t experiment, uint64_t seed, size_t pairs,
                                uint64_t nodes, uint32_t noise_ppm)
{
    char reason[256];
    memset(played, 0, sizeof *played);
    if (rules_parse("site", &played->rules, reason, sizeof reason) != 0)
        return -1;
    played->setup = (struct play_setup){
        .rules = &played->rules, .seed = seed, .opening_plies = 8, .noise_ppm = noise_ppm};
    played->games = calloc(2 * pairs, sizeof *played->games);
    played->records = calloc(2 * pairs, sizeof *played->records);
    played->scores = calloc(2 * pairs, sizeof *played->scores);
    struct weights *weights = weights_create_starting("site");
    struct play_seats *seats = play_seats_create();
    struct play_side side = {.weights = weights, .limits = {.nodes = nodes}, .hash_kib = 256};
    int status = 0;
    for (size_t i = 0; i < 2 * pairs && status == 0; i++) {
        if (play_game(seats, &played->setup, &side, &side, i / 2, (unsigned)(i % 2), NULL, NULL,
                      &played->records[i]) != PLAY_DONE) {
            status = -1;
            break;
        }
        selfplay_fill(played, i, experiment);
        played->count++;
    }
    play_seats_destroy(seats);
    weights_destroy(weights);
    return status;
}

static inline void selfplay_done(struct selfplay *played)
{
    for (size_t i = 0; i < played->count; i++) {
        play_record_done(&played->records[i]);
        free(played->scores[i]);
    }
    free(played->games);
    free(played->records);
    free(played->scores);
    memset(played, 0, sizeof *played);
}

#endif
