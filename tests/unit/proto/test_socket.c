/* Real sockets: who gets in, who stays outside, and what a good peer notices of it (nothing). */
#include "tests/unit/proto/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <zmq.h>

struct list {
    char key[4][KEYS_TEXT];
    unsigned asked;
};

static bool is_listed(void *context, const char public_key_z85[KEYS_TEXT])
{
    struct list *list = context;
    list->asked++;
    for (size_t i = 0; i < 4; i++)
        if (strcmp(list->key[i], public_key_z85) == 0)
            return true;
    return false;
}

static struct keys new_keys(void)
{
    struct keys keys;
    assert_int_equal(zmq_curve_keypair(keys.public_key, keys.secret_key), 0);
    return keys;
}

static const char *ipc_endpoint(const char *folder)
{
    static char endpoint[128];
    (void)snprintf(endpoint, sizeof endpoint, "ipc://%s/kroo.sock", folder);
    return endpoint;
}

/* --- who gets in --- */

static void test_ipc_peer_is_local(void **state)
{
    (void)state;
    const char *folder = scratch_folder(), *endpoint = ipc_endpoint(folder);
    struct served served = {.router = listen_on(endpoint, NULL, NULL, NULL)};
    struct dealer *dealer = connect_to(endpoint, NULL, NULL);
    greet(&served, dealer, "worker-1");
    assert_string_equal(served.last.user, "local");
    assert_string_equal(served.last_name, "worker-1");
    assert_string_equal(dealer_trouble(dealer), "");
    assert_string_equal(dealer_endpoint(dealer), endpoint);
    struct router_counters counters = router_counters(served.router);
    assert_int_equal(counters.received, 1);
    assert_int_equal(counters.sent, 1);
    assert_int_equal(counters.admitted_handshakes, 1);
    dealer_destroy(dealer);
    router_destroy(served.router);
    scratch_remove(folder);
}

static void test_loopback_without_keys(void **state)
{
    (void)state;
    struct served served = {.router = listen_on("tcp://localhost:*", NULL, NULL, NULL)};
    struct dealer *dealer = connect_to(router_endpoint(served.router, 0), NULL, NULL);
    greet(&served, dealer, "worker-1");
    assert_string_equal(served.last.user, "loopback");
    assert_null(router_endpoint(served.router, 1));
    dealer_destroy(dealer);
    router_destroy(served.router);
}

static void test_listed_key_is_the_user(void **state)
{
    (void)state;
    struct keys server = new_keys(), worker = new_keys();
    struct list list = {.asked = 0};
    memcpy(list.key[2], worker.public_key, KEYS_TEXT);
    struct served served = {.router = listen_on("tcp://127.0.0.1:*", &server, is_listed, &list)};
    struct dealer *dealer = connect_to(router_endpoint(served.router, 0), &worker, server.public_key);
    greet(&served, dealer, "worker-1");
    assert_string_equal(served.last.user, worker.public_key);
    assert_int_equal(list.asked, 1);
    dealer_destroy(dealer);
    router_destroy(served.router);
}

/* An ipc peer stays `local` beside a CURVE endpoint of the same ROUTER, in either order of binding. */
static void test_ipc_beside_curve(void **state)
{
    (void)state;
    struct keys server = new_keys(), worker = new_keys();
    struct list list = {.asked = 0};
    memcpy(list.key[0], worker.public_key, KEYS_TEXT);
    for (int order = 0; order < 2; order++) {
        const char *folder = scratch_folder(), *ipc = ipc_endpoint(folder);
        const char *endpoints[2] = {order == 0 ? ipc : "tcp://127.0.0.1:*",
                                    order == 0 ? "tcp://127.0.0.1:*" : ipc};
        char reason[512] = "";
        struct served served = {
            .router = router_create(endpoints, 2, &server, is_listed, &list, reason, sizeof reason)};
        assert_non_null(served.router);
        struct dealer *near = connect_to(ipc, NULL, NULL);
        greet(&served, near, "near");
        assert_string_equal(served.last.user, "local");
        struct dealer *far =
            connect_to(router_endpoint(served.router, order == 0 ? 1 : 0), &worker, server.public_key);
        greet(&served, far, "far");
        assert_string_equal(served.last.user, worker.public_key);
        dealer_destroy(near);
        dealer_destroy(far);
        router_destroy(served.router);
        scratch_remove(folder);
    }
}

