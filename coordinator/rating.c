#include "coordinator/rating.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/rating_fit.h"

/* The one-sided bound is where results so one-sided still have this probability. */
#define GAP_PROBABILITY 0.05

enum { BISECTIONS = 200 };

const char *rating_error_text(int error)
{
    switch (error) {
    case RATING_PLAYERS:
        return "ratings are of 1 to 1000 players";
    case RATING_MEETING:
        return "a meeting is of two known players, with counts from 0 to 10^15, at most a million meetings";
    case RATING_PRIOR:
        return "the prior is a number of virtual draws from 0 to 1000";
    case RATING_ANCHOR:
        return "the anchor is a known player with a rating within -100000 and 100000";
    case RATING_MEMORY:
        return "out of memory";
    case RATING_NUMERIC:
        return "the counts are so unlike that the ratings cannot be computed";
    default:
        return "";
    }
}

/* What is known while a table is made. */
struct maker {
    struct rating_table *table;
    const struct rating_options *options;
    struct rating_meeting *meetings; /* merged: a < b, each two once, none empty, in order */
    size_t count;
    double *points; /* players x players: what one scored against the other */
    size_t *size;   /* players of each list */
};

/* --- meetings --- */

static bool good_counts(const double *counts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(counts[i] >= 0 && counts[i] <= RATING_COUNT_MAX))
            return false;
    return true;
}

static int check(size_t players, const struct rating_meeting *meetings, size_t count,
                 const struct rating_options *options)
{
    if (players == 0 || players > RATING_PLAYERS_MAX)
        return RATING_PLAYERS;
    if (count > RATING_MEETINGS_MAX)
        return RATING_MEETING;
    for (size_t i = 0; i < count; i++)
        if (meetings[i].a >= players || meetings[i].b >= players || meetings[i].a == meetings[i].b ||
            !good_counts(meetings[i].pairs[0], 9) || !good_counts(meetings[i].games[0], 6))
            return RATING_MEETING;
    if (!(options->prior >= 0 && options->prior <= 1000))
        return RATING_PRIOR;
    if (options->has_anchor && (options->anchor >= players || !(fabs(options->anchor_elo) <= 100000)))
        return RATING_ANCHOR;
    return 0;
}

/* The same seen from b. */
static struct rating_meeting turned(const struct rating_meeting *meeting)
{
    struct rating_meeting other = {.a = meeting->b, .b = meeting->a};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            other.pairs[2 - j][2 - i] = meeting->pairs[i][j];
        for (int leg = 0; leg < 2; leg++)
            other.games[1 - leg][2 - i] = meeting->games[leg][i];
    }
    return other;
}

static double games_of(const struct rating_meeting *meeting)
{
    double games = 0;
    for (int i = 0; i < 3; i++) {
        games += meeting->games[0][i] + meeting->games[1][i];
        for (int j = 0; j < 3; j++)
            games += 2 * meeting->pairs[i][j];
    }
    return games;
}

static int by_players(const void *left, const void *right)
{
    const struct rating_meeting *x = left, *y = right;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return x->b == y->b ? 0 : x->b < y->b ? -1 : 1;
}

static void add_counts(struct rating_meeting *sum, const struct rating_meeting *meeting)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            sum->pairs[i][j] += meeting->pairs[i][j];
        for (int leg = 0; leg < 2; leg++)
            sum->games[leg][i] += meeting->games[leg][i];
    }
}

static void merge(struct maker *maker, const struct rating_meeting *meetings, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (games_of(&meetings[i]) > 0)
            maker->meetings[kept++] = meetings[i].a < meetings[i].b ? meetings[i] : turned(&meetings[i]);
    qsort(maker->meetings, kept, sizeof *maker->meetings, by_players);
    for (size_t i = 0; i < kept; i++) {
        struct rating_meeting *last = &maker->meetings[maker->count - (maker->count > 0)];
        if (maker->count > 0 && by_players(last, &maker->meetings[i]) == 0)
            add_counts(last, &maker->meetings[i]);
        else
            maker->meetings[maker->count++] = maker->meetings[i];
    }
}

/* `games` of a's results by half points, seen by both. */
static void count_games(struct maker *maker, const struct rating_meeting *meeting, int half_points,
                        double games)
{
    struct rating_table *table = maker->table;
    struct rating_player *a = &table->player[meeting->a], *b = &table->player[meeting->b];
    a->games += games;
    b->games += games;
    *(half_points == 0 ? &a->losses : half_points == 1 ? &a->draws : &a->wins) += games;
    *(half_points == 0 ? &b->wins : half_points == 1 ? &b->draws : &b->losses) += games;
    maker->points[meeting->a * table->players + meeting->b] += games * half_points / 2;
    maker->points[meeting->b * table->players + meeting->a] += games * (2 - half_points) / 2;
}

