#include "coordinator/exporter.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/listen.h"
#include "proto/progress.h"

struct exporter {
    struct MHD_Daemon *daemon;
    unsigned port;
    pthread_mutex_t mutex;
    struct metrics latest;
    int64_t published_ms; /* 0: never */
};

/* --- what is asked, and the answers --- */

struct page {
    unsigned status;
    const char *type;
    char *text; /* of malloc */
    size_t size;
};

static struct page say(unsigned status, const char *text)
{
    char *copy = strdup(text);
    return (struct page){status, "text/plain; charset=utf-8", copy, copy ? strlen(copy) : 0};
}

static struct page page_metrics(const struct metrics *latest)
{
    struct page page = {.status = MHD_HTTP_OK, .type = "text/plain; version=0.0.4; charset=utf-8"};
    page.text = metrics_render(latest, &page.size);
    return page;
}

/* Does the process get on? A coordinator that stands by is well. */
static struct page page_health(int64_t age_ms)
{
    char text[128];
    if (age_ms <= EXPORTER_STALE_MS)
        return say(MHD_HTTP_OK, "ok\n");
    snprintf(text, sizeof text, "the event loop has made no turn for %lld ms\n", (long long)age_ms);
    return say(MHD_HTTP_SERVICE_UNAVAILABLE, text);
}

/* Does it serve workers? */
static struct page page_ready(const struct metrics *latest, int64_t age_ms)
{
    char text[METRICS_TEXT + 64];
    if (age_ms > EXPORTER_STALE_MS)
        return page_health(age_ms);
    if (latest->state == METRICS_LEADING && latest->number[METRIC_DATABASE_UP] > 0)
        return say(MHD_HTTP_OK, "ready\n");
    snprintf(text, sizeof text, "%s%s%s\n",
             latest->state == METRICS_WAITING    ? "waiting for the database or for leadership"
             : latest->state == METRICS_DRAINING ? "draining"
                                                 : "not ready",
             latest->why[0] ? ": " : "", latest->why);
    return say(MHD_HTTP_SERVICE_UNAVAILABLE, text);
}

static struct page find_page(struct exporter *exporter, const char *url, const char *method)
{
    struct metrics latest;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return say(MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
    pthread_mutex_lock(&exporter->mutex);
    latest = exporter->latest;
    int64_t age_ms = progress_now_ms() - exporter->published_ms;
    pthread_mutex_unlock(&exporter->mutex);
    if (strcmp(url, "/metrics") == 0)
        return page_metrics(&latest);
    if (strcmp(url, "/healthz") == 0)
        return page_health(age_ms);
    if (strcmp(url, "/readyz") == 0)
        return page_ready(&latest, age_ms);
    return say(MHD_HTTP_NOT_FOUND, "here are /metrics, /healthz and /readyz\n");
}

static enum MHD_Result serve(void *context, struct MHD_Connection *connection, const char *url,
                             const char *method, const char *version, const char *upload, size_t *upload_size,
                             void **request)
{
    struct exporter *exporter = context;
    (void)version, (void)upload, (void)upload_size, (void)request;
    struct page page = find_page(exporter, url, method);
    if (!page.text)
        return MHD_NO;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(page.size, page.text, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        free(page.text);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, page.type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    if (page.status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    enum MHD_Result result = MHD_queue_response(connection, page.status, response);
    MHD_destroy_response(response);
    return result;
}

/* --- start and end --- */

struct exporter *exporter_create(const char *address, char *reason, size_t reason_size)
{
    struct exporter *exporter = calloc(1, sizeof *exporter);
    struct listen_address where;
    int fd = -1;
    if (exporter && listen_resolve("metrics", address, &where, reason, reason_size) == 0)
        fd = listen_open("metrics", &where, EXPORTER_CONNECTIONS, reason, reason_size);
    if (!exporter)
        snprintf(reason, reason_size, "no memory");
    if (fd < 0) {
        free(exporter);
        return NULL;
    }
    pthread_mutex_init(&exporter->mutex, NULL);
    exporter->port = listen_port(fd);
    exporter->published_ms = progress_now_ms();
    exporter->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, serve, exporter,
                                        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
                                        (unsigned)EXPORTER_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
                                        (unsigned)EXPORTER_SILENT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                        (size_t)EXPORTER_REQUEST_BYTES, MHD_OPTION_END);
    if (exporter->daemon)
        return exporter;
    snprintf(reason, reason_size, "metrics: cannot start the HTTP thread");
    close(fd);
    pthread_mutex_destroy(&exporter->mutex);
    free(exporter);
    return NULL;
}

void exporter_destroy(struct exporter *exporter)
{
    if (!exporter)
        return;
    MHD_stop_daemon(exporter->daemon); /* closes the listening socket, too */
    pthread_mutex_destroy(&exporter->mutex);
    free(exporter);
}

unsigned exporter_port(const struct exporter *exporter)
{
    return exporter->port;
}

void exporter_publish(struct exporter *exporter, const struct metrics *metrics)
{
    if (!exporter || pthread_mutex_trylock(&exporter->mutex) != 0)
        return;
    exporter->latest = *metrics;
    exporter->published_ms = progress_now_ms();
    pthread_mutex_unlock(&exporter->mutex);
}
