/* The net by vector extensions of GCC and Clang: the 32 hidden units are int16 lanes, an active input is a
 * row of 64 bytes to add. Which kernel a machine can run is asked once, when weights are made; no ifunc, so
 * sanitizers and static linking work. */
#include "engine/evaluate.h"

#define INLINE static inline __attribute__((always_inline))

enum { HIDDEN = WEIGHTS_NET_HIDDEN, ROWS = WEIGHTS_HOUSES + 1 };

int32_t evaluate_features(const struct weights *weights, struct board board)
{
    int16_t traits[TRAITS];
    const int16_t *phase = weights->features.phases[evaluate_board_phase(board)];
    int32_t sum = 0;
    traits_of(board, traits);
    for (int trait = 0; trait < TRAITS; trait++)
        sum += phase[trait] * traits[trait];
    return evaluate_score(weights, sum);
}

/* --- the active inputs --- */

INLINE const int16_t *store_row(const struct weights_net *net, struct board board)
{
    int difference = (int)board_store(board.own) - (int)board_store(board.other);
    difference = difference > WEIGHTS_NET_DIFFERENCE ? WEIGHTS_NET_DIFFERENCE : difference;
    difference = difference < -WEIGHTS_NET_DIFFERENCE ? -WEIGHTS_NET_DIFFERENCE : difference;
    return net->input[WEIGHTS_NET_INPUTS - WEIGHTS_NET_STORES + WEIGHTS_NET_DIFFERENCE + difference];
}

/* The counts of both rows, more than 15 as 15, times eight: an index into bytes is then one scaled address.
 */
INLINE struct board net_counts(struct board board)
{
    const uint64_t above = (BOARD_ONES & BOARD_ROW) * (0xff & ~(WEIGHTS_NET_COUNTS - 1));
    struct board counts = {board.own & BOARD_ROW, board.other & BOARD_ROW};
    /* rare, so a branch is cheaper than always clamping */
    if (__builtin_expect(((board.own | board.other) & above) != 0, 0)) {
        counts.own = evaluate_clamped(board.own, WEIGHTS_NET_COUNTS - 1);
        counts.other = evaluate_clamped(board.other, WEIGHTS_NET_COUNTS - 1);
    }
    return (struct board){counts.own << 3, counts.other << 3};
}

/* The row of house `house` (0..11). */
INLINE const void *house_row(const struct weights_net *net, struct board counts, int house)
{
    uint64_t row = house < BOARD_HOUSES ? counts.own : counts.other;
    uint64_t eighth = sizeof net->input[0] / 8;
    return (const char *)net->input[house * WEIGHTS_NET_COUNTS] +
           eighth * board_house(row, house % BOARD_HOUSES);
}

/* --- kernels --- */

/* Also the definition: what the others must give. */
static int32_t evaluate_net_plain(const struct weights *weights, struct board board)
{
    const struct weights_net *net = &weights->net;
    const int16_t *rows[ROWS];
    struct board counts = net_counts(board);
    for (int house = 0; house < WEIGHTS_HOUSES; house++)
        rows[house] = house_row(net, counts, house);
    rows[WEIGHTS_HOUSES] = store_row(net, board);
    int32_t sum = net->output_bias;
    for (int unit = 0; unit < HIDDEN; unit++) {
        int32_t value = net->bias[unit];
        for (int row = 0; row < ROWS; row++)
            value += rows[row][unit];
        value >>= net->hidden_shift;
        value = value < 0 ? 0 : value;
        sum += net->output[unit] * (value > WEIGHTS_NET_ACTIVE ? WEIGHTS_NET_ACTIVE : value);
    }
    return evaluate_score(weights, sum);
}

/* For each width of vectors: NAME_cut(v) cuts lanes to 0..WEIGHTS_NET_ACTIVE; NAME_pairs(a, b)[i] is
 * a[2i] * b[2i] + a[2i + 1] * b[2i + 1], which fits into int32, a product being at most 127 * 32768. */
#define LANES(NAME, BYTES)                                                                                   \
    typedef int16_t NAME##_lanes __attribute__((vector_size(BYTES), may_alias));                             \
    typedef int32_t NAME##_wide __attribute__((vector_size(BYTES), may_alias));

