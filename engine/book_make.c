#include "engine/book_make.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mix.h"
#include "engine/team.h"

enum { BLOCK = 256, PLACES_FIRST = 1 << 12, TRIES_EACH = 100 };

/* A candidate on its way through the tests. */
struct candidate {
    char moves[BOOK_PLIES_MAX + 1];
    struct board board;
    bool ended, duplicate, failed;
    int32_t value;
};

/* What one thread works with. */
struct hand {
    struct game *game;
    struct search *search;
};

struct workshop {
    const struct book_plan *plan;
    struct hand hands[TEAM_MAX];
    struct team *team;
    struct candidate block[BLOCK];
    uint64_t first; /* number of the block's first candidate */
    unsigned filled;
    /* every distinct position met: open addressing */
    struct board *places;
    bool *taken;
    size_t places_capacity, places_count;
    char **kept;
    struct book_counts *counts;
};

struct book_plan book_plan_default(void)
{
    return (struct book_plan){.rules = *rules_preset(0),
                              .seed = 1,
                              .plies = 10,
                              .openings = 1000,
                              .selfplay_nodes = 200,
                              .noise_ppm = 300000,
                              .nodes = 5000,
                              .bound = 100,
                              .threads = 2};
}

uint32_t book_plan_tries(uint32_t openings)
{
    return openings < BOOK_TRIES_MAX / TRIES_EACH ? TRIES_EACH * openings : BOOK_TRIES_MAX;
}

/* --- candidates --- */

static void search_value(struct hand *hand, const struct book_plan *plan, uint64_t nodes,
                         struct search_info *info)
{
    struct search_limits limits = {.nodes = nodes};
    search_new_game(hand->search);
    search_run(hand->search, hand->game, plan->weights, &limits, NULL, NULL, NULL, info);
}

/* A legal house of the side to move: random for the share of noise, else the search's. */
static int choose_house(struct hand *hand, const struct book_plan *plan, uint64_t bits)
{
    unsigned legal = game_legal(hand->game);
    struct search_info info;
    if (plan->selfplay && mix_below(bits, PLAY_NOISE_UNIT) >= plan->noise_ppm) {
        search_value(hand, plan, plan->selfplay_nodes, &info);
        return info.pv[0];
    }
    uint32_t skip = mix_below(mix_finish(bits), (uint32_t)__builtin_popcount(legal));
    for (; skip > 0; skip--)
        legal &= legal - 1;
    return __builtin_ctz(legal) + 6 * game_position(hand->game).side;
}

/* Candidate `number`: a function of the plan and the number. */
static void draw_candidate(struct hand *hand, const struct book_plan *plan, uint64_t number,
                           struct candidate *out)
{
    uint64_t stream = mix(mix(plan->seed, MIX_STREAM_BOOK), number);
    memset(out, 0, sizeof *out);
    game_reset(hand->game, NULL);
    for (unsigned ply = 0; ply < plan->plies && !out->ended; ply++)
        out->ended = game_play(hand->game, choose_house(hand, plan, mix(stream, ply))) != GAME_OK ||
                     game_over(hand->game);
    if (out->ended)
        return;
    struct position position = game_position(hand->game);
    memcpy(out->moves, game_moves(hand->game), plan->plies + 1);
    out->board = board_from_position(&position);
}

static void draw_share(void *context, int member)
{
    struct workshop *shop = context;
    for (unsigned i = (unsigned)member; i < shop->filled; i += (unsigned)team_size(shop->team))
        draw_candidate(&shop->hands[member], shop->plan, shop->first + i, &shop->block[i]);
}

static void value_share(void *context, int member)
{
    struct workshop *shop = context;
    struct hand *hand = &shop->hands[member];
    struct search_info info;
    size_t played;
    for (unsigned i = (unsigned)member; i < shop->filled; i += (unsigned)team_size(shop->team)) {
        struct candidate *candidate = &shop->block[i];
        if (candidate->ended || candidate->duplicate)
            continue;
        game_reset(hand->game, NULL);
        candidate->failed =
            game_play_text(hand->game, candidate->moves, shop->plan->plies, &played) != GAME_OK;
        if (candidate->failed)
            continue;
        search_value(hand, shop->plan, shop->plan->nodes, &info);
        candidate->value = info.score;
    }
}

/* --- positions met --- */

static size_t place_of(const struct workshop *shop, struct board board)
{
    size_t at = board_hash(board) & (shop->places_capacity - 1);
    while (shop->taken[at] && !board_equal(shop->places[at], board))
        at = (at + 1) & (shop->places_capacity - 1);
    return at;
}

