/* A sick cable: passes bytes between sockets, and does to them what cables do.
 *
 *   build/tests/system/proxy LISTEN TARGET ONE_IN [MODE-FILE]
 *
 * LISTEN and TARGET are paths of unix sockets, or tcp:PORT on this machine (LISTEN tcp:0 picks one and says
 * so). Of the answers that pass after a connection's greeting, one in ONE_IN (0: none) is lost, and the
 * connection with it: a stream cannot lose a message and live. Each loss is a line on standard output.
 * SIGUSR1 hangs up on everybody.
 *
 * MODE-FILE is read again and again; a new mode is a line on standard output, too:
 *
 *   pass          as it should be; what was held back goes on
 *   delay MS      every byte takes so long, either way
 *   throttle N    N bytes a second, each way of each connection
 *   hole          nothing passes, nobody is hung up on: connections are taken and lead nowhere
 *   deaf          questions pass, answers do not
 *   cut           everybody is hung up on, and nobody gets in
 *   reorder       those that connect wait for each other, and the last is let through first */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "engine/mix.h"

enum {
    CONNECTIONS_MAX = 128,
    GREETING_CHUNKS = 6,
    CHUNK_BYTES = 16384,
    CHUNKS_MAX = 32, /* on the way, in one direction of one connection */
    TOGETHER = 3,    /* connections that wait for each other */
    TOGETHER_MS = 1500,
    TICK_MS = 20,
};

enum mode { PASS, DELAY, THROTTLE, HOLE, DEAF, CUT, REORDER };
static const char *const mode_names[] = {"pass", "delay", "throttle", "hole", "deaf", "cut", "reorder"};

struct chunk {
    int64_t due_ms;
    size_t size, sent;
    uint8_t *bytes;
};
struct direction {
    struct chunk chunks[CHUNKS_MAX];
    size_t first, count;
    int64_t free_ms; /* throttled: when the next bytes may go */
    bool ended;
};
static struct connection {
    int near, far; /* far is -1 while it waits to be let through */
    int64_t since_ms;
    unsigned answers;
    struct direction asked, answered;
} * connections[CONNECTIONS_MAX];
static size_t connection_count;

static const char *target, *mode_file;
static enum mode mode;
static unsigned long mode_number;
static unsigned one_in;
static uint64_t bits = 1;
static unsigned losses;
static volatile sig_atomic_t hang_up_all;

