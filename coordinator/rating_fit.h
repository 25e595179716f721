/* The linear algebra behind ratings: the penalised likelihood of a Bradley-Terry model with first-move term,
 * its maximum by Newton's method, and the two covariances. In natural units (Elo times ln 10 / 400). Pure;
 * the only place outside eval/ that calls LAPACK, with one thread. */
#ifndef KROO_COORDINATOR_RATING_FIT_H
#define KROO_COORDINATOR_RATING_FIT_H

#include "coordinator/rating.h"

/* Natural units of strength in an Elo. */
#define RATING_ELO 0.005756462732485114210

/* Players 0 .. players - 1; players of one `group` are compared with each other, and each group's ratings
 * have sum zero. Meetings across groups must not be given. */
struct rating_fit {
    size_t players, count, groups;
    const struct rating_meeting *meetings;
    const size_t *group; /* of each player */
    double prior;
    double ridge;        /* precision of a normal prior on each strength; 0: none */
    bool fit_first_move; /* cleared where the games cannot tell it from the strengths */
    size_t size;         /* unknowns: players, and one for the first move */
    double *x;           /* size: the maximum; the first move last */
    double
        *information;   /* size x size: second derivatives at the maximum, made regular by each group's sum */
    double *covariance; /* size x size */
};

/* 0, RATING_MEMORY or RATING_NUMERIC. With `sandwich` the covariance has the pair of games as unit,
 * otherwise it is the inverse information. Either way rating_fit_done is due. */
int rating_fit_run(struct rating_fit *fit, bool sandwich);
void rating_fit_done(struct rating_fit *fit);

/* Probability that a scores against b, natural units. */
double rating_expected(double difference);

#endif
