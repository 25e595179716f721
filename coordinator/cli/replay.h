/* A game of an experiment, played once more with the same players, opening and seed: `kroo replay` and `kroo
 * replay-fault`. One thread. */
#ifndef KROO_COORDINATOR_CLI_REPLAY_H
#define KROO_COORDINATOR_CLI_REPLAY_H

#include "coordinator/cli/args.h"
#include "coordinator/cli/stand_in.h"
#include "coordinator/cli/table.h"
#include "coordinator/record.h"
#include "coordinator/terms.h"

struct replay {
    struct args_common common;
    uint64_t id, pair, leg;
    struct record record;
    struct terms *terms;
    struct stand_in players[2]; /* a, b */
    struct store_table stored;  /* moves, result, reason, south, north */
    struct play_record again;
};

/* Loads experiment `id` and its players; the rest is the caller's. End with replay_done whatever comes back.
 */
int replay_load(struct replay *replay, struct store *store);
/* Warns of what may make the games differ. */
void replay_warn(const struct replay *replay);
/* Plays it into `again`. */
enum play_status replay_play(struct replay *replay);
void replay_done(struct replay *replay);

#endif
