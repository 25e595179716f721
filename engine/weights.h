/* Weights of an evaluation and their file (DESIGN section 11, TRAINER "Two kinds in one weights format").
 * The file is described field by field in engine/README.md; its name is its sha256, which proto/ checks.
 * A struct weights is immutable once made and may be shared by threads. */
#ifndef KROO_ENGINE_WEIGHTS_H
#define KROO_ENGINE_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/position.h"
#include "engine/rules.h"
#include "engine/traits.h"

enum weights_kind { WEIGHTS_TABLE = 1, WEIGHTS_NET = 2, WEIGHTS_FEATURES = 3 };

enum {
    WEIGHTS_VERSION = 1,
    WEIGHTS_PHASES = 4,  /* seeds on the board: >= 36, 24-35, 12-23, < 12 */
    WEIGHTS_HOUSES = 12, /* mover's view: own A..F first */
    WEIGHTS_COUNTS = 13, /* of a `table`: 0..12; more counts as 12 */
    WEIGHTS_PHASE_PARAMETERS = 2 + WEIGHTS_HOUSES * WEIGHTS_COUNTS,
    WEIGHTS_TABLE_PARAMETERS = WEIGHTS_PHASES * WEIGHTS_PHASE_PARAMETERS, /* 632 */
    WEIGHTS_NET_COUNTS = 16,                                              /* 0..15; more counts as 15 */
    WEIGHTS_NET_DIFFERENCE = 25, /* a larger store difference counts as this, a smaller one as minus this */
    WEIGHTS_NET_STORES = 2 * WEIGHTS_NET_DIFFERENCE + 1,
    WEIGHTS_NET_INPUTS = WEIGHTS_HOUSES * WEIGHTS_NET_COUNTS + WEIGHTS_NET_STORES, /* 243 */
    WEIGHTS_NET_HIDDEN = 32,
    WEIGHTS_NET_ACTIVE = 127, /* largest value of a hidden unit */
    WEIGHTS_NET_PARAMETERS =
        WEIGHTS_NET_HIDDEN * (WEIGHTS_NET_INPUTS + 2) + 1, /* 7,841: two biases included */
    WEIGHTS_SHIFT_MAX = 14,
    WEIGHTS_VECTORS = 64,
    WEIGHTS_FILE_MAX = 1 << 20,       /* bytes; larger is refused before reading */
    WEIGHTS_PROVENANCE_MAX = 1 << 16, /* bytes of JSON */
};

enum weights_error {
    WEIGHTS_OK = 0,
    WEIGHTS_ERROR_READ = -1,
    WEIGHTS_ERROR_MAGIC = -2,
    WEIGHTS_ERROR_VERSION = -3,
    WEIGHTS_ERROR_SIZE = -4,
    WEIGHTS_ERROR_CHECKSUM = -5,
    WEIGHTS_ERROR_RULES = -6, /* made for other rules than asked for */
    WEIGHTS_ERROR_KIND = -7,
    WEIGHTS_ERROR_RANGE = -8,   /* a sum could leave int16 (of a net's output int32), or a shift its range */
    WEIGHTS_ERROR_VECTORS = -9, /* a test vector does not come out as the file says */
    WEIGHTS_ERROR_MEMORY = -10,
    WEIGHTS_ERROR_PROVENANCE = -11, /* no JSON object, or over WEIGHTS_PROVENANCE_MAX */
};

/* One phase of a `table`, int16 in hundredths of a seed times 2^shift. */
struct weights_phase {
    int16_t bias;
    int16_t store; /* a seed of difference, mover's store minus opponent's */
    int16_t house[WEIGHTS_HOUSES][WEIGHTS_COUNTS];
};

/* A `net`: the active input of each house and of the store difference (13 rows of `input`) and `bias` are
 * added, shifted right by `hidden_shift` and cut to 0..WEIGHTS_NET_ACTIVE; the sum of these times `output`,
 * and `output_bias`, is in hundredths of a seed times 2^shift. */
