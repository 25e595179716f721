/* kroo-coordinator: options and signals; the work is in server.c. */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "coordinator/ration.h"
#include "coordinator/server.h"
#include "coordinator/tally.h"
#include "coordinator/web.h"
#include "engine/build.h"
#include "proto/log.h"
#include "proto/notify.h"
#include "proto/settings.h"

enum { EXIT_REFUSED = 1, EXIT_USAGE = 2, DESCRIPTORS_WANTED = 20000 };

static atomic_bool stop;
static int wake = -1;

static void on_signal(int number)
{
    (void)number;
    atomic_store(&stop, true);
    wake_ring(wake);
}

enum {
    OPTION_UNSAFE = 256,
    OPTION_TERM,
    OPTION_PROGRESS,
    OPTION_WINDOW,
    OPTION_DRAIN,
    OPTION_LOG,
    OPTION_KEY,
    OPTION_HOOKS,
    OPTION_METRICS,
    OPTION_FORMAT,
    OPTION_WEB,
    OPTION_WEB_TOKEN
};

static const struct argp_option options[] = {
    {"config", 'c', "FILE", 0, "settings file (also KROO_CONFIG)", 0},
    {"database", 'd', "CONNINFO", 0, "PostgreSQL connection string", 0},
    {"endpoint", 'e', "LIST", 0, "where to listen: ipc://PATH, tcp://HOST:PORT, comma separated", 0},
    {"key", OPTION_KEY, "FILE", 0, "secret key file made by `kroo key new`; needed beyond loopback", 0},
    {"term-ms", OPTION_TERM, "MS", 0, "a lease without progress lapses after this (60000)", 0},
    {"progress-ms", OPTION_PROGRESS, "MS", 0, "workers report at least this often (5000)", 0},
    {"window", OPTION_WINDOW, "PAIRS", 0, "pairs that may be out beyond the counted prefix (1048576)", 0},
    {"drain-ms", OPTION_DRAIN, "MS", 0, "on SIGTERM commit what is queued for at most this long (5000)", 0},
    {"hooks", OPTION_HOOKS, "DIR", 0, "folder of programs that experiments may have run when they end (none)",
     0},
    {"metrics", OPTION_METRICS, "ADDRESS:PORT", 0,
     "serve /metrics for Prometheus, /healthz and /readyz there; PORT alone: on 127.0.0.1 (off)", 0},
    {"web", OPTION_WEB, "ADDRESS:PORT", 0,
     "serve the web page there; PORT alone: on 127.0.0.1; other addresses need the setting web_hosts (off)",
     0},
    {"web-token", OPTION_WEB_TOKEN, "FILE", 0,
     "operators who may pause, resume and stop experiments there: lines `NAME TOKEN`, mode 0600 (nobody)", 0},
    {"log-level", OPTION_LOG, "LEVEL", 0, "debug, info, warning or error (info)", 0},
    {"log-format", OPTION_FORMAT, "FORMAT", 0, "text or json, one object a line (text)", 0},
    {"allow-unsafe-database", OPTION_UNSAFE, NULL, 0,
     "accept fsync, full_page_writes or synchronous_commit off", 0},
    {0},
};

struct arguments {
    const char *config;
    bool allow_unsafe;
    struct setting {
        const char *name, *value;
    } given[16];
    size_t given_count;
};

