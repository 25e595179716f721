#include "eval/net.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cblas.h>

#include "engine/mix.h"
#include "eval/net_batch.h"
#include "eval/net_checkpoint.h"
#include "eval/shards.h"

enum { FLOATS = sizeof(struct net) / sizeof(float), STORES_FIRST = NET_INPUTS - WEIGHTS_NET_STORES };

static const float beta1 = 0.9F, beta2 = 0.999F, tiny = 1e-8F;

/* Where threads wait for each other. */
struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t all;
    unsigned expected, waiting, round;
};

struct run {
    const struct merged *rows;
    size_t count, blocks, block_rows; /* an epoch is an order of blocks; the last one may be short */
    const struct rows *validation;
    struct row_targets targets;
    const struct net_options *options;
    net_report *report;
    void *context;
    double mean_weight;

    struct net_state *state;
    uint32_t *order;             /* of the blocks, drawn for each epoch */
    struct net_part *parts;      /* NET_PARTS */
    struct net_part *validators; /* SHARDS, less their gradients' use */
    size_t batch_first;          /* of the batch at hand, in `order` */
    pthread_t threads[NET_PARTS];
    unsigned thread_count; /* helpers */
    struct meeting begin, end;
    atomic_uint next_part;
    bool leave;
};

/* --- helpers --- */

/* The number is known only when all helpers that could be started are: until then nobody passes. */
static void meet(struct meeting *meeting)
{
    pthread_mutex_lock(&meeting->lock);
    unsigned round = meeting->round;
    if (++meeting->waiting == meeting->expected) {
        meeting->waiting = 0;
        meeting->round++;
        pthread_cond_broadcast(&meeting->all);
    }
    while (meeting->round == round)
        pthread_cond_wait(&meeting->all, &meeting->lock);
    pthread_mutex_unlock(&meeting->lock);
}

static void meeting_init(struct meeting *meeting)
{
    *meeting = (struct meeting){.expected = UINT_MAX};
    pthread_mutex_init(&meeting->lock, NULL);
    pthread_cond_init(&meeting->all, NULL);
}

static void meeting_expect(struct meeting *meeting, unsigned expected)
{
    pthread_mutex_lock(&meeting->lock);
    meeting->expected = expected;
    pthread_mutex_unlock(&meeting->lock);
}

static void meeting_done(struct meeting *meeting)
{
    pthread_mutex_destroy(&meeting->lock);
    pthread_cond_destroy(&meeting->all);
}

/* --- a batch: NET_PARTS parts of blocks_per_part blocks --- */

static size_t blocks_per_part(const struct run *run)
{
    return run->options->batch / NET_PARTS / run->block_rows;
}

static void add_part(struct run *run, unsigned number)
{
    struct net_part *part = &run->parts[number];
    size_t each = blocks_per_part(run), first = run->batch_first + number * each;
    net_part_clear(part);
    for (size_t i = first; i < first + each && i < run->blocks; i++) {
        size_t row = run->order[i] * run->block_rows;
        size_t rows = run->count - row < run->block_rows ? run->count - row : run->block_rows;
        net_part_add(part, &run->state->net, run->rows + row, rows, true);
    }
}

static void add_parts(struct run *run)
{
    for (unsigned part; (part = atomic_fetch_add(&run->next_part, 1)) < NET_PARTS;)
        add_part(run, part);
}

static void *help(void *argument)
{
    struct run *run = argument;
    for (;;) {
        meet(&run->begin);
        if (run->leave)
            return NULL;
        add_parts(run);
        meet(&run->end);
    }
}

/* Parts are added in their order, whoever made them. */
static void sum_parts(struct run *run, double *loss, double *weight)
{
    float *sum = (float *)&run->parts[0].gradient;
    for (int number = 1; number < NET_PARTS; number++) {
        const float *part = (const float *)&run->parts[number].gradient;
        for (int i = 0; i < FLOATS; i++)
            sum[i] += part[i];
    }
    *loss = *weight = 0.0;
    for (int number = 0; number < NET_PARTS; number++) {
        *loss += run->parts[number].loss;
        *weight += run->parts[number].weight;
    }
}

/* Adam with its bias corrections folded into the rate. The gradient is that of the mean loss of a batch of
 * mean weight: one heavy position must not shrink the steps of the rest. */
