/* The coordinator's figures for Prometheus: one array of numbers and a few histograms, filled by the event
 * loop, rendered as text (exposition format 0.0.4) by whoever serves them. Names, types and help are a table;
 * every label value is fixed here, so the number of series does not grow with workers or experiments. Pure
 * but for metrics_now_s and the process's own figures. */
#ifndef KROO_COORDINATOR_METRICS_H
#define KROO_COORDINATOR_METRICS_H

#include <stddef.h>
#include <stdint.h>

enum { HISTOGRAM_BOUNDS = 15, METRICS_TEXT = 256 };

/* Seconds, in buckets from 0.5 ms to 30 s; the last bucket has no bound. One writer at a time. */
struct histogram {
    uint64_t bucket[HISTOGRAM_BOUNDS + 1];
    double sum;
};
void histogram_add(struct histogram *histogram, double seconds);

enum metrics_state {
    METRICS_WAITING,  /* for the database or for leadership */
    METRICS_LEADING,  /* serves workers */
    METRICS_DRAINING, /* commits what is queued, then ends */
};

/* In the order in which they are rendered; those of one name follow each other. */
enum metrics_number {
    METRIC_LEADING,
    METRIC_DRAINING,
    METRIC_DATABASE_UP,
    METRIC_DATABASE_RECONNECTS,
    METRIC_SESSIONS,
    METRIC_WORKERS_LEASED,
    METRIC_WORKERS_IDLE,
    METRIC_WORKERS_SILENT,
    METRIC_WORKERS_SET_ASIDE,
    METRIC_PLAY_THREADS,
    METRIC_EXPERIMENTS_RUNNING,
    METRIC_EXPERIMENTS_PENDING,
    METRIC_EXPERIMENTS_PAUSED,
    METRIC_EXPERIMENTS_BLOCKED,
    METRIC_LEASES,
    METRIC_LEASES_GRANTED,
    METRIC_LEASES_EXPIRED,
    METRIC_LEASES_UNMET,
    METRIC_GAMES_COMMITTED,
    METRIC_GAMES_DUPLICATE,
    METRIC_GAMES_CONFLICTING,
    METRIC_GAMES_REFUSED,
    METRIC_MESSAGES_RECEIVED,
    METRIC_MESSAGES_SENT,
    METRIC_REFUSED_MALFORMED,
    METRIC_REFUSED_OVERSIZED,
    METRIC_REFUSED_NOT_ALLOWED,
    METRIC_REFUSED_SAY_HELLO,
    METRIC_REFUSED_BUSY,
    METRIC_HANDSHAKES_ADMITTED,
    METRIC_HANDSHAKES_REFUSED,
    METRIC_SENDS_FULL,
    METRIC_SENDS_GONE,
    METRIC_WRITER_JOBS,
    METRIC_WRITER_OUTSTANDING,
    METRIC_WRITER_ROUND_AGE,
    METRICS_NUMBERS,
};

enum metrics_histogram {
    METRIC_GRANT_SECONDS,       /* from a lease request to its grant, the lease's row committed between */
    METRIC_ACKNOWLEDGE_SECONDS, /* from results to their acknowledgement */
    METRIC_COMMIT_SECONDS,      /* of one transaction of grouped jobs */
    METRIC_TURN_SECONDS,        /* of one turn of the event loop, waiting left out */
    METRICS_HISTOGRAMS,
};

/* A snapshot: copied as a whole, points at nothing. */
struct metrics {
    enum metrics_state state;
    double started_s; /* Unix time */
    char build[METRICS_TEXT];
    char why[METRICS_TEXT]; /* what is waited for, or what keeps it from serving; "": nothing */
    double number[METRICS_NUMBERS];
    struct histogram histogram[METRICS_HISTOGRAMS];
};

/* Monotonic seconds. */
double metrics_now_s(void);
/* The text of a scrape with its last line feed, figures of the process (memory, CPU, descriptors) included;
 * the caller frees it. NULL without memory. */
char *metrics_render(const struct metrics *metrics, size_t *size);

#endif