static void count_all(struct maker *maker)
{
    for (size_t m = 0; m < maker->count; m++)
        for (int i = 0; i < 3; i++) {
            const struct rating_meeting *meeting = &maker->meetings[m];
            count_games(maker, meeting, i, meeting->games[0][i] + meeting->games[1][i]);
            for (int j = 0; j < 3; j++) {
                count_games(maker, meeting, i, meeting->pairs[i][j]);
                count_games(maker, meeting, j, meeting->pairs[i][j]);
            }
        }
    for (size_t i = 0; i < maker->table->players; i++) {
        struct rating_player *player = &maker->table->player[i];
        player->score = player->games > 0 ? (player->wins + player->draws / 2) / player->games : 0;
        player->is_unbeaten = player->games > 0 && player->wins == player->games;
        player->is_winless = player->games > 0 && player->losses == player->games;
    }
}

/* --- lists: strongly connected components of "scored against" (Tarjan) --- */

struct walk {
    const struct maker *maker;
    size_t *index, *low, *stack, depth, next;
    bool *waits; /* on the stack */
};

/* Recursion goes as deep as there are players: RATING_PLAYERS_MAX. */
static void visit(struct walk *walk, size_t player)
{
    struct rating_table *table = walk->maker->table;
    size_t n = table->players;
    walk->index[player] = walk->low[player] = ++walk->next;
    walk->stack[walk->depth++] = player;
    walk->waits[player] = true;
    for (size_t other = 0; other < n; other++) {
        if (walk->maker->points[other * n + player] <= 0)
            continue;
        if (walk->index[other] == 0)
            visit(walk, other);
        if (walk->waits[other] && walk->low[other] < walk->low[player])
            walk->low[player] = walk->low[other];
    }
    if (walk->low[player] != walk->index[player])
        return;
    size_t member;
    do {
        member = walk->stack[--walk->depth];
        walk->waits[member] = false;
        table->player[member].list = table->lists;
    } while (member != player);
    table->lists++;
}

struct rank {
    size_t list, first;
    double games;
};

