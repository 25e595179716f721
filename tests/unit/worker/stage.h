/* A stage for a real worker: the test plays the coordinator's part behind a real ROUTER on ipc, the worker
 * runs in a thread of its own with the real engine. stage_turn takes one message and answers it as the stage
 * is set; stage_until turns until a condition holds, or fails at a deadline. */
#ifndef KROO_TESTS_WORKER_STAGE_H
#define KROO_TESTS_WORKER_STAGE_H

#include <pthread.h>
#include <sys/stat.h>

#include "engine/build.h"
#include "engine/play.h"
#include "proto/artifact.h"
#include "proto/log.h"
#include "proto/progress.h"
#include "proto/socket.h"
#include "tests/unit/worker/scratch.h"
#include "worker/worker.h"

enum { STAGE_DEADLINE_MS = 300000, STAGE_PAIRS = 512, STAGE_SEED = 4711 };

struct stage {
    char folder[SCRATCH_PATH];
    char endpoint[SCRATCH_PATH + 16], state[SCRATCH_PATH + 16];
    const char *endpoints[1];
    struct router *router;
    uint8_t weights[MESSAGE_HASH];
    void *weights_bytes;
    size_t weights_size;

    /* how it answers */
    struct message_lease_grant grant; /* given to the next LEASE_REQUEST when pair_count > 0 */
    bool mute_results, mute_hello, stranger;
    enum message_refusal refuse_hello, refuse_results, refuse_artifacts; /* 0 = no */
    bool malformed_expected; /* answer what cannot be read as the coordinator does, with request 0 */
    bool refuse_big_batches; /* MALFORMED for every batch with pair `bad_pair` */
    uint64_t bad_pair;
    enum message_game_verdict bad_verdict; /* for both games of `bad_pair`; 0 = accepted */
    uint64_t drop;                         /* lease told as dropped */
    uint64_t announce;                     /* epoch; the stage's weights */
    size_t corrupt_from;                   /* artifact bytes from here on are wrong; SIZE_MAX = none */

    /* what came */
    unsigned counts[MESSAGE_KINDS];
    struct message_hello hello;
    struct message_lease_request lease_request;
    uint64_t first_batch, batch; /* numbers of the first and last RESULTS */
    uint64_t first_digest, digest;
    size_t batch_games;
    char *moves[STAGE_PAIRS][2]; /* by pair, as first told */
    unsigned told[STAGE_PAIRS][2], acknowledged[STAGE_PAIRS][2];
    unsigned half_pairs; /* batches that held one leg only */
    uint64_t plies;      /* of the last PROGRESS, over all leases */
    size_t progress_leases;
    uint64_t released[16];
    size_t released_count;
    bool goodbye;
    struct socket_peer peer;
    char user[sizeof(((struct socket_peer *)0)->user)]; /* of the last message */

    /* the worker */
    struct worker_options options;
    struct worker *worker;
    pthread_t thread;
    atomic_bool ready; /* created, or failed */
    atomic_bool ended;
    int status;
    char reason[1024];
};

static inline bool stage_open_router(struct stage *stage, socket_admit *admit, const struct keys *keys)
{
    char reason[256];
    stage->router = router_create(stage->endpoints, 1, keys, admit, stage, reason, sizeof reason);
    return stage->router != NULL;
}

static inline void stage_open(struct stage *stage)
{
    memset(stage, 0, sizeof *stage);
    stage->corrupt_from = SIZE_MAX;
    log_set_level(getenv("STAGE_DEBUG") != NULL ? LOG_LEVEL_DEBUG : (enum log_level)(LOG_LEVEL_ERROR + 1));
    scratch_create(stage->folder);
    snprintf(stage->endpoint, sizeof stage->endpoint, "ipc://%s/socket", stage->folder);
    snprintf(stage->state, sizeof stage->state, "%s/state", stage->folder);
    stage->endpoints[0] = stage->endpoint;
    struct weights *weights = weights_create_starting("site");
    assert_non_null(weights);
    assert_int_equal(weights_serialize(weights, &stage->weights_bytes, &stage->weights_size), WEIGHTS_OK);
    weights_destroy(weights);
    artifact_hash(stage->weights_bytes, stage->weights_size, stage->weights);
    worker_options_init(&stage->options);
    stage->options.endpoints = stage->endpoints;
    stage->options.endpoint_count = 1;
    stage->options.state = stage->state;
    stage->options.name = "stage";
    stage->options.slots = 2;
    stage->options.reply_ms = 2000;
    stage->options.batch_ms = 20;
    stage->options.backoff_low_ms = 20;
    stage->options.backoff_high_ms = 200;
}

