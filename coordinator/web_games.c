#include "coordinator/web_games.h"

#include <string.h>

enum { CELL_ANSWER, CELL_REFUSED, CELLS, BAD_REQUEST = 400 };

void web_finish_games(struct web_answer *answer, const struct store_table *rows)
{
    if (rows->rows == 0 || rows->columns < CELLS || !rows->cells[CELL_ANSWER])
        return;
    answer->text = strdup(rows->cells[CELL_ANSWER]);
    if (!answer->text)
        return;
    answer->size = strlen(answer->text);
    if (rows->cells[CELL_REFUSED] && strcmp(rows->cells[CELL_REFUSED], "t") == 0)
        answer->status = BAD_REQUEST;
}
