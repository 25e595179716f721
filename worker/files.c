#include "worker/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct entry {
    struct held_file file; /* first: what is handed out */
    struct entry *next;
    enum files_kind kind;
    uint8_t sha256[ARTIFACT_HASH];
    struct stat seen; /* when it was verified */
    struct tables *tables;
    struct book *book;
    unsigned holders;
};

struct shared {
    char path[FOLDER_PATH_MAX];
    uint8_t sha256[ARTIFACT_HASH];
    struct stat seen;
};

struct files {
    char artifacts[FOLDER_PATH_MAX];
    char folders[FILES_KINDS][FOLDER_PATH_MAX]; /* by kind */
    struct entry *entries;                      /* last used first */
    struct shared shared[FILES_SHARED_MAX];
    size_t shared_count;
};

/* Programs run in another folder, so that every path is absolute. */
static bool take_path(const char *path, char out[FOLDER_PATH_MAX])
{
    char whole[PATH_MAX];
    if (realpath(path, whole) == NULL)
        return false;
    errno = ENAMETOOLONG;
    if (strlen(whole) >= FOLDER_PATH_MAX - ARTIFACT_HEX - 2)
        return false;
    memcpy(out, whole, strlen(whole) + 1);
    return true;
}

struct files *files_create(const struct folder *folder, char *reason, size_t reason_size)
{
    struct files *files = calloc(1, sizeof *files);
    if (files != NULL && take_path(folder->artifacts, files->artifacts) &&
        take_path(folder->engines, files->folders[FILES_ENGINE]) &&
        take_path(folder->tables, files->folders[FILES_TABLES]) &&
        take_path(folder->books, files->folders[FILES_BOOK]))
        return files;
    snprintf(reason, reason_size, "the state folder %s cannot be used: %s", folder->artifacts,
             strerror(errno));
    free(files);
    return NULL;
}

static void entry_destroy(struct entry *entry)
{
    tables_close(entry->tables);
    book_destroy(entry->book);
    free(entry);
}

