#include "engine/play.h"

#include <stdlib.h>
#include <string.h>

#include "engine/adjudicate.h"
#include "engine/clock.h"
#include "engine/mix.h"

enum { OPENING_DRAWS = 1000 };
_Static_assert((int)BOOK_PLIES_MAX <= (int)PLAY_OPENING_MAX, "an opening of a book fits the buffers");

/* --- openings and noise --- */

/* One of the legal houses of an unfinished game, absolute, each with equal chance. */
static int random_house(const struct game *game, uint64_t bits)
{
    unsigned legal = game_legal(game);
    uint32_t skip = mix_below(bits, (uint32_t)__builtin_popcount(legal));
    for (; skip > 0; skip--)
        legal &= legal - 1;
    return __builtin_ctz(legal) + 6 * game_position(game).side;
}

/* Plays one draw of an opening on a game at its start; false when it ends the game. */
static bool draw_opening(struct game *game, uint64_t seed, unsigned plies)
{
    for (unsigned ply = 0; ply < plies; ply++)
        if (game_play(game, random_house(game, mix(seed, ply))) != GAME_OK || game_over(game))
            return false;
    return true;
}

/* The book's opening of `pair`; NULL when the book is used up. */
static const char *book_moves(const struct play_setup *setup, uint64_t pair, unsigned *plies)
{
    const struct book *book = setup->book;
    if (pair >= book->count)
        return NULL;
    return book_opening(book, book_permute(book->count, setup->seed, pair), plies);
}

static int play_book_on(struct game *game, const struct play_setup *setup, uint64_t pair)
{
    unsigned plies;
    size_t played;
    const char *moves = book_moves(setup, pair, &plies);
    game_reset(game, NULL);
    if (moves == NULL || game_play_text(game, moves, plies, &played) != GAME_OK || game_over(game))
        return -1;
    return 0;
}

/* Leaves the opening of `pair` on `game`; 0, or -1 when there is none. */
static int play_opening_on(struct game *game, const struct play_setup *setup, uint64_t pair)
{
    uint64_t seed = mix_opening_seed(setup->seed, pair);
    if (setup->book != NULL)
        return play_book_on(game, setup, pair);
    if (setup->opening_plies > PLAY_OPENING_MAX)
        return -1;
    for (uint64_t draw = 0; draw < OPENING_DRAWS; draw++) {
        game_reset(game, NULL);
        if (!game_over(game) && draw_opening(game, mix(seed, draw), setup->opening_plies))
            return 0;
    }
    return -1;
}

int play_opening(const struct play_setup *setup, uint64_t pair, char *moves)
{
    struct game *game = game_create(setup->rules, NULL);
    if (!game)
        return -1;
    int length = -1;
    if (play_opening_on(game, setup, pair) == 0) {
        length = (int)game_plies(game);
        memcpy(moves, game_moves(game), (size_t)length + 1);
    }
    game_destroy(game);
    return length;
}

size_t play_opening_plies(const struct play_setup *setup, uint64_t pair)
{
    unsigned plies;
    if (setup->book == NULL)
        return setup->opening_plies;
    return book_moves(setup, pair, &plies) != NULL ? plies : 0;
}

/* The bits behind ply `ply` of a game: whether it is noise, and mixed once more, which move it is. */
static uint64_t noise_bits(const struct play_setup *setup, uint64_t pair, unsigned leg, size_t ply)
{
    return mix(mix(mix_game_seed(setup->seed, pair, leg), MIX_STREAM_NOISE), ply);
}

bool play_is_noise(const struct play_setup *setup, uint64_t pair, unsigned leg, size_t ply)
{
    if (setup->noise_ppm == 0 || ply < play_opening_plies(setup, pair))
        return false;
    return mix_below(noise_bits(setup, pair, leg, ply), PLAY_NOISE_UNIT) < setup->noise_ppm;
}

/* --- seats --- */

