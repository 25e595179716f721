#include "eval/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/bytes.h"
#include "eval/features.h"

enum { SEEN_FIRST_CAPACITY = 1 << 12 };

/* Keeps a sample apart from every other draw of the same pair: "sample" in ASCII. */
static const uint64_t sample_stream = UINT64_C(0x73616d706c65);

enum reader_error reader_init(struct reader *reader, const struct rules *rules,
                              const struct reader_filters *filters, size_t rows_limit)
{
    memset(reader, 0, sizeof *reader);
    reader->rules = *rules;
    reader->filters = *filters;
    rows_init(&reader->training, rows_limit);
    rows_init(&reader->validation, rows_limit);
    reader->replayer = replayer_create(rules);
    reader->boards = malloc((GAME_PLIES_MAX + 1) * sizeof *reader->boards);
    reader->seen_capacity = SEEN_FIRST_CAPACITY;
    reader->seen = calloc(reader->seen_capacity, sizeof *reader->seen);
    if (reader->replayer && reader->boards && reader->seen)
        return READER_OK;
    snprintf(reader->reason, sizeof reader->reason, "memory is short");
    return READER_ERROR_MEMORY;
}

enum reader_error reader_on_disk(struct reader *reader, const char *folder)
{
    if (rows_on_disk(&reader->training, folder) == ROWS_OK &&
        rows_on_disk(&reader->validation, folder) == ROWS_OK)
        return READER_OK;
    snprintf(reader->reason, sizeof reader->reason,
             "no file can be made in %.200s; give a folder on a disk with --scratch", folder);
    return READER_ERROR_MEMORY;
}

void reader_done(struct reader *reader)
{
    rows_done(&reader->training);
    rows_done(&reader->validation);
    replayer_destroy(reader->replayer);
    free(reader->boards);
    free(reader->seen);
    for (size_t i = 0; i < reader->source_count; i++)
        book_destroy(reader->sources[i].book);
    reader->source_count = 0;
    reader->replayer = NULL;
    reader->boards = NULL;
    reader->seen = NULL;
}

bool reader_validates(uint64_t experiment_seed, uint64_t pair, uint32_t validation_ppm)
{
    return mix_below(mix(mix(experiment_seed, MIX_STREAM_SPLIT), pair), READER_UNIT) < validation_ppm;
}

/* --- games read before --- */

static uint64_t hash_moves(const char *moves, size_t plies)
{
    uint64_t hash = plies;
    for (size_t i = 0; i < plies; i++)
        hash = (hash ^ (unsigned char)moves[i]) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
    hash = mix_finish(hash);
    return hash ? hash : 1; /* 0 marks a free slot */
}

static bool seen_insert(uint64_t *slots, size_t capacity, uint64_t hash)
{
    size_t at = (size_t)hash & (capacity - 1);
    while (slots[at] != 0 && slots[at] != hash)
        at = (at + 1) & (capacity - 1);
    bool fresh = slots[at] == 0;
    slots[at] = hash;
    return fresh;
}

static enum reader_error seen_grow(struct reader *reader)
{
    if (reader->seen_count < reader->seen_capacity / 2)
        return READER_OK;
    size_t capacity = 2 * reader->seen_capacity;
    uint64_t *slots = calloc(capacity, sizeof *slots);
    if (!slots)
        return READER_ERROR_MEMORY;
    for (size_t i = 0; i < reader->seen_capacity; i++)
        if (reader->seen[i] != 0)
            seen_insert(slots, capacity, reader->seen[i]);
    free(reader->seen);
    reader->seen = slots;
    reader->seen_capacity = capacity;
    return READER_OK;
}

/* --- one game --- */

struct reading {
    struct reader *reader;
    const struct reader_source *source;
    const struct store_training_game *game;
    enum game_result result; /* as stored, checked at the end */
    size_t opening;          /* plies of its opening */
    size_t first;            /* first ply whose game was played out without noise */
    struct rows *rows;
};

static enum reader_error refuse(struct reader *reader, const struct store_training_game *game,
                                enum reader_error error, const char *why)
{
    snprintf(reader->reason, sizeof reader->reason, "experiment %" PRIu64 ", pair %" PRIu64 ", leg %u: %s",
             game->experiment, game->pair, game->leg, why);
    return error;
}

