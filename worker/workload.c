#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/build.h"
#include "worker/bounds.h"
#include "worker/inside.h"

static const char *status_text(enum play_status status)
{
    switch (status) {
    case PLAY_DONE:
        return "done";
    case PLAY_STOPPED:
        return "stopped";
    case PLAY_TOO_LONG:
        return "the game is longer than any game may be";
    case PLAY_MEMORY:
        return "not enough memory";
    case PLAY_NO_OPENING:
        return "no opening leaves the game unfinished";
    case PLAY_FAILED:
        return "a program failed before its first move";
    case PLAY_OVERTIME:
        return "the game does not end";
    }
    return "unknown";
}

void workload_release(struct worker *worker, uint64_t lease)
{
    if (worker->release_count < MESSAGE_LEASES_MAX)
        worker->releases[worker->release_count++] = lease; /* beyond the bound it lapses by itself */
}

/* --- giving up --- */

static bool of_lease(void *context, const void *element)
{
    return ((const struct task *)element)->lease == context;
}

/* Ends a lease here: its games are taken out of the queue or stopped. Finished pairs stay in the spool. */
static void lease_end(struct worker *worker, struct lease *lease)
{
    if (lease->state == LEASE_OVER)
        return;
    atomic_store(&lease->stop, true);
    lease->open -= (uint32_t)queue_remove(worker->tasks, of_lease, lease);
    lease->state = LEASE_OVER;
}

/* Whose fault it is that a lease cannot be played. */
enum fault {
    FAULT_HERE,   /* this machine's: memory, disk, connection */
    FAULT_PLAYER, /* a player's: the coordinator hears of it, and stops the experiment when others say so too
                   */
};

/* A lease that cannot be played here goes back at once, and this worker lets others try. */
static void lease_give_back(struct worker *worker, struct lease *lease, enum fault fault, const char *why,
                            int64_t now)
{
    if (lease->state == LEASE_OVER)
        return;
    log_line(LOG_LEVEL_ERROR, "lease-given-back", "lease=%" PRIu64 " experiment=%" PRIu64 " why=\"%s\"",
             lease->id, lease->spec.experiment, why);
    lease_end(worker, lease);
    workload_release(worker, lease->id);
    if (fault == FAULT_PLAYER)
        snprintf(worker->release_because, sizeof worker->release_because, "%s", why);
    conversation_pause_asking(worker, INSIDE_SETBACK_MS, now);
    worker_idle(worker, why, now);
}

void workload_drop(struct worker *worker, const uint64_t *leases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; at < worker->lease_count; at++) {
            struct lease *lease = worker->leases[at];
            if (lease->id != leases[i] || lease->state == LEASE_OVER)
                continue;
            log_line(LOG_LEVEL_INFO, "lease-dropped", "lease=%" PRIu64 " unfinished_pairs=%u", lease->id,
                     lease->left);
            lease_end(worker, lease);
        }
}

void workload_abandon_all(struct worker *worker)
{
    for (size_t at = 0; at < worker->lease_count; at++) {
        struct lease *lease = worker->leases[at];
        if (lease->state == LEASE_OVER)
            continue;
        log_line(LOG_LEVEL_INFO, "lease-abandoned", "lease=%" PRIu64 " unfinished_pairs=%u", lease->id,
                 lease->left);
        lease_end(worker, lease);
        workload_release(worker, lease->id);
    }
}

/* Leg 0 stands before leg 1 in the queue: while it is there, its pair has not begun. */
static bool not_begun(void *context, const void *element)
{
    (void)context;
    const struct task *task = element;
    struct lease_pair *pair = &task->lease->pairs[task->index];
    if (task->leg == 0)
        pair->skipped = true;
    if (pair->skipped)
        task->lease->open--;
    return pair->skipped;
}

