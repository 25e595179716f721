/* How a daemon tells its supervisor how it is: datagrams to the socket that systemd names in NOTIFY_SOCKET
 * (sd_notify's protocol), nothing when there is none. The watchdog is fed by notify_alive, which the event
 * loop calls when it has got on, so that a hung loop is noticed although its process lives. Never waits. One
 * thread. */
#ifndef KROO_PROTO_NOTIFY_H
#define KROO_PROTO_NOTIFY_H

#include <stdint.h>

/* Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and takes them out of the environment, so that no
 * program started from here speaks in this one's name. */
void notify_open(void);
void notify_close(void);
/* READY=1 (the first time) and STATUS=text. */
void notify_ready(const char *text);
/* Feeds the watchdog, at most once in a third of its term. */
void notify_alive(int64_t now_ms);
/* STOPPING=1. */
void notify_stopping(void);

#endif
