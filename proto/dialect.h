/* The player's side of the UCI dialect (engine/README.md), spoken to a program: greeting, options, games,
 * moves. Knows neither rules nor boards: moves are letters. One thread at a time; see program.h. */
#ifndef KROO_PROTO_DIALECT_H
#define KROO_PROTO_DIALECT_H

#include "proto/program.h"

enum {
    DIALECT_REASON_MAX = 512,
    DIALECT_NAME_MAX = 128,
    DIALECT_OPTIONS_MAX = 64,    /* options that a program may list */
    DIALECT_LIST_MAX = 8 * 1024, /* and the bytes of their lines */
    DIALECT_GREETING_MS = 10000, /* from start to `uciok`; `move_ms` where that is less */
    DIALECT_READY_MS = 60000,    /* to `readyok`, with files to load and tables to map; likewise */
    DIALECT_SAY_MS = 10000,      /* for a program to read what it is told */
    DIALECT_MOVE_MS = 60000,     /* a move under a limit of nodes or plies; later it is a hang */
    DIALECT_OVERTIME_MS = 2000,  /* beyond a limit of time */
};
#define DIALECT_NO_SCORE INT32_MIN

enum dialect_error {
    DIALECT_OK = 0,
    DIALECT_ERROR_START = -1,    /* it cannot be run, or does not greet */
    DIALECT_ERROR_OPTION = -2,   /* it has no such option, or does not take the value */
    DIALECT_ERROR_CRASH = -3,    /* it ended, hung or spoke nonsense */
    DIALECT_ERROR_DEADLINE = -4, /* it overstepped its limit of time */
    DIALECT_ERROR_STOPPED = -5,  /* `stop` was set; the program is of no more use */
};

struct dialect;

/* What makes a program the player that an experiment names. */
struct dialect_setup {
    const char *rules;
    uint32_t hash_kib;
    const char *weights, *tables; /* files; NULL: none */
    const char *options;          /* lines of `Name=Value` */
};

/* Starts the program, confined to itself and the files of `setup` (NULL: none), and hears its greeting. NULL
 * with the reason. `move_ms`, DIALECT_MOVE_MS or less, is how long it may be silent where it has no limit of
 * time: whatever it was asked. */
struct dialect *dialect_open(const char *path, const struct dialect_setup *setup, int move_ms,
                             atomic_bool *stop, char *reason, size_t reason_size);
/* Another `stop` from now on; NULL: none. */
void dialect_stop_by(struct dialect *dialect, atomic_bool *stop);
/* Kills the program; takes NULL. */
void dialect_close(struct dialect *dialect);

/* What it calls itself; `option ...` lines as it listed them, each ended by a line feed. */
const char *dialect_name(const struct dialect *dialect);
const char *dialect_options(const struct dialect *dialect);
/* True when it lists an option of this name (case does not matter). */
bool dialect_has_option(const struct dialect *dialect, const char *name);

/* Options are sent at once and judged by dialect_ready: a program that calls itself Kroo complains of an
 * option it does not take, and that complaint is the reason. */
enum dialect_error dialect_set(struct dialect *dialect, const char *name, const char *value, char *reason,
                               size_t reason_size);
/* Lines of `Name=Value`, in their order. */
enum dialect_error dialect_set_lines(struct dialect *dialect, const char *lines, char *reason,
                                     size_t reason_size);
enum dialect_error dialect_ready(struct dialect *dialect, char *reason, size_t reason_size);

/* All of it, in this order, to `readyok`. A program without an option Rules plays `site` alone, one without
 * WeightsFile evaluates by itself; one without TablesFile is refused where tables are given. */
enum dialect_error dialect_configure(struct dialect *dialect, const struct dialect_setup *setup, char *reason,
                                     size_t reason_size);

enum dialect_error dialect_new_game(struct dialect *dialect, char *reason, size_t reason_size);

struct dialect_limits {
    uint64_t nodes; /* 0 = none, as all of them */
    uint32_t depth, time_ms;
    /* What South and North have on their clocks, and get after each move; 0: no clock. */
    int64_t clock_ms[2], increment_ms[2];
    int64_t own_ms;  /* of them the mover's; it oversteps it by not answering a while after */
    int64_t most_ms; /* without a limit of time, for a program that goes on talking; `move_ms` where that is
                        more */
};
struct dialect_answer {
    char move;     /* a letter, legal or not; 0 when the answer is none */
    int32_t score; /* hundredths of a seed, the mover's view; DIALECT_NO_SCORE when it told none */
    uint64_t nodes;
};
/* Asks for a move after `moves` (letters). */
enum dialect_error dialect_think(struct dialect *dialect, const char *moves,
                                 const struct dialect_limits *limits, struct dialect_answer *answer,
                                 char *reason, size_t reason_size);

#endif
