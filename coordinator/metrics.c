#include "coordinator/metrics.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const double bounds[HISTOGRAM_BOUNDS] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                0.25,   0.5,   1,      2.5,   5,    10,    30};

void histogram_add(struct histogram *histogram, double seconds)
{
    if (!(seconds >= 0))
        seconds = 0; /* a clock that stepped back costs nothing */
    int at = 0;
    while (at < HISTOGRAM_BOUNDS && seconds > bounds[at])
        at++;
    histogram->bucket[at]++;
    histogram->sum += seconds;
}

double metrics_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* `label` is NAME="VALUE" or NULL; a row without help is another series of the name above it. */
static const struct {
    const char *name, *label, *help;
} numbers[METRICS_NUMBERS] = {
    [METRIC_LEADING] = {"kroo_leading", NULL, "Whether this coordinator leads (of several, one does)."},
    [METRIC_DRAINING] = {"kroo_draining", NULL, "Whether it was told to stop and commits what is queued."},
    [METRIC_DATABASE_UP] = {"kroo_database_up", NULL, "Whether the database answers."},
    [METRIC_DATABASE_RECONNECTS] = {"kroo_database_reconnects_total", NULL,
                                    "Connections made anew after a loss."},
    [METRIC_SESSIONS] = {"kroo_sessions", NULL, "Sessions of workers and of the kroo command."},
    [METRIC_WORKERS_LEASED] = {"kroo_workers", "state=\"leased\"",
                               "Worker sessions: with a lease, without, not heard of lately, set aside."},
    [METRIC_WORKERS_IDLE] = {"kroo_workers", "state=\"idle\"", NULL},
    [METRIC_WORKERS_SILENT] = {"kroo_workers", "state=\"silent\"", NULL},
    [METRIC_WORKERS_SET_ASIDE] = {"kroo_workers", "state=\"set_aside\"", NULL},
    [METRIC_PLAY_THREADS] = {"kroo_play_threads", NULL, "Play threads of the workers that are heard of."},
    [METRIC_EXPERIMENTS_RUNNING] = {"kroo_experiments", "state=\"running\"",
                                    "Experiments that have not ended."},
    [METRIC_EXPERIMENTS_PENDING] = {"kroo_experiments", "state=\"pending\"", NULL},
    [METRIC_EXPERIMENTS_PAUSED] = {"kroo_experiments", "state=\"paused\"", NULL},
    [METRIC_EXPERIMENTS_BLOCKED] = {"kroo_experiments", "state=\"blocked\"", NULL},
    [METRIC_LEASES] = {"kroo_leases", NULL, "Leases that are out."},
    [METRIC_LEASES_GRANTED] = {"kroo_leases_granted_total", NULL, "Leases granted."},
    [METRIC_LEASES_EXPIRED] = {"kroo_leases_expired_total", NULL, "Leases that lapsed without progress."},
    [METRIC_LEASES_UNMET] = {"kroo_lease_requests_unmet_total", NULL,
                             "Lease requests answered by `nothing`, with the reason."},
    [METRIC_GAMES_COMMITTED] = {"kroo_games_committed_total", NULL, "Games replayed, judged and committed."},
    [METRIC_GAMES_DUPLICATE] = {"kroo_games_duplicate_total", NULL, "Games that were stored already."},
    [METRIC_GAMES_CONFLICTING] = {"kroo_games_conflicting_total", NULL,
                                  "Games that differ from the stored one of their key."},
    [METRIC_GAMES_REFUSED] = {"kroo_games_refused_total", NULL, "Games that the replay refused."},
    [METRIC_MESSAGES_RECEIVED] = {"kroo_messages_received_total", NULL, "Messages received."},
    [METRIC_MESSAGES_SENT] = {"kroo_messages_sent_total", NULL, "Messages sent."},
    [METRIC_REFUSED_MALFORMED] = {"kroo_messages_refused_total", "reason=\"malformed\"",
                                  "Messages turned down."},
    [METRIC_REFUSED_OVERSIZED] = {"kroo_messages_refused_total", "reason=\"oversized\"", NULL},
    [METRIC_REFUSED_NOT_ALLOWED] = {"kroo_messages_refused_total", "reason=\"not_allowed\"", NULL},
    [METRIC_REFUSED_SAY_HELLO] = {"kroo_messages_refused_total", "reason=\"say_hello\"", NULL},
    [METRIC_REFUSED_BUSY] = {"kroo_messages_refused_total", "reason=\"busy\"", NULL},
    [METRIC_HANDSHAKES_ADMITTED] = {"kroo_handshakes_total", "outcome=\"admitted\"",
                                    "Connections that were let in, or not."},
    [METRIC_HANDSHAKES_REFUSED] = {"kroo_handshakes_total", "outcome=\"refused\"", NULL},
    [METRIC_SENDS_FULL] = {"kroo_sends_failed_total", "reason=\"queue_full\"", "Messages not sent."},
    [METRIC_SENDS_GONE] = {"kroo_sends_failed_total", "reason=\"gone\"", NULL},
    [METRIC_WRITER_JOBS] = {"kroo_writer_queue_jobs", NULL, "Jobs that wait for the writer."},
    [METRIC_WRITER_OUTSTANDING] = {"kroo_writer_outstanding_jobs", NULL,
                                   "Jobs given to the writer and not back."},
    [METRIC_WRITER_ROUND_AGE] = {"kroo_writer_round_age_seconds", NULL,
                                 "How long the writer has been at what it is doing; 0 when it waits."},
};

