/* `kroo up`, `down`, `sql`, `migrate`: the private cluster of one folder, for daily use, the demo and tests.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "coordinator/captures.h"
#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/daemon.h"
#include "coordinator/cli/postgres.h"
#include "coordinator/cli/sealing.h"
#include "coordinator/cli/table.h"
#include "coordinator/cli/web.h"
#include "proto/artifact.h"
#include "sql/migrate.h"

enum {
    CLUSTER_WORKERS_MAX = 256,
    CLUSTER_START_MS = 30000,
    CLUSTER_DRAIN_MS = 5000, /* what a worker may take to finish; twice that before it is killed */
    CLUSTER_TERM_MS = 15000,
    CLUSTER_PROGRESS_MS = 1000,
};

struct cluster {
    char dir[PATH_MAX - 256]; /* absolute */
    char programs[PATH_MAX - 256];
    char run[120]; /* sockets and pid files: a short path */
    char config[PATH_MAX];
    char endpoint[160];
    char web[WEB_ADDRESS];
    struct postgres postgres;
    int lock;
};

/* --- places --- */

static int make_folder(const char *path, mode_t mode)
{
    if (mkdir(path, mode) != 0 && errno != EEXIST)
        return args_refuse("folder %s: %s", path, strerror(errno)), -1;
    return 0;
}

/* Socket paths have about 100 bytes: a deep checkout's sockets go to /tmp, in a folder of ours alone. */
static void choose_run(struct cluster *cluster)
{
    uint8_t hash[ARTIFACT_HASH];
    char hex[ARTIFACT_HEX];
    if (strlen(cluster->dir) < 70) {
        snprintf(cluster->run, sizeof cluster->run, "%.70s/run", cluster->dir);
        return;
    }
    artifact_hash(cluster->dir, strlen(cluster->dir), hash);
    artifact_hex(hash, hex);
    snprintf(cluster->run, sizeof cluster->run, "/tmp/kroo-run-%u-%.16s", (unsigned)getuid(), hex);
}

