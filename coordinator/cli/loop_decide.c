/* `kroo loop decide`: what becomes of a candidate whose gate ended without a decision, by a person and in
 * their name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/child.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/driver.h"
#include "coordinator/cli/loop.h"

enum { OPTION_PROMOTE = 0x3000, OPTION_KEEP, OPTION_REASON };

struct decision {
    struct args_common common;
    const char *loop, *reason;
    char generation[24];
    bool promote, keep;
    char candidate[LOOP_HEX], line[STORE_NAME], gate[24];
};

static error_t decide_parse(int key, char *text, struct argp_state *state)
{
    struct decision *decision = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &decision->common;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1)
            return ARGP_ERR_UNKNOWN;
        if (state->arg_num == 0)
            decision->loop = text;
        else
            snprintf(decision->generation, sizeof decision->generation, "%llu",
                     (unsigned long long)args_number(state, "GENERATION", text, 1, INT32_MAX));
        return 0;
    case ARGP_KEY_END:
        if (!decision->generation[0])
            argp_error(state, "which loop, and which generation? `kroo loop show NAME` lists them");
        if (decision->promote == decision->keep || !decision->reason || !*decision->reason)
            argp_error(state, "give --promote or --keep, and --reason");
        return 0;
    case OPTION_PROMOTE:
        decision->promote = true;
        return 0;
    case OPTION_KEEP:
        decision->keep = true;
        return 0;
    case OPTION_REASON:
        decision->reason = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Only an ended gate without a decision leaves one to a person, and only while nothing was built on the old
 * champion. */
static int load(struct store *store, struct decision *decision)
{
    static const char sql[] =
        "select coalesce(encode(g.candidate_sha256, 'hex'), ''), l.line, coalesce(g.gate_id::text, ''),"
        " coalesce(v.verdict, ''), g.outcome is not null,"
        " exists (select from kroo.generation n where n.loop_id = g.loop_id and n.number > g.number)"
        " from kroo.generation g join kroo.learning_loop l on l.id = g.loop_id"
        " left join kroo.verdict v on v.experiment_id = g.gate_id"
        " where l.name = $1 and g.number = $2::integer";
    const char *parameters[] = {decision->loop, decision->generation};
    struct store_table table;
    int status = connect_query(store, sql, parameters, 2, &table);
    if (status != COMMAND_DONE)
        return status;
    if (table.rows == 0) {
        status = args_refuse("loop %s has no generation %s: `kroo loop show %s` lists them", decision->loop,
                             decision->generation, decision->loop);
    } else {
        const char *verdict = store_cell(&table, 0, 3);
        snprintf(decision->candidate, sizeof decision->candidate, "%s", store_cell(&table, 0, 0));
        snprintf(decision->line, sizeof decision->line, "%s", store_cell(&table, 0, 1));
        snprintf(decision->gate, sizeof decision->gate, "%s", store_cell(&table, 0, 2));
        if (strcmp(verdict, "undecided") != 0 || strcmp(store_cell(&table, 0, 4), "t") != 0)
            status = args_refuse(
                "the gate of generation %s is %s: only an undecided one that has ended is decided by hand",
                decision->generation, *verdict ? verdict : "without a verdict");
        else if (decision->promote && strcmp(store_cell(&table, 0, 5), "t") == 0)
            status =
                args_refuse("a later generation has begun with the old champion: promote its candidate, or "
                            "`kroo weights promote` by hand");
    }
    store_table_done(&table);
    return status;
}

/* Without --experiment: a promotion by hand, and recorded so. */
static int promote(const struct decision *decision)
{
    char reason[STORE_TEXT], *output = NULL;
    const char *words[CHILD_ARGUMENTS_MAX] = {child_program("kroo"),
                                              "weights",
                                              "promote",
                                              decision->candidate,
                                              "--line",
                                              decision->line,
                                              "--reason",
                                              reason,
                                              "--json"};
    size_t count = 9;
    snprintf(reason, sizeof reason, "loop %.40s, generation %s, whose gate %s is undecided: %.300s",
             decision->loop, decision->generation, decision->gate, decision->reason);
    if (decision->common.dir) {
        words[count++] = "--dir";
        words[count++] = decision->common.dir;
    }
    if (decision->common.config) {
        words[count++] = "--config";
        words[count++] = decision->common.config;
    }
    int status = child_run(words, &output);
    free(output);
    return status;
}

static int note(struct store *store, const struct decision *decision)
{
    static const char sql[] =
        "update kroo.generation g set outcome = $3, reason = left($4, 500) from kroo.learning_loop l"
        " where l.id = g.loop_id and l.name = $1 and g.number = $2::integer returning g.number";
    char reason[STORE_TEXT];
    struct store_table table;
    snprintf(reason, sizeof reason, "by hand, by %.60s: %.400s", connect_caller(), decision->reason);
    const char *parameters[] = {decision->loop, decision->generation, decision->promote ? "promoted" : "kept",
                                reason};
    int status = connect_query(store, sql, parameters, 4, &table);
    if (status == COMMAND_DONE)
        store_table_done(&table);
    return status;
}

int loop_decide_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"promote", OPTION_PROMOTE, NULL, 0, "The candidate becomes the champion", 1},
        {"keep", OPTION_KEEP, NULL, 0, "The champion stays", 1},
        {"reason", OPTION_REASON, "TEXT", 0, "Why: needed, and kept with your name", 1},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = decide_parse,
        .args_doc = "NAME GENERATION",
        .doc = "Decide by hand about a generation whose gate ended undecided. A loop by itself promotes only "
               "on the "
               "verdict `accepted`; this promotion is recorded as one by hand, with your name and reason.\v"
               "Example:\n  kroo loop decide week 7 --promote --reason 'better in every opening we care for'",
        .children = args_common_children};
    struct decision decision = {0};
    parse_line(&argp, argc, argv, &decision);
    int status;
    struct store *store = connect_as(&decision.common, "kroo_trainer", &status);
    if (!store)
        return status;
    status = load(store, &decision);
    if (status == COMMAND_DONE && decision.promote)
        status = promote(&decision);
    if (status == COMMAND_DONE)
        status = note(store, &decision);
    store_close(store);
    if (status == COMMAND_DONE)
        printf("generation %s: %s by hand\n", decision.generation, decision.promote ? "promoted" : "kept");
    return status;
}
