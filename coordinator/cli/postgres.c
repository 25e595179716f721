#include "coordinator/cli/postgres.h"

#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/cli/args.h"
#include "proto/artifact.h"
#include "proto/progress.h"
#include "sql/store.h"

enum { POSTGRES_START_S = 60, POSTGRES_STOP_S = 60, POSTGRES_RETRY_MS = 30000 };

static const char user_name[] = "kroo";
static const char admin_name[] = "kroo_admin";

/* The newest of Debian's /usr/lib/postgresql/N/bin. */
static int find_programs(struct postgres *postgres)
{
    int best = 0;
    DIR *folder = opendir("/usr/lib/postgresql");
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        char path[300];
        int version = atoi(entry->d_name);
        snprintf(path, sizeof path, "/usr/lib/postgresql/%d/bin/initdb", version);
        if (version > best && access(path, X_OK) == 0)
            best = version;
    }
    if (folder)
        closedir(folder);
    if (best < 15)
        return args_refuse("no PostgreSQL 15 or later in /usr/lib/postgresql: run deploy/setup-debian.sh"),
               -1;
    snprintf(postgres->bin, sizeof postgres->bin, "/usr/lib/postgresql/%d/bin", best);
    return 0;
}

static int find_user(struct postgres *postgres)
{
    if (getuid() != 0)
        return 0;
    const struct passwd *user = getpwnam(user_name);
    if (!user) {
        const char *const command[] = {
            "useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", user_name, NULL};
        daemon_run(command, 0, 0, NULL);
        user = getpwnam(user_name);
    }
    if (!user)
        return args_refuse("PostgreSQL refuses to run as root, and the user %s cannot be made", user_name),
               -1;
    postgres->uid = user->pw_uid;
    postgres->gid = user->pw_gid;
    return 0;
}

int postgres_locate(struct postgres *postgres, const char *dir)
{
    uint8_t hash[ARTIFACT_HASH];
    char hex[ARTIFACT_HEX];
    memset(postgres, 0, sizeof *postgres);
    if (find_programs(postgres) != 0 || find_user(postgres) != 0)
        return -1;
    artifact_hash(dir, strlen(dir), hash);
    artifact_hex(hash, hex);
    if (postgres->uid)
        snprintf(postgres->home, sizeof postgres->home, "/var/lib/kroo/%.16s", hex);
    else
        snprintf(postgres->home, sizeof postgres->home, "%.4000s/postgres", dir);
    if (strlen(postgres->home) < 80)
        snprintf(postgres->socket, sizeof postgres->socket, "%.80s/run", postgres->home);
    else
        snprintf(postgres->socket, sizeof postgres->socket, "/tmp/kroo-%u-%.16s", (unsigned)getuid(), hex);
    snprintf(postgres->conninfo, sizeof postgres->conninfo, "host=%s dbname=kroo user=%s", postgres->socket,
             admin_name);
    return 0;
}

