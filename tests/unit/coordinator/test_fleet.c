#include "coordinator/fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mix.h"
#include "tests/unit/coordinator/vectors.h"

enum { FLEET_MAX = 128 };

/* --- the 35 fleets -----------------------------------------------------------------------------------------
 */

struct fleet {
    const char *keys[FLEET_MAX];
    struct fleet_worker workers[FLEET_MAX];
    size_t count;
};

static struct fleet read_fleet(const json_t *row)
{
    struct fleet fleet = {0};
    bool five = strcmp(json_string_value(json_object_get(row, "kind")), "pentanomial") == 0;
    const json_t *worker;
    size_t i;
    json_array_foreach(json_object_get(row, "workers"), i, worker)
    {
        int64_t counts[5] = {0};
        vectors_counts(json_object_get(worker, "counts"), counts, 5);
        struct fleet_worker *out = &fleet.workers[fleet.count];
        fleet.keys[fleet.count++] = json_string_value(json_object_get(worker, "key"));
        out->set_aside = json_is_true(json_object_get(worker, "bad"));
        for (int c = 0; c < 3; c++)
            out->pairs[c] = (uint64_t)counts[c];
        if (five) {
            out->pairs[0] = (uint64_t)(counts[3] + counts[4]);
            out->pairs[1] = (uint64_t)(counts[0] + counts[1]);
            out->pairs[2] = (uint64_t)counts[2];
        }
    }
    return fleet;
}

static void check_figure(const json_t *out, const char *key, double value)
{
    const json_t *expected = json_object_get(out, key);
    if (json_is_string(expected))
        assert_true(isnan(value));
    else
        assert_close(value, json_number_value(expected), 1e-9);
}

static const char *color_of(double z, const struct fleet_figures *figures)
{
    return z < figures->z_95 ? "green" : z < figures->z_99 ? "yellow" : "red";
}

static void check_workers(const struct fleet *fleet, const struct fleet_figures *figures, const json_t *out)
{
    const json_t *residual = json_object_get(out, "residual");
    size_t tested = 0;
    for (size_t i = 0; i < fleet->count; i++) {
        const json_t *z = json_object_get(residual, fleet->keys[i]);
        assert_true(fleet->workers[i].tested == (z != NULL));
        assert_true(fleet->workers[i].z >= 0);
        if (!z)
            continue;
        tested++;
        assert_close(fleet->workers[i].z, json_number_value(z), 1e-9);
        assert_string_equal(
            color_of(fleet->workers[i].z, figures),
            json_string_value(json_object_get(json_object_get(out, "color"), fleet->keys[i])));
    }
    assert_int_equal(tested, figures->tested);
    assert_int_equal(tested, json_object_size(residual));
}

/* The source program's own rule of blame, over our figures. */
static void check_their_blame(struct fleet fleet, const json_t *expected, double p, double z_limit, int times)
{
    size_t blamed = 0;
    for (; times > 0; times--) {
        struct fleet_figures figures = fleet_test(fleet.workers, fleet.count);
        struct fleet_worker *worst = NULL;
        for (size_t i = 0; i < fleet.count; i++)
            if (fleet.workers[i].tested && (figures.p < p || fleet.workers[i].z > z_limit) &&
                (!worst || fleet.workers[i].z > worst->z))
                worst = &fleet.workers[i];
        if (!worst)
            break;
        bool found = false;
        const json_t *key;
        size_t i;
        json_array_foreach(expected, i, key) found =
            found || strcmp(json_string_value(key), fleet.keys[worst - fleet.workers]) == 0;
        assert_true(found);
        worst->set_aside = true;
        blamed++;
    }
    assert_int_equal(blamed, json_array_size(expected));
}

