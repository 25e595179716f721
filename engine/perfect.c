#include "engine/perfect.h"

#include <assert.h>
#include <math.h>

#include "engine/mix.h"

enum { ATTEMPTS = 100000 };

/* Nothing is open, and the choice matters. */
static bool is_telling(const struct truth *truth)
{
    if (truth->lo != truth->up)
        return false;
    bool differs = false;
    for (unsigned mask = truth->legal; mask != 0; mask &= mask - 1) {
        int house = __builtin_ctz(mask);
        if (truth->move_lo[house] != truth->move_up[house])
            return false;
        differs |= truth->move_lo[house] != truth->lo;
    }
    return differs;
}

bool perfect_draw(const struct tables *tables, uint64_t seed, int seeds, uint64_t index,
                  struct perfect_position *out)
{
    uint64_t stream = mix(mix(seed, (uint64_t)seeds), index);
    for (uint64_t attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint32_t size = (uint32_t)index_layer_size(seeds);
        struct board board = index_unrank(seeds, mix_below(mix(stream, attempt), size));
        if (!truth_find(tables, board, &out->truth) || !is_telling(&out->truth))
            continue;
        out->difference = truth_difference(board, out->truth.lo, index % 2 != 0);
        if (truth_position(&tables->rules, board, out->difference, &out->position))
            return true;
    }
    return false;
}

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

void perfect_count(struct perfect_tally *tally, const struct perfect_position *position, int house)
{
    const struct truth *truth = &position->truth;
    assert(house >= 0 && house < BOARD_HOUSES && (truth->legal >> house & 1) != 0);
    int given = truth->lo - truth->move_lo[house];
    tally->positions++;
    tally->kept += given == 0;
    tally->outcome +=
        sign(position->difference + truth->move_lo[house]) == sign(position->difference + truth->lo);
    tally->given += (uint64_t)given;
    tally->given_squares += (uint64_t)(given * given);
}

void perfect_add(struct perfect_tally *to, const struct perfect_tally *tally)
{
    to->positions += tally->positions;
    to->kept += tally->kept;
    to->outcome += tally->outcome;
    to->given += tally->given;
    to->given_squares += tally->given_squares;
}

struct perfect_mean perfect_share(uint64_t count, uint64_t positions)
{
    if (positions == 0)
        return (struct perfect_mean){0, 0};
    double share = (double)count / (double)positions;
    return (struct perfect_mean){share, sqrt(share * (1 - share) / (double)positions)};
}

struct perfect_mean perfect_given(const struct perfect_tally *tally)
{
    if (tally->positions == 0)
        return (struct perfect_mean){0, 0};
    double positions = (double)tally->positions, mean = (double)tally->given / positions;
    double variance = (double)tally->given_squares / positions - mean * mean;
    return (struct perfect_mean){mean, sqrt((variance > 0 ? variance : 0) / positions)};
}
