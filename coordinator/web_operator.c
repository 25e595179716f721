#include "coordinator/web_operator.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/artifact.h"

enum { LINE_MAX_BYTES = WEB_OPERATOR_NAME + WEB_TOKEN_MOST + 64 };

struct web_operators {
    size_t count;
    struct web_operator {
        char name[WEB_OPERATOR_NAME];
        uint8_t token[ARTIFACT_HASH];
    } list[WEB_OPERATORS];
};

static FILE *open_private(const char *path, char *reason, size_t reason_size)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        snprintf(reason, reason_size, "web_token: %s: %s", path, strerror(errno));
    } else if (!S_ISREG(status.st_mode) || (status.st_mode & 077) != 0) {
        snprintf(reason, reason_size, "web_token: others may read %s: chmod 600 it", path);
    } else {
        FILE *file = fdopen(fd, "r");
        if (file)
            return file;
        snprintf(reason, reason_size, "web_token: no memory");
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

static bool is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@";
    size_t size = strlen(text);
    return size > 0 && size < WEB_OPERATOR_NAME && strspn(text, letters) == size;
}

/* True for a comment, an empty line, and a sound one, which is taken. */
static bool take_line(struct web_operators *operators, char *line)
{
    char *rest = NULL, *name = strtok_r(line, " \t\r\n", &rest), *token = strtok_r(NULL, " \t\r\n", &rest);
    if (!name || name[0] == '#')
        return true;
    if (!token || strtok_r(NULL, " \t\r\n", &rest) || !is_name(name) || strlen(token) < WEB_TOKEN_LEAST ||
        strlen(token) > WEB_TOKEN_MOST || operators->count == WEB_OPERATORS)
        return false;
    struct web_operator *one = &operators->list[operators->count++];
    snprintf(one->name, sizeof one->name, "%s", name);
    artifact_hash(token, strlen(token), one->token);
    return true;
}

struct web_operators *web_operators_load(const char *path, char *reason, size_t reason_size)
{
    char line[LINE_MAX_BYTES];
    bool good = true;
    unsigned number = 0;
    FILE *file = open_private(path, reason, reason_size);
    struct web_operators *operators = file ? calloc(1, sizeof *operators) : NULL;
    while (operators && good && fgets(line, sizeof line, file)) {
        number++;
        good = (strchr(line, '\n') || feof(file)) && take_line(operators, line);
    }
    explicit_bzero(line, sizeof line);
    if (file)
        fclose(file);
    if (operators && good && operators->count > 0)
        return operators;
    if (operators)
        snprintf(reason, reason_size,
                 "web_token: %s, line %u: wants `NAME TOKEN`, at most %d of them, tokens of %d to %d letters",
                 path, number, WEB_OPERATORS, WEB_TOKEN_LEAST, WEB_TOKEN_MOST);
    else if (file)
        snprintf(reason, reason_size, "web_token: no memory");
    free(operators);
    return NULL;
}

void web_operators_destroy(struct web_operators *operators)
{
    free(operators);
}

/* Hashes are compared, so that the time it takes tells nothing about a token. */
const char *web_operators_name(const struct web_operators *operators, const char *authorization)
{
    static const char scheme[] = "Bearer ";
    uint8_t hash[ARTIFACT_HASH];
    if (!operators || !authorization || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0)
        return NULL;
    const char *token = authorization + sizeof scheme - 1;
    artifact_hash(token, strlen(token), hash);
    for (size_t i = 0; i < operators->count; i++)
        if (memcmp(operators->list[i].token, hash, sizeof hash) == 0)
            return operators->list[i].name;
    return NULL;
}
