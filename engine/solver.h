/* The values of all boards of up to N seeds, layer by layer (DESIGN section 10, THEORY section 3).
 *
 * Two conventions. Where an endless play pays nothing (no stop, or stores as they stand at a stop) each board
 * has one value, LO = UP. Where each side takes its own row at a stop, a board has a bracket: LO is the value
 * when an endless play pays the lowest own-row split it visits for ever, UP when the highest.
 *
 * Brackets are solved as value functions, all thresholds at once. With s the split of the forcing side and a
 * floor A (none at first):
 *     safe(x)   = max(A(x), min(s(x), safe of the moves))    greatest solution: every later stop pays as much
 *     forced(x) = max(safe(x), forced of the moves)          least solution: can force its way there
 * The first round is the certified bracket: along a path of falling ranks, at most `plies` long, into a set
 * where every stop, a quiet limit included, pays at least the value. Rounds with the floor A = forced of the
 * round before end at LO and UP themselves, kept beside (`raw`) to say where and how far certification
 * widens.
 *
 * One thread calls; the solver's team computes. The result depends on rules and seeds alone. */
#ifndef KROO_ENGINE_SOLVER_H
#define KROO_ENGINE_SOLVER_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/layer.h"
#include "engine/rules.h"

enum solver_error {
    SOLVER_OK = 0,
    SOLVER_ERROR_RULES = -1, /* no table can be made: see solver_rules_supported */
    SOLVER_ERROR_MEMORY = -2,
    SOLVER_ERROR_LINE = -3, /* a forced line longer than the builder can count */
};

/* Values are the mover's, of what is still to be won: its seeds to come less the opponent's. */
struct solver_values {
    int8_t *lo, *up; /* the same array where each board has one value */
};

struct solver_layer {
    int plies;       /* D of the layer: every board has its value certified within so many plies */
    int line;        /* plies within which following the stored moves gets there; not below `plies` */
    int rounds;      /* of the brackets, certification included; 1 for one value */
    uint32_t exact;  /* boards with LO = UP before certification */
    uint64_t failed; /* states (board and side that forces) whose value certification lowers */
};

/* Told while a layer is being solved: its seeds and the share that is done. */
typedef void solver_progress(void *context, int seeds, double share);

struct solver;

/* False for rules with `unfed_loses`: their results are no sums of seeds. */
bool solver_rules_supported(const struct rules *rules);
/* True when an endless play pays nothing. */
bool solver_endless_is_zero(const struct rules *rules);

enum solver_error solver_create(const struct rules *rules, int seeds, int threads, solver_progress *progress,
                                void *context, struct solver **out);
void solver_destroy(struct solver *solver);

/* Solves the layers 0, 1, ... `seeds`, one a call. */
enum solver_error solver_next(struct solver *solver);

/* Of layers solved so far, by index_board. `raw`: before certification. */
struct solver_values solver_values(const struct solver *solver);
struct solver_values solver_raw(const struct solver *solver);
const struct solver_layer *solver_layer(const struct solver *solver, int seeds);

/* Entries (tables.h) of boards of the layer solved last, from segment `first` on, as many whole segments as
 * fit into `room`, at least the one; returns the segment to go on with. */
size_t solver_entries(struct solver *solver, size_t first, uint16_t *entries, size_t room, size_t *count);
size_t solver_segments(const struct solver *solver);
/* Room that is enough for any segment. */
size_t solver_entries_room(const struct solver *solver);

#endif
