/* Ratings of many players from the games they played (STATISTICS.md, "Ratings of many players"):
 * Bradley-Terry with a draw as half a win, a fitted first-move term, a weak prior, and the sandwich
 * covariance with the pair of games as the unit. Pure: any thread. Every number handed out is finite.
 *
 * Players that lost at least half a point to each other, directly or in a circle, have finite differences:
 * they make a list. Between lists there is no finite difference, either because nobody met, or because one
 * side never gave away a point; then a one-sided bound is given. */
#ifndef KROO_COORDINATOR_RATING_H
#define KROO_COORDINATOR_RATING_H

#include <stdbool.h>
#include <stddef.h>

enum { RATING_PLAYERS_MAX = 1000, RATING_MEETINGS_MAX = 1000000 };

/* Above this a count is no exact number any more. */
#define RATING_COUNT_MAX 1e15

/* Raised whenever a formula here changes; stands beside every table shown. */
enum { RATING_FORMULA_VERSION = 1 };

/* What two players did against each other, a's half points (0 lost, 1 drew, 2 won) as index. */
struct rating_meeting {
    size_t a, b;        /* numbers of players, not equal */
    double pairs[3][3]; /* pairs: by its points where a moved first, then where b did */
    double games[2][3]; /* games that are samples of their own: a moved first, b did */
};

struct rating_options {
    double prior;        /* virtual draws for each pairing that met; 0 allowed */
    bool fit_first_move; /* otherwise moving first is worth nothing */
    bool has_anchor;
    size_t anchor; /* player whose rating is given */
    double anchor_elo;
};

struct rating_player {
    size_t list;    /* 0 .. lists - 1, the list with most games first */
    double rating;  /* Elo on the scale of its list: sum zero, or the anchor's */
    double sd;      /* its standard error, 0 for the anchor; the fit's only where the list has others */
    bool has_error; /* false in a list of one: there is nothing it was measured against */
    double games, wins, draws, losses, score; /* score: points a game, 0 without games */
    bool is_unbeaten, is_winless;             /* all games won, all lost: no finite rating, see the gaps */
};

/* One list never gave away half a point against another: with these games so one-sided a result has a
 * probability of 5 % when the difference is `at_least`, a pair counted as one sample. */
struct rating_gap {
    size_t above, below; /* lists */
    double at_least;     /* to be added to the ratings of `above` to have them on the scale of `below` */
};

struct rating_table {
    size_t players, lists, gaps;
    struct rating_player *player;
    struct rating_gap *gap;
    double *covariance; /* players x players, Elo squared; 0 between lists */
    bool has_first_move;
    double first_move, first_move_sd; /* Elo that moving first is worth */
    double prior;
    bool has_anchor;
    size_t anchor;
};

enum rating_error {
    RATING_PLAYERS = -1, /* none or too many */
    RATING_MEETING = -2, /* of unknown players, of one with itself, or a bad count */
    RATING_PRIOR = -3,
    RATING_ANCHOR = -4, /* unknown, or no number */
    RATING_MEMORY = -5,
    RATING_NUMERIC = -6, /* counts so unlike that the linear algebra gave up */
};
const char *rating_error_text(int error);

/* 0 and a table for rating_destroy, or a negative rating_error and NULL. Two meetings of the same players
 * count as one. */
int rating_create(struct rating_table **table, size_t players, const struct rating_meeting *meetings,
                  size_t count, const struct rating_options *options);
void rating_destroy(struct rating_table *table);

/* Standard error of the difference of two players of one list. */
double rating_difference_sd(const struct rating_table *table, size_t i, size_t j);
/* Likelihood that i is the stronger: in [0, 1] within a list; false between lists and for i = j. */
bool rating_superiority(const struct rating_table *table, size_t i, size_t j, double *likelihood);
/* The players' numbers by list, then by rating, best first; `order` has room for all. */
void rating_order(const struct rating_table *table, size_t *order);

#endif
