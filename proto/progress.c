#include "proto/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { TERMINAL_STEP_MS = 100, PLAIN_STEP_MS = 5000, BAR = 24, LINE = 512 };

int64_t progress_now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

uint64_t progress_wall_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void progress_init(struct progress *progress, const char *what, const char *unit, uint64_t total, bool quiet)
{
    memset(progress, 0, sizeof *progress);
    (void)snprintf(progress->what, sizeof progress->what, "%s", what);
    (void)snprintf(progress->unit, sizeof progress->unit, "%s", unit);
    progress->total = total;
    progress->quiet = quiet;
    progress->terminal = isatty(STDERR_FILENO) == 1;
    progress->started_ms = progress_now_ms();
    progress->shown_ms = -1;
}

static void format_duration(double seconds, char out[32])
{
    unsigned long whole = seconds < 0 ? 0 : seconds > 359999 ? 359999 : (unsigned long)(seconds + 0.5);
    if (whole >= 3600)
        (void)snprintf(out, 32, "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60, whole % 60);
    else
        (void)snprintf(out, 32, "%lu:%02lu", whole / 60, whole % 60);
}

static void format_bar(uint64_t done, uint64_t total, char out[BAR + 3])
{
    size_t filled = done >= total ? BAR : (size_t)((double)done / (double)total * BAR);
    out[0] = '[';
    memset(out + 1, '#', filled);
    memset(out + 1 + filled, '.', BAR - filled);
    out[BAR + 1] = ']';
    out[BAR + 2] = '\0';
}

size_t progress_text(const struct progress *progress, uint64_t done, int64_t elapsed_ms, const char *note,
                     char *out, size_t size)
{
    double seconds = elapsed_ms > 0 ? (double)elapsed_ms / 1000.0 : 0;
    uint64_t made = done > progress->first ? done - progress->first : 0;
    double rate = seconds > 0 ? (double)made / seconds : 0;
    char bar[BAR + 3] = "", part[96] = "", left[48] = "", time[32];
    if (progress->total > 0) {
        double share = done >= progress->total ? 100 : 100.0 * (double)done / (double)progress->total;
        if (progress->terminal)
            format_bar(done, progress->total, bar);
        (void)snprintf(part, sizeof part, "%3.0f%%  %llu/%llu %s", share, (unsigned long long)done,
                       (unsigned long long)progress->total, progress->unit);
        if (done < progress->total && rate > 0) {
            format_duration((double)(progress->total - done) / rate, time);
            (void)snprintf(left, sizeof left, "  %s left", time);
        }
    } else {
        (void)snprintf(part, sizeof part, "%llu %s", (unsigned long long)done, progress->unit);
    }
    format_duration(seconds, time);
    int length = snprintf(out, size, "%s %s%s%s  %.*f/s  %s%s%s%s", progress->what, bar,
                          bar[0] != '\0' ? " " : "", part, rate < 100, rate, time, left,
                          note != NULL && note[0] != '\0' ? "  " : "", note != NULL ? note : "");
    return length < 0 ? 0 : (size_t)length < size ? (size_t)length : size - 1;
}

static size_t terminal_columns(void)
{
    struct winsize window;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 8;
    return known ? window.ws_col : 80;
}

/* One write, so that lines of other threads do not cut into it. */
static void put(const struct progress *progress, const char *text, size_t length, bool last)
{
    char line[LINE + 16];
    if (progress->terminal) {
        size_t columns = terminal_columns() - 1;
        length = length < columns ? length : columns; /* a wrapped line could not be drawn over */
    }
    int size = snprintf(line, sizeof line, "%s%.*s%s%s", progress->terminal ? "\r" : "", (int)length, text,
                        progress->terminal ? "\033[K" : "", last || !progress->terminal ? "\n" : "");
    ssize_t written = size > 0 ? write(STDERR_FILENO, line, (size_t)size) : 0;
    (void)written;
}

void progress_show(struct progress *progress, uint64_t done, const char *note)
{
    int64_t now = progress_now_ms();
    int64_t step = progress->terminal ? TERMINAL_STEP_MS : PLAIN_STEP_MS;
    int64_t since =
        progress->shown_ms >= 0 ? progress->shown_ms : progress->started_ms - (progress->terminal ? step : 0);
    if (progress->quiet || now - since < step)
        return;
    char text[LINE];
    size_t length = progress_text(progress, done, now - progress->started_ms, note, text, sizeof text);
    put(progress, text, length, false);
    progress->shown_ms = now;
}

void progress_end(struct progress *progress, uint64_t done, const char *note)
{
    if (progress->quiet)
        return;
    char text[LINE];
    size_t length =
        progress_text(progress, done, progress_now_ms() - progress->started_ms, note, text, sizeof text);
    put(progress, text, length, true);
}
