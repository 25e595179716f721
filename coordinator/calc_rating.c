#include "coordinator/calc_rating.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a normal distribution: 95 % lie within. */
#define NORMAL_95 1.959963984540054

struct reader {
    const json_t *request;
    json_t *numbers; /* name to number */
    const char **names;
    size_t players, count;
    struct rating_meeting *meetings;
    char *error;
    size_t error_size;
};

__attribute__((format(printf, 2, 3))) static bool complain(struct reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->error, reader->error_size, format, arguments);
    va_end(arguments);
    return false;
}

/* --- reading --- */

static bool read_players(struct reader *reader)
{
    const json_t *players = json_object_get(reader->request, "players");
    size_t count = json_array_size(players);
    if (!json_is_array(players) || count == 0 || count > RATING_PLAYERS_MAX)
        return complain(reader, "\"players\" must be a list of 1 to %d names", RATING_PLAYERS_MAX);
    reader->names = calloc(count, sizeof *reader->names);
    if (!reader->names)
        return complain(reader, "out of memory");
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(players, i));
        if (!name)
            return complain(reader, "\"players\" must be a list of names");
        if (json_object_get(reader->numbers, name))
            return complain(reader, "player \"%.40s\" is named twice", name);
        json_object_set_new(reader->numbers, name, json_integer((json_int_t)i));
        reader->names[reader->players++] = name;
    }
    return true;
}

static bool read_player(struct reader *reader, const json_t *row, const char *key, size_t *player)
{
    const char *name = json_string_value(json_object_get(row, key));
    const json_t *number = name ? json_object_get(reader->numbers, name) : NULL;
    if (!name)
        return complain(reader, "a meeting has a player's name as \"%s\"", key);
    if (!number)
        return complain(reader, "\"%.40s\" is none of the players", name);
    *player = (size_t)json_integer_value(number);
    return true;
}

static bool read_count(struct reader *reader, const json_t *value, double *count)
{
    *count = json_number_value(value);
    if (!json_is_number(value) || !(*count >= 0 && *count <= RATING_COUNT_MAX) || *count != floor(*count))
        return complain(reader, "counts are whole numbers from 0 to 10^15");
    return true;
}

/* {"first", "second", "first_wins", "draws", "second_wins"} */
static bool read_games(struct reader *reader, const json_t *row)
{
    struct rating_meeting *meeting = &reader->meetings[reader->count++];
    return read_player(reader, row, "first", &meeting->a) &&
           read_player(reader, row, "second", &meeting->b) &&
           read_count(reader, json_object_get(row, "first_wins"), &meeting->games[0][2]) &&
           read_count(reader, json_object_get(row, "draws"), &meeting->games[0][1]) &&
           read_count(reader, json_object_get(row, "second_wins"), &meeting->games[0][0]);
}

/* {"a", "b", "counts": nine numbers} */
static bool read_pairs(struct reader *reader, const json_t *row)
{
    struct rating_meeting *meeting = &reader->meetings[reader->count++];
    const json_t *counts = json_object_get(row, "counts");
    if (!read_player(reader, row, "a", &meeting->a) || !read_player(reader, row, "b", &meeting->b))
        return false;
    if (json_array_size(counts) != 9)
        return complain(reader,
                        "\"counts\" of pairs must be nine numbers: LL, LD, LW, DL, DD, DW, WL, WD, WW");
    for (size_t i = 0; i < 9; i++)
        if (!read_count(reader, json_array_get(counts, i), &meeting->pairs[i / 3][i % 3]))
            return false;
    return true;
}

static bool read_rows(struct reader *reader, const char *key,
                      bool (*read)(struct reader *reader, const json_t *row))
{
    const json_t *rows = json_object_get(reader->request, key), *row;
    size_t i;
    if (rows && !json_is_array(rows))
        return complain(reader, "\"%s\" must be a list", key);
    json_array_foreach(rows, i, row)
    {
        if (!read(reader, row))
            return false;
    }
    return true;
}

static bool read_meetings(struct reader *reader)
{
    size_t most = json_array_size(json_object_get(reader->request, "games")) +
                  json_array_size(json_object_get(reader->request, "pairs"));
    if (most == 0)
        return complain(reader, "give \"games\" or \"pairs\": without games there are no ratings");
    reader->meetings = calloc(most, sizeof *reader->meetings);
    if (!reader->meetings)
        return complain(reader, "out of memory");
    return read_rows(reader, "games", read_games) && read_rows(reader, "pairs", read_pairs);
}

/* An anchor that is misspelt, or played nothing, must not be passed over in silence. */
static bool read_anchor(struct reader *reader, struct rating_options *options)
{
    const json_t *anchor = json_object_get(reader->request, "anchor");
    const json_t *elo = json_object_get(reader->request, "anchor_elo");
    const char *name = json_string_value(anchor);
    if (elo && !anchor)
        return complain(reader, "\"anchor_elo\" needs an \"anchor\"");
    if (!anchor)
        return true;
    const json_t *number = name ? json_object_get(reader->numbers, name) : NULL;
    if (!number)
        return complain(reader, "the anchor \"%.40s\" is none of the players", name ? name : "");
    if (elo && !json_is_number(elo))
        return complain(reader, "\"anchor_elo\" must be a number");
    options->has_anchor = true;
    options->anchor = (size_t)json_integer_value(number);
    options->anchor_elo = json_number_value(elo);
    for (size_t i = 0; i < reader->count; i++)
        if (reader->meetings[i].a == options->anchor || reader->meetings[i].b == options->anchor)
            return true;
    return complain(reader, "the anchor \"%.40s\" has no games: nothing can be measured against it", name);
}