void workload_cancel_waiting(struct worker *worker)
{
    size_t games = queue_remove(worker->tasks, not_begun, NULL);
    if (games > 0)
        log_line(LOG_LEVEL_INFO, "games-taken-back", "games=%zu", games);
    for (size_t at = 0; at < worker->lease_count; at++)
        if (worker->leases[at]->state == LEASE_WAITING) {
            lease_end(worker, worker->leases[at]);
            workload_release(worker, worker->leases[at]->id);
        }
}

/* --- weights, engines, tables, book --- */

static void lease_enqueue(struct worker *worker, struct lease *lease)
{
    lease->state = LEASE_PLAYING;
    for (uint32_t index = 0; index < lease->pair_count; index++)
        for (unsigned leg = 0; leg < 2 && !lease->pairs[index].skipped; leg++) {
            struct task task = {.lease = lease, .index = index, .leg = leg};
            /* workload_adopt saw to the room. */
            if (queue_try_push(worker->tasks, &task) == QUEUE_OK)
                lease->open++;
        }
}

/* One thing that a lease needs, by hash: what it is called, and what came of looking for it. */
struct need {
    const char *what;
    const uint8_t *sha256;
    enum cache_error error;
    char reason[256];
};

/* Weights are loaded, and for a program they are a file, too. */
static void hold_weights(struct worker *worker, struct lease *lease, int side, struct need *need)
{
    need->what = "weights";
    need->sha256 = lease_player(lease, side)->weights;
    if (lease->sides[side].weights == NULL)
        need->error = cache_hold(worker->cache, need->sha256, lease->rules.name, &lease->sides[side].weights,
                                 need->reason, sizeof need->reason);
    if (need->error != CACHE_OK || !lease_has_engine(lease, side))
        return;
    char *path = lease->programs[side].weights;
    files_weights_path(worker->files, need->sha256, path);
    if (access(path, R_OK) != 0) {
        snprintf(need->reason, sizeof need->reason, "their file is gone");
        need->error = CACHE_ERROR_ABSENT;
    }
}

static void hold_engine(struct worker *worker, struct lease *lease, int side, struct need *need)
{
    need->what = "engine";
    need->sha256 = lease_player(lease, side)->engine;
    if (lease_has_engine(lease, side) && lease->programs[side].engine == NULL)
        need->error = files_hold(worker->files, FILES_ENGINE, need->sha256, &lease->rules,
                                 &lease->programs[side].engine, need->reason, sizeof need->reason);
}

/* Of a set: the binary for this machine, or the sources. Of a plain engine nothing more. */
static void hold_part(struct worker *worker, struct lease *lease, int side, struct need *need)
{
    struct lease_program *program = &lease->programs[side];
    need->what = "engine";
    need->sha256 = lease_player(lease, side)->engine;
    if (program->engine == NULL)
        return;
    if (!program->parts.is_known &&
        parts_read(program->engine, &program->parts, need->reason, sizeof need->reason) != 0) {
        need->error = CACHE_ERROR_FILE;
        return;
    }
    need->what = program->parts.from_source ? "sources" : "binary";
    need->sha256 = program->parts.sha256;
    if (program->parts.is_set && program->part == NULL)
        need->error = files_hold(worker->files, FILES_ENGINE, need->sha256, &lease->rules, &program->part,
                                 need->reason, sizeof need->reason);
    const struct held_file *runs = program->parts.is_set ? program->part : program->engine;
    if (need->error == CACHE_OK && !program->parts.from_source)
        memcpy(program->path, runs->path, sizeof program->path);
}

static void hold_tables(struct worker *worker, struct lease *lease, int side, struct need *need)
{
    need->what = "tables";
    need->sha256 = lease_player(lease, side)->tables;
    if (!lease_has_tables(lease, side) || lease->tables[side] != NULL)
        return;
    need->error = files_hold(worker->files, FILES_TABLES, need->sha256, &lease->rules, &lease->tables[side],
                             need->reason, sizeof need->reason);
    if (need->error == CACHE_OK)
        lease->sides[side].limits.tables = lease->tables[side]->tables;
}