static void all_fleets_of_the_vectors(void **state)
{
    (void)state;
    json_t *root = vectors_load("workers-chi2");
    const json_t *row, *rows = json_object_get(root, "cases");
    size_t i;
    json_array_foreach(rows, i, row)
    {
        const json_t *out = json_object_get(row, "out");
        struct fleet fleet = read_fleet(row);
        struct fleet_figures figures = fleet_test(fleet.workers, fleet.count);
        check_figure(out, "chi2", figures.chi2);
        check_figure(out, "z_95", figures.z_95);
        check_figure(out, "z_99", figures.z_99);
        assert_int_equal(figures.freedom, json_integer_value(json_object_get(out, "dof")));
        /* Theirs is one minus the lower tail: below 1e-7 its digits are noise. */
        if (json_is_string(json_object_get(out, "p")))
            assert_true(isnan(figures.p));
        else
            assert_true(fabs(figures.p - vectors_number(out, "p")) < 1e-12);
        check_workers(&fleet, &figures, out);
        check_their_blame(fleet, json_object_get(out, "bad_workers_default"), 0.001, 7, 1);
        check_their_blame(fleet, json_object_get(out, "bad_workers_p05_res3_iters3"), 0.05, 3, 3);
    }
    assert_int_equal(i, 35);
    json_decref(root);
}

/* --- blame
 * --------------------------------------------------------------------------------------------------- */

static struct fleet_worker played(uint64_t won, uint64_t lost, uint64_t equal)
{
    return (struct fleet_worker){.pairs = {won, lost, equal}};
}

static void of_two_nobody_can_tell_who_is_wrong(void **state)
{
    (void)state;
    struct fleet_worker two[] = {played(1000, 0, 1000), played(500, 500, 1000)};
    assert_int_equal(fleet_blame(two, 2), 0);
    assert_true(two[0].z > 20);
    struct fleet_worker three[] = {played(1000, 10, 1000), played(500, 500, 1000), played(510, 490, 1000)};
    assert_int_equal(fleet_blame(three, 3), 1);
    assert_true(three[0].blamed && !three[1].blamed && !three[2].blamed);
}

/* Beside a large cheat everybody looks bad; without it nobody does (fishtest#26, #47). */
static void blames_one_at_a_time(void **state)
{
    (void)state;
    struct fleet_worker workers[] = {played(2700, 2700, 4600), played(2690, 2710, 4600),
                                     played(2720, 2680, 4600), played(6000, 1000, 3000)};
    fleet_test(workers, 4);
    for (int i = 0; i < 4; i++)
        assert_true(workers[i].z > 7);
    assert_int_equal(fleet_blame(workers, 4), 1);
    assert_true(workers[3].blamed);
    for (int i = 0; i < 3; i++)
        assert_true(!workers[i].blamed && workers[i].z < 2);
}

static void z_is_exact_far_out(void **state)
{
    (void)state;
    /* exp(-x / 2) against the tails of 5, 20 and 40 standard deviations (log: Abramowitz and
     * Stegun, 26.2.12). */
    assert_close(fleet_z(-2 * -15.064998393988725), 5, 1e-12);
    assert_close(fleet_z(-2 * -203.91715537109724), 20, 1e-12);
    assert_close(fleet_z(-2 * -804.60844201375255), 40, 1e-9);
    assert_close(fleet_quantile(0.025), 1.959963984540054, 1e-12);
    assert_true(fleet_z(0) == 0 && fleet_z(1) == 0);
}

/* --- simulated fleets
 * --------------------------------------------------------------------------------------- */

struct simulation {
    uint64_t key, drawn;
    double won, lost; /* of a pair of honest workers */
    size_t workers;
    size_t bad; /* index; at or beyond `workers`: nobody */
    double bias;
    double spread; /* the fastest worker is 2^spread times as fast as the slowest */
};

static double draw(struct simulation *simulation)
{
    return (double)(mix(simulation->key, simulation->drawn++) >> 11) * 0x1p-53;
}

/* A pair by this worker; a bad one reports some of those it won as lost. */
static void play_pair(struct simulation *simulation, struct fleet_worker *worker, bool bad)
{
    double u = draw(simulation);
    int class = u < simulation->won ? 0 : u < simulation->won + simulation->lost ? 1 : 2;
    if (bad && draw(simulation) < simulation->bias)
        class = 1;
    worker->pairs[class]++;
}

