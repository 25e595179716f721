/* `kroo tune show ID`: where the parameters of a tune stand, how they came there, and what came of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/table.h"
#include "coordinator/record.h"
#include "proto/artifact.h"
#include "sql/store_tune.h"

enum { ROWS_SHOWN = 40, HISTORY_COLUMNS = 6 };

static const char now_sql[] =
    "select p.name, p.start, coalesce(n.value, p.start) as now, coalesce(n.change, 0) as change, p.low, "
    "p.high,"
    " p.c_end, p.r_end from kroo.tune_parameter p left join kroo.tune_now n using (experiment_id, number)"
    " where p.experiment_id = $1::bigint order by p.number";

/* As `now`, the farthest first, for people: thousands do not fit on a page. */
static const char farthest_sql[] =
    "select p.name, round(p.start::numeric, 2) as start, round(coalesce(n.value, p.start)::numeric, 2) as "
    "now,"
    " round(coalesce(n.change, 0)::numeric, 2) as change, p.low, p.high, p.c_end as step"
    " from kroo.tune_parameter p left join kroo.tune_now n using (experiment_id, number)"
    " where p.experiment_id = $1::bigint order by abs(coalesce(n.change, 0)) / p.c_end desc, p.number limit "
    "40";

/* About eight moments, the last one included. */
static const char history_sql[] =
    "with kept as (select batch_no, theta, row_number() over (order by batch_no desc) - 1 as back,"
    " count(*) over () as n from kroo.tune_batch where experiment_id = $1::bigint and theta is not null),"
    " far as (select p.number, p.name, row_number() over (order by abs(n.change) / p.c_end desc, p.number) "
    "as place"
    " from kroo.tune_parameter p join kroo.tune_now n using (experiment_id, number)"
    " where p.experiment_id = $1::bigint)"
    " select (k.batch_no + 1) * t.batch_pairs as pairs, f.name, round(k.theta[f.number + 1]::numeric, 2) as "
    "value"
    " from kept k cross join far f join kroo.tune t on t.experiment_id = $1::bigint"
    " where f.place <= 6 and k.back % greatest(1, k.n / 8) = 0 order by k.batch_no, f.place";

static const char match_sql[] =
    "select m.id, m.state, v.verdict, c.prefix_pairs, m.planned_pairs, c.wins, c.draws, c.losses,"
    " round(v.elo::numeric, 1), round(v.elo_lo::numeric, 1), round(v.elo_hi::numeric, 1), w.number, w.name"
    " from kroo.tune t left join kroo.experiment m on m.id = t.match_id"
    " left join kroo.experiment_counter c on c.experiment_id = m.id"
    " left join kroo.verdict v on v.experiment_id = m.id"
    " left join kroo.weights w on w.sha256 = t.tuned_sha256 where t.experiment_id = $1::bigint";
enum match_column {
    MATCH,
    STATE,
    VERDICT,
    PAIRS,
    PLANNED,
    WINS,
    DRAWS,
    LOSSES,
    ELO,
    ELO_LO,
    ELO_HI,
    NUMBER,
    NAME
};

struct tune_show {
    struct args_experiment arguments;
    struct record record;
    struct store_tune tune;
    uint64_t applied, outvoted;
    struct store_table match;
};

static int load(struct tune_show *show, struct store *store, const char *const *id)
{
    struct store_table rows;
    enum store_error error = record_load(store, show->arguments.id, &show->record);
    if (error == STORE_ERROR_REFUSED)
        return args_refuse("there is no experiment %s: `kroo ls` lists them", id[0]);
    if (error == STORE_OK)
        error = store_tune_get(store, show->arguments.id, &show->tune);
    if (error == STORE_ERROR_REFUSED)
        return args_refuse("experiment %s is no tune: `kroo show %s`", id[0], id[0]);
    if (error != STORE_OK)
        return connect_failed(store, error);
    int status = connect_query(store, match_sql, id, 1, &show->match);
    if (status == COMMAND_DONE)
        status =
            connect_query(store,
                          "select count(*) from kroo.tune_batch where experiment_id = $1::bigint and won is "
                          "not null",
                          id, 1, &rows);
    if (status == COMMAND_DONE) {
        show->applied = table_number(&rows, 0, 0);
        store_table_done(&rows);
    }
    if (status == COMMAND_DONE)
        status = connect_failed(store, store_tune_outvoted(store, show->arguments.id, &show->outvoted));
    return status;
}

/* --- for people --- */

static void print_head(const struct tune_show *show)
{
    const struct store_tune *tune = &show->tune;
    const struct record *record = &show->record;
    printf("tune %llu: %s\n", (unsigned long long)tune->experiment, record_outcome(record));
    if (*record->state_reason)
        printf("  because     %s\n", record->state_reason);
    printf("  from        weights %s\n", record->label_a);
    printf("  batches     %llu of %llu applied, of %u pairs, lag %u\n", (unsigned long long)show->applied,
           (unsigned long long)tune->batches, tune->batch_pairs, tune->lag);
    if (show->outvoted > 0)
        printf(
            "  outvoted    %llu pairs had moved the parameters when two other workers agreed on other games "
            "(`kroo audit %llu`)\n",
            (unsigned long long)show->outvoted, (unsigned long long)tune->experiment);
    printf("  parameters  %u%s\n", tune->parameters,
           tune->parameters > ROWS_SHOWN ? "; those that moved farthest, in steps:" : "");
}

