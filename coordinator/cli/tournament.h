/* Many players: the rows of a tournament, and the matches that its pairings are. Everything decided is in the
 * database before it is done, and each match is made once by its key, so a tournament goes on wherever it was
 * cut off. One thread. */
#ifndef KROO_COORDINATOR_CLI_TOURNAMENT_H
#define KROO_COORDINATOR_CLI_TOURNAMENT_H

#include <jansson.h>

#include "coordinator/cli/driver.h"
#include "coordinator/cli/launch.h"

enum {
    TOURNAMENT_NAME_MAX = 33,
    TOURNAMENT_HEX = 2 * STORE_HASH + 1,
    TOURNAMENT_PLAYERS_MAX = 1000,
    TOURNAMENT_PAIRINGS_MAX = 5000,
};

struct contestant {
    char name[STORE_NAME];
    const char *weights_text;     /* as the user named them; NULL when read from the database */
    char weights[TOURNAMENT_HEX]; /* their sha256 */
    json_t *settings;             /* array of `key=value` */
    bool is_anchor;
    double anchor_elo;
    unsigned since_round;
};

struct tournament {
    struct driver *driver;
    uint64_t id; /* 0: not in the database */
    char name[TOURNAMENT_NAME_MAX], kind[16], rules[STORE_RULES];
    json_t *specification; /* `match`: options of `kroo match` that all matches have */
    unsigned planned_rounds;
    bool has_priority; /* given to all its matches since it was made */
    int priority;
    struct contestant *player;
    size_t players, room;
};

struct tournament_pairing {
    unsigned a, b;
    uint64_t pairs;
};

/* The options of `kroo match` that all matches of a tournament share, checked as there and kept as words. */
struct tournament_options {
    struct launch launch; /* what the words mean */
    json_t *words;        /* array of `--name=value` */
    const char *key;      /* --key, or NULL */
    bool wait;
};
/* Their argp: its input is a struct tournament_options that tournament_options_init has begun. */
extern const struct argp tournament_options_argp;
void tournament_options_init(struct tournament_options *options);
void tournament_options_done(struct tournament_options *options);

void tournament_init(struct tournament *tournament, struct driver *driver, const char *kind);
void tournament_done(struct tournament *tournament);

/* A player as the user writes it, `[NAME=]WEIGHTS[,key=value]...`; what is out of shape ends the program. */
void tournament_add_player(struct argp_state *state, struct tournament *tournament, const char *text);
/* One more at the end, with a reference to `settings`. False without room. */
bool tournament_put_player(struct tournament *tournament, const char *name, const char *weights_hex,
                           json_t *settings);
/* `NAME[=ELO]`; a name that nobody has ends the program. */
void tournament_set_anchor(struct argp_state *state, struct tournament *tournament, const char *text);

/* A name that can be one: letters, digits, . _ and -. Otherwise ends the program. */
void tournament_check_name(struct argp_state *state, const char *option, const char *name);

/* Weights of all players to hashes, rules to their canonical name; equal players are refused. */
int tournament_resolve(struct tournament *tournament, const char *rules);
/* Would `kroo match` take these players and options? One dry run for each kind of player; nothing is made. */
int tournament_try(struct tournament *tournament, uint64_t pairs);
/* The rows of a new tournament with its pairings of round 1, all or none; a name that is there already leaves
 * everything as it is. */
int tournament_insert(struct tournament *tournament, const struct tournament_pairing *pairings, size_t count);
/* Reads the tournament of that name; *found false when there is none. */
int tournament_load(struct tournament *tournament, const char *name, bool *found);
/* The same where it must be there. */
int tournament_need(struct tournament *tournament, const char *name);
/* What was asked for must be what is there; `loose_seed`: the seed was not asked for. */
int tournament_compare(const struct tournament *asked, const struct tournament *there, bool loose_seed);

/* One more player of a tournament that is there, in the database and at the end of the list; who is there
 * already (name, or weights and settings) is left as it is. `since_round` 0: the next round but one, so that
 * whoever drives it now is not disturbed. */
int tournament_join(struct tournament *tournament, const struct contestant *player, unsigned since_round);

/* Inserts the pairings of a further round. */
int tournament_plan(struct tournament *tournament, unsigned round, const struct tournament_pairing *pairings,
                    size_t count);
/* Makes the matches of all pairings that have none yet. */
int tournament_make(struct tournament *tournament);
/* Follows them to their end: COMMAND_DONE, refused, or DRIVER_PAUSED after saying how to go on. `round` 0:
 * all. */
int tournament_follow(struct tournament *tournament, unsigned round, const char *how_to_go_on);

#endif
