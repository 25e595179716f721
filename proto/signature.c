#include "proto/signature.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "proto/artifact.h"

/* Prefixes of two games, from the start to endgames. */
static const char *const games[2] = {
    "BbEdAeBcFfFeEfFdBeCaCdBcDbEcAdFeEfFeEdBfCeEcBdCfFcDbFaCfEdDbFfEaFa",
    "BeCcAbCdAfAeBfFfCeFdBaBeFdEcCbEeDdFaEfBdDaAeBfAcAfFbEfFeCfBdAfEeAfAcFdDaFeEaFaCfAbDfEeAfAcBbFdEaCfFeAfDa"
    "FaEc",
};
static const struct {
    unsigned char game, plies;
} positions[SIGNATURE_POSITIONS] = {{0, 0},  {0, 7},  {1, 11}, {0, 18}, {1, 24}, {0, 31},
                                    {1, 40}, {0, 46}, {1, 57}, {0, 60}, {1, 76}, {1, 99}};

void signature_position(unsigned index, char moves[SIGNATURE_MOVES_MAX])
{
    snprintf(moves, SIGNATURE_MOVES_MAX, "%.*s", positions[index].plies, games[positions[index].game]);
}

enum dialect_error signature_ask(struct dialect *dialect, char signature[SIGNATURE_TEXT],
                                 atomic_uint *answers, char *reason, size_t reason_size)
{
    const struct dialect_limits limits = {.nodes = SIGNATURE_NODES};
    char moves[SIGNATURE_MOVES_MAX], told[SIGNATURE_POSITIONS * 48] = "", hex[ARTIFACT_HEX];
    uint8_t hash[ARTIFACT_HASH];
    size_t size = 0;
    for (unsigned index = 0; index < SIGNATURE_POSITIONS; index++) {
        struct dialect_answer answer = {.move = '\0'};
        signature_position(index, moves);
        enum dialect_error error = dialect_new_game(dialect, reason, reason_size);
        if (error == DIALECT_OK)
            error = dialect_ready(dialect, reason, reason_size);
        if (error == DIALECT_OK)
            error = dialect_think(dialect, moves, &limits, &answer, reason, reason_size);
        if (error != DIALECT_OK)
            return error;
        size += (size_t)snprintf(told + size, sizeof told - size, "%c %d %" PRIu64 "\n",
                                 answer.move != '\0' ? answer.move : '?', (int)answer.score, answer.nodes);
        if (answers != NULL)
            atomic_fetch_add(answers, 1);
    }
    artifact_hash(told, size, hash);
    artifact_hex(hash, hex);
    snprintf(signature, SIGNATURE_TEXT, "%.16s", hex);
    return DIALECT_OK;
}
