/* Games in, rows out: replays each stored game through the rules engine, refuses one that does not come to
 * its stored end, keeps the positions the filters let through, and counts what became of every position
 * (TRAINER "Data"). Made to be the callback of store_training_games. One thread. */
#ifndef KROO_EVAL_READER_H
#define KROO_EVAL_READER_H

#include <stdbool.h>

#include "engine/play.h"
#include "engine/replay.h"
#include "eval/rows.h"
#include "sql/store.h"

enum { READER_SOURCES_MAX = 256, READER_REASON = 512, READER_UNIT = 1000000 };

/* What the replay has to know of an experiment; all sources of a reader share one rule set. */
struct reader_source {
    uint64_t experiment, seed;
    unsigned opening_plies;
    uint32_t noise_ppm;
    struct book *book; /* NULL: random openings; the reader's */
};

struct reader_filters {
    bool with_captures;      /* keep positions where the mover can capture; else quiet ones only */
    bool with_opening;       /* keep the random plies of the opening */
    bool with_decided;       /* keep positions whose search proved the outcome */
    bool with_repeats;       /* keep games whose moves were read before */
    uint32_t validation_ppm; /* share of pairs set aside */
    uint32_t sample_ppm;     /* share of pairs read at all; READER_UNIT = all */
    uint64_t seed;           /* of the sample only: the split is never drawn again */
};

/* Positions are in exactly one of the lines from `opening` on. */
struct reader_counts {
    uint64_t games, training_games, validation_games;
    uint64_t repeats; /* games left out, their moves read before */
    uint64_t unsampled;
    uint64_t south, north, draws; /* training games by result */
    uint64_t positions;
    uint64_t opening, noise, decided, captures;
    uint64_t training, validation;
    uint64_t unscored; /* kept positions without a search score */
};

enum reader_error {
    READER_OK = 0,
    READER_ERROR_GAME = 1, /* positive: store_training_games hands it through; the reason names the game */
    READER_ERROR_LIMIT = 2,
    READER_ERROR_MEMORY = 3,
    READER_ERROR_STOPPED = 4,
};

struct reader {
    struct rules rules;
    struct reader_filters filters;
    struct reader_source sources[READER_SOURCES_MAX];
    size_t source_count;
    struct rows training, validation;
    struct reader_counts counts;
    char reason[READER_REASON];
    /* Called after each game when set; non-zero stops the reading. */
    int (*report)(void *context, const struct reader_counts *counts);
    void *report_context;
    struct replayer *replayer;
    struct board *boards; /* of the game at hand, GAME_PLIES_MAX + 1 */
    uint64_t *seen;       /* hashes of move lists, open addressing */
    size_t seen_count, seen_capacity;
};

/* `rows_limit` bounds training and validation rows together. READER_ERROR_MEMORY when memory is short. */
enum reader_error reader_init(struct reader *reader, const struct rules *rules,
                              const struct reader_filters *filters, size_t rows_limit);
/* Keeps the positions in files in `folder` (rows_on_disk); before the first game. */
enum reader_error reader_on_disk(struct reader *reader, const char *folder);
void reader_done(struct reader *reader);

/* A store_training_row whose context is a struct reader. */
int reader_take(void *reader, const struct store_training_game *game);

/* True when the pair belongs to validation: a pure function of (experiment's seed, pair), so that no later
 * run draws it again; both legs and all positions of a pair are on one side. */
bool reader_validates(uint64_t experiment_seed, uint64_t pair, uint32_t validation_ppm);

#endif
