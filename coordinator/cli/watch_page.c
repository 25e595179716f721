#include "coordinator/cli/watch_page.h"

#include <langinfo.h>
#include <string.h>
#include <time.h>

#include "coordinator/cli/page.h"
#include "coordinator/cli/terminal.h"
#include "coordinator/record.h"
#include "coordinator/sprt.h"
#include "coordinator/statistics.h"
#include "proto/progress.h"

enum { PACE_STEP_MS = 2000, BAR = 40, LABEL = 12 };

void watch_pace_add(struct watch_pace *pace, const struct glance *glance)
{
    int64_t now = progress_now_ms();
    double games = page_number(glance->database.told, "games");
    if (!glance->database.is_up || (pace->since_ms > 0 && now - pace->since_ms < PACE_STEP_MS))
        return;
    if (pace->since_ms > 0) {
        double rate = (games - pace->games_before) * 1000 / (double)(now - pace->since_ms);
        if (pace->count == WATCH_PACES)
            memmove(pace->games, pace->games + 1, (WATCH_PACES - 1) * sizeof *pace->games);
        else
            pace->count++;
        pace->games[pace->count - 1] = rate < 0 ? 0 : rate; /* a deleted experiment takes its games along */
    }
    pace->games_before = games;
    pace->since_ms = now;
}

static void label(FILE *out, const char *name)
{
    fprintf(out, "%s%-*s%s", terminal_begin(out, TERMINAL_FAINT), LABEL, name, terminal_end(out));
}

static void print_pace(FILE *out, const struct watch_pace *pace)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const letters[] = {"_", ".", "-", ":", "=", "+", "*", "#"};
    const char *const *marks = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? blocks : letters;
    double most = 0;
    for (size_t i = 0; i < pace->count; i++)
        most = pace->games[i] > most ? pace->games[i] : most;
    if (pace->count == 0)
        return;
    label(out, "games/s");
    fprintf(out, "%-8.1f%s", pace->games[pace->count - 1], terminal_begin(out, TERMINAL_ACCENT));
    for (size_t i = 0; i < pace->count; i++)
        fputs(marks[most > 0 ? (size_t)(pace->games[i] / most * 7.999) : 0], out);
    fprintf(out, "%s  at most %.1f\n", terminal_end(out), most);
}

static void print_head(FILE *out, uint64_t experiment)
{
    char now[32], what[48] = "";
    time_t seconds = time(NULL);
    struct tm broken;
    gmtime_r(&seconds, &broken);
    strftime(now, sizeof now, "%Y-%m-%d %H:%M:%S UTC", &broken);
    if (experiment > 0)
        snprintf(what, sizeof what, " experiment %llu", (unsigned long long)experiment);
    fprintf(out, "%skroo watch%s%s   %s   %sq quits%s\n\n", terminal_begin(out, TERMINAL_STRONG), what,
            terminal_end(out), now, terminal_begin(out, TERMINAL_FAINT), terminal_end(out));
}

/* --- one experiment --- */

/* `-2.94 ....|..o.... 2.94`: where the LLR stands between its bounds. */
static void print_llr(FILE *out, const struct record *record)
{
    struct sprt_test test;
    struct sprt_state state;
    char scale[BAR + 1];
    if (!record_test(record, &test))
        return;
    double llr = record_counters(record)->llr;
    sprt_init(&state, &test, STATISTICS_PAIR_BINS);
    memset(scale, '.', BAR);
    scale[BAR] = '\0';
    double width = state.upper - state.lower;
    double at = (llr - state.lower) / width, zero = -state.lower / width;
    at = at < 0 ? 0 : at > 1 ? 1 : at;
    scale[(size_t)(zero * (BAR - 1))] = '|';
    scale[(size_t)(at * (BAR - 1))] = 'o';
    label(out, "LLR");
    fprintf(out, "%.2f %s %.2f   %s%.2f%s (%s, [%g, %g])\n", state.lower, scale, state.upper,
            terminal_begin(out, TERMINAL_STRONG), llr, terminal_end(out), record->experiment.sprt.model,
            test.elo0, test.elo1);
}

