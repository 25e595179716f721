#include "coordinator/roster.h"

#include <stdlib.h>
#include <string.h>

#include "engine/mix.h"

enum { ROSTER_BUCKETS = 16384 };

struct roster {
    size_t count;
    struct session *by_id[ROSTER_BUCKETS], *by_peer[ROSTER_BUCKETS];
};

struct roster *roster_create(void)
{
    return calloc(1, sizeof(struct roster));
}

void roster_destroy(struct roster *roster)
{
    if (!roster)
        return;
    for (size_t i = 0; i < ROSTER_BUCKETS; i++)
        while (roster->by_id[i])
            roster_remove(roster, roster->by_id[i]);
    free(roster);
}

size_t roster_count(const struct roster *roster)
{
    return roster->count;
}

static size_t id_bucket(uint64_t id)
{
    return mix_finish(id) % ROSTER_BUCKETS;
}

static size_t peer_bucket(const struct socket_peer *peer)
{
    uint64_t hash = peer->id_size;
    for (size_t i = 0; i < peer->id_size; i++)
        hash = mix_finish(hash ^ peer->id[i]);
    return hash % ROSTER_BUCKETS;
}

static bool same_peer(const struct socket_peer *a, const struct socket_peer *b)
{
    return a->id_size == b->id_size && memcmp(a->id, b->id, a->id_size) == 0;
}

struct session *roster_find(const struct roster *roster, uint64_t id)
{
    struct session *session = roster->by_id[id_bucket(id)];
    while (session && session->id != id)
        session = session->next_by_id;
    return session;
}

struct session *roster_find_peer(const struct roster *roster, const struct socket_peer *peer)
{
    struct session *session = roster->by_peer[peer_bucket(peer)];
    while (session && !same_peer(&session->peer, peer))
        session = session->next_by_peer;
    return session;
}

static void link_peer(struct roster *roster, struct session *session)
{
    struct session **bucket = &roster->by_peer[peer_bucket(&session->peer)];
    session->next_by_peer = *bucket;
    *bucket = session;
}

static void unlink_peer(struct roster *roster, struct session *session)
{
    struct session **at = &roster->by_peer[peer_bucket(&session->peer)];
    while (*at != session)
        at = &(*at)->next_by_peer;
    *at = session->next_by_peer;
}

struct session *roster_add(struct roster *roster, uint64_t id, const struct socket_peer *peer)
{
    struct session *session = roster->count < ROSTER_SESSIONS_MAX ? calloc(1, sizeof(struct session)) : NULL;
    if (!session)
        return NULL;
    session->id = id;
    session->peer = *peer;
    struct session **bucket = &roster->by_id[id_bucket(id)];
    session->next_by_id = *bucket;
    *bucket = session;
    link_peer(roster, session);
    roster->count++;
    return session;
}

void roster_move(struct roster *roster, struct session *session, const struct socket_peer *peer)
{
    unlink_peer(roster, session);
    session->peer = *peer;
    link_peer(roster, session);
}

void roster_remove(struct roster *roster, struct session *session)
{
    unlink_peer(roster, session);
    struct session **at = &roster->by_id[id_bucket(session->id)];
    while (*at != session)
        at = &(*at)->next_by_id;
    *at = session->next_by_id;
    free(session);
    roster->count--;
}

void roster_each(struct roster *roster, void (*visit)(void *context, struct session *session), void *context)
{
    for (size_t i = 0; i < ROSTER_BUCKETS; i++)
        for (struct session *session = roster->by_id[i], *next; session; session = next) {
            next = session->next_by_id;
            visit(context, session);
        }
}
