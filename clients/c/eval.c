/* eval FILE: positions from standard input, one a line, answered by their evaluation, as kroo-engine eval
 * does. cc -std=c99 -O2 eval.c -o eval && echo 4-4-4-4-4-4-4-4-4-4-4-4-0-0-S | ./eval champion.weights Exit
 * status 0, or 1 when the file or a line was refused. */
#include "kroo-weights.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    static unsigned char bytes[1 << 17]; /* more than any weights file has */
    struct kroo_reader_weights weights;
    struct kroo_reader_position position;
    char line[256];
    int status = 0;
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file) {
        fprintf(stderr, "usage: eval FILE, positions on standard input\n");
        return 1;
    }
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    const char *wrong = kroo_reader_read(&weights, bytes, size);
    if (wrong) {
        fprintf(stderr, "eval: %s\n", wrong);
        return 1;
    }
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (kroo_reader_parse(line, &position)) {
            printf("%d\n", kroo_reader_evaluate(&weights, &position));
        } else {
            printf("error: \"%s\" is no position\n", line);
            status = 1;
        }
    }
    return status;
}
