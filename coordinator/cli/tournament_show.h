/* `kroo tournament show`: the matches of a tournament, and why they wait. One thread. */
#ifndef KROO_COORDINATOR_CLI_TOURNAMENT_SHOW_H
#define KROO_COORDINATOR_CLI_TOURNAMENT_SHOW_H

int tournament_show(int argc, char **argv);

#endif