static int check_run(const struct cluster *cluster)
{
    struct stat status;
    if (lstat(cluster->run, &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
        (status.st_mode & 077) != 0)
        return args_refuse("%s must be a folder of mode 0700 of your own", cluster->run), -1;
    return 0;
}

/* Finds everything; with `make` creates the folders and takes the lock that keeps two `up` apart. */
static int open_cluster(struct cluster *cluster, const char *dir, bool make)
{
    char path[PATH_MAX];
    memset(cluster, 0, sizeof *cluster);
    cluster->lock = -1;
    if (!dir || !*dir)
        dir = getenv("KROO_DIR") && *getenv("KROO_DIR") ? getenv("KROO_DIR") : "var";
    if (make && make_folder(dir, 0755) != 0)
        return -1;
    ssize_t length = readlink("/proc/self/exe", cluster->programs, sizeof cluster->programs - 1);
    if (length <= 0 || !realpath(dir, path) || strlen(path) >= sizeof cluster->dir)
        return args_refuse("no private cluster in %s: `kroo up --dir %s` makes one", dir, dir), -1;
    *strrchr(cluster->programs, '/') = '\0';
    strcpy(cluster->dir, path);
    choose_run(cluster);
    snprintf(cluster->config, sizeof cluster->config, "%s/kroo.conf", cluster->dir);
    snprintf(cluster->endpoint, sizeof cluster->endpoint, "ipc://%s/coordinator.sock", cluster->run);
    if (postgres_locate(&cluster->postgres, cluster->dir) != 0)
        return -1;
    snprintf(path, sizeof path, "%s/log", cluster->dir);
    if (make && (make_folder(path, 0755) != 0 || make_folder(cluster->run, 0700) != 0))
        return -1;
    if (access(cluster->run, F_OK) != 0)
        return 0; /* nothing was ever started here */
    snprintf(path, sizeof path, "%s/lock", cluster->run);
    cluster->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (cluster->lock < 0 || flock(cluster->lock, LOCK_EX | LOCK_NB) != 0)
        return args_refuse("another `kroo up` or `kroo down` is at work in %s", cluster->dir), -1;
    return check_run(cluster);
}

static void close_cluster(struct cluster *cluster)
{
    if (cluster->lock >= 0)
        close(cluster->lock);
}

static void pid_file(const struct cluster *cluster, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s.pid", cluster->run, name);
}

static void log_file(const struct cluster *cluster, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/log/%s.log", cluster->dir, name);
}

/* --- up --- */

/* The folder's own signing key: what is added here is signed by it, and its workers run nothing else. *fresh:
 * it was made now, so what is there already has no signature. */
static int find_signing_key(const struct cluster *cluster, bool *fresh)
{
    char path[PATH_MAX + 32], reason[PATH_MAX + 512];
    struct seal_key key;
    snprintf(path, sizeof path, "%s/keys", cluster->dir);
    if (make_folder(path, 0700) != 0)
        return -1;
    enum keys_error error = seal_key_generate(path, "cluster", &key, reason, sizeof reason);
    seal_key_wipe(&key);
    *fresh = error == KEYS_OK;
    if (error != KEYS_OK && error != KEYS_ERROR_EXISTS)
        return args_refuse("%s", reason), -1;
    return 0;
}

/* The engines of a cluster that is older than its signing key. */
static int sign_what_is_there(const struct cluster *cluster)
{
    struct args_common common = {.config = cluster->config};
    struct seal_key key;
    size_t count = 0;
    bool has;
    int status = sealing_key(&common, NULL, &key, &has);
    struct store *store =
        status == COMMAND_DONE && has ? connect_as(&common, "kroo_coordinator", &status) : NULL;
    if (store)
        status = sealing_engines(store, &key, NULL, &count);
    store_close(store);
    seal_key_wipe(&key);
    return status;
}

static int write_config(const struct cluster *cluster)
{
    char fresh[PATH_MAX + 8];
    snprintf(fresh, sizeof fresh, "%s.new", cluster->config);
    FILE *file = fopen(fresh, "we");
    if (!file)
        return args_refuse("%s: %s", fresh, strerror(errno)), -1;
    fprintf(file,
            "# Written by `kroo up`: the private cluster of this folder.\n"
            "database = %s\nendpoint = %s\nterm_ms = %d\nprogress_ms = %d\ndrain_ms = %d\n"
            "sign = %s/keys/cluster.sign.key\ntrust = %s/keys/cluster.sign.pub\nweb = %s\n",
            cluster->postgres.conninfo, cluster->endpoint, CLUSTER_TERM_MS, CLUSTER_PROGRESS_MS,
            CLUSTER_DRAIN_MS, cluster->dir, cluster->dir, cluster->web);
    if (fclose(file) != 0 || rename(fresh, cluster->config) != 0)
        return args_refuse("%s: %s", cluster->config, strerror(errno)), -1;
    return 0;
}

static bool coordinator_answers(void *context)
{
    const struct cluster *cluster = context;
    char path[200];
    snprintf(path, sizeof path, "%s", cluster->endpoint + strlen("ipc://"));
    return access(path, F_OK) == 0;
}

/* One HELLO proves it; before that its socket must be there. */
static int await_coordinator(struct cluster *cluster, const char *pids, const char *log)
{
    struct args_common common = {.config = cluster->config};
    int outcome = daemon_await(pids, coordinator_answers, cluster, CLUSTER_START_MS);
    int status = COMMAND_NO_CONNECTION;
    struct settings *settings = outcome == 0 ? connect_settings(&common, &status) : NULL;
    struct coordinator_link *link = settings ? link_open(settings, &status) : NULL;
    if (link) {
        link_close(link);
        settings_destroy(settings);
        return 0;
    }
    settings_destroy(settings);
    args_refuse("the coordinator does not start; the end of %s:", log);
    daemon_show_log(log, 12);
    return -1;
}

static bool somebody_listens(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    bool answered = fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    if (fd >= 0)
        close(fd);
    return answered;
}

static int start_coordinator(struct cluster *cluster)
{
    char program[PATH_MAX], pids[PATH_MAX], log[PATH_MAX];
    pid_file(cluster, "coordinator", pids);
    log_file(cluster, "coordinator", log);
    if (daemon_pid(pids))
        return 0;
    if (somebody_listens(cluster->endpoint + strlen("ipc://")))
        return args_refuse("a coordinator that `kroo up` did not start listens at %s: stop it first",
                           cluster->endpoint),
               -1;
    unlink(cluster->endpoint + strlen("ipc://"));
    snprintf(program, sizeof program, "%s/kroo-coordinator", cluster->programs);
    const char *const command[] = {program, "--config", cluster->config, NULL};
    if (daemon_start(command, log, pids) != 0)
        return -1;
    return await_coordinator(cluster, pids, log);
}

static int start_worker(struct cluster *cluster, int number)
{
    char program[PATH_MAX], pids[PATH_MAX], log[PATH_MAX], name[32], state[PATH_MAX];
    snprintf(name, sizeof name, "worker-%d", number);
    pid_file(cluster, name, pids);
    log_file(cluster, name, log);
    if (daemon_pid(pids))
        return 0;
    snprintf(state, sizeof state, "%s/%s", cluster->dir, name);
    snprintf(program, sizeof program, "%s/kroo-worker", cluster->programs);
    const char *const command[] = {program,   "--config", cluster->config, "--name", name,
                                   "--state", state,      "--slots",       "1",      NULL};
    return daemon_start(command, log, pids);
}

/* Stops workers `first` and above: all asked at once, then waited for. */
static void stop_workers(const struct cluster *cluster, int first)
{
    char name[32], pids[PATH_MAX];
    for (int pass = 0; pass < 2; pass++)
        for (int i = first; i <= CLUSTER_WORKERS_MAX; i++) {
            snprintf(name, sizeof name, "worker-%d", i);
            pid_file(cluster, name, pids);
            if (access(pids, F_OK) != 0)
                continue;
            if (pass == 0)
                daemon_stop_ask(pids);
            else if (!daemon_stop_wait(pids, 2 * CLUSTER_DRAIN_MS))
                args_warn("%s did not stop and was killed: its results are in its spool", name);
        }
}

struct up_request {
    struct args_common common;
    int workers;
    bool database_only;
    const char *web; /* NULL: chosen here */
};

static void choose_web(struct cluster *cluster, const struct up_request *request)
{
    char pids[PATH_MAX];
    pid_file(cluster, "coordinator", pids);
    bool is_running = daemon_pid(pids) != 0;
    web_choose(cluster->dir, cluster->config, is_running, request->web, cluster->web);
    if (is_running && request->web)
        args_warn("the coordinator runs already: --web holds from its next start on");
}

/* Without the extension all but a few queries work, so its failure is no reason to stop. */
static void offer_extension(const char *conninfo)
{
    char reason[512];
    if (migrate_extension(conninfo, reason, sizeof reason) < 0)
        args_warn("the server extension kroo_oware cannot be used: %s", reason);
}

/* Of games that were stored before the database counted them. */
static uint64_t count_captures(const char *conninfo)
{
    char reason[STORE_TEXT];
    uint64_t segments = 0;
    struct store *store = store_open(conninfo, "kroo_owner", "kroo migrate", reason, sizeof reason);
    if (store && captures_catch_up(store, &segments) != STORE_OK)
        snprintf(reason, sizeof reason, "%s", store_reason(store));
    else if (store)
        reason[0] = '\0';
    store_close(store);
    if (reason[0])
        args_warn("captures by ply are not counted yet, the coordinator's start will: %s", reason);
    return segments;
}

static int bring_up(struct cluster *cluster, const struct up_request *request)
{
    bool started, fresh;
    char reason[512];
    if (find_signing_key(cluster, &fresh) != 0)
        return COMMAND_REFUSED;
    if (postgres_up(&cluster->postgres, cluster->dir, &started) != 0)
        return COMMAND_NO_CONNECTION;
    if (migrate_run(cluster->postgres.conninfo, NULL, reason, sizeof reason) < 0)
        return args_refuse("migrations: %s", reason);
    offer_extension(cluster->postgres.conninfo);
    count_captures(cluster->postgres.conninfo);
    choose_web(cluster, request);
    if (write_config(cluster) != 0)
        return COMMAND_REFUSED;
    if (fresh && sign_what_is_there(cluster) != COMMAND_DONE)
        return COMMAND_REFUSED;
    if (request->database_only)
        return COMMAND_DONE;
    if (start_coordinator(cluster) != 0)
        return COMMAND_NO_CONNECTION;
    for (int i = 1; i <= request->workers; i++)
        if (start_worker(cluster, i) != 0)
            return COMMAND_REFUSED;
    stop_workers(cluster, request->workers + 1);
    return COMMAND_DONE;
}

enum { OPTION_WORKERS = 'n', OPTION_DATABASE_ONLY = 0x4000, OPTION_WEB };

static error_t up_parse(int key, char *text, struct argp_state *state)
{
    struct up_request *request = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &request->common;
        return 0;
    case OPTION_WORKERS:
        request->workers = (int)args_number(state, "--workers", text, 0, CLUSTER_WORKERS_MAX);
        return 0;
    case OPTION_DATABASE_ONLY:
        request->database_only = true;
        return 0;
    case OPTION_WEB:
        request->web = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void say_up(const struct cluster *cluster, const struct up_request *request)
{
    char url[WEB_URL];
    web_url(cluster->web, url);
    if (request->common.json) {
        table_json_print(json_pack("{s:s, s:s, s:s, s:s, s:i, s:s}", "dir", cluster->dir, "config",
                                   cluster->config, "database", cluster->postgres.conninfo, "endpoint",
                                   cluster->endpoint, "workers",
                                   request->database_only ? 0 : request->workers, "web", url));
        return;
    }
    printf("up: %d worker%s, settings in %s\n", request->database_only ? 0 : request->workers,
           request->workers == 1 ? "" : "s", cluster->config);
    if (url[0] && !request->database_only)
        printf("page: %s\n", url);
}

int up_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"workers", OPTION_WORKERS, "N", 0, "Workers to have, one play thread each (default: one per core)",
         1},
        {"database-only", OPTION_DATABASE_ONLY, NULL, 0, "Start and migrate the database, nothing else", 1},
        {"web", OPTION_WEB, "ADDRESS:PORT", 0,
         "Where the web page is served; PORT alone: on 127.0.0.1; `off`: nowhere (default: a free port)", 1},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = up_parse,
        .doc = "Start the private cluster of a folder: PostgreSQL (Unix socket, no port), a coordinator "
               "with its web page, workers. "
               "What runs already is left running; the number of workers is made N."
               "\vThe folder is var, or --dir, or KROO_DIR. Logs lie in DIR/log, settings in DIR/kroo.conf. "
               "Run as "
               "root, PostgreSQL's files belong to the user kroo and lie in /var/lib/kroo. `kroo down` stops "
               "everything and keeps the data.\n\nExamples:\n  kroo up\n  kroo up --dir /scratch/farm "
               "--workers 32",
        .children = args_common_children,
    };
    struct up_request request = {.workers = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    struct cluster cluster;
    parse_line(&argp, argc, argv, &request);
    int status = open_cluster(&cluster, request.common.dir, true) == 0 ? bring_up(&cluster, &request)
                                                                       : COMMAND_REFUSED;
    if (status == COMMAND_DONE)
        say_up(&cluster, &request);
    close_cluster(&cluster);
    return status;
}

