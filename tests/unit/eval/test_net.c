#include "eval/net.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "eval/net_batch.h"
#include "eval/quantize.h"
#include "tests/unit/check.h"
#include "tests/unit/eval/synthetic.h"

enum { ROWS = 60000 };

struct data {
    struct rows rows, validation;
    struct merged *merged;
    size_t count;
};

static const struct row_targets results = {1.0, 0.0};

static struct net *new_net(uint64_t seed, float size)
{
    struct net *net = aligned_alloc(64, sizeof *net);
    float *values = (float *)net;
    for (size_t i = 0; i < sizeof *net / sizeof(float); i++)
        values[i] = size * (float)(2.0 * synthetic_uniform(mix(seed, i)) - 1.0);
    for (int j = 0; j < NET_HIDDEN; j++)
        net->bias[j] += 0.5F;
    return net;
}

/* A net that knows what a seed is worth and has its own idea of the houses. */
static struct net *true_net(void)
{
    struct net *net = new_net(77, 0.12F);
    for (int difference = -WEIGHTS_NET_DIFFERENCE; difference <= WEIGHTS_NET_DIFFERENCE; difference++)
        for (int j = 0; j < NET_HIDDEN; j++)
            net->input[NET_INPUTS - WEIGHTS_NET_DIFFERENCE - 1 + difference][j] =
                0.03F * (float)difference * (j % 2 == 0 ? 1.0F : -1.0F);
    for (int j = 0; j < NET_HIDDEN; j++)
        net->output[j] = 0.4F * (j % 2 == 0 ? 1.0F : -1.0F);
    net->output_bias = 0.0F;
    return net;
}

static void draw_rows(const struct net *truth, uint64_t seed, size_t count, struct rows *rows)
{
    uint64_t *keys = malloc(count * sizeof *keys);
    synthetic_keys(seed, keys, count);
    rows_init(rows, count);
    for (size_t i = 0; i < count; i++) {
        double p = 1.0 / (1.0 + exp(-net_logit(truth, keys[i])));
        struct row row = {.key = keys[i],
                          .game = (uint32_t)(i / 100),
                          .score = PLAY_NO_SCORE,
                          .half_points = synthetic_uniform(mix(mix(seed, 7), i)) < p ? 2 : 0};
        rows_add(rows, &row);
    }
    free(keys);
}

static int set_up(void **state)
{
    struct data *data = calloc(1, sizeof *data);
    struct net *truth = true_net();
    draw_rows(truth, 3, ROWS, &data->rows);
    draw_rows(truth, 4, ROWS / 6, &data->validation);
    rows_sort(&data->rows);
    data->merged = rows_merge(&data->rows, 1.0, 1.0, 0.0, &data->count);
    rows_shuffle(data->merged, data->count);
    free(truth);
    *state = data;
    return 0;
}

static int tear_down(void **state)
{
    struct data *data = *state;
    rows_done(&data->rows);
    rows_done(&data->validation);
    free(data);
    return 0;
}

static struct net_fit *run(const struct data *data, const struct net_options *options,
                           enum net_error expected, net_report *report, void *context)
{
    char reason[512] = "";
    struct net_fit *fit = aligned_alloc(64, sizeof *fit);
    memset(fit, 0, sizeof *fit);
    enum net_error error = net_run(data->merged, data->count, &data->validation, results, options, report,
                                   context, fit, reason, sizeof reason);
    if (error != expected)
        fail_msg("error %d: %s", error, reason);
    return fit;
}

static const struct net_options quick = {.threads = 1, .epochs = 3, .batch = 512, .rate = 2e-3, .seed = 1};