static int print_history(struct store *store, const char *const *id)
{
    struct store_table rows;
    int status = connect_query(store, history_sql, id, 1, &rows);
    if (status != COMMAND_DONE || rows.rows == 0)
        return status;
    size_t columns = 1;
    while (columns < rows.rows && strcmp(store_cell(&rows, columns, 0), store_cell(&rows, 0, 0)) == 0)
        columns++;
    printf("\n%10s", "pairs");
    for (size_t i = 0; i < columns; i++)
        printf("  %14s", store_cell(&rows, i, 1));
    for (size_t i = 0; i < rows.rows; i++) {
        if (i % columns == 0)
            printf("\n%10s", store_cell(&rows, i, 0));
        printf("  %14s", store_cell(&rows, i, 2));
    }
    printf("\n");
    store_table_done(&rows);
    return COMMAND_DONE;
}

static void print_end(const struct tune_show *show)
{
    const struct store_table *m = &show->match;
    if (!show->tune.is_tuned)
        return;
    printf("\ntuned         weights #%s %s\n", store_cell(m, 0, NUMBER), store_cell(m, 0, NAME));
    for (const char *line = show->tune.tuned_options; *line;) {
        int size = (int)strcspn(line, "\n");
        printf("              option %.*s\n", size, line);
        line += size + (line[size] == '\n');
    }
    if (show->tune.match == 0)
        printf("match         none (see `kroo events`)\n");
    else
        printf("against start experiment %s, %s: %s of %s pairs, won %s drawn %s lost %s",
               store_cell(m, 0, MATCH), store_cell(m, 0, STATE), store_cell(m, 0, PAIRS),
               store_cell(m, 0, PLANNED), store_cell(m, 0, WINS), store_cell(m, 0, DRAWS),
               store_cell(m, 0, LOSSES));
    if (*store_cell(m, 0, ELO))
        printf(", Elo %s [%s, %s]", store_cell(m, 0, ELO), store_cell(m, 0, ELO_LO),
               store_cell(m, 0, ELO_HI));
    if (show->tune.match)
        printf("\n");
}

static int print(const struct tune_show *show, struct store *store, const char *const *id)
{
    print_head(show);
    int status = connect_print(store, false, farthest_sql, id, 1, "");
    if (status == COMMAND_DONE)
        status = print_history(store, id);
    if (status == COMMAND_DONE)
        print_end(show);
    return status;
}

/* --- for programs --- */

static json_t *table_of(struct store *store, const char *sql, const char *const *id, int *status)
{
    struct store_table rows;
    if (*status == COMMAND_DONE)
        *status = connect_query(store, sql, id, 1, &rows);
    if (*status != COMMAND_DONE)
        return NULL;
    json_t *array = table_json(&rows);
    store_table_done(&rows);
    return array;
}

static json_t *match_json(const struct tune_show *show)
{
    const struct store_table *m = &show->match;
    if (show->tune.match == 0)
        return json_null();
    bool ended = *store_cell(m, 0, ELO);
    return json_pack(
        "{s:I, s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "experiment", (json_int_t)show->tune.match,
        "state", store_cell(m, 0, STATE), "pairs", (json_int_t)table_number(m, 0, PAIRS), "planned_pairs",
        (json_int_t)table_number(m, 0, PLANNED), "wins", (json_int_t)table_number(m, 0, WINS), "draws",
        (json_int_t)table_number(m, 0, DRAWS), "losses", (json_int_t)table_number(m, 0, LOSSES), "elo",
        ended ? json_real(table_decimal(m, 0, ELO)) : json_null(), "elo_lo",
        ended ? json_real(table_decimal(m, 0, ELO_LO)) : json_null(), "elo_hi",
        ended ? json_real(table_decimal(m, 0, ELO_HI)) : json_null());
}

static int print_json(const struct tune_show *show, struct store *store, const char *const *id)
{
    const struct store_tune *tune = &show->tune;
    char hex[ARTIFACT_HEX];
    int status = COMMAND_DONE;
    json_t *parameters = table_of(store, now_sql, id, &status);
    json_t *history = table_of(store, history_sql, id, &status);
    artifact_hex(tune->tuned, hex);
    if (status != COMMAND_DONE) {
        json_decref(parameters);
        return status;
    }
    return table_json_print(json_pack(
        "{s:I, s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "experiment",
        (json_int_t)tune->experiment, "state", record_state_name(show->record.state), "batch_pairs",
        (json_int_t)tune->batch_pairs, "lag", (json_int_t)tune->lag, "batches", (json_int_t)tune->batches,
        "applied", (json_int_t)show->applied, "outvoted_pairs", (json_int_t)show->outvoted, "parameters",
        parameters, "history", history, "tuned_sha256", tune->is_tuned ? json_string(hex) : json_null(),
        "tuned_options", tune->is_tuned ? json_string(tune->tuned_options) : json_null(), "match",
        match_json(show)));
}

int tune_show_command(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = args_experiment_parse,
        .args_doc = "ID",
        .doc =
            "Where the parameters of a tune started and where they stand, a small history of those that "
            "moved "
            "farthest, and what came of it: the tuned weights and options, and the match against the start. "
            "--json has all parameters.\v"
            "Example:\n  kroo tune show 12",
        .children = args_common_children};
    struct tune_show *show = calloc(1, sizeof *show);
    int status;
    if (!show)
        return args_refuse("out of memory");
    parse_line(&argp, argc, argv, &show->arguments);
    struct store *store = connect_reader(&show->arguments.common, &status);
    if (store) {
        char text[24];
        const char *id[] = {text};
        snprintf(text, sizeof text, "%llu", (unsigned long long)show->arguments.id);
        status = load(show, store, id);
        if (status == COMMAND_DONE)
            status = show->arguments.common.json ? print_json(show, store, id) : print(show, store, id);
        store_table_done(&show->match);
        store_close(store);
    }
    free(show);
    return status;
}
