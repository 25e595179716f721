#include "coordinator/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/wire.h"

static const char *const kind_names[] = {
    [STORE_SELFPLAY] = "selfplay", [STORE_MATCH] = "match", [STORE_TUNE] = "tune"};
static const char *const state_names[] = {
    [STORE_RUNNING] = "running", [STORE_FINISHED] = "finished", [STORE_STOPPED] = "stopped",
    [STORE_BLOCKED] = "blocked", [STORE_PENDING] = "pending",   [STORE_PAUSED] = "paused"};
enum { STATES = sizeof state_names / sizeof *state_names };

const char *record_kind_name(enum store_kind kind)
{
    return kind_names[kind];
}

const char *record_state_name(enum store_state state)
{
    return state_names[state];
}

const char *record_outcome(const struct record *record)
{
    bool plain = record->experiment.kind != STORE_MATCH && strcmp(record->verdict.verdict, "undecided") == 0;
    return record->has_verdict && !plain ? record->verdict.verdict : record_state_name(record->state);
}

static const char moment_sql[] =
    "select e.state, e.state_reason,"
    " to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') as created_at,"
    " to_char(e.ended_at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') as ended_at,"
    " extract(epoch from coalesce(e.ended_at, now()) - e.created_at) as seconds,"
    " concat_ws(' ', '#' || wa.number, nullif(wa.name, '')) as label_a,"
    " concat_ws(' ', '#' || wb.number, nullif(wb.name, '')) as label_b,"
    " na.name as engine_a, nb.name as engine_b, ta.name as tables_a, tb.name as tables_b,"
    " bo.name as book, bo.openings as book_openings, aj.name as adjudication,"
    " c.games_stored, c.prefix_pairs, c.ll, c.ld, c.dd, c.wl, c.dw, c.ww, c.wins, c.draws, c.losses, c.llr,"
    " c.repeated_pairs, v.repeated_pairs as v_repeated_pairs,"
    " v.verdict, v.games_stored as v_games_stored, v.counted_pairs as v_prefix_pairs, v.ll as v_ll,"
    " v.ld as v_ld, v.dd as v_dd, v.wl as v_wl, v.dw as v_dw, v.ww as v_ww, v.wins as v_wins,"
    " v.draws as v_draws, v.losses as v_losses, v.llr as v_llr, v.lower, v.upper, v.elo, v.elo_lo, v.elo_hi,"
    " v.nelo, v.los, v.formula_version, v.by, v.reason,"
    " to_char(v.written_at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') as verdict_at,"
    " (select count(*) from kroo.lease l where l.experiment_id = e.id and l.state = 'open' and not l.again) "
    "as open_leases,"
    " (select count(distinct l.session_id) from kroo.lease l"
    "  where l.experiment_id = e.id and l.state = 'open') as active_sessions,"
    " (select count(*) from kroo.session s where s.slots > 0 and s.ended_at is null"
    "  and s.engine_build = pa.engine_build) as able_workers,"
    " (select count(*) from kroo.session s where s.slots > 0 and s.ended_at is null"
    "  and s.engine_build <> pa.engine_build) as other_workers,"
    " (select count(*) from kroo.dispute d where d.experiment_id = e.id and d.state = 'open') as "
    "open_disputes, r.pairs_left, r.is_expected, r.pairs_per_minute, r.seconds_left "
    "from kroo.experiment e"
    " join kroo.player pa on pa.id = e.player_a join kroo.weights wa on wa.sha256 = pa.weights_sha256"
    " join kroo.player pb on pb.id = e.player_b join kroo.weights wb on wb.sha256 = pb.weights_sha256"
    " join kroo.experiment_counter c on c.experiment_id = e.id"
    " join kroo.experiment_rate r on r.experiment_id = e.id"
    " left join kroo.engine na on na.sha256 = pa.engine_sha256"
    " left join kroo.engine nb on nb.sha256 = pb.engine_sha256"
    " left join kroo.endgame_table ta on ta.sha256 = pa.tables_sha256"
    " left join kroo.endgame_table tb on tb.sha256 = pb.tables_sha256"
    " left join kroo.book bo on bo.sha256 = e.book_sha256"
    " left join kroo.endgame_table aj on aj.sha256 = e.adjudication_sha256"
    " left join kroo.verdict v on v.experiment_id = e.id "
    "where e.id = $1::bigint";

/* The cell of a column, by name; "" for null. The query above names every one. */
static const char *cell(const struct store_table *row, const char *prefix, const char *name)
{
    for (size_t c = 0; c < row->columns; c++) {
        size_t length = strlen(prefix);
        if (strncmp(row->names[c], prefix, length) == 0 && strcmp(row->names[c] + length, name) == 0)
            return store_cell(row, 0, c);
    }
    return "";
}

