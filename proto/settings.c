#include "proto/settings.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/text.h"

enum { FILE_MAX = 64 * 1024, VALUE_MAX = 2048, ORIGIN_MAX = 256, NAME_LONGEST = 32 };

#define DEFAULT_FILE "var/kroo.conf"

static const char *const names[] = {
    "database",    "endpoint",  "key",        "server_key",      "dir",        "state",        "term_ms",
    "progress_ms", "drain_ms",  "slots",      "log_level",       "name",       "window",       "tables",
    "move_ms",     "tags",      "pin",        "reference_speed", "timed_slow", "timed_spread", "timed_load",
    "hooks",       "metrics",   "log_format", "timed_age",       "measure_ms", "game_ms",      "sign",
    "trust",       "peer_rate", "web",        "web_hosts",       "web_token"};
enum { NAMES = sizeof names / sizeof *names };

struct settings {
    char *option[NAMES]; /* from the command line */
    char *file[NAMES];   /* from the config file */
    unsigned line[NAMES];
    char origin[ORIGIN_MAX]; /* the config file's path */
};

static int name_index(const char *name, size_t size)
{
    for (int i = 0; i < NAMES; i++)
        if (strlen(names[i]) == size && memcmp(names[i], name, size) == 0)
            return i;
    return -1;
}

static const char *from_environment(const char *name)
{
    char variable[NAME_LONGEST] = "KROO_";
    size_t at = strlen(variable);
    for (; *name != '\0'; name++)
        variable[at++] = (char)toupper((unsigned char)*name);
    variable[at] = '\0';
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* --- the config file --- */

struct line {
    const char *text;
    size_t size;
    unsigned number;
};

static void trim(const char **text, size_t *size)
{
    while (*size > 0 && isspace((unsigned char)(*text)[0])) {
        (*text)++;
        (*size)--;
    }
    while (*size > 0 && isspace((unsigned char)(*text)[*size - 1]))
        (*size)--;
}

static bool refuse_line(const struct settings *settings, unsigned number, const char *why, char *reason,
                        size_t size)
{
    (void)snprintf(reason, size, "%s, line %u: %s", settings->origin, number, why);
    return false;
}

static bool take_line(struct settings *settings, struct line line, char *reason, size_t reason_size)
{
    trim(&line.text, &line.size);
    if (line.size == 0 || line.text[0] == '#')
        return true;
    const char *equals = memchr(line.text, '=', line.size);
    if (equals == NULL)
        return refuse_line(settings, line.number, "not `name = value`", reason, reason_size);
    const char *name = line.text, *value = equals + 1;
    size_t name_size = (size_t)(equals - name), value_size = line.size - name_size - 1;
    trim(&name, &name_size);
    trim(&value, &value_size);
    int index = name_index(name, name_size);
    if (index < 0)
        return refuse_line(settings, line.number, "no such setting (proto/README.md lists them)", reason,
                           reason_size);
    if (settings->file[index] != NULL)
        return refuse_line(settings, line.number, "this setting stands there twice", reason, reason_size);
    if (value_size == 0 || value_size > VALUE_MAX || !text_is_utf8(value, value_size, false))
        return refuse_line(settings, line.number, "the value is empty, too long or not text", reason,
                           reason_size);
    settings->file[index] = strndup(value, value_size);
    settings->line[index] = line.number;
    if (settings->file[index] == NULL)
        return refuse_line(settings, line.number, "no memory", reason, reason_size);
    return true;
}

struct settings *settings_parse(const char *text, size_t size, const char *origin, char *reason,
                                size_t reason_size)
{
    struct settings *settings = calloc(1, sizeof *settings);
    if (settings == NULL) {
        (void)snprintf(reason, reason_size, "no memory");
        return NULL;
    }
    (void)snprintf(settings->origin, sizeof settings->origin, "%s", origin);
    bool good = true;
    unsigned number = 1;
    for (size_t at = 0; good && at < size; number++) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end == NULL ? size - at : (size_t)(end - text) - at;
        struct line line = {.text = text + at, .size = length, .number = number};
        good = take_line(settings, line, reason, reason_size);
        at += length + 1;
    }
    if (good)
        return settings;
    settings_destroy(settings);
    return NULL;
}

/* The file's bytes into a fresh buffer; NULL with the reason. */
static char *read_file(const char *path, size_t *size, char *reason, size_t reason_size)
{
    struct stat status;
    char *text = NULL;
    ssize_t got = -1;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool regular = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    if (file >= 0 && !regular)
        (void)snprintf(reason, reason_size, "%s: not a regular file", path);
    else if (file >= 0 && status.st_size > FILE_MAX)
        (void)snprintf(reason, reason_size, "%s: longer than %d bytes", path, FILE_MAX);
    else if (file >= 0)
        text = malloc(FILE_MAX + 1);
    if (text != NULL)
        got = read(file, text, FILE_MAX + 1);
    if (file < 0 || (text != NULL && got < 0))
        (void)snprintf(reason, reason_size, "%s: %s", path, strerror(errno));
    if (file >= 0)
        (void)close(file);
    if (got < 0) {
        free(text);
        return NULL;
    }
    *size = (size_t)got;
    return text;
}

