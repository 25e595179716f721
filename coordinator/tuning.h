/* What a tune tunes: named parameters of a player, read from the tune's artifact (a JSON file described in
 * README.md of this folder), and the way from their values to players: weights files and options. Pure; a
 * struct tuning is not changed once made and may be shared by threads. */
#ifndef KROO_COORDINATOR_TUNING_H
#define KROO_COORDINATOR_TUNING_H

#include "coordinator/spsa.h"
#include "engine/weights.h"
#include "sql/store.h"

enum {
    TUNING_NAME = 48,
    TUNING_REASON = 320,
    TUNING_FILE_MAX = 1 << 20,  /* bytes of the artifact */
    TUNING_BATCH_MAX = 65536,   /* pairs */
    TUNING_MATCH_MAX = 1 << 20, /* pairs */
    TUNING_MATCH_USUAL = 1000,  /* or as many as the tune has, if that is less */
};

struct tuning {
    struct spsa_plan plan;
    struct spsa_parameter *parameters;
    char (*names)[TUNING_NAME];
    size_t count;
    uint64_t match_pairs; /* of tuned against start at the end; 0: none */
    /* internal */
    bool *is_option, *is_together;
    struct weights *base;
    uint8_t base_sha256[STORE_HASH];
    uint32_t *owner; /* of each weights parameter: which of ours sets it, plus one; 0: none */
    bool has_weights;
    char options[STORE_OPTIONS]; /* of the player, those that are tuned left out */
};

/* The player that is tuned, and the experiment's part of the plan. */
struct tuning_ground {
    const struct store_player *player;
    const void *weights; /* their file */
    size_t weights_size;
    const char *rules;
    uint64_t pairs, seed;
};

/* Reads and checks the artifact; NULL with a sentence that names the line to blame. The ground is copied. */
struct tuning *tuning_create(const void *json, size_t size, const struct tuning_ground *ground,
                             char reason[TUNING_REASON]);
void tuning_destroy(struct tuning *tuning);

/* A player made of values: its weights by name and its options; the file of the weights where it is not the
 * base's own. */
struct tuning_side {
    uint8_t weights[STORE_HASH];
    char options[STORE_OPTIONS];
    void *file; /* malloc'ed; NULL: the base weights play */
    size_t file_size;
};
void tuning_side_done(struct tuning_side *side);

/* Of `count` values, whole numbers. 0, or -1 with a reason (weights out of range, no memory). The same values
 * give the same player everywhere. */
int tuning_make(const struct tuning *tuning, const double *values, struct tuning_side *side,
                char reason[TUNING_REASON]);
/* Of theta, each parameter rounded to the nearest: the start, and what came of it. */
int tuning_settle(const struct tuning *tuning, const double *theta, struct tuning_side *side,
                  char reason[TUNING_REASON]);
/* The two players of a batch, made of the theta it rests on; nothing to free on -1. */
int tuning_players(const struct tuning *tuning, uint64_t batch, const double *theta,
                   struct tuning_side sides[2], char reason[TUNING_REASON]);
/* The start as an array of `count`. */
void tuning_start(const struct tuning *tuning, double *theta);

#endif