static bool refused_handshake(struct served *served, struct dealer *dealer, bool *sent)
{
    assert_false(try_hello(dealer, sent, "stranger"));
    return router_counters(served->router).refused_handshakes > 0 &&
           strstr(dealer_trouble(dealer), "refused this key");
}

static void test_unlisted_key_gets_nothing(void **state)
{
    (void)state;
    struct keys server = new_keys(), worker = new_keys();
    struct list list = {.asked = 0};
    struct served served = {.router = listen_on("tcp://127.0.0.1:*", &server, is_listed, &list)};
    struct dealer *dealer = connect_to(router_endpoint(served.router, 0), &worker, server.public_key);
    bool sent = false;
    serve_until(&served, refused_handshake(&served, dealer, &sent));
    assert_false(sent);
    assert_int_equal(router_counters(served.router).received, 0);
    assert_int_equal(router_counters(served.router).admitted_handshakes, 0);

    /* Listed later (libzmq#2329: that socket may never come back): a new one gets in. */
    memcpy(list.key[0], worker.public_key, KEYS_TEXT);
    char reason[256] = "";
    assert_int_equal(dealer_reconnect(dealer, reason, sizeof reason), SOCKET_OK);
    greet(&served, dealer, "worker-1");
    assert_string_equal(served.last.user, worker.public_key);
    assert_string_equal(dealer_trouble(dealer), "");
    dealer_destroy(dealer);
    router_destroy(served.router);
}

static void test_revoked_key_stays_out_at_its_next_handshake(void **state)
{
    (void)state;
    struct keys server = new_keys(), worker = new_keys();
    struct list list = {.asked = 0};
    memcpy(list.key[0], worker.public_key, KEYS_TEXT);
    struct served served = {.router = listen_on("tcp://127.0.0.1:*", &server, is_listed, &list)};
    struct dealer *dealer = connect_to(router_endpoint(served.router, 0), &worker, server.public_key);
    greet(&served, dealer, "worker-1");
    memset(&list, 0, sizeof list);
    char reason[256] = "";
    assert_int_equal(dealer_reconnect(dealer, reason, sizeof reason), SOCKET_OK);
    bool sent = false;
    serve_until(&served, refused_handshake(&served, dealer, &sent));
    assert_int_equal(served.hellos, 1);
    dealer_destroy(dealer);
    router_destroy(served.router);
}

/* No keys against a CURVE endpoint, and the wrong server key: neither is ever asked about, nor heard. */
static void test_plain_and_wrong_server_key_stay_out(void **state)
{
    (void)state;
    struct keys server = new_keys(), other = new_keys(), worker = new_keys();
    struct list list = {.asked = 0};
    memcpy(list.key[0], worker.public_key, KEYS_TEXT);
    struct served served = {.router = listen_on("tcp://127.0.0.1:*", &server, is_listed, &list)};
    struct dealer *plain = connect_to(router_endpoint(served.router, 0), NULL, NULL);
    struct dealer *wrong = connect_to(router_endpoint(served.router, 0), &worker, other.public_key);
    bool plain_sent = false, wrong_sent = false;
    serve_until(&served,
                (assert_false(try_hello(plain, &plain_sent, "plain")),
                 assert_false(try_hello(wrong, &wrong_sent, "wrong")), dealer_trouble(plain)[0] != '\0') &&
                    dealer_trouble(wrong)[0] != '\0');
    assert_int_equal(router_counters(served.router).received, 0);
    struct dealer *good = connect_to(router_endpoint(served.router, 0), &worker, server.public_key);
    greet(&served, good, "good");
    assert_int_equal(served.hellos, 1);
    dealer_destroy(plain);
    dealer_destroy(wrong);
    dealer_destroy(good);
    router_destroy(served.router);
}

/* --- what cannot be listened on --- */

static void assert_no_router(const char *endpoint, const struct keys *keys, const char *because)
{
    char reason[512] = "";
    struct list list = {.asked = 0};
    struct router *router = router_create(&endpoint, 1, keys, is_listed, &list, reason, sizeof reason);
    if (router != NULL)
        fail_msg("%s was bound", endpoint);
    if (strstr(reason, because) == NULL)
        fail_msg("the reason is '%s', expected '%s'", reason, because);
}