static inline void *stage_worker_thread(void *context)
{
    struct stage *stage = context;
    stage->worker = worker_create(&stage->options, stage->reason, sizeof stage->reason);
    atomic_store(&stage->ready, true);
    stage->status = stage->worker != NULL ? worker_run(stage->worker) : -1;
    atomic_store(&stage->ended, true);
    return NULL;
}

static inline void stage_start(struct stage *stage)
{
    atomic_store(&stage->ready, false);
    atomic_store(&stage->ended, false);
    assert_int_equal(pthread_create(&stage->thread, NULL, stage_worker_thread, stage), 0);
    int64_t deadline = progress_now_ms() + STAGE_DEADLINE_MS;
    while (!atomic_load(&stage->ready) && progress_now_ms() < deadline)
        sched_yield();
    assert_true(atomic_load(&stage->ready));
}

/* --- answers --- */

static inline void stage_send(struct stage *stage, uint64_t request, struct message *message)
{
    message->request = request;
    assert_int_equal(router_send(stage->router, &stage->peer, message), SOCKET_OK);
}

static inline void stage_refuse(struct stage *stage, uint64_t request, enum message_refusal code)
{
    struct message message = {.kind = MESSAGE_REFUSED, .refused = {.code = code, .retry_ms = 30}};
    snprintf(message.refused.text, sizeof message.refused.text, "the stage refuses with %d", (int)code);
    stage_send(stage, request, &message);
}

static inline void stage_answer_hello(struct stage *stage, const struct message *question)
{
    stage->hello = question->hello;
    if (stage->mute_hello)
        return;
    if (stage->refuse_hello != 0) {
        stage_refuse(stage, question->request, stage->refuse_hello);
        return;
    }
    stage->stranger = false;
    struct message message = {.kind = MESSAGE_WELCOME};
    message.welcome = (struct message_welcome){.session = stage->counts[MESSAGE_HELLO],
                                               .protocol = MESSAGE_PROTOCOL,
                                               .progress_ms = 30,
                                               .term_ms = 10000,
                                               .announcement = stage->announce};
    if (stage->announce != 0)
        memcpy(message.welcome.announced, stage->weights, MESSAGE_HASH);
    snprintf(message.welcome.engine_build, MESSAGE_NAME_MAX, "%s", engine_build());
    stage_send(stage, question->request, &message);
}

static inline void stage_answer_lease(struct stage *stage, const struct message *question)
{
    stage->lease_request = question->lease_request;
    struct message message = {.kind = MESSAGE_NOTHING,
                              .nothing = {.because = "the stage is empty", .retry_ms = 20}};
    if (stage->grant.pair_count > 0) {
        message.kind = MESSAGE_LEASE_GRANT;
        message.lease_grant = stage->grant;
        stage->grant.pair_count = 0;
    }
    stage_send(stage, question->request, &message);
}

/* Notes what was told; a game told again must be the same game. */
static inline void stage_note_results(struct stage *stage, const struct message_results *results)
{
    uint64_t digest = 0;
    unsigned legs[STAGE_PAIRS] = {0};
    for (size_t i = 0; i < results->game_count; i++) {
        const struct message_game *game = &results->games[i];
        assert_true(game->pair < STAGE_PAIRS && game->leg < 2);
        char **moves = &stage->moves[game->pair][game->leg];
        if (*moves == NULL)
            *moves = strdup(game->moves);
        assert_string_equal(*moves, game->moves);
        stage->told[game->pair][game->leg]++;
        legs[game->pair] |= 1u << game->leg;
        digest = digest * 1000003 + game->pair * 2 + game->leg + 1;
        assert_memory_equal(game->weights_a, stage->weights, MESSAGE_HASH);
        assert_memory_equal(game->weights_b, stage->weights, MESSAGE_HASH);
        assert_string_equal(game->engine_build, engine_build());
    }
    for (size_t pair = 0; pair < STAGE_PAIRS; pair++)
        stage->half_pairs += legs[pair] == 1 || legs[pair] == 2;
    if (stage->counts[MESSAGE_RESULTS] == 1) {
        stage->first_batch = results->batch;
        stage->first_digest = digest;
    }
    stage->batch = results->batch;
    stage->digest = digest;
    stage->batch_games = results->game_count;
}

