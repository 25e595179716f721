/* The numbers a user trusts: Elo with its interval, LOS, normalized Elo and the generalised log-likelihood
 * ratio, from counts (STATISTICS.md). Pure and without state: any thread, any number of them.
 *
 * Every function gives finite numbers for every sample that statistics_sample_set accepted; only
 * statistics_llr can leave the range of a double, for bounds beyond 1e280, and says so. */
#ifndef KROO_COORDINATOR_STATISTICS_H
#define KROO_COORDINATOR_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Raised whenever a formula or constant here or in sprt.h changes; stands beside every LLR shown or stored.
 */
enum { STATISTICS_FORMULA_VERSION = 1 };

enum { STATISTICS_GAME_BINS = 3, STATISTICS_PAIR_BINS = 5, STATISTICS_PAIR_COUNTS = 6 };

/* Counts above this are refused: the sum must stay an exact double. */
#define STATISTICS_COUNT_MAX INT64_C(1000000000000000)

/* What a zero bin is worth in the formulas; never reported as games. */
#define STATISTICS_EMPTY_BIN 0.001

enum statistics_model { STATISTICS_NORMALIZED = 1, STATISTICS_LOGISTIC = 2 };

/* "normalized" or "logistic". */
const char *statistics_model_name(enum statistics_model model);
/* 0, or -1 when `name` is neither. */
int statistics_model_parse(const char *name, enum statistics_model *model);
/* The order of 3, 5 or 6 counts in words, to print beside them: "LL, LD, DD+WL, WD, WW"; NULL for another. */
const char *statistics_order_name(size_t count_length);

/* A pair's place among the six stored counts, from player a's two half-point scores (0, 1, 2):
 * LL, LD, DD, WL, DW, WW are 0..5. The five bins of the formulas join DD and WL. */
enum statistics_pair { PAIR_LL = 0, PAIR_LD = 1, PAIR_DD = 2, PAIR_WL = 3, PAIR_DW = 4, PAIR_WW = 5 };
enum statistics_pair statistics_pair_class(unsigned score_leg0, unsigned score_leg1);
/* The bin 0..4 of a class. */
unsigned statistics_pair_bin(enum statistics_pair pair);

/* Shares of the bins, empty bins filled. */
struct statistics_sample {
    unsigned bins; /* 3: a sample is a game; 5: a pair */
    double total;  /* samples, fillings included */
    double p[STATISTICS_PAIR_BINS];
    double mean;     /* of the sample's score, 0..1 */
    double variance; /* of the sample's score */
};

enum statistics_error { STATISTICS_LENGTH = -1, STATISTICS_NEGATIVE = -2, STATISTICS_HUGE = -3 };

/* 3 counts are L, D, W games; 5 are LL, LD, DD+WL, WD, WW pairs; 6 are LL, LD, DD, WL, DW, WW pairs.
 * 0 or a negative statistics_error, without effect. All zeros are allowed: every bin is then empty. */
int statistics_sample_set(struct statistics_sample *sample, const int64_t *counts, size_t count_length);
const char *statistics_error_text(int error);

/* Variance of one game's score: of the sample, times two for pairs. */
double statistics_game_variance(const struct statistics_sample *sample);

/* Elo of a score, clamped to [0.001, 0.999]. */
double statistics_elo(double score);

struct statistics_estimate {
    double score;          /* mean, not clamped */
    double elo;            /* of the clamped mean */
    double elo_lo, elo_hi; /* 95 % by empirical likelihood, ends within +-2400; asymmetric */
    double los;            /* likelihood that player a is the stronger */
    double nelo;           /* normalized Elo */
};
void statistics_estimate(const struct statistics_sample *sample, struct statistics_estimate *estimate);

/* 95 % interval of a share of which `hits` in `trials` were seen (Wilson's score interval); 0 to 1 without
 * trials. */
void statistics_share_interval(uint64_t hits, uint64_t trials, double *low, double *high);

/* The generalised log-likelihood ratio of elo1 against elo0 under either model. Any finite bounds. 0, or -1
 * when a bound is not finite or the ratio lies outside the range of a double; *llr is then 0. */
int statistics_llr(const struct statistics_sample *sample, enum statistics_model model, double elo0,
                   double elo1, double *llr);

/* The normalized ratio by the fixed point alone (false where it breaks: wide bounds) and by the global solver
 * alone. For the tests that hold one against the other; everything else calls statistics_llr. */
bool statistics_llr_fixed_point(const struct statistics_sample *sample, double nelo0, double nelo1,
                                double *llr);
double statistics_llr_global(const struct statistics_sample *sample, double nelo0, double nelo1);

#endif
