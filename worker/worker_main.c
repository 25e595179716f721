/* kroo-worker: options, settings, signals. */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/build.h"
#include "proto/confine.h"
#include "proto/log.h"
#include "proto/settings.h"
#include "proto/socket.h"
#include "proto/tags.h"
#include "worker/folder.h"
#include "worker/players.h"
#include "worker/measure.h"
#include "worker/worker.h"

enum { STATUS_USAGE = 2, SPOOL_MIN = 16 * 1024 * 1024 };

enum option_key {
    OPTION_ENDPOINT = 'e',
    OPTION_KEY = 'k',
    OPTION_SERVER_KEY = 'S',
    OPTION_STATE = 's',
    OPTION_NAME = 'n',
    OPTION_SLOTS = 'j',
    OPTION_CONFIG = 'C',
    OPTION_CREDIT = 256,
    OPTION_DRAIN_MS,
    OPTION_LOG_LEVEL,
    OPTION_EXIT_WHEN_IDLE,
    OPTION_CONNECT_TIMEOUT,
    OPTION_SPOOL_MAX,
    OPTION_TABLES,
    OPTION_MOVE_MS,
    OPTION_GAME_MS,
    OPTION_TAGS,
    OPTION_NO_PIN,
    OPTION_TRUST,
    OPTION_LOG_FORMAT,
};

struct arguments {
    const char *config;
    /* Options that are settings: their names and values in the order given. */
    struct {
        const char *name, *value;
    } given[32];
    size_t given_count;
    struct worker_options worker;
    struct keys keys;
};

static const struct argp_option options[] = {
    {"endpoint", OPTION_ENDPOINT, "ADDRESS,...", 0,
     "Where the coordinator listens: ipc://PATH or tcp://HOST:PORT", 0},
    {"key", OPTION_KEY, "FILE", 0, "Secret key of this worker (`kroo key new NAME` makes one)", 0},
    {"server-key", OPTION_SERVER_KEY, "FILE|TEXT", 0, "The coordinator's public key, needed with --key", 0},
    {"trust", OPTION_TRUST, "FILE|KEY,...", 0,
     "Public signing keys: programs other than the built-in engine run only if one of these has signed them "
     "(default: none is needed)",
     0},
    {"state", OPTION_STATE, "FOLDER", 0, "Spool and weights (default var/worker-NAME); one process a folder",
     0},
    {"name", OPTION_NAME, "NAME", 0, "What people see (default the host's name)", 0},
    {"slots", OPTION_SLOTS, "N", 0, "Play threads (default: one a core)", 0},
    {"credit", OPTION_CREDIT, "PAIRS", 0, "Most pairs held that are not acknowledged (default 4096)", 0},
    {"spool-max", OPTION_SPOOL_MAX, "BYTES", 0, "Most the spool may take on disk, K M G allowed (default 1G)",
     0},
    {"tables", OPTION_TABLES, "FILE,...", 0,
     "Endgame tables on this machine, for players that name them (smaller ones are fetched)", 0},
    {"tags", OPTION_TAGS, "NAME,...", 0,
     "What this machine has, for experiments that need it, beside what it tells by itself (arch=x86_64, "
     "os=linux, "
     "avx2, ...)",
     0},
    {"no-pin", OPTION_NO_PIN, NULL, 0,
     "Let play threads move between cores (by default each has one, where there are enough that no other "
     "worker has)",
     0},
    {"move-ms", OPTION_MOVE_MS, "MS", 0,
     "A program that is silent for so long, or for three quarters of its lease's term, hangs, unless its "
     "move "
     "has a limit of time (default 60000)",
     0},
    {"game-ms", OPTION_GAME_MS, "MS", 0,
     "A game that has not ended by then is given up as a fault (default: by its limits and this machine's "
     "speed, at least 10 minutes)",
     0},
    {"drain-ms", OPTION_DRAIN_MS, "MS", 0, "Time to leave in after SIGTERM (default 5000)", 0},
    {"exit-when-idle", OPTION_EXIT_WHEN_IDLE, "SECONDS", 0, "Leave after so long without work", 0},
    {"connect-timeout", OPTION_CONNECT_TIMEOUT, "SECONDS", 0,
     "Exit with status 3 after so long without a coordinator (default: try for ever)", 0},
    {"config", OPTION_CONFIG, "FILE", 0, "Settings file (default $KROO_CONFIG, else var/kroo.conf)", 0},
    {"log-level", OPTION_LOG_LEVEL, "debug|info|warning|error", 0,
     "Least important lines to log (default info)", 0},
    {"log-format", OPTION_LOG_FORMAT, "text|json", 0, "How they look (default text)", 0},
    {0},
};

