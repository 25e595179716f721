#include "proto/dialect.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proto/text.h"

struct dialect {
    struct program *program;
    int move_ms;
    bool is_ours; /* it calls itself Kroo, and complains in `info string` lines */
    char name[DIALECT_NAME_MAX];
    char options[DIALECT_LIST_MAX]; /* `option ...` lines */
    size_t option_count, options_filled;
};

/* What went wrong with the program, in a sentence. */
static enum dialect_error fail(struct dialect *dialect, enum program_error error, const char *doing,
                               char *reason, size_t reason_size)
{
    char end[256] = "";
    if (error == PROGRAM_ERROR_STOPPED)
        return DIALECT_ERROR_STOPPED;
    if (error == PROGRAM_ERROR_OVER)
        program_end_text(dialect->program, end, sizeof end);
    snprintf(reason, reason_size, "%s: %s", doing, end[0] != '\0' ? end : program_error_text(error));
    return DIALECT_ERROR_CRASH;
}

static bool begins(const char *line, const char *word, const char **rest)
{
    size_t size = strlen(word);
    if (strncmp(line, word, size) != 0 || (line[size] != '\0' && line[size] != ' '))
        return false;
    *rest = line + size;
    while (**rest == ' ')
        (*rest)++;
    return true;
}

/* --- greeting --- */

/* Beyond the bounds, options are overlooked: they cannot be set then. */
static void keep_option(struct dialect *dialect, const char *line)
{
    size_t room = sizeof dialect->options - dialect->options_filled, size = strlen(line);
    if (dialect->option_count == DIALECT_OPTIONS_MAX || size + 2 > room)
        return;
    char *at = dialect->options + dialect->options_filled;
    text_clean(line, at, room - 1);
    size = strlen(at);
    at[size] = '\n';
    at[size + 1] = '\0';
    dialect->options_filled += size + 1;
    dialect->option_count++;
}

/* No answer is waited for longer than a move. */
static int within(const struct dialect *dialect, int most_ms)
{
    return dialect->move_ms < most_ms ? dialect->move_ms : most_ms;
}

static enum dialect_error greet(struct dialect *dialect, char *reason, size_t reason_size)
{
    struct program_wait wait = program_wait_begin(within(dialect, DIALECT_GREETING_MS));
    const char *line, *rest;
    enum program_error error = program_say(dialect->program, DIALECT_SAY_MS, "uci");
    while (error == PROGRAM_OK) {
        error = program_hear(dialect->program, &wait, &line);
        if (error != PROGRAM_OK)
            break;
        if (begins(line, "id", &rest) && begins(rest, "name", &rest))
            text_clean(rest, dialect->name, sizeof dialect->name);
        else if (begins(line, "option", &rest))
            keep_option(dialect, line);
        else if (begins(line, "uciok", &rest))
            break;
    }
    dialect->is_ours = strncmp(dialect->name, "Kroo", 4) == 0;
    return error == PROGRAM_OK ? DIALECT_OK
                               : fail(dialect, error, "no `uciok` in answer to `uci`", reason, reason_size);
}

struct dialect *dialect_open(const char *path, const struct dialect_setup *setup, int move_ms,
                             atomic_bool *stop, char *reason, size_t reason_size)
{
    struct confine confine = confine_player();
    confine.files[0] = path;
    if (setup != NULL) {
        confine.files[1] = setup->weights;
        confine.files[2] = setup->tables;
    }
    struct dialect *dialect = calloc(1, sizeof *dialect);
    if (dialect == NULL) {
        snprintf(reason, reason_size, "not enough memory");
        return NULL;
    }
    dialect->move_ms = move_ms;
    dialect->program = program_start(path, NULL, &confine, stop, reason, reason_size);
    if (dialect->program == NULL || greet(dialect, reason, reason_size) != DIALECT_OK) {
        dialect_close(dialect);
        return NULL;
    }
    return dialect;
}

void dialect_close(struct dialect *dialect)
{
    if (dialect == NULL)
        return;
    program_destroy(dialect->program);
    free(dialect);
}

void dialect_stop_by(struct dialect *dialect, atomic_bool *stop)
{
    program_stop_by(dialect->program, stop);
}

const char *dialect_name(const struct dialect *dialect)
{
    return dialect->name;
}

const char *dialect_options(const struct dialect *dialect)
{
    return dialect->options;
}

/* --- options --- */

