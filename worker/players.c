#include "worker/players.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/build.h"
#include "engine/bytes.h"
#include "engine/clock.h"
#include "proto/log.h"
#include "proto/socket.h"
#include "proto/text.h"

enum { RING_AT = 32 }; /* outcomes that wait before the main thread is woken early */

struct slot {
    pthread_t thread;
    struct players *players;
    struct play_seats *seats;
    struct process *processes[2];  /* of players a and b; NULL before the first */
    _Atomic(struct lease *) lease; /* being played */
    atomic_uint ply;
    atomic_uint games; /* begun so far */
    atomic_uint pulse; /* grows while a search or a wait for a program goes on */
    /* The main thread's, by players_look: */
    unsigned seen_pulse;
    int64_t moved_ms; /* when it was last seen to go on */
    int64_t still_ms; /* looked at for so long since */
};

struct players {
    struct queue *tasks, *outcomes;
    int wake_fd;
    unsigned count; /* threads started */
    struct slot *slots;
    int64_t looked_ms;
};

/* The record as a message: takes the moves, writes the scores little-endian. NULL when memory is short. */
static struct message_game *game_create_message(const struct task *task, struct play_record *record)
{
    const struct lease *lease = task->lease;
    struct message_game *game = calloc(1, sizeof *game);
    uint8_t *scores = lease->spec.with_scores && record->plies > 0 ? malloc(2 * record->plies) : NULL;
    if (game == NULL || (lease->spec.with_scores && record->plies > 0 && scores == NULL)) {
        free(game);
        free(scores);
        return NULL;
    }
    for (size_t ply = 0; scores != NULL && ply < record->plies; ply++)
        bytes_put_u16(scores + 2 * ply, (uint16_t)record->scores[ply]);
    *game = (struct message_game){
        .experiment = lease->spec.experiment,
        .pair = lease->first_pair + task->index,
        .leg = task->leg,
        .lease = lease->id,
        .attempt = lease->attempt,
        .moves = record->moves,
        .plies = record->plies,
        .scores = scores,
        .scores_size = scores != NULL ? 2 * record->plies : 0,
        .nodes = record->nodes,
        .time_ms = record->time_ms < UINT32_MAX ? (uint32_t)record->time_ms : UINT32_MAX,
    };
    record->moves = NULL;
    snprintf(game->result, sizeof game->result, "%s", game_result_text(record->result));
    snprintf(game->reason, sizeof game->reason, "%s", game_reason_text(record->reason));
    snprintf(game->engine_build, sizeof game->engine_build, "%s", engine_build());
    /* The cache verified that the loaded bytes hash to these names. */
    memcpy(game->weights_a, lease->spec.a.weights, MESSAGE_HASH);
    memcpy(game->weights_b, lease->spec.b.weights, MESSAGE_HASH);
    /* And the files whose paths the programs and the search were given. */
    memcpy(game->engine_a, lease->spec.a.engine, MESSAGE_HASH);
    memcpy(game->engine_b, lease->spec.b.engine, MESSAGE_HASH);
    memcpy(game->tables_a, lease->spec.a.tables, MESSAGE_HASH);
    memcpy(game->tables_b, lease->spec.b.tables, MESSAGE_HASH);
    if (lease->spec.kind == MESSAGE_TUNE) {
        artifact_hash(lease->spec.a.options, strlen(lease->spec.a.options), game->options_a);
        artifact_hash(lease->spec.b.options, strlen(lease->spec.b.options), game->options_b);
    }
    return game;
}

/* Seats the players of a lease; false when memory is short. */
static bool seat_players(struct slot *slot, const struct lease *lease)
{
    for (int side = 0; side < 2; side++) {
        const struct lease_program *program = &lease->programs[side];
        struct process **process = &slot->processes[side];
        play_seats_use(slot->seats, (unsigned)side, NULL);
        if (program->engine == NULL) {
            process_destroy(*process);
            *process = NULL;
            continue;
        }
        if (*process == NULL && (*process = process_create()) == NULL)
            return false;
        process_seat(*process, program->path, &program->setup, &program->limits, (int)lease->silence_ms);
        play_seats_use(slot->seats, (unsigned)side, process_mover(*process));
    }
    return true;
}

