/* Which names this page answers to. A browser that was led here under another name (DNS rebinding) is not
 * served: its page would read ours. Pure; any thread. */
#ifndef KROO_COORDINATOR_WEB_HOST_H
#define KROO_COORDINATOR_WEB_HOST_H

#include <stdbool.h>

/* `header` is a Host header, NAME or NAME:PORT, whatever the port (a tunnel changes it); NULL is nobody's.
 * Ours are localhost, 127.0.0.1, [::1], `own` (without brackets), and those in `names`, comma separated, NULL
 * for none. */
bool web_host_is_ours(const char *header, const char *own, const char *names);

#endif