bool dialect_has_option(const struct dialect *dialect, const char *name)
{
    static const char head[] = "option name ";
    size_t size = strlen(name);
    for (const char *line = dialect->options; *line != '\0'; line = strchr(line, '\n') + 1) {
        const char *listed = line + strlen(head);
        if (strncmp(line, head, strlen(head)) == 0 && strncasecmp(listed, name, size) == 0 &&
            strncmp(listed + size, " type ", 6) == 0)
            return true;
    }
    return false;
}

enum dialect_error dialect_set(struct dialect *dialect, const char *name, const char *value, char *reason,
                               size_t reason_size)
{
    if (!dialect_has_option(dialect, name)) {
        snprintf(reason, reason_size, "%s has no option %s", dialect->name, name);
        return DIALECT_ERROR_OPTION;
    }
    enum program_error error =
        program_say(dialect->program, DIALECT_SAY_MS, "setoption name %s value %s", name, value);
    return error == PROGRAM_OK ? DIALECT_OK : fail(dialect, error, "setoption", reason, reason_size);
}

enum dialect_error dialect_set_lines(struct dialect *dialect, const char *lines, char *reason,
                                     size_t reason_size)
{
    char name[256];
    enum dialect_error error = DIALECT_OK;
    while (*lines != '\0' && error == DIALECT_OK) {
        size_t size = strcspn(lines, "\n"), equals = strcspn(lines, "=\n");
        if (size >= sizeof name || equals >= size) {
            snprintf(reason, reason_size, "an option is not written Name=Value");
            return DIALECT_ERROR_OPTION;
        }
        memcpy(name, lines, size);
        name[size] = name[equals] = '\0';
        error = dialect_set(dialect, name, name + equals + 1, reason, reason_size);
        lines += size + (lines[size] == '\n');
    }
    return error;
}

enum dialect_error dialect_ready(struct dialect *dialect, char *reason, size_t reason_size)
{
    struct program_wait wait = program_wait_begin(within(dialect, DIALECT_READY_MS));
    const char *line, *rest;
    bool complained = false;
    enum program_error error = program_say(dialect->program, DIALECT_SAY_MS, "isready");
    while (error == PROGRAM_OK) {
        error = program_hear(dialect->program, &wait, &line);
        if (error != PROGRAM_OK)
            break;
        if (begins(line, "readyok", &rest))
            return complained ? DIALECT_ERROR_OPTION : DIALECT_OK;
        if (dialect->is_ours && !complained && begins(line, "info", &rest) && begins(rest, "string", &rest)) {
            complained = true;
            text_clean(rest, reason, reason_size);
        }
    }
    return fail(dialect, error, "no `readyok` in answer to `isready`", reason, reason_size);
}

enum dialect_error dialect_configure(struct dialect *dialect, const struct dialect_setup *setup, char *reason,
                                     size_t reason_size)
{
    char mebibytes[16];
    snprintf(mebibytes, sizeof mebibytes, "%" PRIu32, setup->hash_kib < 1024 ? 1 : setup->hash_kib / 1024);
    const struct {
        const char *name, *value;
        bool must; /* without this option it would not be the player that was asked for */
    } files[] = {{"Rules", setup->rules, strcmp(setup->rules, "site") != 0},
                 {"Hash", mebibytes, false},
                 {"WeightsFile", setup->weights, false},
                 {"TablesFile", setup->tables, true}};
    enum dialect_error error = DIALECT_OK;
    for (size_t i = 0; i < sizeof files / sizeof *files && error == DIALECT_OK; i++)
        if (files[i].value != NULL && (files[i].must || dialect_has_option(dialect, files[i].name)))
            error = dialect_set(dialect, files[i].name, files[i].value, reason, reason_size);
    if (error == DIALECT_OK)
        error = dialect_set_lines(dialect, setup->options, reason, reason_size);
    return error == DIALECT_OK ? dialect_ready(dialect, reason, reason_size) : error;
}

enum dialect_error dialect_new_game(struct dialect *dialect, char *reason, size_t reason_size)
{
    enum program_error error = program_say(dialect->program, DIALECT_SAY_MS, "ucinewgame");
    return error == PROGRAM_OK ? DIALECT_OK : fail(dialect, error, "ucinewgame", reason, reason_size);
}

/* --- moves --- */