static const struct {
    const char *name, *help;
} histograms[METRICS_HISTOGRAMS] = {
    [METRIC_GRANT_SECONDS] = {"kroo_lease_grant_seconds",
                              "From taking up a lease request to its grant, the row committed between."},
    [METRIC_ACKNOWLEDGE_SECONDS] = {"kroo_results_acknowledge_seconds",
                                    "From taking up a batch of results to its acknowledgement."},
    [METRIC_COMMIT_SECONDS] = {"kroo_commit_seconds", "Of one transaction of many workers' batches."},
    [METRIC_TURN_SECONDS] = {"kroo_loop_turn_seconds", "Of one turn of the event loop, waiting left out."},
};

static void put_head(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_number(FILE *out, const char *name, const char *label, double value)
{
    if (label)
        fprintf(out, "%s{%s} %.15g\n", name, label, value);
    else
        fprintf(out, "%s %.15g\n", name, value);
}

static void put_single(FILE *out, const char *name, const char *type, const char *help, double value)
{
    put_head(out, name, type, help);
    put_number(out, name, NULL, value);
}

/* A counter is what its name says it is. */
static const char *type_of(const char *name)
{
    size_t length = strlen(name);
    return length > 6 && strcmp(name + length - 6, "_total") == 0 ? "counter" : "gauge";
}

static void put_histogram(FILE *out, const char *name, const char *help, const struct histogram *histogram)
{
    uint64_t below = 0;
    put_head(out, name, "histogram", help);
    for (int i = 0; i < HISTOGRAM_BOUNDS; i++) {
        below += histogram->bucket[i];
        fprintf(out, "%s_bucket{le=\"%g\"} %llu\n", name, bounds[i], (unsigned long long)below);
    }
    below += histogram->bucket[HISTOGRAM_BOUNDS];
    fprintf(out, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.15g\n%s_count %llu\n", name,
            (unsigned long long)below, name, histogram->sum, name, (unsigned long long)below);
}

/* Backslash, quote and line feed, as the format wants them in a label. */
static void put_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\\' || *text == '"')
            fputc('\\', out);
        if (*text == '\n')
            fputs("\\n", out);
        else
            fputc(*text, out);
    }
}

static double open_descriptors(void)
{
    double count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 3; /* `.`, `..` and the folder itself */
}

/* Under the names that every exporter gives them. */
static void put_process(FILE *out, double started_s)
{
    struct rusage usage = {0};
    struct rlimit limit = {0};
    unsigned long long pages = 0, virtual_pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%llu %llu", &virtual_pages, &pages) != 2)
        pages = 0;
    if (file)
        fclose(file);
    getrusage(RUSAGE_SELF, &usage);
    getrlimit(RLIMIT_NOFILE, &limit);
    double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    put_single(out, "process_cpu_seconds_total", "counter", "CPU time used.", cpu);
    put_single(out, "process_resident_memory_bytes", "gauge", "Memory in use.",
               (double)pages * (double)sysconf(_SC_PAGESIZE));
    put_single(out, "process_open_fds", "gauge", "Open descriptors; a connection takes one.",
               open_descriptors());
    put_single(out, "process_max_fds", "gauge", "Most descriptors it may open.", (double)limit.rlim_cur);
    put_single(out, "process_start_time_seconds", "gauge", "When it began, in Unix time.", started_s);
}

char *metrics_render(const struct metrics *metrics, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (!out)
        return NULL;
    put_head(out, "kroo_build_info", "gauge", "The build, as a label.");
    fputs("kroo_build_info{build=\"", out);
    put_escaped(out, metrics->build);
    fputs("\"} 1\n", out);
    for (int i = 0; i < METRICS_NUMBERS; i++) {
        if (numbers[i].help)
            put_head(out, numbers[i].name, type_of(numbers[i].name), numbers[i].help);
        put_number(out, numbers[i].name, numbers[i].label, metrics->number[i]);
    }
    for (int i = 0; i < METRICS_HISTOGRAMS; i++)
        put_histogram(out, histograms[i].name, histograms[i].help, &metrics->histogram[i]);
    put_process(out, metrics->started_s);
    int bad = ferror(out);
    if (fclose(out) != 0 || bad) {
        free(text);
        return NULL;
    }
    return text;
}