/* --- down --- */

static error_t down_parse(int key, char *text, struct argp_state *state)
{
    (void)text;
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = state->input;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

int down_command(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = down_parse,
        .doc = "Stop the private cluster of a folder: workers finish and deliver, then the coordinator, then "
               "PostgreSQL. The data stay."
               "\vStopping what does not run is no error.",
        .children = args_common_children,
    };
    struct args_common common = {0};
    struct cluster cluster;
    char pids[PATH_MAX];
    parse_line(&argp, argc, argv, &common);
    if (open_cluster(&cluster, common.dir, false) != 0) {
        close_cluster(&cluster);
        return COMMAND_REFUSED;
    }
    stop_workers(&cluster, 1);
    pid_file(&cluster, "coordinator", pids);
    if (daemon_stop_ask(pids) && !daemon_stop_wait(pids, 2 * CLUSTER_DRAIN_MS))
        args_warn("the coordinator did not stop and was killed: nothing acknowledged is lost");
    bool stopped = postgres_down(&cluster.postgres);
    if (!stopped)
        args_refuse("PostgreSQL does not stop: see %s/log", cluster.postgres.home);
    else if (common.json)
        table_json_print(json_pack("{s:s, s:b}", "dir", cluster.dir, "is_running", false));
    else
        printf("down: nothing of %s runs any more\n", cluster.dir);
    close_cluster(&cluster);
    return stopped ? COMMAND_DONE : COMMAND_REFUSED;
}

