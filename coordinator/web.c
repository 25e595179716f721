#include "coordinator/web.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "coordinator/condition.h"
#include "coordinator/listen.h"
#include "coordinator/web_host.h"
#include "coordinator/web_live.h"
#include "coordinator/web_operator.h"
#include "proto/log.h"
#include "proto/text.h"

enum { STACK_BYTES = 1024 * 1024 };

struct web {
    char *hosts; /* NULL: none */
    struct listen_address address;
    struct web_store *stores;
    struct web_live *live;
    struct web_operators *operators; /* NULL: nobody orders anything, and there are no orders */
    struct web_orders *orders;
    struct MHD_Daemon *daemon; /* NULL: the address is taken */
    unsigned port;
    pthread_mutex_t mutex; /* of the two above, and: */
    pthread_cond_t changed;
    pthread_t opener;
    bool has_opener, stopping;
    pthread_mutex_t told_mutex;
    struct metrics told; /* the coordinator's own word; its state is 0 before the first */
};

/* --- answers --- */

/* Everything comes from here, nothing is framed, nothing is sniffed, nobody is told where the reader was. */
static const char *const always[][2] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; "
     "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};

static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned status,
                                     struct MHD_Response *response, const char *type, const char *cache)
{
    if (!response)
        return MHD_NO;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        MHD_add_response_header(response, always[i][0], always[i][1]);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, cache);
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

/* Takes the answer's text. */
static enum MHD_Result send_answer(struct MHD_Connection *connection, struct web_answer *answer)
{
    char disposition[160];
    struct MHD_Response *response =
        answer->text ? MHD_create_response_from_buffer(answer->size, answer->text, MHD_RESPMEM_MUST_FREE)
                     : NULL;
    if (!response) {
        free(answer->text);
        return MHD_NO;
    }
    if (answer->file_name[0]) {
        snprintf(disposition, sizeof disposition, "attachment; filename=\"%s\"", answer->file_name);
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION, disposition);
    }
    if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    return send_response(connection, answer->status, response,
                         answer->type ? answer->type : "application/json", "no-store");
}

static enum MHD_Result send_error(struct MHD_Connection *connection, unsigned status, const char *text)
{
    struct web_answer answer = {0};
    web_answer_error(&answer, status, "%s", text);
    return send_answer(connection, &answer);
}

static enum MHD_Result send_file(struct MHD_Connection *connection, const struct web_file *file)
{
    const char *known = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "If-None-Match");
    bool is_known = known && strcmp(known, file->etag) == 0;
    size_t size = is_known ? 0 : (size_t)(file->end - file->start);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, (void *)(uintptr_t)file->start, MHD_RESPMEM_PERSISTENT);
    if (response)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, file->etag);
    return send_response(connection, is_known ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, response, file->type,
                         "no-cache");
}

static enum MHD_Result send_events(struct web *web, struct MHD_Connection *connection)
{
    struct MHD_Response *response = web_live_follow(web->live);
    if (!response)
        return send_error(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                          "too many pages listen already: this one shows what it has read");
    return send_response(connection, MHD_HTTP_OK, response, "text/event-stream", "no-store");
}

/* --- questions --- */

struct question {
    const struct web_call *call;
    const char *values[WEB_PARAMETERS];
    const char *wrong; /* NULL: nothing */
};

static bool is_sound(const struct web_parameter *parameter, const char *value, size_t size)
{
    if (parameter->is_number)
        return size <= WEB_NUMBER_DIGITS && strspn(value, "0123456789") == size;
    return size <= WEB_TEXT_MAX && text_is_utf8(value, size, false);
}

static enum MHD_Result take_parameter(void *context, enum MHD_ValueKind kind, const char *name,
                                      size_t name_size, const char *value, size_t value_size)
{
    struct question *question = context;
    const struct web_parameter *known = question->call->parameters;
    (void)kind, (void)name_size;
    size_t i = 0;
    while (known[i].name && strcmp(known[i].name, name) != 0)
        i++;
    if (!known[i].name)
        question->wrong = "there is no such parameter";
    else if (question->values[i])
        question->wrong = "a parameter stands there twice";
    else if (value_size > 0 && !is_sound(&known[i], value, value_size))
        question->wrong = known[i].is_number ? "a parameter is not a number" : "a parameter is no short text";
    else
        question->values[i] = value_size > 0 ? value : NULL;
    return question->wrong ? MHD_NO : MHD_YES;
}

