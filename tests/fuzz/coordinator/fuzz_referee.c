/* A game as a worker sends it, judged: refused with a reason, or a row whose numbers can be stored. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/referee.h"

static struct store_experiment experiment = {
    .id = 7, .seed = 99, .planned_pairs = UINT64_C(1) << 40, .with_scores = true};

static struct referee *referee(void)
{
    static struct referee desk;
    char reason[256];
    if (desk.terms)
        return &desk;
    strcpy(experiment.rules, "site");
    strcpy(experiment.a.engine_build, "build");
    memset(experiment.a.weights, 1, STORE_HASH);
    memset(experiment.b.weights, 2, STORE_HASH);
    if (referee_init(&desk, &experiment, reason, sizeof reason) != 0)
        abort();
    return &desk;
}

/* The input is a record as workers send it; what a worker cannot choose, if its games are to be looked at at
 * all, is set right, so that the moves decide. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct message_game game;
    struct store_game row = {.plies = 0};
    char reason[256] = "";
    if (message_game_decode(data, size, &game, reason, sizeof reason) != 0)
        return 0;
    game.experiment = 7;
    strcpy(game.engine_build, "build");
    memset(game.weights_a, 1, MESSAGE_HASH);
    memset(game.weights_b, 2, MESSAGE_HASH);
    if (referee_judge(referee(), &game, &row, reason, sizeof reason) != 0) {
        if (reason[0] == '\0')
            abort();
    } else if (row.south + row.north > 48 || row.plies != strlen(game.moves) || row.a_half_points > 2) {
        abort();
    }
    message_game_done(&game);
    return 0;
}
