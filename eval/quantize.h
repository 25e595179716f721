/* Log odds to the integers of a weights file (TRAINER "Two kinds in one weights format"). One unit of log
 * odds becomes `per_logit` hundredths of a seed, so chosen that a seed of store difference, averaged over the
 * training positions' phases, is worth 100; then times 2^shift with the largest shift up to
 * QUANTIZE_SHIFT_MAX that keeps every sum in int16. Pure; any thread. */
#ifndef KROO_EVAL_QUANTIZE_H
#define KROO_EVAL_QUANTIZE_H

#include "engine/weights.h"
#include "eval/fit.h"
#include "eval/net.h"

enum {
    QUANTIZE_SHIFT_MAX = 6,
    QUANTIZE_NET_SHIFT_MAX = 10,
    QUANTIZE_PER_LOGIT_MIN = 20,
    QUANTIZE_PER_LOGIT_MAX = 4000
};

enum quantize_error {
    QUANTIZE_OK = 0,
    QUANTIZE_ERROR_NUMBER = -1, /* NaN or infinity */
    QUANTIZE_ERROR_RANGE = -2,  /* a sum could leave int16 even without a shift: more ridge */
    QUANTIZE_ERROR_STORE = -3,  /* a seed more in the store is worth nothing, or absurdly much */
};

struct quantized {
    enum weights_kind kind;
    uint8_t shift;
    int32_t per_logit;
    union {
        struct weights_phase phases[WEIGHTS_PHASES];
        struct weights_features features;
        struct weights_net net;
    };
};

/* `kind` is WEIGHTS_TABLE or WEIGHTS_FEATURES. */
enum quantize_error quantize_fit(const struct fit *fit, enum weights_kind kind, struct quantized *out);
/* `seed` is the log odds of a seed in the store (net_seed_value). */
enum quantize_error quantize_net(const struct net *net, double seed, struct quantized *out);
/* The engine's weights. */
enum weights_error quantize_weights(const struct quantized *quantized, const char *rules,
                                    const char *provenance, struct weights **out);
const char *quantize_error_text(enum quantize_error error);

/* Largest |integer score - real-valued score| over the rows, hundredths of a seed. */
double quantize_largest_error(const struct fit *fit, const struct weights *weights, const struct merged *rows,
                              size_t count);
double quantize_net_largest_error(const struct net *net, const struct weights *weights,
                                  const struct merged *rows, size_t count);

#endif
