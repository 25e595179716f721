/* Signatures of what workers run (migration 024): stored and read as they are, checked by whoever runs it. */
#ifndef KROO_SQL_STORE_SEAL_H
#define KROO_SQL_STORE_SEAL_H

#include "sql/store.h"

enum { STORE_SEAL_KEY = 32, STORE_SEAL_SIGNATURE = 64, STORE_SEALS_MAX = 16, STORE_SEAL_WORD = 16 };

struct store_seal {
    char name[STORE_NAME];
    char kind[STORE_SEAL_WORD], architecture[STORE_SEAL_WORD];
    uint8_t key[STORE_SEAL_KEY], signature[STORE_SEAL_SIGNATURE];
};

/* The same key again changes nothing. */
enum store_error store_seal_put(struct store *store, const uint8_t sha256[STORE_HASH],
                                const struct store_seal *seal, const char *by);
/* Those of an artifact, the latest first, at most STORE_SEALS_MAX; none of one that is not known. */
enum store_error store_seals(struct store *store, const uint8_t sha256[STORE_HASH],
                             struct store_seal seals[STORE_SEALS_MAX], size_t *count);

#endif
