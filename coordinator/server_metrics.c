/* How the coordinator is, for those who watch it: figures for Prometheus once a second, and what its
 * supervisor wants to know. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "coordinator/server_parts.h"
#include "coordinator/web.h"
#include "engine/build.h"
#include "proto/log.h"
#include "proto/notify.h"
#include "proto/progress.h"

int server_metrics_open(struct server *server, char *reason, size_t reason_size)
{
    server->metrics.started_s = (double)time(NULL);
    snprintf(server->metrics.build, sizeof server->metrics.build, "%s", engine_build());
    if (!server->options.metrics)
        return 0;
    server->exporter = exporter_create(server->options.metrics, reason, reason_size);
    if (!server->exporter)
        return -1;
    exporter_publish(server->exporter, &server->metrics);
    log_line(LOG_LEVEL_INFO, "metrics", "address=%s port=%u: /metrics, /healthz, /readyz",
             server->options.metrics, exporter_port(server->exporter));
    return 0;
}

void server_metrics_waiting(void *context, const char *reason)
{
    struct server *server = context;
    if (reason) {
        char text[METRICS_TEXT];
        snprintf(server->metrics.why, sizeof server->metrics.why, "%s", reason);
        snprintf(text, sizeof text, "waiting: %.200s", reason);
        notify_ready(text);
    }
    notify_alive(progress_now_ms());
    exporter_publish(server->exporter, &server->metrics);
    web_publish(server->options.web, &server->metrics);
}

/* --- what is counted --- */

static void count_session(void *context, struct session *session)
{
    struct server *server = context;
    double *number = server->metrics.number;
    struct lease_session_view view = {0};
    if (session->role != MESSAGE_ROLE_WORKER)
        return;
    if (server->now_ms - session->heard_ms > server_silent_most_ms(server)) {
        number[METRIC_WORKERS_SILENT]++;
        return;
    }
    lease_session_find(server->leases, session->id, &view);
    number[METRIC_PLAY_THREADS] += session->slots;
    number[server_flag_of(server, session) ? METRIC_WORKERS_SET_ASIDE
           : view.leases > 0               ? METRIC_WORKERS_LEASED
                                           : METRIC_WORKERS_IDLE]++;
}

static void count_experiments(struct server *server)
{
    double *number = server->metrics.number;
    for (size_t i = 0; i < server->experiment_count; i++) {
        const struct server_experiment *experiment = server->experiments[i];
        if (experiment->ended)
            continue;
        switch (experiment->row.state) {
        case STORE_PENDING:
            number[METRIC_EXPERIMENTS_PENDING]++;
            break;
        case STORE_PAUSED:
            number[METRIC_EXPERIMENTS_PAUSED]++;
            break;
        case STORE_BLOCKED:
            number[METRIC_EXPERIMENTS_BLOCKED]++;
            break;
        default:
            number[METRIC_EXPERIMENTS_RUNNING]++;
        }
    }
}

static void fill_wire(const struct server *server, double number[METRICS_NUMBERS])
{
    struct router_counters wire = router_counters(server->router);
    const struct server_counters *own = &server->counters;
    number[METRIC_MESSAGES_RECEIVED] = (double)wire.received;
    number[METRIC_MESSAGES_SENT] = (double)wire.sent;
    number[METRIC_REFUSED_MALFORMED] = (double)wire.malformed;
    number[METRIC_REFUSED_OVERSIZED] = (double)wire.oversized;
    number[METRIC_REFUSED_NOT_ALLOWED] = (double)own->not_allowed;
    number[METRIC_REFUSED_SAY_HELLO] = (double)own->say_hello;
    number[METRIC_REFUSED_BUSY] = (double)own->busy;
    number[METRIC_HANDSHAKES_ADMITTED] = (double)wire.admitted_handshakes;
    number[METRIC_HANDSHAKES_REFUSED] = (double)wire.refused_handshakes;
    number[METRIC_SENDS_FULL] = (double)wire.send_again;
    number[METRIC_SENDS_GONE] = (double)wire.send_gone;
}

static void fill(struct server *server)
{
    struct metrics *metrics = &server->metrics;
    struct writer_counters rows = writer_counters(server->writer);
    double *number = metrics->number;
    char reason[STORE_TEXT] = "";
    memset(metrics->number, 0, sizeof metrics->number);
    metrics->state = server->draining ? METRICS_DRAINING : METRICS_LEADING;
    metrics->histogram[METRIC_COMMIT_SECONDS] = rows.commit;
    number[METRIC_LEADING] = 1;
    number[METRIC_DRAINING] = server->draining;
    number[METRIC_DATABASE_UP] = writer_is_up(server->writer, reason, sizeof reason);
    snprintf(metrics->why, sizeof metrics->why, "%.255s", reason);
    number[METRIC_DATABASE_RECONNECTS] = (double)rows.reconnects;
    number[METRIC_SESSIONS] = (double)roster_count(server->roster);
    roster_each(server->roster, count_session, server);
    count_experiments(server);
    number[METRIC_LEASES] = (double)lease_count(server->leases);
    number[METRIC_LEASES_GRANTED] = (double)server->counters.grants;
    number[METRIC_LEASES_EXPIRED] = (double)server->counters.expired;
    number[METRIC_LEASES_UNMET] = (double)server->counters.nothing;
    number[METRIC_GAMES_COMMITTED] = (double)rows.games;
    number[METRIC_GAMES_DUPLICATE] = (double)rows.duplicates;
    number[METRIC_GAMES_CONFLICTING] = (double)rows.conflicts;
    number[METRIC_GAMES_REFUSED] = (double)server->counters.refused_games;
    number[METRIC_WRITER_JOBS] = (double)writer_queue_count(server->writer);
    number[METRIC_WRITER_OUTSTANDING] = (double)server->outstanding;
    number[METRIC_WRITER_ROUND_AGE] = rows.busy_s;
    fill_wire(server, number);
}

static void publish(struct server *server)
{
    server->published_ms = server->now_ms;
    if (!server->exporter && !server->options.web)
        return;
    fill(server);
    exporter_publish(server->exporter, &server->metrics);
    web_publish(server->options.web, &server->metrics);
}

/* --- when --- */

void server_metrics_leading(struct server *server)
{
    char text[METRICS_TEXT];
    const char *endpoint = router_endpoint(server->router, 0);
    snprintf(text, sizeof text, "leading; listening on %.200s", endpoint ? endpoint : "nothing");
    notify_ready(text);
    publish(server);
}

void server_metrics_draining(struct server *server)
{
    notify_stopping();
    publish(server);
}

void server_metrics_turn(struct server *server, double begun_s)
{
    histogram_add(&server->metrics.histogram[METRIC_TURN_SECONDS], metrics_now_s() - begun_s);
    notify_alive(server->now_ms);
    if (server->now_ms - server->published_ms >= SERVER_PUBLISH_MS)
        publish(server);
}
