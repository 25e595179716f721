/* The PostgreSQL of a private cluster: a Unix socket in a folder of mode 0700, no port. PostgreSQL refuses to
 * run as root, so under root its files belong to the user `kroo` and lie in /var/lib/kroo/<hash of the
 * cluster folder's path>, linked from the folder. One thread. */
#ifndef KROO_COORDINATOR_CLI_POSTGRES_H
#define KROO_COORDINATOR_CLI_POSTGRES_H

#include <stdbool.h>
#include <sys/types.h>

#include "coordinator/cli/daemon.h"

struct postgres {
    char bin[256];          /* folder of initdb and pg_ctl */
    char home[DAEMON_PATH]; /* data, log */
    char socket[96];        /* folder of the socket: short, or connecting fails */
    char conninfo[160];     /* of database kroo, as its administrator */
    uid_t uid;              /* who runs it; 0: ourselves */
    gid_t gid;
};

/* Finds the programs and the places for the cluster in `dir` (absolute, existing). Creates nothing. 0, or -1
 * after saying why. */
int postgres_locate(struct postgres *postgres, const char *dir);
/* Makes the files when there are none, starts the server unless it runs, makes the database. `*started` tells
 * whether it ran before. */
int postgres_up(struct postgres *postgres, const char *dir, bool *started);
bool postgres_runs(const struct postgres *postgres);
/* Stops it; true when nothing runs any more. */
bool postgres_down(const struct postgres *postgres);

#endif