static uint64_t number(const struct store_table *row, const char *prefix, const char *name)
{
    return strtoull(cell(row, prefix, name), NULL, 10);
}

static double decimal(const struct store_table *row, const char *name)
{
    return strtod(cell(row, "", name), NULL);
}

static struct store_counters read_counters(const struct store_table *row, const char *prefix)
{
    return (struct store_counters){
        .games_stored = number(row, prefix, "games_stored"),
        .prefix_pairs = number(row, prefix, "prefix_pairs"),
        .repeated_pairs = number(row, prefix, "repeated_pairs"),
        .ll = number(row, prefix, "ll"),
        .ld = number(row, prefix, "ld"),
        .dd = number(row, prefix, "dd"),
        .wl = number(row, prefix, "wl"),
        .dw = number(row, prefix, "dw"),
        .ww = number(row, prefix, "ww"),
        .wins = number(row, prefix, "wins"),
        .draws = number(row, prefix, "draws"),
        .losses = number(row, prefix, "losses"),
        .llr = strtod(cell(row, prefix, "llr"), NULL),
    };
}

static void take(char *out, size_t size, const struct store_table *row, const char *name)
{
    snprintf(out, size, "%s", cell(row, "", name));
}

static void read_verdict(const struct store_table *row, struct record *out)
{
    struct store_verdict *verdict = &out->verdict;
    out->has_verdict = *cell(row, "", "verdict") != '\0';
    if (!out->has_verdict)
        return;
    verdict->experiment = out->experiment.id;
    take(verdict->verdict, sizeof verdict->verdict, row, "verdict");
    verdict->counters = read_counters(row, "v_");
    verdict->has_sprt = *cell(row, "", "lower") != '\0';
    verdict->lower = decimal(row, "lower");
    verdict->upper = decimal(row, "upper");
    verdict->elo = decimal(row, "elo");
    verdict->elo_lo = decimal(row, "elo_lo");
    verdict->elo_hi = decimal(row, "elo_hi");
    verdict->nelo = decimal(row, "nelo");
    verdict->los = decimal(row, "los");
    verdict->formula_version = (int)number(row, "", "formula_version");
    take(verdict->by, sizeof verdict->by, row, "by");
    take(verdict->reason, sizeof verdict->reason, row, "reason");
    take(out->verdict_at, sizeof out->verdict_at, row, "verdict_at");
}

static enum store_error read_moment(const struct store_table *row, struct record *out)
{
    size_t state = 0;
    while (state < STATES && strcmp(cell(row, "", "state"), state_names[state]) != 0)
        state++;
    if (state == STATES)
        return STORE_ERROR_DATA;
    out->state = (enum store_state)state;
    take(out->state_reason, sizeof out->state_reason, row, "state_reason");
    take(out->created_at, sizeof out->created_at, row, "created_at");
    take(out->ended_at, sizeof out->ended_at, row, "ended_at");
    out->seconds = decimal(row, "seconds");
    take(out->label_a, sizeof out->label_a, row, "label_a");
    take(out->label_b, sizeof out->label_b, row, "label_b");
    take(out->engine_a, sizeof out->engine_a, row, "engine_a");
    take(out->engine_b, sizeof out->engine_b, row, "engine_b");
    take(out->tables_a, sizeof out->tables_a, row, "tables_a");
    take(out->tables_b, sizeof out->tables_b, row, "tables_b");
    take(out->book, sizeof out->book, row, "book");
    take(out->adjudication, sizeof out->adjudication, row, "adjudication");
    out->book_openings = (uint32_t)number(row, "", "book_openings");
    out->counters = read_counters(row, "");
    read_verdict(row, out);
    out->open_leases = number(row, "", "open_leases");
    out->active_sessions = number(row, "", "active_sessions");
    out->open_disputes = number(row, "", "open_disputes");
    out->able_workers = number(row, "", "able_workers");
    out->other_workers = number(row, "", "other_workers");
    out->has_left = *cell(row, "", "pairs_left") != '\0';
    out->pairs_left = number(row, "", "pairs_left");
    out->is_expected = *cell(row, "", "is_expected") == 't';
    out->pairs_per_minute = decimal(row, "pairs_per_minute");
    out->seconds_left = *cell(row, "", "seconds_left") != '\0' ? decimal(row, "seconds_left") : -1;
    return STORE_OK;
}