static const char doc[] =
    "Plays leased pairs of a Kroo coordinator and returns them."
    "\vSettings come from options, KROO_* variables (KROO_ENDPOINT, KROO_KEY, KROO_SERVER_KEY, KROO_STATE, "
    "KROO_NAME, "
    "KROO_SLOTS, KROO_TAGS, KROO_TRUST, KROO_PIN, KROO_TABLES, KROO_MOVE_MS, KROO_GAME_MS, KROO_MEASURE_MS, "
    "KROO_DRAIN_MS, "
    "KROO_LOG_LEVEL, KROO_LOG_FORMAT), the "
    "settings file, "
    "defaults, in "
    "this order.\n\n"
    "Signals: SIGTERM or SIGINT stops asking for work, finishes or gives back games within the drain time, "
    "delivers, "
    "exits 0; a second one exits at once (status 1). SIGUSR1 plays what is leased, delivers it, exits 0. "
    "Results that are not "
    "acknowledged stay in the state folder and go out at the next start.\n\n"
    "Exit status: 0 done, 1 refused by the coordinator or cannot run, 2 wrong usage, 3 no connection.";

const char *argp_program_version = NULL;
static struct worker *running;

/* A whole number in [low, high], with K, M or G where `scaled`. Ends the program on anything else. */
static uint64_t number(struct argp_state *state, const char *name, const char *text, uint64_t low,
                       uint64_t high, bool scaled)
{
    char *end;
    unsigned long long value = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    bool good = text[0] >= '0' && text[0] <= '9' && value <= high;
    if (good && scaled && *end != '\0') {
        const char *unit = strchr("KMG", *end);
        unsigned shift = unit != NULL ? 10 * (unsigned)(1 + (unit - "KMG")) : 0;
        good = unit != NULL && value <= high >> shift;
        value <<= good ? shift : 0;
        end++;
    }
    if (!good || *end != '\0' || value < low || value > high)
        argp_error(state, "--%s must be a whole number from %llu to %llu, not `%s`", name,
                   (unsigned long long)low, (unsigned long long)high, text);
    return value;
}

