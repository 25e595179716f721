#include "eval/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/settings.h"

volatile sig_atomic_t command_stop;

static void request_stop(int signal_number)
{
    (void)signal_number;
    command_stop = 1;
}

void command_catch_signals(void)
{
    struct sigaction action = {.sa_handler = request_stop};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

enum archive_status command_connect(struct archive *archive, const char *config, const char *database)
{
    char reason[sizeof archive->reason];
    archive->stop = &command_stop;
    struct settings *settings = settings_create(config, reason, sizeof reason);
    if (!settings) {
        snprintf(archive->reason, sizeof archive->reason, "%s", reason);
        return ARCHIVE_REFUSED;
    }
    if (database)
        settings_set(settings, "database", database);
    enum archive_status status = archive_open(archive, settings_get(settings, "database", ""));
    settings_destroy(settings);
    return status;
}

enum archive_status command_open_tables(struct archive *archive, struct train *train, const char *path)
{
    if (!path)
        return ARCHIVE_OK;
    enum tables_error error = tables_open(path, &train->reader.rules, &train->tables);
    if (error == TABLES_OK)
        return ARCHIVE_OK;
    snprintf(archive->reason, sizeof archive->reason, "%s: %s", path, tables_error_text(error));
    return ARCHIVE_REFUSED;
}

void command_print_json(json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9));
    if (text)
        printf("%s\n", text);
    free(text);
    json_decref(object);
}

int command_refuse(enum archive_status status, bool json, const char *reason)
{
    const char *state = status == ARCHIVE_REFUSED      ? "refused"
                        : status == ARCHIVE_CONNECTION ? "no connection"
                        : status == ARCHIVE_STOPPED    ? "stopped"
                                                       : "failed";
    if (json)
        command_print_json(json_pack("{s:s, s:s}", "state", state, "reason", reason));
    else
        fprintf(stderr, "kroo-train: %s: %s\n", state, reason);
    return status == ARCHIVE_CONNECTION ? COMMAND_CONNECTION : COMMAND_REFUSED;
}

int command_end(const char *what)
{
    errno = EIO;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return COMMAND_DONE;
    fprintf(stderr, "kroo-train: the report cannot be written: %s%s\n", strerror(errno), what);
    return COMMAND_REFUSED;
}