/* Of both sides: looked for with the first. */
static void hold_book(struct worker *worker, struct lease *lease, int side, struct need *need)
{
    need->what = "book";
    need->sha256 = lease->spec.book;
    if (side != 0 || !lease_has_book(lease) || lease->book != NULL)
        return;
    need->error = files_hold(worker->files, FILES_BOOK, need->sha256, &lease->rules, &lease->book,
                             need->reason, sizeof need->reason);
    if (need->error == CACHE_OK)
        lease->setup.book = lease->book->book;
}

static void hold_adjudication(struct worker *worker, struct lease *lease, int side, struct need *need)
{
    need->what = "tables";
    need->sha256 = lease->spec.adjudication;
    if (side != 0 || message_hash_is_none(need->sha256) || lease->adjudication != NULL)
        return;
    need->error = files_hold(worker->files, FILES_TABLES, need->sha256, &lease->rules, &lease->adjudication,
                             need->reason, sizeof need->reason);
    if (need->error == CACHE_OK)
        lease->setup.adjudication = lease->adjudication->tables;
}

/* Asks for what is not here; false after giving the lease back. */
static bool lease_fetch(struct worker *worker, struct lease *lease, const struct need *need, int64_t now)
{
    char hex[ARTIFACT_HEX], why[512];
    artifact_hex(need->sha256, hex);
    if (need->error == CACHE_ERROR_ABSENT && ++lease->fetches <= INSIDE_FETCHES_MAX &&
        fetch_want(&worker->fetch, need->sha256, true) == 0) {
        log_line(LOG_LEVEL_INFO, "fetching", "%s=%s why=\"%s\"", need->what, hex, need->reason);
        return true;
    }
    snprintf(why, sizeof why, "%s %.12s cannot be used: %s", need->what, hex,
             need->reason[0] != '\0' ? need->reason : "too many others are being fetched");
    lease_give_back(worker, lease, need->error == CACHE_ERROR_WEIGHTS ? FAULT_PLAYER : FAULT_HERE, why, now);
    return false;
}

/* Whether the engine of a side may play: it is asked its fixed positions first. False while that lasts, and
 * after giving the lease back. */
static bool engine_is_ready(struct worker *worker, struct lease *lease, int side, int64_t now)
{
    const struct message_player *player = lease_player(lease, side);
    struct lease_program *program = &lease->programs[side];
    struct prepare_answer answer;
    if (!lease_has_engine(lease, side) ||
        (player->engine_signature[0] == '\0' && !program->parts.from_source))
        return true;
    enum prepare_state state = prepare_look(worker->prepare, player->engine, &answer);
    if (state == PREPARE_READY) {
        memcpy(program->path, answer.path, sizeof program->path);
        return true;
    }
    if (state == PREPARE_ABSENT) {
        struct prepare_order order = {.from_source = program->parts.from_source, .set = program->parts.set};
        memcpy(order.engine, player->engine, sizeof order.engine);
        memcpy(order.path, (program->part != NULL ? program->part : program->engine)->path,
               sizeof order.path);
        snprintf(order.signature, sizeof order.signature, "%s", player->engine_signature);
        if (prepare_ask(worker->prepare, &order) == 0)
            return false;
        snprintf(answer.why, sizeof answer.why, "too many engines are being tested");
        answer.fault = 0;
    } else if (state == PREPARE_UNDER_WAY) {
        return false;
    }
    char why[MESSAGE_TEXT_MAX];
    snprintf(why, sizeof why, "player %c: %.480s", 'a' + side, answer.why);
    if (answer.fault != 0)
        worker->release_fault = (struct message_fault){
            .kind = answer.fault, .experiment = lease->spec.experiment, .side = (uint32_t)side + 1};
    lease_give_back(worker, lease, answer.fault != 0 ? FAULT_PLAYER : FAULT_HERE, why, now);
    return false;
}

