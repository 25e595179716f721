/* Makes an opening book, and measures one. Candidates are positions after k random or self-played plies; kept
 * are those that come for the first time (twins are one, engine/book.h) and whose search value is near zero.
 * What comes out depends on the plan alone, not on the number of threads. One caller at a time. */
#ifndef KROO_ENGINE_BOOK_MAKE_H
#define KROO_ENGINE_BOOK_MAKE_H

#include "engine/play.h"

enum {
    BOOK_TRIES_MAX = 1 << 22,
    BOOK_PAIR_CLASSES = 6,
    BOOK_HASH_KIB = 256, /* of each search */
};

struct book_plan {
    struct rules rules;
    const struct weights *weights; /* value the openings, and play where plies are self-played */
    char weights_name[64];         /* for the line that says how it was made */
    uint64_t seed;
    unsigned plies;    /* of each opening, 1 to BOOK_PLIES_MAX */
    uint32_t openings; /* wanted, 1 to BOOK_OPENINGS_MAX */
    uint32_t tries;    /* candidates at most, up to BOOK_TRIES_MAX */
    bool selfplay;     /* the plies are searched, but for the share that is random; else all are random */
    uint64_t selfplay_nodes;
    uint32_t noise_ppm;
    uint64_t nodes; /* of the search that values a candidate */
    int bound;      /* kept: |value| <= bound, hundredths of a seed */
    int threads;
};

/* A thousand openings of ten random plies under `site`, without weights. */
struct book_plan book_plan_default(void);
/* Candidates where the user names no number: a hundred for each opening, within the bound. */
uint32_t book_plan_tries(uint32_t openings);

/* Each candidate tried is in exactly one of the lines below it. */
struct book_counts {
    uint64_t tried;
    uint64_t ended;      /* its plies ended the game */
    uint64_t duplicates; /* of a candidate before it, kept or not */
    uint64_t unbalanced;
    uint64_t kept;
};

/* Called now and then; false stops the work. */
typedef bool book_told(void *context, const struct book_counts *counts);

/* The openings wanted, or as many as the tries gave (counts->kept says how many); BOOK_ERROR_COUNT when there
 * is none at all. Memory: 40 bytes for each distinct candidate, and a table for each thread. */
enum book_error book_make(const struct book_plan *plan, book_told *told, void *context,
                          struct book_counts *counts, struct book **out);

/* Pairs of two players of the same weights, one searching a quarter more nodes than the other, so that the
 * two games of a pair are not one game twice. */
struct book_trial {
    const struct play_setup *setup; /* with or without a book; pairs 0 .. pairs - 1 */
    const struct weights *weights;
    uint64_t nodes;
    uint32_t pairs;
    int threads;
};

/* Pairs by what the player with more nodes made of them, in the order LL, LD, DD, WL, DW, WW. */
struct book_measure {
    uint64_t pairs, classes[BOOK_PAIR_CLASSES];
    uint64_t plies; /* of all games */
};
enum { BOOK_CLASS_WL = 3 };

/* True when the trial was played to its end; false when it was stopped, a game failed or memory is short. */
bool book_try(const struct book_trial *trial, bool (*told)(void *context, uint64_t pairs), void *context,
              struct book_measure *out);

#endif
