/* What the run was computed on: BLAS build and core type, which can change the last bits of a sum (TRAINER
 * "Fitting"). One thread. */
#ifndef KROO_EVAL_BLAS_H
#define KROO_EVAL_BLAS_H

#include <stdbool.h>
#include <stddef.h>

/* For example `SkylakeX`, `neoversen1`; the kernels OpenBLAS chose for this processor. Static storage. */
const char *blas_core(void);
/* OpenBLAS's own line about its build. Static storage. */
const char *blas_config(void);
/* OPENBLAS_CORETYPE, or NULL where the environment pins nothing. */
const char *blas_pinned(void);
/* True when the kernels chosen leave vector instructions of this processor unused: BLAS at half speed or
 * less. The environment pinned an older core, or this OpenBLAS is older than the processor. */
bool blas_core_is_older(void);
/* Where OpenBLAS does not know this processor and nothing pins a core type: starts the program `argv` again
 * with the core type that fits, which only the environment can choose. Returns where there is nothing to
 * gain, or the start fails. Before any thread. */
void blas_choose_core(char **argv);
/* A sentence about that for people; writes "" when there is nothing to say. */
void blas_remark(char *text, size_t size);

enum blas_measure {
    BLAS_DGEMM, /* 1024 x 1024 matrices: what this library reaches at best, the yardstick */
    BLAS_DSYRK, /* the dense kernel of Newton: 256 rows of 158 columns */
    BLAS_SGEMM, /* the second layer of a net: 256 rows of 32 columns times one column */
};
/* Floating-point operations a second on one thread, over some tenths of a second; 0 when memory is short. */
double blas_speed(enum blas_measure measure);

#endif