/* What a file that is to be run or built is, by its name and its first bytes. */
static bool subject_of(const struct held_file *file, const uint8_t sha256[ARTIFACT_HASH], bool is_source,
                       struct seal_subject *out)
{
    unsigned char head[SEAL_HEAD];
    FILE *stream = fopen(file->path, "re");
    size_t size = stream != NULL ? fread(head, 1, sizeof head, stream) : 0;
    if (stream != NULL)
        fclose(stream);
    seal_subject_of(sha256, head, size, is_source, out);
    return size > 0;
}

/* Whether all that a side's engine consists of is signed by a key that is trusted here. False while that is
 * asked, and after giving the lease back. */
static bool engine_is_signed(struct worker *worker, struct lease *lease, int side, int64_t now)
{
    const struct lease_program *program = &lease->programs[side];
    const struct held_file *files[2] = {program->engine, program->part};
    const uint8_t *hashes[2] = {lease_player(lease, side)->engine, program->parts.sha256};
    char unsaid[SEAL_REASON_MAX] = "its file cannot be read", why[MESSAGE_TEXT_MAX];
    for (int i = 0; i < 2; i++) {
        struct seal_subject subject;
        bool is_source = i == 1 && program->parts.from_source;
        if (files[i] == NULL)
            continue;
        enum notary_state state = subject_of(files[i], hashes[i], is_source, &subject)
                                      ? notary_look(&worker->notary, &subject, unsaid)
                                      : NOTARY_BAD;
        if (state == NOTARY_GOOD)
            continue;
        if (state == NOTARY_WAIT)
            return false;
        snprintf(why, sizeof why, "player %c: this worker runs only what is signed, and %s %.12s is not: %s",
                 'a' + side, subject.kind, files[i]->path + strlen(files[i]->path) - 2 * ARTIFACT_HASH,
                 unsaid);
        worker->release_fault = (struct message_fault){
            .kind = MESSAGE_FAULT_UNSIGNED, .experiment = lease->spec.experiment, .side = (uint32_t)side + 1};
        lease_give_back(worker, lease, FAULT_PLAYER, why, now);
        return false;
    }
    return true;
}

/* A key that is trusted no more counts no more from the next lease on. False after giving the lease back. */
static bool read_trust(struct worker *worker, struct lease *lease, int64_t now)
{
    struct seal_trust trust = {.count = 0};
    char reason[512], why[MESSAGE_TEXT_MAX];
    if (!worker->notary.is_required || worker->options.trust_again == NULL ||
        (!lease_has_engine(lease, 0) && !lease_has_engine(lease, 1)))
        return true;
    if (worker->options.trust_again(worker->options.trust_context, &trust, reason, sizeof reason) != 0) {
        snprintf(why, sizeof why, "the trusted keys cannot be read: %.400s", reason);
        lease_give_back(worker, lease, FAULT_HERE, why, now);
        return false;
    }
    if (notary_trust(&worker->notary, &trust))
        log_line(LOG_LEVEL_INFO, "trust", "keys=%zu next=\"what they have not signed does not run\"",
                 trust.count);
    return true;
}

/* All of it is here: its games are queued once its engines may play. */
static void lease_begin(struct worker *worker, struct lease *lease, int64_t now)
{
    if (!lease->tested && !read_trust(worker, lease, now))
        return;
    lease->tested = true;
    for (int side = 0; side < 2; side++)
        if (!engine_is_signed(worker, lease, side, now) || !engine_is_ready(worker, lease, side, now))
            return;
    lease_enqueue(worker, lease);
}