struct weights_net {
    /* row = house * WEIGHTS_NET_COUNTS + count, then WEIGHTS_NET_INPUTS - WEIGHTS_NET_STORES + difference +
     * 25 */
    int16_t input[WEIGHTS_NET_INPUTS][WEIGHTS_NET_HIDDEN];
    int16_t bias[WEIGHTS_NET_HIDDEN];
    int16_t output[WEIGHTS_NET_HIDDEN];
    int32_t output_bias;
    uint8_t hidden_shift; /* 0..WEIGHTS_SHIFT_MAX */
};

/* Explainable weights: one for each of traits.h, int16 in hundredths of a seed times 2^shift, by phase. */
struct weights_features {
    int16_t phases[WEIGHTS_PHASES][TRAITS];
};

struct weights_vector {
    struct position position;
    int32_t score; /* expected weights_evaluate, hundredths of a seed, mover's view */
};

struct board;
struct weights;
/* What evaluates these weights on this machine: chosen once, when they are made. */
typedef int32_t weights_kernel(const struct weights *weights, struct board board);

/* Made by the functions below only: the net begins a cache line. */
struct weights {
    union {
        _Alignas(64) struct weights_net net; /* kind WEIGHTS_NET */
        struct {                             /* kind WEIGHTS_TABLE */
            struct weights_phase phases[WEIGHTS_PHASES];
            /* The same houses with an entry for every count, so that looking one up clamps nothing. */
            int16_t counts[WEIGHTS_PHASES][WEIGHTS_HOUSES][POSITION_SEEDS + 1];
        };
        struct weights_features features; /* kind WEIGHTS_FEATURES */
    };
    weights_kernel *kernel; /* net and features; NULL for a table, which evaluate.h does inline */
    enum weights_kind kind;
    uint8_t shift;              /* score = sum >> shift (arithmetic) */
    int32_t per_logit;          /* hundredths of a seed in one unit of log odds; 0 = not calibrated */
    char rules[RULES_NAME_MAX]; /* canonical name of the rule set they were made for */
    char *provenance;           /* JSON text, owned; never NULL */
};

/* The built-in starting weights for `rules_name`: a caller owns the result. NULL when memory is short. */
struct weights *weights_create_starting(const char *rules_name);
/* Weights of each kind; `shift` (0..WEIGHTS_SHIFT_MAX) and ranges are checked, so that no sum leaves its type
 * in whatever order it is added. The parameters and `provenance` are copied. */
enum weights_error weights_create_table(const char *rules_name, uint8_t shift, int32_t per_logit,
                                        const struct weights_phase phases[WEIGHTS_PHASES],
                                        const char *provenance, struct weights **out);
enum weights_error weights_create_net(const char *rules_name, uint8_t shift, int32_t per_logit,
                                      const struct weights_net *net, const char *provenance,
                                      struct weights **out);
enum weights_error weights_create_features(const char *rules_name, uint8_t shift, int32_t per_logit,
                                           const struct weights_features *features, const char *provenance,
                                           struct weights **out);
void weights_destroy(struct weights *weights);

/* Reads a weights file from memory; `rules_name` non-NULL demands these rules. Checks magic, version, size,
 * checksum, ranges and every test vector. */
enum weights_error weights_parse(const void *bytes, size_t size, const char *rules_name,
                                 struct weights **out);
enum weights_error weights_load(const char *path, const char *rules_name, struct weights **out);
/* The file's bytes, test vectors computed here; `*bytes` is malloc'ed for the caller. The same weights give
 * the same bytes everywhere. */
enum weights_error weights_serialize(const struct weights *weights, void **bytes, size_t *size);
/* The WEIGHTS_VECTORS positions of the file (fixed, derived by mix.h from rules and index) with scores. */
enum weights_error weights_vectors(const struct weights *weights, struct weights_vector out[WEIGHTS_VECTORS]);
/* "table", "net" or "features"; NULL for no kind. */
const char *weights_kind_name(enum weights_kind kind);
/* 0 for no kind's name. */
enum weights_kind weights_kind_parse(const char *name);
/* A sentence for people that says what to do. */
const char *weights_error_text(enum weights_error error);

/* Hundredths of a seed, the mover's view, clamped to +-32000. */
int32_t weights_evaluate(const struct weights *weights, const struct position *position);
/* Phase 0..3 by seeds on the board. */
int weights_phase(int seeds_on_board);

#endif
