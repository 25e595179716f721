#include "coordinator/cli/connect.h"

#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/table.h"
#include "engine/build.h"
#include "coordinator/tune_history.h"
#include "proto/artifact.h"
#include "proto/keys.h"
#include "proto/progress.h"
#include "proto/socket.h"

struct settings *connect_settings(const struct args_common *common, int *status)
{
    *status = COMMAND_USAGE;
    char path[4096], reason[512];
    const char *file = common->config;
    const char *dir = common->dir ? common->dir : getenv("KROO_DIR");
    if (!file && dir && *dir) {
        int length = snprintf(path, sizeof path, "%s/kroo.conf", dir);
        if (length < 0 || (size_t)length >= sizeof path) {
            args_refuse("--dir is too long");
            return NULL;
        }
        if (access(path, F_OK) != 0) {
            args_refuse("there is no cluster in %s (no %s): `kroo up --dir %s` starts one", dir, path, dir);
            *status = COMMAND_NO_CONNECTION;
            return NULL;
        }
        file = path;
    }
    struct settings *settings = settings_create(file, reason, sizeof reason);
    if (!settings)
        args_refuse("%s", reason);
    return settings;
}

static void explain_no_database(const char *reason)
{
    args_refuse(
        "no connection to the database: %s\n"
        "Is it running? `kroo up` starts a private one; otherwise set `database` in the settings file, "
        "or KROO_DATABASE.",
        reason);
}

static char trust[2048];

const char *connect_trust(void)
{
    return trust;
}

struct store *connect_store(const struct settings *settings, const char *role)
{
    const char *conninfo = settings_get(settings, "database", NULL);
    char reason[512];
    snprintf(trust, sizeof trust, "%s", settings_get(settings, "trust", ""));
    if (!conninfo) {
        explain_no_database("no setting `database`, and there is no var/kroo.conf here");
        return NULL;
    }
    struct store *store = store_open(conninfo, role, "kroo", reason, sizeof reason);
    if (!store) {
        explain_no_database(reason);
        return NULL;
    }
    if (store_check_schema(store) != STORE_OK) {
        args_refuse("the database cannot be used: %s", store_reason(store));
        store_close(store);
        return NULL;
    }
    return store;
}

struct store *connect_as(const struct args_common *common, const char *role, int *status)
{
    struct settings *settings = connect_settings(common, status);
    if (!settings)
        return NULL;
    struct store *store = connect_store(settings, role);
    *status = store ? COMMAND_DONE : COMMAND_NO_CONNECTION;
    settings_destroy(settings);
    return store;
}

struct store *connect_reader(const struct args_common *common, int *status)
{
    return connect_as(common, "kroo_reader", status);
}

const char *connect_caller(void)
{
    const struct passwd *user = getpwuid(geteuid());
    return user ? user->pw_name : "unknown";
}

int connect_failed(struct store *store, enum store_error error)
{
    if (error == STORE_OK)
        return COMMAND_DONE;
    if (error == STORE_ERROR_CONNECTION) {
        explain_no_database(store_reason(store));
        return COMMAND_NO_CONNECTION;
    }
    return args_refuse("%s", store_reason(store));
}

int connect_query(struct store *store, const char *sql, const char *const *parameters, size_t count,
                  struct store_table *out)
{
    return connect_failed(store, store_query(store, sql, parameters, count, out));
}

int connect_query_of(struct store *store, const char *sql, uint64_t number, struct store_table *out)
{
    char text[24];
    const char *parameters[] = {text};
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    return connect_query(store, sql, parameters, 1, out);
}

int connect_print(struct store *store, bool json, const char *sql, const char *const *parameters,
                  size_t count, const char *empty)
{
    struct store_table table;
    int status = connect_query(store, sql, parameters, count, &table);
    if (status != COMMAND_DONE)
        return status;
    if (json)
        status = table_json_print(table_json(&table));
    else
        table_print(stdout, &table, empty);
    store_table_done(&table);
    return status;
}

