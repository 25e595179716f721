/* Rule sets as data: the presets of DESIGN section 4 and single-field overrides in text
 * (`site,repetitions=2`). Plain data; any thread. */
#ifndef KROO_ENGINE_RULES_H
#define KROO_ENGINE_RULES_H

#include <stdbool.h>
#include <stddef.h>

/* What happens to a capture that would take every seed of the opponent. */
enum rules_slam {
    RULES_SLAM_CAPTURES_NOTHING, /* legal, takes nothing */
    RULES_SLAM_VOID_AT_SIX,      /* takes nothing only when all six houses would be taken */
    RULES_SLAM_ILLEGAL,          /* the move is not allowed */
    RULES_SLAM_REST_TO_OPPONENT, /* captured; what is left on the board goes to the opponent */
    RULES_SLAM_KEEP_LAST,        /* all but the house of the last seed */
    RULES_SLAM_KEEP_FIRST,       /* all but the captured house nearest to a (A) */
    RULES_SLAM_ALLOWED,          /* captures everything */
    RULES_SLAM_LAST_RESORT,      /* awari: only when no move leaves the opponent a seed */
};

enum rules_feeding {
    RULES_FEEDING_MUST,   /* an empty opponent must be fed; if no move feeds, the game ends */
    RULES_FEEDING_NONE,   /* no duty; the mover's own row empty at the start of its turn ends the game */
    RULES_FEEDING_IF_ANY, /* awari: a move must leave the opponent a seed if any move does */
};

/* Where the seeds on the board go when a game ends by no-move, repetition or quiet limit. */
enum rules_leftovers {
    RULES_LEFTOVERS_OWN_ROW, /* each side takes its own row */
    RULES_LEFTOVERS_STAY,    /* stores as they stand */
};

enum { RULES_NAME_MAX = 160 };

struct rules {
    enum rules_slam slam;
    enum rules_feeding feeding;
    enum rules_leftovers leftovers;      /* on no-move */
    enum rules_leftovers stop_leftovers; /* on repetition or quiet limit */
    int repetitions;                     /* occurrences that end the game; 0 = never */
    int quiet_limit;                     /* plies without a capture that end the game; 0 = never */
    bool unfed_loses;          /* at any end, before the score, two seeds or more facing an empty row lose */
    char name[RULES_NAME_MAX]; /* canonical text: preset and the overrides that differ from it */
};

/* The presets in the order of DESIGN section 4; NULL past the last. Static storage. */
const struct rules *rules_preset(size_t index);
/* One line for people about what sets a preset apart; NULL past the last. */
const char *rules_preset_summary(size_t index);

/* Reads a preset name with optional overrides `slam= feeding= leftovers= stop_leftovers= repetitions=
 * quiet_limit= unfed_loses=`, comma separated. Equal rule sets get equal canonical names.
 * Returns 0, or -1 with a reason that lists the known names. */
int rules_parse(const char *text, struct rules *out, char *error, size_t error_size);

/* The words of the overrides: `captures-nothing`, `must`, `own-row`, ... */
const char *rules_slam_text(enum rules_slam slam);
const char *rules_feeding_text(enum rules_feeding feeding);
const char *rules_leftovers_text(enum rules_leftovers leftovers);

/* True when both play alike (names aside). */
bool rules_equal(const struct rules *a, const struct rules *b);

/* True when no game can last for ever: a repetition or a quiet rule is on. */
bool rules_bound_games(const struct rules *rules);

#endif
