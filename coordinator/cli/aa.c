/* `kroo aa A`: a player against itself, to see whether the farm is fair. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/launch.h"
#include "coordinator/cli/sheet.h"
#include "coordinator/cli/table.h"
#include "coordinator/evenness.h"
#include "engine/play.h"

enum { OPTION_NOISE = 0x3000, OPTION_REPORT, DEFAULT_NOISE_PPM = 20000 };

struct request {
    struct launch launch;
    bool has_noise;
    uint64_t report; /* 0: a new experiment */
};

/* --- the report --- */

struct worker {
    const char *name;
    struct evenness evenness;
};

struct report {
    struct store_table table; /* worker, and the six counts of its pairs */
    struct worker *worker;
    struct evenness whole;
};

static int read_counts(struct store *store, uint64_t experiment, struct store_table *table)
{
    static const char sql[] =
        "select coalesce(s.name, 'unknown') as worker, count(*) filter (where h.sum = 0) as ll,"
        " count(*) filter (where h.sum = 1) as ld, count(*) filter (where h.sum = 2 and h.first = 1) as dd,"
        " count(*) filter (where h.sum = 2 and h.first <> 1) as wl, count(*) filter (where h.sum = 3) as dw,"
        " count(*) filter (where h.sum = 4) as ww"
        " from (select f.session_id, f.a_half_points as first, f.a_half_points + g.a_half_points as sum"
        " from kroo.game_counted f join kroo.game_counted g on g.experiment_id = f.experiment_id"
        " and g.pair_no = f.pair_no and g.leg = 1 where f.experiment_id = $1::bigint and f.leg = 0) h"
        " left join kroo.session s on s.id = h.session_id group by 1 order by 1";
    static const char same[] = "select id from kroo.experiment where id = $1::bigint and kind = 'match'"
                               " and player_a = player_b";
    int status = connect_query_of(store, same, experiment, table);
    if (status != COMMAND_DONE)
        return status;
    bool is_aa = table->rows == 1;
    store_table_done(table);
    if (!is_aa)
        return args_refuse("experiment %llu is no match of a player against itself",
                           (unsigned long long)experiment);
    return connect_query_of(store, sql, experiment, table);
}

static int work_out(struct report *report)
{
    int64_t all[STATISTICS_PAIR_COUNTS] = {0};
    struct evenness *list = calloc(report->table.rows + 1, sizeof *list);
    report->worker = calloc(report->table.rows + 1, sizeof *report->worker);
    if (!list || !report->worker) {
        free(list);
        return args_refuse("out of memory");
    }
    for (size_t i = 0; i < report->table.rows; i++) {
        int64_t counts[STATISTICS_PAIR_COUNTS];
        for (size_t k = 0; k < STATISTICS_PAIR_COUNTS; k++) {
            counts[k] = (int64_t)table_number(&report->table, i, k + 1);
            all[k] += counts[k];
        }
        evenness_of(&list[i], counts);
    }
    evenness_of(&report->whole, all);
    evenness_correct(list, report->table.rows);
    for (size_t i = 0; i < report->table.rows; i++)
        report->worker[i] = (struct worker){.name = store_cell(&report->table, i, 0), .evenness = list[i]};
    free(list);
    return COMMAND_DONE;
}

/* A finding of the whole or of any worker. */
static bool is_unfair(const struct report *report)
{
    bool found = report->whole.p < EVENNESS_P;
    for (size_t i = 0; i < report->table.rows; i++)
        found |= report->worker[i].evenness.p < EVENNESS_P;
    return found;
}

static const char *verdict_of(const struct report *report)
{
    if (is_unfair(report))
        return "unfair";
    return report->whole.is_tested ? "fair" : "too few pairs";
}

static void fill_row(struct store_table *sheet, size_t row, const char *name, const struct evenness *evenness)
{
    sheet_set(sheet, row, 0, "%s", name);
    sheet_set(sheet, row, 1, "%.0f", evenness->pairs);
    sheet_set(sheet, row, 2, "%.2f %%", 100 * evenness->score);
    sheet_set(sheet, row, 3, "[%.1f, %.1f]", evenness->elo_lo, evenness->elo_hi);
    if (!evenness->is_tested)
        return;
    sheet_set(sheet, row, 4, "%.2f", evenness->z);
    sheet_set(sheet, row, 5, "%.4f", evenness->p);
}