static bool places_grow(struct workshop *shop, size_t capacity)
{
    struct board *old = shop->places;
    bool *old_taken = shop->taken;
    size_t old_capacity = shop->places_capacity;
    struct board *places = malloc(capacity * sizeof *places);
    bool *taken = calloc(capacity, sizeof *taken);
    if (places == NULL || taken == NULL) {
        free(places);
        free(taken);
        return false;
    }
    shop->places = places;
    shop->taken = taken;
    shop->places_capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++)
        if (old_taken[i]) {
            size_t at = place_of(shop, old[i]);
            places[at] = old[i];
            taken[at] = true;
        }
    free(old);
    free(old_taken);
    return true;
}

/* Marks the candidates whose position came before, in their order. */
static bool mark_duplicates(struct workshop *shop)
{
    for (unsigned i = 0; i < shop->filled; i++) {
        struct candidate *candidate = &shop->block[i];
        if (candidate->ended)
            continue;
        if (2 * (shop->places_count + 1) > shop->places_capacity &&
            !places_grow(shop, 2 * shop->places_capacity))
            return false;
        size_t at = place_of(shop, candidate->board);
        candidate->duplicate = shop->taken[at];
        if (candidate->duplicate)
            continue;
        shop->places[at] = candidate->board;
        shop->taken[at] = true;
        shop->places_count++;
    }
    return true;
}

/* --- a block --- */

static bool keep(struct workshop *shop, const struct candidate *candidate)
{
    char *moves = strdup(candidate->moves);
    if (moves != NULL)
        shop->kept[shop->counts->kept++] = moves;
    return moves != NULL;
}

/* Counts the candidates in their order, until the book is full. */
static bool take_block(struct workshop *shop)
{
    const struct book_plan *plan = shop->plan;
    struct book_counts *counts = shop->counts;
    for (unsigned i = 0; i < shop->filled && counts->kept < plan->openings; i++) {
        const struct candidate *candidate = &shop->block[i];
        counts->tried++;
        if (candidate->failed)
            return false;
        if (candidate->ended)
            counts->ended++;
        else if (candidate->duplicate)
            counts->duplicates++;
        else if (abs(candidate->value) > plan->bound)
            counts->unbalanced++;
        else if (!keep(shop, candidate))
            return false;
    }
    return true;
}

static enum book_error run(struct workshop *shop, book_told *told, void *context)
{
    const struct book_plan *plan = shop->plan;
    struct book_counts *counts = shop->counts;
    while (counts->kept < plan->openings && counts->tried < plan->tries) {
        uint64_t left = plan->tries - counts->tried;
        shop->first = counts->tried;
        shop->filled = left < BLOCK ? (unsigned)left : BLOCK;
        team_run(shop->team, draw_share, shop);
        if (!mark_duplicates(shop))
            return BOOK_ERROR_MEMORY;
        team_run(shop->team, value_share, shop);
        if (!take_block(shop))
            return BOOK_ERROR_MEMORY;
        if (told != NULL && !told(context, counts))
            return BOOK_ERROR_STOPPED;
    }
    return counts->kept > 0 ? BOOK_OK : BOOK_ERROR_COUNT;
}

/* --- the workshop --- */

static bool open_workshop(struct workshop *shop)
{
    const struct book_plan *plan = shop->plan;
    shop->team = team_create(plan->threads);
    shop->kept = calloc(plan->openings, sizeof *shop->kept);
    if (shop->team == NULL || shop->kept == NULL || !places_grow(shop, PLACES_FIRST))
        return false;
    for (int i = 0; i < plan->threads; i++) {
        shop->hands[i].game = game_create(&plan->rules, NULL);
        shop->hands[i].search = search_create(BOOK_HASH_KIB);
        if (shop->hands[i].game == NULL || shop->hands[i].search == NULL)
            return false;
    }
    return true;
}

static void close_workshop(struct workshop *shop)
{
    team_destroy(shop->team);
    for (int i = 0; i < TEAM_MAX; i++) {
        game_destroy(shop->hands[i].game);
        search_destroy(shop->hands[i].search);
    }
    for (uint64_t i = 0; i < shop->counts->kept; i++)
        free(shop->kept[i]);
    free(shop->kept);
    free(shop->places);
    free(shop->taken);
    free(shop);
}

static void say_made(const struct book_plan *plan, const struct book_counts *counts, char made[BOOK_MADE_MAX])
{
    char how[96] = "random";
    if (plan->selfplay)
        snprintf(how, sizeof how, "self-played (%" PRIu64 " nodes, %.4f %% random)", plan->selfplay_nodes,
                 plan->noise_ppm / 1e4);
    snprintf(made, BOOK_MADE_MAX,
             "%u %s plies, value within %d at %" PRIu64 " nodes, weights %s, seed %" PRIu64 "; kept %" PRIu64
             " of %" PRIu64 " tried, %" PRIu64 " duplicates, %" PRIu64 " unbalanced, %" PRIu64 " ended",
             plan->plies, how, plan->bound, plan->nodes, plan->weights_name, plan->seed, counts->kept,
             counts->tried, counts->duplicates, counts->unbalanced, counts->ended);
}