static int make_folder(const struct postgres *postgres, const char *path, mode_t mode)
{
    struct stat status;
    if (mkdir(path, mode) != 0 && errno != EEXIST)
        return args_refuse("folder %s: %s", path, strerror(errno)), -1;
    if (lstat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return args_refuse("%s is no folder", path), -1;
    if (postgres->uid && chown(path, postgres->uid, postgres->gid) != 0)
        return args_refuse("folder %s: %s", path, strerror(errno)), -1;
    if (status.st_uid != geteuid() && status.st_uid != postgres->uid)
        return args_refuse("folder %s belongs to somebody else", path), -1;
    return 0;
}

/* Files without the folder's link are of a folder that was deleted and made again: another checkout's games
 * must not turn up in this one. They are kept beside. */
static int set_aside(const struct postgres *postgres, const char *link)
{
    char aside[DAEMON_PATH + 16];
    struct stat status;
    if (!postgres->uid || lstat(link, &status) == 0 || access(postgres->home, F_OK) != 0)
        return 0;
    if (!postgres_down(postgres))
        return args_refuse("the PostgreSQL of an earlier %s does not stop", link), -1;
    for (int i = 1; i < 10000; i++) {
        snprintf(aside, sizeof aside, "%s.%d", postgres->home, i);
        if (access(aside, F_OK) == 0)
            continue;
        if (rename(postgres->home, aside) != 0)
            return args_refuse("%s: %s", postgres->home, strerror(errno)), -1;
        args_warn("the database of an earlier folder at this path was set aside: %s", aside);
        return 0;
    }
    return args_refuse("too many databases set aside: remove some of %s.*", postgres->home), -1;
}

static int make_folders(const struct postgres *postgres, const char *dir)
{
    char link[DAEMON_PATH + 16];
    snprintf(link, sizeof link, "%s/postgres", dir);
    if (set_aside(postgres, link) != 0)
        return -1;
    if (postgres->uid && mkdir("/var/lib/kroo", 0755) != 0 && errno != EEXIST)
        return args_refuse("folder /var/lib/kroo: %s", strerror(errno)), -1;
    if (make_folder(postgres, postgres->home, 0700) != 0 ||
        make_folder(postgres, postgres->socket, 0700) != 0)
        return -1;
    if (postgres->uid && symlink(postgres->home, link) != 0 && errno != EEXIST)
        return args_refuse("link %s: %s", link, strerror(errno)), -1;
    return 0;
}

static int run_program(const struct postgres *postgres, const char *const *arguments, const char *log)
{
    char program[300];
    const char *command[24];
    size_t count = 0;
    snprintf(program, sizeof program, "%s/%s", postgres->bin, arguments[0]);
    command[count++] = program;
    while (arguments[count] && count < 23) {
        command[count] = arguments[count];
        count++;
    }
    command[count] = NULL;
    return daemon_run(command, postgres->uid, postgres->gid, log);
}

static int configure(const struct postgres *postgres, const char *data)
{
    char path[DAEMON_PATH + 64];
    snprintf(path, sizeof path, "%s/postgresql.conf", data);
    FILE *file = fopen(path, "ae");
    if (!file)
        return args_refuse("%s: %s", path, strerror(errno)), -1;
    fprintf(file,
            "\n# Kroo's private cluster: a socket that only its owner reaches, no port.\n"
            "listen_addresses = ''\nunix_socket_directories = '%s'\nunix_socket_permissions = 0700\n"
            "max_connections = 60\nshared_buffers = 128MB\nmax_wal_size = 2GB\n"
            "dynamic_shared_memory_type = mmap\ncheckpoint_completion_target = 0.9\nwal_compression = "
            "on\nlog_min_messages = warning\n",
            postgres->socket);
    return fclose(file) == 0 ? 0 : -1;
}

/* In files of its own, not in /dev/shm: there the end of a user's last login takes it away from a server that
 * goes on (RemoveIPC of systemd-logind), and containers have little of it. For clusters of before, too. */
static const char own_memory[] = "-c dynamic_shared_memory_type=mmap";

/* Into a temporary name first: an interrupted initdb leaves nothing that looks like a cluster. */
static int make_data(const struct postgres *postgres)
{
    char data[DAEMON_PATH + 16], fresh[DAEMON_PATH + 16], log[DAEMON_PATH + 16];
    snprintf(data, sizeof data, "%s/data", postgres->home);
    snprintf(fresh, sizeof fresh, "%s/data.new", postgres->home);
    snprintf(log, sizeof log, "%s/initdb.log", postgres->home);
    if (access(data, F_OK) == 0)
        return 0;
    const char *const clean[] = {"rm", "-rf", fresh, NULL};
    daemon_run(clean, 0, 0, NULL);
    const char *const initdb[] = {"initdb", "-D", fresh,  "-U",          admin_name,  "-A",
                                  "trust",  "-E", "UTF8", "--no-locale", "--no-sync", NULL};
    if (run_program(postgres, initdb, log) != 0) {
        args_refuse("initdb failed; the end of %s:", log);
        daemon_show_log(log, 8);
        return -1;
    }
    if (configure(postgres, fresh) != 0)
        return -1;
    if (rename(fresh, data) != 0)
        return args_refuse("%s: %s", data, strerror(errno)), -1;
    sync();
    return 0;
}

bool postgres_runs(const struct postgres *postgres)
{
    char data[DAEMON_PATH + 16];
    snprintf(data, sizeof data, "%s/data", postgres->home);
    const char *const status[] = {"pg_ctl", "-D", data, "status", NULL};
    return access(data, F_OK) == 0 && run_program(postgres, status, NULL) == 0;
}

static int start_server(const struct postgres *postgres)
{
    char data[DAEMON_PATH + 16], log[DAEMON_PATH + 16], seconds[16];
    snprintf(data, sizeof data, "%s/data", postgres->home);
    snprintf(log, sizeof log, "%s/log", postgres->home);
    snprintf(seconds, sizeof seconds, "%d", POSTGRES_START_S);
    const char *const start[] = {"pg_ctl", "-D",    data, "-l",       log,     "-w",
                                 "-t",     seconds, "-o", own_memory, "start", NULL};
    return run_program(postgres, start, NULL) == 0 ? 0 : -1;
}

/* The database `kroo`, made when it is not there. */
static int make_database(const struct postgres *postgres, char *reason, size_t reason_size)
{
    char conninfo[160];
    struct store_table table;
    snprintf(conninfo, sizeof conninfo, "host=%s dbname=postgres user=%s", postgres->socket, admin_name);
    struct store *store = store_open(conninfo, NULL, "kroo up", reason, reason_size);
    if (!store)
        return -1;
    enum store_error error =
        store_query(store, "select 1 from pg_database where datname = 'kroo'", NULL, 0, &table);
    bool there = error == STORE_OK && table.rows > 0;
    if (error == STORE_OK)
        store_table_done(&table);
    if (error == STORE_OK && !there) {
        error = store_query(store, "create database kroo", NULL, 0, &table);
        if (error == STORE_OK)
            store_table_done(&table);
    }
    if (error != STORE_OK)
        snprintf(reason, reason_size, "%s", store_reason(store));
    store_close(store);
    return error == STORE_OK ? 0 : -1;
}

/* A server that was killed a moment ago may still look alive, and its children may hold its memory: tried
 * again for a while. */
int postgres_up(struct postgres *postgres, const char *dir, bool *started)
{
    char reason[512] = "it does not start";
    int64_t until = progress_now_ms() + POSTGRES_RETRY_MS;
    *started = false;
    if (make_folders(postgres, dir) != 0 || make_data(postgres) != 0)
        return -1;
    do {
        bool ran = postgres_runs(postgres);
        bool runs = ran || start_server(postgres) == 0;
        *started = *started || (runs && !ran);
        if (runs && make_database(postgres, reason, sizeof reason) == 0)
            return 0;
        daemon_pause();
    } while (progress_now_ms() < until);
    args_refuse("PostgreSQL: %s; the end of %s/log:", reason, postgres->home);
    char log[DAEMON_PATH + 16];
    snprintf(log, sizeof log, "%s/log", postgres->home);
    daemon_show_log(log, 12);
    return -1;
}

bool postgres_down(const struct postgres *postgres)
{
    char data[DAEMON_PATH + 16], seconds[16];
    if (!postgres_runs(postgres))
        return true;
    snprintf(data, sizeof data, "%s/data", postgres->home);
    snprintf(seconds, sizeof seconds, "%d", POSTGRES_STOP_S);
    const char *const stop[] = {"pg_ctl", "-D", data, "-m", "fast", "-w", "-t", seconds, "stop", NULL};
    return run_program(postgres, stop, NULL) == 0;
}