#define NET_KERNEL(NAME, BYTES, TARGET)                                                                      \
    TARGET static int32_t NAME(const struct weights *weights, struct board board)                            \
    {                                                                                                        \
        enum { VECTORS = 2 * HIDDEN / BYTES };                                                               \
        const struct weights_net *net = &weights->net;                                                       \
        const NAME##_lanes *bias = (const void *)net->bias, *output = (const void *)net->output;             \
        const NAME##_lanes *store = (const void *)store_row(net, board);                                     \
        struct board counts = net_counts(board);                                                             \
        NAME##_lanes sums[VECTORS];                                                                          \
        NAME##_wide total = {0};                                                                             \
        for (int i = 0; i < VECTORS; i++)                                                                    \
            sums[i] = bias[i] + store[i];                                                                    \
        _Pragma("GCC unroll 12") for (int house = 0; house < WEIGHTS_HOUSES; house++)                        \
        {                                                                                                    \
            const NAME##_lanes *row = house_row(net, counts, house);                                         \
            for (int i = 0; i < VECTORS; i++)                                                                \
                sums[i] += row[i];                                                                           \
        }                                                                                                    \
        for (int i = 0; i < VECTORS; i++)                                                                    \
            total += NAME##_pairs(NAME##_cut(sums[i] >> (int16_t)net->hidden_shift), output[i]);             \
        int32_t sum = net->output_bias;                                                                      \
        for (int i = 0; i < BYTES / 4; i++)                                                                  \
            sum += total[i];                                                                                 \
        return evaluate_score(weights, sum);                                                                 \
    }

LANES(evaluate_net_16, 16)

#ifdef __x86_64__

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

INLINE evaluate_net_16_lanes evaluate_net_16_cut(evaluate_net_16_lanes v)
{
    __m128i most = _mm_set1_epi16(WEIGHTS_NET_ACTIVE);
    return (evaluate_net_16_lanes)_mm_max_epi16(_mm_min_epi16((__m128i)v, most), _mm_setzero_si128());
}

INLINE evaluate_net_16_wide evaluate_net_16_pairs(evaluate_net_16_lanes a, evaluate_net_16_lanes b)
{
    return (evaluate_net_16_wide)_mm_madd_epi16((__m128i)a, (__m128i)b);
}

LANES(evaluate_net_avx2, 32)

AVX2 INLINE evaluate_net_avx2_lanes evaluate_net_avx2_cut(evaluate_net_avx2_lanes v)
{
    __m256i most = _mm256_set1_epi16(WEIGHTS_NET_ACTIVE);
    return (evaluate_net_avx2_lanes)_mm256_max_epi16(_mm256_min_epi16((__m256i)v, most),
                                                     _mm256_setzero_si256());
}

AVX2 INLINE evaluate_net_avx2_wide evaluate_net_avx2_pairs(evaluate_net_avx2_lanes a,
                                                           evaluate_net_avx2_lanes b)
{
    return (evaluate_net_avx2_wide)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}

NET_KERNEL(evaluate_net_avx2, 32, AVX2)

static size_t runnable(void)
{
    return __builtin_cpu_supports("avx2") ? 3 : 2;
}

#else

INLINE evaluate_net_16_lanes evaluate_net_16_cut(evaluate_net_16_lanes v)
{
    const evaluate_net_16_lanes zero = {0}, most = zero + WEIGHTS_NET_ACTIVE;
    evaluate_net_16_lanes above = v > most;
    return ((v & ~above) | (most & above)) & (v > zero);
}

/* Neighbours share a 32-bit lane, and which of them is the upper half is the same in both operands. */
INLINE evaluate_net_16_wide evaluate_net_16_pairs(evaluate_net_16_lanes a, evaluate_net_16_lanes b)
{
    evaluate_net_16_wide x = (evaluate_net_16_wide)a, y = (evaluate_net_16_wide)b;
    return ((x << 16) >> 16) * ((y << 16) >> 16) + (x >> 16) * (y >> 16);
}

static size_t runnable(void)
{
    return 2;
}

#endif

NET_KERNEL(evaluate_net_16, 16, )

static const struct evaluate_net nets[] = {
    {"plain", evaluate_net_plain},
    {"vectors of 16 bytes", evaluate_net_16},
#ifdef __x86_64__
    {"avx2", evaluate_net_avx2},
#endif
};

const struct evaluate_net *evaluate_nets(size_t *count)
{
    *count = runnable();
    return nets;
}
