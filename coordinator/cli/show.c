/* `kroo show ID`: everything about one experiment, as a page for people or one JSON object. */
#include <stdio.h>
#include <string.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/audit.h"
#include "coordinator/cli/standing.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/names.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/outfit.h"
#include "coordinator/cli/show_scale.h"
#include "coordinator/cli/table.h"
#include "coordinator/estimate.h"
#include "coordinator/record.h"
#include "coordinator/repeat_game.h"
#include "coordinator/timecontrol.h"
#include "proto/artifact.h"

/* What is worked out from a record for showing it. */
struct show {
    struct record record;
    const struct store_counters *counters;
    int64_t counts[STATISTICS_PAIR_COUNTS];
    bool has_estimate; /* a match with at least one counted pair */
    struct statistics_estimate estimate;
    bool has_test;
    struct sprt_test test;
    struct sprt_state bounds;
    bool has_unbiased; /* a sequential test that has ended */
    struct estimate_unbiased unbiased;
    struct store_table endings, audits, resignation, standing, scales;
    struct store_table
        reproducible; /* whether its games would come again, and which engines are not proven */
    char warnings[SPECIFICATION_WARNINGS_MAX + 4][SPECIFICATION_REASON_MAX];
    unsigned warning_count;
};

static void add_warning(struct show *show, const char *text)
{
    snprintf(show->warnings[show->warning_count++], SPECIFICATION_REASON_MAX, "%s", text);
}

static void collect_warnings(struct show *show)
{
    const struct record *record = &show->record;
    struct message_create_experiment create;
    char text[SPECIFICATION_REASON_MAX];
    record_specification(record, &create);
    show->warning_count = specification_warnings(&create, show->warnings);
    if (record->state == STORE_BLOCKED) {
        snprintf(text, sizeof text, "blocked: %.250s", record->state_reason);
        add_warning(show, text);
    }
    if (record->open_disputes > 0) {
        snprintf(text, sizeof text,
                 "%llu pairs are disputed: two different games came for one place, or a program failed in it",
                 (unsigned long long)record->open_disputes);
        add_warning(show, text);
    }
    if (record_is_idle(record, text))
        add_warning(show, text);
}

static void work_out(struct show *show)
{
    struct statistics_sample sample;
    show->counters = record_counters(&show->record);
    record_counts(show->counters, show->counts);
    show->has_estimate = show->record.experiment.kind == STORE_MATCH && show->counters->prefix_pairs > 0 &&
                         statistics_sample_set(&sample, show->counts, STATISTICS_PAIR_COUNTS) == 0;
    if (show->has_estimate)
        statistics_estimate(&sample, &show->estimate);
    show->has_test = record_test(&show->record, &show->test);
    if (show->has_test)
        sprt_init(&show->bounds, &show->test, STATISTICS_PAIR_BINS);
    struct estimate_end end;
    show->has_unbiased = show->has_estimate && show->has_test && show->record.has_verdict &&
                         estimate_end_set(&end, &sample, &show->test) == 0;
    if (show->has_unbiased)
        estimate_unbiased(&end, &show->unbiased);
    collect_warnings(show);
}

/* --- for people --- */

/* Engine, tables and options, where they are not the usual ones. */
static void print_outfit(const struct store_player *player, const char *engine, const char *tables)
{
    char hex[ARTIFACT_HEX];
    if (!message_hash_is_none(player->engine)) {
        artifact_hex(player->engine, hex);
        printf("  %-11s engine %s (%.12s)\n", "", engine, hex);
    }
    if (!message_hash_is_none(player->tables)) {
        artifact_hex(player->tables, hex);
        printf("  %-11s endgame tables %s (%.12s)\n", "", tables, hex);
    }
    for (const char *line = player->options; *line;) {
        int size = (int)strcspn(line, "\n");
        printf("  %-11s option %.*s\n", "", size, line);
        line += size + (line[size] == '\n');
    }
}