static void test_refused_endpoints(void **state)
{
    (void)state;
    struct keys keys = new_keys();
    assert_no_router("tcp://0.0.0.0:*", NULL, "no keys");
    assert_no_router("tcp://*:*", NULL, "no keys");
    assert_no_router("tcp://[::]:*", NULL, "no keys");
    assert_no_router("tcp://192.0.2.1:5555", &keys, "no such address");
    assert_no_router("tcp://127.0.0.1", NULL, "HOST:PORT");
    assert_no_router("tcp://127.0.0.1:70000", NULL, "1..65535");
    assert_no_router("tcp://127.0.0.1:0", NULL, "1..65535");
    assert_no_router("tcp://a;b:5555", &keys, "HOST:PORT");
    assert_no_router("udp://127.0.0.1:5555", NULL, "ipc://PATH or tcp://HOST:PORT");
    assert_no_router("", NULL, "ipc://PATH or tcp://HOST:PORT");
    assert_no_router("ipc://", NULL, "path of a file");
    assert_no_router("ipc://@abstract", NULL, "path of a file");
    assert_no_router("ipc:///nonexistent-folder/sock", NULL, "make it with mode 0700");
    const char *open_to_all = scratch_folder();
    char endpoint[128];
    (void)snprintf(endpoint, sizeof endpoint, "ipc://%s/sock", open_to_all);
    assert_int_equal(chmod(open_to_all, 0755), 0);
    assert_no_router(endpoint, NULL, "chmod 0700");
    scratch_remove(open_to_all);
    char deep[300] = "ipc:///tmp/";
    memset(deep + 11, 'x', 120);
    assert_no_router(deep, NULL, "shorter folder");
}

static void test_busy_port_is_named(void **state)
{
    (void)state;
    struct router *router = listen_on("tcp://127.0.0.1:*", NULL, NULL, NULL);
    assert_no_router(router_endpoint(router, 0), NULL, "in use");
    assert_no_router(router_endpoint(router, 0), NULL, router_endpoint(router, 0));
    router_destroy(router);
}

static void test_live_ipc_socket_is_not_taken(void **state)
{
    (void)state;
    const char *folder = scratch_folder(), *endpoint = ipc_endpoint(folder);
    struct served served = {.router = listen_on(endpoint, NULL, NULL, NULL)};
    assert_no_router(endpoint, NULL, "another coordinator listens there");
    struct dealer *dealer = connect_to(endpoint, NULL, NULL);
    greet(&served, dealer, "still-served");
    dealer_destroy(dealer);
    router_destroy(served.router);
    /* And free again afterwards. */
    router_destroy(listen_on(endpoint, NULL, NULL, NULL));
    scratch_remove(folder);
}

/* A listener without our lock (another program) is recognised too; its dead socket file is replaced. */
static void test_foreign_and_stale_ipc_socket(void **state)
{
    (void)state;
    const char *folder = scratch_folder(), *endpoint = ipc_endpoint(folder);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s/kroo.sock", folder);
    int foreign = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(foreign, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(foreign, 1), 0);
    assert_no_router(endpoint, NULL, "another coordinator listens there");
    assert_int_equal(close(foreign), 0);
    assert_int_equal(access(address.sun_path, F_OK), 0);
    struct served served = {.router = listen_on(endpoint, NULL, NULL, NULL)};
    struct dealer *dealer = connect_to(endpoint, NULL, NULL);
    greet(&served, dealer, "worker-1");
    dealer_destroy(dealer);
    router_destroy(served.router);

    int file = open(address.sun_path, O_WRONLY | O_CREAT, 0600);
    assert_true(file >= 0);
    assert_int_equal(close(file), 0);
    assert_no_router(endpoint, NULL, "no socket");
    scratch_remove(folder);
}

static void test_dealer_refusals(void **state)
{
    (void)state;
    char reason[512] = "";
    struct keys keys = new_keys();
    const char *far = "tcp://192.0.2.1:5555", *any = "tcp://*:5555";
    assert_null(dealer_create(&far, 1, NULL, NULL, reason, sizeof reason));
    assert_non_null(strstr(reason, "server_key"));
    assert_null(dealer_create(&far, 1, &keys, NULL, reason, sizeof reason));
    assert_non_null(strstr(reason, "belong together"));
    assert_null(dealer_create(&far, 1, &keys, "too short", reason, sizeof reason));
    assert_non_null(strstr(reason, "40 letters"));
    assert_null(dealer_create(&any, 1, &keys, keys.public_key, reason, sizeof reason));
    const char *near = "tcp://127.0.0.1:5555", *ipc = "ipc:///tmp/kroo-no-such.sock";
    assert_null(dealer_create(&near, 1, NULL, keys.public_key, reason, sizeof reason));
    assert_non_null(strstr(reason, "belong together"));
    struct dealer *dealer = dealer_create(&ipc, 1, NULL, keys.public_key, reason, sizeof reason);
    assert_non_null(dealer); /* a settings file may name the server's key for others; ipc needs none */
    dealer_destroy(dealer);
    assert_null(dealer_create(&far, 0, &keys, keys.public_key, reason, sizeof reason));
}