static void on_signal(int number)
{
    (void)number;
    hang_up_all = 1;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- sockets --- */

static int open_socket(const char *name, bool listening)
{
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    struct sockaddr_in port = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    bool tcp = strncmp(name, "tcp:", 4) == 0;
    const struct sockaddr *address = tcp ? (struct sockaddr *)&port : (struct sockaddr *)&path;
    socklen_t size = tcp ? sizeof port : sizeof path;
    int fd = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (tcp)
        port.sin_port = htons((uint16_t)atoi(name + 4));
    else
        snprintf(path.sun_path, sizeof path.sun_path, "%s", name);
    if (listening && !tcp)
        unlink(name);
    if (fd >= 0 && (listening ? bind(fd, address, size) != 0 || listen(fd, 128) != 0
                              : connect(fd, address, size) != 0)) {
        close(fd);
        return -1;
    }
    if (fd >= 0 && listening && tcp && getsockname(fd, (struct sockaddr *)&port, &size) == 0)
        printf("listening tcp:%u\n", ntohs(port.sin_port));
    return fd;
}

static void direction_done(struct direction *direction)
{
    while (direction->count > 0) {
        free(direction->chunks[direction->first].bytes);
        direction->first = (direction->first + 1) % CHUNKS_MAX;
        direction->count--;
    }
}

static void hang_up(size_t index)
{
    struct connection *connection = connections[index];
    close(connection->near);
    if (connection->far >= 0)
        close(connection->far);
    direction_done(&connection->asked);
    direction_done(&connection->answered);
    free(connection);
    connections[index] = connections[--connection_count];
}

static void take_caller(int listener)
{
    int near = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct connection *connection =
        near >= 0 && mode != CUT && connection_count < CONNECTIONS_MAX ? calloc(1, sizeof *connection) : NULL;
    if (!connection) {
        if (near >= 0)
            close(near);
        return;
    }
    connection->near = near;
    connection->far = -1;
    connection->since_ms = now_ms();
    connections[connection_count++] = connection;
}

/* From the last that came to the first; false ends the connection. */
static bool let_through(struct connection *connection)
{
    connection->far = open_socket(target, false);
    return connection->far >= 0 && fcntl(connection->far, F_SETFL, O_NONBLOCK) == 0;
}

static void let_through_all(int64_t now)
{
    size_t waiting = 0;
    int64_t oldest = now;
    for (size_t i = 0; i < connection_count; i++)
        if (connections[i]->far < 0) {
            waiting++;
            oldest = connections[i]->since_ms < oldest ? connections[i]->since_ms : oldest;
        }
    if (waiting == 0 || mode == HOLE || (mode == REORDER && waiting < TOGETHER && now - oldest < TOGETHER_MS))
        return;
    if (mode == REORDER)
        printf("reordered %zu\n", waiting);
    for (size_t i = connection_count; i-- > 0;)
        if (connections[i]->far < 0 && !let_through(connections[i]))
            hang_up(i);
}

/* --- bytes --- */

/* False when the connection is lost. */
static bool take(struct connection *connection, bool answer, int64_t now)
{
    struct direction *direction = answer ? &connection->answered : &connection->asked;
    uint8_t *bytes = malloc(CHUNK_BYTES);
    ssize_t size = bytes ? read(answer ? connection->far : connection->near, bytes, CHUNK_BYTES) : -1;
    if (size <= 0) {
        free(bytes);
        direction->ended = size == 0 || (errno != EAGAIN && errno != EINTR);
        return true;
    }
    if (answer && ++connection->answers > GREETING_CHUNKS && one_in > 0) {
        bits = mix(bits, connection->answers);
        if (mix_below(bits, one_in) == 0) {
            printf("lost %u: %zd bytes\n", ++losses, size);
            free(bytes);
            return false;
        }
    }
    struct chunk *chunk = &direction->chunks[(direction->first + direction->count++) % CHUNKS_MAX];
    *chunk = (struct chunk){
        .due_ms = now + (mode == DELAY ? (int64_t)mode_number : 0), .size = (size_t)size, .bytes = bytes};
    return true;
}

/* False when the connection is over. */
static bool give(struct connection *connection, bool answer, int64_t now)
{
    struct direction *direction = answer ? &connection->answered : &connection->asked;
    struct chunk *chunk = &direction->chunks[direction->first];
    size_t size = chunk->size - chunk->sent;
    if (mode == THROTTLE && size > mode_number / 20 + 1)
        size = mode_number / 20 + 1;
    ssize_t sent = send(answer ? connection->near : connection->far, chunk->bytes + chunk->sent, size,
                        MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
    if (mode == THROTTLE)
        direction->free_ms = now + sent * 1000 / (ssize_t)mode_number;
    chunk->sent += (size_t)sent;
    if (chunk->sent == chunk->size) {
        free(chunk->bytes);
        direction->first = (direction->first + 1) % CHUNKS_MAX;
        direction->count--;
    }
    return true;
}

static bool may_take(const struct connection *connection, const struct direction *direction)
{
    return connection->far >= 0 && mode != HOLE && direction->count < CHUNKS_MAX && !direction->ended;
}

static bool may_give(const struct connection *connection, bool answer, int64_t now)
{
    const struct direction *direction = answer ? &connection->answered : &connection->asked;
    return connection->far >= 0 && direction->count > 0 && mode != HOLE && !(answer && mode == DEAF) &&
           direction->chunks[direction->first].due_ms <= now &&
           (mode != THROTTLE || direction->free_ms <= now);
}

static short wanted(const struct connection *connection, bool far, int64_t now)
{
    const struct direction *from = far ? &connection->answered : &connection->asked;
    return (short)((may_take(connection, from) ? POLLIN : 0) |
                   (may_give(connection, !far, now) ? POLLOUT : 0));
}

/* What one end can do now; false when the connection is over. */
static bool tend(struct connection *connection, bool far, short ready, int64_t now)
{
    const struct direction *from = far ? &connection->answered : &connection->asked;
    if ((ready & (POLLIN | POLLHUP | POLLERR)) != 0 && may_take(connection, from) &&
        !take(connection, far, now))
        return false;
    if ((ready & POLLOUT) != 0 && may_give(connection, !far, now) && !give(connection, !far, now))
        return false;
    return !(from->ended && from->count == 0);
}

/* --- the mode --- */

static void read_mode(void)
{
    char text[64] = "", name[32] = "";
    unsigned long number = 0;
    FILE *file = mode_file ? fopen(mode_file, "re") : NULL;
    if (!file)
        return;
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    if (sscanf(text, "%31s %lu", name, &number) < 1)
        return;
    for (size_t i = 0; i < sizeof mode_names / sizeof *mode_names; i++)
        if (strcmp(name, mode_names[i]) == 0 && (mode != (enum mode)i || mode_number != number) &&
            (i != THROTTLE || number > 0)) {
            mode = (enum mode)i;
            mode_number = number;
            printf("mode %s %lu\n", name, number);
        }
}

static void serve(int listener)
{
    struct pollfd polled[1 + 2 * CONNECTIONS_MAX];
    int64_t now = now_ms();
    read_mode();
    if (hang_up_all || mode == CUT)
        while (connection_count > 0)
            hang_up(0);
    hang_up_all = 0;
    let_through_all(now);
    size_t count = connection_count;
    polled[0] = (struct pollfd){.fd = listener, .events = POLLIN};
    for (size_t i = 0; i < count; i++)
        for (int far = 0; far < 2; far++) {
            short events = wanted(connections[i], far, now);
            polled[1 + 2 * i + (size_t)far] = (struct pollfd){.fd = events == 0 ? -1
                                                                    : far       ? connections[i]->far
                                                                                : connections[i]->near,
                                                              .events = events};
        }
    if (poll(polled, 1 + 2 * count, TICK_MS) <= 0)
        return;
    now = now_ms();
    /* From the last to the first: hanging up moves the last into the gap. */
    for (size_t i = count; i-- > 0;)
        if (!tend(connections[i], false, polled[1 + 2 * i].revents, now) ||
            !tend(connections[i], true, polled[2 + 2 * i].revents, now))
            hang_up(i);
    if (polled[0].revents != 0)
        take_caller(listener);
}

int main(int argc, char **argv)
{
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: proxy LISTEN TARGET ONE_IN [MODE-FILE]\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    target = argv[2];
    one_in = (unsigned)atoi(argv[3]);
    mode_file = argv[4];
    int listener = open_socket(argv[1], true);
    if (listener < 0) {
        fprintf(stderr, "proxy: %s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGUSR1, &action, NULL);
    for (;;)
        serve(listener);
}
