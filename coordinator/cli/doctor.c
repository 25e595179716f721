#include "coordinator/cli/commands.h"
int doctor_command(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 0;
}
