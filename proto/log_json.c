#include "proto/log_json.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_MAX = 15 /* digits that every reader of JSON keeps */, END_ROOM = 16 };

struct object {
    char *out;
    size_t size, length;
};

/* All of it or nothing. */
static bool put(struct object *object, const char *text, size_t size)
{
    if (object->length + size + END_ROOM > object->size)
        return false;
    memcpy(object->out + object->length, text, size);
    object->length += size;
    return true;
}

static bool put_quoted(struct object *object, const char *text, size_t size)
{
    bool good = put(object, "\"", 1);
    for (size_t i = 0; i < size && good; i++) {
        if (text[i] == '"' || text[i] == '\\')
            good = put(object, "\\", 1);
        good = good && put(object, text + i, 1);
    }
    return good && put(object, "\"", 1);
}

static bool is_number(const char *text, size_t size)
{
    size_t sign = size > 1 && text[0] == '-';
    size_t digits = size - sign;
    return digits > 0 && digits <= NUMBER_MAX && strspn(text + sign, "0123456789") >= digits &&
           (digits == 1 || text[sign] != '0');
}

struct pair {
    const char *key, *value;
    size_t key_size, value_size;
};

static size_t key_size(const char *text)
{
    size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyz_0123456789");
    return text[size] == '=' ? size : 0;
}

/* Does a quote in front of `behind` end a value? Values hold quotes of their own that nobody escaped: so what
 * follows must be the end, the text, or another pair. */
static bool ends_value(const char *behind)
{
    return *behind == '\0' || strchr(":,;", *behind) || (*behind == ' ' && key_size(behind + 1) > 0);
}

static const char *closing_quote(const char *from)
{
    const char *at = strchr(from, '"');
    while (at && !ends_value(at + 1))
        at = strchr(at + 1, '"');
    return at ? at : strstr(from, "\" ");
}

/* The pair at *at, which moves behind it; false where the text begins. A colon or comma behind a bare value
 * belongs to the text. */
static bool take_pair(const char **at, struct pair *pair)
{
    const char *from = *at + strspn(*at, " ");
    size_t key = key_size(from);
    if (key == 0)
        return false;
    *pair = (struct pair){.key = from, .key_size = key, .value = from + key + 1};
    const char *end = pair->value[0] == '"' ? closing_quote(pair->value + 1) : NULL;
    if (end) {
        pair->value++;
        pair->value_size = (size_t)(end - pair->value);
        *at = end + 1;
        return true;
    }
    pair->value_size = strcspn(pair->value, " ");
    *at = pair->value + pair->value_size;
    while (pair->value_size > 0 && strchr(":,;", pair->value[pair->value_size - 1]))
        pair->value_size--;
    return true;
}

static void put_fields(struct object *object, const char **at)
{
    struct pair pair;
    bool first = true;
    put(object, ",\"fields\":{", 11);
    while (take_pair(at, &pair)) {
        size_t before = object->length;
        bool good =
            (first || put(object, ",", 1)) && put_quoted(object, pair.key, pair.key_size) &&
            put(object, ":", 1) &&
            (is_number(pair.value, pair.value_size) ? put(object, pair.value, pair.value_size)
                                                    : put_quoted(object, pair.value, pair.value_size));
        if (!good)
            object->length = before;
        first = first && !good;
    }
    /* END_ROOM is for what ends the object. */
    object->out[object->length++] = '}';
}

size_t log_json(const char *time, const char *level, const char *what, const char *body, char *out,
                size_t size)
{
    struct object object = {.out = out, .size = size};
    const struct {
        const char *name, *value;
    } heads[] = {{"{\"time\":", time}, {",\"level\":", level}, {",\"event\":", what}};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        put(&object, heads[i].name, strlen(heads[i].name));
        put_quoted(&object, heads[i].value, strnlen(heads[i].value, 64));
    }
    put_fields(&object, &body);
    body += strspn(body, " :,;");
    size_t before = object.length;
    if (*body && !(put(&object, ",\"text\":", 8) && put_quoted(&object, body, strlen(body))))
        object.length = before;
    out[object.length++] = '}';
    out[object.length] = '\0';
    return object.length;
}
