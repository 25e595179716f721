/* Everything a front end may send: the whole session of `kroo-engine` on the input's lines, which end and so
 * stop whatever it thinks about. Standard input and output are put aside for it. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cli/uci.h"

/* Options that reach for memory or files, by design without a bound that suits a fuzzer. */
static int reaches_out(const char *text)
{
    static const char *const words[] = {"hash", "file", "threads"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasestr(text, words[i]) != NULL)
            return 1;
    return 0;
}

static int session(FILE *input, FILE *output)
{
    FILE *kept_input = stdin, *kept_output = stdout;
    stdin = input;
    stdout = output;
    int status = uci_main();
    stdin = kept_input;
    stdout = kept_output;
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    FILE *output = fopen("/dev/null", "w");
    if (text == NULL || output == NULL)
        abort();
    for (size_t i = 0; i < size; i++)
        text[i] = data[i] == '\0' ? ' ' : (char)data[i];
    text[size] = '\0';
    if (size > 0 && !reaches_out(text)) {
        FILE *input = fmemopen((void *)data, size, "r");
        if (input == NULL || session(input, output) != 0)
            abort();
        (void)fclose(input);
    }
    (void)fclose(output);
    free(text);
    return 0;
}
