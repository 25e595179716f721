/* What the socket tests share: a scratch folder, a router that serves while a condition is waited for. */
#ifndef KROO_TESTS_PROTO_SOCKETS_H
#define KROO_TESTS_PROTO_SOCKETS_H

#include "proto/progress.h"
#include "proto/socket.h"
#include "tests/unit/proto/scratch.h"

enum { DEADLINE_MS = 20000, STEP_MS = 5 };

/* Waits for `condition` while the router answers: every HELLO with WELCOME, every other message with an empty
 * PROGRESS_ACK, every malformed one with REFUSED. */
#define serve_until(served, condition)                                                                       \
    do {                                                                                                     \
        int64_t serve_deadline = progress_now_ms() + DEADLINE_MS;                                            \
        while (!(condition)) {                                                                               \
            if (progress_now_ms() > serve_deadline)                                                          \
                fail_msg("%s:%d: waited too long for %s", __FILE__, __LINE__, #condition);                   \
            serve_once(served);                                                                              \
        }                                                                                                    \
    } while (0)

struct served {
    struct router *router;
    struct socket_peer last;
    char last_name[MESSAGE_NAME_MAX];
    unsigned hellos, malformed;
    char last_reason[256];
};

static inline void serve_answer(struct served *served, enum socket_error error, const struct message *message)
{
    struct message answer = {.request = message->request};
    if (error == SOCKET_ERROR_MALFORMED) {
        served->malformed++;
        answer.kind = MESSAGE_REFUSED;
        answer.refused.code = MESSAGE_REFUSAL_MALFORMED;
        (void)snprintf(answer.refused.text, sizeof answer.refused.text, "%s", served->last_reason);
    } else if (message->kind == MESSAGE_HELLO) {
        served->hellos++;
        memcpy(served->last_name, message->hello.name, sizeof served->last_name);
        answer.kind = MESSAGE_WELCOME;
        answer.welcome =
            (struct message_welcome){.session = 7, .protocol = 1, .progress_ms = 1000, .term_ms = 60000};
    } else {
        answer.kind = MESSAGE_PROGRESS_ACK;
    }
    (void)router_send(served->router, &served->last, &answer);
}

static inline void serve_once(struct served *served)
{
    bool woken = false;
    if (router_wait(served->router, -1, STEP_MS, &woken) != SOCKET_OK)
        return;
    for (int i = 0; i < 100; i++) {
        struct message message;
        struct socket_peer peer;
        enum socket_error error =
            router_receive(served->router, &peer, &message, served->last_reason, sizeof served->last_reason);
        if (error != SOCKET_OK && error != SOCKET_ERROR_MALFORMED)
            return;
        served->last = peer;
        serve_answer(served, error, &message);
        message_done(&message);
    }
}

static inline struct message hello_message(const char *name)
{
    struct message message = {.request = 1, .kind = MESSAGE_HELLO};
    message.hello = (struct message_hello){.role = MESSAGE_ROLE_WORKER,
                                           .protocol = 1,
                                           .protocol_min = 1,
                                           .session_nonce = 9,
                                           .slots = 1,
                                           .credit = 8};
    (void)snprintf(message.hello.name, sizeof message.hello.name, "%s", name);
    (void)snprintf(message.hello.engine_build, sizeof message.hello.engine_build, "kroo-engine 1 test");
    return message;
}

/* Sends HELLO as soon as there is a connection; true once WELCOME came back. */
static inline bool try_hello(struct dealer *dealer, bool *sent, const char *name)
{
    struct message message = hello_message(name);
    bool woken = false;
    if (!*sent)
        *sent = dealer_send(dealer, &message) == SOCKET_OK;
    if (dealer_wait(dealer, -1, STEP_MS, &woken) != SOCKET_OK)
        return false;
    char reason[256] = "";
    struct message answer;
    bool good = dealer_receive(dealer, &answer, reason, sizeof reason) == SOCKET_OK &&
                answer.kind == MESSAGE_WELCOME && answer.request == 1;
    message_done(&answer);
    return good;
}

static inline void greet(struct served *served, struct dealer *dealer, const char *name)
{
    bool sent = false;
    serve_until(served, try_hello(dealer, &sent, name));
}

static inline struct router *listen_on(const char *endpoint, const struct keys *keys, socket_admit *admit,
                                       void *context)
{
    char reason[512] = "";
    struct router *router = router_create(&endpoint, 1, keys, admit, context, reason, sizeof reason);
    if (router == NULL)
        fail_msg("%s", reason);
    return router;
}

static inline struct dealer *connect_to(const char *endpoint, const struct keys *keys, const char *server_key)
{
    char reason[512] = "";
    struct dealer *dealer = dealer_create(&endpoint, 1, keys, server_key, reason, sizeof reason);
    if (dealer == NULL)
        fail_msg("%s", reason);
    return dealer;
}

#endif
