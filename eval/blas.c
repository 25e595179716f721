#include "eval/blas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

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

void blas_choose_core(char **argv)
{
    if (blas_pinned() || !blas_core_is_older())
        return;
    /* Set for good: the program that starts finds it pinned and goes on, whatever OpenBLAS makes of it. */
    if (setenv("OPENBLAS_CORETYPE", faster_core(), 1) == 0)
        execv("/proc/self/exe", argv);
    unsetenv("OPENBLAS_CORETYPE");
}

/* --- speed --- */

enum { SQUARE = 1024, ROWS = 256, COLUMNS = 158, HIDDEN = 32 };

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* One call; returns its operations. */
static double compute(enum blas_measure measure, double *a, double *b, double *c)
{
    switch (measure) {
    case BLAS_DSYRK:
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, COLUMNS, ROWS, 1.0, a, COLUMNS, 1.0, c, COLUMNS);
        return (double)ROWS * COLUMNS * (COLUMNS + 1);
    case BLAS_SGEMM:
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, ROWS, 1, HIDDEN, 1.0F, (float *)a, HIDDEN,
                    (float *)b, 1, 0.0F, (float *)c, 1);
        return 2.0 * ROWS * HIDDEN;
    case BLAS_DGEMM:
        break;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SQUARE, SQUARE, SQUARE, 1.0, a, SQUARE, b, SQUARE,
                0.0, c, SQUARE);
    return 2.0 * SQUARE * SQUARE * SQUARE;
}

double blas_speed(enum blas_measure measure)
{
    enum { CELLS = SQUARE * SQUARE };
    double *matrices = calloc(3 * CELLS, sizeof *matrices), operations = 0.0, speed = 0.0;
    openblas_set_num_threads(1);
    if (matrices) {
        compute(measure, matrices, matrices + CELLS, matrices + 2 * CELLS);
        double start = now_s(), seconds = 0.0;
        while (seconds < 0.3) {
            operations += compute(measure, matrices, matrices + CELLS, matrices + 2 * CELLS);
            seconds = now_s() - start;
        }
        speed = operations / seconds;
    }
    free(matrices);
    return speed;
}
