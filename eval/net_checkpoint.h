/* Inside of the net's fit: all that an epoch leaves to the next one, and its file. The file is written beside
 * its place and renamed, so that a kill leaves the old one or the new one, never a part. One thread. */
#ifndef KROO_EVAL_NET_CHECKPOINT_H
#define KROO_EVAL_NET_CHECKPOINT_H

#include "eval/net.h"

struct net_state {
    struct net net, first, second, best; /* weights, Adam's two moments, the best weights so far */
    uint64_t steps;
    uint32_t epochs, best_epoch; /* finished; 1.. */
    uint8_t identity[32];        /* of data and options */
    struct net_epoch curve[NET_EPOCHS_MAX];
};

/* Reads `path` into `state` when it is there (NULL: there is none) and has the state's identity. A failure
 * has no effect. */
enum net_error net_checkpoint_read(const char *path, struct net_state *state, char *reason, size_t size);
bool net_checkpoint_write(const char *path, const struct net_state *state, char *reason, size_t size);

#endif
