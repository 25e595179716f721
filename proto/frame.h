/* What the ROUTER and the DEALER share: the options of a socket, sending and receiving one frame, dropping
 * the rest of a message that has more. Not for use outside proto/. */
#ifndef KROO_PROTO_FRAME_H
#define KROO_PROTO_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zmq.h>

#include "proto/socket.h"

enum {
    FRAME_QUEUE = 64,                       /* messages a peer may have waiting, either way */
    FRAME_WIRE_MAX = 2 * MESSAGE_BYTES_MAX, /* between the two a peer is told; beyond it is cut off */
    FRAME_DRAIN_AT_ONCE = 256,
};

int frame_set(void *socket, int option, int value);
/* Everything both sides set the same. 0, or -1 with errno. */
int frame_set_common(void *socket);
/* Takes one frame without blocking: OK, AGAIN or SYSTEM. */
enum socket_error frame_receive(void *socket, zmq_msg_t *frame);
/* Drops frames up to the end of the message, a bounded number; true when the end was reached. */
bool frame_drain(void *socket);
/* Sends one frame without blocking (`more`: ZMQ_SNDMORE or 0): OK, AGAIN, GONE (unknown peer) or SYSTEM. */
enum socket_error frame_send_part(void *socket, const void *bytes, size_t size, int more);
/* Encodes and sends without blocking: OK, AGAIN, GONE (unknown peer), MALFORMED (cannot be encoded) or
 * SYSTEM. */
enum socket_error frame_send(void *socket, const void *peer, size_t peer_size, const struct message *message);

#endif
