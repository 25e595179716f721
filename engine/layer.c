#include "engine/layer.h"

#include <stdlib.h>

/* Steps non-decreasing sums of at most `most` to the next in the order of their combinatorial number; false
 * after the last. */
static bool step_sums(int *sums, int count, int most)
{
    for (int i = 0; i < count; i++) {
        if (sums[i] < (i + 1 < count ? sums[i + 1] : most)) {
            sums[i]++;
            for (int j = 0; j < i; j++)
                sums[j] = 0;
            return true;
        }
    }
    return false;
}

uint64_t *layer_rows_create(int seeds)
{
    size_t count = index_terms[BOARD_HOUSES - 1][seeds + 1];
    uint64_t *rows = malloc(count * sizeof *rows);
    if (rows == NULL)
        return NULL;
    int sums[BOARD_HOUSES] = {0};
    size_t i = 0;
    do {
        uint64_t row = (uint64_t)sums[0];
        for (int house = 1; house < BOARD_HOUSES; house++)
            row |= (uint64_t)(sums[house] - sums[house - 1]) << (8 * house);
        rows[i++] = row;
    } while (step_sums(sums, BOARD_HOUSES, seeds));
    return rows;
}

/* The segment of boards whose sums S_6 to S_10 are given. */
static struct layer_segment make_segment(const int sums[5], int seeds)
{
    struct layer_segment segment = {.other = (uint64_t)sums[0] | (uint64_t)(seeds - sums[4]) << 40};
    for (int i = 1; i < 5; i++)
        segment.other |= (uint64_t)(sums[i] - sums[i - 1]) << (8 * i);
    for (int i = 0; i < 5; i++)
        segment.start += (uint32_t)index_terms[BOARD_HOUSES + i][sums[i]];
    segment.length = (uint32_t)index_terms[BOARD_HOUSES - 1][sums[0] + 1];
    return segment;
}

int layer_init(struct layer *layer, int seeds, const uint64_t *rows)
{
    *layer = (struct layer){.seeds = seeds, .size = (uint32_t)index_layer_size(seeds), .rows = rows};
    layer->segment_count = index_terms[4][seeds + 1];
    layer->segments = malloc(layer->segment_count * sizeof *layer->segments);
    if (layer->segments == NULL)
        return -1;
    int sums[5] = {0};
    size_t i = 0;
    do
        layer->segments[i++] = make_segment(sums, seeds);
    while (step_sums(sums, 5, seeds));
    return 0;
}

void layer_done(struct layer *layer)
{
    free(layer->segments);
    layer->segments = NULL;
}

struct walk {
    const struct layer *layer;
    size_t next, end; /* next is shared */
    layer_job *job;
    void *context;
};

enum { WALK_STEP = 16 };

static void walk_member(void *context, int member)
{
    struct walk *walk = context;
    for (;;) {
        size_t at = __atomic_fetch_add(&walk->next, WALK_STEP, __ATOMIC_RELAXED);
        for (size_t i = at; i < at + WALK_STEP && i < walk->end; i++)
            walk->job(walk->context, member, &walk->layer->segments[i]);
        if (at + WALK_STEP >= walk->end)
            return;
    }
}

void layer_walk_some(const struct layer *layer, struct team *team, size_t first, size_t end, layer_job *job,
                     void *context)
{
    struct walk walk = {.layer = layer, .next = first, .end = end, .job = job, .context = context};
    team_run(team, walk_member, &walk);
}

void layer_walk(const struct layer *layer, struct team *team, layer_job *job, void *context)
{
    layer_walk_some(layer, team, 0, layer->segment_count, job, context);
}
