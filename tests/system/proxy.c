/* A sick cable: passes bytes between unix sockets, and now and then loses what the far end said and hangs up.
 * A stream cannot lose a message and live, so this is how an acknowledgement gets lost: sent, never received,
 * and the connection is gone.
 *
 *   build/tests/system/proxy LISTEN TARGET ONE_IN
 *
 * Of the answers that pass after a connection's greeting, one in ONE_IN (0: none) is lost. Each loss is a
 * line on standard output. SIGUSR1 hangs up on everybody. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/mix.h"

enum { CONNECTIONS_MAX = 128, GREETING_CHUNKS = 6 };

static struct connection {
    int near, far;
    unsigned answers;
} connections[CONNECTIONS_MAX];
static size_t connection_count;
static uint64_t bits = 1;
static unsigned losses;
static volatile sig_atomic_t hang_up_all;

static void on_signal(int number)
{
    (void)number;
    hang_up_all = 1;
}

static int open_socket(const char *path, bool listening)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (listening)
        unlink(path);
    if (fd >= 0 &&
        (listening ? bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 64) != 0
                   : connect(fd, (struct sockaddr *)&address, sizeof address) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

static void hang_up(size_t index)
{
    close(connections[index].near);
    close(connections[index].far);
    connections[index] = connections[--connection_count];
}

static void take_caller(int listener, const char *target)
{
    int near = accept(listener, NULL, NULL);
    int far = near >= 0 && connection_count < CONNECTIONS_MAX ? open_socket(target, false) : -1;
    if (far < 0) {
        if (near >= 0)
            close(near);
        return;
    }
    connections[connection_count++] = (struct connection){near, far, 0};
}

static bool write_all(int fd, const char *bytes, ssize_t size)
{
    for (ssize_t done = 0; done < size;) {
        ssize_t wrote = send(fd, bytes + done, (size_t)(size - done), MSG_NOSIGNAL);
        if (wrote <= 0)
            return false;
        done += wrote;
    }
    return true;
}

/* One chunk; false when the connection is over. */
static bool pass(struct connection *connection, bool answer, unsigned one_in)
{
    char bytes[65536];
    ssize_t size = read(answer ? connection->far : connection->near, bytes, sizeof bytes);
    if (size <= 0)
        return false;
    if (answer && ++connection->answers > GREETING_CHUNKS && one_in > 0) {
        bits = mix(bits, connection->answers);
        if (mix_below(bits, one_in) == 0) {
            printf("lost %u: %zd bytes\n", ++losses, size);
            return false;
        }
    }
    return write_all(answer ? connection->near : connection->far, bytes, size);
}

static void serve(int listener, const char *target, unsigned one_in)
{
    struct pollfd polled[1 + 2 * CONNECTIONS_MAX];
    size_t count = connection_count;
    polled[0] = (struct pollfd){.fd = listener, .events = POLLIN};
    for (size_t i = 0; i < count; i++) {
        polled[1 + 2 * i] = (struct pollfd){.fd = connections[i].near, .events = POLLIN};
        polled[2 + 2 * i] = (struct pollfd){.fd = connections[i].far, .events = POLLIN};
    }
    int ready = poll(polled, 1 + 2 * count, -1);
    if (hang_up_all) {
        hang_up_all = 0;
        while (connection_count > 0)
            hang_up(0);
        return;
    }
    /* From the last to the first: hanging up moves the last into the gap. */
    for (size_t i = count; ready > 0 && i-- > 0;) {
        bool alive = true;
        if (polled[1 + 2 * i].revents != 0)
            alive = pass(&connections[i], false, one_in);
        if (alive && polled[2 + 2 * i].revents != 0)
            alive = pass(&connections[i], true, one_in);
        if (!alive)
            hang_up(i);
    }
    if (ready > 0 && polled[0].revents != 0)
        take_caller(listener, target);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: proxy LISTEN TARGET ONE_IN\n");
        return 2;
    }
    int listener = open_socket(argv[1], true);
    if (listener < 0) {
        fprintf(stderr, "proxy: %s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGUSR1, &action, NULL);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (;;)
        serve(listener, argv[2], (unsigned)atoi(argv[3]));
}
