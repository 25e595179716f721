#include "eval/blas.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include <cblas.h>

const char *blas_core(void)
{
    return openblas_get_corename();
}

const char *blas_config(void)
{
    return openblas_get_config();
}

const char *blas_pinned(void)
{
    const char *pinned = getenv("OPENBLAS_CORETYPE");
    return pinned && *pinned ? pinned : NULL;
}

#if defined(__x86_64__)

/* The vector width that the kernels of an x86 core type use: 512 bits, 256, or less. */
static int core_width(const char *core)
{
    static const char *const wide[] = {"SkylakeX", "Cooperlake", "SapphireRapids"};
    static const char *const half[] = {"Haswell", "Zen", "Excavator", "Steamroller", "Piledriver"};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (strcasecmp(core, wide[i]) == 0)
            return 512;
    for (size_t i = 0; i < sizeof half / sizeof *half; i++)
        if (strcasecmp(core, half[i]) == 0)
            return 256;
    return 128;
}

static const char *faster_core(void)
{
    return __builtin_cpu_supports("avx512f") ? "SkylakeX" : "Haswell";
}

bool blas_core_is_older(void)
{
    int machine = __builtin_cpu_supports("avx512f") ? 512 : __builtin_cpu_supports("avx2") ? 256 : 128;
    return core_width(blas_core()) < machine;
}

#else

static const char *faster_core(void)
{
    return "NEOVERSEN1";
}

bool blas_core_is_older(void)
{
    return blas_pinned() && strcasecmp(blas_core(), "armv8") == 0;
}

#endif

void blas_remark(char *text, size_t size)
{
    if (!blas_core_is_older())
        snprintf(text, size, "%s", "");
    else if (blas_pinned())
        snprintf(text, size,
                 "OPENBLAS_CORETYPE=%s pins an older core than this processor's: BLAS at half speed",
                 blas_pinned());
    else
        snprintf(
            text, size,
            "OpenBLAS does not know this processor and runs as for %s; OPENBLAS_CORETYPE=%s would be faster",
            blas_core(), faster_core());
}
