/* What is known of the terminal that output goes to: its width, and whether colours are wanted. Colours are
 * used on a terminal only, unless NO_COLOR is set (no-color.org) or TERM is `dumb`; `--color` decides
 * otherwise. One thread. */
#ifndef KROO_COORDINATOR_CLI_TERMINAL_H
#define KROO_COORDINATOR_CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum terminal_paint {
    TERMINAL_PLAIN,
    TERMINAL_STRONG, /* headings */
    TERMINAL_FAINT,  /* what matters less */
    TERMINAL_GOOD,
    TERMINAL_BAD,
    TERMINAL_CARE, /* neither: waits, warns */
    TERMINAL_ACCENT,
};

/* `auto`, `always` or `never`: 0, or -1 for another word. */
int terminal_set_color(const char *when);
bool terminal_has_color(FILE *out);
/* From here on `buffer` counts as the terminal `out`: what is put together there will be shown there. */
void terminal_stand_in(FILE *buffer, FILE *out);
/* Begins and ends a colour; "" where there are none. `terminal_end` is for what any other began. */
const char *terminal_begin(FILE *out, enum terminal_paint paint);
const char *terminal_end(FILE *out);
/* The colour of a word that tells a state: `running`, `blocked`, `accepted`, ...; TERMINAL_PLAIN for others.
 */
enum terminal_paint terminal_paint_of(const char *word);

/* Columns of the terminal that `out` goes to: COLUMNS, else what the terminal says; 0 when `out` is none. */
size_t terminal_columns(FILE *out);

/* Letters on the screen: UTF-8 continuation bytes take no place. */
size_t terminal_width(const char *text);
/* Bytes of the first `width` letters. */
size_t terminal_prefix(const char *text, size_t width);

#endif
