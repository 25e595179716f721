/* `kroo verify [ID]`: coordinator/verify.h over one experiment or all of them. */
#include <stdio.h>
#include <stdlib.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/names.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/table.h"
#include "coordinator/verify.h"
#include "proto/progress.h"

/* Told one by one; of the rest only the number. */
enum { DIFFERENCES_TOLD = 1000 };

struct verify_request {
    struct args_common common;
    bool one;
    uint64_t id;
    struct progress progress;
    json_t *differences;
    uint64_t told, games_before;
};

static error_t verify_parse(int key, char *text, struct argp_state *state)
{
    struct verify_request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->common;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        request->id = args_id(state, text);
        request->one = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void tell_difference(void *context, const char *text)
{
    struct verify_request *request = context;
    if (++request->told > DIFFERENCES_TOLD)
        return;
    if (request->common.json)
        json_array_append_new(request->differences, json_string(text));
    else
        printf("%s\n", text);
}

static void tell_progress(void *context, uint64_t games)
{
    struct verify_request *request = context;
    progress_show(&request->progress, request->games_before + games, NULL);
}

static int list_experiments(const struct verify_request *request, struct store *store,
                            struct store_table *out)
{
    char id[24];
    const char *parameters[] = {request->one ? id : NULL};
    snprintf(id, sizeof id, "%llu", (unsigned long long)request->id);
    int status = connect_query(store,
                               "select experiment_id, games_stored from kroo.experiment_counter"
                               " where $1::bigint is null or experiment_id = $1 order by 1",
                               parameters, 1, out);
    if (status != COMMAND_DONE || !request->one || out->rows == 1)
        return status;
    store_table_done(out);
    return names_refuse_experiment(store, request->id);
}

static int verify_all(struct verify_request *request, struct store *store, const struct store_table *list,
                      struct verify_totals *totals)
{
    struct verify_watch watch = {tell_difference, tell_progress, request};
    uint64_t games = 0;
    for (size_t i = 0; i < list->rows; i++)
        games += table_number(list, i, 1);
    progress_init(&request->progress, "verify", "games", games, args_hides_progress());
    for (size_t i = 0; i < list->rows; i++) {
        request->games_before = totals->games;
        enum store_error error = verify_experiment(store, table_number(list, i, 0), &watch, totals);
        if (error != STORE_OK)
            return connect_failed(store, error);
    }
    progress_end(&request->progress, totals->games, NULL);
    return COMMAND_DONE;
}

static int report(struct verify_request *request, uint64_t experiments, const struct verify_totals *totals)
{
    if (request->common.json)
        table_json_print(json_pack("{s:I, s:I, s:I, s:I, s:O}", "experiments", (json_int_t)experiments,
                                   "games", (json_int_t)totals->games, "pairs_counted",
                                   (json_int_t)totals->pairs_counted, "difference_count",
                                   (json_int_t)totals->differences, "differences", request->differences));
    else if (totals->differences == 0)
        printf("no differences: %llu experiments, %llu games replayed, %llu pairs counted\n",
               (unsigned long long)experiments, (unsigned long long)totals->games,
               (unsigned long long)totals->pairs_counted);
    else
        printf("%llu differences in %llu experiments, %llu games replayed%s\n",
               (unsigned long long)totals->differences, (unsigned long long)experiments,
               (unsigned long long)totals->games,
               request->told > DIFFERENCES_TOLD ? " (only the first 1000 are listed)" : "");
    return totals->differences == 0 ? COMMAND_DONE : COMMAND_REFUSED;
}

int verify_command(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = verify_parse,
        .args_doc = "[ID]",
        .doc = "Recompute every counter, roll-up, LLR and verdict from the stored games, and replay every "
               "stored game "
               "under its "
               "experiment's rules: opening, legality, result, reason, stores. Prints the differences; exit "
               "status 1 if "
               "there are any. Reads one snapshot, so it may run beside everything else.\v"
               "Examples:\n  kroo verify\n  kroo verify 12 --json",
        .children = args_common_children};
    struct verify_request request = {0};
    struct verify_totals totals = {0};
    struct store_table list;
    parse_line(&argp, argc, argv, &request);
    int status;
    struct store *store = connect_reader(&request.common, &status);
    if (!store)
        return status;
    status = list_experiments(&request, store, &list);
    if (status == COMMAND_DONE) {
        request.differences = json_array();
        status = verify_all(&request, store, &list, &totals);
        if (status == COMMAND_DONE)
            status = report(&request, list.rows, &totals);
        json_decref(request.differences);
        store_table_done(&list);
    }
    store_close(store);
    return status;
}
