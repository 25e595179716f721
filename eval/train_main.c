/* kroo-train: the trainer. Its first argument names what to do. */
#include <stdio.h>
#include <string.h>

#include "engine/build.h"
#include "eval/blas.h"
#include "eval/build.h"
#include "eval/command.h"
#include "eval/eval_command.h"
#include "eval/fit_command.h"
#include "eval/inspect_command.h"
#include "eval/reproduce_command.h"

static const char usage[] =
    "Usage: kroo-train COMMAND [OPTION...]\n"
    "\n"
    "  fit          fit weights to stored games: kroo-train fit --games 3 --kind net\n"
    "  eval         judge weights by stored games: kroo-train eval champion --games 3\n"
    "  inspect      what weights are made of: kroo-train inspect champion\n"
    "  diff         how two weights differ: kroo-train diff 4 champion\n"
    "  export       write weights to a file: kroo-train export champion -o champion.bin\n"
    "  reproduce    make stored weights again and compare the hash: kroo-train reproduce 4\n"
    "\n"
    "  --help       this text; `kroo-train COMMAND --help` lists the options of a command\n"
    "  --version    builds of the trainer, of its engine and of its linear algebra\n"
    "\n"
    "Exit status: 0 done, 1 refused, 2 wrong usage, 3 no connection.\n";

static const struct {
    const char *word;
    char *name; /* in messages */
    int (*run)(int argc, char **argv);
} commands[] = {
    {"fit", (char[]){"kroo-train fit"}, fit_command},
    {"eval", (char[]){"kroo-train eval"}, eval_command},
    {"inspect", (char[]){"kroo-train inspect"}, inspect_command},
    {"diff", (char[]){"kroo-train diff"}, diff_command},
    {"export", (char[]){"kroo-train export"}, export_command},
    {"reproduce", (char[]){"kroo-train reproduce"}, reproduce_command},
};

int main(int argc, char **argv)
{
    blas_choose_core(argv);
    for (size_t i = 0; i < sizeof commands / sizeof *commands && argc >= 2; i++)
        if (strcmp(argv[1], commands[i].word) == 0) {
            argv[1] = commands[i].name;
            return commands[i].run(argc - 1, argv + 1);
        }
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-?") == 0)) {
        fputs(usage, stdout);
        return COMMAND_DONE;
    }
    if (argc == 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
        printf("%s\n%s\n%s (core %s)\n", train_build(), engine_build(), blas_config(), blas_core());
        return COMMAND_DONE;
    }
    if (argc >= 2)
        fprintf(stderr, "kroo-train: unknown command `%s`\n\n", argv[1]);
    fputs(usage, stderr);
    return COMMAND_USAGE;
}