static enum MHD_Result answer_call(struct web *web, struct MHD_Connection *connection,
                                   const struct web_call *call)
{
    struct question question = {.call = call};
    struct web_answer answer;
    MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, take_parameter, &question);
    for (size_t i = 0; call->parameters[i].name && !question.wrong; i++)
        if (call->parameters[i].is_needed && !question.values[i])
            question.wrong = "a parameter is missing";
    if (question.wrong)
        return send_error(connection, MHD_HTTP_BAD_REQUEST, question.wrong);
    web_store_ask(web->stores, call, question.values, &answer);
    return send_answer(connection, &answer);
}

/* --- orders --- */

/* A page of another origin cannot send the token's header without our leave, which nobody gets; what its
 * browser says of it is looked at all the same. */
static bool is_from_here(struct web *web, struct MHD_Connection *connection)
{
    const char *origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
    const char *host = origin ? strstr(origin, "://") : NULL;
    return !origin || (host && web_host_is_ours(host + 3, web->address.host, web->hosts));
}

static bool read_order(struct MHD_Connection *connection, struct web_order *order)
{
    static const struct {
        const char *name;
        enum message_verb verb;
    } verbs[] = {{"pause", MESSAGE_VERB_PAUSE}, {"resume", MESSAGE_VERB_RESUME}, {"stop", MESSAGE_VERB_STOP}};
    const struct web_parameter number = {.name = "id", .is_number = true}, text = {.name = "reason"};
    const char *id = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "id");
    const char *verb = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "verb");
    const char *reason = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "reason");
    size_t i = 0, count = sizeof verbs / sizeof *verbs;
    while (i < count && (!verb || strcmp(verbs[i].name, verb) != 0))
        i++;
    if (i == count || !id || !*id || !is_sound(&number, id, strlen(id)) ||
        (reason && !is_sound(&text, reason, strlen(reason))))
        return false;
    order->experiment = strtoull(id, NULL, 10);
    order->verb = verbs[i].verb;
    snprintf(order->text, sizeof order->text, "%s", reason && *reason ? reason : "on the web page");
    return true;
}

static enum MHD_Result give_order(struct web *web, struct MHD_Connection *connection,
                                  const struct web_order *order)
{
    char text[MESSAGE_TEXT_MAX];
    struct web_answer answer = {.status = MHD_HTTP_OK};
    switch (web_orders_give(web->orders, order, text)) {
    case WEB_ORDER_DONE:
        web_answer_text(&answer, strdup("{\"done\":true}"));
        return send_answer(connection, &answer);
    case WEB_ORDER_REFUSED:
        return send_error(connection, MHD_HTTP_CONFLICT, text);
    case WEB_ORDER_FULL:
        return send_error(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "too much is ordered at once: try again");
    case WEB_ORDER_LATE:
        break;
    }
    return send_error(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                      "no answer yet: this coordinator may not have the lead; look whether it was done");
}

static enum MHD_Result take_order(struct web *web, struct MHD_Connection *connection)
{
    struct web_order order = {0};
    const char *name =
        web_operators_name(web->operators, MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
                                                                       MHD_HTTP_HEADER_AUTHORIZATION));
    if (!web->operators)
        return send_error(
            connection, MHD_HTTP_FORBIDDEN,
            "nobody orders anything here: the coordinator's setting web_token names the file of "
            "those who may");
    if (!name || !is_from_here(web, connection))
        return send_error(connection, MHD_HTTP_FORBIDDEN, "that is no operator's token");
    if (!read_order(connection, &order))
        return send_error(connection, MHD_HTTP_BAD_REQUEST, "wants an id and pause, resume or stop");
    snprintf(order.by, sizeof order.by, "%s", name);
    log_line(LOG_LEVEL_INFO, "web-order", "experiment=%llu verb=%d by=%s",
             (unsigned long long)order.experiment, (int)order.verb, name);
    return give_order(web, connection, &order);
}

