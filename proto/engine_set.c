#include "proto/engine_set.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

static const char head[] = "kroo-engine-set 1\n";

bool engine_set_is(const void *bytes, size_t size)
{
    return size >= sizeof head - 1 && memcmp(bytes, head, sizeof head - 1) == 0;
}

/* Names of architectures and commands are printable and hold no line feed. */
static bool is_line(const char *text)
{
    for (const char *at = text; *at != '\0'; at++)
        if (*at < ' ' || *at > '~')
            return false;
    return *text != '\0';
}

static bool is_path_inside(const char *path)
{
    size_t size = strlen(path);
    return is_line(path) && path[0] != '/' && path[0] != '-' && strcmp(path, "..") != 0 &&
           strncmp(path, "../", 3) != 0 && strstr(path, "/../") == NULL &&
           (size < 3 || strcmp(path + size - 3, "/..") != 0);
}

const char *engine_set_fault(const struct engine_set *set)
{
    if (set->count == 0 && !set->has_source)
        return "it has neither a binary nor sources";
    for (size_t i = 0; i < set->count; i++) {
        if (!is_line(set->binaries[i].arch) || strchr(set->binaries[i].arch, ' ') != NULL)
            return "an architecture is no word";
        for (size_t j = 0; j < i; j++)
            if (strcmp(set->binaries[i].arch, set->binaries[j].arch) == 0)
                return "two binaries are for one architecture";
    }
    if (!set->has_source && (set->recipe[0] != '\0' || set->product[0] != '\0'))
        return "it has a recipe or its product, and no sources";
    if (set->has_source && !is_line(set->recipe))
        return "the recipe is no line of printable ASCII";
    if (set->has_source && !is_path_inside(set->product))
        return "the binary that the recipe makes is no path inside the sources";
    return NULL;
}

/* --- text --- */

size_t engine_set_format(const struct engine_set *set, char *text)
{
    char hex[ARTIFACT_HEX];
    size_t at = (size_t)snprintf(text, ENGINE_SET_TEXT_MAX, "%s", head);
    for (size_t i = 0; i < set->count; i++) {
        artifact_hex(set->binaries[i].sha256, hex);
        at += (size_t)snprintf(text + at, ENGINE_SET_TEXT_MAX - at, "binary %s %s\n", set->binaries[i].arch,
                               hex);
    }
    if (!set->has_source)
        return at;
    artifact_hex(set->source, hex);
    return at + (size_t)snprintf(text + at, ENGINE_SET_TEXT_MAX - at, "source %s\nrecipe %s\nproduct %s\n",
                                 hex, set->recipe, set->product);
}

static bool take_text(const char *value, char *out, size_t size)
{
    if (strlen(value) >= size)
        return false;
    memcpy(out, value, strlen(value) + 1);
    return true;
}

static bool take_binary(const char *value, struct engine_set *out)
{
    const char *space = strchr(value, ' ');
    if (space == NULL || out->count == ENGINE_SET_BINARIES_MAX || space - value >= ENGINE_SET_ARCH_MAX)
        return false;
    struct engine_set_binary *binary = &out->binaries[out->count++];
    snprintf(binary->arch, sizeof binary->arch, "%.*s", (int)(space - value), value);
    return artifact_parse_hex(space + 1, binary->sha256) == 0;
}

static bool take_line(const char *name, const char *value, struct engine_set *out)
{
    if (strcmp(name, "binary") == 0)
        return take_binary(value, out);
    if (strcmp(name, "source") == 0)
        return !out->has_source && (out->has_source = artifact_parse_hex(value, out->source) == 0);
    if (strcmp(name, "recipe") == 0)
        return out->recipe[0] == '\0' && take_text(value, out->recipe, sizeof out->recipe);
    return strcmp(name, "product") == 0 && out->product[0] == '\0' &&
           take_text(value, out->product, sizeof out->product);
}

int engine_set_parse(const void *bytes, size_t size, struct engine_set *out, char *reason, size_t reason_size)
{
    char text[ENGINE_SET_TEXT_MAX], *rest = text;
    *out = (struct engine_set){.count = 0};
    if (!engine_set_is(bytes, size) || size >= sizeof text || memchr(bytes, '\0', size) != NULL) {
        snprintf(reason, reason_size, "it is no set of engines");
        return -1;
    }
    memcpy(text, bytes, size);
    text[size] = '\0';
    for (char *line = strtok_r(text + sizeof head - 1, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *value = strchr(line, ' ');
        if (value != NULL)
            *value++ = '\0';
        if (value == NULL || !take_line(line, value, out)) {
            snprintf(reason, reason_size, "its line `%.20s` cannot be read", line);
            return -1;
        }
    }
    const char *fault = engine_set_fault(out);
    if (fault != NULL)
        snprintf(reason, reason_size, "%s", fault);
    return fault == NULL ? 0 : -1;
}

/* --- architectures --- */

const char *engine_set_arch(void)
{
    static _Thread_local struct utsname name;
    return uname(&name) == 0 ? name.machine : "unknown";
}

bool engine_set_arch_of(const void *bytes, size_t size, char arch[ENGINE_SET_ARCH_MAX])
{
    static const struct {
        unsigned machine;
        const char *name;
    } known[] = {{EM_X86_64, "x86_64"}, {EM_AARCH64, "aarch64"}, {EM_RISCV, "riscv64"}, {EM_386, "i686"},
                 {EM_ARM, "armv7l"},    {EM_PPC64, "ppc64le"},   {EM_S390, "s390x"}};
    const unsigned char *at = bytes;
    if (size < EI_NIDENT + 4 || memcmp(at, ELFMAG, SELFMAG) != 0)
        return false;
    bool big = at[EI_DATA] == ELFDATA2MSB;
    unsigned machine = big ? at[18] * 256U + at[19] : at[19] * 256U + at[18];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].machine == machine) {
            snprintf(arch, ENGINE_SET_ARCH_MAX, "%s", known[i].name);
            return true;
        }
    return false;
}

const struct engine_set_binary *engine_set_find(const struct engine_set *set, const char *arch)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->binaries[i].arch, arch) == 0)
            return &set->binaries[i];
    return NULL;
}
