/* Engines, endgame tables and opening books on this disk, by hash. A file is verified before its first use in
 * this process and again when it has changed; engines lie in a folder of their own with mode 0500, tables are
 * mapped read-only once for all play threads. Tables too large to travel are files the user names. One
 * thread; what is held may be read by any while it is held. */
#ifndef KROO_WORKER_FILES_H
#define KROO_WORKER_FILES_H

#include "engine/book.h"
#include "engine/tables.h"
#include "worker/cache.h"
#include "worker/folder.h"

enum {
    FILES_KEPT = 32,      /* of each kind on disk; the oldest go first */
    FILES_LOADED = 4,     /* kept open beyond those in use */
    FILES_SHARED_MAX = 8, /* tables that the user names */
};

enum files_kind { FILES_ENGINE, FILES_TABLES, FILES_BOOK, FILES_KINDS };

struct held_file {
    char path[FOLDER_PATH_MAX];  /* absolute */
    const struct tables *tables; /* NULL but for tables */
    const struct book *book;     /* NULL but for a book */
};

struct files;

/* Fetched files come to the folder's `artifacts`. NULL with the reason. */
struct files *files_create(const struct folder *folder, char *reason, size_t reason_size);
void files_destroy(struct files *files);

/* Tables on a disk, too large to fetch or simply there: read and hashed now. 0, or -1 with the reason. */
int files_share_tables(struct files *files, const char *path, char *reason, size_t reason_size);

/* The file for a player under `rules`; ABSENT: fetch it. Give it back with files_release. */
enum cache_error files_hold(struct files *files, enum files_kind kind, const uint8_t sha256[ARTIFACT_HASH],
                            const struct rules *rules, const struct held_file **out, char *reason,
                            size_t reason_size);
void files_release(struct files *files, const struct held_file *file); /* takes NULL */

/* The absolute path of weights that the cache holds, for a program to read. */
void files_weights_path(const struct files *files, const uint8_t sha256[ARTIFACT_HASH],
                        char path[FOLDER_PATH_MAX]);

#endif