/* Starts a lease for which everything is here; asks for what is not. */
static void lease_arm(struct worker *worker, struct lease *lease, int64_t now)
{
    static void (*const holds[])(struct worker *, struct lease *, int, struct need *) = {
        hold_weights, hold_engine, hold_part, hold_tables, hold_book, hold_adjudication};
    bool complete = true;
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < sizeof holds / sizeof *holds; i++) {
            struct need need = {.error = CACHE_OK};
            holds[i](worker, lease, side, &need);
            if (need.error == CACHE_OK)
                continue;
            complete = false;
            if (!lease_fetch(worker, lease, &need, now))
                return;
        }
        lease_seat_program(lease, side);
    }
    if (complete)
        lease_begin(worker, lease, now);
}

void workload_prepared(struct worker *worker, int64_t now)
{
    unsigned steps = prepare_steps(worker->prepare);
    for (size_t at = 0; at < worker->lease_count; at++) {
        struct lease *lease = worker->leases[at];
        if (lease->state != LEASE_WAITING || !lease->tested)
            continue;
        atomic_fetch_add(&lease->plies, steps); /* a long test is progress, too */
        lease_begin(worker, lease, now);
    }
}

void workload_artifact(struct worker *worker, int64_t now)
{
    for (size_t at = 0; at < worker->lease_count; at++)
        if (worker->leases[at]->state == LEASE_WAITING && !worker->leases[at]->tested)
            lease_arm(worker, worker->leases[at], now);
}

/* What the artifact is to the lease; NULL: nothing. */
static const char *lease_need(const struct lease *lease, const uint8_t sha256[MESSAGE_HASH])
{
    for (int side = 0; side < 2; side++) {
        const struct message_player *player = lease_player(lease, side);
        if (memcmp(player->weights, sha256, MESSAGE_HASH) == 0)
            return "weights";
        if (memcmp(player->engine, sha256, MESSAGE_HASH) == 0)
            return "engine";
        if (memcmp(player->tables, sha256, MESSAGE_HASH) == 0)
            return "tables";
        if (lease->programs[side].parts.is_set &&
            memcmp(lease->programs[side].parts.sha256, sha256, MESSAGE_HASH) == 0)
            return "engine part";
    }
    if (memcmp(lease->spec.adjudication, sha256, MESSAGE_HASH) == 0)
        return "tables";
    return memcmp(lease->spec.book, sha256, MESSAGE_HASH) == 0 ? "book" : NULL;
}

void workload_artifact_failed(struct worker *worker, const char *why, int64_t now)
{
    const uint8_t *hash = worker->fetch.wanted[0];
    char hex[ARTIFACT_HEX], text[640];
    artifact_hex(hash, hex);
    log_line(LOG_LEVEL_ERROR, "fetch-failed", "sha256=%s why=\"%s\"", hex, why);
    for (size_t at = 0; at < worker->lease_count; at++) {
        struct lease *lease = worker->leases[at];
        const char *what = lease->state == LEASE_WAITING ? lease_need(lease, hash) : NULL;
        if (what == NULL)
            continue;
        snprintf(text, sizeof text, "%s %.12s did not come: %s", what, hex, why);
        lease_give_back(worker, lease, FAULT_HERE, text, now);
    }
}

/* --- leases --- */

/* Pairs leased or finished that are not acknowledged: what the credit bounds. */
static uint64_t pairs_held(const struct worker *worker)
{
    uint64_t pairs = spool_pairs(worker->spool) + (worker->stuck != NULL ? 1 : 0);
    for (size_t at = 0; at < worker->lease_count; at++)
        if (worker->leases[at]->state != LEASE_OVER)
            pairs += worker->leases[at]->left;
    return pairs;
}

/* Games queued, played, or waiting for weights. */
static uint64_t games_open(const struct worker *worker)
{
    uint64_t games = 0;
    for (size_t at = 0; at < worker->lease_count; at++) {
        const struct lease *lease = worker->leases[at];
        games += lease->state == LEASE_WAITING ? 2 * (uint64_t)lease->left : lease->open;
    }
    return games;
}

bool workload_playing(const struct worker *worker)
{
    return games_open(worker) > worker->threads_still; /* what these hold has gone back */
}

