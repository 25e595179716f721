#include "coordinator/specification_json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/specification_fields.h"
#include "proto/artifact.h"

#define COUNT(fields) (sizeof(fields) / sizeof *(fields))

static const struct {
    const char *name;
    enum message_experiment_kind kind;
} kinds[] = {{"selfplay", MESSAGE_SELFPLAY}, {"match", MESSAGE_MATCH}, {"tune", MESSAGE_TUNE}};

/* --- writing --- */

static json_t *write_file(const uint8_t *hash)
{
    char hex[ARTIFACT_HEX];
    if (message_hash_is_none(hash))
        return json_null();
    artifact_hex(hash, hex);
    return json_string(hex);
}

static json_t *write_options(const char *lines)
{
    json_t *array = json_array();
    for (const char *line = lines; line && *line;) {
        size_t size = strcspn(line, "\n");
        json_array_append_new(array, json_stringn(line, size));
        line = line[size] ? line + size + 1 : NULL;
    }
    return array;
}

static json_t *write_kind(enum message_experiment_kind kind)
{
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (kinds[i].kind == kind)
            return json_string(kinds[i].name);
    return json_null();
}

static json_t *write_field(const struct field *field, const void *from)
{
    const char *at = (const char *)from + field->offset;
    switch (field->type) {
    case FIELD_KIND:
        return write_kind(*(const enum message_experiment_kind *)(const void *)at);
    case FIELD_U64:
        return json_integer((json_int_t) * (const uint64_t *)(const void *)at);
    case FIELD_U32:
        return json_integer(*(const uint32_t *)(const void *)at);
    case FIELD_I32:
        return json_integer(*(const int32_t *)(const void *)at);
    case FIELD_BOOL:
        return json_boolean(*(const bool *)(const void *)at);
    case FIELD_DOUBLE:
        return json_real(*(const double *)(const void *)at);
    case FIELD_TEXT:
    case FIELD_BUILD:
        return json_string(at);
    case FIELD_FILE:
        return write_file((const uint8_t *)at);
    case FIELD_OPTIONS:
        return write_options(at);
    }
    return NULL;
}

static json_t *write_object(const struct field_list *list, const void *from)
{
    json_t *object = json_object();
    for (size_t i = 0; i < list->count; i++)
        json_object_set_new(object, list->fields[i].key, write_field(&list->fields[i], from));
    return object;
}

json_t *specification_json_write(const struct message_create_experiment *create)
{
    json_t *object = json_pack("{s:i}", "kroo_specification", SPECIFICATION_JSON_VERSION);
    json_t *top = write_object(&specification_fields, create);
    json_object_update(object, top);
    json_decref(top);
    json_object_set_new(object, "a", write_object(&specification_player_fields, &create->spec.a));
    json_object_set_new(object, "b", write_object(&specification_player_fields, &create->spec.b));
    json_object_set_new(object, "sprt",
                        create->has_sprt ? write_object(&specification_sprt_fields, &create->sprt)
                                         : json_null());
    return object;
}

/* --- reading --- */

struct reading {
    const char *within; /* "", "a.", "b.", "sprt." */
    char *reason;
};

