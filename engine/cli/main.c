#include <stdio.h>
#include <string.h>

#include "engine/build.h"
#include "engine/cli/tools.h"
#include "engine/cli/uci.h"

static const struct {
    const char *name;
    tool_main *run;
    const char *help;
} tools[] = {
    {"play", play_main, "         play a game in the terminal"},
    {"analyse", analyse_main, "      the best lines of a position"},
    {"perft", perft_main, "DEPTH   count the move sequences of each length"},
    {"divide", divide_main, "DEPTH  the same below each first move"},
    {"replay", replay_main, "       games on standard input, results as JSON lines"},
    {"moves", moves_main, "        positions on standard input, legal moves as JSON lines"},
    {"bench", bench_main, "        a fixed set of searches: node signature and speed"},
    {"speed", speed_main, "        the rules' speed: trees, moves made, games replayed"},
    {"eval", eval_main, "         positions on standard input, evaluations"},
    {"rules", rules_main, "        the rule sets and their fields"},
    {"tables", tables_main, "       endgame tables: build, stat, probe, check, positions"},
    {"book", book_main, "         opening books: make, show, check, measure"},
    {"perfect", perfect_main, "      how near the player is to perfect play, by endgame tables"},
};

static void print_help(FILE *stream)
{
    fprintf(stream,
            "Usage: kroo-engine [TOOL [OPTION...]]\n"
            "An oware player. Without arguments it speaks the UCI dialect on standard input and output.\n\n"
            "Tools, each with its own --help:\n");
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
        fprintf(stream, "  %s %s\n", tools[i].name, tools[i].help);
    fprintf(stream, "\n  --help      this text\n  --version   the engine's name, derived from its sources\n\n"
                    "Exit status: 0 done, 1 refused or some input was wrong, 2 wrong usage.\n");
}

/* The tool's own argv, with argv[0] as people call it, for its messages. */
static int run_tool(tool_main *run, const char *name, int argc, char **argv)
{
    char title[64];
    snprintf(title, sizeof title, "kroo-engine %s", name);
    argv[0] = title;
    return run(argc, argv);
}

int main(int argc, char **argv)
{
    if (argc == 1)
        return uci_main();
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
        if (strcmp(argv[1], tools[i].name) == 0)
            return run_tool(tools[i].run, tools[i].name, argc - 1, argv + 1);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return TOOL_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("%s\n", engine_build());
        return TOOL_DONE;
    }
    fprintf(stderr, "kroo-engine: there is no tool '%s'\n\n", argv[1]);
    print_help(stderr);
    return TOOL_USAGE;
}
