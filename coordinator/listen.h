/* Addresses as settings give them, and sockets that listen on them: for what the coordinator serves over
 * HTTP. No state; any thread. */
#ifndef KROO_COORDINATOR_LISTEN_H
#define KROO_COORDINATOR_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum { LISTEN_HOST = 256 };

struct listen_address {
    char host[LISTEN_HOST]; /* as it was written, without brackets */
    struct sockaddr_storage name;
    socklen_t size;
    int family;
};

enum listen_error { LISTEN_WRONG = -1, LISTEN_TAKEN = -2, LISTEN_REFUSED = -3 };

/* ADDRESS:PORT, [ADDRESS]:PORT, or PORT of the loopback address. 0, or LISTEN_WRONG with a reason that names
 * the setting `what`. */
int listen_resolve(const char *what, const char *text, struct listen_address *out, char *reason,
                   size_t reason_size);
/* A descriptor that listens, or a negative listen_error with the reason; LISTEN_TAKEN when something else
 * listens there. */
int listen_open(const char *what, const struct listen_address *address, int backlog, char *reason,
                size_t reason_size);
/* Nobody beyond this machine reaches it. */
bool listen_is_loopback(const struct listen_address *address);
/* The port that a descriptor listens on; 0 when it does not. */
unsigned listen_port(int fd);

#endif