/* One for each player, a and b: nobody profits from what the other has searched. */
struct play_seats {
    struct search *searches[2];
    unsigned hash_kib[2];
    const struct play_mover *movers[2]; /* NULL: the search */
    atomic_uint *pulse;                 /* NULL: nobody watches */
};

struct play_seats *play_seats_create(void)
{
    return calloc(1, sizeof(struct play_seats));
}

void play_seats_destroy(struct play_seats *seats)
{
    if (!seats)
        return;
    search_destroy(seats->searches[0]);
    search_destroy(seats->searches[1]);
    free(seats);
}

void play_seats_use(struct play_seats *seats, unsigned seat, const struct play_mover *mover)
{
    seats->movers[seat & 1] = mover;
}

void play_seats_pulse(struct play_seats *seats, atomic_uint *pulse)
{
    seats->pulse = pulse;
}

/* The seat's search, emptied, of the size asked for; NULL when memory is short. */
static struct search *seat_prepare(struct play_seats *seats, int seat, const struct play_side *side)
{
    if (seats->searches[seat] && seats->hash_kib[seat] != side->hash_kib) {
        search_destroy(seats->searches[seat]);
        seats->searches[seat] = NULL;
    }
    if (!seats->searches[seat]) {
        seats->searches[seat] = search_create(side->hash_kib);
        seats->hash_kib[seat] = side->hash_kib;
    }
    if (seats->searches[seat])
        search_new_game(seats->searches[seat]);
    return seats->searches[seat];
}

/* --- a game --- */

/* What is at hand while one game is played. */
struct table {
    const struct play_setup *setup;
    const struct play_side *sides[2]; /* South, North */
    struct search *searches[2];       /* NULL where a mover plays */
    const struct play_mover *movers[2];
    bool moved[2];      /* the mover has answered with a move in this game */
    int64_t left_us[2]; /* on the clocks of those who have one */
    struct search_clock clock;
    int64_t until_us;       /* the game ends by then; 0: no bound */
    enum game_reason fault; /* of the side to move, which loses by it */
    struct adjudicator adjudicator;
    struct adjudication early; /* how the game ended before its rules ended it */
    struct game *game;
    uint64_t pair;
    unsigned leg;
    atomic_bool *stop;
    atomic_uint *progress, *pulse;
    int16_t *scores; /* capacity entries */
    size_t capacity;
    struct play_record *out;
};

static bool table_stopped(const struct table *table)
{
    return table->stop && atomic_load_explicit(table->stop, memory_order_relaxed);
}

static bool table_overtime(const struct table *table)
{
    return table->until_us > 0 && clock_now_us() >= table->until_us;
}

/* Room for the score of the next ply. */
static bool table_reserve(struct table *table)
{
    if (game_plies(table->game) < table->capacity)
        return true;
    size_t capacity = 2 * table->capacity;
    int16_t *scores = realloc(table->scores, capacity * sizeof *scores);
    if (!scores)
        return false;
    table->scores = scores;
    table->capacity = capacity;
    return true;
}

/* The house a mover answers with, or -1 after setting the fault. */
static int table_ask(struct table *table, unsigned side, int16_t *score)
{
    const struct play_mover *mover = table->movers[side];
    struct play_move move = {.house = -1, .score = PLAY_NO_SCORE};
    for (int i = 0; i < 2; i++) {
        /* Less than a millisecond is one: none would mean that there is no clock. */
        move.clock_ms[i] = table->left_us[i] > 1000 ? table->left_us[i] / 1000 : table->left_us[i] > 0;
        move.increment_ms[i] = table->sides[i]->increment_ms;
    }
    enum play_answer answer = mover->choose(mover->context, table->game, table->stop, &move);
    int own = move.house - 6 * (int)side;
    bool legal = own >= 0 && own < 6 && (game_legal(table->game) >> own & 1) != 0;
    table->out->nodes += move.nodes;
    table->out->time_ms += move.time_ms;
    if (answer == PLAY_ANSWER_MOVE && legal) {
        table->moved[side] = true;
        *score = move.score;
        return move.house;
    }
    table->fault = answer == PLAY_ANSWER_MOVE       ? GAME_REASON_ILLEGAL_MOVE
                   : answer == PLAY_ANSWER_DEADLINE ? GAME_REASON_DEADLINE
                                                    : GAME_REASON_CRASH;
    return -1;
}

