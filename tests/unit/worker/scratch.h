/* What the worker's tests share: a scratch folder, and games that never were played. */
#ifndef KROO_TESTS_WORKER_SCRATCH_H
#define KROO_TESTS_WORKER_SCRATCH_H

#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/message.h"
#include "tests/unit/check.h"

enum { SCRATCH_PATH = 64 };

static inline void scratch_create(char path[SCRATCH_PATH])
{
    snprintf(path, SCRATCH_PATH, "/tmp/kroo-worker-XXXXXX");
    assert_non_null(mkdtemp(path));
}

static inline int scratch_remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    return remove(path);
}

static inline void scratch_destroy(const char *path)
{
    assert_int_equal(nftw(path, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* Entries of a folder whose names end so; the last one's name in `name` (may be NULL). */
static inline size_t scratch_count(const char *path, const char *ending, char name[NAME_MAX + 1])
{
    DIR *handle = opendir(path);
    assert_non_null(handle);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(handle)) != NULL;) {
        size_t length = strlen(entry->d_name), tail = strlen(ending);
        if (entry->d_name[0] == '.' || length < tail || strcmp(entry->d_name + length - tail, ending) != 0)
            continue;
        if (name != NULL)
            snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
        count++;
    }
    closedir(handle);
    return count;
}

static inline uint8_t *scratch_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static inline void scratch_write(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* A game that passes the wire's checks; its moves tell pair and leg. `moves` is the caller's buffer. */
static inline struct message_game scratch_game(uint64_t pair, uint32_t leg, char moves[40])
{
    struct message_game game = {
        .experiment = 7, .pair = pair, .leg = leg, .lease = 3, .attempt = 1, .nodes = 99};
    for (int i = 0; i < 32; i++)
        moves[i] = (char)("Aa"[i & 1] + (int)(pair >> (i / 2 % 16) & 1) + (leg != 0 ? 2 : 0));
    moves[32] = '\0';
    game.moves = moves;
    game.plies = 32;
    snprintf(game.result, sizeof game.result, "south");
    snprintf(game.reason, sizeof game.reason, "majority");
    snprintf(game.engine_build, sizeof game.engine_build, "kroo-engine 1 test");
    memset(game.weights_a, 0x11, sizeof game.weights_a);
    memset(game.weights_b, 0x22, sizeof game.weights_b);
    return game;
}

#endif
