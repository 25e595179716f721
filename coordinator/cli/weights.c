/* `kroo weights`: list, show, export with proof, promote; import is weights_import.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/child.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/names.h"
#include "coordinator/cli/dispatch.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/table.h"
#include "coordinator/export.h"
#include "proto/artifact.h"

enum { OPTION_FORMAT = 0x3000, OPTION_OUT, OPTION_FORCE, OPTION_LINE, OPTION_EXPERIMENT, OPTION_REASON };

struct weights_request {
    struct args_common common;
    const char *weights; /* as the user names them */
    bool wanted;
    enum export_format format;
    const char *out, *line, *reason;
    bool force;
    uint64_t experiment;
};

static error_t weights_parse_option(int key, char *text, struct argp_state *state)
{
    struct weights_request *request = state->input;
    int format;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->common;
        return 0;
    case OPTION_FORMAT:
        format = export_format_parse(text);
        if (format < 0)
            argp_error(state, "--format is bin, json, c or md, not \"%.40s\"", text);
        request->format = (enum export_format)format;
        return 0;
    case OPTION_OUT:
        request->out = text;
        return 0;
    case OPTION_FORCE:
        request->force = true;
        return 0;
    case OPTION_LINE:
        request->line = text;
        return 0;
    case OPTION_EXPERIMENT:
        request->experiment = args_id(state, text);
        return 0;
    case OPTION_REASON:
        request->reason = text;
        return 0;
    case ARGP_KEY_ARG:
        if (!request->wanted || state->arg_num > 0)
            return ARGP_ERR_UNKNOWN;
        request->weights = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        if (request->wanted)
            argp_error(state, "which weights? `kroo weights ls` lists them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- ls --- */

static int weights_ls(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = weights_parse_option,
        .doc = "List the weights, newest last, with the lines they are champion of.",
        .children = args_common_children};
    static const char sql[] =
        "select w.number, left(encode(w.sha256, 'hex'), 12) as hash, w.name, w.kind, w.rules,"
        " p.number as parent, w.training_run_id as run, t.games,"
        " round(t.validation_loss_before::numeric, 5) as loss_before,"
        " round(t.validation_loss_after::numeric, 5) as loss_after,"
        " (select string_agg(c.line, ',' order by c.line) from kroo.champion c where c.weights = w.number)"
        " as champion, to_char(w.stored_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as stored"
        " from kroo.weights w left join kroo.weights p on p.sha256 = w.parent_sha256"
        " left join kroo.training_run t on t.id = w.training_run_id order by w.number";
    struct weights_request request = {0};
    parse_line(&argp, argc, argv, &request);
    int status;
    struct store *store = connect_reader(&request.common, &status);
    if (!store)
        return status;
    status = connect_print(store, request.common.json, sql, NULL, 0,
                           "no weights yet: the starting weights enter with the first experiment, others by "
                           "`kroo-train`");
    store_close(store);
    return status;
}

/* --- one set of weights with all that is known of it --- */

struct subject {
    struct store *store;
    struct store_weights row;
    uint64_t number;
    char sha256[ARTIFACT_HEX];
    void *bytes;
    size_t size;
    struct weights *weights;
    json_t *lineage, *training, *proof;
};

static const char lineage_sql[] =
    "select distance, ancestor as number, encode(ancestor_sha256, 'hex') as ancestor_sha256,"
    " ancestor_name as name, training_run_id as training_run, training_games as games"
    " from kroo.weights_lineage where weights = $1::bigint order by distance limit 1000";
static const char training_sql[] =
    "select id as training_run, trainer_build, games, positions, rows_merged, lambda, ridge, scale,"
    " seed::text as seed, threads, core_type, encode(data_sha256, 'hex') as data_sha256,"
    " validation_loss_before, validation_loss_after, validation_gain_se, manifest::text as manifest"
    " from kroo.training_run where id = $1::bigint";
static const char proof_sql[] =
    "select p.id as epoch, p.line, p.experiment_id as experiment, v.verdict, v.counted_pairs - "
    "v.repeated_pairs as pairs, v.elo,"
    " v.elo_lo, v.elo_hi, v.llr, v.sprt_model as model, v.elo0, v.elo1, p.by, p.reason,"
    " to_char(p.promoted_at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') as promoted_at"
    " from kroo.promotion p left join kroo.verdict v on v.experiment_id = p.experiment_id"
    " where encode(p.weights_sha256, 'hex') = $1 order by p.id";

static int ask_json(struct store *store, const char *sql, const char *parameter, json_t **out)
{
    struct store_table table;
    const char *parameters[] = {parameter};
    int status = connect_query(store, sql, parameters, 1, &table);
    if (status != COMMAND_DONE)
        return status;
    *out = table_json(&table);
    store_table_done(&table);
    return *out ? COMMAND_DONE : args_refuse("out of memory");
}

static int read_content(struct subject *subject)
{
    int status =
        connect_artifact(subject->store, "weights", subject->row.sha256, &subject->bytes, &subject->size);
    if (status != COMMAND_DONE)
        return status;
    enum weights_error bad =
        weights_parse(subject->bytes, subject->size, subject->row.rules, &subject->weights);
    if (bad != WEIGHTS_OK)
        return args_refuse("weights %.12s: %s", subject->sha256, weights_error_text(bad));
    return COMMAND_DONE;
}

static int read_history(struct subject *subject)
{
    char number[24], run[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)subject->number);
    snprintf(run, sizeof run, "%llu", (unsigned long long)subject->row.training_run);
    json_t *runs = NULL;
    int status = ask_json(subject->store, lineage_sql, number, &subject->lineage);
    if (status == COMMAND_DONE)
        status = ask_json(subject->store, training_sql, run, &runs);
    if (status == COMMAND_DONE)
        status = ask_json(subject->store, proof_sql, subject->sha256, &subject->proof);
    subject->training = json_array_size(runs) ? json_incref(json_array_get(runs, 0)) : NULL;
    const char *manifest = json_string_value(json_object_get(subject->training, "manifest"));
    json_t *ranges = manifest ? json_loads(manifest, 0, NULL) : NULL;
    if (ranges)
        json_object_set_new(subject->training, "manifest", ranges);
    json_decref(runs);
    return status;
}

