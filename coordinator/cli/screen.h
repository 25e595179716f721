/* A terminal taken over whole: the alternate screen, keys as they are pressed. It is given back on every way
 * out: screen_close, exit(), and signals, those that stop the process for a while included. One thread draws.
 */
#ifndef KROO_COORDINATOR_CLI_SCREEN_H
#define KROO_COORDINATOR_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

enum screen_event {
    SCREEN_TICK,    /* the time is over */
    SCREEN_RESIZED, /* or the process was continued: draw again */
    SCREEN_QUIT,    /* q, Escape, Ctrl-C, Ctrl-D, or the terminal is gone */
    SCREEN_KILLED,  /* SIGTERM, SIGHUP or SIGQUIT: screen_close passes it on */
};

/* Standard output is a terminal that can be drawn on. */
bool screen_is_possible(void);
/* 0, or -1 when there is no terminal. */
int screen_open(void);
/* Draws the lines of `text`, cut to the terminal; colours take no room. */
void screen_draw(const char *text);
/* Waits at most `ms` for something to happen. */
enum screen_event screen_wait(int ms);
/* Gives the terminal back; after SCREEN_KILLED the signal ends the process here. */
void screen_close(void);

#endif