static void print_player(const char *side, const struct store_player *player, const char *label)
{
    char hex[ARTIFACT_HEX];
    artifact_hex(player->weights, hex);
    printf("  %-11s weights %s (%.12s),", side, label, hex);
    if (player->limits.nodes)
        printf(" %llu nodes", (unsigned long long)player->limits.nodes);
    if (player->limits.depth)
        printf(" depth %u", player->limits.depth);
    if (player->limits.time_ms)
        printf(" %u ms", player->limits.time_ms);
    if (player->limits.nodes || player->limits.depth || player->limits.time_ms)
        printf(" a move");
    if (player->limits.clock_ms) {
        char clock[TIMECONTROL_TEXT];
        timecontrol_text(player->limits.clock_ms, player->limits.increment_ms, clock);
        printf(" on a clock of %s", clock);
    }
    printf(", table of %u KiB\n", player->limits.hash_kib);
}

static void print_openings(const struct record *record)
{
    char hex[ARTIFACT_HEX];
    if (message_hash_is_none(record->experiment.book))
        return;
    artifact_hex(record->experiment.book, hex);
    printf("  %-11s %s (%.12s), %u openings%s\n", "book", record->book, hex, record->book_openings,
           record_counters(record)->prefix_pairs == record->book_openings ? ", used up" : "");
}

static void print_specification(const struct show *show)
{
    const struct record *record = &show->record;
    const struct store_experiment *e = &record->experiment;
    struct message_create_experiment create;
    record_specification(record, &create);
    printf("experiment %llu: %s, %s\n", (unsigned long long)e->id, record_kind_name(e->kind),
           record_outcome(record));
    if (*record->state_reason)
        printf("  %-11s %s\n", "because", record->state_reason);
    print_player(e->kind == STORE_MATCH ? "A" : "player", &e->a, record->label_a);
    print_outfit(&e->a, record->engine_a, record->tables_a);
    if (e->kind == STORE_MATCH) {
        print_player("B", &e->b, record->label_b);
        print_outfit(&e->b, record->engine_b, record->tables_b);
    }
    printf("  %-11s %s\n", "rules", e->rules);
    print_openings(record);
    printf("  %-11s %llu; %u opening plies, %g %% noise%s\n", "seed", (unsigned long long)e->seed,
           e->opening_plies, e->noise_ppm / 1e4,
           specification_reproducible(&create.spec) ? "" : "; not reproducible (limits of time)");
    show_scale_print(e, &show->scales);
    printf("  %-11s %s\n", "engine", e->a.engine_build);
    printf("  %-11s %s%s%s, priority %d, share %u, key %s\n", "created", record->created_at,
           *e->created_by ? " by " : "", e->created_by, e->priority, e->share,
           *e->idempotency_key ? e->idempotency_key : "-");
    if (e->core_cap)
        printf("  %-11s at most %u games at once\n", "cap", e->core_cap);
    if (*e->tags)
        printf("  %-11s %s\n", "needs tags", e->tags);
    if (*record->ended_at)
        printf("  %-11s %s, after %.0f s\n", "ended", record->ended_at, record->seconds);
    if (*e->note)
        printf("  %-11s %s\n", "note", e->note);
    if (e->kind == STORE_TUNE)
        printf("  %-11s the players are those of each batch: `kroo tune show %llu`\n", "tune",
               (unsigned long long)e->id);
}

static void print_counts(const struct show *show)
{
    const struct store_counters *c = show->counters;
    unsigned long long beyond = show->record.counters.games_stored - 2 * c->prefix_pairs;
    printf("  %-11s %llu counted", "pairs", (unsigned long long)(c->prefix_pairs - c->repeated_pairs));
    if (c->repeated_pairs)
        printf(", %llu repeated pairs not counted,", (unsigned long long)c->repeated_pairs);
    printf(" of %s%llu", show->has_test ? "at most " : "",
           (unsigned long long)show->record.experiment.planned_pairs);
    printf("; %llu games stored, %llu of them not counted%s\n",
           (unsigned long long)show->record.counters.games_stored, beyond,
           beyond && !show->record.has_verdict ? " yet" : "");
    if (show->record.experiment.kind == STORE_MATCH) {
        printf("  %-11s LL %llu  LD %llu  DD %llu  WL %llu  DW %llu  WW %llu (A's view)\n", "counts",
               (unsigned long long)c->ll, (unsigned long long)c->ld, (unsigned long long)c->dd,
               (unsigned long long)c->wl, (unsigned long long)c->dw, (unsigned long long)c->ww);
        printf("  %-11s %s: %llu, %llu, %llu, %llu, %llu\n", "pentanomial", statistics_order_name(5),
               (unsigned long long)c->ll, (unsigned long long)c->ld, (unsigned long long)(c->dd + c->wl),
               (unsigned long long)c->dw, (unsigned long long)c->ww);
    }
    printf("  %-11s won %llu  drawn %llu  lost %llu\n", "games", (unsigned long long)c->wins,
           (unsigned long long)c->draws, (unsigned long long)c->losses);
}