/* --- sql and migrate --- */

static const char sql_help[] =
    "Usage: kroo sql [--config FILE] [--dir DIR] [PSQL-ARGUMENT...]\n"
    "Open psql on the cluster's database; what follows is psql's (see psql --help).\n\n"
    "Examples:\n  kroo sql\n  kroo sql -c 'select * from experiment_progress'\n";

int sql_command(int argc, char **argv)
{
    struct args_common common = {0};
    int at = 1;
    for (; at < argc; at++) {
        if (at + 1 < argc && strcmp(argv[at], "--config") == 0)
            common.config = argv[++at];
        else if (at + 1 < argc && strcmp(argv[at], "--dir") == 0)
            common.dir = argv[++at];
        else
            break;
    }
    if (at < argc && strcmp(argv[at], "--help") == 0) {
        fputs(sql_help, stdout);
        return COMMAND_DONE;
    }
    int status;
    struct settings *settings = connect_settings(&common, &status);
    const char *database = settings ? settings_get(settings, "database", NULL) : NULL;
    if (!settings)
        return status;
    if (!database) {
        settings_destroy(settings);
        return args_refuse("no database is set: `kroo up` starts a private cluster, or set KROO_DATABASE"),
               COMMAND_NO_CONNECTION;
    }
    char **command = calloc((size_t)argc + 4, sizeof *command);
    static char psql[] = "psql", dbname[] = "-d";
    if (!command)
        return COMMAND_REFUSED;
    command[0] = psql;
    command[1] = dbname;
    command[2] = strdup(database);
    memcpy(command + 3, argv + at, (size_t)(argc - at) * sizeof *command);
    settings_destroy(settings);
    setenv("PGOPTIONS", "-csearch_path=kroo,public", 0);
    execvp(psql, command);
    free(command);
    return args_refuse("psql: %s (Debian: postgresql-client)", strerror(errno));
}