static bool lease_known(const struct worker *worker, uint64_t id)
{
    for (size_t at = 0; at < worker->lease_count; at++)
        if (worker->leases[at]->id == id)
            return true;
    return false;
}

void workload_adopt(struct worker *worker, const struct message_lease_grant *grant, int64_t now)
{
    if (lease_known(worker, grant->lease))
        return;
    char reason[512] = "";
    if (worker->leaving != LEAVING_NOT || worker->lease_count == INSIDE_LEASES_MAX ||
        pairs_held(worker) + grant->pair_count > (uint64_t)worker->options.credit + LEASE_PAIRS_MAX) {
        log_line(LOG_LEVEL_INFO, "lease-returned", "lease=%" PRIu64 " why=\"%s\"", grant->lease,
                 worker->leaving != LEAVING_NOT ? "leaving" : "more than the credit");
        workload_release(worker, grant->lease);
        return;
    }
    struct lease *lease = lease_create(grant, engine_build(), reason, sizeof reason);
    if (lease == NULL) {
        log_line(LOG_LEVEL_ERROR, "lease-refused", "lease=%" PRIu64 " why=\"%s\"", grant->lease, reason);
        workload_release(worker, grant->lease);
        conversation_pause_asking(worker, INSIDE_SETBACK_MS, now);
        worker_idle(worker, reason, now);
        return;
    }
    uint32_t scale_ppm = grant->scale_ppm > 0 ? grant->scale_ppm : worker->scale_ppm;
    lease_scale_time(lease, scale_ppm > 0 ? scale_ppm : MESSAGE_SCALE_USUAL);
    lease_bound_time(lease, worker->options.move_ms, worker->options.game_ms, worker->yardstick.speed);
    worker->leases[worker->lease_count++] = lease;
    log_line(LOG_LEVEL_DEBUG, "lease",
             "lease=%" PRIu64 " experiment=%" PRIu64 " first=%" PRIu64 " pairs=%u attempt=%u", lease->id,
             lease->spec.experiment, lease->first_pair, lease->pair_count, lease->attempt);
    if (lease->left == 0)
        lease->state = LEASE_OVER;
    else
        lease_arm(worker, lease, now);
}

static double game_ms(const struct worker *worker, uint64_t experiment)
{
    for (int i = 0; i < INSIDE_COSTS; i++)
        if (worker->costs[i].experiment == experiment)
            return worker->costs[i].game_ms;
    return INSIDE_GAME_MS;
}

/* A quarter of the news at a time; the experiment that was not played for longest is forgotten. */
static void note_cost(struct worker *worker, const struct message_game *game)
{
    double latest = game->core_us / 1000.0;
    int place = 0;
    while (place < INSIDE_COSTS - 1 && worker->costs[place].experiment != game->experiment)
        place++;
    struct cost cost = worker->costs[place];
    bool known = cost.experiment == game->experiment;
    cost.game_ms = known ? cost.game_ms + (latest - cost.game_ms) / 4 : latest;
    cost.experiment = game->experiment;
    memmove(&worker->costs[1], &worker->costs[0], (size_t)place * sizeof cost);
    worker->costs[0] = cost;
}

/* How long the play threads have to do behind the games that they play now: by what a game of each experiment
 * costs, so that a few long ones are not taken for a short moment. */
static double work_ahead_ms(const struct worker *worker)
{
    double work_ms = 0;
    uint64_t open = 0, slots = worker->options.slots;
    for (size_t at = 0; at < worker->lease_count; at++) {
        const struct lease *lease = worker->leases[at];
        uint64_t games = lease->state == LEASE_WAITING ? 2 * (uint64_t)lease->left : lease->open;
        work_ms += (double)games * game_ms(worker, lease->spec.experiment);
        open += games;
    }
    return open > slots ? work_ms * (double)(open - slots) / (double)open / (double)slots : 0;
}

