/* kroo-train: the trainer. Its first argument names what to do; `fit` is all there is so far. */
#include <stdio.h>
#include <string.h>

#include "engine/build.h"
#include "eval/blas.h"
#include "eval/build.h"
#include "eval/command.h"
#include "eval/fit_command.h"

static const char usage[] = "Usage: kroo-train COMMAND [OPTION...]\n"
                            "\n"
                            "  fit          fit weights to stored games: kroo-train fit --games 3\n"
                            "\n"
                            "  --help       this text; `kroo-train fit --help` lists the options of a fit\n"
                            "  --version    builds of the trainer, of its engine and of its linear algebra\n"
                            "\n"
                            "Exit status: 0 done, 1 refused, 2 wrong usage, 3 no connection.\n";

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "fit") == 0) {
        static char name[] = "kroo-train fit";
        argv[1] = name;
        return fit_command(argc - 1, argv + 1);
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
