/* `kroo COMMAND ...` and `kroo GROUP COMMAND ...`: which function a word calls. One thread. */
#ifndef KROO_COORDINATOR_CLI_DISPATCH_H
#define KROO_COORDINATOR_CLI_DISPATCH_H

#include <stdbool.h>

struct dispatch_entry {
    const char *name; /* NULL ends the table */
    int (*run)(int argc, char **argv);
    const char *help;  /* one line */
    bool takes_common; /* leading --config, --dir, --json and --color are handed on to it */
};

/* Calls the command that argv[1] names, with argv[0] as `NAME COMMAND`; singular and plural of a noun are
 * one, and so are `list` and `ls`. `doc` heads the help. Without a command it runs the one called `fallback`
 * (NULL: says that one is missing). */
int dispatch(const struct dispatch_entry *commands, const char *doc, const char *fallback, int argc,
             char **argv);

#endif