static void step(struct run *run, double rate, double rows)
{
    struct net_state *state = run->state;
    float *net = (float *)&state->net, *m = (float *)&state->first, *v = (float *)&state->second;
    const float *gradient = (const float *)&run->parts[0].gradient;
    state->steps++;
    double t = (double)state->steps;
    float scale = (float)(1.0 / (rows * run->mean_weight));
    float size = (float)(rate * sqrt(1.0 - pow((double)beta2, t)) / (1.0 - pow((double)beta1, t)));
    for (int i = 0; i < FLOATS; i++) {
        float g = gradient[i] * scale;
        m[i] = beta1 * m[i] + (1.0F - beta1) * g;
        v[i] = beta2 * v[i] + (1.0F - beta2) * g * g;
        net[i] -= size * m[i] / (sqrtf(v[i]) + tiny);
    }
}

static size_t run_batch(struct run *run, double rate, double *loss, double *weight)
{
    size_t blocks = blocks_per_part(run) * NET_PARTS, first = run->batch_first * run->block_rows;
    size_t rows = run->batch_first + blocks >= run->blocks ? run->count - first : blocks * run->block_rows;
    atomic_store(&run->next_part, 0);
    if (run->thread_count > 0)
        meet(&run->begin);
    add_parts(run);
    if (run->thread_count > 0)
        meet(&run->end);
    sum_parts(run, loss, weight);
    step(run, rate, (double)rows);
    return rows;
}

/* --- validation --- */

static void validate_shard(void *context, unsigned shard)
{
    struct run *run = context;
    struct net_part *part = &run->validators[shard];
    struct merged rows[NET_BLOCK];
    size_t first = shards_first(run->validation->count, shard);
    size_t end = shards_first(run->validation->count, shard + 1);
    part->loss = part->weight = 0.0;
    while (first < end) {
        size_t used = 0;
        for (; used < NET_BLOCK && first < end; used++, first++) {
            const struct row *row = &run->validation->items[first];
            rows[used] =
                (struct merged){.key = row->key,
                                .target = (float)row_target(row, run->targets.lambda, run->targets.k),
                                .weight = 1.0F};
        }
        net_part_add(part, &run->state->net, rows, used, false);
    }
}

static double validate(struct run *run)
{
    double loss = 0.0, weight = 0.0;
    if (run->validation->count == 0)
        return 0.0;
    shards_run(run->options->threads, validate_shard, run);
    for (int shard = 0; shard < SHARDS; shard++) {
        loss += run->validators[shard].loss;
        weight += run->validators[shard].weight;
    }
    return loss / weight;
}

/* --- epochs --- */

/* A third of the rate from the half on, a tenth from three quarters, a thirtieth for the last eighth. */
static double rate_of(const struct net_options *options, unsigned epoch)
{
    unsigned eighth = 8 * epoch / options->epochs;
    double factor = eighth < 4 ? 1.0 : eighth < 6 ? 1.0 / 3.0 : eighth < 7 ? 0.1 : 1.0 / 30.0;
    return options->rate * factor;
}

/* The order of one epoch is a function of (seed, epoch). A short block stays the last one. */
static void draw_order(struct run *run, unsigned epoch)
{
    uint64_t seed = mix(mix(run->options->seed, 2), epoch);
    size_t whole = run->count / run->block_rows;
    for (size_t i = 0; i < run->blocks; i++)
        run->order[i] = (uint32_t)i;
    for (size_t i = whole; i > 1; i--) {
        size_t other = mix_below(mix(seed, i), (uint32_t)i);
        uint32_t held = run->order[i - 1];
        run->order[i - 1] = run->order[other];
        run->order[other] = held;
    }
}

static bool net_finite(const struct net *net)
{
    const float *values = (const float *)net;
    bool finite = true;
    for (int i = 0; i < FLOATS; i++)
        finite = finite && isfinite(values[i]);
    return finite;
}

