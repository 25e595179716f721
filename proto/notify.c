#include "proto/notify.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct {
    int fd; /* -1: nobody listens */
    struct sockaddr_un address;
    socklen_t address_size;
    int64_t every_ms, fed_ms; /* 0: no watchdog */
    bool ready;
} supervisor = {.fd = -1};

/* For this process, if a pid is named; 0: none. */
static int64_t watchdog_ms(void)
{
    const char *term = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    if (!term || (pid && strtoll(pid, NULL, 10) != (long long)getpid()))
        return 0;
    long long us = strtoll(term, NULL, 10);
    return us > 0 ? (us + 999) / 1000 : 0;
}

void notify_open(void)
{
    const char *path = getenv("NOTIFY_SOCKET");
    size_t length = path ? strlen(path) : 0;
    struct sockaddr_un *address = &supervisor.address;
    notify_close();
    if (length > 1 && length < sizeof address->sun_path && (path[0] == '/' || path[0] == '@')) {
        address->sun_family = AF_UNIX;
        memcpy(address->sun_path, path, length);
        if (path[0] == '@')
            address->sun_path[0] = '\0'; /* of the abstract namespace */
        supervisor.address_size =
            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (path[0] == '/'));
        supervisor.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    }
    int64_t term_ms = watchdog_ms();
    supervisor.every_ms = term_ms > 3 ? term_ms / 3 : term_ms;
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}

void notify_close(void)
{
    if (supervisor.fd >= 0)
        close(supervisor.fd);
    memset(&supervisor, 0, sizeof supervisor);
    supervisor.fd = -1;
}

/* A supervisor that is gone or busy is its own affair: the next one comes soon. */
static void send_text(const char *text, size_t length)
{
    if (supervisor.fd >= 0)
        sendto(supervisor.fd, text, length, MSG_NOSIGNAL | MSG_DONTWAIT,
               (const struct sockaddr *)&supervisor.address, supervisor.address_size);
}

void notify_ready(const char *text)
{
    char message[512];
    int length =
        snprintf(message, sizeof message, "%sSTATUS=%.400s", supervisor.ready ? "" : "READY=1\n", text);
    for (char *at = message + (supervisor.ready ? 0 : 8); *at; at++)
        if (*at == '\n')
            *at = ' '; /* one variable a line */
    supervisor.ready = true;
    if (length > 0)
        send_text(message, (size_t)length < sizeof message ? (size_t)length : sizeof message - 1);
}

void notify_alive(int64_t now_ms)
{
    static const char message[] = "WATCHDOG=1";
    if (supervisor.every_ms == 0 || (supervisor.fed_ms && now_ms - supervisor.fed_ms < supervisor.every_ms))
        return;
    supervisor.fed_ms = now_ms;
    send_text(message, sizeof message - 1);
}

void notify_stopping(void)
{
    static const char message[] = "STOPPING=1";
    send_text(message, sizeof message - 1);
}
