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

/* The row of house `house` (0..11) out of its side's clamped counts. */
INLINE const int16_t *house_row(const struct weights_net *net, uint64_t clamped, int house)
{
    return net->input[house * WEIGHTS_NET_COUNTS + (int)board_house(clamped, house % BOARD_HOUSES)];
}

/* --- kernels --- */

/* Also the definition: what the others must give. */
static int32_t evaluate_net_plain(const struct weights *weights, struct board board)
{
    const struct weights_net *net = &weights->net;
    const int16_t *rows[ROWS];
    uint64_t own = evaluate_clamped(board.own, WEIGHTS_NET_COUNTS - 1);
    uint64_t other = evaluate_clamped(board.other, WEIGHTS_NET_COUNTS - 1);
    for (int house = 0; house < WEIGHTS_HOUSES; house++)
        rows[house] = house_row(net, house < BOARD_HOUSES ? own : other, house);
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

/* Sums of the products of neighbours: NAME_pairs(a, b)[i] = a[2i] * b[2i] + a[2i + 1] * b[2i + 1]. A product
 * fits into int32, being at most 127 * 32768. */
#define LANES(NAME, BYTES)                                                                                   \
    typedef int16_t NAME##_lanes __attribute__((vector_size(BYTES), may_alias));                             \
    typedef int32_t NAME##_wide __attribute__((vector_size(BYTES), may_alias));

#define NET_KERNEL(NAME, BYTES, TARGET)                                                                      \
    TARGET static int32_t NAME(const struct weights *weights, struct board board)                            \
    {                                                                                                        \
        enum { VECTORS = 2 * HIDDEN / BYTES };                                                               \
        const struct weights_net *net = &weights->net;                                                       \
        uint64_t own = evaluate_clamped(board.own, WEIGHTS_NET_COUNTS - 1);                                  \
        uint64_t other = evaluate_clamped(board.other, WEIGHTS_NET_COUNTS - 1);                              \
        const NAME##_lanes *bias = (const void *)net->bias, *output = (const void *)net->output;             \
        const NAME##_lanes *store = (const void *)store_row(net, board);                                     \
        const NAME##_lanes zero = {0}, most = zero + WEIGHTS_NET_ACTIVE;                                     \
        NAME##_lanes sums[VECTORS];                                                                          \
        NAME##_wide total = {0};                                                                             \
        for (int i = 0; i < VECTORS; i++)                                                                    \
            sums[i] = bias[i] + store[i];                                                                    \
        _Pragma("GCC unroll 12") for (int house = 0; house < WEIGHTS_HOUSES; house++)                        \
        {                                                                                                    \
            const NAME##_lanes *row =                                                                        \
                (const void *)house_row(net, house < BOARD_HOUSES ? own : other, house);                     \
            for (int i = 0; i < VECTORS; i++)                                                                \
                sums[i] += row[i];                                                                           \
        }                                                                                                    \
        for (int i = 0; i < VECTORS; i++) {                                                                  \
            NAME##_lanes value = sums[i] >> (int16_t)net->hidden_shift;                                      \
            NAME##_lanes above = value > most;                                                               \
            value = ((value & ~above) | (most & above)) & (value > zero);                                    \
            total += NAME##_pairs(value, output[i]);                                                         \
        }                                                                                                    \
        int32_t sum = net->output_bias;                                                                      \
        for (int i = 0; i < BYTES / 4; i++)                                                                  \
            sum += total[i];                                                                                 \
        return evaluate_score(weights, sum);                                                                 \
    }

LANES(evaluate_net_16, 16)

#ifdef __x86_64__
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

INLINE evaluate_net_16_wide evaluate_net_16_pairs(evaluate_net_16_lanes a, evaluate_net_16_lanes b)
{
    return (evaluate_net_16_wide)_mm_madd_epi16((__m128i)a, (__m128i)b);
}

NET_KERNEL(evaluate_net_16, 16, )

LANES(evaluate_net_avx2, 32)

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

/* Neighbours share a 32-bit lane, and which of them is the upper half is the same in both operands. */
INLINE evaluate_net_16_wide evaluate_net_16_pairs(evaluate_net_16_lanes a, evaluate_net_16_lanes b)
{
    evaluate_net_16_wide x = (evaluate_net_16_wide)a, y = (evaluate_net_16_wide)b;
    return ((x << 16) >> 16) * ((y << 16) >> 16) + (x >> 16) * (y >> 16);
}

NET_KERNEL(evaluate_net_16, 16, )

static size_t runnable(void)
{
    return 2;
}

#endif

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
