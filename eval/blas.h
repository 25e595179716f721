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
/* A sentence about that for people; writes "" when there is nothing to say. */
void blas_remark(char *text, size_t size);

#endif
