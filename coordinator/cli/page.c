#include "coordinator/cli/page.h"

#include <string.h>

#include "coordinator/cli/pace.h"
#include "coordinator/cli/sheet.h"
#include "coordinator/cli/table.h"
#include "coordinator/cli/terminal.h"

enum { LABEL = 12, WORKERS_MAX = 40 };

const char *page_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

double page_number(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

void page_bar(double share, char *bar, size_t letters)
{
    size_t filled = share >= 1 ? letters : share <= 0 ? 0 : (size_t)(share * (double)letters);
    memset(bar, '#', filled);
    memset(bar + filled, '.', letters - filled);
    bar[letters] = '\0';
}

static void heading(FILE *out, const char *text)
{
    fprintf(out, "\n%s%s%s\n", terminal_begin(out, TERMINAL_STRONG), text, terminal_end(out));
}

static void label(FILE *out, const char *name, enum terminal_paint paint, const char *word)
{
    fprintf(out, "%s%-*s%s%s%s%s", terminal_begin(out, TERMINAL_FAINT), LABEL, name, terminal_end(out),
            terminal_begin(out, paint), word, terminal_end(out));
}

static bool is_live(const json_t *worker)
{
    return strcmp(page_text(worker, "state"), "gone") != 0;
}

double page_games_per_second(const struct glance *glance, size_t *workers, size_t *playing)
{
    double games = 0;
    size_t i;
    const json_t *worker;
    *workers = *playing = 0;
    json_array_foreach(json_object_get(glance->coordinator.told, "workers"), i, worker)
    {
        *workers += is_live(worker);
        *playing += strcmp(page_text(worker, "state"), "playing") == 0;
        games += is_live(worker) ? page_number(worker, "games_per_minute") / 60 : 0;
    }
    return games;
}

/* `up`, or since when it is not heard of and why. */
static bool print_side(FILE *out, const char *name, const struct glance_side *side)
{
    if (side->is_up) {
        label(out, name, TERMINAL_GOOD, "up");
        return true;
    }
    if (!side->told && !side->reason[0])
        label(out, name, TERMINAL_CARE, "has not answered yet");
    else
        label(out, name, TERMINAL_BAD, "away");
    if (side->told)
        fprintf(out, " for %.0f s", side->age_s);
    if (side->reason[0])
        fprintf(out, ": %.*s", (int)strcspn(side->reason, "\n"), side->reason);
    fputc('\n', out);
    return false;
}

void page_print_standing(FILE *out, const struct glance *glance)
{
    const json_t *database = glance->database.told, *coordinator = glance->coordinator.told;
    size_t workers, playing;
    double games = page_games_per_second(glance, &workers, &playing);
    if (print_side(out, "database", &glance->database)) {
        double ended = page_number(json_object_get(database, "states"), "finished") +
                       page_number(json_object_get(database, "states"), "stopped");
        fprintf(out, ", %.0f games stored; %zu experiments open, %.0f ended\n",
                page_number(database, "games"), json_array_size(json_object_get(database, "open")), ended);
    }
    if (print_side(out, "coordinator", &glance->coordinator)) {
        char text[64];
        pace_text(page_number(coordinator, "uptime_ms") / 60000, 1, text, sizeof text);
        fprintf(out, " for %s", text);
        if (strcmp(page_text(coordinator, "database"), "up") != 0)
            fprintf(out, "; its database: %s", page_text(coordinator, "database"));
        fprintf(out, "; writer's queue %.0f, leases %.0f\n", page_number(coordinator, "writer_queue"),
                page_number(coordinator, "leases"));
    }
    if (glance->coordinator.is_up)
        fprintf(out, "%s%-*s%s%zu, %zu of them play; %.1f games/s\n", terminal_begin(out, TERMINAL_FAINT),
                LABEL, "workers", terminal_end(out), workers, playing, games);
    else if (database)
        fprintf(out, "%s%-*s%s%.0f had a session\n", terminal_begin(out, TERMINAL_FAINT), LABEL, "workers",
                terminal_end(out), page_number(database, "sessions"));
}

void page_print_attention(FILE *out, const struct glance *glance)
{
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(glance->database.told, "open"), i, one)
    {
        const char *state = page_text(one, "state");
        double id = page_number(one, "id"), disputes = page_number(one, "disputes");
        if (strcmp(state, "blocked") == 0)
            fprintf(out, "%sexperiment %.0f is blocked%s: %s\n", terminal_begin(out, TERMINAL_BAD), id,
                    terminal_end(out), page_text(one, "reason"));
        else if (strcmp(state, "pending") == 0)
            fprintf(out, "%sexperiment %.0f waits for approval%s: `kroo approve %.0f`\n",
                    terminal_begin(out, TERMINAL_CARE), id, terminal_end(out), id);
        if (disputes > 0)
            fprintf(out, "%sexperiment %.0f has %.0f disputed pairs%s\n", terminal_begin(out, TERMINAL_CARE),
                    id, disputes, terminal_end(out));
    }
}