/* --- bytes of strangers --- */

static int raw_connect(const char *endpoint)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)atoi(strrchr(endpoint, ':') + 1));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    return fd;
}

/* Pours bytes in as far as they are taken; a peer that was cut off is no failure. */
static void raw_pour(int fd, const unsigned char *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t sent = send(fd, bytes + at, size - at, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        at += (size_t)sent;
    }
}

static void pour_strangers(const char *endpoint, int fds[5])
{
    static unsigned char bytes[200000];
    static const unsigned char greeting[] = {0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0};
    static const char get[] = "GET / HTTP/1.1\r\nHost: kroo\r\n\r\n";
    for (int i = 0; i < 5; i++)
        fds[i] = raw_connect(endpoint);
    unsigned state = 12345;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)((state = state * 1103515245u + 12345u) >> 16);
    raw_pour(fds[0], bytes, sizeof bytes);
    raw_pour(fds[1], (const unsigned char *)get, sizeof get - 1);
    raw_pour(fds[2], greeting, sizeof greeting); /* and nothing more */
    memset(bytes, 0xee, sizeof bytes);
    raw_pour(fds[3], bytes, sizeof bytes);
    memset(bytes, 0, sizeof bytes);
    raw_pour(fds[4], bytes, sizeof bytes);
}

static bool is_cut_off(int fd)
{
    char bytes[256];
    ssize_t got = recv(fd, bytes, sizeof bytes, 0);
    return got == 0 || (got < 0 && errno != EAGAIN);
}

static bool round_trip(struct dealer *dealer, unsigned *answers)
{
    bool woken = false;
    struct message ask = {.request = 5, .kind = MESSAGE_STATUS_REQUEST}, answer;
    char reason[256];
    if (*answers == 0 || dealer_wait(dealer, -1, STEP_MS, &woken) == SOCKET_OK) {
        while (dealer_receive(dealer, &answer, reason, sizeof reason) == SOCKET_OK) {
            assert_int_equal(answer.kind, MESSAGE_PROGRESS_ACK);
            assert_int_equal(answer.request, 5);
            message_done(&answer);
            (*answers)++;
        }
        (void)dealer_send(dealer, &ask);
    }
    return *answers >= 50;
}

static void strangers_pour(const struct keys *server, struct list *list, const struct keys *worker)
{
    struct served served = {.router = listen_on("tcp://127.0.0.1:*", server, is_listed, list)};
    const char *endpoint = router_endpoint(served.router, 0);
    struct dealer *dealer = connect_to(endpoint, worker, server != NULL ? server->public_key : NULL);
    greet(&served, dealer, "good");
    int fds[5];
    pour_strangers(endpoint, fds);
    unsigned answers = 0;
    serve_until(&served, round_trip(dealer, &answers));
    struct dealer *late = connect_to(endpoint, worker, server != NULL ? server->public_key : NULL);
    greet(&served, late, "late");
    assert_int_equal(served.malformed, 0);
    assert_int_equal(served.hellos, 2);
    /* Every one of them is cut off, the half greeting when its time for the handshake is over. */
    for (int i = 0; i < 5; i++) {
        serve_until(&served, is_cut_off(fds[i]));
        assert_int_equal(close(fds[i]), 0);
    }
    dealer_destroy(dealer);
    dealer_destroy(late);
    router_destroy(served.router);
}

static void test_random_bytes_do_not_disturb(void **state)
{
    (void)state;
    struct keys server = new_keys(), worker = new_keys();
    struct list list = {.asked = 0};
    memcpy(list.key[0], worker.public_key, KEYS_TEXT);
    strangers_pour(&server, &list, &worker);
    strangers_pour(NULL, &list, NULL);
}

/* --- bytes of peers --- */