static void report_migration(const char *name)
{
    printf("applied %s\n", name);
}

int migrate_command(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = down_parse,
        .doc = "Bring the database's schema to this release, as a role that may create roles and schemas."
               "\vEach migration runs in a transaction and is recorded with its sha256; a changed one is "
               "refused. "
               "`kroo up` does this for a private cluster.\n\nExample:\n  KROO_DATABASE='host=db dbname=kroo "
               "user=postgres' kroo migrate",
        .children = args_common_children,
    };
    struct args_common common = {0};
    char reason[512];
    parse_line(&argp, argc, argv, &common);
    int applied = -1, status;
    uint64_t segments = 0;
    struct settings *settings = connect_settings(&common, &status);
    const char *database = settings ? settings_get(settings, "database", NULL) : NULL;
    if (!settings)
        return status;
    if (database)
        applied = migrate_run(database, common.json ? NULL : report_migration, reason, sizeof reason);
    else
        snprintf(reason, sizeof reason, "no database is set");
    if (applied >= 0) {
        offer_extension(database);
        segments = count_captures(database);
    }
    settings_destroy(settings);
    if (applied < 0)
        return args_refuse("migrate: %s", reason);
    if (common.json)
        table_json_print(
            json_pack("{s:i, s:I}", "applied", applied, "captures_segments", (json_int_t)segments));
    else
        printf("%d applied\n", applied);
    if (segments > 0 && !common.json)
        printf("captures counted in %llu segments of games\n", (unsigned long long)segments);
    return COMMAND_DONE;
}
