/* Addresses that sockets bind and connect to: what kind they are, and whether an ipc path may be taken.
 * Not for use outside proto/. Any thread. */
#ifndef KROO_PROTO_ENDPOINT_H
#define KROO_PROTO_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>

enum {
    ENDPOINT_TEXT = 256,
    ENDPOINT_PATH_MAX = 107, /* what the kernel's sockaddr_un holds before its NUL */
};

enum endpoint_kind {
    ENDPOINT_IPC,      /* a socket file: whoever may enter its folder may connect */
    ENDPOINT_LOOPBACK, /* TCP that cannot leave this machine */
    ENDPOINT_FAR,      /* TCP that can */
};

struct endpoint {
    enum endpoint_kind kind;
    char text[ENDPOINT_TEXT]; /* as libzmq takes it */
    bool six;                 /* an IPv6 literal */
};

/* Reads `ipc://PATH` or `tcp://HOST:PORT`. `listening` allows `*` for host and port. Returns 0, or -1 with a
 * reason that names the address. */
int endpoint_parse(const char *text, bool listening, struct endpoint *out, char *reason, size_t reason_size);

/* Before an ipc bind: the folder must be ours alone (0700), and nobody may listen there. libzmq unlinks
 * whatever lies at the path, so a live coordinator's socket would be taken from it. Holds PATH.lock until the
 * returned descriptor is closed. -1 with a reason. */
int endpoint_claim(const struct endpoint *endpoint, char *reason, size_t reason_size);

#endif