static enum program_error say_position(struct dialect *dialect, const char *moves)
{
    static const char head[] = "position startpos", with[] = " moves ";
    struct program *program = dialect->program;
    enum program_error error = program_say_text(program, DIALECT_SAY_MS, head, strlen(head));
    if (error == PROGRAM_OK && *moves != '\0')
        error = program_say_text(program, DIALECT_SAY_MS, with, strlen(with));
    if (error == PROGRAM_OK)
        error = program_say_text(program, DIALECT_SAY_MS, moves, strlen(moves));
    return error == PROGRAM_OK ? program_say_text(program, DIALECT_SAY_MS, "\n", 1) : error;
}

static enum program_error say_go(struct dialect *dialect, const struct dialect_limits *limits)
{
    static const char *const sides = "wb";
    char nodes[40] = "", depth[40] = "", time[40] = "", clocks[160] = "";
    if (limits->nodes > 0)
        snprintf(nodes, sizeof nodes, " nodes %" PRIu64, limits->nodes);
    if (limits->depth > 0)
        snprintf(depth, sizeof depth, " depth %" PRIu32, limits->depth);
    if (limits->time_ms > 0)
        snprintf(time, sizeof time, " movetime %" PRIu32, limits->time_ms);
    for (int side = 0, at = 0; side < 2; side++)
        if (limits->clock_ms[side] > 0)
            at += snprintf(clocks + at, sizeof clocks - (size_t)at, " %ctime %" PRId64 " %cinc %" PRId64,
                           sides[side], limits->clock_ms[side], sides[side], limits->increment_ms[side]);
    return program_say(dialect->program, DIALECT_SAY_MS, "go%s%s%s%s", nodes, depth, time, clocks);
}

/* A number behind a word of an `info` line; false when it is none. */
static bool info_number(const char *word, int64_t low, int64_t high, int64_t *out)
{
    char *end;
    errno = 0;
    long long number = strtoll(word, &end, 10);
    if (end == word || (*end != ' ' && *end != '\0') || errno != 0 || number < low || number > high)
        return false;
    *out = number;
    return true;
}

/* Takes score and nodes of an `info` line; a line of a second variant, or without either, changes nothing. */
static void take_info(const char *rest, struct dialect_answer *answer)
{
    const char *at;
    int64_t number;
    if (begins(rest, "string", &at) ||
        ((at = strstr(rest, "multipv ")) != NULL && info_number(at + 8, 2, INT32_MAX, &number)))
        return;
    if ((at = strstr(rest, "score cp ")) != NULL && info_number(at + 9, -32767, 32767, &number))
        answer->score = (int32_t)number;
    if ((at = strstr(rest, "nodes ")) != NULL && info_number(at + 6, 0, INT64_MAX, &number))
        answer->nodes = (uint64_t)number;
}

static enum program_error hear_move(struct dialect *dialect, struct program_wait *wait,
                                    struct dialect_answer *answer)
{
    const char *line, *rest;
    enum program_error error;
    *answer = (struct dialect_answer){.score = DIALECT_NO_SCORE};
    while ((error = program_hear(dialect->program, wait, &line)) == PROGRAM_OK) {
        if (begins(line, "info", &rest)) {
            take_info(rest, answer);
        } else if (begins(line, "bestmove", &rest)) {
            bool letter = isalpha((unsigned char)rest[0]) != 0 && (rest[1] == '\0' || rest[1] == ' ');
            answer->move = letter ? rest[0] : '\0';
            return PROGRAM_OK;
        }
    }
    return error;
}

enum dialect_error dialect_think(struct dialect *dialect, const char *moves,
                                 const struct dialect_limits *limits, struct dialect_answer *answer,
                                 char *reason, size_t reason_size)
{
    enum program_error error = say_position(dialect, moves);
    if (error == PROGRAM_OK)
        error = say_go(dialect, limits);
    int64_t most_ms = limits->time_ms;
    if (limits->own_ms > 0 && (most_ms == 0 || limits->own_ms < most_ms))
        most_ms = limits->own_ms;
    int wait_ms = most_ms > 0 ? (int)most_ms + DIALECT_OVERTIME_MS : dialect->move_ms;
    struct program_wait wait = program_wait_begin(wait_ms);
    if (error == PROGRAM_OK)
        error = hear_move(dialect, &wait, answer);
    if (error == PROGRAM_OK)
        return DIALECT_OK;
    if (error == PROGRAM_ERROR_DEADLINE && most_ms > 0) {
        snprintf(reason, reason_size, "no move %d ms after its time of %" PRId64 " ms", DIALECT_OVERTIME_MS,
                 most_ms);
        return DIALECT_ERROR_DEADLINE;
    }
    return fail(dialect, error, "no `bestmove` in answer to `go`", reason, reason_size);
}