static void print_estimates(const struct show *show)
{
    const struct statistics_estimate *e = &show->estimate;
    if (show->has_estimate) {
        printf("  %-11s %.2f %%\n", "score", 100 * e->score);
        printf("  %-11s %+.1f, 95 %% interval from %+.1f to %+.1f%s\n", "Elo", e->elo, e->elo_lo, e->elo_hi,
               show->has_test ? " (plain estimate: biased after a sequential test)" : "");
        printf("  %-11s %+.1f\n", "nElo", e->nelo);
        printf("  %-11s %.2f %%\n", "LOS", 100 * e->los);
    }
    if (show->has_unbiased)
        printf("  %-11s %+.1f, 95 %% interval from %+.1f to %+.1f, LOS %.2f %% (median-unbiased, after the "
               "test)\n",
               "Elo", show->unbiased.elo, show->unbiased.elo_lo, show->unbiased.elo_hi,
               100 * show->unbiased.los);
    if (show->has_test)
        printf("  %-11s %.3f in [%.3f, %.3f]; %s model, elo0 %g, elo1 %g, alpha %g, beta %g, batches of %u "
               "pairs, "
               "order %s, formula %d\n",
               "LLR", show->counters->llr, show->bounds.lower, show->bounds.upper,
               statistics_model_name(show->test.model), show->test.elo0, show->test.elo1, show->test.alpha,
               show->test.beta, show->test.batch, statistics_order_name(5), STATISTICS_FORMULA_VERSION);
}

static void print_verdict(const struct show *show)
{
    const struct store_verdict *v = &show->record.verdict;
    if (!show->record.has_verdict || strcmp(record_outcome(&show->record), v->verdict) != 0)
        return;
    bool inside = v->has_sprt && v->counters.llr > v->lower && v->counters.llr < v->upper &&
                  strcmp(v->verdict, "undecided") != 0 && strcmp(v->verdict, "aborted") != 0;
    printf("  %-11s %s at %llu pairs, %s%s%s%s%s\n", "verdict", v->verdict,
           (unsigned long long)v->counters.prefix_pairs, show->record.verdict_at, *v->by ? ", by " : "",
           v->by, *v->reason ? ": " : "", v->reason);
    if (inside)
        printf("  %-11s the LLR is looked at once a batch and overshoots, so the bounds are drawn in by the "
               "overshoot "
               "seen\n",
               "");
}

/* How games may end early, and what was measured of it. */
static void print_early_ends(const struct show *show)
{
    const struct store_experiment *e = &show->record.experiment;
    const struct store_table *r = &show->resignation;
    char hex[ARTIFACT_HEX];
    if (!message_hash_is_none(e->adjudication)) {
        artifact_hex(e->adjudication, hex);
        printf("  %-11s by the endgame tables %s (%.12s), once they prove the outcome\n", "adjudicated",
               show->record.adjudication, hex);
    }
    if (e->resign_plies == 0 || r->rows != 1)
        return;
    printf("  %-11s %.2f seeds behind on %u own moves in a row; %g %% of the games are played out all the "
           "same\n",
           "resignation", e->resign_score / 100.0, e->resign_plies, e->resign_playout_ppm / 1e4);
    printf("  %-11s %s resigned; of %s played out %s were not lost", "", store_cell(r, 0, 0),
           store_cell(r, 0, 1), store_cell(r, 0, 2));
    if (*store_cell(r, 0, 4))
        printf(": false %.2f %%, 95 %% interval from %.2f to %.2f %%",
               100 * strtod(store_cell(r, 0, 4), NULL), 100 * strtod(store_cell(r, 0, 5), NULL),
               100 * strtod(store_cell(r, 0, 6), NULL));
    printf("\n");
}

