/* `kroo-train fit`: the whole run from the command line to the exit status. One thread. */
#ifndef KROO_EVAL_FIT_COMMAND_H
#define KROO_EVAL_FIT_COMMAND_H

enum {
    FIT_EXIT_DONE = 0,
    FIT_EXIT_REFUSED = 1,
    FIT_EXIT_USAGE = 2,
    FIT_EXIT_CONNECTION = 3,
};

/* `argv[0]` names the command in messages. SIGINT and SIGTERM end the run cleanly with FIT_EXIT_REFUSED. */
int fit_command(int argc, char **argv);

#endif
