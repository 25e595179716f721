/* The allow-list in the event loop: from the herald as soon as it changes, from the writer now and then. */
#include <stdlib.h>

#include "coordinator/herald.h"
#include "coordinator/server_parts.h"
#include "proto/log.h"

void server_keys_use(struct server *server, struct store_peer *peers, size_t count, uint64_t version)
{
    if (version < server->peers_version) { /* read before, and slower on its way */
        free(peers);
        return;
    }
    server->peers_version = version;
    allowlist_replace(&server->allowlist, peers, count);
}

void server_keys_take(struct server *server)
{
    struct store_peer *peers;
    size_t count;
    uint64_t version;
    if (!server->herald || !herald_take(server->herald, &peers, &count, &version))
        return;
    server_keys_use(server, peers, count, version);
    herald_in_force(server->herald, server->peers_version);
}

void server_keys_open(struct server *server, int wake)
{
    server->herald = herald_create(server->options.conninfo, wake);
    if (!server->herald)
        log_line(LOG_LEVEL_WARNING, "keys-unheard",
                 "why=\"no thread\" next=\"changed keys are seen within two seconds\"");
}