/* Whether a libpq connection string holds a password: `password=...`, or `postgresql://user:password@...`. */
static bool has_password(const char *conninfo)
{
    const char *authority = strstr(conninfo, "://");
    const char *at = authority != NULL ? strchr(authority, '@') : NULL;
    const char *colon = at != NULL ? strchr(authority + strlen("://"), ':') : NULL;
    return strstr(conninfo, "password") != NULL || (colon != NULL && colon < at);
}

/* A secret stands in files for their owner alone. */
static bool keeps_secret(const struct settings *settings, const char *file, char *reason, size_t reason_size)
{
    struct stat status;
    const char *database = settings->file[name_index("database", strlen("database"))];
    if (database == NULL || !has_password(database) || stat(file, &status) != 0 ||
        (status.st_mode & 077) == 0)
        return true;
    (void)snprintf(
        reason, reason_size,
        "%s: others on this machine can read the password in it: chmod 600 it, or leave the password to "
        "~/.pgpass",
        file);
    return false;
}

struct settings *settings_create(const char *path, char *reason, size_t reason_size)
{
    char of_folder[4096] = DEFAULT_FILE;
    const char *named = path != NULL ? path : from_environment("config");
    const char *folder = from_environment("dir");
    if (folder != NULL)
        (void)snprintf(of_folder, sizeof of_folder, "%.4000s/kroo.conf", folder);
    if (named == NULL && access(of_folder, F_OK) != 0)
        return settings_parse("", 0, "", reason, reason_size);
    const char *file = named != NULL ? named : of_folder;
    size_t size = 0;
    (void)snprintf(reason, reason_size, "%s: no memory", file);
    char *text = read_file(file, &size, reason, reason_size);
    if (text == NULL)
        return NULL;
    struct settings *settings = settings_parse(text, size, file, reason, reason_size);
    free(text);
    if (settings == NULL || keeps_secret(settings, file, reason, reason_size))
        return settings;
    settings_destroy(settings);
    return NULL;
}

void settings_destroy(struct settings *settings)
{
    if (settings == NULL)
        return;
    for (int i = 0; i < NAMES; i++) {
        free(settings->option[i]);
        free(settings->file[i]);
    }
    free(settings);
}

/* --- values --- */

int settings_set(struct settings *settings, const char *name, const char *value)
{
    int index = name_index(name, strlen(name));
    if (index < 0 || strlen(value) > VALUE_MAX)
        return -1;
    char *copy = strdup(value);
    if (copy == NULL)
        return -1;
    free(settings->option[index]);
    settings->option[index] = copy;
    return 0;
}

const char *settings_get(const struct settings *settings, const char *name, const char *fallback)
{
    int index = name_index(name, strlen(name));
    assert(index >= 0);
    const char *environment = from_environment(name);
    if (settings->option[index] != NULL)
        return settings->option[index];
    if (environment != NULL)
        return environment;
    return settings->file[index] != NULL ? settings->file[index] : fallback;
}

/* Where the value in force comes from, for a complaint. */
static void describe_origin(const struct settings *settings, const char *name, char *out, size_t size)
{
    int index = name_index(name, strlen(name));
    if (settings->option[index] != NULL)
        (void)snprintf(out, size, "option %s", name);
    else if (from_environment(name) != NULL)
        (void)snprintf(out, size, "environment, setting %s", name);
    else
        (void)snprintf(out, size, "%s, line %u, %s", settings->origin, settings->line[index], name);
}

int settings_number(const struct settings *settings, const char *name, int64_t low, int64_t high,
                    int64_t fallback, int64_t *out, char *reason, size_t reason_size)
{
    const char *text = settings_get(settings, name, NULL);
    *out = fallback;
    if (text == NULL)
        return 0;
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    bool digits = isdigit((unsigned char)text[0]) || (text[0] == '-' && isdigit((unsigned char)text[1]));
    if (digits && *end == '\0' && errno == 0 && value >= low && value <= high) {
        *out = value;
        return 0;
    }
    char origin[ORIGIN_MAX + 64];
    describe_origin(settings, name, origin, sizeof origin);
    (void)snprintf(reason, reason_size, "%s: `%.40s` is not a whole number from %lld to %lld", origin, text,
                   (long long)low, (long long)high);
    return -1;
}