static void print_people(const struct report *report, uint64_t experiment)
{
    static const char *const names[] = {"worker", "#pairs", "#score of a", "#95 % Elo", "#z", "#p"};
    struct store_table sheet;
    if (!sheet_init(&sheet, report->table.rows + 1, 6, names))
        return;
    fill_row(&sheet, 0, "all", &report->whole);
    for (size_t i = 0; i < report->table.rows; i++)
        fill_row(&sheet, i + 1, report->worker[i].name, &report->worker[i].evenness);
    printf("experiment %llu, a player against itself: %s\n", (unsigned long long)experiment,
           is_unfair(report)         ? "NOT FAIR: a side is favoured where p is below 0.01"
           : report->whole.is_tested ? "fair: no side is favoured beyond chance"
                                     : "too few pairs to tell");
    table_print(stdout, &sheet, "");
    printf("p: two-sided, of the workers corrected for their number (Holm); fewer than %d pairs are not "
           "tested\n",
           EVENNESS_PAIRS_MIN);
    sheet_done(&sheet);
}

static json_t *fairness_json(const char *name, const struct evenness *evenness)
{
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:o, s:o}", "worker", name, "pairs", evenness->pairs,
                     "score", evenness->score, "elo", evenness->elo, "elo_lo", evenness->elo_lo, "elo_hi",
                     evenness->elo_hi, "z", evenness->is_tested ? json_real(evenness->z) : json_null(), "p",
                     evenness->is_tested ? json_real(evenness->p) : json_null());
}

static int print_json(const struct report *report, uint64_t experiment)
{
    json_t *workers = json_array();
    for (size_t i = 0; i < report->table.rows; i++)
        json_array_append_new(workers, fairness_json(report->worker[i].name, &report->worker[i].evenness));
    return table_json_print(json_pack("{s:I, s:s, s:o, s:o}", "experiment", (json_int_t)experiment, "verdict",
                                      verdict_of(report), "all", fairness_json("all", &report->whole),
                                      "workers", workers));
}

static int show_report(const struct args_common *common, uint64_t experiment)
{
    struct report report = {0};
    int status;
    struct store *store = connect_reader(common, &status);
    if (!store)
        return status;
    status = read_counts(store, experiment, &report.table);
    if (status == COMMAND_DONE) {
        status = work_out(&report);
        if (status == COMMAND_DONE && common->json)
            status = print_json(&report, experiment);
        else if (status == COMMAND_DONE)
            print_people(&report, experiment);
        if (status == COMMAND_DONE && is_unfair(&report))
            status = COMMAND_REFUSED;
        store_table_done(&report.table);
    }
    free(report.worker);
    store_close(store);
    return status;
}

/* --- the command --- */

static const struct argp_option options[] = {
    {"noise", OPTION_NOISE, "PERCENT", 0,
     "Share of moves played at random, on its own for each game (default 2 without limits of time)", 4},
    {"report", OPTION_REPORT, "ID", 0, "Only show how such an experiment came out", 6},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct request *request = state->input;
    double percent;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->launch;
        state->child_inputs[1] = &request->launch.common;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "one player meets itself; \"%.40s\" is another: `kroo match` lets two meet",
                       text);
        request->launch.weights[0] = text;
        return 0;
    case OPTION_NOISE:
        percent = args_decimal(state, "--noise", text);
        if (percent < 0 || percent > 100)
            argp_error(state, "--noise is a percentage: 0 to 100");
        request->launch.create.spec.noise_ppm = (uint32_t)lround(percent / 100 * PLAY_NOISE_UNIT);
        request->has_noise = true;
        return 0;
    case OPTION_REPORT:
        request->report = args_id(state, text);
        return 0;
    case ARGP_KEY_END:
        if (!request->report && !request->launch.weights[0])
            argp_error(state, "who? kroo aa A, or --report ID");
        if (!request->report && !request->launch.has_pairs)
            argp_error(state, "how long? give --pairs N");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int aa_command(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&launch_argp, 0, NULL, 50}, {&args_common_argp, 0, NULL, 90}, {0}};
    static const struct argp argp = {.options = options,
                                     .parser = parse,
                                     .args_doc = "A",
                                     .doc = "Let a player meet itself, to see whether the farm is fair: "
                                            "neither side may be favoured, in all or on "
                                            "any one worker. Under limits of nodes and depth with noise, as "
                                            "two equal games would say nothing; "
                                            "under limits of time as it is. With --wait it ends with the "
                                            "report; exit status 1 when it is not "
                                            "fair.\v"
                                            "Examples:\n  kroo aa champion --pairs 2000 --wait\n  kroo aa "
                                            "champion --time 50 --pairs 500 --wait\n"
                                            "  kroo aa --report 12",
                                     .children = children};
    struct request request = {0};
    launch_init(&request.launch, MESSAGE_MATCH);
    parse_line(&argp, argc, argv, &request);
    struct launch *launch = &request.launch;
    if (request.report)
        return show_report(&launch->common, request.report);
    if (!request.has_noise && !launch->limits[0].has_time && !launch->limits[0].has_clock)
        launch->create.spec.noise_ppm = DEFAULT_NOISE_PPM;
    int status = launch_run(launch);
    return status == COMMAND_DONE && launch->wait && launch->experiment
               ? show_report(&launch->common, launch->experiment)
               : status;
}
