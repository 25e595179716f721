/* The tools of kroo-engine: each is called with argv[0] naming the tool, reads standard input where it says
 * so, and returns the exit status: 0 done, 1 refused or some input was wrong, 2 wrong usage. One thread. */
#ifndef KROO_ENGINE_CLI_TOOLS_H
#define KROO_ENGINE_CLI_TOOLS_H

enum { TOOL_DONE = 0, TOOL_REFUSED = 1, TOOL_USAGE = 2 };

typedef int tool_main(int argc, char **argv);

tool_main perft_main, divide_main; /* perft.c */
tool_main replay_main;             /* replay.c */
tool_main moves_main;              /* moves.c */
tool_main rules_main;              /* rules_tool.c */
tool_main bench_main;              /* bench.c */
tool_main eval_main;               /* eval.c */
tool_main speed_main;              /* speed.c */
tool_main analyse_main;            /* analyse.c */
tool_main play_main;               /* play.c */
tool_main tables_main;             /* tables.c */
tool_main perfect_main;            /* perfect.c */
tool_main book_main;               /* book.c */

#endif
