#include "coordinator/listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Cuts the text into host and port; a bare port means the loopback address. */
static int split_address(const char *text, char host[LISTEN_HOST], char port[16])
{
    const char *colon = strrchr(text, ':');
    const char *number = colon ? colon + 1 : text;
    size_t length = colon ? (size_t)(colon - text) : 0;
    char *end = NULL;
    unsigned long value = number[0] >= '0' && number[0] <= '9' ? strtoul(number, &end, 10) : 65536;
    if (value > 65535 || *end != '\0' || length >= LISTEN_HOST)
        return -1;
    snprintf(port, 16, "%lu", value);
    if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    } else if (memchr(text, ':', length)) {
        return -1; /* an IPv6 address wants its brackets */
    }
    snprintf(host, LISTEN_HOST, "%.*s", (int)length, text);
    if (!length)
        snprintf(host, LISTEN_HOST, "127.0.0.1");
    return 0;
}

int listen_resolve(const char *what, const char *text, struct listen_address *out, char *reason,
                   size_t reason_size)
{
    char port[16];
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    memset(out, 0, sizeof *out);
    if (split_address(text, out->host, port) != 0) {
        snprintf(reason, reason_size, "%s wants ADDRESS:PORT, [ADDRESS]:PORT or PORT, not \"%.100s\"", what,
                 text);
        return LISTEN_WRONG;
    }
    int outcome = getaddrinfo(out->host, port, &hints, &found);
    if (outcome != 0) {
        snprintf(reason, reason_size, "%s: there is no address \"%.100s\": %s", what, out->host,
                 gai_strerror(outcome));
        return LISTEN_WRONG;
    }
    memcpy(&out->name, found->ai_addr, found->ai_addrlen);
    out->size = found->ai_addrlen;
    out->family = found->ai_family;
    freeaddrinfo(found);
    return 0;
}

int listen_open(const char *what, const struct listen_address *address, int backlog, char *reason,
                size_t reason_size)
{
    int yes = 1, fd = socket(address->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        bind(fd, (const struct sockaddr *)&address->name, address->size) == 0 && listen(fd, backlog) == 0)
        return fd;
    int why = errno;
    snprintf(reason, reason_size, "%s: cannot listen on %.100s: %s", what, address->host, strerror(why));
    if (fd >= 0)
        close(fd);
    return why == EADDRINUSE ? LISTEN_TAKEN : LISTEN_REFUSED;
}

bool listen_is_loopback(const struct listen_address *address)
{
    if (address->family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)&address->name)->sin6_addr);
    return ntohl(((const struct sockaddr_in *)&address->name)->sin_addr.s_addr) >> 24 == 127;
}

unsigned listen_port(int fd)
{
    struct sockaddr_storage name = {0};
    socklen_t size = sizeof name;
    if (getsockname(fd, (struct sockaddr *)&name, &size) != 0)
        return 0;
    return ntohs(name.ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)&name)->sin6_port
                                            : ((const struct sockaddr_in *)&name)->sin_port);
}