static const struct reader_source *find_source(const struct reader *reader, uint64_t experiment)
{
    for (size_t i = 0; i < reader->source_count; i++)
        if (reader->sources[i].experiment == experiment)
            return &reader->sources[i];
    return NULL;
}

static struct play_setup setup_of(const struct reader *reader, const struct reader_source *source)
{
    return (struct play_setup){.rules = &reader->rules,
                               .seed = source->seed,
                               .opening_plies = source->opening_plies,
                               .noise_ppm = source->noise_ppm,
                               .book = source->book};
}

static size_t after_noise(const struct play_setup *setup, size_t opening,
                          const struct store_training_game *game)
{
    if (setup->noise_ppm == 0)
        return 0;
    for (size_t ply = game->plies; ply > opening; ply--)
        if (play_is_noise(setup, game->pair, game->leg, ply - 1))
            return ply;
    return 0;
}

static bool can_capture(const struct rules *rules, struct board board)
{
    for (unsigned legal = board_legal(rules, board); legal != 0; legal &= legal - 1)
        if (board_captured(board, board_make(rules, board, __builtin_ctz(legal))) > 0)
            return true;
    return false;
}

static uint8_t mover_half_points(enum game_result result, enum side mover)
{
    if (result == GAME_DRAW)
        return 1;
    return (result == GAME_SOUTH_WINS) == (mover == SIDE_SOUTH) ? 2 : 0;
}

/* The line of the counts under which the position before `ply` is left out; NULL when it is kept. */
static uint64_t *left_out(const struct reading *reading, size_t ply, struct board board, int16_t score)
{
    struct reader *reader = reading->reader;
    const struct reader_filters *filters = &reader->filters;
    bool proven = score != PLAY_NO_SCORE && abs(score) >= SEARCH_WIN_BOUND;
    if (ply < reading->opening && !filters->with_opening)
        return &reader->counts.opening;
    if (ply < reading->first)
        return &reader->counts.noise;
    if (proven && !filters->with_decided)
        return &reader->counts.decided;
    if (!filters->with_captures && can_capture(&reader->rules, board))
        return &reader->counts.captures;
    return NULL;
}

static enum reader_error take_position(const struct reading *reading, size_t ply)
{
    struct reader *reader = reading->reader;
    const uint8_t *scores = reading->game->scores;
    int16_t score = scores ? bytes_get_i16(scores + 2 * ply) : PLAY_NO_SCORE;
    struct board board = reader->boards[ply];
    reader->counts.positions++;
    uint64_t *line = left_out(reading, ply, board, score);
    if (line) {
        ++*line;
        return READER_OK;
    }
    struct row row = {.key = features_key(board),
                      .game = (uint32_t)reader->counts.games,
                      .score = score,
                      .half_points =
                          mover_half_points(reading->result, ply % 2 == 0 ? SIDE_SOUTH : SIDE_NORTH)};
    if (reader->training.count + reader->validation.count >= reader->training.limit)
        return READER_ERROR_LIMIT;
    if (rows_add(reading->rows, &row) != ROWS_OK)
        return READER_ERROR_MEMORY;
    reader->counts.unscored += score == PLAY_NO_SCORE;
    return READER_OK;
}

/* Whether the replay came to the end that is stored. Games that tables or a resignation ended are not over by
 * their moves: the coordinator's referee has seen to those. */
static bool same_end(const struct game_ending *ending, const struct store_training_game *game)
{
    if (ending->result == GAME_UNFINISHED)
        return (strcmp(game->reason, "adjudicated") == 0 || strcmp(game->reason, "resign") == 0) &&
               ending->position.stores[SIDE_SOUTH] == game->south &&
               ending->position.stores[SIDE_NORTH] == game->north;
    return ending->result != GAME_UNFINISHED && strcmp(game_result_text(ending->result), game->result) == 0 &&
           strcmp(game_reason_text(ending->reason), game->reason) == 0 &&
           ending->position.stores[SIDE_SOUTH] == game->south &&
           ending->position.stores[SIDE_NORTH] == game->north;
}

