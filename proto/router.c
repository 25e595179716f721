#include "proto/socket.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "proto/endpoint.h"
#include "proto/frame.h"
#include "proto/progress.h"
#include "proto/zap.h"

enum {
    ROUTER_DISCARD_AT_ONCE = 64,
    ROUTER_BACKLOG = 1024, /* workers that reconnect at once */
    ROUTER_QUEUE = 16, /* messages a peer may have waiting, either way: nobody has more than 7 requests out */
    ROUTER_LINGER_MS = 200, /* for last acknowledgements */
    ROUTER_SILENT_S = 15,   /* without a byte, before the kernel probes */
    ROUTER_PROBE_S = 5,
    ROUTER_PROBES = 3,
    ROUTER_ID_SIZE = 5, /* the ids that a ROUTER makes: a zero and a count */
};

struct router {
    pthread_t owner;
    void *context;
    void *socket;
    struct zap zap;
    char bound[SOCKET_ENDPOINTS_MAX][ENDPOINT_TEXT];
    int locks[SOCKET_ENDPOINTS_MAX];
    size_t endpoint_count;
    socket_discard *discard; /* NULL: nothing is */
    void *discard_context;
    bool draining; /* the rest of a message of many frames waits to be dropped */
    struct router_counters counters;
};

static bool set_mechanism(void *socket, const struct endpoint *endpoint, const struct keys *keys)
{
    const char *domain = endpoint->kind == ENDPOINT_IPC ? ZAP_DOMAIN_IPC
                         : keys == NULL                 ? ZAP_DOMAIN_LOOPBACK
                                                        : ZAP_DOMAIN_CURVE;
    bool curve = strcmp(domain, ZAP_DOMAIN_CURVE) == 0;
    if (curve && zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, keys->secret_key, KEYS_TEXT) != 0)
        return false;
    /* Also the way back to no mechanism for an ipc endpoint after a TCP one: options hold for the next bind.
     */
    return frame_set(socket, ZMQ_CURVE_SERVER, curve) == 0 &&
           frame_set(socket, ZMQ_IPV6, endpoint->six) == 0 &&
           zmq_setsockopt(socket, ZMQ_ZAP_DOMAIN, domain, strlen(domain)) == 0;
}

static const char *bind_advice(int error)
{
    switch (error) {
    case EADDRINUSE:
        return "in use: another coordinator or another program listens there; stop it or choose another "
               "endpoint";
    case ENODEV:
    case EADDRNOTAVAIL:
        return "this machine has no such address: give one of its numbers, or * for all";
    case EACCES:
        return "not permitted: choose a port above 1023, or a folder of your own";
    default:
        return zmq_strerror(error);
    }
}

static bool bind_endpoint(struct router *router, const char *text, const struct keys *keys, char *reason,
                          size_t reason_size)
{
    struct endpoint endpoint;
    size_t index = router->endpoint_count;
    if (endpoint_parse(text, true, &endpoint, reason, reason_size) != 0)
        return false;
    if (endpoint.kind == ENDPOINT_FAR && keys == NULL) {
        (void)snprintf(reason, reason_size,
                       "%s: can be reached from other machines, and there are no keys: "
                       "make some with `kroo key new` and set key, or listen on 127.0.0.1 or ipc",
                       endpoint.text);
        return false;
    }
    if (endpoint.kind == ENDPOINT_IPC) {
        router->locks[index] = endpoint_claim(&endpoint, reason, reason_size);
        if (router->locks[index] < 0)
            return false;
    }
    router->endpoint_count++;
    size_t size = sizeof router->bound[index];
    if (!set_mechanism(router->socket, &endpoint, keys) || zmq_bind(router->socket, endpoint.text) != 0 ||
        zmq_getsockopt(router->socket, ZMQ_LAST_ENDPOINT, router->bound[index], &size) != 0) {
        (void)snprintf(reason, reason_size, "%s: %s", endpoint.text, bind_advice(zmq_errno()));
        return false;
    }
    return true;
}

/* Whose machine has vanished is found by the kernel's probes. ZMTP heartbeats are left to the workers: libzmq
 * looks through the timers of all connections whenever one of them is put off. */
static bool watch_silence(void *socket)
{
    return frame_set(socket, ZMQ_TCP_KEEPALIVE, 1) == 0 &&
           frame_set(socket, ZMQ_TCP_KEEPALIVE_IDLE, ROUTER_SILENT_S) == 0 &&
           frame_set(socket, ZMQ_TCP_KEEPALIVE_INTVL, ROUTER_PROBE_S) == 0 &&
           frame_set(socket, ZMQ_TCP_KEEPALIVE_CNT, ROUTER_PROBES) == 0;
}