/* A peer with libzmq but not with our DEALER. */
struct rough {
    void *context, *socket;
};

static struct rough rough_connect(const char *endpoint, const char *routing_id)
{
    struct rough rough = {.context = zmq_ctx_new()};
    rough.socket = zmq_socket(rough.context, ZMQ_DEALER);
    int linger = 0;
    (void)zmq_setsockopt(rough.socket, ZMQ_LINGER, &linger, sizeof linger);
    if (routing_id != NULL)
        (void)zmq_setsockopt(rough.socket, ZMQ_ROUTING_ID, routing_id, strlen(routing_id));
    assert_int_equal(zmq_connect(rough.socket, endpoint), 0);
    return rough;
}

static void rough_close(struct rough *rough)
{
    (void)zmq_close(rough->socket);
    (void)zmq_ctx_term(rough->context);
}

static bool rough_refused(struct rough *rough, struct message *answer)
{
    char bytes[4096], reason[256];
    int size = zmq_recv(rough->socket, bytes, sizeof bytes, ZMQ_DONTWAIT);
    return size > 0 && message_decode(bytes, (size_t)size, answer, reason, sizeof reason) == 0;
}

static void test_malformed_bodies_are_refused(void **state)
{
    (void)state;
    struct served served = {.router = listen_on("tcp://127.0.0.1:*", NULL, NULL, NULL)};
    struct rough rough = rough_connect(router_endpoint(served.router, 0), NULL);
    static unsigned char big[MESSAGE_BYTES_MAX + 1];
    const struct {
        const void *bytes;
        size_t size;
        const char *because;
    } cases[] = {{"hello?", 6, "not a message"}, {"", 0, "0 bytes"}, {big, sizeof big, "262145 bytes"}};
    for (size_t i = 0; i < 3; i++) {
        struct message answer = {.kind = MESSAGE_NONE};
        assert_int_equal(zmq_send(rough.socket, cases[i].bytes, cases[i].size, 0), (int)cases[i].size);
        serve_until(&served, rough_refused(&rough, &answer));
        assert_int_equal(answer.kind, MESSAGE_REFUSED);
        assert_int_equal(answer.refused.code, MESSAGE_REFUSAL_MALFORMED);
        assert_non_null(strstr(answer.refused.text, cases[i].because));
        message_done(&answer);
    }
    assert_int_equal(router_counters(served.router).malformed, 3);
    assert_int_equal(router_counters(served.router).oversized, 1);
    rough_close(&rough);
    router_destroy(served.router);
}

static void test_message_of_many_frames_is_dropped(void **state)
{
    (void)state;
    struct served served = {.router = listen_on("tcp://127.0.0.1:*", NULL, NULL, NULL)};
    const char *endpoint = router_endpoint(served.router, 0);
    struct rough rough = rough_connect(endpoint, NULL);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(zmq_send(rough.socket, "x", 1, i < 4999 ? ZMQ_SNDMORE : 0), 1);
    struct dealer *good = connect_to(endpoint, NULL, NULL);
    greet(&served, good, "good");
    serve_until(&served, served.malformed == 1);
    /* What follows on the same connection is read from its beginning. */
    struct message hello = hello_message("rough"), answer = {.kind = MESSAGE_NONE};
    void *bytes = NULL;
    size_t size = 0;
    assert_int_equal(message_encode(&hello, &bytes, &size), 0);
    (void)zmq_send(rough.socket, bytes, size, 0);
    free(bytes);
    serve_until(&served, served.hellos == 2);
    serve_until(&served, rough_refused(&rough, &answer) && answer.kind == MESSAGE_WELCOME);
    assert_int_equal(served.malformed, 1);
    dealer_destroy(good);
    rough_close(&rough);
    router_destroy(served.router);
}

static void test_frame_beyond_the_wire_limit_cuts_the_peer_off(void **state)
{
    (void)state;
    struct served served = {.router = listen_on("tcp://127.0.0.1:*", NULL, NULL, NULL)};
    const char *endpoint = router_endpoint(served.router, 0);
    struct rough rough = rough_connect(endpoint, NULL);
    static char huge[4 * MESSAGE_BYTES_MAX];
    assert_true(zmq_send(rough.socket, huge, sizeof huge, 0) > 0);
    struct dealer *good = connect_to(endpoint, NULL, NULL);
    greet(&served, good, "good");
    unsigned answers = 0;
    serve_until(&served, round_trip(good, &answers));
    /* The rough peer was cut off and connected anew: its handshake was counted again. */
    serve_until(&served, router_counters(served.router).admitted_handshakes >= 3);
    assert_int_equal(served.malformed, 0);
    dealer_destroy(good);
    rough_close(&rough);
    router_destroy(served.router);
}

