/* Threads that are ours: work cut into a number of shards that has nothing to do with the number of threads,
 * so that sums taken in shard order have the same bits for any number of threads (TRAINER "Fitting"). */
#ifndef KROO_EVAL_SHARDS_H
#define KROO_EVAL_SHARDS_H

#include <stddef.h>

enum { SHARDS = 32, SHARDS_THREADS_MAX = 64 };

/* Calls work(context, shard) once for each shard 0..SHARDS-1, on up to `threads` threads, the caller's one
 * among them, and returns when all are done. A thread that cannot be started is done without. */
void shards_run(unsigned threads, void (*work)(void *context, unsigned shard), void *context);

/* First item of `shard` among `count` items; shard SHARDS gives `count`. */
size_t shards_first(size_t count, unsigned shard);

#endif
