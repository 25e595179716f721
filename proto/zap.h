/* Who may connect (ZeroMQ's RFC 27, ZAP): one REP socket that libzmq asks at every handshake of its context.
 * The domain of an endpoint says what kind it is: `ipc` peers are named local, `loopback` ones loopback, and
 * `curve` ones by their public key, if the caller admits it. Everything else is refused. The thread of the
 * ROUTER. Not for use outside proto/. */
#ifndef KROO_PROTO_ZAP_H
#define KROO_PROTO_ZAP_H

#include <stddef.h>
#include <stdint.h>

#include "proto/socket.h"

#define ZAP_DOMAIN_IPC      "ipc"
#define ZAP_DOMAIN_LOOPBACK "loopback"
#define ZAP_DOMAIN_CURVE    "curve"

struct zap {
    void *socket;
    socket_admit *admit;
    void *admit_context;
    uint64_t admitted, refused;
};

/* Binds the handler; before the first bind of the context's other sockets. 0 or -1 (errno set). */
int zap_init(struct zap *zap, void *zmq_context, socket_admit *admit, void *admit_context);
void zap_done(struct zap *zap);
/* Answers what waits, a bounded number of questions. */
void zap_serve(struct zap *zap);

#endif
