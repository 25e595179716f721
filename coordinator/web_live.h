/* Live pages: one thread asks the database for the cluster's pulse every two seconds while anybody listens,
 * and every listener gets that one answer as a server-sent event. Listeners are bounded; each is served by
 * its connection's thread. */
#ifndef KROO_COORDINATOR_WEB_LIVE_H
#define KROO_COORDINATOR_WEB_LIVE_H

#include "coordinator/web_store.h"

enum {
    WEB_LISTENERS = 32,
    WEB_PULSE_MS = 2000,
    WEB_QUIET_MS = 5000, /* a listener hears at least a comment as often: one that is gone is noticed */
};

struct web_live;
struct MHD_Response;

/* `call` is what is asked each time. NULL without memory or a thread. */
struct web_live *web_live_create(struct web_store *stores, const struct web_call *call);
/* Ends all listening at once; connections still open end by themselves. */
void web_live_stop(struct web_live *live);
/* After web_live_stop, and when no response is left. Takes NULL. */
void web_live_destroy(struct web_live *live);
/* An endless answer for one more listener; NULL when there are enough, or without memory. */
struct MHD_Response *web_live_follow(struct web_live *live);

#endif
