#include "eval/features.h"

uint64_t features_key(struct board board)
{
    uint64_t key = 0;
    for (int house = 0; house < BOARD_HOUSES; house++) {
        unsigned own = board_house(board.own, house), other = board_house(board.other, house);
        own = own < WEIGHTS_COUNTS ? own : WEIGHTS_COUNTS - 1;
        other = other < WEIGHTS_COUNTS ? other : WEIGHTS_COUNTS - 1;
        key |= (uint64_t)own << (4 * house) | (uint64_t)other << (4 * (house + BOARD_HOUSES));
    }
    unsigned own_store = board_store(board.own), other_store = board_store(board.other);
    unsigned difference = FEATURES_DIFFERENCE_OFFSET + own_store - other_store;
    int phase = weights_phase(POSITION_SEEDS - (int)(own_store + other_store));
    return key | (uint64_t)difference << 48 | (uint64_t)phase << 55;
}

int32_t features_score(uint64_t key, const struct weights *weights)
{
    enum { SCORE_MAX = 32000 }; /* the clamp of weights_evaluate */
    const struct weights_phase *phase = &weights->phases[features_phase(key)];
    int32_t sum = phase->bias + phase->store * features_difference(key);
    for (int house = 0; house < WEIGHTS_HOUSES; house++)
        sum += phase->house[house][features_count(key, house)];
    int32_t score = sum >> weights->shift;
    return score > SCORE_MAX ? SCORE_MAX : score < -SCORE_MAX ? -SCORE_MAX : score;
}
