/* What the tools' options share: argp set up so that wrong usage ends with status 2, rules, positions and
 * depths read with a clear refusal. */
#ifndef KROO_ENGINE_CLI_OPTIONS_H
#define KROO_ENGINE_CLI_OPTIONS_H

#include <argp.h>

#include "engine/cli/tools.h"
#include "engine/position.h"
#include "engine/rules.h"
#include "engine/tables.h"
#include "engine/weights.h"

/* Runs argp; `--help` and wrong usage end the process (0 and 2). */
void options_parse(const struct argp *argp, int argc, char **argv, void *input);

/* A tool that consists of tools: runs the one that argv[1] names, or prints the usage. */
struct options_command {
    const char *name;
    tool_main *run;
};
int options_run_command(const struct options_command *commands, size_t count, const char *usage, int argc,
                        char **argv);

/* Each reads one value and on failure reports through argp, which ends the process with status 2. */
void options_read_rules(struct argp_state *state, const char *text, struct rules *out);
void options_read_position(struct argp_state *state, const char *text, struct position *out);
int options_read_number(struct argp_state *state, const char *text, const char *what, int lowest,
                        int highest);

/* The weights of a file (NULL: the starting weights), or NULL after saying on standard error what is wrong.
 */
struct weights *options_load_weights(const char *path, const char *rules_name, const char *tool);

/* The endgame tables of a file for these rules (NULL: none); false after saying what is wrong. */
bool options_load_tables(const char *path, const struct rules *rules, const char *tool,
                         struct tables **tables);

/* The preset `site`, what every tool starts from. */
struct rules options_default_rules(void);

/* Flushes standard output; 0, or 1 after saying on standard error that it could not be written. */
int options_finish_output(const char *tool);

#endif
