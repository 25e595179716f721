/* `kroo audit`: pairs that another worker played again, what came out, and asking for more of a finished
 * experiment. */
#include "coordinator/cli/audit.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "sql/store_audit.h"

enum { OPTION_SHARE = 0x3000, OPTION_WAIT };
enum { LOOK_MS = 200 };

struct audit_request {
    struct args_common common;
    uint64_t id;
    uint32_t share_ppm;
    bool wait;
};

static error_t audit_parse(int key, char *text, struct argp_state *state)
{
    struct audit_request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->common;
        return 0;
    case OPTION_SHARE:
        request->share_ppm = args_share(state, "--share", text);
        if (request->share_ppm == 0)
            argp_error(state, "--share: a share above 0");
        return 0;
    case OPTION_WAIT:
        request->wait = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        request->id = args_id(state, text);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which experiment? `kroo ls` lists them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- showing --- */

static const char progress_sql[] =
    "select case when request_id = 0 then 'own' else 'request ' || request_id end as audit,"
    " round(share_ppm / 10000.0, 4)::float8 as percent, pairs, agreed, differed, open, unplayed,"
    " requested_by as by, to_char(requested_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as asked"
    " from kroo.audit_progress where experiment_id = $1::bigint order by request_id";

static const char difference_sql[] =
    "select d.pair_no as pair, d.state, d.was_counted as is_counted, d.reason, d.settlement,"
    " (select string_agg(format('%s (%s)', c.name, coalesce(p.name, c.peer)), ', ' order by c.name)"
    "  from kroo.charge c left join kroo.peer p on p.public_key = c.peer where c.dispute_id = d.id) as "
    "charged"
    " from kroo.dispute d where d.experiment_id = $1::bigint order by d.pair_no limit 1000";

static const char repeats_sql[] = "select games, distinct_games, pairs, repeated_pairs from "
                                  "kroo.game_repeats where experiment_id = $1::bigint";

int audit_read(struct store *store, uint64_t experiment, struct store_table *progress)
{
    return connect_query_of(store, progress_sql, experiment, progress);
}

void audit_print_lines(const struct store_table *progress)
{
    for (size_t i = 0; i < progress->rows; i++)
        printf("  %-11s %s, %s %% of the pairs: %s chosen, %s agreed, %s differed, %s open, %s not played "
               "again\n",
               i == 0 ? "audit" : "", store_cell(progress, i, 0), store_cell(progress, i, 1),
               store_cell(progress, i, 2), store_cell(progress, i, 3), store_cell(progress, i, 4),
               store_cell(progress, i, 5), store_cell(progress, i, 6));
}

static int print(struct store *store, const struct audit_request *request)
{
    struct store_table progress, differences, repeats;
    int status = audit_read(store, request->id, &progress);
    if (status != COMMAND_DONE)
        return status;
    status = connect_query_of(store, difference_sql, request->id, &differences);
    if (status != COMMAND_DONE) {
        store_table_done(&progress);
        return status;
    }
    status = connect_query_of(store, repeats_sql, request->id, &repeats);
    if (status != COMMAND_DONE) {
        store_table_done(&progress);
        store_table_done(&differences);
        return status;
    }
    if (request->common.json) {
        status = table_json_print(json_pack("{s:o, s:I, s:o, s:o}", "games", table_json(&repeats),
                                            "experiment", (json_int_t)request->id, "audits",
                                            table_json(&progress), "disputes", table_json(&differences)));
    } else {
        table_print(stdout, &progress, "no pair of it has been audited");
        putchar('\n');
        table_print(stdout, &differences, "nothing differed");
        if (repeats.rows == 1)
            printf("\n%s games, %s different ones; %s of %s pairs repeat another\n",
                   store_cell(&repeats, 0, 0), store_cell(&repeats, 0, 1), store_cell(&repeats, 0, 3),
                   store_cell(&repeats, 0, 2));
    }
    store_table_done(&progress);
    store_table_done(&differences);
    store_table_done(&repeats);
    return status;
}

/* --- asking --- */

static int ask(const struct audit_request *request, uint64_t *number)
{
    int status;
    struct store *store = connect_as(&request->common, "kroo_coordinator", &status);
    if (!store)
        return status;
    enum store_error error =
        store_audit_ask(store, request->id, request->share_ppm, connect_caller(), number);
    status =
        error == STORE_ERROR_REFUSED ? args_refuse("%s", store_reason(store)) : connect_failed(store, error);
    store_close(store);
    return status;
}

/* Is every pair of the request closed? */
static int look(struct store *store, uint64_t number, bool *closed)
{
    struct store_table row;
    int status = connect_query_of(store,
                                  "select r.opened_at is not null and not exists (select from kroo.audit a"
                                  " where a.experiment_id = r.experiment_id and a.request_id = r.id"
                                  " and a.state = 'open') from kroo.audit_request r where r.id = $1::bigint",
                                  number, &row);
    if (status == COMMAND_DONE) {
        *closed = row.rows == 1 && strcmp(store_cell(&row, 0, 0), "t") == 0;
        store_table_done(&row);
    }
    return status;
}

static int wait_for(struct store *store, uint64_t number)
{
    bool closed = false;
    int status = look(store, number, &closed);
    while (status == COMMAND_DONE && !closed) {
        poll(NULL, 0, LOOK_MS);
        status = look(store, number, &closed);
    }
    return status;
}

int audit_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"share", OPTION_SHARE, "PERCENT", 0,
         "Have this share of a finished experiment's pairs played again by other workers", 1},
        {"wait", OPTION_WAIT, NULL, 0, "With --share: until they are all played", 1},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = audit_parse,
        .args_doc = "ID",
        .doc =
            "What was played again of an experiment by another worker and compared, moves and scores; what "
            "differed, how it was settled, and which worker was charged. With --share more is played again; "
            "a "
            "verdict that is written stands.\v"
            "Examples:\n  kroo audit 12\n  kroo audit 12 --share 5% --wait\n  kroo audit 12 --json | jq "
            ".audits",
        .children = args_common_children};
    struct audit_request request = {0};
    uint64_t number = 0;
    parse_line(&argp, argc, argv, &request);
    int status = request.share_ppm ? ask(&request, &number) : COMMAND_DONE;
    if (status != COMMAND_DONE)
        return status;
    struct store *store = connect_reader(&request.common, &status);
    if (!store)
        return status;
    if (number && request.wait)
        status = wait_for(store, number);
    else if (number)
        args_note("asked for as request %llu; `kroo audit %llu` shows how far it is",
                  (unsigned long long)number, (unsigned long long)request.id);
    if (status == COMMAND_DONE)
        status = print(store, &request);
    store_close(store);
    return status;
}
