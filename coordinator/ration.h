/* How many messages a peer may send: a bucket for each connection that fills with `rate` messages a second
 * and holds two seconds' worth. What comes beyond is refused with the time to wait, and when a whole second's
 * worth of that was refused too, dropped unread, so that a noisy peer costs neither answers nor decoding. A
 * peer that waits for its answers never comes near. Fixed memory: of two connections that share a place the
 * newer has it, with a full bucket. Pure; one thread. */
#ifndef KROO_COORDINATOR_RATION_H
#define KROO_COORDINATOR_RATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RATION_PLACES = 16384, RATION_USUAL = 2000, RATION_MOST = 1000000 };

struct ration_table {
    uint32_t rate; /* messages a second; 0: no limit */
    struct ration {
        uint64_t peer; /* 0: nobody */
        int64_t at_ms;
        double left; /* messages; below 0: so many were refused */
    } places[RATION_PLACES];
};

enum ration_verdict { RATION_SERVE, RATION_REFUSE, RATION_DROP };

/* NULL without memory. */
struct ration_table *ration_create(uint32_t rate);
void ration_destroy(struct ration_table *table);
/* A connection's number, for the calls below, from the bytes that name it. */
uint64_t ration_peer(const uint8_t *id, size_t size);
/* A message came. REFUSE: *retry_ms is when the next one will be served. */
enum ration_verdict ration_take(struct ration_table *table, uint64_t peer, int64_t now_ms,
                                uint32_t *retry_ms);
/* Whether the next message would be dropped; changes nothing. */
bool ration_is_spent(const struct ration_table *table, uint64_t peer, int64_t now_ms);

/* How often something may be told, in a log or a row, by whoever makes it happen: `burst` times at once, then
 * `a_minute`. Zeros are a full one. */
struct allowance {
    double spent;
    int64_t at_ms;
};
bool allowance_take(struct allowance *allowance, unsigned burst, unsigned a_minute, int64_t now_ms);

#endif
