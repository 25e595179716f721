/* `kroo-train inspect`, `diff` and `export`: looking at weights, from the database or from a file. One
 * thread. */
#ifndef KROO_EVAL_INSPECT_COMMAND_H
#define KROO_EVAL_INSPECT_COMMAND_H

/* `argv[0]` names the command in messages. */
int inspect_command(int argc, char **argv);
int diff_command(int argc, char **argv);
int export_command(int argc, char **argv);

#endif
