/* Random games straight from the rules engine, as rows for COPY: what a database of ten million games is made
 * of.
 *
 *   build/bench/generate EXPERIMENT SEED OPENING_PLIES FIRST_PAIR PAIRS | psql -c "copy kroo.game (...) from
 * stdin"
 *
 * The columns are those of GENERATE_COLUMNS, printed by `build/bench/generate columns`. Legal under the rules
 * `site`, with each pair's opening as an experiment of this seed has it; leases of 64 pairs, dealt to 32
 * sessions in turn. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/game.h"
#include "engine/mix.h"
#include "engine/play.h"

#define GENERATE_COLUMNS                                                                                     \
    "experiment_id, pair_no, leg, attempt, lease_id, session_id, moves, plies, result, reason, south, "      \
    "north, a_half_points, claimed, nodes, time_ms"
enum { LEASE_PAIRS = 64, SESSIONS = 32, NODES = 1000 };

static void play_on(struct game *game, uint64_t bits)
{
    while (!game_over(game)) {
        unsigned legal = game_legal(game);
        bits = mix(bits, legal);
        uint32_t skip = mix_below(bits, (uint32_t)__builtin_popcount(legal));
        while (skip--)
            legal &= legal - 1;
        game_play(game, __builtin_ctz(legal) + 6 * (int)game_position(game).side);
    }
}

static void print_game(const struct game *game, uint64_t experiment, uint64_t pair, unsigned leg)
{
    enum game_result result = game_result(game);
    struct position end = game_position(game);
    unsigned points = result == GAME_DRAW ? 1 : (result == GAME_SOUTH_WINS) == (leg == 0) ? 2 : 0;
    uint64_t lease = pair / LEASE_PAIRS + 1;
    printf("%" PRIu64 "\t%" PRIu64 "\t%u\t1\t%" PRIu64 "\t%" PRIu64
           "\t%s\t%zu\t%s\t%s\t%d\t%d\t%u\tf\t%zu\t%zu\n",
           experiment, pair, leg, lease, lease % SESSIONS + 1, game_moves(game), game_plies(game),
           game_result_text(result), game_reason_text(game_reason(game)), end.stores[SIDE_SOUTH],
           end.stores[SIDE_NORTH], points, NODES * game_plies(game), game_plies(game));
}

int main(int argc, char **argv)
{
    struct rules rules;
    char reason[160], opening[PLAY_OPENING_MAX + 1];
    if (argc == 2 && strcmp(argv[1], "columns") == 0)
        return puts(GENERATE_COLUMNS) < 0;
    if (argc != 6 || rules_parse("site", &rules, reason, sizeof reason) != 0) {
        fprintf(stderr,
                "usage: generate EXPERIMENT SEED OPENING_PLIES FIRST_PAIR PAIRS | generate columns\n");
        return 2;
    }
    uint64_t experiment = strtoull(argv[1], NULL, 10), first = strtoull(argv[4], NULL, 10);
    uint64_t pairs = strtoull(argv[5], NULL, 10);
    struct play_setup setup = {.rules = &rules,
                               .seed = strtoull(argv[2], NULL, 10),
                               .opening_plies = (uint32_t)strtoul(argv[3], NULL, 10)};
    struct game *game = game_create(&rules, NULL);
    for (uint64_t pair = first; game && pair < first + pairs; pair++) {
        int length = play_opening(&setup, pair, opening);
        for (unsigned leg = 0; leg < 2; leg++) {
            size_t played;
            game_reset(game, NULL);
            if (length < 0 || game_play_text(game, opening, (size_t)length, &played) != GAME_OK)
                return 1;
            play_on(game, mix_game_seed(setup.seed, pair, leg));
            print_game(game, experiment, pair, leg);
        }
    }
    game_destroy(game);
    return game == NULL || fflush(stdout) != 0 || ferror(stdout);
}
