/* `kroo calc`: requests on standard input, an answer a line on standard output (coordinator/calc.h). */
#ifndef KROO_COORDINATOR_CLI_CALC_H
#define KROO_COORDINATOR_CLI_CALC_H

/* argv[0] is "calc". The exit status: 0, also when a request was answered with an error; 2 on wrong usage;
 * 1 when the output cannot be written. */
int calc_command(int argc, char **argv);

#endif
