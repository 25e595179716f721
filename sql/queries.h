/* The shipped queries, sql/queries/NAME.sql, compiled in: what `kroo query` runs as kroo_reader. Static data;
 * any thread. */
#ifndef KROO_SQL_QUERIES_H
#define KROO_SQL_QUERIES_H

struct query {
    const char *name;       /* NULL ends the table */
    const char *parameters; /* words in order, those that may be left out in brackets: `ID [PREFIX]` */
    const char *summary;    /* what it answers, one sentence */
    const char *extension;  /* the server extension it needs; "" = none */
    const char *sql;        /* one statement; $1, $2, ... are the parameters as text, null = left out */
};

/* In order of their names. */
extern const struct query queries[];

#endif
