#include "engine/tables_check.h"

#include <stdlib.h>
#include <string.h>

#include "engine/layer.h"

static unsigned get_entry(const struct tables *tables, uint64_t number)
{
    return bytes_get_u16(tables->entries + 2 * number);
}

void tables_count(const struct tables *tables, int seeds, struct tables_counts *out)
{
    memset(out, 0, sizeof *out);
    int64_t lo_sum = 0, up_sum = 0;
    uint64_t start = index_layer_start(seeds), size = index_layer_size(seeds);
    for (uint64_t number = start; number < start + size; number++) {
        struct tables_value value = tables_decode(get_entry(tables, number));
        out->win += value.lo > 0;
        out->loss += value.up < 0;
        out->draw += value.lo == 0 && value.up == 0;
        out->exact += value.lo == value.up;
        out->lo[value.lo + TABLES_BIAS]++;
        out->up[value.up + TABLES_BIAS]++;
        out->values[value.lo + TABLES_BIAS] += value.lo == value.up;
        out->widths[value.up > value.lo ? value.up - value.lo : 0]++;
        lo_sum += value.lo;
        up_sum += value.up;
    }
    out->lo_sum = (double)lo_sum;
    out->up_sum = (double)up_sum;
}

struct check {
    const struct tables *tables;
    struct layer layer;
    uint64_t *first; /* of each member: the lowest number with a fault, or UINT64_MAX */
};

/* NULL when the entry is right. */
static const char *find_fault(const struct tables *tables, struct board board, unsigned entry)
{
    const struct rules *rules = &tables->rules;
    struct tables_value value = tables_decode(entry);
    if (entry >> 15 != 0 || (entry >> 12 & 7) == BOARD_HOUSES)
        return "the entry has bits that mean nothing";
    if (value.lo > value.up || (tables->convention == TABLES_ENDLESS_ZERO && value.lo != value.up))
        return "LO and UP do not fit together";
    unsigned legal = board_legal(rules, board);
    if (legal == 0) {
        int margin = board_margin(board, rules->leftovers);
        if (value.move >= 0)
            return "a board without moves has a move";
        return value.lo == margin && value.up == margin ? NULL : "a board without moves has another value";
    }
    if (value.move < 0 || (legal >> value.move & 1) == 0)
        return "the move is not legal";
    int lo = -TABLES_VALUES, up = -TABLES_VALUES, kept = 0;
    for (unsigned mask = legal; mask != 0; mask &= mask - 1) {
        int house = __builtin_ctz(mask);
        struct board next = board_make(rules, board, house);
        struct tables_value child = tables_decode(get_entry(tables, index_board(next)));
        int keeps_lo = layer_gain(next) - child.up, keeps_up = layer_gain(next) - child.lo;
        lo = keeps_lo > lo ? keeps_lo : lo;
        up = keeps_up > up ? keeps_up : up;
        kept = house == value.move ? keeps_lo : kept;
    }
    if (lo != value.lo)
        return "LO is not what the best move offers";
    if (up != value.up)
        return "UP is not what the best move offers";
    return kept == value.lo ? NULL : "the move does not keep LO";
}

static void check_segment(void *context, int member, const struct layer_segment *segment)
{
    struct check *check = context;
    uint64_t start = index_layer_start(check->layer.seeds);
    for (uint32_t i = 0; i < segment->length; i++) {
        uint64_t number = segment->start + i;
        unsigned entry = get_entry(check->tables, start + number);
        struct board board = layer_board(&check->layer, segment, i);
        if (number < check->first[member] && find_fault(check->tables, board, entry) != NULL)
            check->first[member] = number;
    }
}

/* True when the layer is right. */
static bool check_layer(struct check *check, struct team *team, struct tables_fault *fault)
{
    uint64_t lowest = UINT64_MAX;
    for (int i = 0; i < team_size(team); i++)
        check->first[i] = UINT64_MAX;
    layer_walk(&check->layer, team, check_segment, check);
    for (int i = 0; i < team_size(team); i++)
        lowest = check->first[i] < lowest ? check->first[i] : lowest;
    if (lowest == UINT64_MAX)
        return true;
    int seeds = check->layer.seeds;
    unsigned entry = get_entry(check->tables, index_layer_start(seeds) + lowest);
    *fault =
        (struct tables_fault){seeds, lowest, find_fault(check->tables, index_unrank(seeds, lowest), entry)};
    return false;
}

bool tables_check(const struct tables *tables, int threads, struct tables_fault *fault)
{
    *fault = (struct tables_fault){0, 0, NULL};
    struct check check = {.tables = tables};
    struct team *team = team_create(threads);
    uint64_t *rows = layer_rows_create(tables->seeds);
    check.first = malloc((size_t)threads * sizeof *check.first);
    bool right = team != NULL && rows != NULL && check.first != NULL;
    for (int seeds = 0; seeds <= tables->seeds && right; seeds++) {
        right = layer_init(&check.layer, seeds, rows) == 0 && check_layer(&check, team, fault);
        layer_done(&check.layer);
    }
    free(check.first);
    free(rows);
    team_destroy(team);
    return right;
}
