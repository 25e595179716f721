/* A player of a stored game, sat down again by `kroo replay`: weights and endgame tables from the database,
 * and a program of its own where the player was one, run from a private folder. One thread. */
#ifndef KROO_COORDINATOR_CLI_STAND_IN_H
#define KROO_COORDINATOR_CLI_STAND_IN_H

#include "coordinator/cli/upload.h"
#include "engine/play.h"
#include "proto/dialect.h"

struct stand_in {
    struct private_file engine_file, weights_file, tables_file;
    struct weights *weights;
    struct tables *tables;
    struct play_side side;
    struct search_parameters parameters; /* of the engine in this program */
    bool is_program;                     /* otherwise the engine in this program plays */
    struct dialect *dialect;             /* NULL: it does not run */
    char options[STORE_OPTIONS];         /* lines of `Name=Value` */
    struct dialect_setup setup;
    struct dialect_limits limits;
    int move_ms;             /* 0: DIALECT_MOVE_MS */
    struct play_mover mover; /* its context is this struct, which must stay where it is */
    char reason[DIALECT_REASON_MAX];
};

/* `in` is all zeros but for `move_ms`; end with stand_in_done whatever comes back. COMMAND_DONE, or said why
 * not. `rules` must outlive it. */
int stand_in_load(struct stand_in *in, struct store *store, const struct store_player *player,
                  const struct rules *rules);
void stand_in_done(struct stand_in *in);
/* NULL: the search plays. */
const struct play_mover *stand_in_mover(const struct stand_in *in);

#endif
