#include "proto/tags.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

static const char name_first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
static const char name_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+=-";

static bool holds(const char *list, const char *name, size_t size)
{
    for (const char *at = list; *at;) {
        size_t length = strcspn(at, ",");
        if (length == size && memcmp(at, name, size) == 0)
            return true;
        at += length + (at[length] == ',');
    }
    return false;
}

static bool name_is_good(const char *name, size_t size)
{
    return size >= 1 && size < TAGS_NAME && strchr(name_first, name[0]) && strspn(name, name_letters) == size;
}

bool tags_check(const char *text, char *reason, size_t reason_size)
{
    unsigned count = 0;
    size_t all = strnlen(text, TAGS_TEXT);
    if (all == TAGS_TEXT) {
        snprintf(reason, reason_size, "tags: at most %d letters together", TAGS_TEXT - 1);
        return false;
    }
    for (const char *at = text; all > 0;) {
        size_t size = strcspn(at, ",");
        if (!name_is_good(at, size)) {
            snprintf(
                reason, reason_size,
                "tags: `%.*s` is no tag: plain names of 1 to %d of the letters A-Z a-z 0-9 . _ + = - are, "
                "separated by commas; there are no expressions",
                (int)(size < 40 ? size : 40), at, TAGS_NAME - 1);
            return false;
        }
        if (holds(at[size] ? at + size + 1 : "", at, size)) {
            snprintf(reason, reason_size, "tags: `%.*s` stands there twice", (int)size, at);
            return false;
        }
        if (++count > TAGS_MAX) {
            snprintf(reason, reason_size, "tags: at most %d", TAGS_MAX);
            return false;
        }
        if (at[size] == '\0')
            return true;
        at += size + 1;
    }
    return true;
}

bool tags_cover(const char *had, const char *needed, char missing[TAGS_NAME])
{
    for (const char *at = needed; *at;) {
        size_t size = strcspn(at, ",");
        if (!holds(had, at, size)) {
            snprintf(missing, TAGS_NAME, "%.*s", (int)size, at);
            return false;
        }
        at += size + (at[size] == ',');
    }
    return true;
}

void tags_add(char *list, const char *name)
{
    size_t used = strlen(list), size = strlen(name);
    if (!name_is_good(name, size) || holds(list, name, size) || used + size + 2 > TAGS_TEXT)
        return;
    snprintf(list + used, TAGS_TEXT - used, "%s%s", used ? "," : "", name);
}

void tags_of_machine(char list[TAGS_TEXT])
{
    struct utsname name;
    char tag[TAGS_NAME + 64];
    list[0] = '\0';
    if (uname(&name) == 0) {
        snprintf(tag, sizeof tag, "arch=%.27s", name.machine);
        tags_add(list, tag);
        snprintf(tag, sizeof tag, "os=%.29s", name.sysname);
        for (char *at = tag; *at; at++)
            *at = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
        tags_add(list, tag);
    }
#if defined(__x86_64__) || defined(__i386__)
    if (__builtin_cpu_supports("avx2"))
        tags_add(list, "avx2");
    if (__builtin_cpu_supports("bmi2"))
        tags_add(list, "bmi2");
    if (__builtin_cpu_supports("avx512f"))
        tags_add(list, "avx512");
#elif defined(__aarch64__)
    tags_add(list, "neon");
#endif
}