/* What the programs of this game have to say for themselves. */
static void tell_fault(const struct slot *slot, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (int side = 0; side < 2; side++) {
        const char *reason = slot->processes[side] != NULL ? process_reason(slot->processes[side]) : "";
        if (reason[0] == '\0' || at >= size)
            continue;
        int wrote = snprintf(text + at, size - at, "%splayer %c: %s", at > 0 ? "; " : "", 'a' + side, reason);
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    if (text[0] == '\0')
        snprintf(text, size, "a program's first move is not legal");
}

/* What a program did that lost it this game, into the game's message and the log. */
static void note_fault(const struct slot *slot, const struct task *task, const struct play_record *record,
                       struct message_game *game)
{
    char text[DIALECT_REASON_MAX];
    if (record->reason != GAME_REASON_CRASH && record->reason != GAME_REASON_DEADLINE &&
        record->reason != GAME_REASON_ILLEGAL_MOVE)
        return;
    tell_fault(slot, text, sizeof text);
    if (record->reason == GAME_REASON_ILLEGAL_MOVE)
        snprintf(text, sizeof text, "its move is not legal");
    else if (record->reason == GAME_REASON_DEADLINE && strstr(text, "player") == NULL)
        snprintf(text, sizeof text, "its clock ran out");
    text_clean(text, game->fault, sizeof game->fault);
    log_line(LOG_LEVEL_WARNING, "player-fault",
             "experiment=%" PRIu64 " pair=%" PRIu64 " leg=%u reason=%s won_by=%s plies=%zu why=\"%s\"",
             task->lease->spec.experiment, task->lease->first_pair + task->index, task->leg,
             game_reason_text(record->reason), game_result_text(record->result), record->plies, text);
}

/* Whose program failed before its first move: the one with a reason, else the one whose turn it was. */
static void note_failure(const struct slot *slot, const struct task *task, const struct play_record *record,
                         struct outcome *outcome)
{
    unsigned turn = (unsigned)(record->plies & 1) ^ task->leg; /* 0: player a's */
    for (unsigned side = 0; side < 2; side++)
        if (slot->processes[side] != NULL && process_reason(slot->processes[side])[0] != '\0')
            turn = side;
    outcome->side = turn + 1;
    tell_fault(slot, outcome->why, sizeof outcome->why);
    if (record->moves != NULL)
        snprintf(outcome->moves, sizeof outcome->moves, "%s", record->moves);
}

/* Nobody is at fault by the rules: told of whose turn it was. */
static void note_overtime(const struct task *task, const struct play_record *record, struct outcome *outcome)
{
    outcome->side = ((unsigned)(record->plies & 1) ^ task->leg) + 1;
    snprintf(outcome->why, sizeof outcome->why,
             "player %c was to move after %zu plies when its bound of %" PRId64 " ms was over",
             'a' + (int)outcome->side - 1, record->plies, task->lease->setup.most_ms);
    if (record->moves != NULL)
        snprintf(outcome->moves, sizeof outcome->moves, "%s", record->moves);
}

static uint32_t spent_us(int64_t since_us)
{
    int64_t spent = clock_now_us() - since_us;
    return spent < 1 ? 1 : spent > UINT32_MAX ? UINT32_MAX : (uint32_t)spent;
}

static struct outcome play(struct slot *slot, const struct task *task)
{
    struct lease *lease = task->lease;
    struct outcome outcome = {.task = *task, .status = PLAY_STOPPED};
    if (atomic_load(&lease->stop))
        return outcome;
    struct play_record record = {0};
    atomic_store(&slot->ply, 0);
    atomic_fetch_add(&slot->games, 1);
    atomic_store(&slot->lease, lease);
    int64_t began_us = clock_now_us();
    bool seated = seat_players(slot, lease);
    outcome.status =
        !seated ? PLAY_MEMORY
                : play_game(slot->seats, &lease->setup, &lease->sides[0], &lease->sides[1],
                            lease->first_pair + task->index, task->leg, &lease->stop, &slot->ply, &record);
    if (outcome.status == PLAY_DONE) {
        atomic_fetch_add(&lease->plies, record.plies);
        outcome.game = game_create_message(task, &record);
        if (outcome.game != NULL)
            outcome.game->core_us = spent_us(began_us);
        outcome.status = outcome.game != NULL ? PLAY_DONE : PLAY_MEMORY;
        if (outcome.game != NULL)
            note_fault(slot, task, &record, outcome.game);
    }
    if (outcome.status == PLAY_FAILED)
        note_failure(slot, task, &record, &outcome);
    if (outcome.status == PLAY_OVERTIME)
        note_overtime(task, &record, &outcome);
    play_record_done(&record);
    for (int side = 0; side < 2; side++)
        if (slot->processes[side] != NULL)
            process_end(slot->processes[side]); /* it must not think on between games */
    atomic_store(&slot->lease, NULL);
    return outcome;
}

static void *play_thread(void *context)
{
    struct slot *slot = context;
    struct players *players = slot->players;
    struct task task;
    program_pulse_here(&slot->pulse);
    while (queue_pop(players->tasks, &task) == QUEUE_OK) {
        struct outcome outcome = play(slot, &task);
        if (queue_push(players->outcomes, &outcome) != QUEUE_OK) {
            outcome_done(&outcome);
            break;
        }
        if (queue_count(players->outcomes) >= RING_AT || queue_count(players->tasks) == 0)
            wake_ring(players->wake_fd);
    }
    return NULL;
}

/* A thread that cannot be pinned plays all the same. */
static void pin(pthread_t thread, int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)core, &set);
    if (pthread_setaffinity_np(thread, sizeof set, &set) != 0)
        log_line(LOG_LEVEL_WARNING, "not-pinned", "core=%d", core);
}

