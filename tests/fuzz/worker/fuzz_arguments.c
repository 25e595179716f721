/* The command line of kroo-worker: see tests/fuzz/arguments.h. */
#include "tests/fuzz/fuzz.h"

int worker_main(int argc, char **argv); /* its main, never called */
#define main worker_main
#include "worker/worker_main.c"
#undef main

#include "tests/fuzz/arguments.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct argp argp = {options, parse, NULL, NULL, NULL, NULL, NULL};
    static char program[] = "kroo-worker";
    return fuzz_arguments(&argp, program, data, size);
}