static bool refuse(const struct reading *reading, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool refuse(const struct reading *reading, const char *key, const char *format, ...)
{
    char why[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    snprintf(reading->reason, SPECIFICATION_REASON_MAX, "field \"%s%.60s\" %s", reading->within, key, why);
    return false;
}

static bool read_whole(const struct reading *reading, const struct field *field, const json_t *value,
                       int64_t *out)
{
    if (!json_is_integer(value))
        return refuse(reading, field->key, "is a whole number, not %s",
                      json_is_real(value) ? "one with a fraction" : "something else");
    *out = (int64_t)json_integer_value(value);
    if (*out < field->low || *out > field->high)
        return refuse(reading, field->key, "is %" PRId64 ", outside %" PRId64 " to %" PRId64, *out,
                      field->low, field->high);
    return true;
}

static bool read_text(const struct reading *reading, const struct field *field, const json_t *value,
                      char *out)
{
    if (!json_is_string(value) || strlen(json_string_value(value)) != json_string_length(value))
        return refuse(reading, field->key, "is a text");
    if (json_string_length(value) >= field->size)
        return refuse(reading, field->key, "has at most %zu bytes", field->size - 1);
    memcpy(out, json_string_value(value), json_string_length(value) + 1);
    return true;
}

static bool read_kind(const struct reading *reading, const struct field *field, const json_t *value,
                      enum message_experiment_kind *out)
{
    for (size_t i = 0; i < COUNT(kinds) && json_is_string(value); i++)
        if (strcmp(json_string_value(value), kinds[i].name) == 0) {
            *out = kinds[i].kind;
            return true;
        }
    return refuse(reading, field->key, "is selfplay, match or tune");
}

/* Sixty-four hexadecimal letters are a hash, anything shorter is a name. */
static bool read_file(const struct reading *reading, const struct field *field, const json_t *value,
                      uint8_t *hash, char *name)
{
    memset(hash, 0, MESSAGE_HASH);
    *name = '\0';
    if (json_is_null(value))
        return true;
    const char *text = json_string_value(value);
    if (!text || strlen(text) != json_string_length(value) || *text == '\0')
        return refuse(reading, field->key, "is null, a sha256 or a name");
    if (artifact_parse_hex(text, hash) == 0)
        return !message_hash_is_none(hash) ||
               refuse(reading, field->key, "is all zeros: write null for none");
    if (strlen(text) >= MESSAGE_NAME_MAX)
        return refuse(reading, field->key, "is neither a sha256 nor a name of at most %d letters",
                      MESSAGE_NAME_MAX - 1);
    snprintf(name, MESSAGE_NAME_MAX, "%s", text);
    return true;
}

static bool read_options(const struct reading *reading, const struct field *field, const json_t *value,
                         char *out)
{
    char why[160];
    size_t index, used = 0;
    json_t *line;
    *out = '\0';
    if (!json_is_array(value))
        return refuse(reading, field->key, "is an array of \"Name=Value\"");
    json_array_foreach((json_t *)value, index, line)
    {
        const char *text = json_string_value(line);
        size_t size = json_string_length(line);
        if (!text || strlen(text) != size || size == 0 || strchr(text, '\n') || used + size + 2 > field->size)
            return refuse(reading, field->key, "is an array of \"Name=Value\", together at most %zu bytes",
                          field->size - 1);
        used += (size_t)snprintf(out + used, field->size - used, "%s%s", used ? "\n" : "", text);
    }
    return message_options_check(out, why, sizeof why) || refuse(reading, field->key, "cannot be: %s", why);
}

static bool read_field(const struct reading *reading, const struct field *field, const json_t *value,
                       void *to, void *names)
{
    char *at = (char *)to + field->offset;
    int64_t whole = 0;
    bool is_whole = field->type == FIELD_U64 || field->type == FIELD_U32 || field->type == FIELD_I32;
    if (is_whole && !read_whole(reading, field, value, &whole))
        return false;
    switch (field->type) {
    case FIELD_KIND:
        return read_kind(reading, field, value, (enum message_experiment_kind *)(void *)at);
    case FIELD_U64:
        *(uint64_t *)(void *)at = (uint64_t)whole;
        return true;
    case FIELD_U32:
        *(uint32_t *)(void *)at = (uint32_t)whole;
        return true;
    case FIELD_I32:
        *(int32_t *)(void *)at = (int32_t)whole;
        return true;
    case FIELD_BOOL:
        *(bool *)(void *)at = json_is_true(value);
        return json_is_boolean(value) || refuse(reading, field->key, "is true or false");
    case FIELD_DOUBLE:
        *(double *)(void *)at = json_number_value(value);
        return json_is_number(value) || refuse(reading, field->key, "is a number");
    case FIELD_TEXT:
    case FIELD_BUILD:
        return read_text(reading, field, value, at);
    case FIELD_FILE:
        return read_file(reading, field, value, (uint8_t *)at, (char *)names + field->name);
    case FIELD_OPTIONS:
        return read_options(reading, field, value, at);
    }
    return false;
}

static const struct field *find_field(const struct field_list *list, const char *key)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->fields[i].key, key) == 0)
            return &list->fields[i];
    return NULL;
}

static bool is_special(const char *key)
{
    static const char *const special[] = {"kroo_specification", "a", "b", "sprt", "key"};
    for (size_t i = 0; i < COUNT(special); i++)
        if (strcmp(special[i], key) == 0)
            return true;
    return false;
}

static bool read_object(const struct reading *reading, const struct field_list *list, bool is_top,
                        const json_t *object, void *to, void *names)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return refuse(reading, "", "is an object");
    json_object_foreach((json_t *)object, key, value)
    {
        const struct field *field = find_field(list, key);
        if (!field && is_top && is_special(key))
            continue;
        if (!field)
            return refuse(reading, key, "is unknown: `kroo spec ID` prints all that there are");
        if (!read_field(reading, field, value, to, names))
            return false;
    }
    return true;
}

static bool read_sprt(const struct reading *reading, const json_t *value,
                      struct message_create_experiment *out)
{
    if (!value || json_is_null(value))
        return true;
    if (json_is_object(value) && json_object_size(value) < specification_sprt_fields.count)
        return refuse(reading, "", "needs all of model, elo0, elo1, alpha, beta and batch");
    out->has_sprt = true;
    return read_object(reading, &specification_sprt_fields, false, value, &out->sprt, NULL);
}