int connect_weights(struct store *store, const uint8_t sha256[STORE_HASH], void **bytes, size_t *size)
{
    char reason[TUNING_REASON];
    enum store_error error = store_artifact_get(store, sha256, bytes, size);
    if (error == STORE_OK)
        free(*bytes);
    if (error != STORE_ERROR_REFUSED)
        return connect_artifact(store, "weights", sha256, bytes, size);
    error = tune_history_artifact(store, sha256, bytes, size, reason);
    return error == STORE_OK ? COMMAND_DONE : args_refuse("weights: %s", reason);
}

int connect_artifact(struct store *store, const char *what, const uint8_t sha256[STORE_HASH], void **bytes,
                     size_t *size)
{
    uint8_t actual[ARTIFACT_HASH];
    char hex[ARTIFACT_HEX];
    *bytes = NULL;
    enum store_error error = store_artifact_get(store, sha256, bytes, size);
    if (error != STORE_OK)
        return connect_failed(store, error);
    artifact_hash(*bytes, *size, actual);
    if (memcmp(actual, sha256, sizeof actual) == 0)
        return COMMAND_DONE;
    free(*bytes);
    *bytes = NULL;
    artifact_hex(sha256, hex);
    return args_refuse("%s %s: the stored content does not hash to its name", what, hex);
}

struct coordinator_link {
    struct dealer *dealer;
    char endpoints[1024];
    const char *list[SOCKET_ENDPOINTS_MAX];
    size_t count;
    uint64_t request;
    uint64_t nonce;
    int hello_ms, request_ms;
    bool welcomed;
    char engine_build[MESSAGE_NAME_MAX];
};

const char *link_engine_build(const struct coordinator_link *link)
{
    return link->engine_build;
}

void link_close(struct coordinator_link *link)
{
    if (!link)
        return;
    if (link->welcomed) {
        struct message goodbye = {.kind = MESSAGE_RELEASE, .request = ++link->request};
        goodbye.release.goodbye = true;
        dealer_send(link->dealer, &goodbye);
    }
    dealer_destroy(link->dealer);
    free(link);
}

/* `kroo-USER`, in the letters that a name may have. */
static void name_caller(char name[MESSAGE_NAME_MAX])
{
    snprintf(name, MESSAGE_NAME_MAX, "kroo-%.40s", connect_caller());
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '.' && *c != '-')
            *c = '_';
}

static int split_endpoints(struct coordinator_link *link, const char *text)
{
    if (strlen(text) >= sizeof link->endpoints)
        return -1;
    strcpy(link->endpoints, text);
    char *rest = NULL;
    for (char *word = strtok_r(link->endpoints, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest)) {
        if (link->count == SOCKET_ENDPOINTS_MAX)
            return -1;
        link->list[link->count++] = word;
    }
    return link->count > 0 ? 0 : -1;
}

/* Waits for the answer to request link->request; other messages are let go. COMMAND_NO_CONNECTION without a
 * word when the time is over. */
static int await(struct coordinator_link *link, int64_t deadline_ms, struct message *reply)
{
    char reason[256];
    for (;;) {
        int64_t left = deadline_ms - progress_now_ms();
        if (left <= 0)
            return COMMAND_NO_CONNECTION;
        bool woken = false;
        if (dealer_wait(link->dealer, -1, (int)left, &woken) != SOCKET_OK)
            continue;
        if (dealer_receive(link->dealer, reply, reason, sizeof reason) != SOCKET_OK)
            continue;
        if (reply->request == link->request)
            return COMMAND_DONE;
        message_done(reply);
    }
}

/* Sends under the next request number. Until the handshake is through the queue is closed: waits for it. */
static int transmit(struct coordinator_link *link, struct message *message, int64_t deadline_ms)
{
    message->request = ++link->request;
    for (;;) {
        enum socket_error error = dealer_send(link->dealer, message);
        int64_t left = deadline_ms - progress_now_ms();
        if (error == SOCKET_OK)
            return COMMAND_DONE;
        if (error != SOCKET_ERROR_AGAIN || left <= 0)
            return COMMAND_NO_CONNECTION;
        bool woken;
        dealer_wait(link->dealer, -1, (int)left, &woken);
    }
}

