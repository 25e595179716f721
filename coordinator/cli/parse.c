#include "coordinator/cli/parse.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/suggest.h"

enum { NAMES_MAX = 128, USAGE_MAX = 4096 };

/* --- known options --- */

struct known {
    const char *name[NAMES_MAX];
    int key[NAMES_MAX];
    bool takes_value[NAMES_MAX];
    size_t count;
};

static void add(struct known *known, const char *name, int key, bool takes_value)
{
    if (known->count == NAMES_MAX)
        return;
    known->name[known->count] = name;
    known->key[known->count] = key;
    known->takes_value[known->count++] = takes_value;
}

static void collect(struct known *known, const struct argp *argp)
{
    bool takes_value = false;
    for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc || o->group); o++) {
        if (!(o->flags & OPTION_ALIAS))
            takes_value = o->arg && !(o->flags & OPTION_ARG_OPTIONAL);
        if (o->name && !(o->flags & OPTION_DOC))
            add(known, o->name, o->key, takes_value);
    }
    for (const struct argp_child *child = argp->children; child && child->argp; child++)
        collect(known, child->argp);
}

/* The option that `--WORD` names or begins; -1 when there is none. */
static int find(const struct known *known, const char *word, size_t length)
{
    for (size_t i = 0; i < known->count; i++)
        if (strncmp(known->name[i], word, length) == 0)
            return (int)i;
    return -1;
}

static bool short_takes_value(const struct known *known, char letter)
{
    for (size_t i = 0; i < known->count; i++)
        if (known->key[i] == letter)
            return known->takes_value[i];
    return false;
}

static void refuse_option(const struct known *known, const char *command, const char *word, size_t length)
{
    char name[SUGGEST_LENGTH_MAX + 1];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const char *nearest = suggest_nearest(name, known->name, known->count);
    if (nearest)
        args_refuse("there is no option --%s; did you mean --%s? (`%s --help`)", name, nearest, command);
    else
        args_refuse("there is no option --%s: `%s --help` lists them", name, command);
    exit(COMMAND_USAGE);
}

static void check_options(const struct argp *argp, int argc, char **argv)
{
    struct known known = {0};
    collect(&known, argp);
    add(&known, "help", '?', false);
    add(&known, "usage", 0, false);
    add(&known, "version", 'V', false);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *word = argv[i];
        if (word[0] != '-' || word[1] == '\0')
            continue;
        if (word[1] != '-') {
            i += word[2] == '\0' && short_takes_value(&known, word[1]);
            continue;
        }
        size_t length = strcspn(word + 2, "=");
        int option = find(&known, word + 2, length);
        if (option < 0)
            refuse_option(&known, argv[0], word + 2, length);
        else
            i += known.takes_value[option] && word[2 + length] == '\0';
    }
}

/* --- usage errors as JSON --- */

/* argp and getopt write to standard error themselves and end the program: what they write is held back. */
static int held = -1, kept_stderr = -1;

static void release(int status, void *context)
{
    (void)status;
    (void)context;
    char text[USAGE_MAX];
    if (held < 0)
        return;
    fflush(stderr);
    ssize_t size = pread(held, text, sizeof text - 1, 0);
    dup2(kept_stderr, STDERR_FILENO);
    close(kept_stderr);
    close(held);
    held = -1;
    if (size <= 0)
        return;
    text[size] = '\0';
    if (text[0] == '{') { /* JSON already */
        fputs(text, stderr);
        return;
    }
    text[strcspn(text, "\n")] = '\0';
    const char *told = strncmp(text, "kroo", 4) == 0 ? strstr(text, ": ") : NULL;
    args_refuse("%s", told ? told + 2 : text);
}

static void hold(void)
{
    static bool is_registered;
    held = memfd_create("usage", MFD_CLOEXEC);
    kept_stderr = held < 0 ? -1 : dup(STDERR_FILENO);
    if (kept_stderr < 0 || dup2(held, STDERR_FILENO) < 0) {
        held = -1;
        return;
    }
    if (!is_registered)
        on_exit(release, NULL);
    is_registered = true;
}

void parse_line(const struct argp *argp, int argc, char **argv, void *input)
{
    bool json = args_wants_json(argc, argv);
    check_options(argp, argc, argv);
    if (json)
        hold();
    argp_parse(argp, argc, argv, 0, NULL, input);
    release(0, NULL);
}
