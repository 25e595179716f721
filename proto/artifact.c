#include "proto/artifact.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TEMPORARY ".artifact-"

enum { PATH_ROOM = 1024, LEFTOVER_SECONDS = 24 * 3600 };

void artifact_hash(const void *bytes, size_t size, uint8_t sha256[ARTIFACT_HASH])
{
    (void)crypto_hash_sha256(sha256, bytes, size);
}

void artifact_hex(const uint8_t sha256[ARTIFACT_HASH], char hex[ARTIFACT_HEX])
{
    (void)sodium_bin2hex(hex, ARTIFACT_HEX, sha256, ARTIFACT_HASH);
}

static int hex_digit(char letter)
{
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    if (letter >= 'a' && letter <= 'f')
        return letter - 'a' + 10;
    return letter >= 'A' && letter <= 'F' ? letter - 'A' + 10 : -1;
}

int artifact_parse_hex(const char *hex, uint8_t sha256[ARTIFACT_HASH])
{
    uint8_t bytes[ARTIFACT_HASH];
    for (size_t i = 0; i < ARTIFACT_HASH; i++) {
        int high = hex_digit(hex[2 * i]);
        int low = high < 0 ? -1 : hex_digit(hex[2 * i + 1]);
        if (low < 0)
            return -1;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    if (hex[2 * ARTIFACT_HASH] != '\0')
        return -1;
    memcpy(sha256, bytes, sizeof bytes);
    return 0;
}

static bool same_hash(const void *bytes, size_t size, const uint8_t sha256[ARTIFACT_HASH])
{
    uint8_t actual[ARTIFACT_HASH];
    artifact_hash(bytes, size, actual);
    return memcmp(actual, sha256, ARTIFACT_HASH) == 0;
}

static enum artifact_error refuse(enum artifact_error error, char *reason, size_t reason_size,
                                  const char *path, const char *why)
{
    (void)snprintf(reason, reason_size, "%s: %s", path, why);
    return error;
}

/* DIRECTORY/HEX and what follows it; false when that is longer than any path of ours. */
static bool make_path(const char *directory, const uint8_t sha256[ARTIFACT_HASH], const char *ending,
                      char path[PATH_ROOM])
{
    char hex[ARTIFACT_HEX];
    artifact_hex(sha256, hex);
    int length = snprintf(path, PATH_ROOM, "%s/%s%s", directory, hex, ending);
    return length > 0 && length < PATH_ROOM;
}

/* --- reading --- */

static bool read_all(int file, uint8_t *bytes, size_t size)
{
    while (size > 0) {
        ssize_t got = read(file, bytes, size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        bytes += got;
        size -= (size_t)got;
    }
    return true;
}

/* Opens a regular file of a size that an artifact can have. */
static enum artifact_error open_artifact(const char *path, int *file, size_t *size, char *reason,
                                         size_t reason_size)
{
    struct stat status;
    *file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*file < 0)
        return refuse(errno == ENOENT ? ARTIFACT_ERROR_ABSENT : ARTIFACT_ERROR_FILE, reason, reason_size,
                      path, strerror(errno));
    if (fstat(*file, &status) != 0 || !S_ISREG(status.st_mode)) {
        (void)close(*file);
        return refuse(ARTIFACT_ERROR_FILE, reason, reason_size, path, "not a regular file");
    }
    if (status.st_size < 0 || status.st_size > ARTIFACT_BYTES_MAX) {
        (void)close(*file);
        return refuse(ARTIFACT_ERROR_SIZE, reason, reason_size, path, "longer than an artifact may be");
    }
    *size = (size_t)status.st_size;
    return ARTIFACT_OK;
}

/* Keeps the bad bytes for a look, under a name that nobody asks for. */
static enum artifact_error set_aside(const char *directory, const uint8_t sha256[ARTIFACT_HASH],
                                     const char *path, char *reason, size_t reason_size)
{
    char aside[PATH_ROOM];
    bool moved = make_path(directory, sha256, ".corrupt", aside) && rename(path, aside) == 0;
    return refuse(ARTIFACT_ERROR_CORRUPT, reason, reason_size, path,
                  moved ? "the bytes do not hash to the name; set aside as .corrupt, fetch it again"
                        : "the bytes do not hash to the name; remove the file and fetch it again");
}

enum artifact_error artifact_read(const char *directory, const uint8_t sha256[ARTIFACT_HASH], void **bytes,
                                  size_t *size, char *reason, size_t reason_size)
{
    char path[PATH_ROOM];
    int file = -1;
    *bytes = NULL;
    *size = 0;
    if (!make_path(directory, sha256, "", path))
        return refuse(ARTIFACT_ERROR_FILE, reason, reason_size, "artifact folder", "path too long");
    enum artifact_error error = open_artifact(path, &file, size, reason, reason_size);
    if (error != ARTIFACT_OK)
        return error;
    uint8_t *content = malloc(*size + 1);
    bool read = content != NULL && read_all(file, content, *size);
    int why = errno;
    (void)close(file);
    if (!read)
        error = refuse(ARTIFACT_ERROR_FILE, reason, reason_size, path,
                       content == NULL ? "no memory" : strerror(why));
    else if (*size == 0 || !same_hash(content, *size, sha256))
        error = set_aside(directory, sha256, path, reason, reason_size);
    if (error == ARTIFACT_OK) {
        *bytes = content;
    } else {
        free(content);
        *size = 0;
    }
    return error;
}

int artifact_hash_file(const char *path, uint8_t sha256[ARTIFACT_HASH], uint64_t *size, char *reason,
                       size_t reason_size)
{
    enum { BLOCK = 1 << 18 };
    crypto_hash_sha256_state hash;
    struct stat status;
    *size = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    uint8_t *block = malloc(BLOCK);
    bool regular = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    ssize_t got = block != NULL && regular ? 1 : -1;
    (void)crypto_hash_sha256_init(&hash);
    while (got > 0) {
        do
            got = read(file, block, BLOCK);
        while (got < 0 && errno == EINTR);
        if (got > 0) {
            (void)crypto_hash_sha256_update(&hash, block, (size_t)got);
            *size += (size_t)got;
        }
    }
    (void)crypto_hash_sha256_final(&hash, sha256);
    if (got < 0)
        (void)snprintf(reason, reason_size, "%s: %s", path,
                       file >= 0 && !regular ? "not a regular file"
                       : block == NULL       ? "no memory"
                                             : strerror(errno));
    if (file >= 0)
        (void)close(file);
    free(block);
    return got < 0 ? -1 : 0;
}

/* --- writing --- */

static bool write_all(int file, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(file, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

static bool sync_folder(const char *directory)
{
    int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = folder >= 0 && fsync(folder) == 0;
    if (folder >= 0)
        (void)close(folder);
    return good;
}

/* Writes and syncs a temporary file in `directory`; its name into `path`. On failure errno tells, and the
 * file is gone. */
static bool write_temporary(const char *directory, const void *bytes, size_t size, char path[PATH_ROOM])
{
    int length = snprintf(path, PATH_ROOM, "%s/" TEMPORARY "XXXXXX", directory);
    if (length < 0 || length >= PATH_ROOM) {
        errno = ENAMETOOLONG;
        return false;
    }
    int file = mkostemp(path, O_CLOEXEC);
    if (file < 0)
        return false;
    bool good = write_all(file, bytes, size) && fchmod(file, 0644) == 0 && fsync(file) == 0;
    int error = errno;
    if (close(file) != 0 && good) { /* a full network file system may tell only now */
        good = false;
        error = errno;
    }
    if (!good)
        (void)unlink(path);
    errno = error;
    return good;
}

/* Removes what writers that were killed left behind long ago. */
static void sweep(const char *directory)
{
    DIR *folder = opendir(directory);
    struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        struct stat status;
        if (strncmp(entry->d_name, TEMPORARY, strlen(TEMPORARY)) != 0 ||
            fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (S_ISREG(status.st_mode) && time(NULL) - status.st_mtime > LEFTOVER_SECONDS)
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    if (folder != NULL)
        (void)closedir(folder);
}

enum artifact_error artifact_write(const char *directory, const void *bytes, size_t size,
                                   uint8_t sha256[ARTIFACT_HASH], char *reason, size_t reason_size)
{
    char path[PATH_ROOM], temporary[PATH_ROOM];
    if (size == 0 || size > ARTIFACT_BYTES_MAX) {
        (void)snprintf(reason, reason_size, "an artifact of %zu bytes, not 1..%d", size, ARTIFACT_BYTES_MAX);
        return ARTIFACT_ERROR_SIZE;
    }
    artifact_hash(bytes, size, sha256);
    if (!make_path(directory, sha256, "", path))
        return refuse(ARTIFACT_ERROR_FILE, reason, reason_size, "artifact folder", "path too long");
    if (mkdir(directory, 0755) != 0 && errno != EEXIST)
        return refuse(ARTIFACT_ERROR_FILE, reason, reason_size, directory, strerror(errno));
    sweep(directory);
    if (!write_temporary(directory, bytes, size, temporary))
        return refuse(ARTIFACT_ERROR_FILE, reason, reason_size, path, strerror(errno));
    if (rename(temporary, path) != 0) {
        int error = errno;
        (void)unlink(temporary);
        return refuse(ARTIFACT_ERROR_FILE, reason, reason_size, path, strerror(error));
    }
    if (!sync_folder(directory))
        return refuse(ARTIFACT_ERROR_FILE, reason, reason_size, directory, strerror(errno));
    return ARTIFACT_OK;
}

/* --- downloads --- */

void artifact_download_init(struct artifact_download *download, const uint8_t sha256[ARTIFACT_HASH])
{
    memset(download, 0, sizeof *download);
    memcpy(download->sha256, sha256, ARTIFACT_HASH);
}

int artifact_download_chunk(struct artifact_download *download, uint64_t offset, uint64_t size,
                            const void *content, size_t content_size)
{
    if (size == 0 || size > ARTIFACT_BYTES_MAX || (download->size != 0 && size != download->size))
        return ARTIFACT_ERROR_SIZE;
    if (content_size == 0 || offset > size || content_size > size - offset)
        return ARTIFACT_ERROR_SIZE;
    if (download->bytes == NULL) {
        download->bytes = malloc(size);
        if (download->bytes == NULL)
            return ARTIFACT_ERROR_FILE;
        download->size = size;
    }
    if (offset != download->offset) /* came twice, or before its turn */
        return download->offset == download->size ? 1 : 0;
    memcpy(download->bytes + offset, content, content_size);
    download->offset += content_size;
    if (download->offset < download->size)
        return 0;
    if (same_hash(download->bytes, download->size, download->sha256))
        return 1;
    /* Somewhere a bit was wrong, and nobody knows where: from the beginning. */
    free(download->bytes);
    download->bytes = NULL;
    download->offset = download->size = 0;
    return ARTIFACT_ERROR_CORRUPT;
}

void artifact_download_done(struct artifact_download *download)
{
    free(download->bytes);
    memset(download, 0, sizeof *download);
}
