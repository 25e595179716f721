/* Who is connected: sessions of workers and of `kroo`, found by number and by connection. A session outlives
 * its connection: the same process saying HELLO again (same nonce) is the same session. Used by the event
 * loop alone. */
#ifndef KROO_COORDINATOR_ROSTER_H
#define KROO_COORDINATOR_ROSTER_H

#include "coordinator/fitness.h"
#include "coordinator/meter.h"
#include "coordinator/ration.h"
#include "proto/message.h"
#include "proto/socket.h"

enum { ROSTER_SESSIONS_MAX = 65536 };

struct session {
    uint64_t id; /* the process's nonce, 53 bits: a coordinator that restarts finds its leases by it */
    struct socket_peer peer;
    enum message_role role;
    char name[MESSAGE_NAME_MAX];
    char engine_build[MESSAGE_NAME_MAX];
    uint32_t slots, credit;
    char tags[MESSAGE_TAGS_MAX];
    uint32_t speed, spread_ppm, load_ppm, scale_ppm;
    int64_t measured_ms; /* when that bench was */
    bool wants_bench;    /* timed play waits for a new one: told with the next answer */
    char confinement[MESSAGE_CONFINEMENT_MAX];
    char architecture[MESSAGE_TRAIT_MAX], compiler[MESSAGE_TRAIT_MAX];
    int64_t wall_off_ms; /* its clock less ours when it said HELLO; 0: it did not tell */
    int64_t heard_ms;
    int64_t able_ms; /* when it last asked for work or got on with some */
    bool lapsed;     /* a lease of its was without progress for a term, and none has got on since */
    struct meter meter;
    char told[MESSAGE_TEXT_MAX]; /* why it got nothing when it asked last; "": it got something */
    int64_t told_ms;
    uint64_t games, duplicates, refused; /* answered so far */
    struct allowance reports;            /* rows that it can cause beside its results */
    bool stored;                         /* its row is committed */
    uint64_t worker;                     /* audit_worker: who it is, whatever the session */
    unsigned setbacks;                   /* leases given back for a player's fault since its last game */
    bool had_finished;                   /* its last pair was of a finished experiment */
    struct session *next_by_id, *next_by_peer;
};

struct roster;

struct roster *roster_create(void);
void roster_destroy(struct roster *roster);
size_t roster_count(const struct roster *roster);

struct session *roster_find(const struct roster *roster, uint64_t id);
struct session *roster_find_peer(const struct roster *roster, const struct socket_peer *peer);
/* A new session; NULL when the roster is full or memory is short. */
struct session *roster_add(struct roster *roster, uint64_t id, const struct socket_peer *peer);
/* The session speaks through another connection from now on. */
void roster_move(struct roster *roster, struct session *session, const struct socket_peer *peer);
void roster_remove(struct roster *roster, struct session *session);
/* Calls `visit` for each session; it may remove the one it is given. */
void roster_each(struct roster *roster, void (*visit)(void *context, struct session *session), void *context);

#endif