/* The boards of the game, all moves and the end checked. */
static enum reader_error replay_game(struct reader *reader, const struct store_training_game *game)
{
    struct replay_game moves = {.moves = game->moves, .length = game->plies, .boards = reader->boards};
    struct replay_outcome outcome;
    replay_games(reader->replayer, &moves, 1, &outcome);
    if (outcome.error == GAME_ERROR_OVER)
        return refuse(reader, game, READER_ERROR_GAME, "has moves after its end; run `kroo verify`");
    if (outcome.error != GAME_OK)
        return refuse(reader, game, READER_ERROR_GAME, "has an illegal move; run `kroo verify`");
    if (!same_end(&outcome.ending, game))
        return refuse(reader, game, READER_ERROR_GAME,
                      "does not replay to its stored result; run `kroo verify`");
    return READER_OK;
}

static enum reader_error take_positions(const struct reading *reading)
{
    const struct store_training_game *game = reading->game;
    for (size_t ply = 0; ply < game->plies; ply++) {
        enum reader_error error = take_position(reading, ply);
        if (error == READER_ERROR_LIMIT)
            return refuse(reading->reader, game, error,
                          "the positions do not fit in the memory allowed; give a larger --memory-mib, a "
                          "--scratch folder, "
                          "a --sample of the pairs, or fewer games");
        if (error != READER_OK)
            return refuse(reading->reader, game, error,
                          "memory or the --scratch folder is full; train on fewer games");
    }
    return READER_OK;
}

static void count_game(struct reader *reader, enum game_result result, bool validation)
{
    reader->counts.games++;
    if (validation) {
        reader->counts.validation_games++;
        return;
    }
    reader->counts.training_games++;
    reader->counts.south += result == GAME_SOUTH_WINS;
    reader->counts.north += result == GAME_NORTH_WINS;
    reader->counts.draws += result == GAME_DRAW;
}

static bool in_sample(const struct reader *reader, const struct reader_source *source, uint64_t pair)
{
    const struct reader_filters *filters = &reader->filters;
    uint64_t bits = mix(mix(mix(sample_stream, filters->seed), source->seed), pair);
    return filters->sample_ppm >= READER_UNIT || mix_below(bits, READER_UNIT) < filters->sample_ppm;
}

/* False when the game is left out: outside the sample, or its moves were read before. */
static bool wanted(struct reader *reader, const struct reader_source *source,
                   const struct store_training_game *game)
{
    if (!in_sample(reader, source, game->pair)) {
        reader->counts.unsampled++;
        return false;
    }
    bool fresh = seen_insert(reader->seen, reader->seen_capacity, hash_moves(game->moves, game->plies));
    reader->seen_count += fresh;
    reader->counts.repeats += !fresh;
    return fresh || reader->filters.with_repeats;
}

static enum reader_error take_game(struct reader *reader, const struct store_training_game *game)
{
    struct reading reading = {
        .reader = reader, .game = game, .source = find_source(reader, game->experiment)};
    int result = game_result_parse(game->result);
    if (!reading.source)
        return refuse(reader, game, READER_ERROR_GAME, "belongs to no experiment that was asked for");
    if (result != GAME_SOUTH_WINS && result != GAME_NORTH_WINS && result != GAME_DRAW)
        return refuse(reader, game, READER_ERROR_GAME, "has no result that can be learned from");
    if (seen_grow(reader) != READER_OK)
        return refuse(reader, game, READER_ERROR_MEMORY, "memory is short; train on fewer games");
    if (!wanted(reader, reading.source, game))
        return READER_OK;
    bool validation = reader_validates(reading.source->seed, game->pair, reader->filters.validation_ppm);
    reading.result = (enum game_result)result;
    struct play_setup setup = setup_of(reader, reading.source);
    reading.opening = play_opening_plies(&setup, game->pair);
    reading.first = after_noise(&setup, reading.opening, game);
    reading.rows = validation ? &reader->validation : &reader->training;
    enum reader_error error = replay_game(reader, game);
    if (error == READER_OK)
        error = take_positions(&reading);
    if (error != READER_OK)
        return error;
    count_game(reader, reading.result, validation);
    reader->counts.training = reader->training.count;
    reader->counts.validation = reader->validation.count;
    if (reader->report && reader->report(reader->report_context, &reader->counts) != 0)
        return refuse(reader, game, READER_ERROR_STOPPED, "stopped on request");
    return READER_OK;
}

int reader_take(void *context, const struct store_training_game *game)
{
    return (int)take_game(context, game);
}
