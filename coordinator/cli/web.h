/* Where the web page of a cluster is, for `kroo up` and `kroo web`. One thread. */
#ifndef KROO_COORDINATOR_CLI_WEB_H
#define KROO_COORDINATOR_CLI_WEB_H

#include <stdbool.h>
#include <stddef.h>

enum { WEB_ADDRESS = 280, WEB_URL = WEB_ADDRESS + 16 };

/* The address for the private cluster in `dir` with the settings `config` (which need not be there): `wanted`
 * if it is given; what the settings say, when its coordinator runs or nobody listens there; else a port of
 * the loopback address that is free, the same as long as it stays free. "off": none. */
void web_choose(const char *dir, const char *config, bool is_running, const char *wanted,
                char out[WEB_ADDRESS]);
/* The URL of an address as the setting `web` has it; "" for off. */
void web_url(const char *address, char out[WEB_URL]);

#endif
