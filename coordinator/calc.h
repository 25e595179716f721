/* The calculator behind every figure shown: one JSON request in, one JSON answer out (`kroo calc`, the web
 * page, `kroo show`). Pure; any thread.
 *
 *   {"op":"elo","counts":[...]}
 *   {"op":"llr","counts":[...],"model":"normalized|logistic","elo0":a,"elo1":b}
 *   {"op":"sprt","bins":3|5,"model","elo0","elo1","alpha","beta","batch","sequence":"0134..."}
 *   {"op":"sprt-estimate","counts":[...],"model","elo0","elo1","alpha","beta"}
 *   {"op":"workers","workers":[[won,lost,equal], ...]}
 *   {"op":"sprt-simulate","elo":e,"model","elo0","elo1","alpha","beta","batch","runs","pairs","seed","shares":[...]}
 *
 * 3 counts are L, D, W games; 5 are LL, LD, DD+WL, WD, WW pairs; 6 are LL, LD, DD, WL, DW, WW pairs. Left
 * out, model is normalized, alpha and beta 0.05, bins 5, batch 1; the answer states each. */
#ifndef KROO_COORDINATOR_CALC_H
#define KROO_COORDINATOR_CALC_H

#include <stddef.h>

/* Longer requests are refused. */
enum { CALC_LINE_MAX = 4 * 1024 * 1024 };

/* Answers carry `elo, elo_lo, elo_hi, los, nelo, score, llr, lower, upper, state, stopped_at` as far as they
 * apply, and beside every llr its model, bounds, count order and formula version. `llr`, `counts` and the
 * estimate of an `sprt` stand at its last evaluation: one for each whole batch; a trailing part of a batch is
 * not evaluated. Of an `sprt-estimate`, `elo`, its ends and `los` are the median-unbiased ones, beside the
 * `llr_clamped` and `samples_clamped` that they rest on (estimate.h).
 *
 * The answer to `length` bytes of request, without line end; {"error":"..."} for a bad one. Owned by the
 * caller (free); NULL only without memory. */
char *calc_answer(const char *line, size_t length);

#endif
