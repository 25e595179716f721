#include "proto/socket.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "proto/endpoint.h"
#include "proto/frame.h"
#include "proto/progress.h"

enum {
    DEALER_HEARTBEAT_MS = 5000,
    DEALER_LINGER_MS = 500, /* for a last RELEASE */
    DEALER_RECONNECT_MS = 200,
    DEALER_RECONNECT_MAX_MS = 10000,
    EVENTS_AT_ONCE = 64,
};

struct dealer {
    pthread_t owner;
    void *context;
    void *socket;
    void *monitor; /* what libzmq tells of the connection; read by dealer_wait */
    struct endpoint endpoints[SOCKET_ENDPOINTS_MAX];
    size_t endpoint_count, current;
    bool has_keys;
    bool half_keys; /* one of the two: good enough for ipc only */
    struct keys keys;
    char server_key[KEYS_TEXT];
    bool apart;         /* what the monitor said last of this socket's connection */
    bool waits_to_send; /* the last send found no room */
    bool draining;
    unsigned turn;       /* of the monitor's two names: the old one is still there while the new one opens */
    const char *trouble; /* empty when the last handshake succeeded, or none was tried */
};

static bool set_options(const struct dealer *dealer, void *socket, const struct endpoint *endpoint)
{
    bool good = frame_set_common(socket) == 0 && frame_set(socket, ZMQ_IMMEDIATE, 1) == 0 &&
                frame_set(socket, ZMQ_HEARTBEAT_IVL, DEALER_HEARTBEAT_MS) == 0 &&
                frame_set(socket, ZMQ_HEARTBEAT_TIMEOUT, 3 * DEALER_HEARTBEAT_MS) == 0 &&
                frame_set(socket, ZMQ_RECONNECT_IVL, DEALER_RECONNECT_MS) == 0 &&
                frame_set(socket, ZMQ_RECONNECT_IVL_MAX, DEALER_RECONNECT_MAX_MS) == 0 &&
                frame_set(socket, ZMQ_LINGER, DEALER_LINGER_MS) == 0 &&
                frame_set(socket, ZMQ_IPV6, endpoint->six) == 0;
    if (!good || endpoint->kind == ENDPOINT_IPC || !dealer->has_keys)
        return good;
    return zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, dealer->server_key, KEYS_TEXT) == 0 &&
           zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, dealer->keys.public_key, KEYS_TEXT) == 0 &&
           zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, dealer->keys.secret_key, KEYS_TEXT) == 0;
}

/* Closing the monitor's reader first can block libzmq's own thread (libzmq#3575). */
static void close_pair(void *socket, void *monitor)
{
    if (socket != NULL)
        (void)zmq_socket_monitor(socket, NULL, 0);
    if (monitor != NULL)
        (void)zmq_close(monitor);
    if (socket != NULL)
        (void)zmq_close(socket);
}

/* A connected socket and its monitor; nothing is left behind on failure. */
static bool open_pair(const struct dealer *dealer, const struct endpoint *endpoint, const char *monitor_name,
                      void **socket, void **monitor)
{
    const int events = ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
                       ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                       ZMQ_EVENT_CONNECT_RETRIED | ZMQ_EVENT_DISCONNECTED;
    *socket = zmq_socket(dealer->context, ZMQ_DEALER);
    *monitor = zmq_socket(dealer->context, ZMQ_PAIR);
    bool good = *socket != NULL && *monitor != NULL && set_options(dealer, *socket, endpoint) &&
                frame_set(*monitor, ZMQ_LINGER, 0) == 0 &&
                zmq_socket_monitor(*socket, monitor_name, events) == 0 &&
                zmq_connect(*monitor, monitor_name) == 0 && zmq_connect(*socket, endpoint->text) == 0;
    if (!good) {
        int error = zmq_errno();
        close_pair(*socket, *monitor);
        errno = error;
    }
    return good;
}