/* The loss and gradient of a block against the loss written out again and its differences. */
static void gradient_is_that_of_the_loss(void **state)
{
    const struct data *data = *state;
    enum { COUNT = 200 };
    struct net *net = new_net(5, 0.15F);
    struct net_part *part = aligned_alloc(64, sizeof *part), *moved = aligned_alloc(64, sizeof *moved);
    net_part_clear(part);
    net_part_add(part, net, data->merged, COUNT, true);
    double loss = 0.0;
    for (int i = 0; i < COUNT; i++) {
        double z = net_logit(net, data->merged[i].key);
        loss += (double)data->merged[i].weight *
                (log1p(exp(-fabs(z))) + fmax(z, 0.0) - (double)data->merged[i].target * z);
    }
    assert_close(part->loss, loss, 1e-5);
    float *values = (float *)net;
    const float *gradient = (const float *)&part->gradient;
    size_t last = offsetof(struct net, output_bias) / sizeof(float), checked = 0;
    for (size_t i = 0; i <= last; i += i + 80 < last ? 41 : 1) {
        const float size = 1e-2F;
        float before = values[i];
        values[i] = before + size;
        net_part_clear(moved);
        net_part_add(moved, net, data->merged, COUNT, false);
        double up = moved->loss;
        values[i] = before - size;
        net_part_clear(moved);
        net_part_add(moved, net, data->merged, COUNT, false);
        values[i] = before;
        /* A clip that is crossed in between bends the line: allow for it. */
        assert_true(fabs((double)gradient[i] - (up - moved->loss) / (2.0 * (double)size)) <
                    0.02 + 0.06 * fabs((double)gradient[i]));
        checked += gradient[i] != 0.0F;
    }
    assert_true(checked > 100);
    free(part);
    free(moved);
    free(net);
}

static void threads_do_not_change_a_bit(void **state)
{
    struct net_options options = quick;
    struct net_fit *one = run(*state, &options, NET_OK, NULL, NULL);
    for (options.threads = 2; options.threads <= 8; options.threads *= 2) {
        struct net_fit *many = run(*state, &options, NET_OK, NULL, NULL);
        assert_memory_equal(&many->net, &one->net, sizeof one->net);
        assert_memory_equal(many->curve, one->curve, sizeof one->curve);
        free(many);
    }
    options = quick;
    options.seed = 2;
    struct net_fit *other = run(*state, &options, NET_OK, NULL, NULL);
    assert_memory_not_equal(&other->net, &one->net, sizeof one->net);
    free(other);
    free(one);
}

/* The truth's own loss on games that were not fitted is the least there is: the fit comes near it. */
static void a_known_net_is_recovered(void **state)
{
    const struct data *data = *state;
    struct net_options options = quick;
    struct net *truth = true_net();
    double loss = 0.0, sign = 0.0;
    options.epochs = 12;
    options.threads = 2;
    struct net_fit *fit = run(data, &options, NET_OK, NULL, NULL);
    for (size_t i = 0; i < data->validation.count; i++) {
        const struct row *row = &data->validation.items[i];
        double z = net_logit(truth, row->key);
        loss += (log1p(exp(-fabs(z))) + fmax(z, 0.0) - row->half_points / 2.0 * z) /
                (double)data->validation.count;
        sign += (z > 0.0) == (net_logit(&fit->net, row->key) > 0.0);
    }
    double best = fit->curve[fit->best - 1].validation;
    assert_true(best < log(2.0) - 0.1);
    assert_true(best < loss + 0.02);
    assert_true(best > loss - 0.005);
    assert_true(sign > 0.9 * (double)data->validation.count);
    for (unsigned i = 0; i < fit->epochs; i++)
        assert_true(fit->curve[i].validation >= best);
    free(fit);
    free(truth);
}

static int stop_in_the_third_epoch(void *context, uint64_t done, unsigned epoch, double training,
                                   double validation)
{
    (void)context;
    (void)done;
    (void)training;
    (void)validation;
    return epoch == 3;
}

/* Stopped in the middle of an epoch and gone on from its checkpoint: the same bits as without the stop. */
static void stopped_and_resumed_it_is_the_same(void **state)
{
    char path[] = "/tmp/kroo-net-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    unlink(path);
    struct net_options options = quick;
    options.epochs = 5;
    struct net_fit *alone = run(*state, &options, NET_OK, NULL, NULL);
    options.checkpoint = path;
    free(run(*state, &options, NET_ERROR_STOPPED, stop_in_the_third_epoch, NULL));
    options.identity[3] = 1; /* other data or options */
    free(run(*state, &options, NET_ERROR_CHECKPOINT, NULL, NULL));
    options.identity[3] = 0;
    options.threads = 2;
    struct net_fit *resumed = run(*state, &options, NET_OK, NULL, NULL);
    assert_int_equal(resumed->resumed, 2);
    assert_memory_equal(&resumed->net, &alone->net, sizeof alone->net);
    assert_memory_equal(resumed->curve, alone->curve, sizeof alone->curve);
    /* A damaged checkpoint is refused, not believed. */
    FILE *stream = fopen(path, "r+b");
    fseek(stream, 5000, SEEK_SET);
    fputs("rust", stream);
    fclose(stream);
    free(run(*state, &options, NET_ERROR_CHECKPOINT, NULL, NULL));
    assert_int_equal(truncate(path, 100), 0);
    free(run(*state, &options, NET_ERROR_CHECKPOINT, NULL, NULL));
    unlink(path);
    options.checkpoint = "/nowhere/at/all";
    free(run(*state, &options, NET_ERROR_CHECKPOINT, NULL, NULL));
    free(alone);
    free(resumed);
}