/* Said where another program plays: of the built-in engine it is a promise. */
static void print_reproducible(const struct show *show)
{
    const char *word = store_cell(&show->reproducible, 0, 0),
               *engines = store_cell(&show->reproducible, 0, 1);
    if (strcmp(word, "yes") != 0 && strcmp(word, "no") != 0)
        printf("  %-11s %s%s%s\n", "reproducible", word,
               *engines ? ": the same pairs have not been played alike on two machines by " : "", engines);
}

static void print_work(const struct show *show)
{
    for (size_t i = 0; i < show->endings.rows; i++)
        printf("  %-11s %s %s (%.1f %%), mean length %s plies\n", i == 0 ? "endings" : "",
               store_cell(&show->endings, i, 0), store_cell(&show->endings, i, 1),
               100 * table_decimal(&show->endings, i, 2), store_cell(&show->endings, i, 3));
    audit_print_lines(&show->audits);
    standing_print_lines(&show->standing);
    printf("  %-11s %llu at work, %llu leases open, %llu disputes open\n", "workers",
           (unsigned long long)show->record.active_sessions, (unsigned long long)show->record.open_leases,
           (unsigned long long)show->record.open_disputes);
    char left[RECORD_LEFT];
    record_left(&show->record, left);
    if (show->record.pairs_per_minute > 0)
        printf("  %-11s %.1f pairs a minute lately\n", "speed", show->record.pairs_per_minute);
    if (*left)
        printf("  %-11s %s; %llu pairs\n", "time left", left, (unsigned long long)show->record.pairs_left);
    print_reproducible(show);
    for (unsigned i = 0; i < show->warning_count; i++)
        printf("  %-11s %s\n", "warning", show->warnings[i]);
}

static int print_page(const struct show *show)
{
    print_specification(show);
    print_counts(show);
    print_estimates(show);
    print_verdict(show);
    print_early_ends(show);
    print_work(show);
    return COMMAND_DONE;
}

/* --- for programs --- */

static json_t *player_json(const struct store_player *player, const char *label, const char *engine,
                           const char *tables)
{
    char hex[ARTIFACT_HEX];
    artifact_hex(player->weights, hex);
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "weights", hex, "label", label, "engine_build",
                  player->engine_build, "nodes", (json_int_t)player->limits.nodes, "depth",
                  (json_int_t)player->limits.depth, "time_ms", (json_int_t)player->limits.time_ms, "hash_kib",
                  (json_int_t)player->limits.hash_kib);
    outfit_add_json(object, player, engine, tables);
    return object;
}

/* The book of an experiment, or null. */
static json_t *book_json(const struct record *record)
{
    char hex[ARTIFACT_HEX];
    if (message_hash_is_none(record->experiment.book))
        return json_null();
    artifact_hex(record->experiment.book, hex);
    return json_pack("{s:s, s:s, s:I}", "name", record->book, "sha256", hex, "openings",
                     (json_int_t)record->book_openings);
}

static json_t *specification_json(const struct show *show)
{
    const struct record *record = &show->record;
    const struct store_experiment *e = &record->experiment;
    struct message_create_experiment create;
    record_specification(record, &create);
    return json_pack(
        "{s:I, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:b, s:b, s:i, s:s, s:s, s:s, s:s, s:o, s:f, s:o, s:o,"
        " s:I, s:o}",
        "experiment", (json_int_t)e->id, "kind", record_kind_name(e->kind), "state",
        record_state_name(record->state), "state_reason", record->state_reason, "rules", e->rules, "seed",
        (json_int_t)e->seed, "opening_plies", (json_int_t)e->opening_plies, "noise_ppm",
        (json_int_t)e->noise_ppm, "with_scores", e->with_scores, "is_reproducible",
        specification_reproducible(&create.spec), "priority", (int)e->priority, "key", e->idempotency_key,
        "note", e->note, "created_by", e->created_by, "created_at", record->created_at, "ended_at",
        *record->ended_at ? json_string(record->ended_at) : json_null(), "seconds", record->seconds, "a",
        player_json(&e->a, record->label_a, record->engine_a, record->tables_a), "b",
        player_json(&e->b, record->label_b, record->engine_b, record->tables_b), "planned_pairs",
        (json_int_t)e->planned_pairs, "book", book_json(record));
}

