/* The coordinator's event loop: one thread that owns the ROUTER, the leases, the schedule and the roster,
 * judges every game, and leaves all writing to the writer. Nothing is acknowledged before its job comes back
 * committed. */
#ifndef KROO_COORDINATOR_SERVER_H
#define KROO_COORDINATOR_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/fitness.h"
#include "proto/keys.h"
#include "proto/socket.h"

struct web_orders;

struct server_options {
    const char *conninfo;
    const char *endpoints[SOCKET_ENDPOINTS_MAX];
    size_t endpoint_count;
    const struct keys *keys; /* NULL: none */
    uint64_t window;         /* pairs beyond the prefix that may be out or waiting */
    uint32_t term_ms, progress_ms;
    struct fitness_policy fitness; /* for timed play */
    bool allow_unsafe;
    uint32_t peer_rate;        /* messages a second of one connection; 0: any number */
    const char *hooks;         /* folder of programs that experiments may name; NULL: none */
    struct web_orders *orders; /* of the web page; NULL: nobody orders there */
    const char *metrics;       /* where to serve metrics over HTTP; NULL: nowhere */
};

enum { SERVER_STOOD_DOWN = 1 };

/* Runs until *stop is set (and `wake` rung), then drains for at most drain_ms. Returns 0, -1 with the reason
 * when it could not start, or SERVER_STOOD_DOWN with the reason when another coordinator has taken the lead
 * or the database is not the one it was: what was known is forgotten, and running again waits for the lead.
 */
int server_run(const struct server_options *options, int wake, atomic_bool *stop, int drain_ms, char *reason,
               size_t reason_size);

#endif
