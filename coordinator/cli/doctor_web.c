/* The web page: whether it is served where the settings say. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "coordinator/cli/doctor.h"
#include "coordinator/cli/web.h"

enum { ANSWER_S = 2, PORT_TEXT = 8 };

/* HOST:PORT, [HOST]:PORT or PORT: host and port apart. */
static int split(const char *address, char host[WEB_ADDRESS], char port[PORT_TEXT])
{
    const char *colon = strrchr(address, ':');
    size_t length = colon ? (size_t)(colon - address) : 0;
    bool bracketed = length >= 2 && address[0] == '[' && address[length - 1] == ']';
    const char *digits = colon ? colon + 1 : address;
    if (strlen(digits) >= PORT_TEXT || length >= WEB_ADDRESS)
        return -1;
    strcpy(port, digits);
    snprintf(host, WEB_ADDRESS, "%.*s", (int)(length - 2 * bracketed), address + bracketed);
    if (length == 0)
        strcpy(host, "127.0.0.1");
    return 0;
}

/* A connection, or -1 with errno. */
static int connect_to(const char *host, const char *port)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    struct timeval patience = {.tv_sec = ANSWER_S};
    if (getaddrinfo(host, port, &hints, &found) != 0)
        return errno = EADDRNOTAVAIL, -1;
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
                    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0 ||
                    connect(fd, found->ai_addr, found->ai_addrlen) != 0)) {
        int error = errno;
        close(fd);
        errno = error;
        fd = -1;
    }
    freeaddrinfo(found);
    return fd;
}

/* The first line of the answer to GET /; "" when there is none. */
static void ask(int fd, char line[128])
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    ssize_t size = send(fd, request, sizeof request - 1, MSG_NOSIGNAL) == sizeof request - 1
                       ? recv(fd, line, 127, MSG_WAITALL)
                       : 0;
    line[size > 0 ? size : 0] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
}

void doctor_check_web(struct doctor *doctor)
{
    static const char mend[] =
        "start the coordinator with that setting `web` (a private cluster: `kroo up`), or "
        "correct it";
    const char *address = settings_get(doctor->settings, "web", "off");
    char url[WEB_URL], host[WEB_ADDRESS], port[PORT_TEXT], line[128];
    web_url(address, url);
    if (!url[0]) {
        doctor_add(doctor, DOCTOR_OK, "web page", "address", "", "none is served");
        return;
    }
    int fd = split(address, host, port) == 0 ? connect_to(host, port) : (errno = EINVAL, -1);
    if (fd < 0) {
        doctor_add(doctor, DOCTOR_ERROR, "web page", "address", mend, "%s: %s", url, strerror(errno));
        return;
    }
    ask(fd, line);
    close(fd);
    bool is_served = strncmp(line, "HTTP/1.1 200", 12) == 0;
    doctor_add(doctor, is_served ? DOCTOR_OK : DOCTOR_ERROR, "web page", "address", mend, "%s%s%s", url,
               is_served ? "" : " answers: ",
               is_served ? ""
               : line[0] ? line
                         : "nothing");
}
