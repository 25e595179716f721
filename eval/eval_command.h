/* `kroo-train eval`: given weights judged by stored games and by endgame tables. One thread. */
#ifndef KROO_EVAL_EVAL_COMMAND_H
#define KROO_EVAL_EVAL_COMMAND_H

/* `argv[0]` names the command in messages. */
int eval_command(int argc, char **argv);

#endif