static enum net_error run_epoch(struct run *run, unsigned epoch)
{
    struct net_state *state = run->state;
    struct net_epoch *entry = &state->curve[epoch];
    double loss = 0.0, weight = 0.0;
    uint64_t done = (uint64_t)epoch * run->count;
    double last = epoch > 0 ? state->curve[epoch - 1].validation : 0.0;
    entry->rate = rate_of(run->options, epoch);
    draw_order(run, epoch);
    for (run->batch_first = 0; run->batch_first < run->blocks;
         run->batch_first += blocks_per_part(run) * NET_PARTS) {
        double batch_loss, batch_weight;
        done += run_batch(run, entry->rate, &batch_loss, &batch_weight);
        loss += batch_loss;
        weight += batch_weight;
        if (run->report && run->report(run->context, done, epoch + 1, loss / weight, last) != 0)
            return NET_ERROR_STOPPED;
    }
    entry->training = loss / weight;
    entry->validation = validate(run);
    if (!isfinite(entry->training) || !isfinite(entry->validation) || !net_finite(&state->net))
        return NET_ERROR_NUMBER;
    state->epochs = epoch + 1;
    bool unjudged = run->validation->count == 0;
    if (unjudged || state->best_epoch == 0 ||
        entry->validation < state->curve[state->best_epoch - 1].validation) {
        state->best = state->net;
        state->best_epoch = epoch + 1;
    }
    return NET_OK;
}

/* --- start and end --- */

static float uniform(uint64_t seed, uint64_t number, float size)
{
    double draw = (double)(mix(seed, number) >> 11) * 0x1p-53;
    return size * (float)(2.0 * draw - 1.0);
}

/* Units start in the middle of their clip. */
static void draw_net(struct net *net, uint64_t run_seed)
{
    uint64_t seed = mix(run_seed, 1);
    for (uint64_t i = 0; i < NET_INPUTS * NET_HIDDEN; i++)
        net->input[i / NET_HIDDEN][i % NET_HIDDEN] = uniform(seed, i, 0.1F);
    for (uint64_t j = 0; j < NET_HIDDEN; j++) {
        net->bias[j] = 0.5F;
        net->output[j] = uniform(seed, NET_INPUTS * NET_HIDDEN + j, 0.5F);
    }
}

static bool rows_finite(const struct merged *rows, size_t count, double *mean_weight)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        if (!(rows[i].target >= 0.0F && rows[i].target <= 1.0F) || !(rows[i].weight > 0.0F) ||
            !isfinite(rows[i].weight))
            return false;
        sum += (double)rows[i].weight;
    }
    *mean_weight = sum / (double)count;
    return true;
}

static bool run_init(struct run *run)
{
    size_t part = run->options->batch / NET_PARTS;
    run->block_rows = part < NET_BLOCK ? part : NET_BLOCK;
    while (part % run->block_rows != 0)
        run->block_rows--;
    run->blocks = (run->count + run->block_rows - 1) / run->block_rows;
    run->state = aligned_alloc(64, sizeof *run->state);
    run->parts = aligned_alloc(64, NET_PARTS * sizeof *run->parts);
    run->validators = aligned_alloc(64, SHARDS * sizeof *run->validators);
    run->order = malloc(run->blocks * sizeof *run->order);
    if (!run->state || !run->parts || !run->validators || !run->order)
        return false;
    memset(run->state, 0, sizeof *run->state);
    memset(run->parts, 0, NET_PARTS * sizeof *run->parts);
    memcpy(run->state->identity, run->options->identity, sizeof run->state->identity);
    draw_net(&run->state->net, run->options->seed);
    openblas_set_num_threads(1); /* ours are the threads */
    return true;
}

/* A helper that cannot be started is done without. */
static void start_threads(struct run *run)
{
    unsigned wanted = run->options->threads > NET_PARTS ? NET_PARTS : run->options->threads;
    meeting_init(&run->begin);
    meeting_init(&run->end);
    while (run->thread_count + 1 < wanted &&
           pthread_create(&run->threads[run->thread_count], NULL, help, run) == 0)
        run->thread_count++;
    meeting_expect(&run->begin, run->thread_count + 1);
    meeting_expect(&run->end, run->thread_count + 1);
}

static void end_threads(struct run *run)
{
    run->leave = true;
    if (run->thread_count > 0)
        meet(&run->begin);
    while (run->thread_count > 0)
        pthread_join(run->threads[--run->thread_count], NULL);
    meeting_done(&run->begin);
    meeting_done(&run->end);
}

