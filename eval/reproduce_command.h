/* `kroo-train reproduce`: makes stored weights again from the manifest and options of their training run, and
 * compares the hash. One thread. */
#ifndef KROO_EVAL_REPRODUCE_COMMAND_H
#define KROO_EVAL_REPRODUCE_COMMAND_H

/* `argv[0]` names the command in messages. Status 0 when the same file came out. */
int reproduce_command(int argc, char **argv);

#endif
