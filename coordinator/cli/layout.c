#include "coordinator/cli/layout.h"

static size_t total_width(const struct layout_column *columns, size_t count)
{
    size_t total = 0;
    for (size_t c = 0; c < count; c++)
        if (columns[c].width > 0)
            total += columns[c].width + (total > 0 ? LAYOUT_GAP : 0);
    return total;
}

/* A letter off the widest text of more than `least`; false when there is none. */
static bool cut(struct layout_column *columns, size_t count, size_t least)
{
    struct layout_column *found = NULL;
    for (size_t c = 0; c < count; c++)
        if (columns[c].may_be_cut && columns[c].width > least && (!found || columns[c].width > found->width))
            found = &columns[c];
    if (found)
        found->width--;
    return found != NULL;
}

/* The rightmost of those that give up soonest, if soon enough, goes; the others have their full width again,
 * and may not need cutting. */
static bool leave_out(struct layout_column *columns, size_t count, unsigned soon, size_t *hidden)
{
    struct layout_column *found = NULL;
    if (*hidden + 1 >= count)
        return false;
    for (size_t c = 0; c < count; c++)
        if (columns[c].width > 0 && columns[c].gives_up >= soon &&
            (!found || columns[c].gives_up >= found->gives_up))
            found = &columns[c];
    if (!found)
        return false;
    found->width = 0;
    ++*hidden;
    for (size_t c = 0; c < count; c++)
        if (columns[c].width > 0)
            columns[c].width = columns[c].natural;
    return true;
}

size_t layout_fit(struct layout_column *columns, size_t count, size_t room)
{
    size_t hidden = 0;
    for (size_t c = 0; c < count; c++) {
        columns[c].natural += columns[c].natural == 0;
        columns[c].width = columns[c].natural;
    }
    while (room > 0 && total_width(columns, count) > room)
        if (!leave_out(columns, count, LAYOUT_EMPTY, &hidden) && !cut(columns, count, LAYOUT_TEXT_GOOD) &&
            !leave_out(columns, count, 1, &hidden) && !cut(columns, count, LAYOUT_TEXT_LEAST) &&
            !leave_out(columns, count, 0, &hidden))
            break;
    return hidden;
}
