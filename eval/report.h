/* A fit or an evaluation as a folder for people: report.md, report.json and plots in SVG of the loss, the
 * calibration, and what seeds in a house are worth by phase. One thread. */
#ifndef KROO_EVAL_REPORT_H
#define KROO_EVAL_REPORT_H

#include <jansson.h>

#include "eval/fit_request.h"

/* Makes `folder` if it is not there. `figures` is what --json prints; borrowed. 0, or -1 with the reason. */
int report_write(const char *folder, const struct train *train, json_t *figures, char *reason,
                 size_t reason_size);

#endif
