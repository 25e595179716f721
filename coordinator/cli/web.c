/* `kroo web`: where the web page is. */
#include "coordinator/cli/web.h"

#include <argp.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/table.h"
#include "coordinator/listen.h"
#include "proto/settings.h"

/* Below the ports that systems give to connections going out. */
enum { PORT_FIRST = 20000, PORT_COUNT = 10000, PORT_TRIES = 200 };

static bool is_free(const char *address)
{
    struct listen_address where;
    char reason[256];
    if (listen_resolve("web", address, &where, reason, sizeof reason) != 0)
        return false;
    int fd = listen_open("web", &where, 1, reason, sizeof reason);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* FNV-1a: the same folder has the same port. */
static unsigned port_of_folder(const char *dir)
{
    unsigned hash = 2166136261u;
    for (; *dir; dir++)
        hash = (hash ^ (unsigned char)*dir) * 16777619u;
    return hash % PORT_COUNT;
}

static bool read_known(const char *config, char out[WEB_ADDRESS])
{
    char reason[512];
    struct settings *settings =
        access(config, R_OK) == 0 ? settings_create(config, reason, sizeof reason) : NULL;
    const char *known = settings ? settings_get(settings, "web", NULL) : NULL;
    if (known)
        snprintf(out, WEB_ADDRESS, "%s", known);
    settings_destroy(settings);
    return known != NULL;
}

void web_choose(const char *dir, const char *config, bool is_running, const char *wanted,
                char out[WEB_ADDRESS])
{
    if (wanted) {
        snprintf(out, WEB_ADDRESS, "%s", wanted);
        return;
    }
    bool is_known = read_known(config, out);
    if (is_known && (is_running || strcmp(out, "off") == 0 || is_free(out)))
        return;
    unsigned first = port_of_folder(dir);
    for (unsigned i = 0; i < PORT_TRIES && !is_running; i++) {
        snprintf(out, WEB_ADDRESS, "127.0.0.1:%u", PORT_FIRST + (first + i) % PORT_COUNT);
        if (is_free(out))
            return;
    }
    snprintf(out, WEB_ADDRESS,
             "off"); /* a coordinator runs without a page: it gets one when it starts again */
}

void web_url(const char *address, char out[WEB_URL])
{
    if (strcmp(address, "off") == 0)
        out[0] = '\0';
    else
        snprintf(out, WEB_URL, strchr(address, ':') ? "http://%s/" : "http://127.0.0.1:%s/", address);
}

static error_t web_parse(int key, char *text, struct argp_state *state)
{
    (void)text;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = state->input;
    return 0;
}

int web_command(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = web_parse,
        .doc =
            "Print the address of the web page: the cluster, its experiments, games, weights and ratings, "
            "and "
            "a game against the champion."
            "\vThe coordinator serves it where its setting `web` says; `kroo up` picks a free port of this "
            "machine. Exit status 1: it serves none.\n\nExample:\n  kroo web",
        .children = args_common_children,
    };
    struct args_common common = {0};
    char url[WEB_URL];
    int status;
    parse_line(&argp, argc, argv, &common);
    struct settings *settings = connect_settings(&common, &status);
    if (!settings)
        return status;
    web_url(settings_get(settings, "web", "off"), url);
    settings_destroy(settings);
    if (!url[0])
        return args_refuse("no web page is served: give the coordinator --web PORT, or the setting web");
    if (common.json)
        return table_json_print(json_pack("{s:s}", "web", url));
    printf("%s\n", url);
    return COMMAND_DONE;
}