void files_destroy(struct files *files)
{
    if (files == NULL)
        return;
    for (struct entry *entry = files->entries, *next; entry != NULL; entry = next) {
        next = entry->next;
        entry_destroy(entry);
    }
    free(files);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* --- tables the user names --- */

int files_share_tables(struct files *files, const char *path, char *reason, size_t reason_size)
{
    uint64_t size;
    if (files->shared_count == FILES_SHARED_MAX) {
        snprintf(reason, reason_size, "more than %d tables", FILES_SHARED_MAX);
        return -1;
    }
    struct shared *shared = &files->shared[files->shared_count];
    if (!take_path(path, shared->path) || stat(shared->path, &shared->seen) != 0) {
        snprintf(reason, reason_size, "tables %s: %s", path, strerror(errno));
        return -1;
    }
    if (artifact_hash_file(shared->path, shared->sha256, &size, reason, reason_size) != 0)
        return -1;
    files->shared_count++;
    return 0;
}

/* The path of shared tables that are as they were when they were hashed; NULL when there are none. */
static const struct shared *find_shared(const struct files *files, const uint8_t sha256[ARTIFACT_HASH])
{
    struct stat now;
    for (size_t i = 0; i < files->shared_count; i++) {
        const struct shared *shared = &files->shared[i];
        if (memcmp(shared->sha256, sha256, ARTIFACT_HASH) == 0 && stat(shared->path, &now) == 0 &&
            same_file(&now, &shared->seen))
            return shared;
    }
    return NULL;
}

/* --- fetched files --- */

/* Moves a fetched file to the folder of its kind. */
static enum cache_error move_in(const struct files *files, enum files_kind kind,
                                const uint8_t sha256[ARTIFACT_HASH], char *reason, size_t reason_size)
{
    char hex[ARTIFACT_HEX], from[FOLDER_PATH_MAX + ARTIFACT_HEX + 1], to[sizeof from];
    artifact_hex(sha256, hex);
    snprintf(from, sizeof from, "%s/%s", files->artifacts, hex);
    snprintf(to, sizeof to, "%s/%s", files->folders[kind], hex);
    if (rename(from, to) == 0) {
        folder_prune(files->folders[kind], FILES_KEPT);
        return CACHE_OK;
    }
    snprintf(reason, reason_size, "%s: %s", from, strerror(errno));
    return errno == ENOENT ? CACHE_ERROR_ABSENT : CACHE_ERROR_FILE;
}

/* Reads and hashes the file where it lies, and gives it the mode of its kind: for all, because a program may
 * run as a user of its own; the folder above is closed to others. */
static enum cache_error verify(const struct files *files, enum files_kind kind,
                               const uint8_t sha256[ARTIFACT_HASH], char path[FOLDER_PATH_MAX], char *reason,
                               size_t reason_size)
{
    void *bytes = NULL;
    size_t size;
    char hex[ARTIFACT_HEX];
    enum artifact_error error =
        artifact_read(files->folders[kind], sha256, &bytes, &size, reason, reason_size);
    free(bytes);
    if (error == ARTIFACT_ERROR_FILE)
        return CACHE_ERROR_FILE;
    if (error != ARTIFACT_OK)
        return CACHE_ERROR_ABSENT;
    artifact_hex(sha256, hex);
    snprintf(path, FOLDER_PATH_MAX, "%.*s/%s", FOLDER_PATH_MAX - ARTIFACT_HEX - 2, files->folders[kind], hex);
    if (chmod(path, kind == FILES_ENGINE ? 0555 : 0444) != 0) {
        snprintf(reason, reason_size, "%s: %s", path, strerror(errno));
        return CACHE_ERROR_FILE;
    }
    return CACHE_OK;
}

/* --- holding --- */

static struct entry *find(struct files *files, enum files_kind kind, const uint8_t sha256[ARTIFACT_HASH])
{
    struct stat now;
    for (struct entry **at = &files->entries; *at != NULL; at = &(*at)->next) {
        struct entry *entry = *at;
        if (entry->kind != kind || memcmp(entry->sha256, sha256, ARTIFACT_HASH) != 0 ||
            stat(entry->file.path, &now) != 0 || !same_file(&now, &entry->seen))
            continue;
        *at = entry->next;
        entry->next = files->entries;
        files->entries = entry;
        return entry;
    }
    return NULL;
}

static void trim(struct files *files)
{
    size_t kept = 0;
    for (struct entry **at = &files->entries; *at != NULL;) {
        struct entry *entry = *at;
        if (entry->holders > 0 || ++kept <= FILES_LOADED) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        entry_destroy(entry);
    }
}

/* What of a file is kept in memory. */
static enum cache_error open_content(struct entry *entry, enum files_kind kind, char *reason,
                                     size_t reason_size)
{
    const char *why = NULL;
    if (kind == FILES_TABLES) {
        enum tables_error error = tables_open(entry->file.path, NULL, &entry->tables);
        why = error == TABLES_OK ? NULL : tables_error_text(error);
    } else if (kind == FILES_BOOK) {
        enum book_error error = book_open(entry->file.path, NULL, &entry->book, NULL);
        why = error == BOOK_OK ? NULL : book_error_text(error);
    }
    entry->file.tables = entry->tables;
    entry->file.book = entry->book;
    if (why == NULL)
        return CACHE_OK;
    snprintf(reason, reason_size, "%s", why);
    return CACHE_ERROR_WEIGHTS;
}

/* The verified file as a new entry. */
static enum cache_error open_entry(struct files *files, enum files_kind kind,
                                   const uint8_t sha256[ARTIFACT_HASH], struct entry *entry, char *reason,
                                   size_t reason_size)
{
    const struct shared *shared = kind == FILES_TABLES ? find_shared(files, sha256) : NULL;
    enum cache_error error = CACHE_OK;
    if (shared != NULL) {
        memcpy(entry->file.path, shared->path, sizeof entry->file.path);
    } else {
        error = verify(files, kind, sha256, entry->file.path, reason, reason_size);
        if (error == CACHE_ERROR_ABSENT &&
            (error = move_in(files, kind, sha256, reason, reason_size)) == CACHE_OK)
            error = verify(files, kind, sha256, entry->file.path, reason, reason_size);
    }
    if (error != CACHE_OK)
        return error;
    if (stat(entry->file.path, &entry->seen) != 0) {
        snprintf(reason, reason_size, "%s: %s", entry->file.path, strerror(errno));
        return CACHE_ERROR_FILE;
    }
    return open_content(entry, kind, reason, reason_size);
}

static bool fits(const struct held_file *file, const struct rules *rules, char *reason, size_t reason_size)
{
    const struct rules *own = file->tables != NULL ? &file->tables->rules
                              : file->book != NULL ? &file->book->rules
                                                   : NULL;
    if (own == NULL || (file->tables != NULL && tables_same_family(own, rules)) ||
        (file->book != NULL && rules_equal(own, rules)))
        return true;
    snprintf(reason, reason_size, "made for the rules %s", own->name);
    return false;
}

enum cache_error files_hold(struct files *files, enum files_kind kind, const uint8_t sha256[ARTIFACT_HASH],
                            const struct rules *rules, const struct held_file **out, char *reason,
                            size_t reason_size)
{
    struct entry *entry = find(files, kind, sha256);
    if (entry == NULL) {
        entry = calloc(1, sizeof *entry);
        if (entry == NULL) {
            snprintf(reason, reason_size, "not enough memory");
            return CACHE_ERROR_FILE;
        }
        entry->kind = kind;
        memcpy(entry->sha256, sha256, ARTIFACT_HASH);
        enum cache_error error = open_entry(files, kind, sha256, entry, reason, reason_size);
        if (error != CACHE_OK) {
            entry_destroy(entry);
            return error;
        }
        entry->next = files->entries;
        files->entries = entry;
    }
    if (!fits(&entry->file, rules, reason, reason_size)) {
        trim(files);
        return CACHE_ERROR_WEIGHTS;
    }
    entry->holders++;
    *out = &entry->file;
    trim(files);
    return CACHE_OK;
}

void files_release(struct files *files, const struct held_file *file)
{
    for (struct entry *entry = files->entries; entry != NULL && file != NULL; entry = entry->next)
        if (&entry->file == file) {
            entry->holders--;
            break;
        }
    trim(files);
}

void files_weights_path(const struct files *files, const uint8_t sha256[ARTIFACT_HASH],
                        char path[FOLDER_PATH_MAX])
{
    char hex[ARTIFACT_HEX];
    artifact_hex(sha256, hex);
    snprintf(path, FOLDER_PATH_MAX, "%.*s/%s", FOLDER_PATH_MAX - ARTIFACT_HEX - 2, files->artifacts, hex);
}