static inline void stage_answer_results(struct stage *stage, const struct message *question)
{
    const struct message_results *results = &question->results;
    stage_note_results(stage, results);
    struct message_game_answer exceptions[2];
    struct message message = {.kind = MESSAGE_RESULTS_ACK,
                              .results_ack = {.batch = results->batch, .exceptions = exceptions}};
    bool has_bad = false;
    for (size_t i = 0; i < results->game_count; i++)
        has_bad = has_bad || results->games[i].pair == stage->bad_pair;
    if (stage->mute_results)
        return;
    if (stage->refuse_results != 0 || (stage->refuse_big_batches && has_bad)) {
        stage_refuse(stage, question->request,
                     stage->refuse_results != 0 ? stage->refuse_results : MESSAGE_REFUSAL_MALFORMED);
        return;
    }
    for (size_t i = 0; i < results->game_count; i++) {
        const struct message_game *game = &results->games[i];
        stage->acknowledged[game->pair][game->leg]++;
        if (stage->bad_verdict == 0 || game->pair != stage->bad_pair)
            continue;
        struct message_game_answer *answer = &exceptions[message.results_ack.exception_count++];
        *answer = (struct message_game_answer){.experiment = game->experiment,
                                               .pair = game->pair,
                                               .leg = game->leg,
                                               .verdict = stage->bad_verdict};
        snprintf(answer->text, sizeof answer->text, "the stage does not like it");
    }
    message.results_ack.accepted = (uint32_t)(results->game_count - message.results_ack.exception_count);
    stage_send(stage, question->request, &message);
}

static inline void stage_answer_progress(struct stage *stage, const struct message *question)
{
    stage->plies = 0;
    stage->progress_leases = question->progress.lease_count;
    for (size_t i = 0; i < question->progress.lease_count; i++)
        stage->plies += question->progress.leases[i].plies;
    struct message message = {.kind = MESSAGE_PROGRESS_ACK};
    if (stage->drop != 0) {
        message.progress_ack.dropped = &stage->drop;
        message.progress_ack.dropped_count = 1;
    }
    stage_send(stage, question->request, &message);
}

static inline void stage_answer_artifact(struct stage *stage, const struct message *question)
{
    const struct message_artifact_request *wanted = &question->artifact_request;
    if (stage->refuse_artifacts != 0) {
        stage_refuse(stage, question->request, stage->refuse_artifacts);
        return;
    }
    assert_memory_equal(wanted->sha256, stage->weights, MESSAGE_HASH);
    assert_true(wanted->offset < stage->weights_size);
    uint8_t content[1000]; /* small chunks, so that there are several */
    size_t size = stage->weights_size - wanted->offset;
    size = size < sizeof content ? size : sizeof content;
    memcpy(content, (uint8_t *)stage->weights_bytes + wanted->offset, size);
    for (size_t i = 0; i < size; i++)
        if (wanted->offset + i >= stage->corrupt_from)
            content[i] = 0;
    struct message message = {.kind = MESSAGE_ARTIFACT_CHUNK};
    message.artifact_chunk = (struct message_artifact_chunk){
        .offset = wanted->offset, .size = stage->weights_size, .content = content, .content_size = size};
    memcpy(message.artifact_chunk.sha256, wanted->sha256, MESSAGE_HASH);
    stage_send(stage, question->request, &message);
}

static inline void stage_answer_release(struct stage *stage, const struct message *question)
{
    for (size_t i = 0; i < question->release.lease_count; i++) {
        assert_true(stage->released_count < 16);
        stage->released[stage->released_count++] = question->release.leases[i];
    }
    stage->goodbye = stage->goodbye || question->release.goodbye;
    struct message message = {.kind = MESSAGE_RELEASE_ACK};
    stage_send(stage, question->request, &message);
}

