#include "engine/build.h"

#ifndef ENGINE_BUILD
#error "ENGINE_BUILD is set by the Makefile from the contents of engine/"
#endif

_Static_assert(sizeof(ENGINE_BUILD) <= 64, "engine_build() promises less than 64 bytes");

const char *engine_build(void)
{
    return ENGINE_BUILD;
}