enum store_error record_load(struct store *store, uint64_t id, struct record *out)
{
    char text[24];
    const char *parameters[] = {text};
    struct store_table row;
    memset(out, 0, sizeof *out);
    enum store_error error = store_experiment_get(store, id, &out->experiment);
    if (error != STORE_OK)
        return error;
    snprintf(text, sizeof text, "%llu", (unsigned long long)id);
    error = store_query(store, moment_sql, parameters, 1, &row);
    if (error != STORE_OK)
        return error;
    error = row.rows == 1 ? read_moment(&row, out) : STORE_ERROR_DATA;
    store_table_done(&row);
    return error;
}

bool record_is_idle(const struct record *record, char why[SPECIFICATION_REASON_MAX])
{
    unsigned long long id = record->experiment.id;
    if (record->state == STORE_PAUSED && record->open_leases == 0) {
        snprintf(why, SPECIFICATION_REASON_MAX, "it is paused (%.150s): `kroo resume %llu` lets it go on",
                 record->state_reason, id);
        return true;
    }
    if (record->state == STORE_PENDING) {
        snprintf(why, SPECIFICATION_REASON_MAX,
                 "it waits until an operator approves it: `kroo approve %llu`, or `kroo reject %llu`", id,
                 id);
        return true;
    }
    if (record->state != STORE_RUNNING || record->open_leases > 0)
        return false;
    if (record->able_workers > 0 && record->open_disputes > 0)
        snprintf(
            why, SPECIFICATION_REASON_MAX,
            "%llu disputed pairs wait for workers that have not played them yet, and %llu can play: start "
            "more (`kroo events` tells what is disputed)",
            (unsigned long long)record->open_disputes, (unsigned long long)record->able_workers);
    else if (record->able_workers > 0)
        snprintf(why, SPECIFICATION_REASON_MAX,
                 "nobody plays it at this moment: other experiments may go first, `kroo status` tells");
    else if (record->other_workers > 0)
        snprintf(
            why, SPECIFICATION_REASON_MAX,
            "nobody can play it: it needs workers with %s, and the %llu connected have another engine build",
            record->experiment.a.engine_build, (unsigned long long)record->other_workers);
    else
        snprintf(why, SPECIFICATION_REASON_MAX,
                 "nobody plays it: no worker is connected; `kroo up` starts some, `kroo workers` lists them");
    return true;
}

void record_left(const struct record *record, char text[RECORD_LEFT])
{
    static const double years = 10.0 * 365 * 86400;
    const char *about = record->is_expected ? "about " : "",
               *label = record->is_expected ? " (expected, by the difference seen so far)" : "";
    long long seconds = record->seconds_left < years ? (long long)record->seconds_left : 0;
    text[0] = '\0';
    if (!record->has_left)
        return;
    if (record->seconds_left < 0 || record->seconds_left >= years)
        snprintf(text, RECORD_LEFT, "unknown");
    else if (seconds >= 86400)
        snprintf(text, RECORD_LEFT, "%s%lld d %lld h%s", about, seconds / 86400, seconds / 3600 % 24, label);
    else
        snprintf(text, RECORD_LEFT, "%s%lld:%02lld:%02lld%s", about, seconds / 3600, seconds / 60 % 60,
                 seconds % 60, label);
}

bool record_is_open(const struct record *record)
{
    return record->state == STORE_RUNNING || record->state == STORE_PAUSED || record->state == STORE_PENDING;
}

const struct store_counters *record_counters(const struct record *record)
{
    return record->has_verdict ? &record->verdict.counters : &record->counters;
}

void record_counts(const struct store_counters *counters, int64_t counts[STATISTICS_PAIR_COUNTS])
{
    counts[PAIR_LL] = (int64_t)counters->ll;
    counts[PAIR_LD] = (int64_t)counters->ld;
    counts[PAIR_DD] = (int64_t)counters->dd;
    counts[PAIR_WL] = (int64_t)counters->wl;
    counts[PAIR_DW] = (int64_t)counters->dw;
    counts[PAIR_WW] = (int64_t)counters->ww;
}

bool record_test(const struct record *record, struct sprt_test *test)
{
    const struct store_sprt *sprt = &record->experiment.sprt;
    char reason[SPRT_REASON_MAX];
    if (!record->experiment.has_sprt)
        return false;
    *test = (struct sprt_test){.elo0 = sprt->elo0,
                               .elo1 = sprt->elo1,
                               .alpha = sprt->alpha,
                               .beta = sprt->beta,
                               .batch = sprt->batch};
    return statistics_model_parse(sprt->model, &test->model) == 0 && sprt_validate(test, true, reason);
}

void record_specification(const struct record *record, struct message_create_experiment *out)
{
    wire_create(&record->experiment, out);
}