static json_t *counts_json(const struct store_counters *c)
{
    return json_pack("{s:I, s:I, s:I, s:[I,I,I,I,I,I], s:s, s:[I,I,I,I,I], s:s, s:I, s:I, s:I}", "pairs",
                     (json_int_t)c->prefix_pairs, "repeated_pairs", (json_int_t)c->repeated_pairs,
                     "counted_pairs", (json_int_t)(c->prefix_pairs - c->repeated_pairs), "counts",
                     (json_int_t)c->ll, (json_int_t)c->ld, (json_int_t)c->dd, (json_int_t)c->wl,
                     (json_int_t)c->dw, (json_int_t)c->ww, "count_order", statistics_order_name(6),
                     "pentanomial", (json_int_t)c->ll, (json_int_t)c->ld, (json_int_t)(c->dd + c->wl),
                     (json_int_t)c->dw, (json_int_t)c->ww, "pentanomial_order", statistics_order_name(5),
                     "wins", (json_int_t)c->wins, "draws", (json_int_t)c->draws, "losses",
                     (json_int_t)c->losses);
}

static json_t *unbiased_json(const struct show *show)
{
    const struct estimate_unbiased *u = &show->unbiased;
    if (!show->has_unbiased)
        return json_null();
    return json_pack("{s:f, s:f, s:f, s:f}", "elo", u->elo, "elo_lo", u->elo_lo, "elo_hi", u->elo_hi, "los",
                     u->los);
}

static json_t *estimate_json(const struct show *show)
{
    const struct statistics_estimate *e = &show->estimate;
    if (!show->has_estimate)
        return json_null();
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:b, s:i, s:o}", "score", e->score, "elo", e->elo,
                     "elo_lo", e->elo_lo, "elo_hi", e->elo_hi, "nelo", e->nelo, "los", e->los, "is_biased",
                     show->has_test, "formula_version", STATISTICS_FORMULA_VERSION, "unbiased",
                     unbiased_json(show));
}

static json_t *test_json(const struct show *show)
{
    if (!show->has_test)
        return json_null();
    return json_pack("{s:f, s:f, s:f, s:s, s:f, s:f, s:f, s:f, s:I, s:s, s:i}", "llr", show->counters->llr,
                     "lower", show->bounds.lower, "upper", show->bounds.upper, "model",
                     statistics_model_name(show->test.model), "elo0", show->test.elo0, "elo1",
                     show->test.elo1, "alpha", show->test.alpha, "beta", show->test.beta, "batch",
                     (json_int_t)show->test.batch, "count_order", statistics_order_name(5), "formula_version",
                     STATISTICS_FORMULA_VERSION);
}

static json_t *verdict_json(const struct show *show)
{
    const struct store_verdict *v = &show->record.verdict;
    if (!show->record.has_verdict)
        return json_null();
    return json_pack("{s:s, s:I, s:I, s:s, s:s, s:s, s:i}", "verdict", v->verdict, "pairs",
                     (json_int_t)v->counters.prefix_pairs, "repeated_pairs",
                     (json_int_t)v->counters.repeated_pairs, "by", v->by, "reason", v->reason, "written_at",
                     show->record.verdict_at, "formula_version", v->formula_version);
}

static json_t *warnings_json(const struct show *show)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < show->warning_count; i++)
        json_array_append_new(array, json_string(show->warnings[i]));
    return array;
}

static json_t *left_json(const struct record *record)
{
    if (!record->has_left)
        return json_null();
    return json_pack("{s:I, s:b, s:o, s:o}", "pairs", (json_int_t)record->pairs_left, "is_expected",
                     record->is_expected, "pairs_per_minute",
                     record->pairs_per_minute > 0 ? json_real(record->pairs_per_minute) : json_null(),
                     "seconds", record->seconds_left >= 0 ? json_real(record->seconds_left) : json_null());
}

