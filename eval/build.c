#include "eval/build.h"

#ifndef TRAIN_BUILD
#define TRAIN_BUILD "kroo-train 1 unnamed"
#endif

const char *train_build(void)
{
    return TRAIN_BUILD;
}