enum book_error book_make(const struct book_plan *plan, book_told *told, void *context,
                          struct book_counts *counts, struct book **out)
{
    assert(plan->plies >= 1 && plan->plies <= BOOK_PLIES_MAX && plan->openings >= 1 &&
           plan->openings <= BOOK_OPENINGS_MAX && plan->tries <= BOOK_TRIES_MAX && plan->threads >= 1 &&
           plan->threads <= TEAM_MAX);
    char made[BOOK_MADE_MAX];
    struct workshop *shop = calloc(1, sizeof *shop);
    memset(counts, 0, sizeof *counts);
    if (shop == NULL)
        return BOOK_ERROR_MEMORY;
    shop->plan = plan;
    shop->counts = counts;
    enum book_error error = open_workshop(shop) ? run(shop, told, context) : BOOK_ERROR_MEMORY;
    if (error == BOOK_OK) {
        say_made(plan, counts, made);
        error = book_create(&plan->rules, made, (const char *const *)shop->kept, (uint32_t)counts->kept, out,
                            NULL);
    }
    close_workshop(shop);
    return error;
}

/* --- measuring --- */

struct trial {
    const struct book_trial *plan;
    struct play_side sides[2];
    struct play_seats *seats[TEAM_MAX];
    struct team *team;
    uint32_t first, filled;
    int8_t classes[BLOCK]; /* -1: a game failed */
    uint64_t plies[BLOCK];
};

/* Half points of player a in a game; -1 when it failed. */
static int play_leg(struct trial *trial, int member, uint64_t pair, unsigned leg, uint64_t *plies)
{
    struct play_record record;
    if (play_game(trial->seats[member], trial->plan->setup, &trial->sides[0], &trial->sides[1], pair, leg,
                  NULL, NULL, &record) != PLAY_DONE)
        return -1;
    bool a_won = (record.result == GAME_SOUTH_WINS) == (leg == 0);
    int points = record.result == GAME_DRAW ? 1 : a_won ? 2 : 0;
    *plies += record.plies;
    play_record_done(&record);
    return points;
}

static void try_share(void *context, int member)
{
    /* By half points of both games, in any order: LL, LD, DD or WL, DW, WW. */
    static const int8_t by_points[] = {0, 1, 2, 4, 5};
    struct trial *trial = context;
    for (uint32_t i = (uint32_t)member; i < trial->filled; i += (uint32_t)team_size(trial->team)) {
        trial->plies[i] = 0;
        int one = play_leg(trial, member, trial->first + i, 0, &trial->plies[i]);
        int other = play_leg(trial, member, trial->first + i, 1, &trial->plies[i]);
        trial->classes[i] = one < 0 || other < 0           ? -1
                            : one + other == 2 && one != 1 ? BOOK_CLASS_WL
                                                           : by_points[one + other];
    }
}

static bool take_pairs(const struct trial *trial, struct book_measure *out)
{
    for (uint32_t i = 0; i < trial->filled; i++) {
        if (trial->classes[i] < 0)
            return false;
        out->pairs++;
        out->classes[trial->classes[i]]++;
        out->plies += trial->plies[i];
    }
    return true;
}

bool book_try(const struct book_trial *plan, bool (*told)(void *context, uint64_t pairs), void *context,
              struct book_measure *out)
{
    struct trial *trial = calloc(1, sizeof *trial);
    memset(out, 0, sizeof *out);
    if (trial == NULL)
        return false;
    trial->plan = plan;
    trial->sides[0] = (struct play_side){.weights = plan->weights,
                                         .limits = {.nodes = plan->nodes + plan->nodes / 4},
                                         .hash_kib = BOOK_HASH_KIB};
    trial->sides[1] = (struct play_side){
        .weights = plan->weights, .limits = {.nodes = plan->nodes}, .hash_kib = BOOK_HASH_KIB};
    trial->team = team_create(plan->threads);
    bool going = trial->team != NULL;
    for (int i = 0; i < plan->threads; i++)
        going = (trial->seats[i] = play_seats_create()) != NULL && going;
    while (going && out->pairs < plan->pairs) {
        uint32_t left = plan->pairs - (uint32_t)out->pairs;
        trial->first = (uint32_t)out->pairs;
        trial->filled = left < BLOCK / 8 ? left : BLOCK / 8; /* so that progress is told often */
        team_run(trial->team, try_share, trial);
        going = take_pairs(trial, out) && (told == NULL || told(context, out->pairs));
    }
    team_destroy(trial->team);
    for (int i = 0; i < plan->threads; i++)
        play_seats_destroy(trial->seats[i]);
    free(trial);
    return going;
}