static void time_left(const json_t *one, char *text, size_t size)
{
    const json_t *seconds = json_object_get(one, "seconds_left");
    text[0] = '\0';
    if (strcmp(page_text(one, "state"), "running") != 0)
        return;
    if (!json_is_number(seconds)) {
        snprintf(text, size, "unknown");
        return;
    }
    size_t used =
        json_is_true(json_object_get(one, "is_expected")) ? (size_t)snprintf(text, size, "about ") : 0;
    pace_text(json_number_value(seconds) / 60, 1, text + used, size - used);
}

void page_print_open(FILE *out, const struct glance *glance)
{
    static const char *const names[] = {"#id",  "kind",     "state", "players",     "#pairs",
                                        "done", "#pairs/m", "left",  "llr [within]"};
    const json_t *open = json_object_get(glance->database.told, "open"), *one;
    struct store_table table;
    size_t i;
    if (json_array_size(open) == 0 || !sheet_init(&table, json_array_size(open), 9, names))
        return;
    json_array_foreach(open, i, one)
    {
        char left[80], bar[PAGE_BAR];
        double pairs = page_number(one, "pairs"), planned = page_number(one, "planned");
        time_left(one, left, sizeof left);
        sheet_set(&table, i, 0, "%.0f", page_number(one, "id"));
        sheet_set(&table, i, 1, "%s", page_text(one, "kind"));
        sheet_set(&table, i, 2, "%s", page_text(one, "state"));
        sheet_set(&table, i, 3, "%s", page_text(one, "players"));
        sheet_set(&table, i, 4, "%.0f", pairs);
        page_bar(planned > 0 ? pairs / planned : 0, bar, PAGE_BAR - 1);
        sheet_set(&table, i, 5, "%s %.0f %%", bar, planned > 0 ? 100 * pairs / planned : 0);
        if (page_number(one, "pairs_per_minute") > 0)
            sheet_set(&table, i, 6, "%.0f", page_number(one, "pairs_per_minute"));
        sheet_set(&table, i, 7, "%s", left);
        if (json_is_true(json_object_get(one, "has_sprt")))
            sheet_set(&table, i, 8, "%.2f [%.2f, %.2f]", page_number(one, "llr"), page_number(one, "lower"),
                      page_number(one, "upper"));
    }
    heading(out, "Open experiments");
    table_print(out, &table, "");
    sheet_done(&table);
}

