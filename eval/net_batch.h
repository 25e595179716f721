/* Inside of the net's fit: loss and gradient of one part of a batch. Any thread, each with its own
 * struct net_part. */
#ifndef KROO_EVAL_NET_BATCH_H
#define KROO_EVAL_NET_BATCH_H

#include "eval/net.h"

enum { NET_BLOCK = 256 }; /* positions handed to one sgemm: 32 KB of hidden values */

struct net_part {
    struct net gradient;
    double loss, weight; /* sums */
    _Alignas(64) float hidden[NET_BLOCK][NET_HIDDEN];
    _Alignas(64) float error[NET_BLOCK]; /* first the log odds, then their gradient */
    float outputs[NET_HIDDEN];
    uint16_t inputs[NET_BLOCK][16]; /* NET_ACTIVE of them */
};

void net_part_clear(struct net_part *part);
/* Adds loss and, with `learn`, gradient of up to NET_BLOCK rows. */
void net_part_add(struct net_part *part, const struct net *net, const struct merged *rows, size_t count,
                  bool learn);

#endif
