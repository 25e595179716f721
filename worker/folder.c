#include "worker/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/artifact.h"

static enum folder_error fail(enum folder_error error, char *reason, size_t reason_size, const char *what,
                              const char *path)
{
    snprintf(reason, reason_size, "cannot %s %s: %s", what, path, strerror(errno));
    return error;
}

/* mkdir -p; `path` is at most FOLDER_PATH_MAX - 1 long. */
static int make_directories(const char *path)
{
    char partial[FOLDER_PATH_MAX];
    snprintf(partial, sizeof partial, "%s", path);
    for (char *at = partial + 1;; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        char kept = *at;
        *at = '\0';
        if (mkdir(partial, 0700) != 0 && errno != EEXIST)
            return -1;
        if (kept == '\0')
            return 0;
        *at = kept;
    }
}

static enum folder_error take_lock(struct folder *folder, const char *path, char *reason, size_t reason_size)
{
    char name[FOLDER_PATH_MAX + 16];
    snprintf(name, sizeof name, "%s/lock", path);
    folder->lock_fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (folder->lock_fd < 0)
        return fail(FOLDER_ERROR_FILE, reason, reason_size, "open", name);
    char holder[32] = "";
    if (flock(folder->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        ssize_t got = read(folder->lock_fd, holder, sizeof holder - 1);
        holder[got > 0 ? got : 0] = '\0';
        holder[strcspn(holder, "\n")] = '\0';
        snprintf(reason, reason_size,
                 "another worker (process %s) uses the state folder %s; give this one its own with --state",
                 holder[0] != '\0' ? holder : "unknown", path);
        folder_close(folder);
        return FOLDER_ERROR_LOCKED;
    }
    /* For people only: who holds the lock is the kernel's word, so a failure here changes nothing. */
    int length = snprintf(holder, sizeof holder, "%ld\n", (long)getpid());
    if (ftruncate(folder->lock_fd, 0) == 0 && pwrite(folder->lock_fd, holder, (size_t)length, 0) < 0)
        return FOLDER_OK;
    return FOLDER_OK;
}

struct aged {
    char name[NAME_MAX + 1];
    struct timespec changed;
};

static int by_age(const void *left, const void *right)
{
    const struct timespec a = ((const struct aged *)left)->changed, b = ((const struct aged *)right)->changed;
    if (a.tv_sec != b.tv_sec)
        return a.tv_sec < b.tv_sec ? -1 : 1;
    return (a.tv_nsec > b.tv_nsec) - (a.tv_nsec < b.tv_nsec);
}

/* The plain files of `directory`; `*files` is malloc'ed for the caller. */
static size_t list_files(const char *directory, struct aged **files)
{
    *files = NULL;
    DIR *handle = opendir(directory);
    if (handle == NULL)
        return 0;
    size_t count = 0, capacity = 0;
    for (struct dirent *entry; (entry = readdir(handle)) != NULL;) {
        struct stat status;
        if (fstatat(dirfd(handle), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        if (count == capacity) {
            capacity = capacity == 0 ? 64 : capacity * 2;
            struct aged *grown = realloc(*files, capacity * sizeof *grown);
            if (grown == NULL)
                break;
            *files = grown;
        }
        snprintf((*files)[count].name, sizeof(*files)[count].name, "%s", entry->d_name);
        (*files)[count++].changed = status.st_mtim;
    }
    closedir(handle);
    return count;
}

enum folder_error folder_open(struct folder *folder, const char *path, char *reason, size_t reason_size)
{
    *folder = (struct folder){.lock_fd = -1};
    if (strlen(path) == 0 || strlen(path) > FOLDER_PATH_MAX - 128) {
        snprintf(reason, reason_size, "the state folder's path is empty or longer than %d bytes",
                 FOLDER_PATH_MAX - 128);
        return FOLDER_ERROR_FILE;
    }
    if (make_directories(path) != 0)
        return fail(FOLDER_ERROR_FILE, reason, reason_size, "make the state folder", path);
    enum folder_error error = take_lock(folder, path, reason, reason_size);
    if (error != FOLDER_OK)
        return error;
    char *const parts[] = {folder->spool,  folder->artifacts, folder->engines,
                           folder->tables, folder->books,     folder->refused};
    const char *const names[] = {"spool", "artifacts", "engines", "tables", "books", "refused"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(parts[i], FOLDER_PATH_MAX, "%s/%s", path, names[i]);
        if (make_directories(parts[i]) != 0) {
            error = fail(FOLDER_ERROR_FILE, reason, reason_size, "make", parts[i]);
            folder_close(folder);
            return error;
        }
    }
    struct aged *files;
    folder->refused_count = list_files(folder->refused, &files);
    free(files);
    return FOLDER_OK;
}

void folder_close(struct folder *folder)
{
    if (folder->lock_fd >= 0)
        close(folder->lock_fd);
    folder->lock_fd = -1;
}

void folder_prune(const char *directory, size_t keep)
{
    struct aged *files;
    size_t count = list_files(directory, &files);
    if (count > keep) {
        qsort(files, count, sizeof *files, by_age);
        for (size_t i = 0; i < count - keep; i++) {
            char path[FOLDER_PATH_MAX + NAME_MAX + 2];
            snprintf(path, sizeof path, "%s/%s", directory, files[i].name);
            unlink(path);
        }
    }
    free(files);
}

static void write_game(FILE *file, const struct message_game *game, const char *text)
{
    char weights_a[ARTIFACT_HEX], weights_b[ARTIFACT_HEX];
    artifact_hex(game->weights_a, weights_a);
    artifact_hex(game->weights_b, weights_b);
    fprintf(file, "refused = %s\nexperiment = %" PRIu64 "\npair = %" PRIu64 "\nleg = %u\n", text,
            game->experiment, game->pair, game->leg);
    fprintf(file, "lease = %" PRIu64 "\nattempt = %u\nresult = %s\nreason = %s\nplies = %zu\n", game->lease,
            game->attempt, game->result, game->reason, game->plies);
    fprintf(file, "nodes = %" PRIu64 "\ntime_ms = %u\nweights_a = %s\nweights_b = %s\nengine_build = %s\n",
            game->nodes, game->time_ms, weights_a, weights_b, game->engine_build);
    fprintf(file, "moves = %s\nscores = ", game->moves);
    for (size_t i = 0; i < game->scores_size; i++)
        fprintf(file, "%02x", game->scores[i]);
    fputc('\n', file);
}

enum folder_error folder_set_aside(struct folder *folder, const struct message_game *game, const char *text,
                                   char *reason, size_t reason_size)
{
    if (folder->refused_count >= FOLDER_REFUSED_MAX) {
        snprintf(reason, reason_size, "%s holds %d games already: look at them and delete them",
                 folder->refused, FOLDER_REFUSED_MAX);
        return FOLDER_ERROR_FULL;
    }
    char path[FOLDER_PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%" PRIu64 "-%" PRIu64 "-%u.txt", folder->refused, game->experiment,
             game->pair, game->leg);
    FILE *file = fopen(path, "we");
    if (file == NULL)
        return fail(FOLDER_ERROR_FILE, reason, reason_size, "write", path);
    write_game(file, game, text);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) {
        enum folder_error error = fail(FOLDER_ERROR_FILE, reason, reason_size, "write", path);
        unlink(path);
        return error;
    }
    folder->refused_count++;
    return FOLDER_OK;
}
