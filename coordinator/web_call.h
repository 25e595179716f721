/* What the web page's server answers: files and questions, both made from web/ when Kroo is built
 * (web/embed.sh, web/embed_api.sh). Static data; any thread. */
#ifndef KROO_COORDINATOR_WEB_CALL_H
#define KROO_COORDINATOR_WEB_CALL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "sql/store.h"

/* A file of the page, compiled in. */
struct web_file {
    const char *path; /* "/", "/experiment", "/kroo.css"; NULL ends the table */
    const char *type;
    const char *etag; /* quoted, of the content's sha256 */
    const unsigned char *start, *end;
};
extern const struct web_file web_files[];

enum {
    WEB_PARAMETERS = 8,
    WEB_NUMBER_DIGITS = 18,          /* of a number: a bigint takes them all */
    WEB_TEXT_MAX = 300,              /* bytes of a text */
    WEB_ANSWER_MAX = 8 * 1024 * 1024 /* bytes of an answer */
};

/* `text` is of malloc and belongs to whoever holds the answer. */
struct web_answer {
    unsigned status;
    const char *type;   /* static; NULL: application/json */
    char file_name[96]; /* "" or the name to save it under */
    char *text;
    size_t size;
};

/* Makes the answer out of the statement's rows where that is more than their first cell. Fills text and size
 * (and status, if not 200); leaves text NULL without memory. */
typedef void web_finish(struct web_answer *answer, const struct store_table *rows);

struct web_parameter {
    const char *name; /* NULL ends the list */
    bool is_number, is_needed;
};

/* One question: web/api/NAME.sql. */
struct web_call {
    const char *path; /* "/api/cluster"; NULL ends the table */
    struct web_parameter parameters[WEB_PARAMETERS + 1];
    const char *sql;    /* one statement; $1, $2, ... are the parameters as text, null = left out */
    web_finish *finish; /* NULL: the first cell of the first row is the JSON; no row, or null: 404 */
};
extern const struct web_call web_calls[];

/* NULL: there is none. */
const struct web_call *web_call_find(const char *path);
const struct web_file *web_file_find(const char *path);
/* The cell of a column, by name; NULL for null, and where there is no such column. */
const char *web_cell(const struct store_table *rows, size_t row, const char *column);
/* Both take what they are given; NULL: no memory, and the answer has no text. */
void web_answer_text(struct web_answer *answer, char *text);
void web_answer_json(struct web_answer *answer, json_t *object);
/* Fills the answer with {"error": ...}. */
void web_answer_error(struct web_answer *answer, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