static int by_games(const void *left, const void *right)
{
    const struct rank *x = left, *y = right;
    if (x->games != y->games)
        return x->games > y->games ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* The largest list first, so that its number says something. */
static bool number_lists(struct maker *maker)
{
    struct rating_table *table = maker->table;
    struct rank *ranks = calloc(table->lists, sizeof *ranks);
    size_t *renamed = calloc(table->lists, sizeof *renamed);
    bool good = ranks && renamed;
    for (size_t i = 0; i < table->lists && good; i++)
        ranks[i] = (struct rank){.list = i, .first = table->players};
    for (size_t i = 0; i < table->players && good; i++) {
        struct rank *rank = &ranks[table->player[i].list];
        rank->games += table->player[i].games;
        if (rank->first > i)
            rank->first = i;
    }
    if (good) {
        qsort(ranks, table->lists, sizeof *ranks, by_games);
        for (size_t i = 0; i < table->lists; i++)
            renamed[ranks[i].list] = i;
        for (size_t i = 0; i < table->players; i++) {
            table->player[i].list = renamed[table->player[i].list];
            maker->size[table->player[i].list]++;
        }
    }
    free(ranks);
    free(renamed);
    return good;
}

static bool find_lists(struct maker *maker)
{
    size_t n = maker->table->players;
    size_t *numbers = calloc(3 * n, sizeof *numbers);
    bool *waits = calloc(n, sizeof *waits), good = numbers && waits;
    struct walk walk = {.maker = maker, .waits = waits};
    if (good) {
        walk.index = numbers;
        walk.low = numbers + n;
        walk.stack = numbers + 2 * n;
    }
    for (size_t i = 0; i < n && good; i++)
        if (walk.index[i] == 0)
            visit(&walk, i);
    free(numbers);
    free(waits);
    return good && number_lists(maker);
}

/* --- the fit --- */

static bool shares_list(const struct maker *maker, const struct rating_meeting *meeting)
{
    const struct rating_player *player = maker->table->player;
    return player[meeting->a].list == player[meeting->b].list;
}

/* Writes the fit of players `member[0..]` into the table. */
static void take_fit(struct maker *maker, const struct rating_fit *fit, const size_t *member)
{
    struct rating_table *table = maker->table;
    double unit = 1 / RATING_ELO;
    for (size_t i = 0; i < fit->players; i++) {
        table->player[member[i]].rating = fit->x[i] * unit;
        table->player[member[i]].has_error = true;
        for (size_t j = 0; j < fit->players; j++)
            if (fit->group[i] == fit->group[j])
                table->covariance[member[i] * table->players + member[j]] =
                    fit->covariance[i * fit->size + j] * unit * unit;
    }
    table->has_first_move = fit->fit_first_move;
    if (fit->fit_first_move) {
        size_t last = fit->players;
        table->first_move = fit->x[last] * unit;
        table->first_move_sd = sqrt(fmax(0, fit->covariance[last * fit->size + last])) * unit;
    }
}

static int fit_lists(struct maker *maker)
{
    struct rating_table *table = maker->table;
    size_t n = table->players;
    size_t *numbers = calloc(3 * n, sizeof *numbers);
    struct rating_meeting *meetings = malloc((maker->count + 1) * sizeof *meetings);
    int error = numbers && meetings ? 0 : RATING_MEMORY;
    size_t *member = numbers, *place = numbers + n, *group = numbers + 2 * n;
    struct rating_fit fit = {.prior = maker->options->prior,
                             .fit_first_move = maker->options->fit_first_move,
                             .groups = table->lists,
                             .meetings = meetings,
                             .group = group};
    for (size_t i = 0; i < n && error == 0; i++)
        if (maker->size[table->player[i].list] > 1) {
            place[i] = fit.players;
            group[fit.players] = table->player[i].list;
            member[fit.players++] = i;
        }
    for (size_t i = 0; i < maker->count && error == 0; i++)
        if (shares_list(maker, &maker->meetings[i])) {
            meetings[fit.count] = maker->meetings[i];
            meetings[fit.count].a = place[meetings[fit.count].a];
            meetings[fit.count].b = place[meetings[fit.count].b];
            fit.count++;
        }
    if (error == 0 && fit.players > 0) {
        error = rating_fit_run(&fit, true);
        if (error == 0)
            take_fit(maker, &fit, member);
        rating_fit_done(&fit);
    }
    free(numbers);
    free(meetings);
    return error;
}

/* Moves the anchor's list so that the anchor has its rating, without error. */
static void apply_anchor(struct maker *maker)
{
    struct rating_table *table = maker->table;
    size_t n = table->players, anchor = maker->options->anchor, list = table->player[anchor].list;
    double shift = maker->options->anchor_elo - table->player[anchor].rating;
    double *v = table->covariance, own = v[anchor * n + anchor];
    for (size_t i = 0; i < n; i++)
        if (table->player[i].list == list)
            table->player[i].rating += shift;
    /* Row and column of the anchor are read until the end, so they are set last. */
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (table->player[i].list == list && table->player[j].list == list && i != anchor && j != anchor)
                v[i * n + j] += own - v[i * n + anchor] - v[anchor * n + j];
    for (size_t i = 0; i < n; i++)
        v[i * n + anchor] = v[anchor * n + i] = 0;
    table->has_anchor = true;
    table->anchor = anchor;
}

/* --- gaps --- */

/* From the side that gave nothing away. */
static int by_lists(const void *left, const void *right, void *context)
{
    const struct rating_table *table = context;
    const struct rating_meeting *x = left, *y = right;
    const struct rating_player *player = table->player;
    if (player[x->a].list != player[y->a].list)
        return player[x->a].list < player[y->a].list ? -1 : 1;
    if (player[x->b].list != player[y->b].list)
        return player[x->b].list < player[y->b].list ? -1 : 1;
    return by_players(left, right);
}

/* ln of the probability of winning all of these games with `lead` Elo more; the two games of a pair are one
 * sample, at their mean. */
static double all_won(const struct rating_table *table, const struct rating_meeting *meetings, size_t count,
                      double lead)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const struct rating_meeting *meeting = &meetings[i];
        double difference = table->player[meeting->a].rating - table->player[meeting->b].rating + lead;
        double first = log(fmax(1e-300, rating_expected(RATING_ELO * (difference + table->first_move))));
        double second = log(fmax(1e-300, rating_expected(RATING_ELO * (difference - table->first_move))));
        sum += meeting->pairs[2][2] * (first + second) / 2 + meeting->games[0][2] * first +
               meeting->games[1][2] * second;
    }
    return sum;
}

