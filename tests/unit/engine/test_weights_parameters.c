#include "engine/weights_parameters.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/check.h"

static struct weights *net_create(void)
{
    static struct weights_net net;
    struct weights *weights;
    for (int row = 0; row < WEIGHTS_NET_INPUTS; row++)
        for (int unit = 0; unit < WEIGHTS_NET_HIDDEN; unit++)
            net.input[row][unit] = (int16_t)(row - unit);
    for (int unit = 0; unit < WEIGHTS_NET_HIDDEN; unit++) {
        net.bias[unit] = (int16_t)(300 + unit);
        net.output[unit] = (int16_t)(400 + unit);
    }
    net.output_bias = 70000;
    assert_int_equal(weights_create_net("site", 3, 0, &net, "{}", &weights), WEIGHTS_OK);
    return weights;
}

static struct weights *features_create(void)
{
    struct weights_features features;
    struct weights *weights;
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        for (int trait = 0; trait < TRAITS; trait++)
            features.phases[phase][trait] = (int16_t)(100 * phase + trait);
    assert_int_equal(weights_create_features("site", 2, 0, &features, "{}", &weights), WEIGHTS_OK);
    return weights;
}

/* The value of the one parameter of this name, and that there is one. */
static int32_t value_of(const struct weights *weights, const char *name)
{
    size_t found = 0;
    int32_t value = 0;
    for (size_t i = 0; i < weights_parameter_count(weights); i++) {
        char other[WEIGHTS_PARAMETER_NAME];
        weights_parameter_name(weights, i, other);
        if (strcmp(other, name) == 0) {
            value = weights_parameter_get(weights, i);
            found++;
        }
    }
    assert_int_equal(found, 1);
    return value;
}

/* All parameters changed by one and back again are the same weights; a single one changed is that one. */
static void check_changes(const struct weights *weights)
{
    static int32_t values[WEIGHTS_PARAMETERS_MAX];
    size_t count = weights_parameter_count(weights);
    struct weights *other;
    for (size_t i = 0; i < count; i++)
        values[i] = weights_parameter_get(weights, i);
    for (size_t at = 0; at < count; at += count / 37 + 1) {
        values[at]++;
        assert_int_equal(weights_create_changed(weights, values, "{}", &other), WEIGHTS_OK);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(weights_parameter_get(other, i),
                             weights_parameter_get(weights, i) + (i == at ? 1 : 0));
        assert_int_equal(other->shift, weights->shift);
        weights_destroy(other);
        values[at]--;
    }
    values[0] = 32768;
    assert_int_equal(weights_create_changed(weights, values, "{}", &other), WEIGHTS_ERROR_RANGE);
}

static void test_table(void **state)
{
    (void)state;
    struct weights *weights = weights_create_starting("site");
    assert_int_equal(weights_parameter_count(weights), 632);
    assert_int_equal(value_of(weights, "store.2"), 100);
    assert_int_equal(value_of(weights, "bias.0"), 0);
    assert_int_equal(value_of(weights, "house.f.12.3"), 0);
    check_changes(weights);
    weights_destroy(weights);
}

static void test_net(void **state)
{
    (void)state;
    struct weights *weights = net_create();
    assert_int_equal(weights_parameter_count(weights), 7841);
    assert_int_equal(value_of(weights, "house.A.0.31"), -31);
    assert_int_equal(value_of(weights, "house.a.1.5"), 6 * 16 + 1 - 5);
    assert_int_equal(value_of(weights, "store.-25.0"), 192);
    assert_int_equal(value_of(weights, "store.25.2"), 242 - 2);
    assert_int_equal(value_of(weights, "bias.4"), 304);
    assert_int_equal(value_of(weights, "output.4"), 404);
    assert_int_equal(value_of(weights, "output_bias"), 70000);
    check_changes(weights);
    weights_destroy(weights);
}

static void test_features(void **state)
{
    (void)state;
    struct weights *weights = features_create();
    assert_int_equal(weights_parameter_count(weights), 96);
    assert_int_equal(value_of(weights, "own_best_capture.2"), 200 + TRAIT_OWN_BEST_CAPTURE);
    check_changes(weights);
    weights_destroy(weights);
}

static size_t matches(const struct weights *weights, const char *pattern)
{
    size_t found = 0;
    for (size_t i = 0; i < weights_parameter_count(weights); i++) {
        char name[WEIGHTS_PARAMETER_NAME];
        weights_parameter_name(weights, i, name);
        found += weights_parameter_matches(pattern, name);
    }
    return found;
}

static void test_patterns(void **state)
{
    (void)state;
    struct weights *weights = weights_create_starting("site");
    assert_int_equal(matches(weights, "*"), 632);
    assert_int_equal(matches(weights, "house.*"), 624);
    assert_int_equal(matches(weights, "house.*.1.*"), 48);
    assert_int_equal(matches(weights, "house.A.*.0"), 13);
    assert_int_equal(matches(weights, "store.*"), 4);
    assert_int_equal(matches(weights, "*.3"), 158);
    assert_int_equal(matches(weights, "store.1"), 1);
    assert_int_equal(matches(weights, "store"), 0);
    assert_int_equal(matches(weights, ""), 0);
    weights_destroy(weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_net),
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
