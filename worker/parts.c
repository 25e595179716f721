#include "worker/parts.h"

#include <stdio.h>
#include <string.h>

static int choose(struct parts *parts, char *reason, size_t reason_size)
{
    const char *arch = engine_set_arch();
    const struct engine_set_binary *binary = engine_set_find(&parts->set, arch);
    parts->from_source = binary == NULL;
    if (binary == NULL && !parts->set.has_source) {
        snprintf(reason, reason_size,
                 "it has no binary for this machine (%s; the first is for %s) and no sources", arch,
                 parts->set.binaries[0].arch);
        return -1;
    }
    memcpy(parts->sha256, binary != NULL ? binary->sha256 : parts->set.source, ARTIFACT_HASH);
    return 0;
}

int parts_read(const struct held_file *engine, struct parts *out, char *reason, size_t reason_size)
{
    char head[ENGINE_SET_TEXT_MAX];
    *out = (struct parts){.is_known = true};
    FILE *file = fopen(engine->path, "re");
    size_t size = file != NULL ? fread(head, 1, sizeof head, file) : 0;
    if (file != NULL)
        fclose(file);
    if (!engine_set_is(head, size))
        return 0;
    out->is_set = true;
    return engine_set_parse(head, size, &out->set, reason, reason_size) == 0
               ? choose(out, reason, reason_size)
               : -1;
}
