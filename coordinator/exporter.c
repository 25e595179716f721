#include "coordinator/exporter.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Cuts the text into host and port; a bare port means the loopback address. */
static int split_address(const char *text, char host[256], char port[16])
{
    const char *colon = strrchr(text, ':');
    const char *number = colon ? colon + 1 : text;
    size_t length = colon ? (size_t)(colon - text) : 0;
    char *end = NULL;
    unsigned long value = number[0] >= '0' && number[0] <= '9' ? strtoul(number, &end, 10) : 65536;
    if (value > 65535 || *end != '\0' || length >= 256)
        return -1;
    snprintf(port, 16, "%lu", value);
    if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    } else if (memchr(text, ':', length)) {
        return -1; /* an IPv6 address wants its brackets */
    }
    snprintf(host, 256, "%.*s", (int)length, length ? text : "127.0.0.1");
    if (!length)
        snprintf(host, 256, "127.0.0.1");
    return 0;
}

static int listen_on(const char *address, char *reason, size_t reason_size)
{
    char host[256], port[16];
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    if (split_address(address, host, port) != 0) {
        snprintf(reason, reason_size, "metrics wants ADDRESS:PORT, [ADDRESS]:PORT or PORT, not \"%.100s\"",
                 address);
        return -1;
    }
    int outcome = getaddrinfo(host, port, &hints, &found);
    if (outcome != 0) {
        snprintf(reason, reason_size, "metrics: there is no address \"%.100s\": %s", host,
                 gai_strerror(outcome));
        return -1;
    }
    int yes = 1, fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, EXPORTER_CONNECTIONS) != 0) {
        snprintf(reason, reason_size, "metrics: cannot listen on %.100s: %s", address, strerror(errno));
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    freeaddrinfo(found);
    return fd;
}

static unsigned port_of(int fd)
{
    struct sockaddr_storage name = {0};
    socklen_t size = sizeof name;
    if (getsockname(fd, (struct sockaddr *)&name, &size) != 0)
        return 0;
    return ntohs(name.ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)&name)->sin6_port
                                            : ((const struct sockaddr_in *)&name)->sin_port);
}

struct exporter *exporter_create(const char *address, char *reason, size_t reason_size)
{
    struct exporter *exporter = calloc(1, sizeof *exporter);
    int fd = exporter ? listen_on(address, reason, reason_size) : -1;
    if (!exporter)
        snprintf(reason, reason_size, "no memory");
    if (fd < 0) {
        free(exporter);
        return NULL;
    }
    pthread_mutex_init(&exporter->mutex, NULL);
    exporter->port = port_of(fd);
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
