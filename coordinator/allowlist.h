/* Who may do what: the allow-list as last read from the table `peer`. `local` (an ipc endpoint) and
 * `loopback` peers need no key. Used by the event loop alone. */
#ifndef KROO_COORDINATOR_ALLOWLIST_H
#define KROO_COORDINATOR_ALLOWLIST_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/message.h"
#include "sql/store.h"

struct allowlist {
    struct store_peer *peers; /* sorted by key */
    size_t count;
};

/* Takes `peers` (malloc'ed, any order) in place of what was there. */
void allowlist_replace(struct allowlist *list, struct store_peer *peers, size_t count);
void allowlist_done(struct allowlist *list);
/* The peer behind a ZAP user id; NULL when it is not listed or needs no listing. */
const struct store_peer *allowlist_find(const struct allowlist *list, const char *user);
/* May `user` still be connected at all? */
bool allowlist_admits(const struct allowlist *list, const char *user);
/* May `user` say HELLO in this role: workers as worker, operators as both, viewers and submitters as control.
 */
bool allowlist_allows_role(const struct allowlist *list, const char *user, enum message_role role);
/* May `user` change things: local peers and operators. */
bool allowlist_allows_change(const struct allowlist *list, const char *user);
/* May `user` ask for experiments; do they then wait for an operator's approval? */
bool allowlist_may_submit(const struct allowlist *list, const char *user, bool *needs_approval);
/* A name for events and rows: the listed name, or the user id itself. */
const char *allowlist_name(const struct allowlist *list, const char *user);

#endif
