/* `kroo ratings`: the joint ratings of a tournament. */
#include "coordinator/cli/ratings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/calc_rating.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/sheet.h"
#include "coordinator/cli/table.h"

/* Of a normal distribution: 95 % lie within. */
#define NORMAL_95 1.959963984540054
/* A matrix wider than this is left to --json. */
enum { MATRIX_MAX = 26, OPTION_ANCHOR = 0x3000, OPTION_PRIOR };

/* --- computing --- */

static int read_meetings(struct tournament *tournament, struct rating_meeting **meetings, size_t *count)
{
    static const char sql[] = "select a, b, first, second, pairs from kroo.tournament_score"
                              " where tournament_id = $1::bigint order by round, a, b, first, second";
    struct store_table table;
    int status = driver_ask_of(tournament->driver, sql, tournament->id, &table);
    if (status != COMMAND_DONE)
        return status;
    *count = table.rows;
    *meetings = calloc(table.rows + 1, sizeof **meetings);
    for (size_t i = 0; i < table.rows && *meetings; i++) {
        struct rating_meeting *meeting = &(*meetings)[i];
        meeting->a = table_number(&table, i, 0);
        meeting->b = table_number(&table, i, 1);
        meeting->pairs[table_number(&table, i, 2) % 3][table_number(&table, i, 3) % 3] =
            table_decimal(&table, i, 4);
    }
    store_table_done(&table);
    return *meetings ? COMMAND_DONE : args_refuse("out of memory");
}

int ratings_compute(struct tournament *tournament, double prior, struct rating_table **table)
{
    struct rating_options options = {.prior = prior, .fit_first_move = true};
    struct rating_meeting *meetings = NULL;
    size_t count = 0;
    *table = NULL;
    for (size_t i = 0; i < tournament->players; i++)
        if (tournament->player[i].is_anchor) {
            options.has_anchor = true;
            options.anchor = i;
            options.anchor_elo = tournament->player[i].anchor_elo;
        }
    int status = read_meetings(tournament, &meetings, &count);
    if (status == COMMAND_DONE) {
        int error = rating_create(table, tournament->players, meetings, count, &options);
        if (error)
            status = args_refuse("%s", rating_error_text(error));
    }
    free(meetings);
    return status;
}

/* --- for people --- */

struct page {
    const struct tournament *tournament;
    const struct rating_table *table;
    size_t *order;
};

static const char *name_of(const struct page *page, size_t player)
{
    return page->tournament->player[player].name;
}

static size_t size_of_list(const struct page *page, size_t list)
{
    size_t size = 0;
    for (size_t i = 0; i < page->table->players; i++)
        size += page->table->player[i].list == list;
    return size;
}

/* The one that is alone in its list. */
static size_t only_member(const struct page *page, size_t list)
{
    size_t player = 0;
    while (page->table->player[player].list != list)
        player++;
    return player;
}

/* A letter for the matrix: A, B, ... by rank. */
static void print_list(const struct page *page, size_t list)
{
    static const char *const names[] = {"#rank",  "player", "#rating", "#+-95%", "#score",
                                        "#games", "#wins",  "#draws",  "#losses"};
    struct store_table sheet;
    size_t size = size_of_list(page, list), row = 0;
    if (!sheet_init(&sheet, size, 9, names))
        return;
    for (size_t i = 0; i < page->table->players; i++) {
        size_t number = page->order[i];
        const struct rating_player *player = &page->table->player[number];
        bool is_anchor = page->table->has_anchor && page->table->anchor == number;
        if (player->list != list)
            continue;
        sheet_set(&sheet, row, 0, "%zu", row + 1);
        sheet_set(&sheet, row, 1, "%s", name_of(page, number));
        if (player->has_error || is_anchor)
            sheet_set(&sheet, row, 2, "%.1f", player->rating + 0.0);
        if (is_anchor)
            sheet_set(&sheet, row, 3, "anchor");
        else if (player->has_error)
            sheet_set(&sheet, row, 3, "%.1f", NORMAL_95 * player->sd);
        sheet_set(&sheet, row, 4, "%.1f %%", 100 * player->score);
        sheet_set(&sheet, row, 5, "%.0f", player->games);
        sheet_set(&sheet, row, 6, "%.0f", player->wins);
        sheet_set(&sheet, row, 7, "%.0f", player->draws);
        sheet_set(&sheet, row, 8, "%.0f", player->losses);
        row++;
    }
    table_print(stdout, &sheet, "");
    sheet_done(&sheet);
}

