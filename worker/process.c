#include "worker/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/artifact.h"
#include "proto/progress.h"

struct process {
    struct play_mover mover;       /* its context is this process */
    struct dialect *dialect;       /* NULL: none runs */
    uint8_t player[ARTIFACT_HASH]; /* hash over all that made the running one what it is */
    const char *engine;            /* who is to play: borrowed */
    struct dialect_setup setup;
    struct dialect_limits limits;
    int move_ms;
    char reason[DIALECT_REASON_MAX];
};

/* Two players are the same when all of this is. Files are named by their hash. */
static void hash_player(const struct process *process, uint8_t player[ARTIFACT_HASH])
{
    char text[8192];
    const struct dialect_setup *setup = &process->setup;
    int size = snprintf(text, sizeof text, "%s\n%s\n%s\n%s\n%u\n%d\n%s", process->engine, setup->rules,
                        setup->weights, setup->tables != NULL ? setup->tables : "", setup->hash_kib,
                        process->move_ms, setup->options);
    size_t used = size < 0 ? 0 : (size_t)size < sizeof text ? (size_t)size : sizeof text - 1;
    artifact_hash(text, used, player);
}

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

static enum play_answer begin(void *context, atomic_bool *stop)
{
    struct process *process = context;
    uint8_t player[ARTIFACT_HASH];
    process->reason[0] = '\0';
    hash_player(process, player);
    if (memcmp(player, process->player, sizeof player) != 0)
        process_end(process);
    memcpy(process->player, player, sizeof player);
    if (process->dialect != NULL) {
        dialect_stop_by(process->dialect, stop);
        if (settle(process, new_game(process)) == PLAY_ANSWER_MOVE)
            return PLAY_ANSWER_MOVE;
    }
    enum dialect_error error = start(process, stop);
    return settle(process, error == DIALECT_OK ? new_game(process) : error);
}

static enum play_answer choose(void *context, const struct game *game, atomic_bool *stop,
                               struct play_move *out)
{
    struct process *process = context;
    struct dialect_answer answer = {.score = DIALECT_NO_SCORE};
    int64_t began_ms = progress_now_ms();
    (void)stop; /* set at the beginning of the game */
    process->reason[0] = '\0';
    enum dialect_error error = dialect_think(process->dialect, game_moves(game), &process->limits, &answer,
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
