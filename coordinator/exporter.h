/* Serves /metrics, /healthz and /readyz over HTTP from a thread of its own, out of the latest snapshot that
 * the event loop handed over. Reads only: GET and HEAD. What it takes from strangers is bounded: connections,
 * bytes of a request, and the time it may take. exporter_publish may be called from one thread and never
 * waits. */
#ifndef KROO_COORDINATOR_EXPORTER_H
#define KROO_COORDINATOR_EXPORTER_H

#include "coordinator/metrics.h"

enum {
    EXPORTER_CONNECTIONS = 512, /* at once */
    EXPORTER_SILENT_S = 5,      /* a connection that says nothing for so long is closed */
    EXPORTER_REQUEST_BYTES = 16384,
    EXPORTER_STALE_MS = 15000, /* an event loop without a turn for so long hangs: /healthz says so */
};

struct exporter;

/* Listens on ADDRESS:PORT, [ADDRESS]:PORT, or PORT of the loopback address; 0 takes any free port. NULL with
 * the reason. */
struct exporter *exporter_create(const char *address, char *reason, size_t reason_size);
/* Takes NULL, as the others here do. */
void exporter_destroy(struct exporter *exporter);
/* The port it listens on. */
unsigned exporter_port(const struct exporter *exporter);
/* Copies the snapshot; when a scrape is copying at this moment it is left out: the next one is near. */
void exporter_publish(struct exporter *exporter, const struct metrics *metrics);

#endif