static void pause_ms(int64_t ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

static int64_t retry_pause(const struct message *refused, int64_t deadline_ms)
{
    int64_t pause = refused->refused.retry_ms;
    int64_t left = deadline_ms - progress_now_ms();
    pause = pause < 50 ? 50 : pause > 5000 ? 5000 : pause;
    return pause < left ? pause : left;
}

static bool may_come_back(const struct message *reply)
{
    return reply->kind == MESSAGE_REFUSED && (reply->refused.code == MESSAGE_REFUSAL_UNAVAILABLE ||
                                              reply->refused.code == MESSAGE_REFUSAL_BUSY);
}

/* One HELLO and its answer. COMMAND_DONE: welcomed. COMMAND_REFUSED: said. COMMAND_NO_CONNECTION: silence. */
static int greet(struct coordinator_link *link, int64_t deadline_ms)
{
    struct message hello = {.kind = MESSAGE_HELLO};
    hello.hello.role = MESSAGE_ROLE_CONTROL;
    hello.hello.protocol = MESSAGE_PROTOCOL;
    hello.hello.protocol_min = MESSAGE_PROTOCOL_MIN;
    hello.hello.session_nonce = link->nonce;
    name_caller(hello.hello.name);
    snprintf(hello.hello.engine_build, sizeof hello.hello.engine_build, "%s", engine_build());
    for (;;) {
        struct message reply;
        int status = transmit(link, &hello, deadline_ms);
        if (status == COMMAND_DONE)
            status = await(link, deadline_ms, &reply);
        if (status != COMMAND_DONE)
            return status;
        if (reply.kind == MESSAGE_WELCOME) {
            memcpy(link->engine_build, reply.welcome.engine_build, sizeof link->engine_build);
            message_done(&reply);
            link->welcomed = true;
            return COMMAND_DONE;
        }
        int64_t pause = may_come_back(&reply) ? retry_pause(&reply, deadline_ms) : 0;
        if (pause <= 0) {
            status = args_refuse("the coordinator refuses this command: %s",
                                 reply.kind == MESSAGE_REFUSED ? reply.refused.text : "it answers nonsense");
            if (may_come_back(&reply))
                status = COMMAND_NO_CONNECTION;
            message_done(&reply);
            return status;
        }
        message_done(&reply);
        pause_ms(pause);
    }
}

/* The endpoints in turn, over and over: a key that was allowed a second ago is known soon, and after a
 * refusal only a new socket is heard. */
static int greet_endpoints(struct coordinator_link *link, const char *text)
{
    char reason[256];
    int64_t end = progress_now_ms() + link->hello_ms;
    for (;;) {
        int64_t deadline = progress_now_ms() + CONNECT_TRY_MS;
        int status = greet(link, deadline < end ? deadline : end);
        if (status != COMMAND_NO_CONNECTION)
            return status;
        if (progress_now_ms() >= end || dealer_reconnect(link->dealer, reason, sizeof reason) != SOCKET_OK)
            break;
    }
    const char *trouble = dealer_trouble(link->dealer);
    args_refuse(
        "no coordinator answers at %s%s%s: is it running? `kroo up` starts a private one. Off loopback: "
        "is this key allowed (`kroo key allow`), and is `server_key` the coordinator's?",
        text, trouble[0] ? "; the last try: " : "", trouble);
    return COMMAND_NO_CONNECTION;
}

static struct dealer *open_dealer(const struct settings *settings, const struct coordinator_link *link)
{
    char reason[512], server[KEYS_TEXT];
    struct keys keys;
    const char *key = settings_get(settings, "key", NULL);
    const char *server_key = settings_get(settings, "server_key", NULL);
    if (key && keys_load(key, &keys, reason, sizeof reason) != KEYS_OK) {
        args_refuse("%s", reason);
        return NULL;
    }
    if (server_key && keys_public(server_key, server, reason, sizeof reason) != KEYS_OK) {
        args_refuse("server_key: %s", reason);
        return NULL;
    }
    struct dealer *dealer = dealer_create(link->list, link->count, key ? &keys : NULL,
                                          server_key ? server : NULL, reason, sizeof reason);
    if (key)
        keys_wipe(&keys);
    if (!dealer)
        args_refuse("%s", reason);
    return dealer;
}

static struct coordinator_link *open_link(const struct settings *settings, int hello_ms, int request_ms,
                                          int *status)
{
    const char *text = settings_get(settings, "endpoint", NULL);
    struct coordinator_link *link = calloc(1, sizeof *link);
    *status = COMMAND_NO_CONNECTION;
    if (!link) {
        args_refuse("out of memory");
        return NULL;
    }
    link->hello_ms = hello_ms;
    link->request_ms = request_ms;
    if (!text || split_endpoints(link, text) != 0) {
        args_refuse(text ? "the setting `endpoint` is not a list of at most eight addresses"
                         : "no setting `endpoint` says where the coordinator is: `kroo up` starts a private "
                           "one; otherwise set it in the settings file, or KROO_ENDPOINT");
        link_close(link);
        return NULL;
    }
    if (getrandom(&link->nonce, sizeof link->nonce, 0) != sizeof link->nonce)
        link->nonce = (uint64_t)progress_now_ms() * 1000003 + (uint64_t)getpid();
    link->nonce = (link->nonce >> 11) | 1; /* sessions are numbered by it: 53 bits, never 0 */
    link->dealer = open_dealer(settings, link);
    *status = link->dealer ? greet_endpoints(link, text) : COMMAND_REFUSED;
    if (*status == COMMAND_DONE)
        return link;
    link_close(link);
    return NULL;
}

struct coordinator_link *link_open(const struct settings *settings, int *status)
{
    return open_link(settings, CONNECT_HELLO_MS, CONNECT_REQUEST_MS, status);
}

struct coordinator_link *link_open_within(const struct settings *settings, int patience_ms, int *status)
{
    return open_link(settings, patience_ms, patience_ms, status);
}

/* What the reply means: COMMAND_DONE to hand it out, -1 to ask again after a pause. */
static int judge_reply(const struct message *reply, enum message_kind expected, int64_t deadline_ms)
{
    if (reply->kind == expected)
        return COMMAND_DONE;
    if (reply->kind != MESSAGE_REFUSED)
        return args_refuse("the coordinator answers %s instead of %s", message_kind_name(reply->kind),
                           message_kind_name(expected));
    if (may_come_back(reply)) {
        int64_t pause = retry_pause(reply, deadline_ms);
        if (pause > 0) {
            pause_ms(pause);
            return -1;
        }
        args_refuse("the coordinator cannot do it now: %s", reply->refused.text);
        return COMMAND_NO_CONNECTION;
    }
    return args_refuse("refused: %s", reply->refused.text);
}

int link_ask(struct coordinator_link *link, struct message *request, enum message_kind expected,
             struct message *reply)
{
    int64_t deadline = progress_now_ms() + link->request_ms;
    for (;;) {
        int status = transmit(link, request, deadline);
        if (status == COMMAND_DONE)
            status = await(link, deadline, reply);
        if (status != COMMAND_DONE) {
            args_refuse(
                "the coordinator does not answer any more; whether it was done is not known: `kroo ls` "
                "tells");
            return status;
        }
        if (reply->kind == MESSAGE_REFUSED && reply->refused.code == MESSAGE_REFUSAL_SAY_HELLO) {
            message_done(reply);
            status = greet(link, deadline);
            if (status != COMMAND_DONE)
                return status;
            continue;
        }
        status = judge_reply(reply, expected, deadline);
        if (status == COMMAND_DONE)
            return status;
        message_done(reply);
        if (status > 0)
            return status;
    }
}

static error_t list_parse(int key, char *text, struct argp_state *state)
{
    (void)text;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = state->input;
    return 0;
}

int connect_list(int argc, char **argv, const char *doc, const char *sql, const char *empty)
{
    const struct argp argp = {.parser = list_parse, .doc = doc, .children = args_common_children};
    struct args_common common = {0};
    parse_line(&argp, argc, argv, &common);
    int status;
    struct store *store = connect_reader(&common, &status);
    if (!store)
        return status;
    status = connect_print(store, common.json, sql, NULL, 0, empty);
    store_close(store);
    return status;
}