/* May anybody order something here, and who is asking? */
static enum MHD_Result send_operator(struct web *web, struct MHD_Connection *connection)
{
    char text[128];
    const char *name =
        web_operators_name(web->operators, MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
                                                                       MHD_HTTP_HEADER_AUTHORIZATION));
    snprintf(text, sizeof text, "{\"operators\":%s,\"name\":%s%s%s}", web->operators ? "true" : "false",
             name ? "\"" : "", name ? name : "null", name ? "\"" : "");
    struct web_answer answer = {.status = MHD_HTTP_OK};
    web_answer_text(&answer, strdup(text));
    return send_answer(connection, &answer);
}

/* What only the coordinator itself knows. */
static enum MHD_Result send_coordinator(struct web *web, struct MHD_Connection *connection)
{
    struct metrics told;
    char text[METRICS_TEXT + 512];
    pthread_mutex_lock(&web->told_mutex);
    told = web->told;
    pthread_mutex_unlock(&web->told_mutex);
    bool leads = told.state == METRICS_LEADING || told.state == METRICS_DRAINING;
    snprintf(text, sizeof text,
             "{\"leads\":%s,\"database\":%s,\"workers\":{\"working\":%.0f,\"idle\":%.0f,\"silent\":%.0f,"
             "\"set_aside\":%.0f,\"play_threads\":%.0f}}",
             leads ? "true" : "false", told.number[METRIC_DATABASE_UP] > 0 ? "true" : "false",
             told.number[METRIC_WORKERS_LEASED], told.number[METRIC_WORKERS_IDLE],
             told.number[METRIC_WORKERS_SILENT], told.number[METRIC_WORKERS_SET_ASIDE],
             told.number[METRIC_PLAY_THREADS]);
    struct web_answer answer = {.status = MHD_HTTP_OK};
    web_answer_text(&answer, strdup(text));
    return send_answer(connection, &answer);
}

static enum MHD_Result serve(void *context, struct MHD_Connection *connection, const char *url,
                             const char *method, const char *version, const char *upload, size_t *upload_size,
                             void **request)
{
    static int begun;
    struct web *web = context;
    (void)version, (void)upload;
    bool is_reading = strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    bool is_order = strcmp(method, MHD_HTTP_METHOD_POST) == 0 && strcmp(url, "/api/act") == 0;
    if (!*request && (is_reading || is_order)) { /* answered now, the connection would end with it */
        *request = &begun;
        return MHD_YES;
    }
    if (*upload_size) { /* nobody wants it */
        *upload_size = 0;
        return MHD_YES;
    }
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    if (!web_host_is_ours(host, web->address.host, web->hosts))
        return send_error(connection, MHD_HTTP_MISDIRECTED_REQUEST,
                          "this page is not served under that name: the coordinator's setting web_hosts "
                          "lists the names");
    if (is_order)
        return take_order(web, connection);
    if (!is_reading)
        return send_error(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD");
    if (strcmp(url, "/api/events") == 0)
        return send_events(web, connection);
    if (strcmp(url, "/api/operator") == 0)
        return send_operator(web, connection);
    if (strcmp(url, "/api/coordinator") == 0)
        return send_coordinator(web, connection);
    const struct web_call *call = web_call_find(url);
    if (call)
        return answer_call(web, connection, call);
    const struct web_file *file = web_file_find(url);
    return file ? send_file(connection, file)
                : send_error(connection, MHD_HTTP_NOT_FOUND, "there is no such page");
}

/* --- start and end --- */

/* 0, or a listen_error with the reason. */
static int open_daemon(struct web *web, char *reason, size_t reason_size)
{
    int fd = listen_open("web", &web->address, WEB_CONNECTIONS, reason, reason_size);
    if (fd < 0)
        return fd;
    unsigned port = listen_port(fd);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, 0, NULL, NULL, serve,
        web, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)WEB_CONNECTIONS,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)WEB_SILENT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)WEB_REQUEST_BYTES, MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES, MHD_OPTION_END);
    if (!daemon) {
        snprintf(reason, reason_size, "web: cannot start the HTTP thread");
        close(fd);
        return LISTEN_REFUSED;
    }
    pthread_mutex_lock(&web->mutex);
    web->daemon = daemon;
    web->port = port;
    pthread_mutex_unlock(&web->mutex);
    bool is_long = strchr(web->address.host, ':') != NULL;
    log_line(LOG_LEVEL_INFO, "web", "address=http://%s%s%s:%u/", is_long ? "[" : "", web->address.host,
             is_long ? "]" : "", port);
    return 0;
}

