#include "eval/shards.h"

#include <pthread.h>
#include <stdatomic.h>

struct crew {
    atomic_uint next;
    void (*work)(void *context, unsigned shard);
    void *context;
};

static void *take_shards(void *argument)
{
    struct crew *crew = argument;
    for (;;) {
        unsigned shard = atomic_fetch_add(&crew->next, 1);
        if (shard >= SHARDS)
            return NULL;
        crew->work(crew->context, shard);
    }
}

void shards_run(unsigned threads, void (*work)(void *context, unsigned shard), void *context)
{
    struct crew crew = {.work = work, .context = context};
    pthread_t others[SHARDS_THREADS_MAX];
    unsigned started = 0;
    if (threads > SHARDS_THREADS_MAX)
        threads = SHARDS_THREADS_MAX;
    while (started + 1 < threads && pthread_create(&others[started], NULL, take_shards, &crew) == 0)
        started++;
    take_shards(&crew);
    while (started > 0)
        pthread_join(others[--started], NULL);
}

size_t shards_first(size_t count, unsigned shard)
{
    return count / SHARDS * shard + count % SHARDS * shard / SHARDS;
}