static int table_search(struct table *table, unsigned side, int16_t *score)
{
    struct search_limits limits = table->sides[side]->limits;
    struct search_info info;
    limits.pulse = table->pulse;
    if (table->sides[side]->clock_ms > 0) {
        int64_t soft_ms, hard_ms;
        clock_share(table->left_us[side] / 1000, table->sides[side]->increment_ms, 0, &soft_ms, &hard_ms);
        search_clock_set(&table->clock, soft_ms, hard_ms);
        limits.clock = &table->clock;
    } else if (table->until_us > 0) {
        /* What a search answers that this has ended is never played: the game is over by then. */
        int64_t left_ms = (table->until_us - clock_now_us()) / 1000;
        search_clock_set(&table->clock, 0, left_ms > 0 ? left_ms + 1 : 1);
        limits.clock = &table->clock;
    }
    int house = search_run(table->searches[side], table->game, table->sides[side]->weights, &limits,
                           table->stop, NULL, NULL, &info);
    *score = (int16_t)info.score;
    table->out->nodes += info.nodes;
    table->out->time_ms += info.time_ms;
    table->moved[side] = true;
    return house;
}

/* Takes the time of a move off its side's clock; false when the flag falls. */
static bool table_punch(struct table *table, unsigned side, int64_t spent_us)
{
    table->left_us[side] -= spent_us;
    if (table->left_us[side] <= 0) {
        table->fault = GAME_REASON_DEADLINE;
        return false;
    }
    table->left_us[side] += 1000 * table->sides[side]->increment_ms;
    return true;
}

/* Chooses the next move and its score; -1 where a mover is at fault, or its time is over. */
static int table_choose(struct table *table, int16_t *score)
{
    size_t ply = game_plies(table->game);
    *score = PLAY_NO_SCORE;
    if (play_is_noise(table->setup, table->pair, table->leg, ply)) {
        uint64_t bits = noise_bits(table->setup, table->pair, table->leg, ply);
        return random_house(table->game, mix_finish(bits));
    }
    unsigned side = game_position(table->game).side;
    int64_t began_us = clock_now_us();
    int house = table->movers[side] ? table_ask(table, side, score) : table_search(table, side, score);
    return table->sides[side]->clock_ms == 0 || house < 0 ||
                   table_punch(table, side, clock_now_us() - began_us)
               ? house
               : -1;
}

static enum play_status table_play(struct table *table)
{
    struct game *game = table->game;
    for (size_t ply = 0; ply < game_plies(game); ply++)
        table->scores[ply] = PLAY_NO_SCORE;
    table->early = adjudicator_begin(&table->adjudicator, table->setup, table->pair, table->leg, game);
    while (!game_over(game) && table->early.result == GAME_UNFINISHED) {
        if (!table_reserve(table))
            return PLAY_MEMORY;
        int16_t score;
        size_t ply = game_plies(game);
        if (ply >= GAME_PLIES_MAX)
            return PLAY_TOO_LONG;
        int house = table_choose(table, &score);
        if (table_stopped(table))
            return PLAY_STOPPED;
        if (table_overtime(table))
            return PLAY_OVERTIME;
        if (house < 0)
            return table->moved[game_position(game).side] ? PLAY_DONE : PLAY_FAILED;
        enum game_error error = game_play(game, house);
        if (error != GAME_OK)
            return error == GAME_ERROR_LENGTH ? PLAY_TOO_LONG : PLAY_MEMORY;
        table->scores[ply] = score;
        if (!game_over(game))
            table->early = adjudicator_ply(&table->adjudicator, game, score);
        if (table->progress)
            atomic_store_explicit(table->progress, (unsigned)(ply + 1), memory_order_relaxed);
    }
    return PLAY_DONE;
}

