/* argp_parse as every command here calls it: a mistyped option hears the right one, and with `--json` the
 * usage errors are JSON, too. One thread. */
#ifndef KROO_COORDINATOR_CLI_PARSE_H
#define KROO_COORDINATOR_CLI_PARSE_H

#include <argp.h>

/* Fills `input`; ends the program on wrong usage (COMMAND_USAGE) and after --help. */
void parse_line(const struct argp *argp, int argc, char **argv, void *input);

#endif
