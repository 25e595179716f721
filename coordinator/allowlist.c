#include "coordinator/allowlist.h"

#include <stdlib.h>
#include <string.h>

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct store_peer *)a)->public_key, ((const struct store_peer *)b)->public_key);
}

void allowlist_replace(struct allowlist *list, struct store_peer *peers, size_t count)
{
    free(list->peers);
    if (count)
        qsort(peers, count, sizeof *peers, by_key);
    *list = (struct allowlist){peers, count};
}

void allowlist_done(struct allowlist *list)
{
    free(list->peers);
    *list = (struct allowlist){0};
}

static bool needs_no_key(const char *user)
{
    return strcmp(user, "local") == 0 || strcmp(user, "loopback") == 0;
}

const struct store_peer *allowlist_find(const struct allowlist *list, const char *user)
{
    struct store_peer wanted = {0};
    if (list->count == 0 || strlen(user) >= sizeof wanted.public_key)
        return NULL;
    memcpy(wanted.public_key, user, strlen(user));
    return bsearch(&wanted, list->peers, list->count, sizeof *list->peers, by_key);
}

bool allowlist_admits(const struct allowlist *list, const char *user)
{
    return needs_no_key(user) || allowlist_find(list, user);
}

bool allowlist_allows_role(const struct allowlist *list, const char *user, enum message_role role)
{
    if (needs_no_key(user))
        return true;
    const struct store_peer *peer = allowlist_find(list, user);
    if (!peer)
        return false;
    if (role == MESSAGE_ROLE_WORKER)
        return strcmp(peer->role, "operator") == 0 || strcmp(peer->role, "worker") == 0;
    return strcmp(peer->role, "worker") != 0;
}

bool allowlist_allows_change(const struct allowlist *list, const char *user)
{
    const struct store_peer *peer = allowlist_find(list, user);
    return needs_no_key(user) || (peer && strcmp(peer->role, "operator") == 0);
}

bool allowlist_may_submit(const struct allowlist *list, const char *user, bool *needs_approval)
{
    const struct store_peer *peer = allowlist_find(list, user);
    *needs_approval = peer && strcmp(peer->role, "submitter") == 0;
    return *needs_approval || allowlist_allows_change(list, user);
}

const char *allowlist_name(const struct allowlist *list, const char *user)
{
    const struct store_peer *peer = allowlist_find(list, user);
    return peer ? peer->name : user;
}
