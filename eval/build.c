#include "eval/build.h"

#ifndef TRAIN_BUILD
#error "TRAIN_BUILD is set by the Makefile from the contents of eval/"
#endif

_Static_assert(sizeof(TRAIN_BUILD) <= 64, "train_build() promises less than 64 bytes");

const char *train_build(void)
{
    return TRAIN_BUILD;
}
