#include "proto/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/kroo.pb-c.h"
#include "proto/text.h"

/* Every writer below fills a protobuf struct that borrows the plain message's memory; only arrays of
 * sub-messages and sentences for people need memory of their own, which `struct packing` keeps until the
 * frame is packed. Sentences are cleaned on the way out: a database's error of three lines, or one cut inside
 * a character, must not make the receiver refuse the refusal. */
#define SET(to, field, from) ((to)->has_##field = 1, (to)->field = (from)->field)
/* Absent when 0, as before the field was there. */
#define SET_SOME(to, field, from) ((to)->has_##field = (from)->field != 0, (to)->field = (from)->field)
#define SET_HASH(to, wire, from)  ((to)->has_##wire = !message_hash_is_none(from), (to)->wire = hash(from))

struct packing {
    Kroo__Wire__Envelope envelope;
    Kroo__Wire__ExperimentSpec spec;
    Kroo__Wire__Player a, b;
    char lines[2][MESSAGE_OPTIONS_MAX]; /* the players' options, each line ended */
    char *options[2][MESSAGE_OPTION_COUNT];
    Kroo__Wire__Sprt sprt;
    void *items;     /* array of protobuf sub-messages */
    void **pointers; /* what protobuf-c wants: an array of pointers to them */
    char *texts;     /* the answers' sentences */
    char sentence[MESSAGE_TEXT_MAX];
};

static char *text(const char *from)
{
    return (char *)(uintptr_t)from; /* protobuf-c only reads while packing */
}

/* For the one sentence that a message other than RESULTS_ACK holds. */
static char *sentence(const char *from, struct packing *packing)
{
    text_clean(from, packing->sentence, sizeof packing->sentence);
    return packing->sentence;
}

static ProtobufCBinaryData hash(const uint8_t from[MESSAGE_HASH])
{
    return (ProtobufCBinaryData){.len = MESSAGE_HASH, .data = (uint8_t *)(uintptr_t)from};
}

static ProtobufCBinaryData data(const void *from, size_t size)
{
    return (ProtobufCBinaryData){.len = size, .data = (uint8_t *)(uintptr_t)from};
}

