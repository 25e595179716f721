/* The rules engine in SQL: kroo_oware--1.0.sql says what each function answers. Runs inside the server, so:
 * every input is checked and refused with the ply and the reason, memory is bounded by the longest game
 * (16,384 plies), replays can be cancelled, and an error anywhere leaves nothing behind. A game belongs to
 * the memory context it is kept in and goes with it. */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "engine/game.h"
#include "engine/index.h"

PG_MODULE_MAGIC;

enum { HOUSES = 12, INTERRUPT_PLIES = 256 };

/* --- a game in a memory context --- */

struct replay {
    struct game *game;
    MemoryContextCallback forget;
};

static void forget_game(void *context)
{
    struct replay *replay = context;
    game_destroy(replay->game);
    replay->game = NULL;
}

static void refuse_rules(const char *text, const char *why)
{
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("no rule set \"%.60s\"", text),
                    errdetail("%s", why)));
}

static char *short_text(const text *value, int most, const char *what)
{
    int length = (int)VARSIZE_ANY_EXHDR(value);
    if (length > most)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("%s of %d bytes: at most %d are read", what, length, most)));
    return text_to_cstring(value);
}

/* A game under these rules that lives as long as `context`. */
static struct replay *replay_create(MemoryContext context, const text *rules_value)
{
    struct rules rules;
    char why[256];
    char *rules_text = short_text(rules_value, RULES_NAME_MAX, "rules");
    if (rules_parse(rules_text, &rules, why, sizeof why) != 0)
        refuse_rules(rules_text, why);
    struct replay *replay = MemoryContextAllocZero(context, sizeof *replay);
    replay->forget = (MemoryContextCallback){.func = forget_game, .arg = replay};
    MemoryContextRegisterResetCallback(context, &replay->forget);
    replay->game = game_create(&rules, NULL);
    if (replay->game == NULL)
        ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("no memory for a game")));
    return replay;
}

/* The same from row to row of a query: made once for each text of rules. */
struct replay_cache {
    struct replay *replay;
    Size rules_size;
    char rules[RULES_NAME_MAX];
};

static struct game *replay_cached(FunctionCallInfo fcinfo, const text *rules)
{
    struct replay_cache *cache = fcinfo->flinfo->fn_extra;
    Size size = VARSIZE_ANY_EXHDR(rules);
    if (cache == NULL) {
        cache = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof *cache);
        fcinfo->flinfo->fn_extra = cache;
    }
    if (cache->replay == NULL || cache->rules_size != size ||
        memcmp(cache->rules, VARDATA_ANY(rules), size) != 0) {
        if (cache->replay != NULL)
            forget_game(cache->replay);
        cache->replay = NULL;
        struct replay *made = replay_create(fcinfo->flinfo->fn_mcxt, rules);
        cache->rules_size = size;
        memcpy(cache->rules, VARDATA_ANY(rules), size);
        cache->replay = made;
    }
    game_reset(cache->replay->game, NULL);
    return cache->replay->game;
}

/* --- moves --- */

struct moves {
    const char *letters;
    int count;
};

/* The size is known before the text is unpacked, so that a huge one is refused cheaply. */
static struct moves read_moves(Datum value)
{
    Size size = toast_raw_datum_size(value) - VARHDRSZ;
    if (size > GAME_PLIES_MAX)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("%zu plies: no game has more than %d", (size_t)size, GAME_PLIES_MAX)));
    text *unpacked = DatumGetTextPP(value);
    return (struct moves){VARDATA_ANY(unpacked), (int)VARSIZE_ANY_EXHDR(unpacked)};
}

static void refuse_ply(const struct game *game, struct moves moves, int ply, enum game_error error)
{
    unsigned char letter = (unsigned char)moves.letters[ply];
    char shown[8];
    snprintf(shown, sizeof shown, letter >= 0x20 && letter < 0x7f ? "%c" : "\\x%02x", letter);
    if (error == GAME_ERROR_MEMORY)
        ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("no memory at ply %d", ply + 1)));
    if (error == GAME_ERROR_OVER)
        ereport(ERROR,
                (errcode(ERRCODE_DATA_EXCEPTION), errmsg("ply %d, %s: the game was over", ply + 1, shown),
                 errdetail("It ended after %d plies by %s.", ply, game_reason_text(game_reason(game)))));
    bool house = position_letter_house((char)letter) >= 0;
    ereport(
        ERROR,
        (errcode(ERRCODE_DATA_EXCEPTION),
         errmsg("ply %d, %s: %s", ply + 1, shown, house ? "not a legal move" : "no house has this letter"),
         errdetail("%s is to move under the rules %s.",
                   game_position(game).side == SIDE_SOUTH ? "South" : "North", game_rules(game)->name)));
}