static inline void stage_answer(struct stage *stage, const struct message *question)
{
    stage->counts[question->kind]++;
    memcpy(stage->user, stage->peer.user, sizeof stage->user);
    if (question->kind == MESSAGE_HELLO)
        stage_answer_hello(stage, question);
    else if (stage->stranger)
        stage_refuse(stage, question->request, MESSAGE_REFUSAL_SAY_HELLO);
    else if (question->kind == MESSAGE_LEASE_REQUEST)
        stage_answer_lease(stage, question);
    else if (question->kind == MESSAGE_RESULTS)
        stage_answer_results(stage, question);
    else if (question->kind == MESSAGE_PROGRESS)
        stage_answer_progress(stage, question);
    else if (question->kind == MESSAGE_ARTIFACT_REQUEST)
        stage_answer_artifact(stage, question);
    else if (question->kind == MESSAGE_RELEASE)
        stage_answer_release(stage, question);
    else
        fail_msg("a worker said %s", message_kind_name(question->kind));
}

/* Waits a little for messages and answers those that came. */
static inline void stage_turn(struct stage *stage)
{
    bool woken;
    struct message question;
    char reason[256];
    router_wait(stage->router, -1, 20, &woken);
    enum socket_error error;
    while ((error = router_receive(stage->router, &stage->peer, &question, reason, sizeof reason)) !=
           SOCKET_ERROR_AGAIN) {
        if (error == SOCKET_ERROR_MALFORMED && stage->malformed_expected) {
            stage_refuse(stage, 0, MESSAGE_REFUSAL_MALFORMED);
            continue;
        }
        if (error != SOCKET_OK)
            fail_msg("the worker's message is not good: %s", reason);
        stage_answer(stage, &question);
        message_done(&question);
    }
}

#define stage_until(stage, condition)                                                                        \
    do {                                                                                                     \
        int64_t stage_deadline = progress_now_ms() + STAGE_DEADLINE_MS;                                      \
        while (!(condition)) {                                                                               \
            if (progress_now_ms() > stage_deadline)                                                          \
                fail_msg("%s:%d: never: %s", __FILE__, __LINE__, #condition);                                \
            stage_turn(stage);                                                                               \
        }                                                                                                    \
    } while (0)

/* A match of the stage's weights against themselves: `pairs` pairs under lease `lease`. */
static inline void stage_grant(struct stage *stage, uint64_t lease, uint64_t first_pair, uint32_t pairs,
                               uint64_t node_limit)
{
    struct message_player player = {.node_limit = node_limit, .hash_kib = 64};
    memcpy(player.weights, stage->weights, MESSAGE_HASH);
    stage->grant = (struct message_lease_grant){
        .lease = lease, .attempt = 1, .first_pair = first_pair, .pair_count = pairs, .term_ms = 10000};
    stage->grant.spec = (struct message_spec){.experiment = 9,
                                              .kind = MESSAGE_MATCH,
                                              .rules = "site",
                                              .seed = STAGE_SEED,
                                              .opening_plies = 6,
                                              .a = player,
                                              .b = player,
                                              .with_scores = true};
}

static inline size_t stage_acknowledged(const struct stage *stage)
{
    size_t pairs = 0;
    for (size_t pair = 0; pair < STAGE_PAIRS; pair++)
        pairs += stage->acknowledged[pair][0] > 0 && stage->acknowledged[pair][1] > 0;
    return pairs;
}

/* Turns until the worker has ended, and gives its exit status; its resources are freed. A worker's sockets
 * belong to its thread, which has ended: the memory barrier is the join. */
static inline int stage_end(struct stage *stage)
{
    stage_until(stage, atomic_load(&stage->ended));
    pthread_join(stage->thread, NULL);
    worker_destroy(stage->worker);
    stage->worker = NULL;
    return stage->status;
}

static inline int stage_drain(struct stage *stage)
{
    worker_signal(stage->worker, WORKER_ORDER_DRAIN);
    return stage_end(stage);
}

static inline void stage_close(struct stage *stage)
{
    router_destroy(stage->router);
    for (size_t pair = 0; pair < STAGE_PAIRS; pair++)
        for (int leg = 0; leg < 2; leg++)
            free(stage->moves[pair][leg]);
    free(stage->weights_bytes);
    scratch_destroy(stage->folder);
}

static inline size_t stage_spooled_files(const struct stage *stage)
{
    char path[SCRATCH_PATH + 32];
    snprintf(path, sizeof path, "%s/spool", stage->state);
    return scratch_count(path, "", NULL);
}

static inline size_t stage_artifact_files(const struct stage *stage)
{
    char path[SCRATCH_PATH + 32];
    snprintf(path, sizeof path, "%s/artifacts", stage->state);
    return scratch_count(path, "", NULL);
}

#endif