static bool open_sockets(struct router *router, socket_admit *admit, void *context, char *reason,
                         size_t reason_size)
{
    router->context = zmq_ctx_new();
    bool good = router->context != NULL && zap_init(&router->zap, router->context, admit, context) == 0;
    if (good)
        router->socket = zmq_socket(router->context, ZMQ_ROUTER);
    good = good && router->socket != NULL && frame_set_common(router->socket) == 0 &&
           frame_set(router->socket, ZMQ_SNDHWM, ROUTER_QUEUE) == 0 &&
           frame_set(router->socket, ZMQ_RCVHWM, ROUTER_QUEUE) == 0 &&
           frame_set(router->socket, ZMQ_ROUTER_MANDATORY, 1) == 0 &&
           frame_set(router->socket, ZMQ_ROUTER_HANDOVER, 0) == 0 &&
           frame_set(router->socket, ZMQ_BACKLOG, ROUTER_BACKLOG) == 0 && watch_silence(router->socket) &&
           frame_set(router->socket, ZMQ_LINGER, ROUTER_LINGER_MS) == 0;
    if (!good)
        (void)snprintf(reason, reason_size, "no socket to listen with: %s", zmq_strerror(zmq_errno()));
    return good;
}

struct router *router_create(const char *const *endpoints, size_t endpoint_count, const struct keys *keys,
                             socket_admit *admit, void *context, char *reason, size_t reason_size)
{
    assert(keys == NULL || admit != NULL);
    if (endpoint_count < 1 || endpoint_count > SOCKET_ENDPOINTS_MAX) {
        (void)snprintf(reason, reason_size, "%zu endpoints, not 1..%d", endpoint_count, SOCKET_ENDPOINTS_MAX);
        return NULL;
    }
    struct router *router = calloc(1, sizeof *router);
    if (router == NULL) {
        (void)snprintf(reason, reason_size, "no memory");
        return NULL;
    }
    router->owner = pthread_self();
    for (size_t i = 0; i < SOCKET_ENDPOINTS_MAX; i++)
        router->locks[i] = -1;
    bool good = open_sockets(router, admit, context, reason, reason_size);
    for (size_t i = 0; good && i < endpoint_count; i++)
        good = bind_endpoint(router, endpoints[i], keys, reason, reason_size);
    if (good)
        return router;
    router_destroy(router);
    return NULL;
}

void router_destroy(struct router *router)
{
    if (router == NULL)
        return;
    if (router->socket != NULL)
        (void)zmq_close(router->socket);
    zap_done(&router->zap);
    if (router->context != NULL)
        while (zmq_ctx_term(router->context) != 0 && zmq_errno() == EINTR)
            ;
    for (size_t i = 0; i < SOCKET_ENDPOINTS_MAX; i++) {
        if (router->locks[i] < 0)
            continue;
        if (router->bound[i][0] != '\0') /* ours, and held by the lock; libzmq leaves it behind */
            (void)unlink(router->bound[i] + strlen("ipc://"));
        (void)close(router->locks[i]);
    }
    free(router);
}

const char *router_endpoint(const struct router *router, size_t index)
{
    return index < router->endpoint_count ? router->bound[index] : NULL;
}

enum socket_error router_wait(struct router *router, int wake_fd, int timeout_ms, bool *woken)
{
    assert(pthread_equal(router->owner, pthread_self()));
    int64_t deadline = progress_now_ms() + timeout_ms;
    *woken = false;
    for (;;) {
        zmq_pollitem_t items[3] = {{.socket = router->zap.socket, .events = ZMQ_POLLIN},
                                   {.socket = router->socket, .events = ZMQ_POLLIN},
                                   {.fd = wake_fd, .events = ZMQ_POLLIN}};
        int64_t left = deadline - progress_now_ms();
        long wait = timeout_ms < 0 ? -1 : left > 0 ? (long)left : 0;
        if (zmq_poll(items, wake_fd >= 0 ? 3 : 2, wait) < 0)
            return zmq_errno() == EINTR ? SOCKET_ERROR_AGAIN : SOCKET_ERROR_SYSTEM;
        if (items[0].revents != 0)
            zap_serve(&router->zap);
        *woken = wake_fd >= 0 && items[2].revents != 0;
        if (items[1].revents != 0)
            return SOCKET_OK;
        if (*woken || wait == 0)
            return SOCKET_ERROR_AGAIN;
    }
}

