/* A line plot as SVG, plain text that every browser shows. One thread. */
#ifndef KROO_EVAL_PLOT_H
#define KROO_EVAL_PLOT_H

#include <stdbool.h>
#include <stddef.h>

enum { PLOT_SERIES_MAX = 16 };

struct plot_series {
    const char *name;
    const double *x, *y;
    size_t count;
    bool dashed;
};

struct plot {
    const char *title, *x_label, *y_label;
    struct plot_series series[PLOT_SERIES_MAX];
    size_t series_count;
};

/* Writes `folder`/`name`. Points that are no numbers are left out; a plot without points has its frame alone.
 * False, with errno, when the file cannot be written. */
bool plot_write(const struct plot *plot, const char *folder, const char *name);

#endif
