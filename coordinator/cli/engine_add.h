/* `kroo engine add`. One thread. */
#ifndef KROO_COORDINATOR_CLI_ENGINE_ADD_H
#define KROO_COORDINATOR_CLI_ENGINE_ADD_H

int engine_add_command(int argc, char **argv);

#endif
