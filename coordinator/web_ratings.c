/* The ratings of a tournament for the web page: the numbers of `kroo ratings NAME --json`, by the same code.
 * Called on the web server's threads, never on the event loop: a table of 200 players takes some tens of
 * milliseconds. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/calc_rating.h"
#include "coordinator/web_call.h"

enum { PLAYERS_MAX = 200, COLUMN_ANSWER = 0, COLUMN_HEAD, COLUMN_PLAYERS, COLUMN_SCORES, COLUMNS };

/* Virtual draws for each pairing: as `kroo ratings` has it where nothing else is said. */
static const double prior = 1;

web_finish web_ratings;

static json_t *read_cell(const struct store_table *rows, size_t column)
{
    const char *text = rows->cells[column];
    return text ? json_loads(text, 0, NULL) : NULL;
}

static size_t whole(const json_t *row, size_t index)
{
    json_int_t value = json_integer_value(json_array_get(row, index));
    return value < 0 ? 0 : (size_t)value;
}

/* Rows of [a, b, first, second, pairs]. NULL without memory. */
static struct rating_meeting *read_meetings(const json_t *scores, size_t *count)
{
    *count = json_array_size(scores);
    struct rating_meeting *meetings = calloc(*count + 1, sizeof *meetings);
    for (size_t i = 0; meetings && i < *count; i++) {
        const json_t *row = json_array_get(scores, i);
        meetings[i].a = whole(row, 0);
        meetings[i].b = whole(row, 1);
        meetings[i].pairs[whole(row, 2) % 3][whole(row, 3) % 3] = (double)whole(row, 4);
    }
    return meetings;
}

static struct rating_options read_options(const json_t *players)
{
    struct rating_options options = {.prior = prior, .fit_first_move = true};
    for (size_t i = 0; i < json_array_size(players); i++) {
        const json_t *elo = json_object_get(json_array_get(players, i), "anchor_elo");
        if (!json_is_number(elo))
            continue;
        options.has_anchor = true;
        options.anchor = i;
        options.anchor_elo = json_number_value(elo);
    }
    return options;
}

/* Puts the ratings into `head`. False: the answer says why, or has no text for want of memory. */
static bool rate(struct web_answer *answer, json_t *head, const json_t *players, const json_t *scores)
{
    size_t count, size = json_array_size(players);
    struct rating_options options = read_options(players);
    struct rating_meeting *meetings = read_meetings(scores, &count);
    const char **names = calloc(size + 1, sizeof *names);
    struct rating_table *table = NULL;
    bool rated = false;
    for (size_t i = 0; names && i < size; i++)
        names[i] = json_string_value(json_object_get(json_array_get(players, i), "name"));
    if (meetings && names) {
        int error = rating_create(&table, size, meetings, count, &options);
        if (error)
            web_answer_error(answer, 500, "%s", rating_error_text(error));
        else
            calc_rating_put(head, table, names);
        rated = error == 0;
    }
    rating_destroy(table);
    free(names);
    free(meetings);
    return rated;
}

static void answer_one(struct web_answer *answer, const struct store_table *rows)
{
    json_t *head = read_cell(rows, COLUMN_HEAD), *players = read_cell(rows, COLUMN_PLAYERS);
    json_t *scores = read_cell(rows, COLUMN_SCORES);
    if (json_array_size(players) > PLAYERS_MAX) {
        web_answer_error(answer, 413, "%zu players are more than the page rates: `kroo ratings` does",
                         json_array_size(players));
    } else if (head && rate(answer, head, players, scores)) {
        json_object_set(head, "players", players);
        web_answer_json(answer, json_incref(head));
    }
    json_decref(head);
    json_decref(players);
    json_decref(scores);
}

void web_ratings(struct web_answer *answer, const struct store_table *rows)
{
    if (rows->rows == 0 || rows->columns != COLUMNS) {
        web_answer_error(answer, 404, "there is no tournament of this name: /api/ratings lists them");
    } else if (rows->cells[COLUMN_ANSWER]) {
        web_answer_text(answer, strdup(rows->cells[COLUMN_ANSWER]));
    } else {
        answer_one(answer, rows);
    }
}
