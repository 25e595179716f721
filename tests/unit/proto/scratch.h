/* Scratch folders and files for tests. */
#ifndef KROO_TESTS_PROTO_SCRATCH_H
#define KROO_TESTS_PROTO_SCRATCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A new folder of mode 0700; the text lives until the next call. */
static inline const char *scratch_folder(void)
{
    static char folder[64];
    (void)snprintf(folder, sizeof folder, "/tmp/kroo-proto-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

static inline void scratch_remove(const char *folder)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf -- '%s'", folder);
    assert_int_equal(system(command), 0);
}

/* FOLDER/NAME; eight of them live at a time. */
static inline const char *scratch_path(const char *folder, const char *name)
{
    static char paths[8][256];
    static unsigned turn;
    char *path = paths[turn++ % 8];
    (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline void scratch_write(const char *path, const void *bytes, size_t size, mode_t mode)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
    assert_true(file >= 0);
    assert_int_equal(fchmod(file, mode), 0);
    assert_int_equal(write(file, bytes, size), (ssize_t)size);
    assert_int_equal(close(file), 0);
}

static inline size_t scratch_count(const char *folder)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    (void)closedir(directory);
    return count;
}

#endif
