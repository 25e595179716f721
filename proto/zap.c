#include "proto/zap.h"

#include <stdio.h>
#include <string.h>
#include <zmq.h>

#include "proto/frame.h"

enum {
    QUESTIONS_AT_ONCE = 64, /* then messages have their turn */
    FRAME_TEXT = 256,
    KEY_BYTES = 32,
};

/* The frames of a question, by their place in RFC 27. */
enum frame { VERSION, REQUEST, DOMAIN, ADDRESS, ROUTING_ID, MECHANISM, CREDENTIALS, FRAMES };

struct question {
    size_t count;
    size_t size[FRAMES];
    char frame[FRAMES][FRAME_TEXT]; /* cut to its room; sizes tell the whole */
};

int zap_init(struct zap *zap, void *zmq_context, socket_admit *admit, void *admit_context)
{
    *zap = (struct zap){.admit = admit, .admit_context = admit_context};
    zap->socket = zmq_socket(zmq_context, ZMQ_REP);
    if (zap->socket == NULL)
        return -1;
    int linger = 0;
    (void)zmq_setsockopt(zap->socket, ZMQ_LINGER, &linger, sizeof linger);
    return zmq_bind(zap->socket, "inproc://zeromq.zap.01");
}

void zap_done(struct zap *zap)
{
    if (zap->socket != NULL)
        (void)zmq_close(zap->socket);
    zap->socket = NULL;
}

/* One whole question without waiting; false when none is there. */
static bool receive(struct zap *zap, struct question *question)
{
    memset(question, 0, sizeof *question);
    for (bool more = true; more; question->count++) {
        zmq_msg_t frame;
        (void)zmq_msg_init(&frame);
        if (frame_receive(zap->socket, &frame) != SOCKET_OK) {
            (void)zmq_msg_close(&frame);
            return false;
        }
        if (question->count < FRAMES) {
            size_t size = zmq_msg_size(&frame);
            size_t kept = size < FRAME_TEXT ? size : FRAME_TEXT - 1;
            memcpy(question->frame[question->count], zmq_msg_data(&frame), kept);
            question->size[question->count] = size;
        }
        more = zmq_msg_more(&frame) != 0;
        (void)zmq_msg_close(&frame);
    }
    return true;
}

/* The peer's name into `user`; false refuses it. */
static bool judge(struct zap *zap, const struct question *question, char user[KEYS_TEXT])
{
    const char *domain = question->frame[DOMAIN], *mechanism = question->frame[MECHANISM];
    bool null = question->count == CREDENTIALS && strcmp(mechanism, "NULL") == 0;
    if (null && (strcmp(domain, ZAP_DOMAIN_IPC) == 0 || strcmp(domain, ZAP_DOMAIN_LOOPBACK) == 0)) {
        (void)snprintf(user, KEYS_TEXT, "%s", strcmp(domain, ZAP_DOMAIN_IPC) == 0 ? "local" : "loopback");
        return true;
    }
    bool curve = question->count == FRAMES && strcmp(mechanism, "CURVE") == 0 &&
                 question->size[CREDENTIALS] == KEY_BYTES && strcmp(domain, ZAP_DOMAIN_CURVE) == 0;
    return curve && zmq_z85_encode(user, (const uint8_t *)question->frame[CREDENTIALS], KEY_BYTES) != NULL &&
           zap->admit(zap->admit_context, user);
}

static void answer(struct zap *zap, const struct question *question, bool admitted, const char *user)
{
    const char *text[] = {
        "1.0", NULL, admitted ? "200" : "400", admitted ? "OK" : "not on the list", admitted ? user : "", ""};
    enum { ANSWERS = sizeof text / sizeof *text };
    for (size_t i = 0; i < ANSWERS; i++) {
        int more = i + 1 < ANSWERS ? ZMQ_SNDMORE : 0;
        const char *from = i == REQUEST ? question->frame[REQUEST] : text[i];
        size_t size = i == REQUEST ? question->size[REQUEST] : strlen(from);
        (void)frame_send_part(zap->socket, from, size < FRAME_TEXT ? size : FRAME_TEXT - 1, more);
    }
}

void zap_serve(struct zap *zap)
{
    struct question question;
    for (int i = 0; i < QUESTIONS_AT_ONCE && receive(zap, &question); i++) {
        char user[KEYS_TEXT] = "";
        bool admitted = judge(zap, &question, user);
        *(admitted ? &zap->admitted : &zap->refused) += 1;
        answer(zap, &question, admitted, user);
    }
}