void page_print_workers(FILE *out, const struct glance *glance)
{
    static const char *const names[] = {"name", "state", "#slots", "#games/min", "#nodes/s", "why"};
    const json_t *workers = json_object_get(glance->coordinator.told, "workers"), *one;
    size_t count = json_array_size(workers), i;
    struct store_table table;
    if (count == 0 || !sheet_init(&table, count < WORKERS_MAX ? count : WORKERS_MAX, 6, names))
        return;
    json_array_foreach(workers, i, one)
    {
        if (i >= table.rows)
            break;
        sheet_set(&table, i, 0, "%s", page_text(one, "name"));
        sheet_set(&table, i, 1, "%s", page_text(one, "state"));
        sheet_set(&table, i, 2, "%.0f", page_number(one, "slots"));
        sheet_set(&table, i, 3, "%.1f", page_number(one, "games_per_minute"));
        sheet_set(&table, i, 4, "%.0f", page_number(one, "nodes_per_second"));
        sheet_set(&table, i, 5, "%s", page_text(one, "why"));
    }
    heading(out, "Workers");
    table_print(out, &table, "");
    sheet_done(&table);
}

void page_print_verdicts(FILE *out, const struct glance *glance)
{
    static const char *const names[] = {"#id", "kind", "verdict", "players", "#pairs", "Elo [95 %]", "at"};
    const json_t *verdicts = json_object_get(glance->database.told, "verdicts"), *one;
    struct store_table table;
    size_t i;
    if (json_array_size(verdicts) == 0 || !sheet_init(&table, json_array_size(verdicts), 7, names))
        return;
    json_array_foreach(verdicts, i, one)
    {
        bool is_match = strcmp(page_text(one, "kind"), "match") == 0;
        const char *verdict = page_text(one, "verdict");
        sheet_set(&table, i, 0, "%.0f", page_number(one, "id"));
        sheet_set(&table, i, 1, "%s", page_text(one, "kind"));
        sheet_set(&table, i, 2, "%s", !is_match && strcmp(verdict, "undecided") == 0 ? "finished" : verdict);
        sheet_set(&table, i, 3, "%s", page_text(one, "players"));
        sheet_set(&table, i, 4, "%.0f", page_number(one, "pairs"));
        if (is_match && json_is_number(json_object_get(one, "elo")))
            sheet_set(&table, i, 5, "%+.1f [%+.1f, %+.1f]", page_number(one, "elo"),
                      page_number(one, "elo_lo"), page_number(one, "elo_hi"));
        sheet_set(&table, i, 6, "%s", page_text(one, "at"));
    }
    heading(out, "Last ended");
    table_print(out, &table, "");
    sheet_done(&table);
}

void page_print_champions(FILE *out, const struct glance *glance)
{
    const json_t *champions = json_object_get(glance->database.told, "champions"), *one;
    size_t i;
    json_array_foreach(champions, i, one)
    {
        fprintf(out, "%s%-*s%s%s#%.0f%s", terminal_begin(out, TERMINAL_FAINT), LABEL,
                i == 0 ? "champion" : "", terminal_end(out), terminal_begin(out, TERMINAL_ACCENT),
                page_number(one, "weights"), terminal_end(out));
        fprintf(out, " %s, line %s, since %s", page_text(one, "name"), page_text(one, "line"),
                page_text(one, "since"));
        if (page_number(one, "experiment") > 0)
            fprintf(out, ", proved by experiment %.0f", page_number(one, "experiment"));
        fputc('\n', out);
    }
}

void page_print_events(FILE *out, const struct glance *glance)
{
    static const char *const names[] = {"at", "kind", "#experiment", "text"};
    const json_t *events = json_object_get(glance->database.told, "events"), *one;
    struct store_table table;
    size_t i;
    if (json_array_size(events) == 0 || !sheet_init(&table, json_array_size(events), 4, names))
        return;
    json_array_foreach(events, i, one)
    {
        sheet_set(&table, i, 0, "%s", page_text(one, "at"));
        sheet_set(&table, i, 1, "%s", page_text(one, "kind"));
        if (page_number(one, "experiment") > 0)
            sheet_set(&table, i, 2, "%.0f", page_number(one, "experiment"));
        sheet_set(&table, i, 3, "%s", page_text(one, "text"));
    }
    heading(out, "Events");
    table_print(out, &table, "");
    sheet_done(&table);
}
