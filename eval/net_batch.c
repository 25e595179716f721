#include "eval/net_batch.h"

#include <math.h>
#include <string.h>

#include <cblas.h>

/* Half of the hidden units; the compiler splits it into what registers there are. Lanes are never added to
 * each other, so every machine gets the same bits. */
typedef float lanes __attribute__((vector_size(64), aligned(64)));

enum { HALF = 16, STORES_FIRST = NET_INPUTS - WEIGHTS_NET_STORES };
_Static_assert(NET_HIDDEN == 2 * HALF, "two vectors hold the hidden units");

#define NET_INLINE static inline __attribute__((always_inline))

NET_INLINE void load_inputs(uint64_t key, uint16_t inputs[NET_ACTIVE])
{
    for (int house = 0; house < WEIGHTS_HOUSES; house++)
        inputs[house] = (uint16_t)(WEIGHTS_NET_COUNTS * house + features_count(key, house));
    int difference = features_difference(key);
    difference = difference > WEIGHTS_NET_DIFFERENCE ? WEIGHTS_NET_DIFFERENCE : difference;
    difference = difference < -WEIGHTS_NET_DIFFERENCE ? -WEIGHTS_NET_DIFFERENCE : difference;
    inputs[WEIGHTS_HOUSES] = (uint16_t)(STORES_FIRST + WEIGHTS_NET_DIFFERENCE + difference);
}

NET_INLINE void load(lanes *low, lanes *high, const float *from)
{
    memcpy(low, __builtin_assume_aligned(from, 64), sizeof *low);
    memcpy(high, __builtin_assume_aligned(from + HALF, 64), sizeof *high);
}

NET_INLINE void store(float *to, const lanes *low, const lanes *high)
{
    memcpy(__builtin_assume_aligned(to, 64), low, sizeof *low);
    memcpy(__builtin_assume_aligned(to + HALF, 64), high, sizeof *high);
}

NET_INLINE void clip(lanes *value)
{
    const lanes zero = {0}, one = zero + 1.0F;
    *value = (lanes)((*value > zero) & (__typeof__(*value > zero))*value);
    __typeof__(*value > one) above = *value > one;
    *value = (lanes)((above & (__typeof__(above))one) | (~above & (__typeof__(above))*value));
}

NET_INLINE void forward(struct net_part *part, const struct net *net, const struct merged *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t *inputs = part->inputs[i];
        lanes low, high, row_low, row_high;
        load_inputs(rows[i].key, inputs);
        load(&low, &high, net->bias);
        for (int k = 0; k < NET_ACTIVE; k++) {
            load(&row_low, &row_high, net->input[inputs[k]]);
            low += row_low;
            high += row_high;
        }
        clip(&low);
        clip(&high);
        store(part->hidden[i], &low, &high);
    }
}

/* The units inside their clip pass the gradient on to the thirteen rows that made them. */
NET_INLINE void backward(struct net_part *part, const struct net *net, size_t count)
{
    const lanes zero = {0}, one = zero + 1.0F;
    lanes out_low, out_high;
    load(&out_low, &out_high, net->output);
    for (size_t i = 0; i < count; i++) {
        const uint16_t *inputs = part->inputs[i];
        lanes low, high, sum_low, sum_high;
        load(&low, &high, part->hidden[i]);
        lanes step_low = out_low * part->error[i], step_high = out_high * part->error[i];
        step_low = (lanes)((low > zero) & (low < one) & (__typeof__(low > zero))step_low);
        step_high = (lanes)((high > zero) & (high < one) & (__typeof__(high > zero))step_high);
        load(&sum_low, &sum_high, part->gradient.bias);
        sum_low += step_low;
        sum_high += step_high;
        store(part->gradient.bias, &sum_low, &sum_high);
        for (int k = 0; k < NET_ACTIVE; k++) {
            float *row = part->gradient.input[inputs[k]];
            load(&sum_low, &sum_high, row);
            sum_low += step_low;
            sum_high += step_high;
            store(row, &sum_low, &sum_high);
        }
    }
}

/* Log odds to loss and its gradient. */
static void add_losses(struct net_part *part, const struct net *net, const struct merged *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float z = part->error[i] + net->output_bias, weight = rows[i].weight;
        float small = expf(-fabsf(z));
        float p = (z >= 0.0F ? 1.0F : small) / (1.0F + small);
        part->loss += (double)weight * (double)(fmaxf(z, 0.0F) + log1pf(small) - rows[i].target * z);
        part->weight += (double)weight;
        part->error[i] = weight * (p - rows[i].target);
    }
}

/* Both layers of all machines; `forward` and `backward` are compiled once for each. */
typedef void net_forward(struct net_part *part, const struct net *net, const struct merged *rows,
                         size_t count);
typedef void net_backward(struct net_part *part, const struct net *net, size_t count);

static void forward_plain(struct net_part *part, const struct net *net, const struct merged *rows,
                          size_t count)
{
    forward(part, net, rows, count);
}

static void backward_plain(struct net_part *part, const struct net *net, size_t count)
{
    backward(part, net, count);
}

#if defined(__x86_64__)

__attribute__((target("avx2"))) static void forward_avx2(struct net_part *part, const struct net *net,
                                                         const struct merged *rows, size_t count)
{
    forward(part, net, rows, count);
}

__attribute__((target("avx2"))) static void backward_avx2(struct net_part *part, const struct net *net,
                                                          size_t count)
{
    backward(part, net, count);
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

#else

#define forward_avx2  forward_plain
#define backward_avx2 backward_plain

static bool has_avx2(void)
{
    return false;
}

#endif

void net_part_clear(struct net_part *part)
{
    memset(&part->gradient, 0, sizeof part->gradient);
    part->loss = part->weight = 0.0;
}

void net_part_add(struct net_part *part, const struct net *net, const struct merged *rows, size_t count,
                  bool learn)
{
    bool wide = has_avx2();
    int n = (int)count;
    (wide ? forward_avx2 : forward_plain)(part, net, rows, count);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, 1, NET_HIDDEN, 1.0F, &part->hidden[0][0],
                NET_HIDDEN, net->output, 1, 0.0F, part->error, 1);
    add_losses(part, net, rows, count);
    if (!learn)
        return;
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, NET_HIDDEN, 1, n, 1.0F, &part->hidden[0][0],
                NET_HIDDEN, part->error, 1, 1.0F, part->gradient.output, 1);
    for (size_t i = 0; i < count; i++)
        part->gradient.output_bias += part->error[i];
    (wide ? backward_avx2 : backward_plain)(part, net, count);
}