/* Takes the table's scores into the record. */
static enum play_status table_record(struct table *table)
{
    struct play_record *out = table->out;
    struct position position = game_position(table->game);
    out->moves = strdup(game_moves(table->game));
    if (!out->moves)
        return PLAY_MEMORY;
    out->scores = table->scores;
    table->scores = NULL;
    out->plies = game_plies(table->game);
    out->result = game_result(table->game);
    out->reason = game_reason(table->game);
    if (table->early.result != GAME_UNFINISHED) {
        out->result = table->early.result;
        out->reason = table->early.reason;
    }
    if (table->fault != GAME_REASON_NONE) {
        out->result = position.side == SIDE_SOUTH ? GAME_NORTH_WINS : GAME_SOUTH_WINS;
        out->reason = table->fault;
    }
    memcpy(out->stores, position.stores, sizeof out->stores);
    return PLAY_DONE;
}

/* Seats player a (0) or b (1) on its side. */
static enum play_status table_seat(struct table *table, struct play_seats *seats, int seat, unsigned side)
{
    const struct play_mover *mover = seats->movers[seat];
    table->movers[side] = mover;
    if (mover)
        return mover->begin(mover->context, table->stop) == PLAY_ANSWER_MOVE ? PLAY_DONE
               : table_stopped(table)                                        ? PLAY_STOPPED
                                                                             : PLAY_FAILED;
    table->searches[side] = seat_prepare(seats, seat, table->sides[side]);
    return table->searches[side] ? PLAY_DONE : PLAY_MEMORY;
}

static enum play_status table_run(struct table *table, struct play_seats *seats)
{
    unsigned south = table->leg & 1; /* 0: player a is South */
    enum play_status status = table_seat(table, seats, 0, south);
    if (status == PLAY_DONE)
        status = table_seat(table, seats, 1, 1 - south);
    if (status != PLAY_DONE)
        return status;
    table->capacity = 2 * PLAY_OPENING_MAX;
    table->scores = malloc(table->capacity * sizeof *table->scores);
    table->game = game_create(table->setup->rules, NULL);
    if (!table->scores || !table->game)
        return PLAY_MEMORY;
    if (play_opening_on(table->game, table->setup, table->pair) != 0)
        return PLAY_NO_OPENING;
    for (int side = 0; side < 2; side++)
        table->left_us[side] = 1000 * table->sides[side]->clock_ms;
    if (table->setup->most_ms > 0)
        table->until_us = clock_now_us() + 1000 * table->setup->most_ms;
    status = table_play(table);
    return status == PLAY_DONE ? table_record(table) : status;
}

enum play_status play_game(struct play_seats *seats, const struct play_setup *setup,
                           const struct play_side *a, const struct play_side *b, uint64_t pair, unsigned leg,
                           atomic_bool *stop, atomic_uint *progress, struct play_record *out)
{
    memset(out, 0, sizeof *out);
    struct table table = {.setup = setup,
                          .sides = {leg & 1 ? b : a, leg & 1 ? a : b},
                          .pair = pair,
                          .leg = leg,
                          .stop = stop,
                          .progress = progress,
                          .pulse = seats->pulse,
                          .out = out};
    enum play_status status = table_run(&table, seats);
    if (status != PLAY_DONE)
        play_record_done(out);
    if ((status == PLAY_FAILED || status == PLAY_OVERTIME) && table.game) {
        out->moves = strdup(game_moves(table.game));
        out->plies = out->moves ? game_plies(table.game) : 0;
    }
    free(table.scores);
    game_destroy(table.game);
    return status;
}

void play_record_done(struct play_record *record)
{
    free(record->moves);
    free(record->scores);
    memset(record, 0, sizeof *record);
}