static void play_ply(struct game *game, struct moves moves, int ply)
{
    if (ply % INTERRUPT_PLIES == 0)
        CHECK_FOR_INTERRUPTS();
    enum game_error error = game_play_letter(game, moves.letters[ply]);
    if (error != GAME_OK)
        refuse_ply(game, moves, ply, error);
}

/* --- values --- */

static Datum side_datum(enum side side)
{
    return CStringGetTextDatum(side == SIDE_SOUTH ? "south" : "north");
}

static Datum counts_datum(const uint8_t *counts, int count)
{
    Datum values[HOUSES];
    for (int i = 0; i < count; i++)
        values[i] = Int32GetDatum(counts[i]);
    return PointerGetDatum(construct_array(values, count, INT4OID, sizeof(int32), true, TYPALIGN_INT));
}

static int64 position_key(const struct position *position, bool twins)
{
    struct board board = board_from_position(position);
    bool north = position->side == SIDE_NORTH && !twins;
    return (int64)(2 * index_board(board) + (north ? 1 : 0));
}

static TupleDesc result_type(FunctionCallInfo fcinfo)
{
    TupleDesc type;
    if (get_call_result_type(fcinfo, NULL, &type) != TYPEFUNC_COMPOSITE)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("a record is returned where none is expected")));
    return BlessTupleDesc(type);
}

/* --- the functions --- */

struct positions {
    struct replay *replay;
    struct moves moves;
};

PG_FUNCTION_INFO_V1(oware_positions);
Datum oware_positions(PG_FUNCTION_ARGS)
{
    FuncCallContext *call;
    if (SRF_IS_FIRSTCALL()) {
        call = SRF_FIRSTCALL_INIT();
        MemoryContext before = MemoryContextSwitchTo(call->multi_call_memory_ctx);
        struct positions *first = palloc0(sizeof *first);
        struct moves given = read_moves(PG_GETARG_DATUM(0));
        char *kept = palloc((Size)given.count + 1);
        memcpy(kept, given.letters, (Size)given.count);
        first->moves = (struct moves){kept, given.count};
        first->replay = replay_create(call->multi_call_memory_ctx, PG_GETARG_TEXT_PP(1));
        call->user_fctx = first;
        call->tuple_desc = result_type(fcinfo);
        MemoryContextSwitchTo(before);
    }
    call = SRF_PERCALL_SETUP();
    struct positions *positions = call->user_fctx;
    struct game *game = positions->replay->game;
    if (call->call_cntr > (uint64)positions->moves.count)
        SRF_RETURN_DONE(call);
    if (call->call_cntr > 0)
        play_ply(game, positions->moves, (int)call->call_cntr - 1);
    struct position position = game_position(game);
    Datum values[] = {Int32GetDatum((int32)call->call_cntr), side_datum((enum side)position.side),
                      counts_datum(position.houses, HOUSES), counts_datum(position.stores, 2)};
    bool nulls[lengthof(values)] = {false};
    SRF_RETURN_NEXT(call, HeapTupleGetDatum(heap_form_tuple(call->tuple_desc, values, nulls)));
}

PG_FUNCTION_INFO_V1(oware_result);
Datum oware_result(PG_FUNCTION_ARGS)
{
    struct moves moves = read_moves(PG_GETARG_DATUM(0));
    struct game *game = replay_cached(fcinfo, PG_GETARG_TEXT_PP(1));
    for (int ply = 0; ply < moves.count; ply++)
        play_ply(game, moves, ply);
    struct position end = game_position(game);
    Datum values[] = {CStringGetTextDatum(game_result_text(game_result(game))),
                      CStringGetTextDatum(game_reason_text(game_reason(game))),
                      Int16GetDatum(end.stores[SIDE_SOUTH]), Int16GetDatum(end.stores[SIDE_NORTH]),
                      Int32GetDatum(moves.count)};
    bool nulls[lengthof(values)] = {false, !game_over(game), false, false, false};
    PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(result_type(fcinfo), values, nulls)));
}

