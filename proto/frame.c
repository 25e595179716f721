#include "proto/frame.h"

#include <errno.h>
#include <stdlib.h>

int frame_set(void *socket, int option, int value)
{
    return zmq_setsockopt(socket, option, &value, sizeof value);
}

int frame_set_common(void *socket)
{
    static const struct {
        int option, value;
    } options[] = {
        {ZMQ_SNDHWM, FRAME_QUEUE},
        {ZMQ_RCVHWM, FRAME_QUEUE},
        {ZMQ_HANDSHAKE_IVL, 5000},
        {ZMQ_TCP_MAXRT, 30000}, /* a powered-off peer with data on its way */
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (frame_set(socket, options[i].option, options[i].value) != 0)
            return -1;
    int64_t wire_max = FRAME_WIRE_MAX;
    return zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &wire_max, sizeof wire_max);
}

/* A signal must not part the frames of one message: the next frame would be taken for the first of another.
 */
enum socket_error frame_receive(void *socket, zmq_msg_t *frame)
{
    int got;
    do
        got = zmq_msg_recv(frame, socket, ZMQ_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got >= 0)
        return SOCKET_OK;
    return errno == EAGAIN ? SOCKET_ERROR_AGAIN : SOCKET_ERROR_SYSTEM;
}

bool frame_drain(void *socket)
{
    for (int i = 0; i < FRAME_DRAIN_AT_ONCE; i++) {
        zmq_msg_t frame;
        (void)zmq_msg_init(&frame);
        bool got = frame_receive(socket, &frame) == SOCKET_OK;
        bool more = got && zmq_msg_more(&frame) != 0;
        (void)zmq_msg_close(&frame);
        if (!more)
            return true;
    }
    return false;
}

enum socket_error frame_send_part(void *socket, const void *bytes, size_t size, int flags)
{
    int sent;
    do
        sent = zmq_send(socket, bytes, size, ZMQ_DONTWAIT | flags);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0)
        return SOCKET_OK;
    return errno == EAGAIN         ? SOCKET_ERROR_AGAIN
           : errno == EHOSTUNREACH ? SOCKET_ERROR_GONE
                                   : SOCKET_ERROR_SYSTEM;
}

enum socket_error frame_send(void *socket, const void *peer, size_t peer_size, const struct message *message)
{
    void *bytes = NULL;
    size_t size = 0;
    if (message_encode(message, &bytes, &size) != 0)
        return SOCKET_ERROR_MALFORMED;
    enum socket_error error = SOCKET_OK;
    if (peer != NULL)
        error = frame_send_part(socket, peer, peer_size, ZMQ_SNDMORE);
    if (error == SOCKET_OK)
        error = frame_send_part(socket, bytes, size, 0);
    free(bytes);
    return error;
}
