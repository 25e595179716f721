/* The worker's side of the conversation as data: where it stands with the coordinator, and the one table of
 * steps (DESIGN section 6). session_step is the only writer of the state. Pure; one thread. */
#ifndef KROO_WORKER_SESSION_H
#define KROO_WORKER_SESSION_H

#include <stdint.h>

enum session_state {
    SESSION_APART,    /* no conversation; waits for its back-off, then connects */
    SESSION_GREETING, /* HELLO goes out, nothing else is said until WELCOME */
    SESSION_READY,    /* welcomed: leases, results, progress, artifacts */
    SESSION_LEAVING,  /* RELEASE(goodbye) is out */
    SESSION_OVER,     /* nothing more is said by this process */
    SESSION_STATES
};

enum session_event {
    SESSION_EVENT_CONNECT,  /* the back-off is over */
    SESSION_EVENT_WELCOME,  /* the coordinator took the HELLO */
    SESSION_EVENT_SILENCE,  /* a deadline passed and nothing at all was heard */
    SESSION_EVENT_STRANGER, /* it was told to say HELLO: the coordinator does not know this connection */
    SESSION_EVENT_PUT_OFF,  /* the HELLO was refused for now */
    SESSION_EVENT_BARRED,   /* refused for good: version, role, or a HELLO it will never take */
    SESSION_EVENT_LEAVE,    /* the worker has said all it had to say, or has no time left */
    SESSION_EVENT_RELEASED, /* the coordinator took the goodbye */
    SESSION_EVENTS
};

struct session {
    enum session_state state;
    uint64_t refused_steps; /* events that had no step; the caller logs each */
};

void session_init(struct session *session);
/* Takes the step. Returns 0, or -1 without effect (but the counter) where the table has none. */
int session_step(struct session *session, enum session_event event);
/* The state that follows, or -1. */
int session_next(enum session_state state, enum session_event event);

const char *session_state_name(enum session_state state);
const char *session_event_name(enum session_event event);

#endif
