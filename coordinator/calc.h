/* The calculator behind every figure shown: one JSON request in, one JSON answer out (`kroo calc`, the web
 * page, `kroo show`). Pure; any thread.
 *
 *   {"op":"elo","counts":[...]}
 *   {"op":"llr","counts":[...],"model":"normalized|logistic","elo0":a,"elo1":b}
 *   {"op":"sprt","bins":3|5,"model","elo0","elo1","alpha","beta","batch","sequence":"0134..."}
 *
 * 3 counts are L, D, W games; 5 are LL, LD, DD+WL, WD, WW pairs; 6 are LL, LD, DD, WL, DW, WW pairs. Left
 * out, model is normalized, alpha and beta 0.05, bins 5, batch 1; the answer states each. */
#ifndef KROO_COORDINATOR_CALC_H
#define KROO_COORDINATOR_CALC_H

#include <stddef.h>

/* Longer requests are refused. */
enum { CALC_LINE_MAX = 16 * 1024 * 1024 };

/* The answer to `length` bytes of request, without line end; {"error":"..."} for a bad one. Owned by the
 * caller (free); NULL only without memory. */
char *calc_answer(const char *line, size_t length);

#endif
