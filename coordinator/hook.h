/* Hooks: programs that the coordinator's operator put into a folder, one of which an experiment may name to
 * be run when it ends (`--on-finish 'NAME ARGUMENT...'`). No shell, no path, a bare environment, a bounded
 * number at once, a deadline. Nothing here waits. Used by the event loop alone. */
#ifndef KROO_COORDINATOR_HOOK_H
#define KROO_COORDINATOR_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sql/store.h"

enum { HOOK_RUNNING_MAX = 4, HOOK_ARGUMENTS_MAX = 16, HOOK_DEADLINE_MS = 60000, HOOK_REASON_MAX = 256 };

struct hook_table {
    const char *folder; /* NULL: no hooks here */
    struct hook_process {
        pid_t pid; /* 0: a free place */
        uint64_t experiment;
        int64_t deadline_ms;
        bool late; /* killed for it */
    } running[HOOK_RUNNING_MAX];
};

/* May this command be asked for? Its first word is the name of a program in the folder that belongs to this
 * user or to root and that nobody else can write; the words are letters, digits and ._@:/=,+- . False with a
 * reason. */
bool hook_check(const struct hook_table *table, const char *command, char reason[HOOK_REASON_MAX]);
/* Places that are free. */
size_t hook_room(const struct hook_table *table);
/* Starts one, with KROO_EXPERIMENT, KROO_KIND, KROO_VERDICT, KROO_PAIRS, KROO_ELO and KROO_NOTE in its
 * environment. False with a reason. */
bool hook_start(struct hook_table *table, const struct store_hook *hook, int64_t now_ms,
                char reason[HOOK_REASON_MAX]);
/* One that has ended, with how, in words; false when none has. Ends those beyond their deadline. */
bool hook_reap(struct hook_table *table, int64_t now_ms, uint64_t *experiment, bool *succeeded,
               char outcome[HOOK_REASON_MAX]);

#endif
