/* Constant expressions for tables of sowings, houses numbered 0..11 from the origin's own row on. Internal to
 * engine/. */
#ifndef KROO_ENGINE_SOWING_H
#define KROO_ENGINE_SOWING_H

/* Seeds falling k houses (1..11) after the origin when n are sown; the origin is skipped on every lap. */
#define SOWING_FALLEN(n, k)   (((n) + 11 - (k)) / 11)
#define SOWING_DISTANCE(h, p) (((p) - (h) + 12) % 12)
/* What sowing n from house h adds to house p; the origin loses its n seeds. */
#define SOWING_ADDED(h, n, p) ((p) == (h) ? -(int64_t)(n) : (int64_t)SOWING_FALLEN(n, SOWING_DISTANCE(h, p)))
/* House of the last seed, n > 0. */
#define SOWING_LAST(h, n) (((h) + ((n) + 10) % 11 + 1) % 12)

/* The rows of a table [6][49] whose entries are entry(h, n). */
#define SOWING_EIGHT(entry, h, n)                                                                            \
    entry(h, n), entry(h, n + 1), entry(h, n + 2), entry(h, n + 3), entry(h, n + 4), entry(h, n + 5),        \
        entry(h, n + 6), entry(h, n + 7)
#define SOWING_COUNTS(entry, h)                                                                              \
    {                                                                                                        \
        SOWING_EIGHT(entry, h, 0), SOWING_EIGHT(entry, h, 8), SOWING_EIGHT(entry, h, 16),                    \
            SOWING_EIGHT(entry, h, 24), SOWING_EIGHT(entry, h, 32), SOWING_EIGHT(entry, h, 40), entry(h, 48) \
    }
#define SOWING_TABLE(entry)                                                                                  \
    {                                                                                                        \
        SOWING_COUNTS(entry, 0), SOWING_COUNTS(entry, 1), SOWING_COUNTS(entry, 2), SOWING_COUNTS(entry, 3),  \
            SOWING_COUNTS(entry, 4), SOWING_COUNTS(entry, 5)                                                 \
    }

#endif