/* Tries again until the address is free. */
static void *keep_opening(void *context)
{
    struct web *web = context;
    char reason[256];
    for (;;) {
        struct timespec until = condition_until(WEB_REOPEN_MS);
        pthread_mutex_lock(&web->mutex);
        if (!web->stopping)
            pthread_cond_timedwait(&web->changed, &web->mutex, &until);
        bool stopping = web->stopping;
        pthread_mutex_unlock(&web->mutex);
        if (stopping || open_daemon(web, reason, sizeof reason) != LISTEN_TAKEN)
            return NULL;
    }
}

static int open_or_wait(struct web *web, char *reason, size_t reason_size)
{
    int outcome = open_daemon(web, reason, reason_size);
    if (outcome != LISTEN_TAKEN)
        return outcome;
    log_line(LOG_LEVEL_WARNING, "web-waits", "reason=\"%s\": tried again until it is free", reason);
    web->has_opener = pthread_create(&web->opener, NULL, keep_opening, web) == 0;
    return web->has_opener ? 0 : LISTEN_REFUSED;
}

static int prepare(struct web *web, const struct web_options *options, char *reason, size_t reason_size)
{
    if (listen_resolve("web", options->address, &web->address, reason, reason_size) != 0)
        return -1;
    if (!listen_is_loopback(&web->address) && !options->hosts) {
        snprintf(reason, reason_size,
                 "web: %s is not the loopback address, and whoever reaches the page reads everything in it: "
                 "serve it on 127.0.0.1 behind a proxy, or name in web_hosts the names it may be asked by",
                 options->address);
        return -1;
    }
    if (options->tokens) {
        web->operators = web_operators_load(options->tokens, reason, reason_size);
        if (!web->operators)
            return -1;
        web->orders = web_orders_create(options->wake);
    }
    web->hosts = options->hosts ? strdup(options->hosts) : NULL;
    web->stores = web_store_create(options->conninfo);
    const struct web_call *pulse = web_call_find("/api/pulse");
    web->live = web->stores && pulse ? web_live_create(web->stores, pulse) : NULL;
    if (web->live && (web->hosts || !options->hosts) && (web->orders || !options->tokens))
        return 0;
    snprintf(reason, reason_size, "web: no memory");
    return -1;
}

struct web *web_create(const struct web_options *options, char *reason, size_t reason_size)
{
    struct web *web = calloc(1, sizeof *web);
    if (!web) {
        snprintf(reason, reason_size, "web: no memory");
        return NULL;
    }
    pthread_mutex_init(&web->mutex, NULL);
    pthread_mutex_init(&web->told_mutex, NULL);
    condition_init(&web->changed);
    if (prepare(web, options, reason, reason_size) == 0 && open_or_wait(web, reason, reason_size) == 0)
        return web;
    web_destroy(web);
    return NULL;
}

void web_destroy(struct web *web)
{
    if (!web)
        return;
    pthread_mutex_lock(&web->mutex);
    web->stopping = true;
    pthread_cond_broadcast(&web->changed);
    pthread_mutex_unlock(&web->mutex);
    if (web->has_opener)
        pthread_join(web->opener, NULL);
    if (web->live)
        web_live_stop(web->live);
    if (web->orders)
        web_orders_stop(web->orders);
    if (web->daemon)
        MHD_stop_daemon(web->daemon);
    web_live_destroy(web->live);
    web_store_destroy(web->stores);
    web_orders_destroy(web->orders);
    web_operators_destroy(web->operators);
    pthread_cond_destroy(&web->changed);
    pthread_mutex_destroy(&web->told_mutex);
    pthread_mutex_destroy(&web->mutex);
    free(web->hosts);
    free(web);
}

struct web_orders *web_orders_of(struct web *web)
{
    return web ? web->orders : NULL;
}

void web_publish(struct web *web, const struct metrics *metrics)
{
    if (!web || pthread_mutex_trylock(&web->told_mutex) != 0)
        return;
    web->told = *metrics;
    pthread_mutex_unlock(&web->told_mutex);
}

unsigned web_port(struct web *web)
{
    pthread_mutex_lock(&web->mutex);
    unsigned port = web->port;
    pthread_mutex_unlock(&web->mutex);
    return port;
}