static void test_chosen_routing_id_is_refused(void **state)
{
    (void)state;
    struct served served = {.router = listen_on("tcp://127.0.0.1:*", NULL, NULL, NULL)};
    struct rough rough = rough_connect(router_endpoint(served.router, 0), "me");
    struct message hello = hello_message("rough");
    void *bytes = NULL;
    size_t size = 0;
    assert_int_equal(message_encode(&hello, &bytes, &size), 0);
    assert_int_equal(zmq_send(rough.socket, bytes, size, 0), (int)size);
    free(bytes);
    serve_until(&served, served.malformed == 1);
    assert_int_equal(served.hellos, 0);
    assert_int_equal(served.last.id_size, 0);
    rough_close(&rough);
    router_destroy(served.router);
}

/* --- coming and going --- */

static void test_vanished_peer_is_gone(void **state)
{
    (void)state;
    struct served served = {.router = listen_on("tcp://127.0.0.1:*", NULL, NULL, NULL)};
    struct dealer *dealer = connect_to(router_endpoint(served.router, 0), NULL, NULL);
    greet(&served, dealer, "worker-1");
    struct socket_peer peer = served.last;
    dealer_destroy(dealer);
    struct message message = {.kind = MESSAGE_RELEASE_ACK};
    serve_until(&served, router_send(served.router, &peer, &message) == SOCKET_ERROR_GONE);
    assert_true(router_counters(served.router).send_gone >= 1);
    struct socket_peer nobody = {.id_size = 0};
    assert_int_equal(router_send(served.router, &nobody, &message), SOCKET_ERROR_GONE);
    router_destroy(served.router);
}

/* libzmq#4503: a worker that restarts at once, again and again, is served each time. */
static void test_hundred_restarts(void **state)
{
    (void)state;
    struct served served = {.router = listen_on("tcp://127.0.0.1:*", NULL, NULL, NULL)};
    for (int i = 0; i < 100; i++) {
        struct dealer *dealer = connect_to(router_endpoint(served.router, 0), NULL, NULL);
        greet(&served, dealer, "same-worker");
        dealer_destroy(dealer);
    }
    assert_int_equal(served.hellos, 100);
    router_destroy(served.router);
}

/* The coordinator dies and another starts on the same port; the worker's own socket finds it, and nothing
 * sent in between is lost unseen: it was never taken. */
static void test_restarted_router_is_found_again(void **state)
{
    (void)state;
    struct served served = {.router = listen_on("tcp://127.0.0.1:*", NULL, NULL, NULL)};
    char endpoint[128];
    (void)snprintf(endpoint, sizeof endpoint, "%s", router_endpoint(served.router, 0));
    struct dealer *dealer = connect_to(endpoint, NULL, NULL);
    greet(&served, dealer, "worker-1");
    router_destroy(served.router);
    bool woken = false;
    struct message message = {.kind = MESSAGE_STATUS_REQUEST};
    int64_t deadline = progress_now_ms() + DEADLINE_MS;
    while (dealer_trouble(dealer)[0] == '\0' && progress_now_ms() < deadline)
        (void)dealer_wait(dealer, -1, STEP_MS, &woken);
    assert_string_not_equal(dealer_trouble(dealer), "");
    assert_int_equal(dealer_send(dealer, &message), SOCKET_ERROR_AGAIN);
    served.router = listen_on(endpoint, NULL, NULL, NULL);
    greet(&served, dealer, "worker-1");
    assert_int_equal(served.hellos, 2);
    dealer_destroy(dealer);
    router_destroy(served.router);
}

static void test_reconnect_goes_through_the_endpoints(void **state)
{
    (void)state;
    struct served first = {.router = listen_on("tcp://127.0.0.1:*", NULL, NULL, NULL)};
    struct served second = {.router = listen_on("tcp://127.0.0.1:*", NULL, NULL, NULL)};
    const char *endpoints[2] = {router_endpoint(first.router, 0), router_endpoint(second.router, 0)};
    char reason[256] = "";
    struct dealer *dealer = dealer_create(endpoints, 2, NULL, NULL, reason, sizeof reason);
    assert_non_null(dealer);
    greet(&first, dealer, "worker-1");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(dealer_reconnect(dealer, reason, sizeof reason), SOCKET_OK);
        greet(i % 2 == 0 ? &second : &first, dealer, "worker-1");
    }
    assert_int_equal(first.hellos, 2);
    assert_int_equal(second.hellos, 2);
    dealer_destroy(dealer);
    router_destroy(first.router);
    router_destroy(second.router);
}

