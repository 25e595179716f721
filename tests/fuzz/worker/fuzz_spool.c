/* A segment of a spool as a disk may give it back: whatever lies in the folder, what is read is whole pairs,
 * all of it can be acknowledged, and the spool takes new results after. */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "worker/spool.h"

static char folder[64];

static void leave(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        abort();
}

static void put(const char *name, const uint8_t *data, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, data, size) != (ssize_t)size || close(file) != 0)
        abort();
}

static void drain(struct spool *spool)
{
    char reason[256] = "";
    uint64_t before = spool_pairs(spool), lost = spool_lost(spool);
    while (spool_pairs(spool) > 0) {
        struct spool_batch batch = {.pairs = 0};
        if (spool_read(spool, 16, MESSAGE_BYTES_MAX, &batch, reason, sizeof reason) != SPOOL_OK ||
            batch.pairs > 16)
            abort();
        if (batch.pairs == 0 && spool_pairs(spool) > 0)
            abort(); /* it would never end */
        for (size_t i = 0; i < 2 * batch.pairs; i++)
            if (batch.games[i].leg != i % 2 || strlen(batch.games[i].moves) != batch.games[i].plies)
                abort();
        spool_acknowledge(spool, batch.pairs);
        spool_batch_done(&batch);
    }
    if (spool_lost(spool) - lost > before)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct spool_report report;
    char reason[256] = "";
    if (folder[0] == '\0') {
        strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/kroo-fuzz-XXXXXX" : "/tmp/kroo-fuzz-XXXXXX");
        if (!mkdtemp(folder) || atexit(leave) != 0)
            abort();
    }
    put("0000000000000001.spool", data, size);
    struct spool *spool = spool_create(folder, 1 << 20, 1 << 16, &report, reason, sizeof reason);
    if (!spool)
        abort(); /* a damaged spool is passed over, never a reason not to start */
    drain(spool);
    spool_destroy(spool);
    return 0;
}