static void print_result(FILE *out, const struct record *record)
{
    const struct store_counters *c = record_counters(record);
    int64_t counts[STATISTICS_PAIR_COUNTS];
    struct statistics_sample sample;
    struct statistics_estimate e;
    if (record->experiment.kind != STORE_MATCH)
        return;
    print_llr(out, record);
    label(out, "counts");
    fprintf(out, "LL %llu  LD %llu  DD %llu  WL %llu  DW %llu  WW %llu\n", (unsigned long long)c->ll,
            (unsigned long long)c->ld, (unsigned long long)c->dd, (unsigned long long)c->wl,
            (unsigned long long)c->dw, (unsigned long long)c->ww);
    label(out, "games");
    fprintf(out, "won %llu  drawn %llu  lost %llu\n", (unsigned long long)c->wins,
            (unsigned long long)c->draws, (unsigned long long)c->losses);
    record_counts(c, counts);
    if (c->prefix_pairs == 0 || statistics_sample_set(&sample, counts, STATISTICS_PAIR_COUNTS) != 0)
        return;
    statistics_estimate(&sample, &e);
    label(out, "Elo");
    fprintf(out, "%+.1f, 95 %% interval from %+.1f to %+.1f; LOS %.1f %%\n", e.elo, e.elo_lo, e.elo_hi,
            100 * e.los);
}

static void print_experiment(FILE *out, const struct record *record)
{
    const struct store_experiment *e = &record->experiment;
    const struct store_counters *c = record_counters(record);
    char left[RECORD_LEFT], bar[BAR + 1], why[SPECIFICATION_REASON_MAX];
    double share = e->planned_pairs > 0 ? (double)c->prefix_pairs / (double)e->planned_pairs : 0;
    const char *outcome = record_outcome(record);
    label(out, record_kind_name(e->kind));
    fprintf(out, "%s%s%s  %s%s%s%s%s\n", terminal_begin(out, terminal_paint_of(outcome)), outcome,
            terminal_end(out), record->label_a, e->kind == STORE_MATCH ? " v " : "",
            e->kind == STORE_MATCH ? record->label_b : "", *e->note ? "; " : "", e->note);
    page_bar(share, bar, BAR);
    label(out, "pairs");
    fprintf(out, "%s %.0f %%   %llu of %s%llu", bar, 100 * share, (unsigned long long)c->prefix_pairs,
            e->has_sprt ? "at most " : "", (unsigned long long)e->planned_pairs);
    if (c->repeated_pairs > 0)
        fprintf(out, ", %llu repeated", (unsigned long long)c->repeated_pairs);
    fputc('\n', out);
    record_left(record, left);
    label(out, "speed");
    fprintf(out, "%.1f pairs a minute%s%s\n", record->pairs_per_minute, *left ? "; time left " : "", left);
    print_result(out, record);
    label(out, "at work");
    fprintf(out, "%llu workers, %llu leases, %llu disputes open\n",
            (unsigned long long)record->active_sessions, (unsigned long long)record->open_leases,
            (unsigned long long)record->open_disputes);
    if (record_is_idle(record, why))
        fprintf(out, "%s%s%s\n", terminal_begin(out, TERMINAL_CARE), why, terminal_end(out));
    fputc('\n', out);
}

void watch_page_print(FILE *out, const struct glance *glance, const struct watch_pace *pace,
                      uint64_t experiment)
{
    print_head(out, experiment);
    if (glance->has_record)
        print_experiment(out, &glance->record);
    page_print_standing(out, glance);
    print_pace(out, pace);
    if (experiment == 0) {
        page_print_champions(out, glance);
        page_print_attention(out, glance);
        page_print_open(out, glance);
    }
    page_print_workers(out, glance);
    if (experiment == 0)
        page_print_verdicts(out, glance);
    page_print_events(out, glance);
}

void watch_page_line(FILE *out, const struct glance *glance)
{
    char now[32];
    time_t seconds = time(NULL);
    struct tm broken;
    size_t workers, playing, i;
    const json_t *one, *open = json_object_get(glance->database.told, "open");
    double games = page_games_per_second(glance, &workers, &playing);
    gmtime_r(&seconds, &broken);
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", &broken);
    fprintf(out, "%s database %s, coordinator %s, %zu workers, %zu play, %.1f games/s, %.0f games stored",
            now, glance->database.is_up ? "up" : "away", glance->coordinator.is_up ? "up" : "away", workers,
            playing, games, page_number(glance->database.told, "games"));
    json_array_foreach(open, i, one)
    {
        fprintf(out, "; %.0f %s %.0f/%.0f pairs", page_number(one, "id"), page_text(one, "state"),
                page_number(one, "pairs"), page_number(one, "planned"));
        if (json_is_true(json_object_get(one, "has_sprt")))
            fprintf(out, " LLR %.2f", page_number(one, "llr"));
    }
    fputc('\n', out);
}
