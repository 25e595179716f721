#include "sql/store_lead.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sql/store_connection.h"

/* Who has the lock, for people. A backend can outlive its coordinator while its commit waits for a standby.
 */
static enum store_error tell_holder(struct store *store)
{
    static const char query[] =
        "select format('another coordinator leads on this database (since %%s, from %%s, backend %%s)%%s', "
        "coalesce(to_char(backend_start, 'YYYY-MM-DD HH24:MI:SS'), 'some time'), "
        "coalesce(host(client_addr), 'this machine'), pid, case when wait_event = 'SyncRep' then "
        "': its commit waits for a standby of synchronous_standby_names' else '' end) "
        "from pg_locks join pg_stat_activity using (pid) where locktype = 'advisory' and classid = %d and "
        "objid = %d and granted and pg_locks.database = (select oid from pg_database where datname = "
        "current_database())";
    char sql[sizeof query + 32];
    PGresult *result;
    snprintf(sql, sizeof sql, query, STORE_ADVISORY, STORE_ADVISORY_LEADER);
    if (store_run(store, sql, NULL, false, &result) != STORE_OK)
        return store_fail(store, STORE_ERROR_LEADER, "another coordinator leads on this database");
    char text[STORE_TEXT] = "another coordinator leads on this database";
    if (PQntuples(result) > 0)
        snprintf(text, sizeof text, "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
    return store_fail(store, STORE_ERROR_LEADER, "%s", text);
}

enum store_error store_lead(struct store *store)
{
    char sql[96];
    snprintf(sql, sizeof sql, "select pg_try_advisory_lock(%d, %d)", STORE_ADVISORY, STORE_ADVISORY_LEADER);
    PGresult *result;
    enum store_error error = store_run(store, sql, NULL, false, &result);
    if (error != STORE_OK)
        return error;
    bool bad = false;
    bool leads = store_cell_bool(result, 0, 0, &bad);
    PQclear(result);
    return leads ? STORE_OK : tell_holder(store);
}

/* Advisory locks can be had on a replica, too, but nothing can be written there. */
static enum store_error refuse_replica(struct store *store)
{
    PGresult *result;
    enum store_error error = store_run(store, "select pg_is_in_recovery()", NULL, false, &result);
    if (error != STORE_OK)
        return error;
    bool bad = false;
    if (store_cell_bool(result, 0, 0, &bad))
        error =
            store_fail(store, STORE_ERROR_LEADER,
                       "this server is a replica: promote it, or name its primary in the connection string");
    PQclear(result);
    return error;
}

static enum store_error bound_silence(struct store *store, uint32_t idle_ms)
{
    char sql[320];
    if (idle_ms < STORE_LEAD_IDLE_MIN_MS)
        idle_ms = STORE_LEAD_IDLE_MIN_MS;
    snprintf(sql, sizeof sql,
             "set idle_session_timeout = %" PRIu32 "; set idle_in_transaction_session_timeout = %" PRIu32
             "; set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 4; "
             "set tcp_user_timeout = 30000",
             idle_ms, idle_ms);
    return store_exec(store, sql, NULL);
}

/* One number of a query's only row. */
static enum store_error read_number(struct store *store, const char *sql,
                                    const struct store_parameters *parameters, uint64_t *out)
{
    PGresult *result;
    enum store_error error = store_run(store, sql, parameters, false, &result);
    if (error != STORE_OK)
        return error;
    bool bad = PQntuples(result) != 1;
    if (!bad)
        *out = store_cell_u64(result, 0, 0, &bad);
    PQclear(result);
    return bad ? store_fail(store, STORE_ERROR_DATA, "table leadership cannot be read") : STORE_OK;
}

static const char timeline_sql[] =
    "select ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint";

enum store_error store_lead_begin(struct store *store, const char *build, uint32_t idle_ms,
                                  struct store_leadership *out)
{
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    struct store_parameters parameters = {0};
    char clean_build[128], clean_host[256];
    store_clean_text(clean_build, sizeof clean_build, build);
    store_clean_text(clean_host, sizeof clean_host, host);
    store_add_text(&parameters, clean_build);
    store_add_text(&parameters, clean_host);
    store_add_i64(&parameters, getpid());
    enum store_error error = refuse_replica(store);
    if (error == STORE_OK)
        error = store_lead(store);
    if (error == STORE_OK)
        error = bound_silence(store, idle_ms);
    if (error == STORE_OK)
        error = read_number(
            store, "insert into kroo.leadership (build, host, process) values ($1, $2, $3) returning epoch",
            &parameters, &out->epoch);
    if (error == STORE_OK)
        error = read_number(store, timeline_sql, NULL, &out->timeline);
    return error;
}

enum store_error store_lead_again(struct store *store, const struct store_leadership *before,
                                  uint32_t idle_ms, bool *lost)
{
    uint64_t epoch = 0, timeline = 0;
    *lost = false;
    enum store_error error = refuse_replica(store);
    if (error == STORE_OK)
        error = read_number(store, "select coalesce(max(epoch), 0) from kroo.leadership", NULL, &epoch);
    if (error == STORE_OK)
        error = read_number(store, timeline_sql, NULL, &timeline);
    if (error != STORE_OK)
        return error;
    *lost = epoch != before->epoch || timeline != before->timeline;
    if (*lost)
        return store_fail(store, STORE_ERROR_LEADER,
                          epoch > before->epoch ? "another coordinator has led since"
                          : timeline != before->timeline
                              ? "the database is on timeline %" PRIu64 " and not on %" PRIu64
                                " any more: a replica was promoted, or a backup restored"
                              : "the database has forgotten who led: a backup was restored",
                          timeline, before->timeline);
    error = store_lead(store);
    /* Between the look and the lock another may have come and gone. */
    if (error == STORE_OK)
        error = read_number(store, "select coalesce(max(epoch), 0) from kroo.leadership", NULL, &epoch);
    if (error == STORE_OK && epoch != before->epoch) {
        *lost = true;
        return store_fail(store, STORE_ERROR_LEADER, "another coordinator has led since");
    }
    return error == STORE_OK ? bound_silence(store, idle_ms) : error;
}

bool store_is_unsafe(struct store *store, char *reason, size_t reason_size)
{
    PGresult *result;
    enum store_error error = store_run(store,
                                       "select name, setting from pg_settings where name in ('fsync', "
                                       "'full_page_writes', 'synchronous_commit') order by name",
                                       NULL, false, &result);
    if (error != STORE_OK) {
        snprintf(reason, reason_size, "the settings cannot be read: %s", store->reason);
        return true;
    }
    bool unsafe = PQntuples(result) != 3;
    if (unsafe)
        snprintf(reason, reason_size, "the settings cannot be read");
    for (int row = 0; row < PQntuples(result) && !unsafe; row++) {
        unsafe = strcmp(PQgetvalue(result, row, 1), "off") == 0;
        if (unsafe)
            snprintf(reason, reason_size,
                     "%s is off: a result could be lost after it was acknowledged; set it on, or say "
                     "--allow-unsafe-database",
                     PQgetvalue(result, row, 0));
    }
    PQclear(result);
    return unsafe;
}
