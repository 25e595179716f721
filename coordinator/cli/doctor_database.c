/* The database: whether it answers, is of this release, keeps what it acknowledges, and has room. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/cli/doctor.h"
#include "coordinator/cli/table.h"
#include "proto/progress.h"

enum { CLOCK_WARN_MS = 2000, CLOCK_ERROR_MS = 60000, CONNECTIONS_LEFT = 5 };

static const char facts_sql[] =
    "select current_setting('server_version') as version, pg_is_in_recovery() as recovery,"
    " current_setting('default_transaction_read_only') as read_only,"
    " current_setting('server_encoding') as encoding, current_setting('autovacuum') as autovacuum,"
    " current_setting('max_connections')::integer - "
    "current_setting('superuser_reserved_connections')::integer"
    " - (select count(*) from pg_stat_activity where backend_type = 'client backend') as connections,"
    " pg_size_pretty(pg_database_size(current_database())) as size,"
    " round(extract(epoch from clock_timestamp()) * 1000)::bigint as clock,"
    " (select count(*) from pg_extension where extname = 'kroo_oware') as extension,"
    " (select string_agg(r, ', ') from unnest(array['kroo_owner', 'kroo_coordinator', 'kroo_trainer',"
    " 'kroo_reader']) r where not exists (select from pg_roles where rolname = r)) as missing,"
    " (select string_agg(r.rolname, ', ' order by r.rolname) from pg_roles r where r.rolname in"
    " ('kroo_coordinator', 'kroo_trainer') and not pg_has_role(session_user, r.oid, 'member')) as closed,"
    " session_user as login,"
    " (select count(*) from pg_stat_activity where state like 'idle in transaction%' and state_change <"
    " now() - interval '10 minutes' and datname = current_database()) as sleeping";

static void check_clock(struct doctor *doctor, int64_t before_ms, int64_t there_ms)
{
    int64_t after_ms = (int64_t)progress_wall_ms();
    /* The question took time; within it, no difference can be told. */
    int64_t off = there_ms < before_ms ? there_ms - before_ms : there_ms > after_ms ? there_ms - after_ms : 0;
    int64_t size = off < 0 ? -off : off;
    doctor_add(doctor,
               size > CLOCK_ERROR_MS  ? DOCTOR_ERROR
               : size > CLOCK_WARN_MS ? DOCTOR_WARNING
                                      : DOCTOR_OK,
               "clock", "database", "let both machines keep the time: `timedatectl set-ntp true`, or chrony",
               "%lld ms %s ours", (long long)size, off < 0 ? "behind" : "ahead of");
}

static void check_roles(struct doctor *doctor, const struct store_table *facts)
{
    const char *missing = table_named(facts, 0, "missing"), *closed = table_named(facts, 0, "closed");
    if (*missing)
        doctor_add(doctor, DOCTOR_ERROR, "database", "roles",
                   "`kroo migrate`, as a role that may create roles", "not there: %s", missing);
    else if (*closed)
        doctor_add(
            doctor, DOCTOR_WARNING, "database", "roles",
            "`grant kroo_coordinator to USER`, where this user is to run the coordinator or change things",
            "%s may not become %s: only looking works", table_named(facts, 0, "login"), closed);
    else
        doctor_add(doctor, DOCTOR_OK, "database", "roles", "", "all there, and open to %s",
                   table_named(facts, 0, "login"));
}

static void check_writable(struct doctor *doctor, const struct store_table *facts)
{
    if (strcmp(table_named(facts, 0, "recovery"), "t") == 0)
        doctor_add(doctor, DOCTOR_ERROR, "database", "writable",
                   "name the primary in `database`, or promote this one", "this server is a replica");
    else if (strcmp(table_named(facts, 0, "read_only"), "on") == 0)
        doctor_add(doctor, DOCTOR_ERROR, "database", "writable",
                   "`alter database kroo reset default_transaction_read_only`",
                   "default_transaction_read_only is on: nothing can be stored");
    else
        doctor_add(doctor, DOCTOR_OK, "database", "writable", "", "yes, %s stored",
                   table_named(facts, 0, "size"));
}