static bool read_options(struct reader *reader, struct rating_options *options)
{
    const json_t *prior = json_object_get(reader->request, "prior");
    const json_t *first_move = json_object_get(reader->request, "first_move");
    *options = (struct rating_options){.prior = 1, .fit_first_move = true};
    if (prior && !json_is_number(prior))
        return complain(reader, "\"prior\" must be a number");
    if (first_move && !json_is_boolean(first_move))
        return complain(reader, "\"first_move\" must be true or false");
    if (prior)
        options->prior = json_number_value(prior);
    if (first_move)
        options->fit_first_move = json_is_true(first_move);
    return read_anchor(reader, options);
}

/* --- answering --- */

static json_t *number(double value)
{
    return json_real(value == 0 ? 0 : value); /* no -0 */
}

static json_t *player_json(const struct rating_table *table, size_t i, const char *name)
{
    const struct rating_player *player = &table->player[i];
    bool is_anchor = table->has_anchor && table->anchor == i;
    json_t *object = json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "player", name, "list",
                               (json_int_t)player->list + 1, "rating",
                               player->has_error || is_anchor ? number(player->rating) : json_null(), "sd",
                               player->has_error || is_anchor ? number(player->sd) : json_null(), "error95",
                               player->has_error || is_anchor ? number(NORMAL_95 * player->sd) : json_null(),
                               "games", number(player->games), "wins", number(player->wins), "draws",
                               number(player->draws), "losses", number(player->losses), "score",
                               player->games > 0 ? number(player->score) : json_null());
    json_object_set_new(object, "is_unbeaten", json_boolean(player->is_unbeaten));
    json_object_set_new(object, "is_winless", json_boolean(player->is_winless));
    return object;
}

static json_t *matrix_json(const struct rating_table *table, bool superiority)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < table->players; i++) {
        json_t *row = json_array();
        for (size_t j = 0; j < table->players; j++) {
            double value = 0;
            bool there = superiority ? rating_superiority(table, i, j, &value)
                                     : i != j && table->player[i].list == table->player[j].list;
            if (there && !superiority)
                value = rating_difference_sd(table, i, j);
            json_array_append_new(row, there ? number(value) : json_null());
        }
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *members_json(const struct rating_table *table, size_t list, const char *const *names)
{
    json_t *members = json_array();
    for (size_t i = 0; i < table->players; i++)
        if (table->player[i].list == list)
            json_array_append_new(members, json_string(names[i]));
    return members;
}

void calc_rating_put(json_t *answer, const struct rating_table *table, const char *const *names)
{
    json_t *ratings = json_array(), *lists = json_array(), *gaps = json_array();
    for (size_t i = 0; i < table->players; i++)
        json_array_append_new(ratings, player_json(table, i, names[i]));
    for (size_t i = 0; i < table->lists; i++)
        json_array_append_new(lists, members_json(table, i, names));
    for (size_t i = 0; i < table->gaps; i++)
        json_array_append_new(gaps, json_pack("{s:I, s:I, s:o}", "above", (json_int_t)table->gap[i].above + 1,
                                              "below", (json_int_t)table->gap[i].below + 1, "at_least",
                                              number(table->gap[i].at_least)));
    json_object_set_new(answer, "ratings", ratings);
    json_object_set_new(answer, "lists", lists);
    json_object_set_new(answer, "gaps", gaps);
    json_object_set_new(answer, "first_move",
                        table->has_first_move ? number(table->first_move) : json_null());
    json_object_set_new(answer, "first_move_sd",
                        table->has_first_move ? number(table->first_move_sd) : json_null());
    json_object_set_new(answer, "los", matrix_json(table, true));
    json_object_set_new(answer, "difference_sd", matrix_json(table, false));
    json_object_set_new(answer, "anchor",
                        table->has_anchor ? json_string(names[table->anchor]) : json_null());
    json_object_set_new(answer, "prior", number(table->prior));
    json_object_set_new(answer, "formula", json_integer(RATING_FORMULA_VERSION));
}

void calc_rating(const json_t *request, json_t *answer, char *error, size_t error_size)
{
    struct reader reader = {
        .request = request, .numbers = json_object(), .error = error, .error_size = error_size};
    struct rating_options options;
    struct rating_table *table = NULL;
    if (read_players(&reader) && read_meetings(&reader) && read_options(&reader, &options)) {
        int failed = rating_create(&table, reader.players, reader.meetings, reader.count, &options);
        if (failed)
            complain(&reader, "%s", rating_error_text(failed));
        else
            calc_rating_put(answer, table, reader.names);
    }
    rating_destroy(table);
    free(reader.names);
    free(reader.meetings);
    json_decref(reader.numbers);
}