uint32_t workload_wanted(struct worker *worker, uint32_t *work_ms, const char **reason)
{
    *reason = NULL;
    *work_ms = 0;
    uint64_t held = pairs_held(worker);
    if (worker->stuck != NULL)
        *reason = "the spool takes no more results";
    else if (spool_bytes(worker->spool) > worker->options.spool_max / 8 * 7)
        *reason = "the spool is nearly full of results the coordinator has not acknowledged";
    else if (held >= worker->options.credit)
        *reason = "the credit is used up: results wait to be acknowledged";
    else if (worker->lease_count == INSIDE_LEASES_MAX)
        *reason = "too many leases are held";
    else if (worker->threads_still == worker->options.slots)
        *reason = "every play thread stands still";
    if (*reason != NULL)
        return 0;
    double ahead_ms = work_ahead_ms(worker);
    if (ahead_ms > INSIDE_AHEAD_MS / 2.0)
        return 0;
    *work_ms = (uint32_t)(INSIDE_AHEAD_MS - ahead_ms);
    return (uint32_t)(worker->options.credit - held);
}

/* --- finished games --- */

/* Spools a complete pair. False when the spool does not take it now: it stays, and nothing more is taken from
 * the play threads until it is through. */
static bool pair_spool(struct worker *worker, struct lease *lease, uint32_t index, int64_t now)
{
    char reason[512];
    struct lease_pair *pair = &lease->pairs[index];
    enum spool_error error = spool_append(worker->spool, pair->legs[0], pair->legs[1], reason, sizeof reason);
    if (error == SPOOL_ERROR_FILE || error == SPOOL_ERROR_FULL || error == SPOOL_ERROR_MEMORY) {
        if (worker->stuck == NULL)
            log_line(LOG_LEVEL_ERROR, "spool-refuses",
                     "why=\"%s\" next=\"play pauses, tried again each second\"", reason);
        worker->stuck = lease;
        worker->stuck_index = index;
        worker->spool_retry_ms = now + INSIDE_RETRY_MS;
        return false;
    }
    if (error == SPOOL_ERROR_GAME)
        lease_give_back(worker, lease, FAULT_HERE, reason, now);
    if (worker->stuck != NULL)
        log_line(LOG_LEVEL_INFO, "spool-takes", "results again");
    worker->stuck = NULL;
    lease_forget_pair(lease, index);
    return true;
}

/* It goes out with the lease that is given back for it. */
static void note_failure(struct worker *worker, const struct outcome *outcome)
{
    const struct lease *lease = outcome->task.lease;
    worker->release_fault = (struct message_fault){
        .kind = outcome->status == PLAY_OVERTIME ? MESSAGE_FAULT_OVERTIME : MESSAGE_FAULT_START,
        .experiment = lease->spec.experiment,
        .side = outcome->side,
        .pair = lease->first_pair + outcome->task.index,
        .leg = outcome->task.leg,
        .attempt = lease->attempt};
    memcpy(worker->release_fault.moves, outcome->moves, sizeof worker->release_fault.moves);
}

static bool outcome_take(struct worker *worker, struct outcome *outcome, int64_t now)
{
    struct lease *lease = outcome->task.lease;
    lease->open--;
    if (outcome->status == PLAY_STOPPED)
        return true;
    if (outcome->status != PLAY_DONE) {
        char why[MESSAGE_TEXT_MAX];
        if ((outcome->status == PLAY_FAILED || outcome->status == PLAY_OVERTIME) &&
            lease->state != LEASE_OVER)
            note_failure(worker, outcome);
        snprintf(why, sizeof why, "pair %" PRIu64 " leg %u cannot be played: %s%s%.300s",
                 lease->first_pair + outcome->task.index, outcome->task.leg, status_text(outcome->status),
                 outcome->why[0] != '\0' ? ": " : "", outcome->why);
        lease_give_back(worker, lease, outcome->status == PLAY_MEMORY ? FAULT_HERE : FAULT_PLAYER, why, now);
        return true;
    }
    worker->games_total++;
    worker->games_window++;
    note_cost(worker, outcome->game);
    return !lease_finish(lease, outcome->task.index, outcome->task.leg, outcome->game) ||
           pair_spool(worker, lease, outcome->task.index, now);
}

