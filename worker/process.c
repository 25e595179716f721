#include "worker/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/progress.h"

struct process {
    struct play_mover mover; /* its context is this process */
    struct dialect *dialect; /* NULL: none runs */
    const char *engine;      /* who is to play: borrowed */
    struct dialect_setup setup;
    struct dialect_limits limits;
    int move_ms;
    char reason[DIALECT_REASON_MAX];
};

void process_end(struct process *process)
{
    dialect_close(process->dialect);
    process->dialect = NULL;
}

static enum play_answer answer_of(enum dialect_error error)
{
    switch (error) {
    case DIALECT_OK:
        return PLAY_ANSWER_MOVE;
    case DIALECT_ERROR_STOPPED:
        return PLAY_ANSWER_STOPPED;
    case DIALECT_ERROR_DEADLINE:
        return PLAY_ANSWER_DEADLINE;
    default:
        return PLAY_ANSWER_CRASH;
    }
}

/* After a fault nobody knows what the program would say next, so it goes. */
static enum play_answer settle(struct process *process, enum dialect_error error)
{
    if (error != DIALECT_OK)
        process_end(process);
    return answer_of(error);
}

static enum dialect_error start(struct process *process, atomic_bool *stop)
{
    char *reason = process->reason;
    process->dialect = dialect_open(process->engine, &process->setup, process->move_ms, stop, reason,
                                    sizeof process->reason);
    if (process->dialect == NULL)
        return stop != NULL && atomic_load(stop) ? DIALECT_ERROR_STOPPED : DIALECT_ERROR_START;
    return dialect_configure(process->dialect, &process->setup, reason, sizeof process->reason);
}

/* Its answer is waited for before the first clock runs: a program that has died since must not lose this
 * game by it. */
static enum dialect_error new_game(struct process *process)
{
    enum dialect_error error = dialect_new_game(process->dialect, process->reason, sizeof process->reason);
    return error == DIALECT_OK ? dialect_ready(process->dialect, process->reason, sizeof process->reason)
                               : error;
}

/* A process of its own for each game: nothing that a program keeps, be it a table or what it learned, reaches
 * the next (the start costs some ten milliseconds). */
static enum play_answer begin(void *context, atomic_bool *stop)
{
    struct process *process = context;
    process->reason[0] = '\0';
    process_end(process);
    enum dialect_error error = start(process, stop);
    return settle(process, error == DIALECT_OK ? new_game(process) : error);
}

static enum play_answer choose(void *context, const struct game *game, atomic_bool *stop,
                               struct play_move *out)
{
    struct process *process = context;
    struct dialect_answer answer = {.score = DIALECT_NO_SCORE};
    struct dialect_limits limits = process->limits;
    int64_t began_ms = progress_now_ms();
    memcpy(limits.clock_ms, out->clock_ms, sizeof limits.clock_ms);
    memcpy(limits.increment_ms, out->increment_ms, sizeof limits.increment_ms);
    limits.own_ms = out->clock_ms[game_position(game).side];
    (void)stop; /* set at the beginning of the game */
    process->reason[0] = '\0';
    enum dialect_error error = dialect_think(process->dialect, game_moves(game), &limits, &answer,
                                             process->reason, sizeof process->reason);
    *out = (struct play_move){
        .house = position_letter_house(answer.move),
        .score = answer.score != DIALECT_NO_SCORE ? (int16_t)answer.score : PLAY_NO_SCORE,
        .nodes = answer.nodes,
        .time_ms = progress_now_ms() - began_ms,
    };
    if (error == DIALECT_OK && out->house < 0)
        snprintf(process->reason, sizeof process->reason, "its answer to `go` is no house");
    return settle(process, error);
}

struct process *process_create(void)
{
    struct process *process = calloc(1, sizeof *process);
    if (process != NULL)
        process->mover = (struct play_mover){.context = process, .begin = begin, .choose = choose};
    return process;
}

void process_destroy(struct process *process)
{
    if (process != NULL)
        process_end(process);
    free(process);
}

void process_seat(struct process *process, const char *engine, const struct dialect_setup *setup,
                  const struct dialect_limits *limits, int move_ms)
{
    process->engine = engine;
    process->setup = *setup;
    process->limits = *limits;
    process->move_ms = move_ms;
}

const struct play_mover *process_mover(const struct process *process)
{
    return &process->mover;
}

const char *process_reason(const struct process *process)
{
    return process->reason;
}
