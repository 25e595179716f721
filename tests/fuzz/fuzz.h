/* A fuzz target is one file tests/fuzz/<room>/fuzz_<name>.c with this function. Under clang it becomes a
 * libFuzzer program (`make fuzz`); with replay.c it runs once over its stored corpus,
 * tests/fuzz/<room>/corpus/<name>/, as part of `make check`. */
#ifndef KROO_TESTS_FUZZ_H
#define KROO_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