static void subject_done(struct subject *subject)
{
    json_decref(subject->lineage);
    json_decref(subject->training);
    json_decref(subject->proof);
    weights_destroy(subject->weights);
    free(subject->bytes);
    store_close(subject->store);
}

static int find(struct store *store, const char *text, struct store_weights *row, uint64_t *number)
{
    enum store_error error = store_weights_find(store, text, row, number);
    if (error == STORE_ERROR_REFUSED)
        return names_refuse_weights(store, text);
    return connect_failed(store, error);
}

static int subject_open(const struct weights_request *request, struct subject *subject)
{
    int status;
    memset(subject, 0, sizeof *subject);
    subject->store = connect_reader(&request->common, &status);
    if (!subject->store)
        return status;
    status = find(subject->store, request->weights, &subject->row, &subject->number);
    if (status == COMMAND_DONE) {
        artifact_hex(subject->row.sha256, subject->sha256);
        status = read_content(subject);
    }
    return status == COMMAND_DONE ? read_history(subject) : status;
}

static struct export_weights describe(const struct subject *subject)
{
    return (struct export_weights){.weights = subject->weights,
                                   .bytes = subject->bytes,
                                   .size = subject->size,
                                   .sha256 = subject->sha256,
                                   .number = subject->number,
                                   .name = subject->row.name,
                                   .lineage = subject->lineage,
                                   .training = subject->training,
                                   .proof = subject->proof};
}

/* --- show --- */

static void print_object(const json_t *object, const char *lead)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        if (json_is_null(value) || (json_is_string(value) && !*json_string_value(value)))
            continue;
        fputs(lead, stdout);
        printf("%s ", key);
        if (json_is_string(value))
            printf("%.64s", json_string_value(value));
        else
            json_dumpf(value, stdout, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        lead = ", ";
    }
    putchar('\n');
}

static void print_list(const char *title, const json_t *array)
{
    size_t index;
    json_t *row;
    if (json_array_size(array) > 0)
        printf("  %s\n", title);
    json_array_foreach((json_t *)array, index, row) print_object(row, "    ");
}

