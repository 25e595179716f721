/* The worker's state folder: `lock`, `spool/`, `artifacts/`, `engines/`, `tables/`, `books/`,
 * `refused/`. One process
 * at a time has it (flock), since two workers that shared a spool would delete each other's results. One
 * thread. */
#ifndef KROO_WORKER_FOLDER_H
#define KROO_WORKER_FOLDER_H

#include <stddef.h>

#include "proto/message.h"

enum { FOLDER_PATH_MAX = 1024, FOLDER_REFUSED_MAX = 1000 };

enum folder_error {
    FOLDER_OK = 0,
    FOLDER_ERROR_LOCKED = -1, /* another process has it; the reason names it */
    FOLDER_ERROR_FILE = -2,   /* cannot be made or opened; the reason says why */
    FOLDER_ERROR_FULL = -3,   /* FOLDER_REFUSED_MAX games are in refused/ already */
};

struct folder {
    int lock_fd;          /* -1 when not open */
    size_t refused_count; /* games in refused/ */
    char spool[FOLDER_PATH_MAX], artifacts[FOLDER_PATH_MAX], engines[FOLDER_PATH_MAX];
    char tables[FOLDER_PATH_MAX], books[FOLDER_PATH_MAX], refused[FOLDER_PATH_MAX];
};

/* Makes what is missing (mode 0700, with parents) and takes the lock. */
enum folder_error folder_open(struct folder *folder, const char *path, char *reason, size_t reason_size);
void folder_close(struct folder *folder);

/* Writes a game that the coordinator will never take to refused/EXPERIMENT-PAIR-LEG.txt, with its reason, for
 * people to look at. Bounded by FOLDER_REFUSED_MAX files. */
enum folder_error folder_set_aside(struct folder *folder, const struct message_game *game, const char *text,
                                   char *reason, size_t reason_size);
/* Deletes the oldest plain files of `directory` (by time of change) until at most `keep` are left. */
void folder_prune(const char *directory, size_t keep);

#endif
