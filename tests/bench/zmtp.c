#include "tests/bench/zmtp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    GREETING = 64,
    FLAG_MORE = 1,
    FLAG_LONG = 2,
    FLAG_COMMAND = 4,
    READ_AT_ONCE = 65536,
    FRAME_MAX = 64 << 20,
};

static int reserve(uint8_t **bytes, size_t *room, size_t needed)
{
    if (needed <= *room)
        return 0;
    size_t larger = *room ? *room : 1024;
    while (larger < needed)
        larger *= 2;
    uint8_t *moved = realloc(*bytes, larger);
    if (!moved)
        return -1;
    *bytes = moved;
    *room = larger;
    return 0;
}

static int queue(struct zmtp *link, const void *bytes, size_t size)
{
    if (link->out_sent == link->out_size)
        link->out_sent = link->out_size = 0;
    if (reserve(&link->out, &link->out_room, link->out_size + size) != 0)
        return -1;
    memcpy(link->out + link->out_size, bytes, size);
    link->out_size += size;
    return 0;
}

static int queue_frame(struct zmtp *link, unsigned flags, const void *bytes, size_t size)
{
    uint8_t head[9] = {(uint8_t)flags, (uint8_t)size};
    size_t head_size = 2;
    if (size > 255) {
        head[0] |= FLAG_LONG;
        for (unsigned i = 0; i < 8; i++)
            head[1 + i] = (uint8_t)((uint64_t)size >> (56 - 8 * i));
        head_size = 9;
    }
    return queue(link, head, head_size) == 0 && queue(link, bytes, size) == 0 ? 0 : -1;
}

static int begin(struct zmtp *link, const char *endpoint)
{
    if (strncmp(endpoint, "ipc://", 6) == 0) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        link->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        snprintf(address.sun_path, sizeof address.sun_path, "%s", endpoint + 6);
        return link->fd < 0 ? -1 : connect(link->fd, (struct sockaddr *)&address, sizeof address);
    }
    struct sockaddr_in address = {.sin_family = AF_INET};
    char host[64];
    unsigned port;
    if (sscanf(endpoint, "tcp://%63[0-9.]:%u", host, &port) != 2 || port > 65535 ||
        inet_pton(AF_INET, host, &address.sin_addr) != 1) {
        errno = EINVAL;
        return -1;
    }
    address.sin_port = htons((uint16_t)port);
    link->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (link->fd < 0)
        return -1;
    int on = 1;
    setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return connect(link->fd, (struct sockaddr *)&address, sizeof address);
}

int zmtp_connect(struct zmtp *link, const char *endpoint)
{
    zmtp_close(link);
    if (begin(link, endpoint) != 0 && errno != EINPROGRESS) {
        int error = errno;
        zmtp_close(link);
        errno = error;
        return -1;
    }
    static const uint8_t greeting[GREETING] = {0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0, 'N', 'U', 'L', 'L'};
    static const char ready[] = "\5READY\13Socket-Type\0\0\0\6DEALER\10Identity\0\0\0";
    return queue(link, greeting, GREETING) == 0 && queue_frame(link, FLAG_COMMAND, ready, sizeof ready) == 0
               ? 0
               : -1;
}

void zmtp_close(struct zmtp *link)
{
    if (link->fd > 0)
        close(link->fd);
    free(link->in);
    free(link->out);
    *link = (struct zmtp){.fd = -1};
}

int zmtp_send(struct zmtp *link, const void *bytes, size_t size)
{
    return queue_frame(link, 0, bytes, size);
}

bool zmtp_wants_to_write(const struct zmtp *link)
{
    return link->out_sent < link->out_size;
}

int zmtp_flush(struct zmtp *link)
{
    while (zmtp_wants_to_write(link)) {
        ssize_t sent =
            send(link->fd, link->out + link->out_sent, link->out_size - link->out_sent, MSG_NOSIGNAL);
        if (sent < 0)
            return errno == EAGAIN || errno == EINTR || errno == ENOTCONN ? 0 : -1;
        link->out_sent += (size_t)sent;
    }
    return 0;
}

int zmtp_fill(struct zmtp *link)
{
    for (;;) {
        if (reserve(&link->in, &link->in_room, link->in_size + 4096) != 0)
            return -1;
        size_t room = link->in_room - link->in_size;
        ssize_t got = recv(link->fd, link->in + link->in_size, room < READ_AT_ONCE ? room : READ_AT_ONCE, 0);
        if (got < 0)
            return errno == EAGAIN || errno == EINTR ? 0 : -1;
        if (got == 0)
            return -1;
        link->in_size += (size_t)got;
    }
}

static void drop(struct zmtp *link, size_t size)
{
    link->in_size -= size;
    memmove(link->in, link->in + size, link->in_size);
}

/* The head of the frame at `from`: its size, 0 when it is not all there. */
static size_t frame_at(const struct zmtp *link, size_t from, size_t *size, bool *broken)
{
    const uint8_t *at = link->in + from;
    size_t there = link->in_size - from;
    size_t head = there > 0 && (at[0] & FLAG_LONG) ? 9 : 2;
    if (there < head)
        return 0;
    uint64_t length = at[1];
    for (unsigned i = 2; i < 9 && head == 9; i++)
        length = length << 8 | at[i];
    if (length > FRAME_MAX) {
        *broken = true;
        return 0;
    }
    *size = (size_t)length;
    return there - head < length ? 0 : head;
}

static void obey(struct zmtp *link, const uint8_t *command, size_t size)
{
    if (size >= 6 && memcmp(command, "\5READY", 6) == 0)
        link->ready = true;
    else if (size >= 7 && memcmp(command, "\4PING", 5) == 0) {
        uint8_t pong[32] = "\4PONG";
        size_t context = size - 7 < 16 ? size - 7 : 16;
        memcpy(pong + 5, command + 7, context);
        queue_frame(link, FLAG_COMMAND, pong, 5 + context);
    }
}

uint8_t *zmtp_next(struct zmtp *link, size_t *size, bool *broken)
{
    *broken = false;
    if (!link->greeted) {
        if (link->in_size < GREETING)
            return NULL;
        link->greeted = true;
        drop(link, GREETING);
    }
    size_t passed = 0, head;
    while ((head = frame_at(link, passed, size, broken)) > 0) {
        const uint8_t *frame = link->in + passed;
        passed += head + *size;
        if (!(frame[0] & FLAG_COMMAND)) {
            uint8_t *message = malloc(*size ? *size : 1);
            if (!message || frame[0] & FLAG_MORE) {
                free(message);
                *broken = true;
                return NULL;
            }
            memcpy(message, frame + head, *size);
            drop(link, passed);
            return message;
        }
        obey(link, frame + head, *size);
    }
    drop(link, passed);
    return NULL;
}
