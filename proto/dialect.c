#include "proto/dialect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/dialect_line.h"
#include "proto/text.h"

struct dialect {
    struct program *program;
    int move_ms;
    bool is_ours; /* it calls itself Kroo, and complains in `info string` lines */
    struct dialect_listing listing;
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

/* --- greeting --- */

/* No answer is waited for longer than a move. */
static int within(const struct dialect *dialect, int most_ms)
{
    return dialect->move_ms < most_ms ? dialect->move_ms : most_ms;
}

static enum dialect_error greet(struct dialect *dialect, char *reason, size_t reason_size)
{
    struct program_wait wait = program_wait_begin(within(dialect, DIALECT_GREETING_MS));
    const char *line;
    enum program_error error = program_say(dialect->program, DIALECT_SAY_MS, "uci");
    while (error == PROGRAM_OK) {
        error = program_hear(dialect->program, &wait, &line);
        if (error != PROGRAM_OK)
            break;
        if (dialect_line_greeting(line, &dialect->listing))
            break;
    }
    dialect->is_ours = strncmp(dialect->listing.name, "Kroo", 4) == 0;
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
    return dialect->listing.name;
}

const char *dialect_options(const struct dialect *dialect)
{
    return dialect->listing.options;
}

/* --- options --- */

bool dialect_has_option(const struct dialect *dialect, const char *name)
{
    return dialect_line_has_option(&dialect->listing, name);
}

enum dialect_error dialect_set(struct dialect *dialect, const char *name, const char *value, char *reason,
                               size_t reason_size)
{
    if (!dialect_has_option(dialect, name)) {
        snprintf(reason, reason_size, "%s has no option %s", dialect->listing.name, name);
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
        if (dialect_line_begins(line, "readyok", &rest))
            return complained ? DIALECT_ERROR_OPTION : DIALECT_OK;
        if (dialect->is_ours && !complained && dialect_line_begins(line, "info", &rest) &&
            dialect_line_begins(rest, "string", &rest)) {
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

static enum program_error hear_move(struct dialect *dialect, struct program_wait *wait,
                                    struct dialect_answer *answer)
{
    const char *line;
    enum program_error error;
    *answer = (struct dialect_answer){.score = DIALECT_NO_SCORE};
    while ((error = program_hear(dialect->program, wait, &line)) == PROGRAM_OK)
        if (dialect_line_answer(line, answer))
            return PROGRAM_OK;
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
    int patience_ms = limits->most_ms < dialect->move_ms ? dialect->move_ms
                      : limits->most_ms < INT32_MAX      ? (int)limits->most_ms
                                                         : INT32_MAX;
    int wait_ms = most_ms > 0 ? (int)most_ms + DIALECT_OVERTIME_MS : patience_ms;
    struct program_wait wait = program_wait_begin(wait_ms);
    wait.silence_ms = most_ms > 0 ? 0 : dialect->move_ms;
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
