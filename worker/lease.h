/* A lease as its worker holds it: which pairs, by whom they are played, what is finished. Made and changed by
 * the main thread; play threads read the setup and sides, and write `plies`. A lease is destroyed only when
 * none of its games is queued, played or on its way back (`open` is 0). */
#ifndef KROO_WORKER_LEASE_H
#define KROO_WORKER_LEASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/play.h"
#include "proto/dialect.h"
#include "proto/message.h"
#include "worker/files.h"
#include "worker/parts.h"

enum {
    LEASE_PAIRS_MAX = 65536,         /* a larger grant is given back */
    LEASE_RESIGN_MAX = 30000,        /* hundredths of a seed: beyond any score but proofs */
    LEASE_HASH_KIB_MAX = 512 * 1024, /* a larger transposition table is refused */
};

enum lease_state {
    LEASE_WAITING, /* for its weights, engines, tables or book, or for the engines' tests */
    LEASE_PLAYING, /* its games are queued or played */
    LEASE_OVER,    /* finished, dropped or abandoned; goes when `open` is 0 */
};

struct lease_pair {
    struct message_game *legs[2]; /* finished, owned; NULL before */
    bool skipped;                 /* committed already, or taken back: never played here */
};

/* A side that another program plays. */
struct lease_program {
    const struct held_file *engine; /* as the player names it; NULL: the built-in engine plays */
    struct parts parts;             /* what that is */
    const struct held_file *part;   /* of a set: the binary for this machine, or the sources; else NULL */
    char path[FOLDER_PATH_MAX];     /* what runs; "" until it is built */
    char weights[FOLDER_PATH_MAX];  /* their file */
    struct dialect_setup setup;     /* borrows from the lease and from what it holds */
    struct dialect_limits limits;
};

struct lease {
    uint64_t id;
    uint32_t attempt, term_ms;
    uint64_t first_pair;
    uint32_t pair_count;
    enum lease_state state;
    struct message_spec spec;
    struct rules rules;
    struct play_setup setup; /* its rules point at the field above */
    struct play_side sides[2];
    struct search_parameters parameters[2]; /* of sides that the search in this process plays */
    int64_t move_ms[2];                     /* a move without limits of time hangs after this, */
    int64_t silence_ms;                     /* or after so much without a word of its program */
    struct lease_program programs[2];
    const struct held_file *tables[2];    /* NULL: none, or not here yet */
    const struct held_file *book;         /* likewise */
    const struct held_file *adjudication; /* tables that end games; likewise */
    struct lease_pair *pairs;
    uint32_t left; /* pairs to finish */
    uint32_t done; /* pairs finished here */
    uint32_t open; /* games queued, played or on their way back */
    uint64_t plies_told;
    unsigned fetches;           /* times something of it was asked for */
    bool tested;                /* all of it is here; its engines are being tested, or were */
    atomic_bool stop;           /* its games are abandoned */
    atomic_uint_fast64_t plies; /* of finished games */
};

/* A lease for a grant, checked: the rules are known, each side has a limit, nothing is out of bounds, and the
 * experiment asks for this engine build or for none. NULL with the reason. Its sides have no weights yet. */
struct lease *lease_create(const struct message_lease_grant *grant, const char *engine_build, char *reason,
                           size_t reason_size);
/* Limits of time are multiplied by so many millionths; once, before anything is seated. */
void lease_scale_time(struct lease *lease, uint32_t scale_ppm);
/* How long its moves and games may take, under its term; `game_ms` 0: by their limits and this machine's
 * speed. After lease_scale_time. */
void lease_bound_time(struct lease *lease, uint32_t move_ms, uint32_t game_ms, uint32_t speed);
void lease_destroy(struct lease *lease);
/* Whether side 0 or 1 is played by a program of its own, and whether with tables. */
bool lease_has_engine(const struct lease *lease, int side);
bool lease_has_tables(const struct lease *lease, int side);
bool lease_has_book(const struct lease *lease);
const struct message_player *lease_player(const struct lease *lease, int side);
/* All that a program needs is held: fills its setup. */
void lease_seat_program(struct lease *lease, int side);

/* Takes a finished game (malloc'ed, with what it holds). True when its pair is now complete: both games are
 * in lease->pairs[index].legs until lease_forget_pair. */
bool lease_finish(struct lease *lease, uint32_t index, unsigned leg, struct message_game *game);
void lease_forget_pair(struct lease *lease, uint32_t index);

#endif
