#include "coordinator/export.h"

#include <stdlib.h>
#include <string.h>

#include "engine/play.h"
#include "proto/artifact.h"
#include "proto/message.h"
#include "proto/weights_json.h"
#include "proto/weights_text.h"

int export_format_parse(const char *text)
{
    static const char *const names[] = {"bin", "json", "c", "md"};
    for (int i = 0; i < 4; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    return -1;
}

/* --- weights --- */

static json_t *shared(const json_t *value)
{
    return value ? json_deep_copy(value) : json_null();
}

json_t *export_weights_json(const struct export_weights *what)
{
    json_t *object = weights_json(what->weights);
    json_t *more =
        json_pack("{s:s, s:I, s:s, s:I, s:o, s:o, s:o}", "sha256", what->sha256, "number",
                  (json_int_t)what->number, "name", what->name, "size", (json_int_t)what->size, "lineage",
                  shared(what->lineage), "training", shared(what->training), "proof", shared(what->proof));
    if (!object || !more || json_object_update(object, more) != 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(more);
    return object;
}

static int write_json(const struct export_weights *what, FILE *out)
{
    json_t *object = export_weights_json(what);
    int failed = !object || json_dumpf(object, out, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) != 0;
    json_decref(object);
    return failed || fputc('\n', out) == EOF ? -1 : 0;
}

/* The parent's hash out of the lineage, `none` for a first ancestor. */
static const char *parent_of(const struct export_weights *what)
{
    const char *parent =
        json_string_value(json_object_get(json_array_get(what->lineage, 1), "ancestor_sha256"));
    return parent ? parent : "none";
}

static int write_c(const struct export_weights *what, FILE *out)
{
    const struct weights_text text = {what->weights, what->name, what->sha256, parent_of(what)};
    return weights_text_c(&text, out);
}

static void write_md_cell(const json_t *value, FILE *out)
{
    if (json_is_string(value))
        fprintf(out, " %.64s |", json_string_value(value));
    else if (value && !json_is_null(value)) {
        fputs(" ", out);
        json_dumpf(value, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        fputs(" |", out);
    } else {
        fputs(" |", out);
    }
}

/* An array of like objects as a table. */
static void write_md_table(const char *title, const json_t *array, FILE *out)
{
    size_t index;
    json_t *row, *value;
    const char *key;
    if (json_array_size(array) == 0)
        return;
    fprintf(out, "\n## %s\n\n|", title);
    json_object_foreach(json_array_get(array, 0), key, value) fprintf(out, " %s |", key);
    fputs("\n|", out);
    json_object_foreach(json_array_get(array, 0), key, value) fputs("---|", out);
    fputs("\n", out);
    json_array_foreach((json_t *)array, index, row)
    {
        fputs("|", out);
        json_object_foreach(row, key, value) write_md_cell(value, out);
        fputs("\n", out);
    }
}

static int write_md(const struct export_weights *what, FILE *out)
{
    const struct weights *weights = what->weights;
    fprintf(
        out,
        "# Weights %llu%s%s\n\n| | |\n|---|---|\n| sha256 | `%s` |\n| size | %zu bytes |\n| kind | %s |\n"
        "| rules | %s |\n| shift | %d |\n| hundredths of a seed a unit of log odds | %d |\n| parent | `%s` "
        "|\n",
        (unsigned long long)what->number, *what->name ? ": " : "", what->name, what->sha256, what->size,
        weights_kind_name(weights->kind), weights->rules, weights->shift, (int)weights->per_logit,
        parent_of(what));
    write_md_table("Lineage", what->lineage, out);
    if (json_is_object(what->training)) {
        json_t *array = json_array();
        json_array_append(array, (json_t *)what->training);
        write_md_table("Training", array, out);
        json_decref(array);
    }
    write_md_table("Promotions and their verdicts", what->proof, out);
    fprintf(out, "\n## Provenance in the file\n\n```json\n%s\n```\n", weights->provenance);
    return weights_text_md(weights, out);
}

int export_weights(const struct export_weights *what, enum export_format format, FILE *out)
{
    switch (format) {
    case EXPORT_BIN:
        return fwrite(what->bytes, 1, what->size, out) == what->size ? 0 : -1;
    case EXPORT_JSON:
        return write_json(what, out);
    case EXPORT_C:
        return write_c(what, out);
    case EXPORT_MD:
        return write_md(what, out);
    }
    return -1;
}

/* --- games --- */

static void write_limits(const struct store_limits *limits, FILE *out)
{
    const char *comma = "";
    if (limits->nodes) {
        fprintf(out, "nodes:%llu", (unsigned long long)limits->nodes);
        comma = ",";
    }
    if (limits->depth) {
        fprintf(out, "%sdepth:%u", comma, limits->depth);
        comma = ",";
    }
    if (limits->time_ms) {
        fprintf(out, "%stime_ms:%u", comma, limits->time_ms);
        comma = ",";
    }
    if (limits->clock_ms)
        fprintf(out, "%sclock_ms:%u,increment_ms:%u", comma, limits->clock_ms, limits->increment_ms);
    fprintf(out, ",hash_kib:%u", limits->hash_kib);
}

/* `,engine:HEX`, `,tables:HEX` and `,option:NAME=VALUE`, where there are any; what would end a word is
 * written %20 and the like. */
static void write_outfit(const struct store_player *player, FILE *out)
{
    char hex[ARTIFACT_HEX];
    if (!message_hash_is_none(player->engine)) {
        artifact_hex(player->engine, hex);
        fprintf(out, ",engine:%s", hex);
    }
    if (!message_hash_is_none(player->tables)) {
        artifact_hex(player->tables, hex);
        fprintf(out, ",tables:%s", hex);
    }
    for (const char *at = player->options; *at; at++) {
        if (at == player->options)
            fputs(",option:", out);
        if (*at == '\n')
            fputs(",option:", out);
        else if (*at == ' ' || *at == ',' || *at == '%')
            fprintf(out, "%%%02X", (unsigned)(unsigned char)*at);
        else
            fputc(*at, out);
    }
}

/* Player a is South in leg 0. */
static const struct store_player *south_of(const struct export_game_frame *frame, unsigned leg)
{
    return leg == 0 ? &frame->experiment->a : &frame->experiment->b;
}

static const struct store_player *north_of(const struct export_game_frame *frame, unsigned leg)
{
    return leg == 0 ? &frame->experiment->b : &frame->experiment->a;
}

/* Where the openings come from, when it is a book. */
static void write_book(const struct store_experiment *experiment, FILE *out)
{
    char hex[ARTIFACT_HEX];
    if (message_hash_is_none(experiment->book))
        return;
    artifact_hex(experiment->book, hex);
    fprintf(out, " book=%s", hex);
}

static json_t *book_json(const struct store_experiment *experiment)
{
    char hex[ARTIFACT_HEX];
    if (message_hash_is_none(experiment->book))
        return json_null();
    artifact_hex(experiment->book, hex);
    return json_string(hex);
}

static const char *hash_of(const struct export_game_frame *frame, const struct store_player *player)
{
    return player == &frame->experiment->a ? frame->sha256_a : frame->sha256_b;
}

static int compare_repeat(const void *key, const void *row)
{
    uint64_t pair = *(const uint64_t *)key, other = ((const struct store_repeat *)row)->pair;
    return (pair > other) - (pair < other);
}

const struct store_repeat *export_repeat(const struct export_game_frame *frame, uint64_t pair)
{
    if (frame->repeat_count == 0)
        return NULL;
    return bsearch(&pair, frame->repeats, frame->repeat_count, sizeof *frame->repeats, compare_repeat);
}

static bool is_counted(const struct export_game_frame *frame, const struct store_game *game)
{
    return game->pair < frame->counted_pairs && !export_repeat(frame, game->pair);
}

int export_game_text(const struct export_game_frame *frame, const struct store_game *game, FILE *out)
{
    const struct store_experiment *e = frame->experiment;
    const struct store_player *south = south_of(frame, game->leg), *north = north_of(frame, game->leg);
    const struct store_repeat *repeat = export_repeat(frame, game->pair);
    fprintf(out, "experiment=%llu pair=%llu leg=%u rules=%s seed=%llu opening_plies=%u noise_ppm=%u",
            (unsigned long long)e->id, (unsigned long long)game->pair, game->leg, e->rules,
            (unsigned long long)e->seed, e->opening_plies, e->noise_ppm);
    write_book(e, out);
    fprintf(out, " south=%s/", hash_of(frame, south));
    write_limits(&south->limits, out);
    write_outfit(south, out);
    fprintf(out, " north=%s/", hash_of(frame, north));
    write_limits(&north->limits, out);
    write_outfit(north, out);
    fprintf(out, " a=%s counted=%s", game->leg == 0 ? "south" : "north",
            is_counted(frame, game) ? "yes" : "no");
    if (repeat)
        fprintf(out, " repeats=%llu", (unsigned long long)repeat->first);
    fprintf(out, " claimed=%s result=%s reason=%s stores=%u-%u plies=%zu moves=%s\n",
            game->claimed ? "yes" : "no", game->result, game->reason, game->south, game->north, game->plies,
            game->moves);
    return ferror(out) ? -1 : 0;
}

static json_t *player_json(const struct export_game_frame *frame, const struct store_player *player,
                           const char *role)
{
    char hex[ARTIFACT_HEX];
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "player", role, "weights", hash_of(frame, player),
                  "engine_build", player->engine_build, "nodes", (json_int_t)player->limits.nodes, "depth",
                  (json_int_t)player->limits.depth, "time_ms", (json_int_t)player->limits.time_ms, "hash_kib",
                  (json_int_t)player->limits.hash_kib);
    if (!message_hash_is_none(player->engine)) {
        artifact_hex(player->engine, hex);
        json_object_set_new(object, "engine_sha256", json_string(hex));
    }
    if (!message_hash_is_none(player->tables)) {
        artifact_hex(player->tables, hex);
        json_object_set_new(object, "tables_sha256", json_string(hex));
    }
    if (player->options[0])
        json_object_set_new(object, "options", json_string(player->options));
    if (player->limits.clock_ms) {
        json_object_set_new(object, "clock_ms", json_integer(player->limits.clock_ms));
        json_object_set_new(object, "increment_ms", json_integer(player->limits.increment_ms));
    }
    return object;
}

static json_t *scores_json(const struct store_game *game)
{
    if (!game->scores)
        return json_null();
    json_t *array = json_array();
    for (size_t i = 0; 2 * i + 1 < game->scores_size; i++) {
        int16_t score = (int16_t)(game->scores[2 * i] | game->scores[2 * i + 1] << 8);
        json_array_append_new(array, score == PLAY_NO_SCORE ? json_null() : json_integer(score));
    }
    return array;
}

int export_game_json(const struct export_game_frame *frame, const struct store_game *game, FILE *out)
{
    const struct store_experiment *e = frame->experiment;
    const struct store_repeat *repeat = export_repeat(frame, game->pair);
    json_t *object = json_pack(
        "{s:I, s:I, s:I, s:s, s:I, s:I, s:I, s:o, s:o, s:b, s:b, s:s, s:s, s:[i,i], s:I, s:i, s:I, s:I, s:I, "
        "s:s, "
        "s:o, s:o, s:o}",
        "experiment", (json_int_t)e->id, "pair", (json_int_t)game->pair, "leg", (json_int_t)game->leg,
        "rules", e->rules, "seed", (json_int_t)e->seed, "opening_plies", (json_int_t)e->opening_plies,
        "noise_ppm", (json_int_t)e->noise_ppm, "south",
        player_json(frame, south_of(frame, game->leg), game->leg ? "b" : "a"), "north",
        player_json(frame, north_of(frame, game->leg), game->leg ? "a" : "b"), "counted",
        is_counted(frame, game), "claimed", game->claimed, "result", game->result, "reason", game->reason,
        "stores", game->south, game->north, "plies", (json_int_t)game->plies, "a_half_points",
        game->a_half_points, "attempt", (json_int_t)game->attempt, "nodes", (json_int_t)game->nodes,
        "time_ms", (json_int_t)game->time_ms, "moves", game->moves, "scores", scores_json(game),
        "book_sha256", book_json(e), "repeats",
        repeat ? json_integer((json_int_t)repeat->first) : json_null());
    int failed = !object || json_dumpf(object, out, JSON_COMPACT) != 0;
    json_decref(object);
    return failed || fputc('\n', out) == EOF ? -1 : 0;
}
