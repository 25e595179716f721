#include "proto/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_LONGEST = 1024 };

static enum keys_error refuse(enum keys_error error, char *reason, size_t reason_size, const char *path,
                              const char *why)
{
    (void)snprintf(reason, reason_size, "%s: %s", path, why);
    return error;
}

static bool write_all(int file, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t written = write(file, text, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text += written;
        size -= (size_t)written;
    }
    return true;
}

enum keys_error secret_file_write(const char *path, mode_t mode, const char *text, char *reason,
                                  size_t reason_size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (file < 0 && errno == EEXIST)
        return refuse(
            KEYS_ERROR_EXISTS, reason, reason_size, path,
            "is there already and is not overwritten: choose another name, or remove it if nobody uses it");
    if (file < 0)
        return refuse(KEYS_ERROR_FILE, reason, reason_size, path, strerror(errno));
    bool good = fchmod(file, mode) == 0 && write_all(file, text, strlen(text)) && fsync(file) == 0;
    int error = errno;
    if (close(file) != 0 && good) {
        good = false;
        error = errno;
    }
    if (good)
        return KEYS_OK;
    (void)unlink(path);
    return refuse(KEYS_ERROR_FILE, reason, reason_size, path, strerror(error));
}

enum keys_error secret_file_read(const char *path, bool secret, char text[KEYS_FILE_MAX], size_t *size,
                                 char *reason, size_t reason_size)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return refuse(KEYS_ERROR_FILE, reason, reason_size, path, strerror(errno));
    enum keys_error error = KEYS_OK;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
        error = refuse(KEYS_ERROR_FILE, reason, reason_size, path, "not a regular file");
    else if (secret && (status.st_mode & 077) != 0)
        error = refuse(KEYS_ERROR_MODE, reason, reason_size, path,
                       "others on this machine can read this secret: chmod 600 it, or make a new key");
    else if (status.st_size >= KEYS_FILE_MAX)
        error = refuse(KEYS_ERROR_FORMAT, reason, reason_size, path, "too long for a key file");
    ssize_t got = error == KEYS_OK ? read(file, text, KEYS_FILE_MAX) : 0;
    if (got < 0)
        error = refuse(KEYS_ERROR_FILE, reason, reason_size, path, strerror(errno));
    (void)close(file);
    *size = got > 0 ? (size_t)got : 0;
    return error;
}

enum keys_error secret_file_pair(const char *directory, const char *name, const char *const endings[2],
                                 const char *secret_text, const char *public_text, char *reason,
                                 size_t reason_size)
{
    char secret_path[PATH_LONGEST], public_path[PATH_LONGEST];
    int length = snprintf(secret_path, sizeof secret_path, "%s/%s.%s", directory, name, endings[0]);
    if (length < 0 || (size_t)length >= sizeof secret_path)
        return refuse(KEYS_ERROR_FILE, reason, reason_size, name, "the folder's path is too long");
    (void)snprintf(public_path, sizeof public_path, "%s/%s.%s", directory, name, endings[1]);
    enum keys_error error = secret_file_write(secret_path, 0600, secret_text, reason, reason_size);
    if (error != KEYS_OK)
        return error;
    error = secret_file_write(public_path, 0644, public_text, reason, reason_size);
    if (error != KEYS_OK)
        (void)unlink(secret_path);
    return error;
}