/* Games a second of play time: intervals that began without a game say nothing and do not count. The first
 * figure comes soon, so that a fast experiment is not starved by small leases. */
static void measure_speed(struct worker *worker, int64_t now)
{
    enum { FIRST_MS = 50, LATER_MS = 1000 };
    if (worker->window_open)
        worker->window_ms += now - worker->collected_ms;
    worker->collected_ms = now;
    worker->window_open = workload_playing(worker);
    bool known = worker->games_per_second > 0;
    if (worker->games_window == 0 || worker->window_ms < (known ? LATER_MS : FIRST_MS))
        return;
    double latest = 1000.0 * (double)worker->games_window / (double)worker->window_ms;
    worker->games_per_second = known ? (worker->games_per_second + latest) / 2 : latest;
    worker->games_window = 0;
    worker->window_ms = 0;
}

static void sweep_leases(struct worker *worker)
{
    for (size_t at = 0; at < worker->lease_count;) {
        struct lease *lease = worker->leases[at];
        if (lease->state == LEASE_PLAYING && lease->left == 0)
            lease->state = LEASE_OVER;
        if (lease->state != LEASE_OVER || lease->open > 0 || worker->stuck == lease) {
            at++;
            continue;
        }
        cache_release(worker->cache, lease->sides[0].weights);
        cache_release(worker->cache, lease->sides[1].weights);
        for (int side = 0; side < 2; side++) {
            files_release(worker->files, lease->programs[side].engine);
            files_release(worker->files, lease->programs[side].part);
            files_release(worker->files, lease->tables[side]);
        }
        files_release(worker->files, lease->book);
        files_release(worker->files, lease->adjudication);
        lease_destroy(lease);
        worker->leases[at] = worker->leases[--worker->lease_count];
    }
}

/* Its games are abandoned; the thread stays as it is, and takes no other until it wakes. */
void workload_watch(struct worker *worker, int64_t now)
{
    int64_t still_ms = bounds_still_ms(worker->term_ms, INT64_MAX);
    players_look(worker->players, now);
    unsigned count = players_still_count(worker->players, still_ms);
    if (count < worker->threads_still)
        log_line(LOG_LEVEL_INFO, "thread-wakes", "still=%u slots=%u", count, worker->options.slots);
    worker->threads_still = count;
    for (struct lease *lease; (lease = players_still(worker->players, still_ms)) != NULL;) {
        log_line(LOG_LEVEL_ERROR, "thread-still",
                 "lease=%" PRIu64 " experiment=%" PRIu64 " for_ms=%" PRId64 " still=%u slots=%u"
                 " next=\"the lease goes back; restart this worker, and look at its machine\"",
                 lease->id, lease->spec.experiment, still_ms, count, worker->options.slots);
        bool over = lease->state == LEASE_OVER;
        lease_end(worker, lease);
        if (!over)
            workload_release(worker, lease->id);
        atomic_store(&lease->stop, true);
    }
}

void workload_collect(struct worker *worker, int64_t now)
{
    bool takes = worker->stuck == NULL;
    if (!takes && now >= worker->spool_retry_ms)
        takes = pair_spool(worker, worker->stuck, worker->stuck_index, now);
    struct outcome outcome;
    for (int count = 0; takes && count < INSIDE_OUTCOMES_MAX; count++) {
        if (queue_try_pop(worker->outcomes, &outcome) != QUEUE_OK)
            break;
        takes = outcome_take(worker, &outcome, now);
    }
    measure_speed(worker, now);
    sweep_leases(worker);
}
