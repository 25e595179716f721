#include "engine/index.h"

#include <assert.h>

/* C(s + i, i + 1) = s (s + 1) ... (s + i) / (i + 1)!, each step exact. */
#define TERM_0(s)  ((uint64_t)(s))
#define TERM_1(s)  (TERM_0(s) * ((s) + 1) / 2)
#define TERM_2(s)  (TERM_1(s) * ((s) + 2) / 3)
#define TERM_3(s)  (TERM_2(s) * ((s) + 3) / 4)
#define TERM_4(s)  (TERM_3(s) * ((s) + 4) / 5)
#define TERM_5(s)  (TERM_4(s) * ((s) + 5) / 6)
#define TERM_6(s)  (TERM_5(s) * ((s) + 6) / 7)
#define TERM_7(s)  (TERM_6(s) * ((s) + 7) / 8)
#define TERM_8(s)  (TERM_7(s) * ((s) + 8) / 9)
#define TERM_9(s)  (TERM_8(s) * ((s) + 9) / 10)
#define TERM_10(s) (TERM_9(s) * ((s) + 10) / 11)
#define TERM_11(s) (TERM_10(s) * ((s) + 11) / 12)

#define TEN(term, s)                                                                                         \
    term((s) + 0), term((s) + 1), term((s) + 2), term((s) + 3), term((s) + 4), term((s) + 5), term((s) + 6), \
        term((s) + 7), term((s) + 8), term((s) + 9)
#define FIFTY(term)                                                                                          \
    {                                                                                                        \
        TEN(term, 0), TEN(term, 10), TEN(term, 20), TEN(term, 30), TEN(term, 40)                             \
    }

const uint64_t index_terms[INDEX_HOUSES][INDEX_COUNTS] = {
    FIFTY(TERM_0), FIFTY(TERM_1), FIFTY(TERM_2), FIFTY(TERM_3), FIFTY(TERM_4),  FIFTY(TERM_5),
    FIFTY(TERM_6), FIFTY(TERM_7), FIFTY(TERM_8), FIFTY(TERM_9), FIFTY(TERM_10), FIFTY(TERM_11),
};

struct board index_unrank(int seeds, uint64_t number)
{
    assert(seeds >= 0 && seeds <= POSITION_SEEDS && number < index_layer_size(seeds));
    uint64_t rows[2] = {0, 0};
    int above = seeds;
    for (int i = INDEX_HOUSES - 2; i >= 0; i--) {
        int prefix = above;
        while (index_terms[i][prefix] > number)
            prefix--;
        number -= index_terms[i][prefix];
        int house = i + 1;
        rows[house / BOARD_HOUSES] |= (uint64_t)(above - prefix) << (8 * (house % BOARD_HOUSES));
        above = prefix;
    }
    rows[0] |= (uint64_t)above;
    return (struct board){.own = rows[0], .other = rows[1]};
}
