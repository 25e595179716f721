/* The end of `kroo-train fit` for people, or as one JSON object. Writes to standard output. One thread. */
#ifndef KROO_EVAL_FIT_REPORT_H
#define KROO_EVAL_FIT_REPORT_H

#include <jansson.h>

#include "eval/archive.h"

struct fit_times {
    double reading_s, fitting_s;
};

/* After success; `archive->number` 0 means that nothing was stored (--no-store). */
void fit_report_text(const struct fit_request *request, const struct train *train,
                     const struct archive *archive, struct fit_times times);
void fit_report_json(const struct fit_request *request, const struct train *train,
                     const struct archive *archive, struct fit_times times);
/* The same object, the caller's. */
json_t *fit_report_figures(const struct fit_request *request, const struct train *train,
                           const struct archive *archive, struct fit_times times);
/* What --dry-run tells, as text or JSON: the data, and how much. */
void fit_report_data(const struct fit_request *request, const struct train *train,
                     const struct archive *archive, struct fit_times times);
/* Data, losses, calibration and notes, as `kroo-train eval` shares them. */
void fit_report_print_judgement(const struct fit_request *request, const struct train *train);
void fit_report_set_judgement(json_t *object, const struct fit_request *request, const struct train *train);
/* A refusal or failure. */
void fit_report_refusal(const struct fit_request *request, const struct train *train,
                        const struct archive *archive, const char *state, const char *reason);

#endif
