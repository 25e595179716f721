/* The command line of kroo-coordinator: whatever is written there ends as a setting with its value, or is
 * refused. */
#include "tests/fuzz/fuzz.h"

int coordinator_main(int argc, char **argv); /* its main, never called */
#define main coordinator_main
#include "coordinator/coordinator_main.c"
#undef main

enum { WORDS = 64, BYTES = 4096 };

/* Input: words, each ended by a line feed. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct argp argp = {options, parse_option, NULL, NULL, NULL, NULL, NULL};
    static struct arguments arguments;
    char text[BYTES], reason[512], *words[WORDS + 1] = {"kroo-coordinator"}, *rest = text;
    int count = 1;
    if (size >= sizeof text || memchr(data, '\0', size) != NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *word; count < WORDS && (word = strsep(&rest, "\n")) != NULL;)
        words[count++] = word;
    memset(&arguments, 0, sizeof arguments);
    if (argp_parse(&argp, count, words, ARGP_NO_EXIT | ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &arguments) != 0)
        return 0;
    struct settings *settings = settings_parse("", 0, "nowhere", reason, sizeof reason);
    for (size_t i = 0; settings != NULL && i < arguments.given_count; i++) {
        const char *name = arguments.given[i].name, *value = arguments.given[i].value;
        int64_t whole;
        if (settings_set(settings, name, value) != 0)
            continue; /* too long, or empty */
        if (strcmp(settings_get(settings, name, ""), value) != 0)
            abort();
        (void)settings_number(settings, name, 0, 1000, 1, &whole, reason, sizeof reason);
    }
    settings_destroy(settings);
    return 0;
}
