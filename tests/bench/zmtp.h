/* A DEALER's side of ZMTP 3 (mechanism NULL) over a non-blocking stream, so that one thread and one epoll can
 * be ten thousand workers: libzmq takes two descriptors and a thread for each. For loads only; nothing that
 * ships speaks ZeroMQ but through libzmq. */
#ifndef KROO_BENCH_ZMTP_H
#define KROO_BENCH_ZMTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zmtp {
    int fd; /* -1: closed */
    bool ready;
    bool greeted;
    uint8_t *in, *out; /* owned */
    size_t in_size, in_room, out_size, out_room, out_sent;
};

/* Begins to connect to `ipc://PATH` or `tcp://ADDRESS:PORT` and queues the greeting. 0, or -1 with errno. */
int zmtp_connect(struct zmtp *link, const char *endpoint);
void zmtp_close(struct zmtp *link);
/* Queues one message of one frame. */
int zmtp_send(struct zmtp *link, const void *bytes, size_t size);
/* Writes what is queued, as far as it goes. 0, or -1 when the connection is gone. */
int zmtp_flush(struct zmtp *link);
/* Reads what is there. 0, or -1 when the connection is gone. */
int zmtp_fill(struct zmtp *link);
/* The next message of one frame, malloced, and its size. NULL: none yet. Sets *broken when the peer
 * says what a ROUTER does not. Answers heartbeats. */
uint8_t *zmtp_next(struct zmtp *link, size_t *size, bool *broken);
bool zmtp_wants_to_write(const struct zmtp *link);

#endif
