/* The artifact of a tune: refused with a sentence, or parameters whose start makes a player within its
 * bounds. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/tuning.h"

static void check_players(const struct tuning *tuning)
{
    char reason[TUNING_REASON] = "";
    struct tuning_side side = {.file = NULL};
    double *theta = calloc(tuning->count, sizeof *theta);
    if (!theta)
        return;
    tuning_start(tuning, theta);
    if (tuning_settle(tuning, theta, &side, reason) == 0)
        tuning_side_done(&side);
    else if (reason[0] == '\0')
        abort();
    free(theta);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void *file;
    static size_t file_size;
    if (!file) {
        struct weights *weights = weights_create_starting("site");
        if (!weights || weights_serialize(weights, &file, &file_size) != WEIGHTS_OK)
            abort();
        weights_destroy(weights);
    }
    const struct store_player player = {.options = ""};
    const struct tuning_ground ground = {.player = &player,
                                         .weights = file,
                                         .weights_size = file_size,
                                         .rules = "site",
                                         .pairs = 64,
                                         .seed = 3};
    char reason[TUNING_REASON] = "";
    struct tuning *tuning = tuning_create(data, size, &ground, reason);
    if (!tuning && reason[0] == '\0')
        abort();
    if (tuning)
        check_players(tuning);
    tuning_destroy(tuning);
    return 0;
}
