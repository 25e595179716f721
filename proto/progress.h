/* Progress for people: a bar with rate and time left on a terminal, a plain line now and then otherwise,
 * nothing when quiet. Writes to standard error. One thread. */
#ifndef KROO_PROTO_PROGRESS_H
#define KROO_PROTO_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    char what[48];
    char unit[24];
    uint64_t total; /* 0 = not known */
    int64_t started_ms, shown_ms;
    bool terminal, quiet;
    uint64_t first; /* done at the start, so that a resumed bar's rate is right */
};

void progress_init(struct progress *progress, const char *what, const char *unit, uint64_t total, bool quiet);
/* `note` (may be NULL) follows the bar, for example `LLR 1.20 [-2.94, 2.94]`. Redraws at most ten times a
 * second on a terminal, else one line in five seconds. */
void progress_show(struct progress *progress, uint64_t done, const char *note);
void progress_end(struct progress *progress, uint64_t done, const char *note);

/* The line that both show, without the terminal's control letters: what, bar, share, count, rate, time, time
 * left, note. Returns its length, cut to `size`. */
size_t progress_text(const struct progress *progress, uint64_t done, int64_t elapsed_ms, const char *note,
                     char *out, size_t size);

/* Monotonic milliseconds. */
int64_t progress_now_ms(void);
/* Milliseconds since 1970: what this machine's clock says. */
uint64_t progress_wall_ms(void);

#endif