static void describe_list(const struct page *page, size_t list, char *text, size_t size)
{
    if (size_of_list(page, list) == 1)
        snprintf(text, size, "%s", name_of(page, only_member(page, list)));
    else
        snprintf(text, size, "list %zu", list + 1);
}

/* Why a player stands alone. */
static void print_alone(const struct page *page, size_t list)
{
    size_t number = only_member(page, list);
    const struct rating_player *player = &page->table->player[number];
    if (player->games == 0)
        printf("%s: no counted game yet\n", name_of(page, number));
    else if (player->is_unbeaten)
        printf("%s won all its %.0f games: no finite rating\n", name_of(page, number), player->games);
    else if (player->is_winless)
        printf("%s lost all its %.0f games: no finite rating\n", name_of(page, number), player->games);
    else
        printf("%s won all its games against some and lost all against others: no finite rating\n",
               name_of(page, number));
}

static void print_gaps(const struct page *page)
{
    for (size_t i = 0; i < page->table->gaps; i++) {
        const struct rating_gap *gap = &page->table->gap[i];
        char above[STORE_NAME + 8], below[STORE_NAME + 8];
        describe_list(page, gap->above, above, sizeof above);
        describe_list(page, gap->below, below, sizeof below);
        if (size_of_list(page, gap->above) == 1 && size_of_list(page, gap->below) > 1)
            printf("%s: at least %.0f on the scale of %s (95 %%, one-sided)\n", above,
                   page->table->player[only_member(page, gap->above)].rating + gap->at_least, below);
        else if (size_of_list(page, gap->below) == 1 && size_of_list(page, gap->above) > 1)
            printf("%s: at most %.0f on the scale of %s (95 %%, one-sided)\n", below,
                   page->table->player[only_member(page, gap->below)].rating - gap->at_least, above);
        else
            printf("%s is above %s: at least %.0f Elo (95 %%, one-sided)\n", above, below, gap->at_least);
    }
}

/* Likelihood in percent that the row's player is the stronger. */
static void print_matrix(const struct page *page, size_t list)
{
    size_t size = size_of_list(page, list), row = 0;
    char **names = calloc(size + 1, sizeof *names);
    struct store_table sheet;
    for (size_t i = 0; i < page->table->players && names; i++)
        if (page->table->player[page->order[i]].list == list &&
            asprintf(&names[1 + row++], "#%s", name_of(page, page->order[i])) < 0)
            names[row] = NULL;
    bool good = names != NULL;
    for (size_t i = 1; good && i <= size; i++)
        good = names[i] != NULL;
    if (good)
        names[0] = (char *)(uintptr_t) "likelihood of superiority, %";
    if (good && sheet_init(&sheet, size, size + 1, (const char *const *)names)) {
        row = 0;
        for (size_t i = 0; i < page->table->players; i++) {
            size_t number = page->order[i], column = 1;
            if (page->table->player[number].list != list)
                continue;
            sheet_set(&sheet, row, 0, "%s", name_of(page, number));
            for (size_t j = 0; j < page->table->players; j++) {
                double likelihood;
                if (page->table->player[page->order[j]].list != list)
                    continue;
                if (rating_superiority(page->table, number, page->order[j], &likelihood))
                    sheet_set(&sheet, row, column, "%.1f", 100 * likelihood);
                else
                    sheet_set(&sheet, row, column, "-");
                column++;
            }
            row++;
        }
        printf("\n");
        table_print(stdout, &sheet, "");
        sheet_done(&sheet);
    }
    for (size_t i = 1; names && i <= size; i++)
        free(names[i]);
    free(names);
}