static enum net_error run_epochs(struct run *run, char *reason, size_t reason_size)
{
    const char *path = run->options->checkpoint;
    enum net_error error = NET_OK;
    for (unsigned epoch = run->state->epochs; epoch < run->options->epochs; epoch++) {
        error = run_epoch(run, epoch);
        if (error != NET_OK)
            break;
        if (path && !net_checkpoint_write(path, run->state, reason, reason_size))
            return NET_ERROR_CHECKPOINT;
    }
    if (error == NET_ERROR_NUMBER)
        snprintf(reason, reason_size,
                 "a NaN or an infinity turned up in the net; give a smaller --rate; nothing was kept");
    if (error == NET_ERROR_STOPPED)
        snprintf(reason, reason_size,
                 path ? "stopped on request; the same command goes on from the checkpoint"
                      : "stopped on request");
    return error;
}

static void take_result(const struct run *run, unsigned resumed, struct net_fit *out)
{
    const struct net_state *state = run->state;
    out->net = state->best;
    out->epochs = state->epochs;
    out->best = state->best_epoch;
    out->resumed = resumed;
    memcpy(out->curve, state->curve, sizeof out->curve);
}

static void run_done(struct run *run)
{
    free(run->state);
    free(run->parts);
    free(run->validators);
    free(run->order);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

enum net_error net_run(const struct merged *rows, size_t count, const struct rows *validation,
                       struct row_targets targets, const struct net_options *options, net_report *report,
                       void *context, struct net_fit *out, char *reason, size_t reason_size)
{
    struct run run = {.rows = rows,
                      .count = count,
                      .validation = validation,
                      .targets = targets,
                      .options = options,
                      .report = report,
                      .context = context};
    if (count < WEIGHTS_NET_PARAMETERS) {
        snprintf(reason, reason_size,
                 "%zu distinct positions for the %d parameters of a net; train on more games, or fit --kind "
                 "table",
                 count, WEIGHTS_NET_PARAMETERS);
        return NET_ERROR_ROWS;
    }
    if (!rows_finite(rows, count, &run.mean_weight)) {
        snprintf(reason, reason_size, "a NaN or an infinity is in the targets; nothing was kept");
        return NET_ERROR_NUMBER;
    }
    enum net_error error = NET_ERROR_MEMORY;
    snprintf(reason, reason_size, "memory is short; use fewer games");
    double start = now_s();
    if (run_init(&run)) {
        error = net_checkpoint_read(options->checkpoint, run.state, reason, reason_size);
        unsigned resumed = run.state->epochs;
        if (error == NET_OK) {
            start_threads(&run);
            error = run_epochs(&run, reason, reason_size);
            end_threads(&run);
        }
        take_result(&run, resumed, out);
        out->seconds = now_s() - start;
    }
    run_done(&run);
    return error;
}

unsigned net_batch(size_t count)
{
    size_t batch = count / 512 / 64 * 64;
    return batch < NET_BATCH_LOW ? NET_BATCH_LOW : batch > NET_BATCH_HIGH ? NET_BATCH_HIGH : (unsigned)batch;
}

/* --- one position --- */

double net_logit(const struct net *net, uint64_t key)
{
    int difference = features_difference(key);
    difference = difference > WEIGHTS_NET_DIFFERENCE ? WEIGHTS_NET_DIFFERENCE : difference;
    difference = difference < -WEIGHTS_NET_DIFFERENCE ? -WEIGHTS_NET_DIFFERENCE : difference;
    double sum = (double)net->output_bias;
    for (int j = 0; j < NET_HIDDEN; j++) {
        double unit =
            (double)net->bias[j] + (double)net->input[STORES_FIRST + WEIGHTS_NET_DIFFERENCE + difference][j];
        for (int house = 0; house < WEIGHTS_HOUSES; house++)
            unit += (double)net->input[WEIGHTS_NET_COUNTS * house + features_count(key, house)][j];
        sum += (double)net->output[j] * fmin(fmax(unit, 0.0), 1.0);
    }
    return sum;
}

double net_seed_value(const struct net *net, const struct merged *rows, size_t count)
{
    const uint64_t seed = UINT64_C(1) << 48;
    double sum = 0.0, weight = 0.0;
    for (size_t i = 0; i < count; i++) {
        if (abs(features_difference(rows[i].key)) >= WEIGHTS_NET_DIFFERENCE)
            continue;
        double slope = net_logit(net, rows[i].key + seed) - net_logit(net, rows[i].key - seed);
        sum += 0.5 * slope * (double)rows[i].weight;
        weight += (double)rows[i].weight;
    }
    return weight > 0.0 ? sum / weight : 0.0;
}