PG_FUNCTION_INFO_V1(oware_captures);
Datum oware_captures(PG_FUNCTION_ARGS)
{
    struct moves moves = read_moves(PG_GETARG_DATUM(0));
    struct game *game = replay_cached(fcinfo, PG_GETARG_TEXT_PP(1));
    Datum *captures = palloc(sizeof *captures * (Size)Max(moves.count, 1));
    for (int ply = 0; ply < moves.count; ply++) {
        /* The history's boards are as they stood, before leftovers were taken. */
        struct game_history before = game_history(game);
        struct board old = before.boards[before.count - 1];
        play_ply(game, moves, ply);
        struct game_history after = game_history(game);
        captures[ply] = Int32GetDatum((int32)board_captured(old, after.boards[after.count - 1]));
    }
    PG_RETURN_ARRAYTYPE_P(construct_array(captures, moves.count, INT4OID, sizeof(int32), true, TYPALIGN_INT));
}

static enum side read_side(const text *value)
{
    char *word = short_text(value, 16, "side");
    if (strcmp(word, "south") == 0)
        return SIDE_SOUTH;
    if (strcmp(word, "north") != 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("side is south or north, not \"%s\"", word)));
    return SIDE_NORTH;
}

static void read_houses(ArrayType *array, uint8_t houses[HOUSES])
{
    if (ARR_NDIM(array) != 1 || ARR_DIMS(array)[0] != HOUSES || array_contains_nulls(array))
        ereport(ERROR,
                (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR), errmsg("houses are twelve numbers, A..F and a..f")));
    const int32 *counts = (const int32 *)ARR_DATA_PTR(array);
    int seeds = 0;
    for (int i = 0; i < HOUSES; i++) {
        if (counts[i] < 0 || counts[i] > POSITION_SEEDS - seeds)
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("house %c holds %d seeds: there are 48 in all", position_house_letter(i),
                                   counts[i])));
        seeds += counts[i];
        houses[i] = (uint8_t)counts[i];
    }
}

PG_FUNCTION_INFO_V1(oware_key);
Datum oware_key(PG_FUNCTION_ARGS)
{
    struct position position = {.side = (uint8_t)read_side(PG_GETARG_TEXT_PP(1))};
    read_houses(PG_GETARG_ARRAYTYPE_P(0), position.houses);
    PG_RETURN_INT64(position_key(&position, PG_GETARG_BOOL(2)));
}

PG_FUNCTION_INFO_V1(oware_key_at);
Datum oware_key_at(PG_FUNCTION_ARGS)
{
    struct moves moves = read_moves(PG_GETARG_DATUM(0));
    int32 wanted = PG_GETARG_INT32(1);
    struct game *game = replay_cached(fcinfo, PG_GETARG_TEXT_PP(2));
    if (wanted < 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("ply %d: plies are counted from 0", wanted)));
    if (wanted > moves.count)
        PG_RETURN_NULL();
    for (int ply = 0; ply < wanted; ply++)
        play_ply(game, moves, ply);
    if (game_over(game))
        PG_RETURN_NULL();
    struct position position = game_position(game);
    PG_RETURN_INT64(position_key(&position, PG_GETARG_BOOL(3)));
}

PG_FUNCTION_INFO_V1(oware_board);
Datum oware_board(PG_FUNCTION_ARGS)
{
    int64 key = PG_GETARG_INT64(0);
    uint64_t number = (uint64_t)key / 2;
    int seeds = POSITION_SEEDS;
    if (key < 0 || number >= index_layer_start(POSITION_SEEDS) + index_layer_size(POSITION_SEEDS))
        ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                        errmsg("%lld is no number of a position", (long long)key)));
    while (index_layer_start(seeds) > number)
        seeds--;
    enum side side = key % 2 != 0 ? SIDE_NORTH : SIDE_SOUTH;
    struct position position =
        board_to_position(index_unrank(seeds, number - index_layer_start(seeds)), side);
    Datum values[] = {side_datum(side), counts_datum(position.houses, HOUSES)};
    bool nulls[lengthof(values)] = {false};
    PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(result_type(fcinfo), values, nulls)));
}