static void print_page(const struct page *page)
{
    const struct rating_table *table = page->table;
    size_t long_lists = 0;
    for (size_t list = 0; list < table->lists; list++)
        long_lists += size_of_list(page, list) > 1;
    for (size_t list = 0; list < table->lists; list++) {
        size_t size = size_of_list(page, list);
        if (size == 1 && table->player[only_member(page, list)].games == 0)
            continue;
        if (table->lists > 1)
            printf("\nlist %zu%s\n", list + 1,
                   long_lists > 1 && list > 0 ? " (on a scale of its own: no result ties it to the others)"
                                              : "");
        print_list(page, list);
        if (size > 1 && size <= MATRIX_MAX)
            print_matrix(page, list);
    }
    printf("\n");
    for (size_t list = 0; list < table->lists; list++)
        if (size_of_list(page, list) == 1)
            print_alone(page, list);
    print_gaps(page);
    if (table->has_first_move)
        printf("moving first is worth %.1f +- %.1f Elo\n", table->first_move,
               NORMAL_95 * table->first_move_sd);
    printf("Bradley-Terry, draw half a win, %g virtual draws a pairing, error from pairs of games%s\n",
           table->prior, table->has_anchor ? "" : ", sum zero");
}

/* --- the command --- */

static int read_progress(struct tournament *tournament, struct store_table *table)
{
    static const char sql[] = "select pairings, matches, finished, counted_pairs, planned_pairs,"
                              " (select coalesce(sum(c.repeated_pairs), 0) from kroo.tournament_pairing p"
                              " join kroo.experiment_counted c on c.experiment_id = p.experiment_id"
                              " where p.tournament_id = t.id) as repeated_pairs"
                              " from kroo.tournament_progress t where id = $1::bigint";
    return driver_ask_of(tournament->driver, sql, tournament->id, table);
}

static json_t *meetings_json(struct tournament *tournament)
{
    static const char sql[] =
        "select p.round, a.name as a, b.name as b, p.experiment_id as experiment, e.state, p.pairs as "
        "planned_pairs,"
        " c.counted_pairs as pairs, c.repeated_pairs from kroo.tournament_pairing p"
        " join kroo.tournament_player a on a.tournament_id = p.tournament_id and a.number = p.a"
        " join kroo.tournament_player b on b.tournament_id = p.tournament_id and b.number = p.b"
        " left join kroo.experiment e on e.id = p.experiment_id"
        " left join kroo.experiment_counted c on c.experiment_id = p.experiment_id"
        " where p.tournament_id = $1::bigint order by p.round, p.a, p.b";
    struct store_table table;
    if (driver_ask_of(tournament->driver, sql, tournament->id, &table) != COMMAND_DONE)
        return NULL;
    json_t *array = table_json(&table);
    store_table_done(&table);
    return array;
}

static int print_json(struct tournament *tournament, const struct rating_table *table)
{
    const char **names = calloc(tournament->players + 1, sizeof *names);
    json_t *pairings = names ? meetings_json(tournament) : NULL;
    if (!pairings) {
        free(names);
        return COMMAND_REFUSED;
    }
    for (size_t i = 0; i < tournament->players; i++)
        names[i] = tournament->player[i].name;
    json_t *answer = json_pack("{s:s, s:s, s:s, s:O, s:o}", "tournament", tournament->name, "kind",
                               tournament->kind, "rules", tournament->rules, "specification",
                               tournament->specification, "pairings", pairings);
    calc_rating_put(answer, table, names);
    free(names);
    return table_json_print(answer);
}

static int print_people(struct tournament *tournament, const struct rating_table *table)
{
    struct store_table progress;
    struct page page = {
        .tournament = tournament, .table = table, .order = calloc(tournament->players, sizeof *page.order)};
    int status = page.order ? read_progress(tournament, &progress) : args_refuse("out of memory");
    if (status == COMMAND_DONE) {
        rating_order(table, page.order);
        const char *repeated = table_named(&progress, 0, "repeated_pairs");
        printf("%s %s, %s: %s of %s matches done, %s of %s pairs played", tournament->kind, tournament->name,
               tournament->rules, table_named(&progress, 0, "finished"),
               table_named(&progress, 0, "pairings"), table_named(&progress, 0, "counted_pairs"),
               table_named(&progress, 0, "planned_pairs"));
        if (strcmp(repeated, "0") != 0)
            printf(", %s repeated pairs not counted", repeated);
        putchar('\n');
        print_page(&page);
        store_table_done(&progress);
    }
    free(page.order);
    return status;
}

