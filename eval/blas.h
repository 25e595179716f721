/* What the run was computed on: BLAS build and core type, which can change the last bits of a sum (TRAINER
 * "Fitting"). One thread. */
#ifndef KROO_EVAL_BLAS_H
#define KROO_EVAL_BLAS_H

#include <stdbool.h>

/* For example `SkylakeX`, `neoversen1`; the kernels OpenBLAS chose for this processor. Static storage. */
const char *blas_core(void);
/* OpenBLAS's own line about its build. Static storage. */
const char *blas_config(void);
/* OPENBLAS_CORETYPE, or NULL where the environment pins nothing. */
const char *blas_pinned(void);
/* True when the pinned core type lacks vector instructions that this processor has: BLAS at half speed. */
bool blas_pinned_to_older(void);

#endif