static void check_facts(struct doctor *doctor, const struct store_table *facts, int64_t before_ms)
{
    double connections = strtod(table_named(facts, 0, "connections"), NULL);
    const char *encoding = table_named(facts, 0, "encoding");
    doctor_add(doctor, DOCTOR_OK, "database", "version", "", "PostgreSQL %s%s",
               table_named(facts, 0, "version"),
               strcmp(table_named(facts, 0, "extension"), "0") == 0
                   ? "; without the extension kroo_oware (`make extension`), which only a few queries need"
                   : ", with the extension kroo_oware");
    check_writable(doctor, facts);
    check_roles(doctor, facts);
    doctor_add(doctor, connections < CONNECTIONS_LEFT ? DOCTOR_WARNING : DOCTOR_OK, "database", "connections",
               "end sessions that are not needed, or raise max_connections", "%.0f free", connections);
    if (strcmp(encoding, "UTF8") != 0)
        doctor_add(doctor, DOCTOR_ERROR, "database", "encoding",
                   "make the database anew with `create database kroo encoding 'UTF8' template template0`",
                   "%s: notes and names are UTF-8", encoding);
    if (strcmp(table_named(facts, 0, "autovacuum"), "on") != 0)
        doctor_add(doctor, DOCTOR_WARNING, "database", "autovacuum",
                   "`alter system set autovacuum = on`, and reload",
                   "off: tables grow without end, queries become slow");
    if (strcmp(table_named(facts, 0, "sleeping"), "0") != 0)
        doctor_add(
            doctor, DOCTOR_WARNING, "database", "sessions",
            "end them: `select pid, query from pg_stat_activity where state like 'idle in transaction%'`",
            "%s sit in a transaction for more than ten minutes and hold what others could use",
            table_named(facts, 0, "sleeping"));
    check_clock(doctor, before_ms, strtoll(table_named(facts, 0, "clock"), NULL, 10));
}

/* As its administrator or the coordinator sees it: settings of durability are open to everybody. */
static void check_durable(struct doctor *doctor)
{
    char reason[STORE_TEXT];
    if (store_is_unsafe(doctor->store, reason, sizeof reason))
        doctor_add(
            doctor, DOCTOR_ERROR, "database", "durability",
            "`alter system reset` fsync, full_page_writes and synchronous_commit (and `alter database`, "
            "`alter role`), then `select pg_reload_conf()`",
            "%s", reason);
    else
        doctor_add(doctor, DOCTOR_OK, "database", "durability", "",
                   "fsync, full_page_writes and synchronous_commit are on");
}

/* Of a server on this machine whose files can be seen. */
static void check_data_disk(struct doctor *doctor)
{
    struct store_table table;
    if (store_query(doctor->store,
                    "select current_setting('data_directory', true) where pg_has_role(session_user, "
                    "'pg_read_all_settings', 'member') and inet_server_addr() is null",
                    NULL, 0, &table) != STORE_OK)
        return;
    if (table.rows == 1 && access(store_cell(&table, 0, 0), F_OK) == 0)
        doctor_check_disk(doctor, "database", "disk", store_cell(&table, 0, 0));
    store_table_done(&table);
}

static void check_schema(struct doctor *doctor)
{
    enum store_error error = store_check_schema(doctor->store);
    if (error == STORE_OK) {
        doctor_add(doctor, DOCTOR_OK, "versions", "schema", "", "that of this release");
        return;
    }
    bool is_newer = strstr(store_reason(doctor->store), "newer") != NULL;
    doctor_add(doctor, DOCTOR_ERROR, "versions", "schema",
               is_newer ? "install the release that the database was migrated to"
                        : "`kroo migrate` (a private cluster: `kroo up`)",
               "%s", store_reason(doctor->store));
}

/* Who looks only is content with a replica, so it is opened as such; then the user's own rights are back. A
 * database that was never migrated has no such role. */
static struct store *open_store(const char *conninfo, char reason[STORE_TEXT])
{
    struct store_table none;
    struct store *store = store_open(conninfo, "kroo_reader", "kroo doctor", reason, STORE_TEXT);
    if (!store)
        return store_open(conninfo, NULL, "kroo doctor", reason, STORE_TEXT);
    if (store_query(store, "reset role", NULL, 0, &none) == STORE_OK)
        store_table_done(&none);
    return store;
}

void doctor_check_database(struct doctor *doctor)
{
    const char *conninfo = settings_get(doctor->settings, "database", NULL);
    char reason[STORE_TEXT];
    struct store_table facts;
    if (!conninfo) {
        doctor_add(doctor, DOCTOR_WARNING, "database", "reachable",
                   "`kroo up` starts a private one; for another set `database` or KROO_DATABASE",
                   "none is set");
        return;
    }
    doctor->store = open_store(conninfo, reason);
    if (!doctor->store) {
        doctor_add(doctor, DOCTOR_ERROR, "database", "reachable",
                   "start it (a private one: `kroo up`), or correct `database` in the settings", "%s",
                   reason);
        return;
    }
    doctor_add(doctor, DOCTOR_OK, "database", "reachable", "", "it answers");
    int64_t before_ms = (int64_t)progress_wall_ms();
    if (store_query(doctor->store, facts_sql, NULL, 0, &facts) == STORE_OK) {
        check_facts(doctor, &facts, before_ms);
        store_table_done(&facts);
    } else {
        doctor_add(doctor, DOCTOR_ERROR, "database", "version", "see the server's log", "%s",
                   store_reason(doctor->store));
    }
    check_durable(doctor);
    check_data_disk(doctor);
    check_schema(doctor);
}