/* A peer that does not read fills its own queue only, and the router says AGAIN instead of blocking. */
static void test_slow_reader_gets_again(void **state)
{
    (void)state;
    struct served served = {.router = listen_on("tcp://127.0.0.1:*", NULL, NULL, NULL)};
    struct dealer *slow = connect_to(router_endpoint(served.router, 0), NULL, NULL);
    greet(&served, slow, "slow");
    struct socket_peer peer = served.last;
    static uint8_t content[MESSAGE_CHUNK_MAX];
    struct message chunk = {.kind = MESSAGE_ARTIFACT_CHUNK};
    chunk.artifact_chunk = (struct message_artifact_chunk){
        .size = sizeof content, .content = content, .content_size = sizeof content};
    enum socket_error error = SOCKET_OK;
    for (int i = 0; i < 1000 && error == SOCKET_OK; i++)
        error = router_send(served.router, &peer, &chunk);
    assert_int_equal(error, SOCKET_ERROR_AGAIN);
    assert_int_equal(router_counters(served.router).send_again, 1);
    struct dealer *good = connect_to(router_endpoint(served.router, 0), NULL, NULL);
    greet(&served, good, "good");
    dealer_destroy(slow);
    dealer_destroy(good);
    router_destroy(served.router);
}

static void test_wake_ends_the_wait(void **state)
{
    (void)state;
    int wake = wake_create();
    assert_true(wake >= 0);
    struct router *router = listen_on("tcp://127.0.0.1:*", NULL, NULL, NULL);
    struct dealer *dealer = connect_to(router_endpoint(router, 0), NULL, NULL);
    bool woken = false;
    assert_int_equal(router_wait(router, wake, 0, &woken), SOCKET_ERROR_AGAIN);
    assert_false(woken);
    wake_ring(wake);
    wake_ring(wake);
    assert_int_equal(router_wait(router, wake, DEADLINE_MS, &woken), SOCKET_ERROR_AGAIN);
    assert_true(woken);
    assert_int_equal(dealer_wait(dealer, wake, DEADLINE_MS, &woken), SOCKET_ERROR_AGAIN);
    assert_true(woken);
    wake_clear(wake);
    assert_int_equal(router_wait(router, wake, 0, &woken), SOCKET_ERROR_AGAIN);
    assert_false(woken);
    dealer_destroy(dealer);
    router_destroy(router);
    (void)close(wake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ipc_peer_is_local),
        cmocka_unit_test(test_loopback_without_keys),
        cmocka_unit_test(test_listed_key_is_the_user),
        cmocka_unit_test(test_ipc_beside_curve),
        cmocka_unit_test(test_unlisted_key_gets_nothing),
        cmocka_unit_test(test_revoked_key_stays_out_at_its_next_handshake),
        cmocka_unit_test(test_plain_and_wrong_server_key_stay_out),
        cmocka_unit_test(test_refused_endpoints),
        cmocka_unit_test(test_busy_port_is_named),
        cmocka_unit_test(test_live_ipc_socket_is_not_taken),
        cmocka_unit_test(test_foreign_and_stale_ipc_socket),
        cmocka_unit_test(test_dealer_refusals),
        cmocka_unit_test(test_random_bytes_do_not_disturb),
        cmocka_unit_test(test_malformed_bodies_are_refused),
        cmocka_unit_test(test_message_of_many_frames_is_dropped),
        cmocka_unit_test(test_frame_beyond_the_wire_limit_cuts_the_peer_off),
        cmocka_unit_test(test_chosen_routing_id_is_refused),
        cmocka_unit_test(test_vanished_peer_is_gone),
        cmocka_unit_test(test_hundred_restarts),
        cmocka_unit_test(test_restarted_router_is_found_again),
        cmocka_unit_test(test_reconnect_goes_through_the_endpoints),
        cmocka_unit_test(test_slow_reader_gets_again),
        cmocka_unit_test(test_wake_ends_the_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