static double least_lead(const struct rating_table *table, const struct rating_meeting *meetings,
                         size_t count)
{
    double low = -1e6, high = 1e6;
    for (int i = 0; i < BISECTIONS && high - low > 1e-9; i++) {
        double middle = (low + high) / 2;
        if (all_won(table, meetings, count, middle) < log(GAP_PROBABILITY))
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

static int find_gaps(struct maker *maker)
{
    struct rating_table *table = maker->table;
    struct rating_meeting *across = malloc((maker->count + 1) * sizeof *across);
    size_t count = 0, n = table->players;
    table->gap = calloc(maker->count + 1, sizeof *table->gap);
    if (!across || !table->gap) {
        free(across);
        return RATING_MEMORY;
    }
    for (size_t i = 0; i < maker->count; i++) {
        const struct rating_meeting *meeting = &maker->meetings[i];
        if (!shares_list(maker, meeting))
            across[count++] = maker->points[meeting->a * n + meeting->b] > 0 ? *meeting : turned(meeting);
    }
    qsort_r(across, count, sizeof *across, by_lists, table);
    for (size_t from = 0, to; from < count; from = to) {
        size_t above = table->player[across[from].a].list, below = table->player[across[from].b].list;
        for (to = from; to < count && table->player[across[to].a].list == above &&
                        table->player[across[to].b].list == below;)
            to++;
        table->gap[table->gaps++] = (struct rating_gap){
            .above = above, .below = below, .at_least = least_lead(table, across + from, to - from)};
    }
    free(across);
    return 0;
}

/* --- the table --- */

static int make(struct maker *maker, const struct rating_meeting *meetings, size_t count)
{
    struct rating_table *table = maker->table;
    size_t n = table->players;
    table->player = calloc(n, sizeof *table->player);
    table->covariance = calloc(n * n, sizeof *table->covariance);
    maker->points = calloc(n * n, sizeof *maker->points);
    maker->size = calloc(n, sizeof *maker->size);
    maker->meetings = malloc((count + 1) * sizeof *maker->meetings);
    if (!table->player || !table->covariance || !maker->points || !maker->size || !maker->meetings)
        return RATING_MEMORY;
    merge(maker, meetings, count);
    count_all(maker);
    if (!find_lists(maker))
        return RATING_MEMORY;
    int error = fit_lists(maker);
    if (error == 0 && maker->options->has_anchor)
        apply_anchor(maker);
    for (size_t i = 0; i < n && error == 0; i++)
        table->player[i].sd = sqrt(fmax(0, table->covariance[i * n + i]));
    return error ? error : find_gaps(maker);
}

int rating_create(struct rating_table **table, size_t players, const struct rating_meeting *meetings,
                  size_t count, const struct rating_options *options)
{
    *table = NULL;
    int error = check(players, meetings, count, options);
    if (error)
        return error;
    struct maker maker = {.table = calloc(1, sizeof **table), .options = options};
    if (!maker.table)
        return RATING_MEMORY;
    maker.table->players = players;
    maker.table->prior = options->prior;
    error = make(&maker, meetings, count);
    free(maker.points);
    free(maker.size);
    free(maker.meetings);
    if (error)
        rating_destroy(maker.table);
    else
        *table = maker.table;
    return error;
}

void rating_destroy(struct rating_table *table)
{
    if (!table)
        return;
    free(table->player);
    free(table->gap);
    free(table->covariance);
    free(table);
}

double rating_difference_sd(const struct rating_table *table, size_t i, size_t j)
{
    const double *v = table->covariance;
    size_t n = table->players;
    return sqrt(fmax(0, v[i * n + i] + v[j * n + j] - v[i * n + j] - v[j * n + i]));
}

bool rating_superiority(const struct rating_table *table, size_t i, size_t j, double *likelihood)
{
    if (i == j || table->player[i].list != table->player[j].list)
        return false;
    double difference = table->player[i].rating - table->player[j].rating;
    double sd = rating_difference_sd(table, i, j);
    if (sd > 0)
        *likelihood = 0.5 * erfc(-difference / (sd * sqrt(2)));
    else
        *likelihood = difference > 0 ? 1 : difference < 0 ? 0 : 0.5;
    return true;
}

static int by_rating(const void *left, const void *right, void *context)
{
    size_t i = *(const size_t *)left, j = *(const size_t *)right;
    const struct rating_player *x = &((const struct rating_player *)context)[i];
    const struct rating_player *y = &((const struct rating_player *)context)[j];
    if (x->list != y->list)
        return x->list < y->list ? -1 : 1;
    if (x->rating != y->rating)
        return x->rating > y->rating ? -1 : 1;
    return i < j ? -1 : i > j;
}

void rating_order(const struct rating_table *table, size_t *order)
{
    for (size_t i = 0; i < table->players; i++)
        order[i] = i;
    qsort_r(order, table->players, sizeof *order, by_rating, table->player);
}
