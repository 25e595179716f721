/* A worker that asks the same again and again over one connection, each time it is told to:
 *
 *     petitioner ENDPOINT NAME.key SERVER.pub
 *
 * For each line of its input it says PROGRESS and prints `granted`, or `refused` with the reason. */
#include <stdio.h>
#include <stdlib.h>

#include "proto/keys.h"
#include "tests/bench/synthetic.h"

static void print_answer(const struct message *answer)
{
    if (answer->kind == MESSAGE_REFUSED)
        printf("refused: %s\n", answer->refused.text);
    else
        printf("granted\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct synthetic worker;
    struct message answer;
    struct keys keys;
    char server_key[KEYS_TEXT], reason[512], line[64];
    if (argc != 4) {
        fprintf(stderr, "usage: petitioner ENDPOINT NAME.key SERVER.pub\n");
        return 2;
    }
    const char *endpoints[] = {argv[1]};
    synthetic_name(&worker, "petitioner");
    if (keys_load(argv[2], &keys, reason, sizeof reason) != KEYS_OK ||
        keys_public(argv[3], server_key, reason, sizeof reason) != KEYS_OK ||
        (worker.dealer = dealer_create(endpoints, 1, &keys, server_key, reason, sizeof reason)) == NULL)
        synthetic_give_up(&worker, reason);
    synthetic_hello(&worker, &answer);
    print_answer(&answer);
    message_done(&answer);
    while (fgets(line, sizeof line, stdin) != NULL) {
        struct message question = {.kind = MESSAGE_PROGRESS};
        synthetic_ask(&worker, &question, &answer);
        print_answer(&answer);
        message_done(&answer);
    }
    synthetic_done(&worker);
    keys_wipe(&keys);
    return 0;
}
