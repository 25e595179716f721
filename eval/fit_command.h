/* `kroo-train fit`: the whole run from the command line to the exit status. One thread. */
#ifndef KROO_EVAL_FIT_COMMAND_H
#define KROO_EVAL_FIT_COMMAND_H

/* `argv[0]` names the command in messages. SIGINT and SIGTERM end the run cleanly with COMMAND_REFUSED. */
int fit_command(int argc, char **argv);

#endif
