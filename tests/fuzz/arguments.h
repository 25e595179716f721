/* The rest of fuzz_arguments.c, after the main whose `struct arguments` it fills: whatever is written on a
 * command line ends as a setting with its value, or is refused. */
#ifndef KROO_TESTS_FUZZ_ARGUMENTS_H
#define KROO_TESTS_FUZZ_ARGUMENTS_H

enum { WORDS = 64, BYTES = 4096 };

/* Input: words, each ended by a line feed. */
static int fuzz_arguments(const struct argp *argp, char *program, const uint8_t *data, size_t size)
{
    static struct arguments arguments;
    char text[BYTES], reason[512], *words[WORDS + 1] = {program}, *rest = text;
    int count = 1;
    if (size >= sizeof text || memchr(data, '\0', size) != NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *word; count < WORDS && (word = strsep(&rest, "\n")) != NULL;)
        words[count++] = word;
    memset(&arguments, 0, sizeof arguments);
    if (argp_parse(argp, count, words, ARGP_NO_EXIT | ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &arguments) != 0)
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

#endif