static int print_object(const struct show *show)
{
    json_t *object = specification_json(show);
    json_t *counts = counts_json(show->counters);
    if (!object || !counts || json_object_update_new(object, counts) != 0)
        return args_refuse("out of memory");
    json_object_set_new(object, "repeats_count",
                        json_boolean(show->record.experiment.repeat_rule == REPEAT_RULE_NONE));
    json_object_set_new(object, "games_stored", json_integer((json_int_t)show->record.counters.games_stored));
    json_object_set_new(object, "estimate", estimate_json(show));
    json_object_set_new(object, "sprt", test_json(show));
    json_object_set_new(object, "verdict", verdict_json(show));
    json_object_set_new(object, "endings", table_json(&show->endings));
    json_object_set_new(object, "resignation", table_json(&show->resignation));
    json_object_set_new(object, "audits", table_json(&show->audits));
    json_object_set_new(object, "standing", table_json(&show->standing));
    json_object_set_new(object, "open_leases", json_integer((json_int_t)show->record.open_leases));
    json_object_set_new(object, "active_sessions", json_integer((json_int_t)show->record.active_sessions));
    json_object_set_new(object, "open_disputes", json_integer((json_int_t)show->record.open_disputes));
    json_object_set_new(object, "left", left_json(&show->record));
    json_object_set_new(object, "reproducible", json_string(store_cell(&show->reproducible, 0, 0)));
    show_scale_json(object, &show->record.experiment, &show->scales);
    json_object_set_new(object, "warnings", warnings_json(show));
    return table_json_print(object);
}

/* --- the command --- */

static int load(struct store *store, uint64_t id, struct show *show)
{
    enum store_error error = record_load(store, id, &show->record);
    if (error == STORE_ERROR_REFUSED)
        return names_refuse_experiment(store, id);
    if (error != STORE_OK)
        return connect_failed(store, error);
    int status = connect_query_of(
        store,
        "select reproducible, engines from kroo.experiment_reproducible where experiment_id = $1::bigint", id,
        &show->reproducible);
    if (status != COMMAND_DONE)
        return status;
    status = show_scale_read(store, &show->record.experiment, &show->scales);
    if (status == COMMAND_DONE)
        status = audit_read(store, id, &show->audits);
    if (status == COMMAND_DONE)
        status = standing_read(store, id, &show->standing);
    if (status == COMMAND_DONE)
        status = connect_query_of(store,
                                  "select resigned, played_out, not_lost, won, false_rate, false_lo, false_hi"
                                  " from kroo.resignation_calibration where experiment_id = $1::bigint",
                                  id, &show->resignation);
    if (status != COMMAND_DONE)
        return status;
    return connect_query_of(store,
                            "select reason, games, share, mean_plies from kroo.endings_by_reason"
                            " where experiment_id = $1::bigint order by games desc, reason",
                            id, &show->endings);
}

int show_command(int argc, char **argv)
{
    static const struct argp argp = {.parser = args_experiment_parse,
                                     .args_doc = "ID",
                                     .doc = "Everything about one experiment: what was asked for, how far it "
                                            "is, the six counts, Elo with both "
                                            "ends of its 95 % interval, LOS, LLR with its model and bounds, "
                                            "verdict, endings, who works on it, "
                                            "warnings.\v"
                                            "Examples:\n  kroo show 12\n  kroo show 12 --json | jq .estimate",
                                     .children = args_common_children};
    struct args_experiment request = {0};
    struct show show = {0};
    parse_line(&argp, argc, argv, &request);
    int status;
    struct store *store = connect_reader(&request.common, &status);
    if (!store)
        return status;
    status = load(store, request.id, &show);
    store_close(store);
    if (status != COMMAND_DONE)
        return status;
    work_out(&show);
    status = request.common.json ? print_object(&show) : print_page(&show);
    store_table_done(&show.endings);
    store_table_done(&show.audits);
    store_table_done(&show.standing);
    store_table_done(&show.reproducible);
    store_table_done(&show.resignation);
    store_table_done(&show.scales);
    return status;
}
