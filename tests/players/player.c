/* A player with a fault: it plays as the engine does, until the moment that its name tells. The name is what
 * stands behind `#player ` at the end of its file, so that a copy with another name is another program:
 * FAULT-STEP-N or FAULT-STEP-N-WHERE, such as `hang-isready-1`: from the N-th time on that STEP comes
 * (`start`, or a command of the dialect; `go` counts from `ucinewgame`), and only where the path it runs from
 * holds WHERE. Without a name it has no fault. See the table of faults below. */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/game.h"
#include "engine/position.h"
#include "engine/search.h"
#include "engine/weights.h"

enum { LINE_MAX_BYTES = 64 * 1024, STEPS_MAX = 16, NAME_BYTES = 64 };

static struct {
    char name[NAME_BYTES], fault[16], step[16], where[32];
    long times;
    bool here;        /* it runs where its fault is */
    const char *word; /* what it answers to `go` instead of a move; NULL: a move */
} me;

static struct {
    char name[16];
    long count;
} steps[STEPS_MAX];

static struct game *game;
static struct search *engine;
static struct weights *weights;

/* --- faults --- */

/* Not by raise(): the first process of a namespace does not die of its own signals. And by no signal handler
 * or null pointer that a sanitizer would turn into a status of its own. */
static void crash(void)
{
    volatile int *volatile nowhere = (volatile int *)(uintptr_t)sizeof(int);
    signal(SIGSEGV, SIG_DFL);
    *nowhere = 0;
}

static void quit(void)
{
    fprintf(stderr, "broken\n");
    exit(9);
}

static void hang(void)
{
    for (;;)
        pause();
}

static void flood(void)
{
    for (;;)
        puts("info string and so on");
}

static void long_line(void)
{
    for (;;)
        fputs("and so on ", stdout);
}

static void zeros(void)
{
    static const char nothing[10];
    fwrite(nothing, 1, sizeof nothing, stdout);
    fflush(stdout);
    hang();
}

static void close_output(void)
{
    fclose(stdout);
    close(STDOUT_FILENO);
    hang();
}

static void mute(void)
{
    char line[LINE_MAX_BYTES];
    while (fgets(line, sizeof line, stdin) != NULL)
        ;
    exit(0);
}

/* Says something every 50 ms; it moves in the end, or never. */
static void talk(int lines)
{
    for (int i = 0; lines == 0 || i < lines; i++) {
        usleep(50000);
        puts("info string and so on");
        fflush(stdout);
    }
}

static void ponder(void)
{
    talk(20);
}

static void chatter(void)
{
    talk(0);
}

static void illegal(void)
{
    me.word = "bestmove Z"; /* no house */
}

static void garble(void)
{
    me.word = "bestmove resign";
}

/* Asks for memory until no more is given (bounded, for machines that set no bound); then as programs do. */
static void eat(void)
{
    enum { PIECE = 16 * 1024 * 1024, PIECES = 200 };
    static void *volatile pieces[PIECES];
    for (int i = 0; i < PIECES && (pieces[i] = malloc(PIECE)) != NULL;)
        i++;
    fprintf(stderr, "no memory\n");
    exit(9);
}

/* More processes than it may have, all of which stay; bounded, for machines that set no bound. */
static void breed(void)
{
    for (int i = 0; i < 200; i++) {
        pid_t child = fork();
        if (child == 0)
            hang();
        if (child < 0)
            break;
    }
    hang();
}

/* Files without end in its own folder; bounded, as above. */
static void litter(void)
{
    static char piece[1024 * 1024];
    char name[32];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "litter-%d", i);
        FILE *file = fopen(name, "we");
        bool good = file != NULL && fwrite(piece, 1, sizeof piece, file) == sizeof piece;
        if (file == NULL || fclose(file) != 0 || !good) {
            fprintf(stderr, "no room\n");
            exit(9);
        }
    }
    hang();
}

static void deaf(void)
{
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_IGN);
    hang();
}

static const struct {
    const char *name;
    void (*act)(void);
} faults[] = {
    {"crash", crash},     {"quit", quit},          {"hang", hang},     {"flood", flood},
    {"long", long_line},  {"close", close_output}, {"zeros", zeros},   {"mute", mute},
    {"illegal", illegal}, {"garble", garble},      {"eat", eat},       {"breed", breed},
    {"litter", litter},   {"deaf", deaf},          {"ponder", ponder}, {"chatter", chatter},
};