static int weights_show(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = weights_parse_option,
        .args_doc = "W",
        .doc = "Everything about one set of weights: hash, rules, lineage, the fit that made it, the "
               "promotions and "
               "the verdicts behind them. W is a number, a hash prefix, a name, champion or champion:LINE.\v"
               "Examples:\n  kroo weights show champion\n  kroo weights show 3 --json",
        .children = args_common_children};
    struct weights_request request = {.wanted = true};
    struct subject subject;
    parse_line(&argp, argc, argv, &request);
    int status = subject_open(&request, &subject);
    if (status == COMMAND_DONE && request.common.json) {
        struct export_weights what = describe(&subject);
        status = table_json_print(export_weights_json(&what));
    } else if (status == COMMAND_DONE) {
        printf(
            "weights %llu%s%s\n  sha256  %s\n  kind    %s, %zu bytes\n  rules   %s\n  scale   shift %d, %d "
            "hundredths of a seed a unit of log odds\n",
            (unsigned long long)subject.number, *subject.row.name ? ": " : "", subject.row.name,
            subject.sha256, subject.row.kind, subject.size, subject.weights->rules, subject.weights->shift,
            (int)subject.weights->per_logit);
        print_list("lineage", subject.lineage);
        if (subject.training) {
            puts("  training");
            print_object(subject.training, "    ");
        }
        print_list("promotions", subject.proof);
    }
    subject_done(&subject);
    return status;
}

/* --- export --- */

static int export_to(const struct weights_request *request, const struct subject *subject)
{
    struct export_weights what = describe(subject);
    struct output output;
    int status = output_open(&output, request->out, request->force);
    if (status != COMMAND_DONE)
        return status;
    if (export_weights(&what, request->format, output.file) != 0) {
        output_abandon(&output);
        return args_refuse("%s cannot be written", request->out ? request->out : "the output");
    }
    status = output_commit(&output);
    if (status == COMMAND_DONE && request->out && request->common.json)
        return table_json_print(json_pack("{s:s, s:s, s:I}", "out", request->out, "sha256", subject->sha256,
                                          "number", (json_int_t)subject->number));
    if (status == COMMAND_DONE && request->out)
        args_note("weights %llu (sha256 %s) written to %s", (unsigned long long)subject->number,
                  subject->sha256, request->out);
    return status;
}

static int weights_export(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"format", OPTION_FORMAT, "FORMAT", 0,
         "bin (the file itself, default), json, c (a header) or md (a page)", 1},
        {"out", OPTION_OUT, "FILE", 0, "Where to (default: standard output)", 1},
        {"force", OPTION_FORCE, NULL, 0, "Replace FILE if it is there", 1},
        {0}};
    static const struct argp argp = {.options = options,
                                     .parser = weights_parse_option,
                                     .args_doc = "W",
                                     .doc = "Export weights with proof: every format names the sha256; json, "
                                            "c and md carry the lineage's parent "
                                            "and 64 test positions with the expected evaluation, so that "
                                            "another program can show that it computes "
                                            "the same numbers.\v"
                                            "Examples:\n"
                                            "  kroo weights export champion --out champion.weights\n"
                                            "  kroo weights export 3 --format json | jq .vectors[0]\n"
                                            "  kroo weights export 3 --format c --out weights.h && cc -x c "
                                            "-DKROO_WEIGHTS_MAIN weights.h && ./a.out",
                                     .children = args_common_children};
    struct weights_request request = {.wanted = true, .format = EXPORT_BIN};
    struct subject subject;
    parse_line(&argp, argc, argv, &request);
    int status = subject_open(&request, &subject);
    if (status == COMMAND_DONE)
        status = export_to(&request, &subject);
    subject_done(&subject);
    return status;
}

/* --- promote --- */

static int fill_promotion(const struct weights_request *request, const struct settings *settings,
                          struct message_promote_weights *promote, uint64_t *number)
{
    struct store_weights row;
    if (strlen(request->line) >= sizeof promote->line || strlen(request->reason) >= sizeof promote->reason)
        return args_refuse("--line takes at most %zu letters, --reason %zu", sizeof promote->line - 1,
                           sizeof promote->reason - 1);
    struct store *store = connect_store(settings, "kroo_reader");
    if (!store)
        return COMMAND_NO_CONNECTION;
    int status = find(store, request->weights, &row, number);
    store_close(store);
    memcpy(promote->sha256, row.sha256, sizeof promote->sha256);
    snprintf(promote->line, sizeof promote->line, "%s", request->line);
    snprintf(promote->reason, sizeof promote->reason, "%s", request->reason);
    promote->experiment = request->experiment;
    return status;
}

