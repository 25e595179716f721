/* All of ZeroMQ: the coordinator's ROUTER with its ZAP handler, the DEALER of workers and of `kroo`, and a
 * wake-up between threads. Nothing outside proto/ includes zmq.h. A socket belongs to the thread that made
 * it. */
#ifndef KROO_PROTO_SOCKET_H
#define KROO_PROTO_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/keys.h"
#include "proto/message.h"

enum socket_error {
    SOCKET_OK = 0,
    SOCKET_ERROR_AGAIN = -1,   /* nothing there, or the peer's queue is full */
    SOCKET_ERROR_GONE = -2,    /* the peer is not connected any more */
    SOCKET_ERROR_ADDRESS = -3, /* cannot bind or connect; errno text in the reason */
    SOCKET_ERROR_SYSTEM = -4,
    SOCKET_ERROR_MALFORMED = -5, /* a frame that no peer of ours sends; counted and dropped */
    SOCKET_ERROR_KEYS = -6,      /* a TCP endpoint beyond loopback without keys */
};

enum { SOCKET_PEER_MAX = 32, SOCKET_ENDPOINTS_MAX = 8 };

/* A peer for the length of its connection: the ROUTER's routing id plus what ZAP said of it. */
struct socket_peer {
    uint8_t id[SOCKET_PEER_MAX];
    size_t id_size;
    /* The key's z85 text (40 letters); `local` on ipc; `loopback` on loopback TCP when the router has no
     * keys. */
    char user[MESSAGE_NAME_MAX + 16];
};

/* Asked at every handshake, in the caller's own thread (inside router_wait): is this public key listed? */
typedef bool socket_admit(void *context, const char public_key_z85[KEYS_TEXT]);

struct router;

/* Binds every endpoint (`ipc://PATH` inside a 0700 folder, `tcp://HOST:PORT`; port `*` picks one). TCP
 * endpoints are CURVE servers with `keys`; without keys only loopback TCP is allowed, and its peers are
 * anybody on this machine. On failure returns NULL with the reason, which names the endpoint and what to do.
 * `keys` are copied; `admit` may be NULL only without keys. */
struct router *router_create(const char *const *endpoints, size_t endpoint_count, const struct keys *keys,
                             socket_admit *admit, void *context, char *reason, size_t reason_size);
void router_destroy(struct router *router);
/* The address really bound (for port `*`); NULL past the last. */
const char *router_endpoint(const struct router *router, size_t index);

/* Waits until a message, `wake_fd` (-1: none) is readable, or timeout. Handles ZAP inside. Returns SOCKET_OK
 * when router_receive may have something, SOCKET_ERROR_AGAIN otherwise; *woken tells of wake_fd. */
enum socket_error router_wait(struct router *router, int wake_fd, int timeout_ms, bool *woken);
/* Takes one message without blocking: decoded and checked. MALFORMED: `reason` says why, and a refusal can be
 * sent to `peer` (its id_size is 0 when that makes no sense) under message->request. AGAIN may also mean that
 * part of an endless message was dropped: wait and go on. */
enum socket_error router_receive(struct router *router, struct socket_peer *peer, struct message *message,
                                 char *reason, size_t reason_size);
/* Asked for each message before it is decoded: is this peer's next one to be thrown away unread? NULL: none
 * is. Thrown away are at most a few dozen in one call of router_receive, which then says AGAIN. */
typedef bool socket_discard(void *context, const struct socket_peer *peer);
void router_discard_by(struct router *router, socket_discard *discard, void *context);
/* Sends without blocking; AGAIN when the peer's queue is full, GONE when it left, MALFORMED when the message
 * does not fit one frame. */
enum socket_error router_send(struct router *router, const struct socket_peer *peer,
                              const struct message *message);

/* `refused_handshakes`: keys not admitted. `oversized` (part of `malformed`): above MESSAGE_BYTES_MAX; above
 * twice that a peer is disconnected uncounted. */
struct router_counters {
    uint64_t received, sent, malformed, oversized, discarded, refused_handshakes, admitted_handshakes,
        send_again, send_gone;
};
struct router_counters router_counters(const struct router *router);

struct dealer;

/* Connects to one of `endpoints` (tried in turn by dealer_reconnect). `keys` and `server_public_key` may be
 * NULL for ipc and for loopback TCP without keys; both or neither for other TCP. Connecting is asynchronous:
 * only an answer to HELLO proves a connection. Keys are copied. */
struct dealer *dealer_create(const char *const *endpoints, size_t endpoint_count, const struct keys *keys,
                             const char *server_public_key_z85, char *reason, size_t reason_size);
void dealer_destroy(struct dealer *dealer);
/* A new socket to the next endpoint: what is queued in the old one is dropped. */
enum socket_error dealer_reconnect(struct dealer *dealer, char *reason, size_t reason_size);
/* AGAIN until there is a connection, or when the queue is full; the next dealer_wait then also returns
 * (AGAIN) as soon as it is worth another try. */
enum socket_error dealer_send(struct dealer *dealer, const struct message *message);
/* Waits until a message, wake_fd, or timeout, as router_wait. */
enum socket_error dealer_wait(struct dealer *dealer, int wake_fd, int timeout_ms, bool *woken);
enum socket_error dealer_receive(struct dealer *dealer, struct message *message, char *reason,
                                 size_t reason_size);

/* The address now tried or used, and what last went wrong with it in words for people: a refused key, nobody
 * there, ...; empty when a handshake succeeded since. Kept up to date by dealer_wait. */
const char *dealer_endpoint(const struct dealer *dealer);
const char *dealer_trouble(const struct dealer *dealer);
/* The connection broke, or could not be made; libzmq tries again by itself. Kept up to date by dealer_wait.
 */
bool dealer_is_apart(const struct dealer *dealer);

/* A wake-up that any thread may ring and one poll loop waits for (an eventfd). */
int wake_create(void);
void wake_ring(int fd);
void wake_clear(int fd);

#endif