static bool take_endpoints(struct dealer *dealer, const char *const *endpoints, size_t count, char *reason,
                           size_t reason_size)
{
    if (count < 1 || count > SOCKET_ENDPOINTS_MAX) {
        (void)snprintf(reason, reason_size, "%zu endpoints, not 1..%d", count, SOCKET_ENDPOINTS_MAX);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct endpoint *endpoint = &dealer->endpoints[i];
        if (endpoint_parse(endpoints[i], false, endpoint, reason, reason_size) != 0)
            return false;
        bool needed =
            endpoint->kind == ENDPOINT_FAR || (endpoint->kind == ENDPOINT_LOOPBACK && dealer->half_keys);
        if (needed && !dealer->has_keys) {
            (void)snprintf(reason, reason_size,
                           dealer->half_keys
                               ? "%s: key and server_key belong together: set both"
                               : "%s: beyond this machine a connection needs keys: set key and server_key",
                           endpoint->text);
            return false;
        }
    }
    dealer->endpoint_count = count;
    return true;
}

static bool take_keys(struct dealer *dealer, const struct keys *keys, const char *server_key, char *reason,
                      size_t reason_size)
{
    dealer->has_keys = keys != NULL && server_key != NULL;
    dealer->half_keys = (keys == NULL) != (server_key == NULL);
    if (!dealer->has_keys)
        return true;
    uint8_t bytes[32];
    if (strlen(server_key) != KEYS_TEXT - 1 || zmq_z85_decode(bytes, server_key) == NULL) {
        (void)snprintf(reason, reason_size, "server_key is not a public key of 40 letters");
        return false;
    }
    dealer->keys = *keys;
    memcpy(dealer->server_key, server_key, KEYS_TEXT);
    return true;
}

struct dealer *dealer_create(const char *const *endpoints, size_t endpoint_count, const struct keys *keys,
                             const char *server_public_key_z85, char *reason, size_t reason_size)
{
    struct dealer *dealer = calloc(1, sizeof *dealer);
    if (dealer == NULL) {
        (void)snprintf(reason, reason_size, "no memory");
        return NULL;
    }
    dealer->owner = pthread_self();
    dealer->trouble = "";
    if (!take_keys(dealer, keys, server_public_key_z85, reason, reason_size) ||
        !take_endpoints(dealer, endpoints, endpoint_count, reason, reason_size)) {
        dealer_destroy(dealer);
        return NULL;
    }
    dealer->context = zmq_ctx_new();
    dealer->current = endpoint_count - 1; /* so that the first connection is to the first */
    if (dealer->context == NULL || dealer_reconnect(dealer, reason, reason_size) != SOCKET_OK) {
        if (dealer->context == NULL)
            (void)snprintf(reason, reason_size, "no socket: %s", zmq_strerror(zmq_errno()));
        dealer_destroy(dealer);
        return NULL;
    }
    return dealer;
}

void dealer_destroy(struct dealer *dealer)
{
    if (dealer == NULL)
        return;
    close_pair(dealer->socket, dealer->monitor);
    if (dealer->context != NULL)
        while (zmq_ctx_term(dealer->context) != 0 && zmq_errno() == EINTR)
            ;
    keys_wipe(&dealer->keys);
    free(dealer);
}

enum socket_error dealer_reconnect(struct dealer *dealer, char *reason, size_t reason_size)
{
    assert(pthread_equal(dealer->owner, pthread_self()));
    size_t next = (dealer->current + 1) % dealer->endpoint_count;
    const struct endpoint *endpoint = &dealer->endpoints[next];
    static const char *const names[2] = {"inproc://monitor.0", "inproc://monitor.1"};
    void *socket = NULL, *monitor = NULL;
    if (!open_pair(dealer, endpoint, names[dealer->turn], &socket, &monitor)) {
        (void)snprintf(reason, reason_size, "%s: %s", endpoint->text, zmq_strerror(errno));
        return SOCKET_ERROR_ADDRESS;
    }
    if (dealer->socket != NULL)
        (void)frame_set(dealer->socket, ZMQ_LINGER, 0);
    close_pair(dealer->socket, dealer->monitor);
    dealer->socket = socket;
    dealer->monitor = monitor;
    dealer->current = next;
    dealer->turn = 1 - dealer->turn;
    dealer->apart = dealer->waits_to_send = dealer->draining = false;
    return SOCKET_OK;
}

enum socket_error dealer_send(struct dealer *dealer, const struct message *message)
{
    assert(pthread_equal(dealer->owner, pthread_self()));
    enum socket_error error = frame_send(dealer->socket, NULL, 0, message);
    dealer->waits_to_send = error == SOCKET_ERROR_AGAIN;
    return error;
}

