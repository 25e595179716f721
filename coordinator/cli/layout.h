/* Fits the columns of a table into a width. Text is cut to a length that still tells something; then columns
 * are left out, those that matter least first; then text is cut further, and columns go from the right. Pure.
 */
#ifndef KROO_COORDINATOR_CLI_LAYOUT_H
#define KROO_COORDINATOR_CLI_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

enum {
    LAYOUT_GAP = 2,
    LAYOUT_TEXT_GOOD = 16, /* letters that a text has before a column is left out for it */
    LAYOUT_TEXT_LEAST = 9,
    LAYOUT_EMPTY = 1000, /* `gives_up` of a column without any content: it goes before anything is cut */
};

struct layout_column {
    size_t natural;    /* letters of its widest cell, its name included */
    bool may_be_cut;   /* a text; numbers and times are shown whole or not at all */
    unsigned gives_up; /* the higher, the sooner it is left out; 0: after all others, from the right */
    size_t width;      /* out: 0 when it is left out */
};

/* Sets the widths so that all columns with their gaps take at most `room` letters (0: any number). One column
 * always stays, and is not narrower than it must be, whatever the room. Returns how many are left out. */
size_t layout_fit(struct layout_column *columns, size_t count, size_t room);

#endif