static enum socket_error malformed(struct router *router, char *reason, size_t reason_size, const char *why)
{
    router->counters.malformed++;
    (void)snprintf(reason, reason_size, "%s", why);
    return SOCKET_ERROR_MALFORMED;
}

/* Who sent this: the id in front of the message and the name that ZAP gave at the handshake. */
static bool fill_peer(struct socket_peer *peer, zmq_msg_t *id, zmq_msg_t *body)
{
    const uint8_t *bytes = zmq_msg_data(id);
    const char *user = zmq_msg_gets(body, "User-Id");
    memset(peer, 0, sizeof *peer);
    /* Ids are left to the ROUTER. One that a peer chose for itself could be another peer's. */
    if (zmq_msg_size(id) != ROUTER_ID_SIZE || bytes[0] != 0 || user == NULL ||
        strlen(user) >= sizeof peer->user)
        return false;
    memcpy(peer->id, bytes, ROUTER_ID_SIZE);
    peer->id_size = ROUTER_ID_SIZE;
    memcpy(peer->user, user, strlen(user) + 1);
    return true;
}

static enum socket_error take_body(struct router *router, zmq_msg_t *id, zmq_msg_t *body,
                                   struct socket_peer *peer, struct message *message, char *reason,
                                   size_t reason_size)
{
    enum socket_error error = frame_receive(router->socket, body);
    if (error != SOCKET_OK)
        return error;
    router->counters.received++;
    bool known = fill_peer(peer, id, body);
    if (zmq_msg_more(body) != 0) {
        router->draining = !frame_drain(router->socket);
        return malformed(router, reason, reason_size, "more than one frame");
    }
    if (known && router->discard != NULL && router->discard(router->discard_context, peer)) {
        router->counters.discarded++;
        return SOCKET_ERROR_AGAIN;
    }
    if (!known)
        return malformed(router, reason, reason_size, "a peer that chose its own routing id");
    if (zmq_msg_size(body) > MESSAGE_BYTES_MAX)
        router->counters.oversized++;
    if (message_decode(zmq_msg_data(body), zmq_msg_size(body), message, reason, reason_size) == 0)
        return SOCKET_OK;
    router->counters.malformed++;
    return SOCKET_ERROR_MALFORMED;
}

void router_discard_by(struct router *router, socket_discard *discard, void *context)
{
    router->discard = discard;
    router->discard_context = context;
}

static enum socket_error receive_one(struct router *router, struct socket_peer *peer, struct message *message,
                                     char *reason, size_t reason_size)
{
    zmq_msg_t id, body;
    memset(peer, 0, sizeof *peer);
    memset(message, 0, sizeof *message);
    (void)zmq_msg_init(&id);
    (void)zmq_msg_init(&body);
    enum socket_error error = frame_receive(router->socket, &id);
    if (error == SOCKET_OK)
        error = zmq_msg_more(&id) != 0 ? take_body(router, &id, &body, peer, message, reason, reason_size)
                                       : malformed(router, reason, reason_size, "a message without a body");
    (void)zmq_msg_close(&id);
    (void)zmq_msg_close(&body);
    return error;
}

enum socket_error router_receive(struct router *router, struct socket_peer *peer, struct message *message,
                                 char *reason, size_t reason_size)
{
    assert(pthread_equal(router->owner, pthread_self()));
    enum socket_error error = SOCKET_ERROR_AGAIN;
    for (int i = 0; i < ROUTER_DISCARD_AT_ONCE && !router->draining; i++) {
        uint64_t discarded = router->counters.discarded;
        error = receive_one(router, peer, message, reason, reason_size);
        if (router->counters.discarded == discarded)
            return error;
    }
    if (router->draining)
        router->draining = !frame_drain(router->socket);
    memset(peer, 0, sizeof *peer);
    return SOCKET_ERROR_AGAIN;
}

enum socket_error router_send(struct router *router, const struct socket_peer *peer,
                              const struct message *message)
{
    assert(pthread_equal(router->owner, pthread_self()));
    if (peer->id_size == 0)
        return SOCKET_ERROR_GONE;
    enum socket_error error = frame_send(router->socket, peer->id, peer->id_size, message);
    if (error == SOCKET_OK)
        router->counters.sent++;
    else if (error == SOCKET_ERROR_AGAIN)
        router->counters.send_again++;
    else if (error == SOCKET_ERROR_GONE)
        router->counters.send_gone++;
    return error;
}

struct router_counters router_counters(const struct router *router)
{
    struct router_counters counters = router->counters;
    counters.admitted_handshakes = router->zap.admitted;
    counters.refused_handshakes = router->zap.refused;
    return counters;
}
