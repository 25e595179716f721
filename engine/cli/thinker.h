/* One search at a time in a thread of its own, helped by more threads over the same table when asked to. The
 * caller's thread starts it, may stop it or let a ponder search count, and asks whether it still thinks;
 * reports and the answer come from the thinking thread. */
#ifndef KROO_ENGINE_CLI_THINKER_H
#define KROO_ENGINE_CLI_THINKER_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/search.h"

enum { THINKER_THREADS_MAX = 64 };

struct thinker;

/* What to think about; everything but `limits` and the times is borrowed until the answer. */
struct thinker_task {
    const struct game *game; /* not over */
    const struct weights *weights;
    struct search_limits limits;
    int64_t soft_ms, hard_ms; /* 0 = none; a ponder search counts them from thinker_hit on */
    bool held;                /* the answer waits for stop */
    bool ponder;              /* the answer waits for thinker_hit or stop */
    search_report *report;
    void (*answer)(void *context, const struct search_info *info);
    void *context;
};

/* One thread and a table; NULL when memory is short. */
struct thinker *thinker_create(unsigned hash_kib);
/* Stops and waits. */
void thinker_destroy(struct thinker *thinker);

/* All of these while it does not think. Sizes: false when memory is short, and nothing has changed. */
bool thinker_set_hash(struct thinker *thinker, unsigned hash_kib);
bool thinker_set_threads(struct thinker *thinker, int threads);
void thinker_new_game(struct thinker *thinker);
/* False when no thread could be started. */
bool thinker_start(struct thinker *thinker, const struct thinker_task *task);

/* True while it thinks; when it says false, the answer has been given. */
bool thinker_is_thinking(struct thinker *thinker);
/* The answer comes as soon as it can. */
void thinker_stop(struct thinker *thinker);
/* The move pondered on was played: the clock runs, and the answer waits no longer. A task without any limit
 * ends here. */
void thinker_hit(struct thinker *thinker);
/* Blocks until the answer has been given. */
void thinker_wait(struct thinker *thinker);
/* The same when nobody is there to stop it any more: what would wait for stop or thinker_hit ends at once,
 * what has a limit reaches it. */
void thinker_finish(struct thinker *thinker);

#endif
