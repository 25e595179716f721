#include "eval/endgame.h"

#include <limits.h>
#include <string.h>

#include "engine/board.h"
#include "eval/features.h"

enum { ENDED = 100000 }; /* above every score: a game that is over is worth its margin */

/* What a search of one ply thinks of a move: the board after it, seen by the mover. */
static int look(const struct rules *rules, const struct weights *weights, struct board after)
{
    if (board_end(after, board_legal(rules, after)) == BOARD_GOES_ON)
        return -features_score(features_key(after), weights);
    int margin = (int)board_store(after.other) - (int)board_store(after.own);
    return margin > 0 ? ENDED + margin : margin < 0 ? -ENDED + margin : 0;
}

/* Seeds to come that a move is sure of: what it captures, less the most that the other side then gets. */
static int worth(const struct tables *tables, struct board board, struct board after)
{
    struct tables_value value;
    if (!tables_probe(tables, &after, &value)) /* fewer seeds than before, so it is there */
        return INT_MIN;
    return (int)board_captured(board, after) - value.up;
}

static void judge_board(const struct tables *tables, const struct weights *weights, struct board board,
                        struct endgame *out)
{
    struct tables_value value;
    unsigned legal = board_legal(&tables->rules, board);
    if (!tables_probe(tables, &board, &value) || value.lo != value.up || (legal & (legal - 1)) == 0)
        return;
    int chosen = 0, highest = INT_MIN;
    for (; legal != 0; legal &= legal - 1) {
        struct board after = board_make(&tables->rules, board, __builtin_ctz(legal));
        int seen = look(&tables->rules, weights, after);
        if (seen > highest) {
            highest = seen;
            chosen = worth(tables, board, after);
        }
    }
    int margin = (int)board_store(board.own) - (int)board_store(board.other) + value.lo;
    int score = features_score(features_key(board), weights);
    out->positions++;
    out->best += chosen >= value.lo;
    out->given_away += chosen < value.lo ? value.lo - chosen : 0;
    out->outcomes += margin != 0;
    out->agreed += (margin > 0 && score > 0) || (margin < 0 && score < 0);
}

void endgame_judge(const struct tables *tables, const struct weights *weights, const struct rows *rows,
                   struct endgame *out)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < rows->count; i++)
        if (features_seeds(rows->items[i].key) <= tables->seeds)
            judge_board(tables, weights, features_board(rows->items[i].key), out);
    if (out->positions > 0)
        out->given_away /= (double)out->positions;
}

/* --- targets --- */

/* The mover's expected result, where the brackets leave no doubt; else -1. */
static float outcome(const struct tables *tables, int seeds, uint64_t key)
{
    struct tables_value value;
    if (features_seeds(key) > seeds)
        return -1.0F;
    struct board board = features_board(key);
    if (!tables_probe(tables, &board, &value))
        return -1.0F;
    int difference = features_difference(key), lo = difference + value.lo, up = difference + value.up;
    return lo > 0 ? 1.0F : up < 0 ? 0.0F : lo == 0 && up == 0 ? 0.5F : -1.0F;
}

void endgame_correct(const struct tables *tables, int seeds, struct merged *merged, size_t count,
                     struct endgame_targets *out)
{
    double decided = 0.0, total = 0.0;
    out->positions = 0;
    for (size_t i = 0; i < count; i++) {
        float result = outcome(tables, seeds, merged[i].key);
        total += (double)merged[i].weight;
        if (result < 0.0F)
            continue;
        decided += (double)merged[i].weight;
        merged[i].target = result;
        out->positions++;
    }
    out->share = total > 0.0 ? decided / total : 0.0;
    if (out->share <= ENDGAME_SHARE || total <= decided)
        return;
    float factor = (float)(ENDGAME_SHARE / (1.0 - ENDGAME_SHARE) * (total - decided) / decided);
    for (size_t i = 0; i < count; i++)
        if (outcome(tables, seeds, merged[i].key) >= 0.0F)
            merged[i].weight *= factor;
}
