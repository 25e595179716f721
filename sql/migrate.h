/* Migrations: numbered files compiled in, each applied in a transaction and recorded with its sha256; a
 * changed or unknown one is refused (DESIGN section 8). */
#ifndef KROO_SQL_MIGRATE_H
#define KROO_SQL_MIGRATE_H

#include <stddef.h>

struct migration {
    int number;
    const char *name;   /* file name without folder */
    const char *sha256; /* hex of the text */
    const char *text;
};

/* From the generated sql/migrations_data.c; ends with number 0. */
extern const struct migration migrations[];

/* Applies what is missing, under an advisory lock, as a role that may create roles and schemas. `report` (may
 * be NULL) is called for each applied file. Returns how many were applied, or -1 with the reason. */
int migrate_run(const char *conninfo, void (*report)(const char *name), char *reason, size_t reason_size);
/* Makes the server extension kroo_oware in the database, or brings it to the server's version, where the
 * server has it installed: 1 it is there, 0 the server does not have it, -1 it failed, with the reason.
 * Everything else works without. */
int migrate_extension(const char *conninfo, char *reason, size_t reason_size);

#endif