static const char *event_trouble(unsigned event)
{
    switch (event) {
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
        return "";
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
        return "the coordinator refused this key: it is not on its list, or it was revoked";
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
        return "what listens there does not speak our protocol, or only one side uses keys";
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        return "the handshake was broken off: is server_key the coordinator's public key?";
    case ZMQ_EVENT_CONNECT_RETRIED:
        return "nobody listens there";
    default:
        return "the connection was lost";
    }
}

/* A refusal is followed by a disconnection and a retry; the refusal says more, so it stays. */
static void note_event(struct dealer *dealer, unsigned event)
{
    dealer->apart = event != ZMQ_EVENT_HANDSHAKE_SUCCEEDED;
    bool told = dealer->trouble[0] != '\0';
    bool weak = event == ZMQ_EVENT_CONNECT_RETRIED || event == ZMQ_EVENT_DISCONNECTED;
    if (!(told && weak))
        dealer->trouble = event_trouble(event);
}

static void read_monitor(struct dealer *dealer)
{
    for (int i = 0; i < EVENTS_AT_ONCE; i++) {
        zmq_msg_t frame;
        (void)zmq_msg_init(&frame);
        uint16_t event = 0;
        bool got = frame_receive(dealer->monitor, &frame) == SOCKET_OK;
        if (got && zmq_msg_size(&frame) >= sizeof event) {
            memcpy(&event, zmq_msg_data(&frame), sizeof event);
            note_event(dealer, event);
        }
        bool more = got && zmq_msg_more(&frame) != 0;
        (void)zmq_msg_close(&frame);
        if (more)
            (void)frame_drain(dealer->monitor);
        if (!got)
            return;
    }
}

enum socket_error dealer_wait(struct dealer *dealer, int wake_fd, int timeout_ms, bool *woken)
{
    assert(pthread_equal(dealer->owner, pthread_self()));
    int64_t deadline = progress_now_ms() + timeout_ms;
    *woken = false;
    for (;;) {
        short wanted = dealer->waits_to_send ? ZMQ_POLLIN | ZMQ_POLLOUT : ZMQ_POLLIN;
        zmq_pollitem_t items[3] = {{.socket = dealer->socket, .events = wanted},
                                   {.socket = dealer->monitor, .events = ZMQ_POLLIN},
                                   {.fd = wake_fd, .events = ZMQ_POLLIN}};
        int64_t left = deadline - progress_now_ms();
        long wait = timeout_ms < 0 ? -1 : left > 0 ? (long)left : 0;
        if (zmq_poll(items, wake_fd >= 0 ? 3 : 2, wait) < 0)
            return zmq_errno() == EINTR ? SOCKET_ERROR_AGAIN : SOCKET_ERROR_SYSTEM;
        if (items[1].revents != 0)
            read_monitor(dealer);
        *woken = wake_fd >= 0 && items[2].revents != 0;
        if ((items[0].revents & ZMQ_POLLIN) != 0)
            return SOCKET_OK;
        bool room = (items[0].revents & ZMQ_POLLOUT) != 0;
        if (room)
            dealer->waits_to_send = false;
        if (room || *woken || wait == 0)
            return SOCKET_ERROR_AGAIN;
    }
}

enum socket_error dealer_receive(struct dealer *dealer, struct message *message, char *reason,
                                 size_t reason_size)
{
    assert(pthread_equal(dealer->owner, pthread_self()));
    memset(message, 0, sizeof *message);
    if (dealer->draining) {
        dealer->draining = !frame_drain(dealer->socket);
        return SOCKET_ERROR_AGAIN;
    }
    zmq_msg_t frame;
    (void)zmq_msg_init(&frame);
    enum socket_error error = frame_receive(dealer->socket, &frame);
    if (error == SOCKET_OK && zmq_msg_more(&frame) != 0) {
        dealer->draining = !frame_drain(dealer->socket);
        (void)snprintf(reason, reason_size, "more than one frame");
        error = SOCKET_ERROR_MALFORMED;
    }
    if (error == SOCKET_OK &&
        message_decode(zmq_msg_data(&frame), zmq_msg_size(&frame), message, reason, reason_size) != 0)
        error = SOCKET_ERROR_MALFORMED;
    (void)zmq_msg_close(&frame);
    return error;
}

const char *dealer_endpoint(const struct dealer *dealer)
{
    return dealer->endpoints[dealer->current].text;
}

const char *dealer_trouble(const struct dealer *dealer)
{
    return dealer->trouble;
}

bool dealer_is_apart(const struct dealer *dealer)
{
    return dealer->apart;
}