static bool read_players(const json_t *document, struct message_create_experiment *out,
                         struct specification_names *names, char *reason)
{
    const struct reading top = {"", reason}, a = {"a.", reason}, b = {"b.", reason};
    const json_t *first = json_object_get(document, "a"), *second = json_object_get(document, "b");
    if (!first || !json_object_get(first, "weights"))
        return refuse(first ? &a : &top, first ? "weights" : "a", "is missing: who plays?");
    if (!second && out->spec.kind != MESSAGE_SELFPLAY)
        return refuse(&top, "b", "is missing: against whom?");
    if (!read_object(&a, &specification_player_fields, false, first, &out->spec.a, &names->a))
        return false;
    if (second)
        return read_object(&b, &specification_player_fields, false, second, &out->spec.b, &names->b);
    out->spec.b = out->spec.a;
    names->b = names->a;
    return true;
}

static bool read_key(const struct reading *reading, const json_t *document,
                     struct message_create_experiment *out)
{
    static const struct field key = {.key = "key", .size = MESSAGE_NAME_MAX};
    const json_t *value = json_object_get(document, "key");
    return !value || read_text(reading, &key, value, out->idempotency_key);
}

bool specification_json_read(const json_t *document, struct message_create_experiment *out,
                             struct specification_names *names, bool *has_seed,
                             char reason[SPECIFICATION_REASON_MAX])
{
    const struct reading top = {"", reason}, sprt = {"sprt.", reason};
    memset(names, 0, sizeof *names);
    if (!json_is_object(document)) {
        snprintf(reason, SPECIFICATION_REASON_MAX, "a specification is a JSON object");
        return false;
    }
    const json_t *version = json_object_get(document, "kroo_specification");
    if (!json_is_integer(version) || json_integer_value(version) != SPECIFICATION_JSON_VERSION)
        return refuse(&top, "kroo_specification", "must be %d: the version that this program reads",
                      SPECIFICATION_JSON_VERSION);
    if (!json_object_get(document, "kind") || !json_object_get(document, "pairs"))
        return refuse(&top, json_object_get(document, "kind") ? "pairs" : "kind", "is missing");
    *has_seed = json_object_get(document, "seed") != NULL;
    return read_object(&top, &specification_fields, true, document, out, names) &&
           read_key(&top, document, out) && read_players(document, out, names, reason) &&
           read_sprt(&sprt, json_object_get(document, "sprt"), out);
}

/* --- comparing --- */

struct difference {
    char *text;
    size_t size, used;
    unsigned count;
};

static void add_difference(struct difference *difference, const char *within, const char *key,
                           const json_t *there, const json_t *here)
{
    char *old = json_dumps(there, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
    char *new = json_dumps(here, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
    if (difference->count++ < 5 && difference->used < difference->size) {
        int written = snprintf(difference->text + difference->used, difference->size - difference->used,
                               "%s%s%s is %.20s there, %.20s here", difference->used ? "; " : "", within, key,
                               old ? old : "?", new ? new : "?");
        difference->used += written > 0 ? (size_t)written : 0;
    }
    free(old);
    free(new);
}

static void compare_objects(struct difference *difference, const char *within, const struct field_list *list,
                            const json_t *there, const json_t *here)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *key = list->fields[i].key;
        const json_t *old = json_object_get(there, key), *new = json_object_get(here, key);
        if (!list->fields[i].is_aside && !json_equal(old, new))
            add_difference(difference, within, key, old, new);
    }
}

bool specification_json_differ(const struct message_create_experiment *there,
                               const struct message_create_experiment *here, char *text, size_t size)
{
    static const char *const players[] = {"a", "b"};
    static const char *const within[] = {"a.", "b."};
    struct difference difference = {text, size, 0, 0};
    json_t *old = specification_json_write(there), *new = specification_json_write(here);
    *text = '\0';
    compare_objects(&difference, "", &specification_fields, old, new);
    for (int i = 0; i < 2; i++)
        compare_objects(&difference, within[i], &specification_player_fields,
                        json_object_get(old, players[i]), json_object_get(new, players[i]));
    const json_t *test = json_object_get(old, "sprt"), *other = json_object_get(new, "sprt");
    if (json_is_object(test) && json_is_object(other))
        compare_objects(&difference, "sprt.", &specification_sprt_fields, test, other);
    else if (!json_equal(test, other))
        add_difference(&difference, "", "sprt", test, other);
    json_decref(old);
    json_decref(new);
    return difference.count > 0;
}
