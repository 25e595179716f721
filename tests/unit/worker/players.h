/* Players with faults (tests/players/player.c), as programs of a scratch folder. */
#ifndef KROO_TESTS_WORKER_PLAYERS_H
#define KROO_TESTS_WORKER_PLAYERS_H

#include "tests/unit/worker/scratch.h"

/* This build's `file`, two folders above the test. */
static inline const char *built(const char *file)
{
    static char path[4200];
    char own[4096];
    ssize_t size = readlink("/proc/self/exe", own, sizeof own - 1);
    assert_true(size > 0);
    own[size] = '\0';
    for (int up = 0; up < 3; up++)
        *strrchr(own, '/') = '\0';
    snprintf(path, sizeof path, "%s/%s", own, file);
    return path;
}

/* A player with this fault (tests/players/player.c); the text lives until the next call. */
static inline const char *player(const char *folder, const char *fault)
{
    static char path[SCRATCH_PATH + 64];
    char command[4600];
    snprintf(path, sizeof path, "%s/%s", folder, fault);
    snprintf(command, sizeof command, "{ cat '%s'; printf '\\n#player %s\\n'; } >'%s' && chmod 755 '%s'",
             built("tests/players/player"), fault, path, path);
    assert_int_equal(system(command), 0);
    return path;
}

#endif