static int tell_promotion(const struct weights_request *request, uint64_t number, const char *text)
{
    if (request->common.json)
        return table_json_print(json_pack(
            "{s:I, s:s, s:o, s:s}", "weights", (json_int_t)number, "line", request->line, "experiment",
            request->experiment ? json_integer((json_int_t)request->experiment) : json_null(), "text", text));
    printf("%s\n", *text ? text : "promoted");
    if (!request->experiment)
        args_note("promoted by hand: recorded under your name, without a verdict as proof");
    return COMMAND_DONE;
}

static int weights_promote(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"line", OPTION_LINE, "LINE", 0, "Training line (default main)", 1},
        {"experiment", OPTION_EXPERIMENT, "ID", 0, "The match whose verdict `accepted` is the proof", 1},
        {"reason", OPTION_REASON, "TEXT", 0, "Why; kept with the promotion", 1},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = weights_parse_option,
        .args_doc = "W",
        .doc = "Make weights the champion of a line. With --experiment only if its verdict is `accepted` and "
               "W was its "
               "player A; without, by hand, and recorded so. Workers fetch the new champion at once.\v"
               "Examples:\n  kroo weights promote 3 --experiment 12\n  kroo weights promote starting "
               "--reason 'start "
               "again'",
        .children = args_common_children};
    struct weights_request request = {.wanted = true, .line = "main", .reason = ""};
    parse_line(&argp, argc, argv, &request);
    int status;
    struct settings *settings = connect_settings(&request.common, &status);
    if (!settings)
        return status;
    struct message message = {.kind = MESSAGE_PROMOTE_WEIGHTS}, reply;
    struct coordinator_link *link = NULL;
    uint64_t number = 0;
    status = fill_promotion(&request, settings, &message.promote_weights, &number);
    if (status == COMMAND_DONE)
        link = link_open(settings, &status);
    settings_destroy(settings);
    if (!link)
        return status;
    status = link_ask(link, &message, MESSAGE_CONTROL_DONE, &reply);
    link_close(link);
    if (status != COMMAND_DONE)
        return status;
    status = tell_promotion(&request, number, reply.control_done.text);
    message_done(&reply);
    return status;
}

/* --- reproduce --- */

/* The trainer does it; this is where people look for it. Comes back only when there is no trainer. */
static int weights_reproduce(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = weights_parse_option,
        .args_doc = "W",
        .doc =
            "Make weights again from the games and options of the fit that made them, and compare the hash. "
            "Stores nothing. Exit status 0: the same file, bit for bit; 1: another one, and why. `kroo-train "
            "reproduce --help` has more options.\v"
            "Examples:\n  kroo weights reproduce champion\n  kroo weights reproduce 3 --json",
        .children = args_common_children};
    struct weights_request request = {.wanted = true};
    parse_line(&argp, argc, argv, &request);
    int status;
    struct settings *settings = connect_settings(&request.common, &status);
    if (!settings)
        return status;
    const char *trainer = child_program("kroo-train");
    execl(trainer, trainer, "reproduce", "--database", settings_get(settings, "database", ""),
          request.weights, request.common.json ? "--json" : NULL, NULL);
    settings_destroy(settings);
    return args_refuse("%s cannot be started: is it installed beside kroo?", trainer);
}

int weights_command(int argc, char **argv)
{
    static const struct dispatch_entry commands[] = {
        {"ls", weights_ls, "list them", true},
        {"show", weights_show, "everything about one: lineage, fit, promotions", true},
        {"export", weights_export, "write one with its proof: bin, json, c, md", true},
        {"import", weights_import_command, "bring in JSON or a file made elsewhere, checked", true},
        {"reproduce", weights_reproduce, "make one again from its games, and compare the hash", true},
        {"promote", weights_promote, "make one the champion of a line", true},
        {0},
    };
    return dispatch(commands, "Weights: the numbers an engine evaluates with, and where they come from.",
                    "ls", argc, argv);
}
