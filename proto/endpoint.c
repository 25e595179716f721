#include "proto/endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { SCHEME = 6 /* letters of "ipc://" and "tcp://" */ };

static int refuse(char *reason, size_t size, const char *endpoint, const char *why)
{
    (void)snprintf(reason, size, "%.200s: %s", endpoint, why);
    return -1;
}

static int parse_ipc(const char *text, struct endpoint *out, char *reason, size_t reason_size)
{
    const char *path = text + SCHEME;
    size_t length = strlen(path);
    if (length == 0 || path[0] == '*' || path[0] == '@')
        return refuse(reason, reason_size, text,
                      "an ipc address is the path of a file in a folder of your own");
    if (length > ENDPOINT_PATH_MAX) {
        (void)snprintf(reason, reason_size,
                       "%.200s: a path of %zu bytes, at most %d fit a socket: choose a shorter folder", text,
                       length, ENDPOINT_PATH_MAX);
        return -1;
    }
    out->kind = ENDPOINT_IPC;
    memcpy(out->text, text, strlen(text) + 1);
    return 0;
}

static bool port_is_valid(const char *port, bool listening)
{
    if (listening && strcmp(port, "*") == 0)
        return true;
    size_t digits = strspn(port, "0123456789");
    if (digits == 0 || digits > 5 || port[digits] != '\0')
        return false;
    long number = strtol(port, NULL, 10);
    return number >= 1 && number <= 65535;
}

/* Literals only: a name might mean another machine tomorrow. */
static enum endpoint_kind host_kind(const char *host)
{
    struct in_addr four;
    if (inet_pton(AF_INET, host, &four) == 1 && ntohl(four.s_addr) >> 24 == 127)
        return ENDPOINT_LOOPBACK;
    return strcmp(host, "[::1]") == 0 ? ENDPOINT_LOOPBACK : ENDPOINT_FAR;
}

static int parse_tcp(const char *text, bool listening, struct endpoint *out, char *reason, size_t reason_size)
{
    const char *address = text + SCHEME;
    const char *colon = strrchr(address, ':');
    if (colon == NULL || !port_is_valid(colon + 1, listening))
        return refuse(reason, reason_size, text, "a TCP address is tcp://HOST:PORT with a port of 1..65535");
    char host[ENDPOINT_TEXT];
    size_t length = (size_t)(colon - address);
    memcpy(host, address, length);
    host[length] = '\0';
    bool any = strcmp(host, "*") == 0;
    bool six = host[0] == '[' && length > 2 && host[length - 1] == ']';
    size_t good = strspn(host, six ? "[]0123456789abcdefABCDEF:."
                                   : "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-");
    if (length == 0 || (any && !listening) || (!any && good != length))
        return refuse(reason, reason_size, text,
                      "a TCP address is tcp://HOST:PORT with a host name or number");
    /* libzmq binds numbers and interfaces only. */
    const char *number = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    out->kind = host_kind(number);
    out->six = six;
    (void)snprintf(out->text, sizeof out->text, "tcp://%.160s:%.8s", number, colon + 1);
    return 0;
}

int endpoint_parse(const char *text, bool listening, struct endpoint *out, char *reason, size_t reason_size)
{
    memset(out, 0, sizeof *out);
    if (strncmp(text, "ipc://", SCHEME) == 0)
        return parse_ipc(text, out, reason, reason_size);
    if (strlen(text) > 160)
        return refuse(reason, reason_size, text, "too long for an address");
    if (strncmp(text, "tcp://", SCHEME) == 0)
        return parse_tcp(text, listening, out, reason, reason_size);
    return refuse(reason, reason_size, text, "an address is ipc://PATH or tcp://HOST:PORT");
}

static int check_folder(const char *text, char *reason, size_t reason_size)
{
    char path[ENDPOINT_TEXT];
    (void)snprintf(path, sizeof path, "%s", text + SCHEME);
    const char *folder = dirname(path);
    struct stat status;
    if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode))
        return refuse(reason, reason_size, text, "its folder is not there: make it with mode 0700");
    if (status.st_uid != geteuid())
        return refuse(reason, reason_size, text, "its folder belongs to another user");
    if ((status.st_mode & 077) != 0)
        return refuse(reason, reason_size, text,
                      "others may enter its folder, and an ipc address has no keys: chmod 0700 the folder");
    return 0;
}

/* A socket file that nobody serves refuses connections; anything else that is there must stay. */
static int check_socket_file(const char *text, char *reason, size_t reason_size)
{
    const char *path = text + SCHEME;
    struct stat status;
    if (lstat(path, &status) != 0)
        return errno == ENOENT ? 0 : refuse(reason, reason_size, text, strerror(errno));
    if (!S_ISSOCK(status.st_mode))
        return refuse(reason, reason_size, text,
                      "a file lies there that is no socket: remove it or choose another path");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path));
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (probe < 0)
        return refuse(reason, reason_size, text, strerror(errno));
    int connected = connect(probe, (const struct sockaddr *)&address, sizeof address);
    int error = connected == 0 ? 0 : errno;
    (void)close(probe);
    if (error == ECONNREFUSED || error == ENOENT)
        return 0;
    return refuse(reason, reason_size, text,
                  "another coordinator listens there: stop it or choose another path");
}

int endpoint_claim(const struct endpoint *endpoint, char *reason, size_t reason_size)
{
    if (check_folder(endpoint->text, reason, reason_size) != 0)
        return -1;
    char path[ENDPOINT_TEXT + 8];
    (void)snprintf(path, sizeof path, "%s.lock", endpoint->text + SCHEME);
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0)
        return refuse(reason, reason_size, path, strerror(errno));
    if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
        (void)close(lock);
        return refuse(reason, reason_size, endpoint->text,
                      "another coordinator listens there: stop it or choose another path");
    }
    if (check_socket_file(endpoint->text, reason, reason_size) != 0) {
        (void)close(lock);
        return -1;
    }
    return lock;
}
