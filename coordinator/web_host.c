#include "coordinator/web_host.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static bool is_same(const char *text, size_t size, const char *name)
{
    return strlen(name) == size && strncasecmp(text, name, size) == 0;
}

/* The name without its port and brackets. False: it is no such thing. */
static bool cut_name(const char *header, const char **name, size_t *size)
{
    const char *rest;
    if (header[0] == '[') {
        const char *end = strchr(header, ']');
        if (!end)
            return false;
        *name = header + 1;
        *size = (size_t)(end - *name);
        rest = end + 1;
    } else {
        *name = header;
        *size = strcspn(header, ":");
        rest = header + *size;
    }
    if (*rest == '\0')
        return *size > 0;
    return *size > 0 && *rest == ':' && rest[1] != '\0' && rest[1 + strspn(rest + 1, "0123456789")] == '\0';
}

bool web_host_is_ours(const char *header, const char *own, const char *names)
{
    static const char *const always[] = {"localhost", "127.0.0.1", "::1"};
    const char *name;
    size_t size;
    if (!header || !cut_name(header, &name, &size))
        return false;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (is_same(name, size, always[i]))
            return true;
    if (is_same(name, size, own))
        return true;
    for (const char *one = names; one && *one; one += *one != '\0') {
        one += strspn(one, " ");
        size_t length = strcspn(one, ", ");
        if (length == size && strncasecmp(one, name, size) == 0)
            return true;
        one += strcspn(one, ",");
    }
    return false;
}
