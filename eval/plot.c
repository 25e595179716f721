#include "eval/plot.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

enum { WIDTH = 720, HEIGHT = 440, LEFT = 72, RIGHT = 150, TOP = 40, BOTTOM = 52, TICKS = 5 };

struct frame {
    double x_low, x_high, y_low, y_high;
};

static bool drawable(const struct plot_series *series, size_t i)
{
    return isfinite(series->x[i]) && isfinite(series->y[i]);
}

static void widen(double *low, double *high)
{
    if (!(*low <= *high)) {
        *low = 0.0;
        *high = 1.0;
    }
    double margin = *high > *low ? 0.04 * (*high - *low) : fmax(fabs(*low), 1.0) * 0.1;
    *low -= margin;
    *high += margin;
}

static struct frame frame_of(const struct plot *plot)
{
    struct frame frame = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (size_t s = 0; s < plot->series_count; s++)
        for (size_t i = 0; i < plot->series[s].count; i++) {
            if (!drawable(&plot->series[s], i))
                continue;
            frame.x_low = fmin(frame.x_low, plot->series[s].x[i]);
            frame.x_high = fmax(frame.x_high, plot->series[s].x[i]);
            frame.y_low = fmin(frame.y_low, plot->series[s].y[i]);
            frame.y_high = fmax(frame.y_high, plot->series[s].y[i]);
        }
    widen(&frame.x_low, &frame.x_high);
    widen(&frame.y_low, &frame.y_high);
    return frame;
}

static double place_x(const struct frame *frame, double x)
{
    return LEFT + (x - frame->x_low) / (frame->x_high - frame->x_low) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const struct frame *frame, double y)
{
    return HEIGHT - BOTTOM - (y - frame->y_low) / (frame->y_high - frame->y_low) * (HEIGHT - TOP - BOTTOM);
}

static void put_text(FILE *stream, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", stream);
        else if (*text == '&')
            fputs("&amp;", stream);
        else
            fputc(*text, stream);
    }
}

static void put_label(FILE *stream, double x, double y, const char *anchor, const char *text)
{
    fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    put_text(stream, text);
    fputs("</text>\n", stream);
}

static void put_axes(FILE *stream, const struct plot *plot, const struct frame *frame)
{
    char number[32];
    fprintf(stream, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888\"/>\n",
            LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    for (int i = 0; i <= TICKS; i++) {
        double x = frame->x_low + (frame->x_high - frame->x_low) * i / TICKS;
        double y = frame->y_low + (frame->y_high - frame->y_low) * i / TICKS;
        snprintf(number, sizeof number, "%.3g", x);
        put_label(stream, place_x(frame, x), HEIGHT - BOTTOM + 16, "middle", number);
        snprintf(number, sizeof number, "%.4g", y);
        put_label(stream, LEFT - 6, place_y(frame, y) + 4, "end", number);
        fprintf(stream, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", LEFT,
                WIDTH - RIGHT, place_y(frame, y), place_y(frame, y));
    }
    put_label(stream, LEFT, TOP - 14, "start", plot->title);
    put_label(stream, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 14, "middle", plot->x_label);
    fprintf(stream, "<g transform=\"rotate(-90 16 %d)\">", (TOP + HEIGHT - BOTTOM) / 2);
    put_label(stream, 16, (TOP + HEIGHT - BOTTOM) / 2.0, "middle", plot->y_label);
    fputs("</g>\n", stream);
}

static void put_series(FILE *stream, const struct frame *frame, const struct plot_series *series,
                       size_t number)
{
    static const char *const colours[] = {"#1b6ca8", "#c8402f", "#2c8a4b", "#8a5bb0",
                                          "#b8860b", "#3a3a3a", "#17a2a2", "#d16ba5"};
    const char *colour = colours[number % (sizeof colours / sizeof *colours)];
    double y = TOP + 8.0 + 18.0 * (double)number;
    fprintf(stream, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\"%s points=\"", colour,
            series->dashed ? " stroke-dasharray=\"5 4\"" : "");
    for (size_t i = 0; i < series->count; i++)
        if (drawable(series, i))
            fprintf(stream, "%.1f,%.1f ", place_x(frame, series->x[i]), place_y(frame, series->y[i]));
    fputs("\"/>\n", stream);
    fprintf(stream,
            "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"2\"%s/>\n",
            WIDTH - RIGHT + 10, WIDTH - RIGHT + 30, y, y, colour,
            series->dashed ? " stroke-dasharray=\"5 4\"" : "");
    put_label(stream, WIDTH - RIGHT + 36, y + 4, "start", series->name);
}

bool plot_write(const struct plot *plot, const char *folder, const char *name)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    FILE *stream = fopen(path, "w");
    if (!stream)
        return false;
    struct frame frame = frame_of(plot);
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" "
            "fill=\"#fff\"/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    put_axes(stream, plot, &frame);
    for (size_t i = 0; i < plot->series_count; i++)
        put_series(stream, &frame, &plot->series[i], i);
    fputs("</svg>\n", stream);
    bool written = ferror(stream) == 0;
    return fclose(stream) == 0 && written;
}