int ratings_print(struct tournament *tournament, double prior, bool json)
{
    struct rating_table *table;
    int status = ratings_compute(tournament, prior, &table);
    if (status == COMMAND_DONE)
        status = json ? print_json(tournament, table) : print_people(tournament, table);
    rating_destroy(table);
    return status;
}

struct ratings_request {
    struct args_common common;
    const char *name, *anchor;
    double prior;
};

static const struct argp_option ratings_options[] = {
    {"anchor", OPTION_ANCHOR, "PLAYER[=ELO]", 0, "This player has this rating (default 0)", 1},
    {"prior", OPTION_PRIOR, "DRAWS", 0, "Virtual draws for each pairing that met (default 1; 0 for none)", 1},
    {0},
};

static error_t ratings_parse(int key, char *text, struct argp_state *state)
{
    struct ratings_request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->common;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        request->name = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "of which tournament? `kroo tournament ls` lists them");
        return 0;
    case OPTION_ANCHOR:
        request->anchor = text;
        return 0;
    case OPTION_PRIOR:
        request->prior = args_decimal(state, "--prior", text);
        if (request->prior < 0 || request->prior > 1000)
            argp_error(state, "--prior lies within 0 and 1000");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Another anchor than the tournament's own. */
static int choose_anchor(struct tournament *tournament, const char *text)
{
    size_t chosen = tournament->players;
    double elo = 0;
    for (size_t i = 0; i < tournament->players; i++) {
        size_t length = strlen(tournament->player[i].name);
        if (strncmp(text, tournament->player[i].name, length) == 0 &&
            (text[length] == '\0' || text[length] == '='))
            chosen = i;
    }
    if (chosen == tournament->players)
        return args_refuse("--anchor: no player of %s is called \"%.60s\"", tournament->name, text);
    const char *given = text + strlen(tournament->player[chosen].name);
    if (*given == '=') {
        char *end;
        elo = strtod(given + 1, &end);
        if (end == given + 1 || *end || !(fabs(elo) <= 100000))
            return args_refuse("--anchor: \"%.40s\" is no rating", given + 1);
    }
    for (size_t i = 0; i < tournament->players; i++)
        tournament->player[i].is_anchor = i == chosen;
    tournament->player[chosen].anchor_elo = elo;
    return COMMAND_DONE;
}

int ratings_command(int argc, char **argv)
{
    static const struct argp argp = {
        .options = ratings_options,
        .parser = ratings_parse,
        .args_doc = "TOURNAMENT",
        .doc =
            "The joint ratings of a gauntlet, round robin, pool or progression from what is counted so far, "
            "also "
            "while it runs: rating and error, score, games, and the likelihood that one is stronger than the "
            "other. Players that no result ties together are listed apart.\v"
            "Examples:\n  kroo ratings week\n  kroo ratings week --anchor starting=1000\n"
            "  kroo ratings week --json | jq '.ratings[] | {player, rating, error95}'",
        .children = args_common_children};
    struct ratings_request request = {.prior = 1};
    struct driver driver;
    struct tournament tournament;
    parse_line(&argp, argc, argv, &request);
    int status = driver_open(&driver, &request.common, "kroo_reader");
    tournament_init(&tournament, &driver, "");
    if (status == COMMAND_DONE)
        status = tournament_need(&tournament, request.name);
    if (status == COMMAND_DONE && request.anchor)
        status = choose_anchor(&tournament, request.anchor);
    if (status == COMMAND_DONE)
        status = ratings_print(&tournament, request.prior, request.common.json);
    tournament_done(&tournament);
    driver_close(&driver);
    return status;
}