static void give(struct arguments *arguments, const char *name, const char *value)
{
    if (arguments->given_count < sizeof arguments->given / sizeof arguments->given[0])
        arguments->given[arguments->given_count++] = (struct setting){name, value};
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 'c':
        arguments->config = value;
        return 0;
    case 'd':
        give(arguments, "database", value);
        return 0;
    case 'e':
        give(arguments, "endpoint", value);
        return 0;
    case OPTION_KEY:
        give(arguments, "key", value);
        return 0;
    case OPTION_HOOKS:
        give(arguments, "hooks", value);
        return 0;
    case OPTION_METRICS:
        give(arguments, "metrics", value);
        return 0;
    case OPTION_WEB:
        give(arguments, "web", value);
        return 0;
    case OPTION_WEB_TOKEN:
        give(arguments, "web_token", value);
        return 0;
    case OPTION_TERM:
        give(arguments, "term_ms", value);
        return 0;
    case OPTION_PROGRESS:
        give(arguments, "progress_ms", value);
        return 0;
    case OPTION_WINDOW:
        give(arguments, "window", value);
        return 0;
    case OPTION_DRAIN:
        give(arguments, "drain_ms", value);
        return 0;
    case OPTION_LOG:
        give(arguments, "log_level", value);
        return 0;
    case OPTION_FORMAT:
        give(arguments, "log_format", value);
        return 0;
    case OPTION_UNSAFE:
        arguments->allow_unsafe = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "no arguments, only options");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char doc[] =
    "The coordinator of a Kroo cluster: hands out self-play and match work to workers, replays every game it "
    "gets back through the full rules, and commits it to PostgreSQL before it acknowledges."
    "\vSettings come from options, KROO_* variables, the file named by --config or KROO_CONFIG, defaults, in "
    "this order. `kroo up` starts a private cluster with everything set.\n\n"
    "Exit status: 0 stopped by a signal after draining, 1 could not start, 2 wrong usage. Several may run on "
    "one database: one leads, the others wait for the lead and listen only when they have it.\n\n"
    "Example:\n  kroo-coordinator --database 'host=/run/postgresql dbname=kroo' --endpoint "
    "tcp://0.0.0.0:7710 --key /etc/kroo/coordinator.key";

static void raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max < DESCRIPTORS_WANTED ? limit.rlim_max : DESCRIPTORS_WANTED;
    setrlimit(RLIMIT_NOFILE, &limit);
    log_line(LOG_LEVEL_INFO, "descriptors", "limit=%llu: a worker takes one",
             (unsigned long long)limit.rlim_cur);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* Splits `list` in place at commas. */
static int split_endpoints(char *list, struct server_options *out)
{
    for (char *rest = NULL, *one = strtok_r(list, ", ", &rest); one; one = strtok_r(NULL, ", ", &rest)) {
        if (out->endpoint_count == SOCKET_ENDPOINTS_MAX)
            return -1;
        out->endpoints[out->endpoint_count++] = one;
    }
    return out->endpoint_count ? 0 : -1;
}

/* What timed play asks of a worker. */
static int read_fitness(const struct settings *settings, struct fitness_policy *out, char *reason,
                        size_t size)
{
    const struct {
        const char *name;
        int64_t most, usual;
        uint32_t *value;
    } wanted[] = {{"reference_speed", UINT32_MAX, FITNESS_REFERENCE, &out->reference},
                  {"timed_slow", 100, FITNESS_SLOW, &out->slow},
                  {"timed_spread", 1000000, FITNESS_SPREAD, &out->spread},
                  {"timed_load", 1000000, FITNESS_LOAD, &out->load},
                  {"timed_age", INT32_MAX, FITNESS_AGE_S, &out->age_s}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        int64_t value;
        if (settings_number(settings, wanted[i].name, 0, wanted[i].most, wanted[i].usual, &value, reason,
                            size) != 0)
            return -1;
        *wanted[i].value = (uint32_t)value;
    }
    return 0;
}

struct numbers {
    int64_t term_ms, progress_ms, window, drain_ms, peer_rate;
};

static int read_numbers(const struct settings *settings, struct numbers *out, char *reason, size_t size)
{
    return settings_number(settings, "term_ms", 500, 86400000, 60000, &out->term_ms, reason, size) != 0 ||
                   settings_number(settings, "progress_ms", 50, 3600000, 5000, &out->progress_ms, reason,
                                   size) != 0 ||
                   settings_number(settings, "window", 16, TALLY_WINDOW_MAX, 1 << 20, &out->window, reason,
                                   size) != 0 ||
                   settings_number(settings, "peer_rate", 0, RATION_MOST, RATION_USUAL, &out->peer_rate,
                                   reason, size) != 0 ||
                   settings_number(settings, "drain_ms", 0, 600000, 5000, &out->drain_ms, reason, size) != 0
               ? -1
               : 0;
}

static int fail(int status, const char *reason)
{
    fprintf(stderr, "kroo-coordinator: %s\n", reason);
    return status;
}

