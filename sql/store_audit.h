/* Pairs that other workers play again: what the coordinator writes and reads of audits and of disputes that
 * arose after their pair counted (migration 012). Within the caller's transaction where there is one. */
#ifndef KROO_SQL_STORE_AUDIT_H
#define KROO_SQL_STORE_AUDIT_H

#include "sql/store.h"

/* The key of the choice of audited pairs: never shown, never logged. */
enum store_error store_audit_secret(struct store *store, uint8_t secret[STORE_HASH]);
/* Chooses pairs of a running experiment; `chosen` has room for all and says which are new. */
enum store_error store_audit_begin(struct store *store, uint64_t experiment, const uint64_t *pairs,
                                   size_t count, uint64_t *chosen, size_t *chosen_count);
/* A session delivered the stored game once more. *closed: that closed an audit. */
enum store_error store_audit_agree(struct store *store, uint64_t experiment, uint64_t pair, unsigned leg,
                                   uint64_t session, bool *closed);
/* Gives up the undisputed open audits of an experiment: their pairs, malloc'ed. */
enum store_error store_audit_waive(struct store *store, uint64_t experiment, uint64_t **pairs, size_t *count);
/* The verdict over [0, counted) is due: a remark when some of them were not audited, else "". */
enum store_error store_audit_end(struct store *store, uint64_t experiment, uint64_t counted,
                                 char remark[STORE_TEXT]);
/* A game came that differs from what a settled dispute agreed on. */
enum store_error store_charge_late(struct store *store, const struct store_game *game);

/* A pair that waits to be played again, and one worker that has played it ("" = not known); in pair order,
 * one row for each worker. */
struct store_replay {
    uint64_t pair;
    bool disputed, held;
    char peer[STORE_NAME], name[STORE_NAME];
};
/* Of these pairs, or with NULL of all; *list is malloc'ed. */
enum store_error store_replays(struct store *store, uint64_t experiment, const uint64_t *pairs, size_t count,
                               struct store_replay **list, size_t *list_count);
enum store_error store_replay_lease(struct store *store, const struct store_lease *lease);
/* When a coordinator starts: such leases are none any more. */
enum store_error store_replay_leases_drop(struct store *store);

/* A finished experiment of which a share is to be played again. */
struct store_audit_request {
    uint64_t id, experiment, counted_pairs;
    uint32_t share_ppm;
    bool begun;
};
/* REFUSED with the reason: unknown, running, timed, too much. */
enum store_error store_audit_ask(struct store *store, uint64_t experiment, uint32_t share_ppm, const char *by,
                                 uint64_t *request);
/* Those whose pairs are not chosen yet, and with `begun` those with open audits too; *list is malloc'ed. */
enum store_error store_audit_requests(struct store *store, bool begun, struct store_audit_request **list,
                                      size_t *count);
enum store_error store_audit_begin_request(struct store *store, uint64_t request, const uint64_t *pairs,
                                           size_t count);

#endif
