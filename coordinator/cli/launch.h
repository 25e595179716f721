/* What `kroo selfplay` and `kroo match` share: options to a request, weights by name, checks, the forecast of
 * a sequential test, submission. One thread. */
#ifndef KROO_COORDINATOR_CLI_LAUNCH_H
#define KROO_COORDINATOR_CLI_LAUNCH_H

#include "coordinator/cli/args.h"
#include "coordinator/cli/outfit.h"
#include "coordinator/cli/terms_options.h"
#include "proto/message.h"
#include "proto/settings.h"
#include "sql/store.h"

/* Limits as the user gave them: side 0 both, 1 A, 2 B. */
struct launch_limits {
    bool has_nodes, has_depth, has_time, has_clock;
    uint64_t nodes;
    uint32_t depth, time_ms, hash_kib, clock_ms, increment_ms;
};

struct launch {
    struct args_common common;
    struct message_create_experiment create;
    const char *rules;
    const char *weights[2];
    struct launch_limits limits[3];
    struct outfit outfits[3]; /* likewise */
    struct terms_options terms;
    double pairs_per_minute; /* expected; 0: not known */
    bool has_pairs, has_seed, has_opening, has_audit, wait, dry_run;
    /* NULL, or what completes the request once its players are known: COMMAND_DONE, or said why not. */
    int (*complete)(struct launch *launch, const struct settings *settings);
    uint64_t experiment; /* once it was submitted; otherwise 0 */
};

/* `10s+0.1s` into the limits; ends the program on anything else. */
void launch_take_clock(struct argp_state *state, const char *option, const char *text,
                       struct launch_limits *limits);

/* Options of every experiment; its input is a struct launch. */
extern const struct argp_option launch_options[];
extern const struct argp launch_argp;

/* The defaults of `kind`. */
void launch_init(struct launch *launch, enum message_experiment_kind kind);
/* Fills the request, checks it, warns, submits it, prints the ID, follows it when asked to. */
int launch_run(struct launch *launch);

/* The parts of it, for a request that is filled in otherwise: a seed and a key where none was given
 * (`has_seed`); then everything from the checks on. */
int launch_fill_random(struct launch *launch, struct store *store);
int launch_offer(struct launch *launch, const struct settings *settings);

/* Weights by number, hash prefix, name, `starting`, `champion`: the hash in `sha256`. COMMAND_DONE, or said
 * why. `rules` is canonical; weights of other rules are refused. */
int launch_find_weights(struct store *store, const char *text, const char *rules,
                        uint8_t sha256[MESSAGE_HASH]);

#endif
