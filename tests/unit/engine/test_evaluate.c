/* The kernels of the net against its definition, and the features against theirs, on random weights and
 * boards. */
#include "engine/evaluate.h"

#include <stdlib.h>

#include "tests/unit/engine/kinds.h"

enum { NETS = 40, BOARDS = 500 };

/* TRAINER's formula with one loop for each sum, from the position as people see it. */
static int32_t net_by_definition(const struct weights *weights, const struct position *p)
{
    const struct weights_net *net = &weights->net;
    int own = p->side == SIDE_SOUTH ? 0 : 6, difference = p->stores[p->side] - p->stores[1 - p->side];
    difference = difference > 25 ? 25 : difference < -25 ? -25 : difference;
    int64_t sum = net->output_bias;
    for (int unit = 0; unit < 32; unit++) {
        int64_t value = net->bias[unit] + net->input[192 + 25 + difference][unit];
        for (int house = 0; house < 12; house++) {
            int count = p->houses[(own + house) % 12];
            value += net->input[16 * house + (count > 15 ? 15 : count)][unit];
        }
        /* floor(value / 2^n): the arithmetic shift */
        int64_t unit_of = INT64_C(1) << net->hidden_shift;
        value = value >= 0 ? value / unit_of : -((-value + unit_of - 1) / unit_of);
        sum += net->output[unit] * (value < 0 ? 0 : value > 127 ? 127 : value);
    }
    int64_t scale = INT64_C(1) << weights->shift;
    int64_t score = sum >= 0 ? sum / scale : -((-sum + scale - 1) / scale);
    return (int32_t)(score > 32000 ? 32000 : score < -32000 ? -32000 : score);
}

static void every_kernel_gives_the_same_integers(void **state)
{
    (void)state;
    size_t count;
    const struct evaluate_net *nets = evaluate_nets(&count);
    int different = 0, last = 0;
    for (uint64_t seed = 0; seed < NETS; seed++) {
        /* small bounds leave most units between 0 and 127, large ones reach both ends of int16 */
        struct weights *weights =
            kinds_net("site", mix(11, seed), seed % 3 == 0 ? 2340 : 20 << (seed % 7), (uint8_t)(seed % 9));
        for (uint64_t i = 0; i < BOARDS; i++) {
            struct position position = kinds_position(mix(seed, i));
            int32_t expected = net_by_definition(weights, &position);
            for (size_t k = 0; k < count; k++)
                if (nets[k].kernel(weights, board_from_position(&position)) != expected)
                    fail_msg("%s: net %d, board %d", nets[k].name, (int)seed, (int)i);
            assert_int_equal(weights_evaluate(weights, &position), expected);
            different += expected != last;
            last = expected;
        }
        weights_destroy(weights);
    }
    assert_true(count >= 2);
    assert_true(different > NETS * BOARDS / 2);
}

/* All weights at the bound that is accepted, all of one sign: the farthest a sum can go. */
static void extreme_nets_do_not_wrap(void **state)
{
    (void)state;
    static struct weights_net net;
    size_t count;
    const struct evaluate_net *nets = evaluate_nets(&count);
    for (int sign = -1; sign <= 1; sign += 2)
        for (int shift = 0; shift <= WEIGHTS_SHIFT_MAX; shift += 7) {
            struct weights *weights = NULL;
            for (int unit = 0; unit < WEIGHTS_NET_HIDDEN; unit++) {
                net.bias[unit] = (int16_t)(sign * (32767 - 13 * 2340));
                net.output[unit] = unit % 2 ? INT16_MIN : INT16_MAX;
                for (int input = 0; input < WEIGHTS_NET_INPUTS; input++)
                    net.input[input][unit] = (int16_t)(sign * 2340);
            }
            net.hidden_shift = (uint8_t)shift;
            net.output_bias = sign * (INT32_MAX - 127 * 16 * (32767 + 32768));
            assert_int_equal(weights_create_net("site", 14, 0, &net, "{}", &weights), WEIGHTS_OK);
            struct position position = position_start();
            for (size_t k = 0; k < count; k++)
                assert_int_equal(nets[k].kernel(weights, board_from_position(&position)),
                                 net_by_definition(weights, &position));
            weights_destroy(weights);
        }
}

static void features_are_a_sum_over_the_traits(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        uint8_t shift = (uint8_t)(seed % 5);
        struct weights *weights =
            kinds_features("site", mix(12, seed), seed == 0 ? INT16_MAX : 300 << shift, shift);
        for (uint64_t i = 0; i < BOARDS; i++) {
            struct position position = kinds_position(mix(seed, i));
            int16_t traits[TRAITS];
            traits_of(board_from_position(&position), traits);
            int seeds = 48 - position.stores[0] - position.stores[1];
            int64_t sum = 0;
            for (int t = 0; t < TRAITS; t++)
                sum += traits[t] * weights->features.phases[weights_phase(seeds)][t];
            int64_t unit = INT64_C(1) << shift;
            int64_t score = sum >= 0 ? sum / unit : -((-sum + unit - 1) / unit);
            assert_int_equal(weights_evaluate(weights, &position), score > 32000    ? 32000
                                                                   : score < -32000 ? -32000
                                                                                    : score);
        }
        weights_destroy(weights);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_gives_the_same_integers),
        cmocka_unit_test(extreme_nets_do_not_wrap),
        cmocka_unit_test(features_are_a_sum_over_the_traits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
