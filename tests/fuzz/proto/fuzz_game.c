/* One record of a worker's spool: taken and the same again, or refused with a reason. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "proto/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char reason[256] = "";
    struct message_game game, back;
    if (message_game_decode(data, size, &game, reason, sizeof reason) != 0) {
        if (reason[0] == '\0' || game.moves != NULL || game.scores != NULL)
            abort();
        return 0;
    }
    void *bytes = NULL;
    size_t packed = 0;
    if (message_game_encode(&game, &bytes, &packed) != 0 || packed > message_game_bytes(&game))
        abort();
    if (message_game_decode(bytes, packed, &back, reason, sizeof reason) != 0 ||
        strcmp(game.moves, back.moves) != 0 || strlen(game.moves) != game.plies)
        abort();
    message_game_done(&game);
    message_game_done(&back);
    free(bytes);
    return 0;
}
