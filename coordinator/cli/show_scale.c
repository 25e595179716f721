#include "coordinator/cli/show_scale.h"

#include <stdio.h>
#include <stdlib.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/connect.h"
#include "coordinator/fitness.h"

enum { UNIT = 1000000 };

int show_scale_read(struct store *store, const struct store_experiment *experiment, struct store_table *out)
{
    *out = (struct store_table){0};
    if (!experiment->has_reference)
        return COMMAND_DONE;
    return connect_query_of(
        store,
        "select name, speed, scale_ppm from (select distinct on (l.session_id) l.id, s.name, s.speed, "
        "l.scale_ppm from kroo.lease l join kroo.session s on s.id = l.session_id where l.experiment_id = "
        "$1::bigint and l.scale_ppm is not null order by l.session_id, l.id desc) w order by id desc limit 8",
        experiment->id, out);
}

/* The first limit of time that one of its sides has, which serves as the example. */
static uint32_t example_ms(const struct store_experiment *experiment)
{
    const struct store_limits *a = &experiment->a.limits, *b = &experiment->b.limits;
    const uint32_t limits[] = {a->time_ms, a->clock_ms, b->time_ms, b->clock_ms};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i] > 0)
            return limits[i];
    return 0;
}

static double scaled_ms(uint32_t ms, double scale_ppm)
{
    return ms * scale_ppm / UNIT;
}

void show_scale_print(const struct store_experiment *experiment, const struct store_table *workers)
{
    struct fitness_policy policy = {.reference = experiment->reference_speed};
    uint32_t ms = example_ms(experiment);
    if (!experiment->has_reference || ms == 0)
        return;
    if (policy.reference == 0) {
        printf("  %-11s its limits of time are the same on every machine\n", "timed");
        return;
    }
    printf("  %-11s its limits are meant for %u nodes a second: %u ms are", "timed", policy.reference, ms);
    for (int quarters = 1; quarters <= 16; quarters *= 2) {
        uint64_t speed = (uint64_t)policy.reference * (unsigned)quarters / 4;
        if (quarters != 4 && speed > 0 && speed <= UINT32_MAX)
            printf("%s %.0f ms at %llu", quarters == 1 ? "" : ",",
                   scaled_ms(ms, fitness_scale(&policy, (uint32_t)speed)), (unsigned long long)speed);
    }
    printf("\n");
    for (size_t row = 0; row < workers->rows; row++)
        printf("  %-11s on %s, by its latest lease: %.0f ms (its bench: %s nodes a second)\n", "",
               store_cell(workers, row, 0), scaled_ms(ms, strtod(store_cell(workers, row, 2), NULL)),
               store_cell(workers, row, 1));
}

void show_scale_json(json_t *object, const struct store_experiment *experiment,
                     const struct store_table *workers)
{
    json_t *scales = json_array();
    for (size_t row = 0; row < workers->rows; row++)
        json_array_append_new(
            scales, json_pack("{s:s, s:I, s:I}", "worker", store_cell(workers, row, 0), "bench",
                              (json_int_t)strtoll(store_cell(workers, row, 1), NULL, 10), "scale_ppm",
                              (json_int_t)strtoll(store_cell(workers, row, 2), NULL, 10)));
    json_object_set_new(object, "reference_speed",
                        experiment->has_reference ? json_integer(experiment->reference_speed) : json_null());
    json_object_set_new(object, "scales", scales);
}
