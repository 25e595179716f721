#include "coordinator/cli/dispatch.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/suggest.h"

/* Singular and plural of a noun are one, so are the usual names of a verb. */
static const char *const synonyms[][2] = {
    {"list", "ls"},        {"rm", "delete"},
    {"remove", "delete"},  {"engines", "engine"},
    {"books", "book"},     {"keys", "key"},
    {"loops", "loop"},     {"pools", "pool"},
    {"presets", "preset"}, {"tournaments", "tournament"},
    {"table", "tables"},   {"weight", "weights"},
    {"worker", "workers"}, {"event", "events"},
    {"game", "games"},     {"fault", "faults"},
    {"queries", "query"},  {"rating", "ratings"},
};

static const struct dispatch_entry *find_exact(const struct dispatch_entry *commands, const char *word)
{
    for (const struct dispatch_entry *command = commands; command->name; command++)
        if (strcmp(command->name, word) == 0)
            return command;
    return NULL;
}

static const struct dispatch_entry *find_command(const struct dispatch_entry *commands, const char *word)
{
    const struct dispatch_entry *found = find_exact(commands, word);
    for (size_t i = 0; !found && i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcmp(synonyms[i][0], word) == 0)
            found = find_exact(commands, synonyms[i][1]);
    return found;
}

static void dispatch_help(FILE *out, const struct dispatch_entry *commands, const char *doc, const char *name,
                          const char *fallback)
{
    bool is_top = strchr(name, ' ') == NULL;
    fprintf(out, "Usage: %s COMMAND [OPTION...]\n%s", name, doc);
    if (fallback)
        fprintf(out, " Without a command: `%s %s`.", name, fallback);
    fputs("\n\nCommands:\n", out);
    for (const struct dispatch_entry *command = commands; command->name; command++)
        fprintf(out, "  %-12s  %s\n", command->name, command->help);
    fprintf(out,
            "\n`%s COMMAND --help` tells more. --config FILE or --dir DIR names the cluster; --json answers "
            "in\nJSON; --color is auto, always or never.\n",
            name);
    fprintf(out, "\nExit status: 0 done, 1 refused or differences found, 2 wrong usage, 3 no connection.\n");
    if (is_top)
        fputs("\nWith --json a command prints one JSON document, or a line of JSON for each thing it tells, "
              "and "
              "what\ngoes wrong is a line on standard error: {\"error\": TEXT} or {\"warning\": TEXT}.\n",
              out);
}

static int dispatch_unknown(const struct dispatch_entry *commands, const char *name, const char *word)
{
    const char *names[128];
    size_t count = 0;
    for (; commands[count].name && count < sizeof names / sizeof *names; count++)
        names[count] = commands[count].name;
    const char *nearest = suggest_nearest(word, names, count);
    if (nearest)
        args_refuse("there is no command `%s %.40s`; did you mean `%s %s`?", name, word, name, nearest);
    else
        args_refuse("there is no command `%s %.40s`: `%s --help` lists them", name, word, name);
    return COMMAND_USAGE;
}

/* Calls the command with argv[0] "NAME COMMAND" and the leading options put behind it. */
static int dispatch_run(const struct dispatch_entry *command, const char *name, char **leading,
                        int leading_count, int argc, char **argv)
{
    char title[96];
    snprintf(title, sizeof title, "%s %s", name, command->name);
    char **passed = calloc((size_t)(leading_count + argc) + 1, sizeof *passed);
    if (!passed)
        return args_refuse("out of memory");
    int count = 0;
    passed[count++] = title;
    for (int i = 0; command->takes_common && i < leading_count; i++)
        passed[count++] = leading[i];
    for (int i = 1; i < argc; i++)
        passed[count++] = argv[i];
    int status = command->run(count, passed);
    free(passed);
    return status;
}

/* How many words a leading option takes: 0 when it is none of ours. */
static int leading_words(const char *word)
{
    if (strcmp(word, "--json") == 0 || strncmp(word, "--config=", 9) == 0 ||
        strncmp(word, "--dir=", 6) == 0 || strncmp(word, "--color=", 8) == 0)
        return 1;
    return strcmp(word, "--config") == 0 || strcmp(word, "--dir") == 0 || strcmp(word, "--color") == 0 ? 2
                                                                                                       : 0;
}

/* How many words before the command are options of ours; -1 when the last lacks its value. */
static int count_leading(int argc, char **argv)
{
    int at = 1;
    while (at < argc) {
        int words = leading_words(argv[at]);
        if (words == 0)
            break;
        at += words;
    }
    return at > argc ? -1 : at - 1;
}

static bool asks_for_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "-?") == 0 ||
           strcmp(word, "help") == 0;
}

int dispatch(const struct dispatch_entry *commands, const char *doc, const char *fallback, int argc,
             char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    const char *name = slash ? slash + 1 : argv[0];
    int leading = count_leading(argc, argv);
    if (leading < 0) {
        args_refuse("%s needs a value", argv[argc - 1]);
        return COMMAND_USAGE;
    }
    const char *word = leading + 1 < argc ? argv[leading + 1] : fallback;
    if (!word) {
        args_refuse("`%s` needs a command: `%s --help` lists them", name, name);
        return COMMAND_USAGE;
    }
    if (asks_for_help(word)) {
        dispatch_help(stdout, commands, doc, name, fallback);
        return COMMAND_DONE;
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        puts(argp_program_version ? argp_program_version : name);
        return COMMAND_DONE;
    }
    const struct dispatch_entry *command = find_command(commands, word);
    if (!command) {
        args_wants_json(argc, argv);
        return dispatch_unknown(commands, name, word);
    }
    int rest = argc - 1 - leading;
    return dispatch_run(command, name, argv + 1, leading, rest > 0 ? rest : 1, argv + 1 + leading);
}