static void bad_rows_are_refused(void **state)
{
    struct data data = *(const struct data *)*state;
    const struct merged bad[] = {{.target = NAN, .weight = 1}, {.target = 0.5F, .weight = INFINITY}};
    struct merged kept = data.merged[data.count / 2];
    for (int i = 0; i < 2; i++) {
        data.merged[data.count / 2].target = bad[i].target;
        data.merged[data.count / 2].weight = bad[i].weight;
        free(run(&data, &quick, NET_ERROR_NUMBER, NULL, NULL));
    }
    data.merged[data.count / 2] = kept;
    data.count = 1000;
    free(run(&data, &quick, NET_ERROR_ROWS, NULL, NULL));
}

/* Blocks that do not fill a batch, and batches smaller than a block. */
static void odd_sizes_work(void **state)
{
    struct data data = *(const struct data *)*state;
    data.count = WEIGHTS_NET_PARAMETERS + 3;
    struct net_options options = quick;
    static const unsigned batches[] = {8, 24, 2056, 65536};
    options.epochs = 1;
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        options.batch = batches[i];
        struct net_fit *fit = run(&data, &options, NET_OK, NULL, NULL);
        assert_true(fit->curve[0].training > 0.3 && fit->curve[0].training < 3.0);
        free(fit);
    }
    data.validation.count = 0;
    options = quick;
    struct net_fit *fit = run(&data, &options, NET_OK, NULL, NULL);
    assert_int_equal(fit->best, options.epochs);
    free(fit);
}

/* The integers score as the real net does, within their rounding, and lose next to nothing. */
static void rounding_costs_next_to_nothing(void **state)
{
    const struct data *data = *state;
    struct net_fit *fit = run(data, &quick, NET_OK, NULL, NULL);
    struct quantized made;
    double seed = net_seed_value(&fit->net, data->merged, 20000);
    assert_true(seed > 0.05 && seed < 5.0);
    assert_int_equal(quantize_net(&fit->net, seed, &made), QUANTIZE_OK);
    struct weights *weights = NULL;
    assert_int_equal(quantize_weights(&made, "site", "{}", &weights), WEIGHTS_OK);
    double error = quantize_net_largest_error(&fit->net, weights, data->merged, data->count);
    assert_true(error > 0.0 && error < 15.0);
    double real = 0.0, rounded = 0.0;
    for (size_t i = 0; i < data->validation.count; i++) {
        const struct row *row = &data->validation.items[i];
        double z = net_logit(&fit->net, row->key), y = row->half_points / 2.0;
        double q = (double)features_score(row->key, weights) / weights->per_logit;
        real += (log1p(exp(-fabs(z))) + fmax(z, 0.0) - y * z) / (double)data->validation.count;
        rounded += (log1p(exp(-fabs(q))) + fmax(q, 0.0) - y * q) / (double)data->validation.count;
    }
    assert_true(fabs(real - rounded) < 5e-4);
    assert_int_equal(quantize_net(&fit->net, 0.0, &made), QUANTIZE_ERROR_STORE);
    fit->net.input[7][3] = NAN;
    assert_int_equal(quantize_net(&fit->net, seed, &made), QUANTIZE_ERROR_NUMBER);
    fit->net.input[7][3] = 1e9F;
    assert_int_equal(quantize_net(&fit->net, seed, &made), QUANTIZE_ERROR_RANGE);
    weights_destroy(weights);
    free(fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_is_that_of_the_loss),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(a_known_net_is_recovered),
        cmocka_unit_test(stopped_and_resumed_it_is_the_same),
        cmocka_unit_test(bad_rows_are_refused),
        cmocka_unit_test(odd_sizes_work),
        cmocka_unit_test(rounding_costs_next_to_nothing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
