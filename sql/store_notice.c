#include "sql/store_notice.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql/store_connection.h"

enum store_error store_notice_listen(struct store *store)
{
    return store_exec(store, "set synchronous_commit = local; listen kroo_peer", NULL);
}

/* Takes what has come; *heard is set by a notification and else left as it is. */
static enum store_error take(struct store *store, bool *heard)
{
    if (PQconsumeInput(store->connection) == 0)
        return store_fail(store, STORE_ERROR_CONNECTION, "%s", PQerrorMessage(store->connection));
    for (PGnotify *notice; (notice = PQnotifies(store->connection)) != NULL; PQfreemem(notice))
        *heard = true;
    return STORE_OK;
}

enum store_error store_notice_wait(struct store *store, int wake_fd, int timeout_ms, bool *heard)
{
    *heard = false;
    enum store_error error = take(store, heard); /* what came with the answers of other statements */
    struct pollfd fds[2] = {{.fd = PQsocket(store->connection), .events = POLLIN},
                            {.fd = wake_fd, .events = POLLIN}};
    if (error != STORE_OK || *heard)
        return error;
    int ready = poll(fds, 2, timeout_ms);
    if (ready < 0 && errno != EINTR)
        return store_fail(store, STORE_ERROR_CONNECTION, "poll: %s", strerror(errno));
    return ready > 0 && fds[0].revents != 0 ? take(store, heard) : STORE_OK;
}

static enum store_error one_number(struct store *store, const char *sql, uint64_t *out)
{
    PGresult *result;
    enum store_error error = store_run(store, sql, NULL, false, &result);
    if (error != STORE_OK)
        return error;
    bool bad = PQntuples(result) != 1;
    if (!bad)
        *out = store_cell_u64(result, 0, 0, &bad);
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "table peer_version cannot be read") : STORE_OK;
}

/* The version first: a change between the two only makes the list newer than it says. */
enum store_error store_peers_versioned(struct store *store, struct store_peer **list, size_t *count,
                                       uint64_t *version)
{
    *list = NULL;
    *count = 0;
    enum store_error error = one_number(store, "select version from peer_version", version);
    return error == STORE_OK ? store_peers(store, list, count) : error;
}

enum store_error store_peers_in_force(struct store *store, uint64_t version)
{
    struct store_parameters parameters = {0};
    store_add_u64(&parameters, version);
    return store_run(store, "update peer_version set in_force = $1, in_force_at = now()", &parameters, false,
                     NULL);
}

enum store_error store_peers_lag(struct store *store, uint64_t *lag)
{
    static const char query[] =
        "select case when exists (select from pg_locks where locktype = 'advisory' and classid = %d and "
        "objid = %d and "
        "granted and database = (select oid from pg_database where datname = current_database())) "
        "then version - in_force else 0 end from peer_version";
    char sql[sizeof query + 32];
    snprintf(sql, sizeof sql, query, STORE_ADVISORY, STORE_ADVISORY_LEADER);
    return one_number(store, sql, lag);
}
