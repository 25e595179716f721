/* Runs a fuzz target once over every file of its corpus and prints TAP. The program's own name says which:
 * .../fuzz/<room>/replay_<name> reads tests/fuzz/<room>/corpus/<name>/. */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_MAX = 1024 * 1024, INPUTS_MAX = 10000 };

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *room = malloc(INPUT_MAX), *exact = NULL;
    int result = -1;
    if (file != NULL && room != NULL) {
        size_t size = fread(room, 1, INPUT_MAX, file);
        exact = malloc(size == 0 ? 1 : size); /* its own block, so that ASan sees the end */
        if (exact != NULL) {
            memcpy(exact, room, size);
            result = LLVMFuzzerTestOneInput(exact, size);
        }
    }
    if (file != NULL)
        (void)fclose(file);
    free(room);
    free(exact);
    return result;
}

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int count, char **arguments)
{
    const char *name = count > 0 ? strstr(arguments[0], "replay_") : NULL;
    char folder[512], path[1024];
    if (name == NULL || name - arguments[0] < 2) {
        (void)fprintf(stderr, "run as build/fuzz/<room>/replay_<name>\n");
        return 2;
    }
    const char *room = name - 1;
    while (room > arguments[0] && room[-1] != '/')
        room--;
    (void)snprintf(folder, sizeof folder, "tests/fuzz/%.*scorpus/%.200s", (int)(name - room), room,
                   name + strlen("replay_"));
    struct dirent **entries = NULL;
    int inputs = scandir(folder, &entries, is_input, alphasort);
    if (inputs <= 0 || inputs > INPUTS_MAX) {
        (void)fprintf(stderr, "%s: no corpus\n", folder);
        return 1;
    }
    (void)printf("1..%d\n", inputs);
    int failed = 0;
    for (int i = 0; i < inputs; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        int bad = replay(path) != 0;
        (void)printf("%sok %d - %s\n", bad ? "not " : "", i + 1, path);
        failed |= bad;
        free(entries[i]);
    }
    free(entries);
    return failed;
}