struct players *players_create(unsigned slots, const int *cores, struct queue *tasks, struct queue *outcomes,
                               int wake_fd)
{
    struct players *players = calloc(1, sizeof *players);
    if (players == NULL || (players->slots = calloc(slots, sizeof *players->slots)) == NULL) {
        free(players);
        return NULL;
    }
    players->tasks = tasks;
    players->outcomes = outcomes;
    players->wake_fd = wake_fd;
    for (unsigned i = 0; i < slots; i++) {
        struct slot *slot = &players->slots[i];
        slot->players = players;
        slot->seats = play_seats_create();
        if (slot->seats != NULL)
            play_seats_pulse(slot->seats, &slot->pulse);
        if (slot->seats == NULL || pthread_create(&slot->thread, NULL, play_thread, slot) != 0) {
            play_seats_destroy(slot->seats);
            queue_close(tasks);
            queue_close(outcomes);
            players_destroy(players);
            return NULL;
        }
        players->count++;
        if (cores != NULL)
            pin(slot->thread, cores[i]);
    }
    return players;
}

void players_destroy(struct players *players)
{
    if (players == NULL)
        return;
    for (unsigned i = 0; i < players->count; i++) {
        pthread_join(players->slots[i].thread, NULL);
        play_seats_destroy(players->slots[i].seats);
        process_destroy(players->slots[i].processes[0]);
        process_destroy(players->slots[i].processes[1]);
    }
    free(players->slots);
    free(players);
}

uint64_t players_plies(struct players *players, struct lease *lease)
{
    uint64_t plies = atomic_load(&lease->plies);
    for (unsigned i = 0; i < players->count; i++)
        if (atomic_load(&players->slots[i].lease) == lease)
            plies += atomic_load(&players->slots[i].ply);
    return plies;
}

void players_look(struct players *players, int64_t now_ms)
{
    int64_t passed_ms = players->looked_ms == 0 ? 0 : now_ms - players->looked_ms;
    players->looked_ms = now_ms;
    if (passed_ms > PLAYERS_LOOK_MS)
        passed_ms = PLAYERS_LOOK_MS;
    for (unsigned i = 0; i < players->count; i++) {
        struct slot *slot = &players->slots[i];
        unsigned pulse = atomic_load(&slot->pulse) + atomic_load(&slot->ply) + atomic_load(&slot->games);
        bool goes_on = pulse != slot->seen_pulse || atomic_load(&slot->lease) == NULL;
        slot->seen_pulse = pulse;
        slot->still_ms = goes_on ? 0 : slot->still_ms + passed_ms;
        if (goes_on)
            slot->moved_ms = now_ms;
    }
}

bool players_think(const struct players *players, const struct lease *lease, int64_t since_ms)
{
    for (unsigned i = 0; i < players->count; i++)
        if (atomic_load(&players->slots[i].lease) == lease && players->slots[i].moved_ms > since_ms)
            return true;
    return false;
}

struct lease *players_still(const struct players *players, int64_t still_ms)
{
    for (unsigned i = 0; i < players->count; i++) {
        struct lease *lease = atomic_load(&players->slots[i].lease);
        if (lease != NULL && players->slots[i].still_ms >= still_ms && !atomic_load(&lease->stop))
            return lease;
    }
    return NULL;
}

unsigned players_still_count(const struct players *players, int64_t still_ms)
{
    unsigned count = 0;
    for (unsigned i = 0; i < players->count; i++)
        count += players->slots[i].still_ms >= still_ms && atomic_load(&players->slots[i].lease) != NULL;
    return count;
}

void outcome_done(struct outcome *outcome)
{
    if (outcome->game != NULL)
        message_game_done(outcome->game);
    free(outcome->game);
    outcome->game = NULL;
}