/* Room for `count` sub-messages of `size` bytes; false without memory. */
static bool packing_items(struct packing *packing, size_t count, size_t size)
{
    packing->items = calloc(count == 0 ? 1 : count, size);
    packing->pointers = calloc(count == 0 ? 1 : count, sizeof *packing->pointers);
    if (packing->items == NULL || packing->pointers == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        packing->pointers[i] = (char *)packing->items + i * size;
    return true;
}

/* Cuts the lines apart; beyond the bound they are left out, and the receiver refuses what it then misses. */
static size_t cut_options(const char *from, char lines[MESSAGE_OPTIONS_MAX],
                          char *options[MESSAGE_OPTION_COUNT])
{
    size_t count = 0;
    char *rest = NULL;
    snprintf(lines, MESSAGE_OPTIONS_MAX, "%s", from);
    for (char *at = strtok_r(lines, "\n", &rest); at != NULL && count < MESSAGE_OPTION_COUNT;
         at = strtok_r(NULL, "\n", &rest))
        options[count++] = at;
    return count;
}

static void fill_player(const struct message_player *from, Kroo__Wire__Player *to,
                        char lines[MESSAGE_OPTIONS_MAX], char *options[MESSAGE_OPTION_COUNT])
{
    kroo__wire__player__init(to);
    to->has_weights_sha256 = 1;
    to->weights_sha256 = hash(from->weights);
    SET(to, node_limit, from);
    SET(to, depth_limit, from);
    SET(to, time_ms, from);
    SET(to, hash_kib, from);
    SET_HASH(to, engine_sha256, from->engine);
    SET_HASH(to, tables_sha256, from->tables);
    SET_SOME(to, clock_ms, from);
    SET_SOME(to, increment_ms, from);
    to->engine_signature = from->engine_signature[0] ? text(from->engine_signature) : NULL;
    to->n_options = cut_options(from->options, lines, options);
    to->options = options;
}

static Kroo__Wire__ExperimentSpec *fill_spec(const struct message_spec *from, struct packing *packing)
{
    Kroo__Wire__ExperimentSpec *to = &packing->spec;
    kroo__wire__experiment_spec__init(to);
    SET(to, experiment, from);
    to->has_kind = 1;
    to->kind = (Kroo__Wire__ExperimentKind)from->kind;
    to->rules = text(from->rules);
    SET(to, seed, from);
    SET(to, opening_plies, from);
    SET(to, noise_ppm, from);
    SET(to, with_scores, from);
    to->engine_build = text(from->engine_build);
    SET_HASH(to, book_sha256, from->book);
    SET_HASH(to, adjudication_sha256, from->adjudication);
    SET_SOME(to, resign_score, from);
    SET_SOME(to, resign_plies, from);
    SET_SOME(to, resign_playout_ppm, from);
    SET_SOME(to, reference_speed, from);
    fill_player(&from->a, &packing->a, packing->lines[0], packing->options[0]);
    fill_player(&from->b, &packing->b, packing->lines[1], packing->options[1]);
    to->a = &packing->a;
    to->b = &packing->b;
    return to;
}

static void fill_game(const struct message_game *from, Kroo__Wire__GameResult *to)
{
    kroo__wire__game_result__init(to);
    SET(to, experiment, from);
    SET(to, pair, from);
    SET(to, leg, from);
    SET(to, lease, from);
    SET(to, attempt, from);
    to->has_moves = 1;
    to->moves = data(from->moves, from->plies);
    to->has_scores = from->scores_size > 0;
    to->scores = data(from->scores, from->scores_size);
    to->result = text(from->result);
    to->reason = text(from->reason);
    SET(to, nodes, from);
    SET(to, time_ms, from);
    to->has_weights_a = to->has_weights_b = 1;
    to->weights_a = hash(from->weights_a);
    to->weights_b = hash(from->weights_b);
    to->engine_build = text(from->engine_build);
    SET_HASH(to, engine_a, from->engine_a);
    SET_HASH(to, engine_b, from->engine_b);
    SET_HASH(to, tables_a, from->tables_a);
    SET_HASH(to, tables_b, from->tables_b);
    SET_HASH(to, options_a, from->options_a);
    SET_HASH(to, options_b, from->options_b);
    SET_SOME(to, core_us, from);
    to->fault = from->fault[0] ? text(from->fault) : NULL;
}

#define FILL_BENCH(to, bench)                                                                                \
    do {                                                                                                     \
        SET_SOME(to, speed, bench);                                                                          \
        SET_SOME(to, spread_ppm, bench);                                                                     \
        SET_SOME(to, load_ppm, bench);                                                                       \
        SET_SOME(to, measured_ms, bench);                                                                    \
    } while (0)

static void fill_hello(const struct message_hello *from, Kroo__Wire__Hello *to)
{
    to->has_role = 1;
    to->role = (Kroo__Wire__Role)from->role;
    SET(to, protocol, from);
    SET(to, protocol_min, from);
    to->name = text(from->name);
    to->engine_build = text(from->engine_build);
    SET(to, session_nonce, from);
    SET(to, slots, from);
    SET(to, credit, from);
    to->tags = from->tags[0] ? text(from->tags) : NULL;
    FILL_BENCH(to, &from->bench);
    to->confinement = from->confinement[0] ? text(from->confinement) : NULL;
    to->architecture = from->architecture[0] ? text(from->architecture) : NULL;
    to->compiler = from->compiler[0] ? text(from->compiler) : NULL;
    SET_SOME(to, wall_ms, from);
}

static void fill_fault(const struct message_fault *from, Kroo__Wire__Fault *to)
{
    to->has_kind = 1;
    to->kind = (Kroo__Wire__FaultKind)from->kind;
    SET(to, experiment, from);
    SET_SOME(to, side, from);
    SET_SOME(to, pair, from);
    SET_SOME(to, leg, from);
    SET_SOME(to, attempt, from);
    to->has_moves = from->moves[0] != '\0';
    to->moves = data(from->moves, strlen(from->moves));
}

static void fill_welcome(const struct message_welcome *from, Kroo__Wire__Welcome *to)
{
    SET(to, session, from);
    SET(to, protocol, from);
    SET(to, progress_ms, from);
    SET(to, term_ms, from);
    SET(to, announcement, from);
    to->has_announced_sha256 = from->announcement != 0;
    to->announced_sha256 = hash(from->announced);
    to->engine_build = text(from->engine_build);
    to->has_scale_ppm = from->scale_ppm != 0 && from->scale_ppm != MESSAGE_SCALE_USUAL;
    to->scale_ppm = from->scale_ppm;
}

static void fill_refused(const struct message_refused *from, Kroo__Wire__Refused *to, struct packing *packing)
{
    to->has_code = 1;
    to->code = (Kroo__Wire__RefusalCode)from->code;
    to->text = sentence(from->text, packing);
    SET(to, retry_ms, from);
}

static void fill_grant(const struct message_lease_grant *from, Kroo__Wire__LeaseGrant *to,
                       struct packing *packing)
{
    SET(to, lease, from);
    SET(to, attempt, from);
    SET(to, first_pair, from);
    SET(to, pair_count, from);
    SET(to, term_ms, from);
    to->spec = fill_spec(&from->spec, packing);
    SET_SOME(to, scale_ppm, from);
    SET_SOME(to, measure, from);
    to->n_skip = from->skip_count;
    to->skip = from->skip;
}

static bool fill_results(const struct message_results *from, Kroo__Wire__Results *to, struct packing *packing)
{
    if (!packing_items(packing, from->game_count, sizeof(Kroo__Wire__GameResult)))
        return false;
    SET(to, batch, from);
    to->n_games = from->game_count;
    to->games = (Kroo__Wire__GameResult **)packing->pointers;
    for (size_t i = 0; i < from->game_count; i++)
        fill_game(&from->games[i], to->games[i]);
    return true;
}

static bool fill_results_ack(const struct message_results_ack *from, Kroo__Wire__ResultsAck *to,
                             struct packing *packing)
{
    enum { ROOM = sizeof from->exceptions->text };
    packing->texts = malloc(from->exception_count * ROOM + 1);
    if (packing->texts == NULL ||
        !packing_items(packing, from->exception_count, sizeof(Kroo__Wire__GameAnswer)))
        return false;
    SET(to, batch, from);
    SET(to, accepted, from);
    SET(to, duplicates, from);
    to->n_exceptions = from->exception_count;
    to->exceptions = (Kroo__Wire__GameAnswer **)packing->pointers;
    for (size_t i = 0; i < from->exception_count; i++) {
        const struct message_game_answer *answer = &from->exceptions[i];
        Kroo__Wire__GameAnswer *wire = to->exceptions[i];
        kroo__wire__game_answer__init(wire);
        SET(wire, experiment, answer);
        SET(wire, pair, answer);
        SET(wire, leg, answer);
        wire->has_verdict = 1;
        wire->verdict = (Kroo__Wire__GameVerdict)answer->verdict;
        wire->text = packing->texts + i * ROOM;
        text_clean(answer->text, wire->text, ROOM);
    }
    return true;
}

static bool fill_progress(const struct message_progress *from, Kroo__Wire__Progress *to,
                          struct packing *packing)
{
    if (!packing_items(packing, from->lease_count, sizeof(Kroo__Wire__LeaseProgress)))
        return false;
    to->n_leases = from->lease_count;
    to->leases = (Kroo__Wire__LeaseProgress **)packing->pointers;
    for (size_t i = 0; i < from->lease_count; i++) {
        Kroo__Wire__LeaseProgress *wire = to->leases[i];
        kroo__wire__lease_progress__init(wire);
        SET(wire, lease, &from->leases[i]);
        SET(wire, plies, &from->leases[i]);
        SET(wire, pairs_done, &from->leases[i]);
    }
    return true;
}

static void fill_progress_ack(const struct message_progress_ack *from, Kroo__Wire__ProgressAck *to)
{
    to->n_dropped = from->dropped_count;
    to->dropped = from->dropped;
    SET(to, announcement, from);
    to->has_announced_sha256 = from->announcement != 0;
    to->announced_sha256 = hash(from->announced);
}

static void fill_chunk(const struct message_artifact_chunk *from, Kroo__Wire__ArtifactChunk *to)
{
    to->has_sha256 = to->has_content = 1;
    to->sha256 = hash(from->sha256);
    SET(to, offset, from);
    SET(to, size, from);
    to->content = data(from->content, from->content_size);
}

static void fill_create(const struct message_create_experiment *from, Kroo__Wire__CreateExperiment *to,
                        struct packing *packing)
{
    to->idempotency_key = text(from->idempotency_key);
    to->spec = fill_spec(&from->spec, packing);
    SET(to, pairs, from);
    SET(to, priority, from);
    to->note = sentence(from->note, packing);
    SET_HASH(to, tune_sha256, from->tune);
    SET_SOME(to, audit_ppm, from);
    to->has_share = from->share != 0 && from->share != MESSAGE_SHARE_USUAL;
    to->share = from->share;
    SET_SOME(to, core_cap, from);
    to->tags = from->tags[0] ? text(from->tags) : NULL;
    to->on_finish = from->on_finish[0] ? text(from->on_finish) : NULL;
    if (!from->has_sprt)
        return;
    Kroo__Wire__Sprt *sprt = &packing->sprt;
    kroo__wire__sprt__init(sprt);
    sprt->model = text(from->sprt.model);
    SET(sprt, elo0, &from->sprt);
    SET(sprt, elo1, &from->sprt);
    SET(sprt, alpha, &from->sprt);
    SET(sprt, beta, &from->sprt);
    SET(sprt, batch, &from->sprt);
    to->sprt = sprt;
}

static void fill_promote(const struct message_promote_weights *from, Kroo__Wire__PromoteWeights *to,
                         struct packing *packing)
{
    to->has_sha256 = 1;
    to->sha256 = hash(from->sha256);
    to->line = text(from->line);
    SET(to, experiment, from);
    to->reason = sentence(from->reason, packing);
}

static int pack(const ProtobufCMessage *message, size_t limit, void **bytes, size_t *size)
{
    size_t packed = protobuf_c_message_get_packed_size(message);
    if (packed > limit)
        return -1;
    *bytes = malloc(packed == 0 ? 1 : packed);
    if (*bytes == NULL)
        return -1;
    *size = protobuf_c_message_pack(message, *bytes);
    return 0;
}

/* The body as a protobuf value of its own name inside `body`, borrowed by the envelope. */
#define BODY(Name, name, CASE)                                                                               \
    Kroo__Wire__##Name name;                                                                                 \
    kroo__wire__##name##__init(&name);                                                                       \
    envelope->body_case = KROO__WIRE__ENVELOPE__BODY_##CASE;                                                 \
    envelope->name = &name

static int pack_worker_side(const struct message *message, struct packing *packing, void **bytes,
                            size_t *size)
{
    Kroo__Wire__Envelope *envelope = &packing->envelope;
    switch (message->kind) {
    case MESSAGE_HELLO: {
        BODY(Hello, hello, HELLO);
        fill_hello(&message->hello, &hello);
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    case MESSAGE_LEASE_REQUEST: {
        BODY(LeaseRequest, lease_request, LEASE_REQUEST);
        SET(&lease_request, pairs, &message->lease_request);
        SET(&lease_request, pairs_per_minute, &message->lease_request);
        SET_SOME(&lease_request, work_ms, &message->lease_request);
        FILL_BENCH(&lease_request, &message->lease_request.bench);
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    case MESSAGE_RESULTS: {
        BODY(Results, results, RESULTS);
        if (!fill_results(&message->results, &results, packing))
            return -1;
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    case MESSAGE_PROGRESS: {
        BODY(Progress, progress, PROGRESS);
        if (!fill_progress(&message->progress, &progress, packing))
            return -1;
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    case MESSAGE_RELEASE: {
        BODY(Release, release, RELEASE);
        release.n_leases = message->release.lease_count;
        release.leases = message->release.leases;
        SET(&release, goodbye, &message->release);
        if (message->release.because[0] != '\0')
            release.because = sentence(message->release.because, packing);
        Kroo__Wire__Fault fault;
        kroo__wire__fault__init(&fault);
        if (message->release.fault.kind != 0) {
            fill_fault(&message->release.fault, &fault);
            release.fault = &fault;
        }
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    case MESSAGE_ARTIFACT_REQUEST: {
        BODY(ArtifactRequest, artifact_request, ARTIFACT_REQUEST);
        artifact_request.has_sha256 = 1;
        artifact_request.sha256 = hash(message->artifact_request.sha256);
        SET(&artifact_request, offset, &message->artifact_request);
        SET(&artifact_request, length, &message->artifact_request);
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    default:
        return -1;
    }
}

static int pack_answer(const struct message *message, struct packing *packing, void **bytes, size_t *size)
{
    Kroo__Wire__Envelope *envelope = &packing->envelope;
    switch (message->kind) {
    case MESSAGE_WELCOME: {
        BODY(Welcome, welcome, WELCOME);
        fill_welcome(&message->welcome, &welcome);
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    case MESSAGE_REFUSED: {
        BODY(Refused, refused, REFUSED);
        fill_refused(&message->refused, &refused, packing);
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    case MESSAGE_LEASE_GRANT: {
        BODY(LeaseGrant, lease_grant, LEASE_GRANT);
        fill_grant(&message->lease_grant, &lease_grant, packing);
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    case MESSAGE_NOTHING: {
        BODY(Nothing, nothing, NOTHING);
        nothing.because = sentence(message->nothing.because, packing);
        SET(&nothing, retry_ms, &message->nothing);
        SET_SOME(&nothing, measure, &message->nothing);
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    case MESSAGE_RESULTS_ACK: {
        BODY(ResultsAck, results_ack, RESULTS_ACK);
        if (!fill_results_ack(&message->results_ack, &results_ack, packing))
            return -1;
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    case MESSAGE_PROGRESS_ACK: {
        BODY(ProgressAck, progress_ack, PROGRESS_ACK);
        fill_progress_ack(&message->progress_ack, &progress_ack);
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    case MESSAGE_RELEASE_ACK: {
        BODY(ReleaseAck, release_ack, RELEASE_ACK);
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    case MESSAGE_ARTIFACT_CHUNK: {
        BODY(ArtifactChunk, artifact_chunk, ARTIFACT_CHUNK);
        fill_chunk(&message->artifact_chunk, &artifact_chunk);
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    default:
        return -1;
    }
}

static bool fill_seals(const struct message_seals *from, Kroo__Wire__Seals *to, struct packing *packing)
{
    to->has_sha256 = 1;
    to->sha256 = hash(from->sha256);
    if (!packing_items(packing, from->seal_count, sizeof(Kroo__Wire__Seal)))
        return false;
    Kroo__Wire__Seal *items = packing->items;
    for (size_t i = 0; i < from->seal_count; i++) {
        kroo__wire__seal__init(&items[i]);
        items[i].name = text(from->seals[i].name);
        items[i].has_key = items[i].has_signature = 1;
        items[i].key = data(from->seals[i].key, SEAL_KEY);
        items[i].signature = data(from->seals[i].signature, SEAL_SIGNATURE);
    }
    to->n_seals = from->seal_count;
    to->seals = (Kroo__Wire__Seal **)packing->pointers;
    return true;
}

static int pack_seals(const struct message *message, struct packing *packing, void **bytes, size_t *size)
{
    Kroo__Wire__Envelope *envelope = &packing->envelope;
    if (message->kind == MESSAGE_SEALS_REQUEST) {
        BODY(SealsRequest, seals_request, SEALS_REQUEST);
        seals_request.has_sha256 = 1;
        seals_request.sha256 = hash(message->seals_request.sha256);
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    BODY(Seals, seals, SEALS);
    return fill_seals(&message->seals, &seals, packing)
               ? pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size)
               : -1;
}

static int pack_control(const struct message *message, struct packing *packing, void **bytes, size_t *size)
{
    Kroo__Wire__Envelope *envelope = &packing->envelope;
    switch (message->kind) {
    case MESSAGE_CREATE_EXPERIMENT: {
        BODY(CreateExperiment, create_experiment, CREATE_EXPERIMENT);
        fill_create(&message->create_experiment, &create_experiment, packing);
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    case MESSAGE_STOP_EXPERIMENT: {
        BODY(StopExperiment, stop_experiment, STOP_EXPERIMENT);
        SET(&stop_experiment, experiment, &message->stop_experiment);
        stop_experiment.reason = sentence(message->stop_experiment.reason, packing);
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    case MESSAGE_CONTROL_EXPERIMENT: {
        BODY(ControlExperiment, control_experiment, CONTROL_EXPERIMENT);
        const struct message_control_experiment *from = &message->control_experiment;
        SET_SOME(&control_experiment, experiment, from);
        control_experiment.tournament = from->tournament[0] ? text(from->tournament) : NULL;
        control_experiment.has_verb = 1;
        control_experiment.verb = (Kroo__Wire__ControlVerb)from->verb;
        SET(&control_experiment, priority, from);
        control_experiment.text = sentence(from->text, packing);
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    case MESSAGE_PROMOTE_WEIGHTS: {
        BODY(PromoteWeights, promote_weights, PROMOTE_WEIGHTS);
        fill_promote(&message->promote_weights, &promote_weights, packing);
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    case MESSAGE_CONTROL_DONE: {
        BODY(ControlDone, control_done, CONTROL_DONE);
        SET(&control_done, experiment, &message->control_done);
        control_done.text = sentence(message->control_done.text, packing);
        SET(&control_done, existed, &message->control_done);
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    case MESSAGE_STATUS_REQUEST: {
        BODY(StatusRequest, status_request, STATUS_REQUEST);
        const char *worker = message->status_request.worker;
        status_request.worker = worker[0] ? text(worker) : NULL;
        SET_SOME(&status_request, skip, &message->status_request);
        SET_SOME(&status_request, waits_from, &message->status_request);
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    case MESSAGE_STATUS_REPLY: {
        BODY(StatusReply, status_reply, STATUS_REPLY);
        status_reply.json = message->status_reply.json;
        return pack(&envelope->base, MESSAGE_BYTES_MAX, bytes, size);
    }
    default:
        return -1;
    }
}

int message_encode(const struct message *message, void **bytes, size_t *size)
{
    struct packing packing = {.items = NULL, .pointers = NULL, .texts = NULL};
    kroo__wire__envelope__init(&packing.envelope);
    SET(&packing.envelope, request, message);
    *bytes = NULL;
    *size = 0;
    int result = -1;
    switch (message->kind) {
    case MESSAGE_HELLO:
    case MESSAGE_LEASE_REQUEST:
    case MESSAGE_RESULTS:
    case MESSAGE_PROGRESS:
    case MESSAGE_RELEASE:
    case MESSAGE_ARTIFACT_REQUEST:
        result = pack_worker_side(message, &packing, bytes, size);
        break;
    case MESSAGE_WELCOME:
    case MESSAGE_REFUSED:
    case MESSAGE_LEASE_GRANT:
    case MESSAGE_NOTHING:
    case MESSAGE_RESULTS_ACK:
    case MESSAGE_PROGRESS_ACK:
    case MESSAGE_RELEASE_ACK:
    case MESSAGE_ARTIFACT_CHUNK:
        result = pack_answer(message, &packing, bytes, size);
        break;
    case MESSAGE_SEALS_REQUEST:
    case MESSAGE_SEALS:
        result = pack_seals(message, &packing, bytes, size);
        break;
    default:
        result = pack_control(message, &packing, bytes, size);
        break;
    }
    free(packing.items);
    free(packing.pointers);
    free(packing.texts);
    return result;
}

int message_game_encode(const struct message_game *game, void **bytes, size_t *size)
{
    Kroo__Wire__GameResult wire;
    fill_game(game, &wire);
    *bytes = NULL;
    *size = 0;
    return pack(&wire.base, MESSAGE_BYTES_MAX, bytes, size);
}