static void give(struct argp_state *state, const char *name, const char *value)
{
    struct arguments *arguments = state->input;
    if (arguments->given_count == sizeof arguments->given / sizeof *arguments->given)
        argp_error(state, "too many options");
    arguments->given[arguments->given_count].name = name;
    arguments->given[arguments->given_count++].value = value;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    static const struct {
        int key;
        const char *name;
    } settings[] = {
        {OPTION_ENDPOINT, "endpoint"},
        {OPTION_KEY, "key"},
        {OPTION_SERVER_KEY, "server_key"},
        {OPTION_STATE, "state"},
        {OPTION_NAME, "name"},
        {OPTION_SLOTS, "slots"},
        {OPTION_DRAIN_MS, "drain_ms"},
        {OPTION_LOG_LEVEL, "log_level"},
        {OPTION_TABLES, "tables"},
        {OPTION_MOVE_MS, "move_ms"},
        {OPTION_GAME_MS, "game_ms"},
        {OPTION_TAGS, "tags"},
        {OPTION_TRUST, "trust"},
        {OPTION_LOG_FORMAT, "log_format"},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (settings[i].key == key) {
            give(state, settings[i].name, argument);
            return 0;
        }
    switch (key) {
    case OPTION_NO_PIN:
        give(state, "pin", "0");
        return 0;
    case OPTION_CONFIG:
        arguments->config = argument;
        return 0;
    case OPTION_CREDIT:
        arguments->worker.credit = (uint32_t)number(state, "credit", argument, 1, WORKER_CREDIT_MAX, false);
        return 0;
    case OPTION_SPOOL_MAX:
        arguments->worker.spool_max =
            number(state, "spool-max", argument, SPOOL_MIN, UINT64_C(1) << 46, true);
        return 0;
    case OPTION_EXIT_WHEN_IDLE:
        arguments->worker.idle_exit_ms =
            1000 * (uint32_t)number(state, "exit-when-idle", argument, 1, 1000000, false);
        return 0;
    case OPTION_CONNECT_TIMEOUT:
        arguments->worker.connect_timeout_ms =
            1000 * (uint32_t)number(state, "connect-timeout", argument, 1, 1000000, false);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument `%s`", argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static _Noreturn void die(int status, const char *reason)
{
    fprintf(stderr, "kroo-worker: %s\n", reason);
    exit(status);
}

static int64_t setting_number(const struct settings *settings, const char *name, int64_t low, int64_t high,
                              int64_t fallback)
{
    char reason[512];
    int64_t value;
    if (settings_number(settings, name, low, high, fallback, &value, reason, sizeof reason) != 0)
        die(STATUS_USAGE, reason);
    return value;
}

static void set_log(const char *level_name, const char *format_name)
{
    enum log_level level;
    enum log_format format;
    if (log_parse_level(level_name, &level) != 0)
        die(STATUS_USAGE, "the log level is one of debug, info, warning, error");
    if (log_parse_format(format_name, &format) != 0)
        die(STATUS_USAGE, "the log format is text or json");
    log_set_level(level);
    log_set_format(format);
}

static const char name_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

/* Letters that a name may not have become `-`. */
static void sanitize(char *name)
{
    for (char *at = name; *at != '\0'; at++)
        if (strchr(name_letters, *at) == NULL)
            *at = '-';
}

/* The host's name; with the state folder's own name behind it when that was chosen. */
static void default_name(const char *state, char name[MESSAGE_NAME_MAX])
{
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0')
        snprintf(host, sizeof host, "worker");
    host[strcspn(host, ".")] = '\0';
    const char *slash = state != NULL ? strrchr(state, '/') : NULL;
    const char *own = slash != NULL ? slash + 1 : state;
    snprintf(name, MESSAGE_NAME_MAX, own != NULL && own[0] != '\0' ? "%.31s-%.31s" : "%.31s%s", host,
             own != NULL ? own : "");
    sanitize(name);
}

/* Cuts a comma-separated list in place. */
static size_t split_endpoints(char *text, const char *out[SOCKET_ENDPOINTS_MAX])
{
    size_t count = 0;
    for (char *rest = NULL, *at = strtok_r(text, ", ", &rest); at != NULL; at = strtok_r(NULL, ", ", &rest)) {
        if (count == SOCKET_ENDPOINTS_MAX)
            die(STATUS_USAGE, "too many endpoints");
        out[count++] = at;
    }
    if (count == 0)
        die(STATUS_USAGE, "no endpoint: give --endpoint ADDRESS, KROO_ENDPOINT, or `endpoint = ADDRESS` in a "
                          "settings file");
    return count;
}

static void split_tables(char *text, const char **out, struct worker_options *worker)
{
    char *rest = NULL;
    for (char *at = strtok_r(text, ",", &rest); at != NULL; at = strtok_r(NULL, ",", &rest)) {
        if (worker->table_count == FILES_SHARED_MAX)
            die(STATUS_USAGE, "too many tables");
        out[worker->table_count++] = at;
    }
    worker->tables = out;
}

/* The user's tags behind the machine's own. */
static void take_tags(const char *given, struct worker_options *worker)
{
    static char tags[TAGS_TEXT];
    char reason[256], list[TAGS_TEXT];
    if (!tags_check(given, reason, sizeof reason))
        die(STATUS_USAGE, reason);
    tags_of_machine(tags);
    snprintf(list, sizeof list, "%s", given);
    char *rest = NULL;
    for (char *at = strtok_r(list, ",", &rest); at != NULL; at = strtok_r(NULL, ",", &rest))
        tags_add(tags, at);
    if (!tags_cover(tags, given, list) || !tags_check(tags, reason, sizeof reason))
        die(STATUS_USAGE, "too many tags");
    worker->tags = tags;
}

/* Both keys or none. */
static void load_keys(const struct settings *settings, struct worker_options *worker, struct keys *keys,
                      char server_key[KEYS_TEXT])
{
    char reason[512];
    const char *key = settings_get(settings, "key", NULL),
               *server = settings_get(settings, "server_key", NULL);
    if (key == NULL)
        return; /* a private cluster's file may name the server's key for others; ipc needs none */
    if (server == NULL)
        die(STATUS_USAGE, "--key needs --server-key, the coordinator's public key");
    if (keys_load(key, keys, reason, sizeof reason) != KEYS_OK ||
        keys_public(server, server_key, reason, sizeof reason) != KEYS_OK)
        die(STATUS_USAGE, reason);
    confine_hide(key);
    worker->keys = keys;
    worker->server_key = server_key;
}

static void on_signal(int signal_number)
{
    static volatile sig_atomic_t asked;
    int kept = errno; /* of the code this signal came upon */
    if (signal_number != SIGUSR1 && asked++ > 0)
        _exit(1);
    worker_signal(running, signal_number == SIGUSR1 ? WORKER_ORDER_FINISH : WORKER_ORDER_DRAIN);
    errno = kept;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
}

static int run(const struct worker_options *worker)
{
    char reason[1024] = "";
    running = worker_create(worker, reason, sizeof reason);
    if (running == NULL) {
        fprintf(stderr, "kroo-worker: %s\n", reason);
        return EXIT_FAILURE;
    }
    catch_signals();
    int status = worker_run(running);
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGUSR1, SIG_IGN);
    if (worker_stands_still(running))
        _exit(status); /* a thread that does not end cannot be waited for */
    worker_destroy(running);
    return status;
}

/* What the settings say, checked; `arguments->worker` points into `settings` and the buffers. */
static void take_settings(struct arguments *arguments, const struct settings *settings)
{
    static char name[MESSAGE_NAME_MAX], state[FOLDER_PATH_MAX], list[2048], server_key[KEYS_TEXT];
    static const char *endpoints[SOCKET_ENDPOINTS_MAX], *tables[FILES_SHARED_MAX];
    static char table_list[FILES_SHARED_MAX * FOLDER_PATH_MAX];
    struct worker_options *worker = &arguments->worker;
    set_log(settings_get(settings, "log_level", "info"), settings_get(settings, "log_format", "text"));
    const char *chosen = settings_get(settings, "state", NULL);
    default_name(chosen, name);
    worker->name = settings_get(settings, "name", name);
    if (worker->name[0] == '\0' || strlen(worker->name) >= MESSAGE_NAME_MAX ||
        worker->name[strspn(worker->name, name_letters)] != '\0')
        die(STATUS_USAGE, "the name is not 1 to 63 of the letters A-Z a-z 0-9 . _ -");
    snprintf(state, sizeof state, "var/worker-%s", worker->name);
    worker->state = chosen != NULL ? chosen : state;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    worker->slots = (unsigned)setting_number(settings, "slots", 1, PLAYERS_MAX, cores > 0 ? cores : 1);
    worker->drain_ms = (uint32_t)setting_number(settings, "drain_ms", 0, 3600 * 1000, WORKER_DRAIN_MS);
    worker->move_ms = (uint32_t)setting_number(settings, "move_ms", 100, 24 * 3600 * 1000, DIALECT_MOVE_MS);
    worker->game_ms = (uint32_t)setting_number(settings, "game_ms", 0, INT32_MAX, 0);
    snprintf(table_list, sizeof table_list, "%s", settings_get(settings, "tables", ""));
    split_tables(table_list, tables, worker);
    worker->pin = setting_number(settings, "pin", 0, 1, 1) == 1;
    worker->measure = true;
    worker->measure_ms =
        (uint32_t)setting_number(settings, "measure_ms", 100, 24 * 3600 * 1000, MEASURE_EVERY_MS);
    take_tags(settings_get(settings, "tags", ""), worker);
    snprintf(list, sizeof list, "%s", settings_get(settings, "endpoint", ""));
    worker->endpoints = endpoints;
    worker->endpoint_count = split_endpoints(list, endpoints);
    load_keys(settings, worker, &arguments->keys, server_key);
    char reason[512];
    if (seal_trust_add(&worker->trust, settings_get(settings, "trust", ""), reason, sizeof reason) != 0)
        die(STATUS_USAGE, reason);
}

static void give_settings(const struct arguments *arguments, struct settings *settings)
{
    for (size_t i = 0; i < arguments->given_count; i++)
        if (settings_set(settings, arguments->given[i].name, arguments->given[i].value) != 0)
            die(STATUS_USAGE, "an option's value is too long or empty");
}

/* The keys as option, settings file and key files have them now. */
static int read_trust(void *context, struct seal_trust *out, char *reason, size_t reason_size)
{
    const struct arguments *arguments = context;
    struct settings *settings = settings_create(arguments->config, reason, reason_size);
    if (settings == NULL)
        return -1;
    give_settings(arguments, settings);
    int result = seal_trust_add(out, settings_get(settings, "trust", ""), reason, reason_size);
    settings_destroy(settings);
    return result;
}

int main(int argc, char **argv)
{
    static char version[128];
    snprintf(version, sizeof version, "kroo-worker (%s)", engine_build());
    argp_program_version = version;
    argp_err_exit_status = STATUS_USAGE;
    static struct arguments arguments;
    worker_options_init(&arguments.worker);
    const struct argp argp = {options, parse, NULL, doc, NULL, NULL, NULL};
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);

    /* Before the first thread: a full disk or a closed pipe is an error to handle, not a death. */
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    char reason[512];
    struct settings *settings = settings_create(arguments.config, reason, sizeof reason);
    if (settings == NULL)
        die(STATUS_USAGE, reason);
    give_settings(&arguments, settings);
    take_settings(&arguments, settings);
    arguments.worker.trust_again = read_trust;
    arguments.worker.trust_context = &arguments;
    int status = run(&arguments.worker);
    keys_wipe(&arguments.keys);
    settings_destroy(settings);
    return status;
}