/* The web page outlives a lead that is lost. 0 also where none is wanted. */
static int open_web(const struct settings *settings, const char *database, struct web **out, char *reason,
                    size_t reason_size)
{
    const struct web_options wanted = {.address = settings_get(settings, "web", NULL),
                                       .hosts = settings_get(settings, "web_hosts", NULL),
                                       .conninfo = database,
                                       .tokens = settings_get(settings, "web_token", NULL),
                                       .wake = wake};
    *out = NULL;
    if (!wanted.address || strcmp(wanted.address, "off") == 0)
        return 0;
    *out = web_create(&wanted, reason, reason_size);
    return *out ? 0 : -1;
}

static int run(const struct settings *settings, bool allow_unsafe)
{
    char reason[768] = "";
    struct numbers numbers;
    struct keys keys;
    const char *key_file = settings_get(settings, "key", NULL);
    const char *database = settings_get(settings, "database", NULL);
    char *endpoints = strdup(settings_get(settings, "endpoint", "tcp://127.0.0.1:7710"));
    struct server_options server = {.conninfo = database,
                                    .allow_unsafe = allow_unsafe,
                                    .hooks = settings_get(settings, "hooks", NULL),
                                    .metrics = settings_get(settings, "metrics", NULL)};
    enum log_level level = LOG_LEVEL_INFO;
    enum log_format format = LOG_FORMAT_TEXT;
    int status = 0;
    if (log_parse_level(settings_get(settings, "log_level", "info"), &level) != 0)
        status = fail(EXIT_USAGE, "log_level is debug, info, warning or error");
    else if (log_parse_format(settings_get(settings, "log_format", "text"), &format) != 0)
        status = fail(EXIT_USAGE, "log_format is text or json");
    else if (!database)
        status = fail(EXIT_USAGE, "no database: give --database, KROO_DATABASE, or start a private cluster "
                                  "with `kroo up`");
    else if (!endpoints || split_endpoints(endpoints, &server) != 0)
        status = fail(EXIT_USAGE, "endpoint wants one to eight addresses");
    else if (read_numbers(settings, &numbers, reason, sizeof reason) != 0 ||
             read_fitness(settings, &server.fitness, reason, sizeof reason) != 0)
        status = fail(EXIT_USAGE, reason);
    else if (key_file && keys_load(key_file, &keys, reason, sizeof reason) != KEYS_OK)
        status = fail(EXIT_REFUSED, reason);
    log_set_level(level);
    log_set_format(format);
    struct web *web = NULL;
    if (status == 0 && open_web(settings, database, &web, reason, sizeof reason) != 0)
        status = fail(EXIT_REFUSED, reason);
    if (status == 0) {
        server.orders = web_orders_of(web);
        server.keys = key_file ? &keys : NULL;
        server.window = (uint64_t)numbers.window;
        server.peer_rate = (uint32_t)numbers.peer_rate;
        server.term_ms = (uint32_t)numbers.term_ms;
        server.progress_ms = (uint32_t)numbers.progress_ms;
        raise_descriptors();
        int outcome;
        while ((outcome = server_run(&server, wake, &stop, (int)numbers.drain_ms, reason, sizeof reason)) ==
               SERVER_STOOD_DOWN)
            log_line(LOG_LEVEL_WARNING, "stood-down",
                     "reason=\"%s\": waiting for the lead, to read everything anew", reason);
        if (outcome != 0)
            status = fail(EXIT_REFUSED, reason);
    }
    web_destroy(web);
    if (key_file)
        keys_wipe(&keys);
    free(endpoints);
    return status;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};
    struct arguments arguments = {0};
    char reason[512] = "";
    static char version[128];
    snprintf(version, sizeof version, "kroo-coordinator (%s)", engine_build());
    argp_program_version = version;
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0)
        return EXIT_USAGE;
    struct settings *settings = settings_create(arguments.config, reason, sizeof reason);
    if (!settings)
        return fail(EXIT_USAGE, reason);
    for (size_t i = 0; i < arguments.given_count; i++)
        settings_set(settings, arguments.given[i].name, arguments.given[i].value);
    wake = wake_create();
    if (wake < 0) {
        settings_destroy(settings);
        return fail(EXIT_REFUSED, "cannot make an eventfd");
    }
    catch_signals();
    notify_open();
    int status = run(settings, arguments.allow_unsafe);
    settings_destroy(settings);
    return status;
}