static long *count_of(const char *step)
{
    size_t at = 0;
    while (steps[at].name[0] != '\0' && strcmp(steps[at].name, step) != 0 && at + 1 < STEPS_MAX)
        at++;
    snprintf(steps[at].name, sizeof steps[at].name, "%.15s", step);
    return &steps[at].count;
}

static void arrive(const char *step)
{
    if (++*count_of(step) < me.times || !me.here || strcmp(step, me.step) != 0)
        return;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (strcmp(me.fault, faults[i].name) == 0)
            faults[i].act();
}

/* The last line of its own file. */
static void find_name(const char *path, char name[NAME_BYTES])
{
    static const char head[] = "\n#player ";
    char tail[NAME_BYTES + sizeof head] = "";
    FILE *file = fopen(path, "rbe");
    snprintf(name, NAME_BYTES, "fair");
    if (file == NULL || fseek(file, -(long)(sizeof tail - 1), SEEK_END) != 0)
        return;
    size_t size = fread(tail, 1, sizeof tail - 1, file);
    fclose(file);
    const char *found = memmem(tail, size, head, sizeof head - 1);
    if (found != NULL)
        snprintf(name, NAME_BYTES, "%.*s", (int)(tail + size - found) - (int)(sizeof head - 1),
                 found + sizeof head - 1);
    name[strcspn(name, "\n")] = '\0';
}

static void read_name(const char *path)
{
    char name[NAME_BYTES], *rest = NULL;
    find_name(path, name);
    snprintf(me.name, sizeof me.name, "%s", name);
    const char *word = strtok_r(name, "-", &rest);
    snprintf(me.fault, sizeof me.fault, "%s", word != NULL ? word : "fair");
    word = strtok_r(NULL, "-", &rest);
    snprintf(me.step, sizeof me.step, "%s", word != NULL ? word : "");
    word = strtok_r(NULL, "-", &rest);
    me.times = word != NULL ? strtol(word, NULL, 10) : 1;
    snprintf(me.where, sizeof me.where, "%s", rest != NULL ? rest : "");
    me.here = strstr(path, me.where) != NULL;
}

/* --- playing --- */

static void take_position(const char *text)
{
    const char *moves = strstr(text, "moves ");
    size_t played;
    game_reset(game, NULL);
    if (moves != NULL)
        game_play_text(game, moves + 6, strcspn(moves + 6, " \n"), &played);
}

static void go(const char *text)
{
    const char *nodes = strstr(text, "nodes "), *depth = strstr(text, "depth "),
               *time = strstr(text, "movetime ");
    struct search_limits limits = {.nodes = nodes != NULL ? strtoull(nodes + 6, NULL, 10) : 0,
                                   .depth = depth != NULL ? atoi(depth + 6) : 0,
                                   .time_ms = time != NULL ? atoi(time + 9) : 0};
    struct search_info info;
    int house = search_run(engine, game, weights, &limits, NULL, NULL, NULL, &info);
    printf("info depth %d score cp %d nodes %llu\n", info.depth, info.score, (unsigned long long)info.nodes);
    if (me.word != NULL)
        puts(me.word);
    else
        printf("bestmove %c\n", position_house_letter(house));
    me.word = NULL;
}

static void obey(const char *command, const char *rest)
{
    arrive(command);
    if (strcmp(command, "uci") == 0)
        printf("id name Toy %s\noption name Hash type spin default 1 min 1 max 1\nuciok\n", me.name);
    else if (strcmp(command, "isready") == 0)
        puts("readyok");
    else if (strcmp(command, "position") == 0)
        take_position(rest);
    else if (strcmp(command, "go") == 0)
        go(rest);
    else if (strcmp(command, "quit") == 0)
        exit(0);
    if (strcmp(command, "ucinewgame") == 0) {
        *count_of("go") = 0;
        search_new_game(engine);
    }
    fflush(stdout);
}

/* A leak checker cannot look into a confined process, and ends it with a status of its own. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return 1;
}

int main(int argc, char **argv)
{
    static char line[LINE_MAX_BYTES];
    char reason[128];
    struct rules rules;
    read_name(argc > 0 ? argv[0] : "");
    arrive("start");
    weights = weights_create_starting("site");
    engine = search_create(SEARCH_HASH_KIB);
    game = rules_parse("site", &rules, reason, sizeof reason) == 0 ? game_create(&rules, NULL) : NULL;
    if (weights == NULL || engine == NULL || game == NULL)
        return EXIT_FAILURE;
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *rest = line + strcspn(line, " \n");
        if (*rest != '\0')
            *rest++ = '\0';
        obey(line, rest);
    }
    return EXIT_SUCCESS;
}