/* The worker that plays the next pair, by speed. */
static size_t pick(struct simulation *simulation, const double *speeds)
{
    double u = draw(simulation) * speeds[simulation->workers - 1];
    size_t low = 0, high = simulation->workers - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (u < speeds[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* One experiment, looked at as often as the coordinator does. The number blamed. */
static size_t play_fleet(struct simulation *simulation, struct fleet_worker *workers, uint64_t pairs)
{
    double speeds[FLEET_MAX], sum = 0;
    size_t blamed = 0;
    memset(workers, 0, simulation->workers * sizeof *workers);
    for (size_t i = 0; i < simulation->workers; i++)
        speeds[i] = sum += exp2(simulation->spread * draw(simulation));
    uint64_t done = 0;
    for (uint64_t next = fleet_next_look(0); next <= pairs; next = fleet_next_look(next)) {
        for (; done < next; done++) {
            size_t i = pick(simulation, speeds);
            play_pair(simulation, &workers[i], i == simulation->bad);
        }
        blamed += fleet_blame(workers, simulation->workers);
    }
    return blamed;
}

/* STATISTICS: fleets without a bad worker must be left alone 99 times in 100. */
static void clean_fleets_are_left_alone(void **state)
{
    (void)state;
    static const size_t sizes[] = {3, 8, 20, 60};
    static const double shares[][2] = {{0.27, 0.27}, {0.10, 0.06}, {0.55, 0.15}};
    struct fleet_worker workers[FLEET_MAX];
    size_t fleets = 0, disturbed = 0;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t k = 0; k < 1500; k++) {
            struct simulation simulation = {.key = mix(2026, fleets),
                                            .won = shares[k % 3][0],
                                            .lost = shares[k % 3][1],
                                            .workers = sizes[s],
                                            .spread = 3,
                                            .bad = SIZE_MAX};
            disturbed += play_fleet(&simulation, workers, 8192) > 0;
            fleets++;
        }
    print_message("# clean fleets left alone: %zu of %zu\n", fleets - disturbed, fleets);
    assert_true(disturbed * 100 <= fleets);
}

static void check_one_bad(size_t size, uint64_t pairs, size_t fleets, double least)
{
    struct fleet_worker workers[FLEET_MAX];
    size_t alone = 0, missed = 0, wrong = 0;
    for (size_t k = 0; k < fleets; k++) {
        struct simulation simulation = {.key = mix(mix(1947, size), k),
                                        .won = 0.27,
                                        .lost = 0.27,
                                        .workers = size,
                                        .bad = k % size,
                                        .bias = 0.05};
        size_t blamed = play_fleet(&simulation, workers, pairs);
        bool found = workers[simulation.bad].blamed;
        alone += found && blamed == 1;
        missed += !found;
        wrong += blamed > (found ? 1u : 0u);
    }
    print_message(
        "# one bad of %zu, %llu pairs: it alone blamed in %zu of %zu, missed in %zu, others in %zu\n", size,
        (unsigned long long)pairs, alone, fleets, missed, wrong);
    assert_true((double)alone >= least * (double)fleets);
    assert_true(wrong * 100 <= fleets);
}

/* One worker that turns 5 pairs in 100 into losses (fishtest#26, #47). */
static void one_bad_worker_is_blamed_alone(void **state)
{
    (void)state;
    check_one_bad(20, 1 << 19, 10, 1);
    check_one_bad(100, 1 << 21, 4, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_fleets_of_the_vectors),   cmocka_unit_test(of_two_nobody_can_tell_who_is_wrong),
        cmocka_unit_test(blames_one_at_a_time),        cmocka_unit_test(z_is_exact_far_out),
        cmocka_unit_test(clean_fleets_are_left_alone), cmocka_unit_test(one_bad_worker_is_blamed_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
