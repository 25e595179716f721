/* The command line of kroo-coordinator: see tests/fuzz/arguments.h. */
#include "tests/fuzz/fuzz.h"

int coordinator_main(int argc, char **argv); /* its main, never called */
#define main coordinator_main
#include "coordinator/coordinator_main.c"
#undef main

#include "tests/fuzz/arguments.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct argp argp = {options, parse_option, NULL, NULL, NULL, NULL, NULL};
    static char program[] = "kroo-coordinator";
    return fuzz_arguments(&argp, program, data, size);
}
