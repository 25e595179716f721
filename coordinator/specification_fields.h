/* The fields of a specification, each named once: where it stands in a request (proto/message.h), where in
 * the row that is stored (sql/store.h), and how it is called in a document (`kroo spec`). What travels, what
 * is stored, what is printed, read and compared all go by this list. Plain data; any thread. */
#ifndef KROO_COORDINATOR_SPECIFICATION_FIELDS_H
#define KROO_COORDINATOR_SPECIFICATION_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_type {
    FIELD_KIND, /* enum message_experiment_kind, enum store_kind */
    FIELD_U64,
    FIELD_U32,
    FIELD_I32,
    FIELD_BOOL,
    FIELD_DOUBLE,
    FIELD_TEXT,
    FIELD_FILE,    /* a hash, or null; `name` is where its name goes */
    FIELD_OPTIONS, /* lines; in a document an array of them */
    FIELD_BUILD,   /* text of the request alone: what is stored is the build that plays */
};

struct field {
    const char *key;
    enum field_type type;
    size_t offset, size;        /* in its struct of the request */
    size_t stored, stored_size; /* in its struct of the row */
    int64_t low, high;          /* of whole numbers */
    size_t name;                /* in its struct of names */
    bool is_aside;              /* games, counts and verdict do not depend on it */
};

struct field_list {
    const struct field *fields;
    size_t count;
};

/* struct message_create_experiment with its spec, and struct store_experiment. */
extern const struct field_list specification_fields;
/* struct message_player and struct store_player. */
extern const struct field_list specification_player_fields;
/* struct message_sprt and struct store_sprt. */
extern const struct field_list specification_sprt_fields;

#endif
