#include "proto/message.h"
#include "proto/message_wire.h"

#include <stdlib.h>
#include <string.h>

#include "proto/artifact.h"
#include "proto/kroo.pb-c.h"
#include "proto/message_take.h"
#include "proto/tags.h"
#include "proto/text.h"

enum {
    PROTOCOL_HIGHEST = 1000000, /* a peer may be far ahead of us: its HELLO must still be readable */
    PAIRS_MAX = 1000000000,
    LEASE_PAIRS_MAX = 1000000,
    SLOTS_MAX = 4096,
    OPENING_PLIES_MAX = 1000,
    NOISE_MAX = 1000000,
    DEPTH_MAX = 1000,
    HASH_KIB_MAX = 16 * 1024 * 1024,
    ELO_MAX = 10000,
    RESIGN_SCORE_MAX = 4800,
    RESIGN_PLIES_MAX = 1000,
    SHARE_MAX = 1000000,
};

/* Numbers that become a bigint or an integer column. */
static const uint64_t BIG = INT64_MAX;
static const uint32_t INTEGER = INT32_MAX;

/* A pair number, and a range's end, stay far from where they could wrap. */
static const uint64_t PAIR_MAX = UINT64_C(1) << 62;

/* The step for field `field` of `from` (protobuf) into `to` (plain). */
#define NEED(field, low, high)                                                                               \
    take_need(take, #field, from->has_##field, from->field, (low), (high), &to->field)
#define NEED32(field, low, high)                                                                             \
    take_need32(take, #field, from->has_##field, from->field, (low), (high), &to->field)
#define MAY(field, high)   take_may(take, #field, from->has_##field, from->field, (high), &to->field)
#define MAY32(field, high) take_may32(take, #field, from->has_##field, from->field, (high), &to->field)
#define BENCH(bench)                                                                                         \
    (take_may32(take, "speed", from->has_speed, from->speed, INTEGER, &(bench).speed) &&                     \
     take_may32(take, "spread_ppm", from->has_spread_ppm, from->spread_ppm, INTEGER, &(bench).spread_ppm) && \
     take_may32(take, "load_ppm", from->has_load_ppm, from->load_ppm, INTEGER, &(bench).load_ppm) &&         \
     take_may32(take, "measured_ms", from->has_measured_ms, from->measured_ms, INTEGER,                      \
                &(bench).measured_ms))
#define KNOWN(what)           take_known(take, what, &from->base)
#define ASCII(field, low)     take_ascii(take, #field, from->field, (low), to->field, sizeof to->field)
#define UTF8(field)           take_utf8(take, #field, from->field, to->field, sizeof to->field)
#define MAY_HASH(field, wire) take_may_hash(take, #wire, from->has_##wire, from->wire, to->field)
#define HASH(field, wire)     take_hash(take, #wire, from->has_##wire, from->wire, to->field)

/* A hash that may be absent: zeros then. A present one names something. */
static bool take_may_hash(struct take *take, const char *what, int has, ProtobufCBinaryData data,
                          uint8_t out[MESSAGE_HASH])
{
    if (!has)
        return true;
    if (!take_hash(take, what, has, data, out))
        return false;
    return !message_hash_is_none(out) || take_refuse(take, "%s is all zeros", what);
}

/* Joins the options to lines. */
static bool take_options(struct take *take, const Kroo__Wire__Player *from, struct message_player *to)
{
    char one[MESSAGE_OPTION_MAX], reason[160];
    size_t at = 0;
    if (!take_count(take, "options", from->n_options, 0, MESSAGE_OPTION_COUNT))
        return false;
    for (size_t i = 0; i < from->n_options; i++) {
        if (!take_utf8(take, "option", from->options[i], one, sizeof one))
            return false;
        size_t size = strlen(one);
        if (at + size + 2 > sizeof to->options)
            return take_refuse(take, "the options have more than %d bytes together", MESSAGE_OPTIONS_MAX - 1);
        if (!message_options_check(one, reason, sizeof reason) || size == 0)
            return take_refuse(take, "option %zu: %s", i + 1, size == 0 ? "is empty" : reason);
        if (at > 0)
            to->options[at++] = '\n';
        memcpy(to->options + at, one, size + 1);
        at += size;
    }
    return true;
}

static bool take_player(struct take *take, const char *side, const Kroo__Wire__Player *from,
                        struct message_player *to)
{
    if (from == NULL)
        return take_refuse(take, "player %s is missing", side);
    if (!KNOWN("player") || !HASH(weights, weights_sha256) || !MAY(node_limit, BIG) ||
        !MAY32(depth_limit, DEPTH_MAX) || !MAY32(time_ms, TAKE_MILLISECONDS_MAX) ||
        !MAY32(hash_kib, HASH_KIB_MAX) || !MAY_HASH(engine, engine_sha256) ||
        !MAY_HASH(tables, tables_sha256) || !take_options(take, from, to) ||
        !MAY32(clock_ms, TAKE_MILLISECONDS_MAX) || !MAY32(increment_ms, TAKE_MILLISECONDS_MAX) ||
        !ASCII(engine_signature, 0))
        return false;
    if (to->node_limit == 0 && to->depth_limit == 0 && to->time_ms == 0 && to->clock_ms == 0)
        return take_refuse(take, "player %s has no limit of nodes, depth or time", side);
    return true;
}

static bool take_spec(struct take *take, const Kroo__Wire__ExperimentSpec *from, struct message_spec *to)
{
    if (from == NULL)
        return take_refuse(take, "spec is missing");
    if (!KNOWN("spec") || !MAY(experiment, BIG) ||
        !take_enum(take, "kind", from->has_kind, (int)from->kind, MESSAGE_TUNE) || !ASCII(rules, 1) ||
        !NEED(seed, 0, UINT64_MAX) || !MAY32(opening_plies, OPENING_PLIES_MAX) ||
        !MAY32(noise_ppm, NOISE_MAX) || !ASCII(engine_build, 0) || !MAY_HASH(book, book_sha256) ||
        !MAY_HASH(adjudication, adjudication_sha256) || !MAY32(resign_score, RESIGN_SCORE_MAX) ||
        !MAY32(resign_plies, RESIGN_PLIES_MAX) || !MAY32(resign_playout_ppm, NOISE_MAX) ||
        !MAY32(reference_speed, INTEGER))
        return false;
    to->kind = (enum message_experiment_kind)from->kind;
    to->with_scores = from->has_with_scores && from->with_scores;
    return take_player(take, "a", from->a, &to->a) && take_player(take, "b", from->b, &to->b);
}

static bool take_announcement(struct take *take, uint64_t announcement, int has, ProtobufCBinaryData sha256,
                              uint8_t out[MESSAGE_HASH])
{
    if (announcement > 0)
        return take_hash(take, "announced_sha256", has, sha256, out);
    if (has && sha256.len > 0)
        return take_refuse(take, "announced_sha256 without an announcement");
    return true;
}

static bool take_hello(struct take *take, const Kroo__Wire__Hello *from, struct message_hello *to)
{
    if (!KNOWN("HELLO") || !take_enum(take, "role", from->has_role, (int)from->role, MESSAGE_ROLE_CONTROL) ||
        !NEED32(protocol, 1, PROTOCOL_HIGHEST) || !NEED32(protocol_min, 1, PROTOCOL_HIGHEST) ||
        !take_name(take, "name", from->name, to->name) || !ASCII(engine_build, 0) ||
        !NEED(session_nonce, 0, UINT64_MAX) || !MAY32(slots, SLOTS_MAX) || !MAY32(credit, LEASE_PAIRS_MAX) ||
        !ASCII(tags, 0) || !BENCH(to->bench) || !ASCII(confinement, 0) || !ASCII(architecture, 0) ||
        !ASCII(compiler, 0) || !MAY(wall_ms, BIG))
        return false;
    char reason[160];
    if (!tags_check(to->tags, reason, sizeof reason))
        return take_refuse(take, "%s", reason);
    to->role = (enum message_role)from->role;
    if (to->protocol_min > to->protocol)
        return take_refuse(take, "protocol_min %u is above protocol %u", to->protocol_min, to->protocol);
    if (to->role == MESSAGE_ROLE_WORKER && to->engine_build[0] == '\0')
        return take_refuse(take, "engine_build is missing");
    return true;
}

static bool take_welcome(struct take *take, const Kroo__Wire__Welcome *from, struct message_welcome *to)
{
    to->scale_ppm = MESSAGE_SCALE_USUAL;
    return KNOWN("WELCOME") && NEED(session, 1, BIG) && NEED32(protocol, 1, PROTOCOL_HIGHEST) &&
           NEED32(progress_ms, 1, TAKE_MILLISECONDS_MAX) && NEED32(term_ms, 1, TAKE_MILLISECONDS_MAX) &&
           MAY(announcement, BIG) &&
           take_announcement(take, to->announcement, from->has_announced_sha256, from->announced_sha256,
                             to->announced) &&
           ASCII(engine_build, 0) && (!from->has_scale_ppm || NEED32(scale_ppm, 1, INTEGER));
}

static bool take_refused(struct take *take, const Kroo__Wire__Refused *from, struct message_refused *to)
{
    if (!KNOWN("REFUSED") ||
        !take_enum(take, "code", from->has_code, (int)from->code, MESSAGE_REFUSAL_BUSY) || !UTF8(text) ||
        !MAY32(retry_ms, TAKE_MILLISECONDS_MAX))
        return false;
    to->code = (enum message_refusal)from->code;
    return true;
}

static bool take_lease_request(struct take *take, const Kroo__Wire__LeaseRequest *from,
                               struct message_lease_request *to)
{
    return KNOWN("LEASE_REQUEST") && NEED32(pairs, 1, LEASE_PAIRS_MAX) && MAY32(pairs_per_minute, INTEGER) &&
           MAY32(work_ms, TAKE_MILLISECONDS_MAX) && BENCH(to->bench);
}

/* Ascending, without repeats, inside the range: a receiver can then walk it beside the pairs. */
static bool take_skip(struct take *take, const Kroo__Wire__LeaseGrant *from, struct message_lease_grant *to)
{
    if (!take_count(take, "skipped pairs", from->n_skip, 0, MESSAGE_SKIP_MAX))
        return false;
    for (size_t i = 0; i < from->n_skip; i++) {
        uint64_t pair = from->skip[i];
        bool inside = pair >= to->first_pair && pair - to->first_pair < to->pair_count;
        if (!inside || (i > 0 && pair <= from->skip[i - 1]))
            return take_refuse(take, "skipped pairs are not ascending inside the range");
    }
    if (from->n_skip == 0)
        return true;
    to->skip = take_memory(take, from->n_skip, sizeof *to->skip);
    if (to->skip == NULL)
        return false;
    memcpy(to->skip, from->skip, from->n_skip * sizeof *to->skip);
    to->skip_count = from->n_skip;
    return true;
}

static bool take_lease_grant(struct take *take, const Kroo__Wire__LeaseGrant *from,
                             struct message_lease_grant *to)
{
    if (!KNOWN("LEASE_GRANT") || !NEED(lease, 1, BIG) || !NEED32(attempt, 1, INTEGER) ||
        !NEED(first_pair, 0, PAIR_MAX) || !NEED32(pair_count, 1, LEASE_PAIRS_MAX) ||
        !NEED32(term_ms, 1, TAKE_MILLISECONDS_MAX) || !take_spec(take, from->spec, &to->spec) ||
        (from->has_scale_ppm && !NEED32(scale_ppm, 1, INTEGER)))
        return false;
    if (to->spec.experiment == 0)
        return take_refuse(take, "experiment is missing");
    to->measure = from->has_measure && from->measure;
    return take_skip(take, from, to);
}

static bool take_nothing(struct take *take, const Kroo__Wire__Nothing *from, struct message_nothing *to)
{
    to->measure = from->has_measure && from->measure;
    return KNOWN("NOTHING") && UTF8(because) && NEED32(retry_ms, 0, TAKE_MILLISECONDS_MAX);
}

static bool take_moves(struct take *take, const Kroo__Wire__GameResult *from, struct message_game *to)
{
    if (!from->has_moves)
        return take_refuse(take, "moves is missing");
    if (from->moves.len > MESSAGE_MOVES_MAX)
        return take_refuse(take, "%zu moves, at most %d", from->moves.len, MESSAGE_MOVES_MAX);
    if (!text_is_moves((const char *)from->moves.data, from->moves.len))
        return take_refuse(take, "moves hold a letter that is no house");
    size_t scores = from->has_scores ? from->scores.len : 0;
    if (scores != 0 && scores != 2 * from->moves.len)
        return take_refuse(take, "%zu bytes of scores for %zu moves", scores, from->moves.len);
    uint8_t *moves = NULL;
    if (!take_bytes(take, from->moves, &moves, &to->plies))
        return false;
    to->moves = (char *)moves;
    return scores == 0 || take_bytes(take, from->scores, &to->scores, &to->scores_size);
}

static bool take_game(struct take *take, const Kroo__Wire__GameResult *from, struct message_game *to)
{
    return KNOWN("game") && NEED(experiment, 1, BIG) && NEED(pair, 0, PAIR_MAX) && NEED32(leg, 0, 1) &&
           NEED(lease, 1, BIG) && NEED32(attempt, 1, INTEGER) && take_moves(take, from, to) &&
           ASCII(result, 1) && ASCII(reason, 1) && MAY(nodes, BIG) && MAY32(time_ms, INTEGER) &&
           HASH(weights_a, weights_a) && HASH(weights_b, weights_b) && ASCII(engine_build, 1) &&
           MAY_HASH(engine_a, engine_a) && MAY_HASH(engine_b, engine_b) && MAY_HASH(tables_a, tables_a) &&
           MAY_HASH(tables_b, tables_b) && MAY_HASH(options_a, options_a) && MAY_HASH(options_b, options_b) &&
           MAY32(core_us, UINT32_MAX) && UTF8(fault);
}

static bool take_results(struct take *take, const Kroo__Wire__Results *from, struct message_results *to)
{
    if (!KNOWN("RESULTS") || !NEED(batch, 0, UINT64_MAX) ||
        !take_count(take, "games", from->n_games, 1, MESSAGE_GAMES_MAX))
        return false;
    to->games = take_memory(take, from->n_games, sizeof *to->games);
    if (to->games == NULL)
        return false;
    to->game_count = from->n_games;
    for (size_t i = 0; i < from->n_games; i++)
        if (!take_game(take, from->games[i], &to->games[i]))
            return false;
    return true;
}

static bool take_answer(struct take *take, const Kroo__Wire__GameAnswer *from, struct message_game_answer *to)
{
    if (!KNOWN("answer") || !NEED(experiment, 1, BIG) || !NEED(pair, 0, PAIR_MAX) || !NEED32(leg, 0, 1) ||
        !take_enum(take, "verdict", from->has_verdict, (int)from->verdict, MESSAGE_GAME_REFUSED) ||
        !UTF8(text))
        return false;
    to->verdict = (enum message_game_verdict)from->verdict;
    return true;
}

static bool take_results_ack(struct take *take, const Kroo__Wire__ResultsAck *from,
                             struct message_results_ack *to)
{
    if (!KNOWN("RESULTS_ACK") || !NEED(batch, 0, UINT64_MAX) || !MAY32(accepted, MESSAGE_GAMES_MAX) ||
        !MAY32(duplicates, MESSAGE_GAMES_MAX) ||
        !take_count(take, "exceptions", from->n_exceptions, 0, MESSAGE_GAMES_MAX))
        return false;
    if (from->n_exceptions == 0)
        return true;
    to->exceptions = take_memory(take, from->n_exceptions, sizeof *to->exceptions);
    if (to->exceptions == NULL)
        return false;
    to->exception_count = from->n_exceptions;
    for (size_t i = 0; i < from->n_exceptions; i++)
        if (!take_answer(take, from->exceptions[i], &to->exceptions[i]))
            return false;
    return true;
}

static bool take_lease_progress(struct take *take, const Kroo__Wire__LeaseProgress *from,
                                struct message_lease_progress *to)
{
    return KNOWN("lease") && NEED(lease, 1, BIG) && MAY(plies, BIG) && MAY32(pairs_done, LEASE_PAIRS_MAX);
}

static bool take_progress(struct take *take, const Kroo__Wire__Progress *from, struct message_progress *to)
{
    if (!KNOWN("PROGRESS") || !take_count(take, "leases", from->n_leases, 0, MESSAGE_LEASES_MAX))
        return false;
    if (from->n_leases == 0)
        return true;
    to->leases = take_memory(take, from->n_leases, sizeof *to->leases);
    if (to->leases == NULL)
        return false;
    to->lease_count = from->n_leases;
    for (size_t i = 0; i < from->n_leases; i++)
        if (!take_lease_progress(take, from->leases[i], &to->leases[i]))
            return false;
    return true;
}

static bool take_progress_ack(struct take *take, const Kroo__Wire__ProgressAck *from,
                              struct message_progress_ack *to)
{
    return KNOWN("PROGRESS_ACK") &&
           take_list(take, "dropped leases", from->dropped, from->n_dropped, MESSAGE_LEASES_MAX, &to->dropped,
                     &to->dropped_count) &&
           MAY(announcement, BIG) &&
           take_announcement(take, to->announcement, from->has_announced_sha256, from->announced_sha256,
                             to->announced);
}

static bool take_fault(struct take *take, const Kroo__Wire__Fault *from, struct message_fault *to)
{
    if (from == NULL)
        return true;
    size_t moves = from->has_moves ? from->moves.len : 0;
    if (!KNOWN("fault") ||
        !take_enum(take, "fault kind", from->has_kind, (int)from->kind, MESSAGE_FAULT_UNSIGNED) ||
        !NEED(experiment, 1, BIG) || !MAY32(side, 2) || !MAY(pair, PAIR_MAX) || !MAY32(leg, 1) ||
        !MAY32(attempt, INTEGER))
        return false;
    if (moves >= sizeof to->moves || !text_is_moves((const char *)from->moves.data, moves))
        return take_refuse(take, "the moves of a fault are too many, or no letters of houses");
    to->kind = (enum message_fault_kind)from->kind;
    if (moves > 0)
        memcpy(to->moves, from->moves.data, moves);
    return true;
}

static bool take_release(struct take *take, const Kroo__Wire__Release *from, struct message_release *to)
{
    to->goodbye = from->has_goodbye && from->goodbye;
    return KNOWN("RELEASE") && UTF8(because) && take_fault(take, from->fault, &to->fault) &&
           take_list(take, "leases", from->leases, from->n_leases, MESSAGE_LEASES_MAX, &to->leases,
                     &to->lease_count);
}

static bool take_artifact_request(struct take *take, const Kroo__Wire__ArtifactRequest *from,
                                  struct message_artifact_request *to)
{
    return KNOWN("ARTIFACT_REQUEST") && HASH(sha256, sha256) && NEED(offset, 0, ARTIFACT_BYTES_MAX) &&
           NEED32(length, 1, MESSAGE_CHUNK_MAX);
}

static bool take_artifact_chunk(struct take *take, const Kroo__Wire__ArtifactChunk *from,
                                struct message_artifact_chunk *to)
{
    if (!KNOWN("ARTIFACT_CHUNK") || !HASH(sha256, sha256) || !NEED(size, 1, ARTIFACT_BYTES_MAX) ||
        !NEED(offset, 0, ARTIFACT_BYTES_MAX) ||
        !take_count(take, "bytes of content", from->has_content ? from->content.len : 0, 1,
                    MESSAGE_CHUNK_MAX))
        return false;
    if (to->offset + from->content.len > to->size)
        return take_refuse(take, "the chunk ends beyond the artifact");
    return take_bytes(take, from->content, &to->content, &to->content_size);
}

static bool take_seals_request(struct take *take, const Kroo__Wire__SealsRequest *from,
                               struct message_seals_request *to)
{
    return KNOWN("SEALS_REQUEST") && HASH(sha256, sha256);
}

static bool take_seal(struct take *take, const Kroo__Wire__Seal *from, struct seal *to)
{
    if (!KNOWN("seal") || !take_name(take, "name", from->name, to->name))
        return false;
    if (!from->has_key || from->key.len != SEAL_KEY || !from->has_signature ||
        from->signature.len != SEAL_SIGNATURE)
        return take_refuse(take, "a seal has a key of %d bytes and a signature of %d", SEAL_KEY,
                           SEAL_SIGNATURE);
    memcpy(to->key, from->key.data, SEAL_KEY);
    memcpy(to->signature, from->signature.data, SEAL_SIGNATURE);
    return true;
}

static bool take_seals(struct take *take, const Kroo__Wire__Seals *from, struct message_seals *to)
{
    if (!KNOWN("SEALS") || !HASH(sha256, sha256) || !take_count(take, "seals", from->n_seals, 0, SEALS_MAX))
        return false;
    if (from->n_seals == 0)
        return true;
    to->seals = take_memory(take, from->n_seals, sizeof *to->seals);
    if (to->seals == NULL)
        return false;
    to->seal_count = from->n_seals;
    for (size_t i = 0; i < from->n_seals; i++)
        if (!take_seal(take, from->seals[i], &to->seals[i]))
            return false;
    return true;
}

static bool take_sprt(struct take *take, const Kroo__Wire__Sprt *from, struct message_sprt *to)
{
#define FINITE(field, low, high)                                                                             \
    take_finite(take, #field, from->has_##field, from->field, (low), (high), &to->field)
    if (!KNOWN("sprt") || !ASCII(model, 1) || !FINITE(elo0, -ELO_MAX, ELO_MAX) ||
        !FINITE(elo1, -ELO_MAX, ELO_MAX) || !FINITE(alpha, 0, 1) || !FINITE(beta, 0, 1) ||
        !MAY32(batch, LEASE_PAIRS_MAX))
        return false;
#undef FINITE
    if (strcmp(to->model, "normalized") != 0 && strcmp(to->model, "logistic") != 0)
        return take_refuse(take, "model is neither normalized nor logistic");
    return true;
}

static bool take_create_experiment(struct take *take, const Kroo__Wire__CreateExperiment *from,
                                   struct message_create_experiment *to)
{
    to->has_sprt = from->sprt != NULL;
    to->priority = from->has_priority ? from->priority : 0;
    to->share = MESSAGE_SHARE_USUAL;
    return KNOWN("CREATE_EXPERIMENT") &&
           take_name(take, "idempotency_key", from->idempotency_key, to->idempotency_key) &&
           take_spec(take, from->spec, &to->spec) && NEED(pairs, 1, PAIRS_MAX) && UTF8(note) &&
           MAY_HASH(tune, tune_sha256) && MAY32(audit_ppm, NOISE_MAX) &&
           (!from->has_share || NEED32(share, 1, SHARE_MAX)) && MAY32(core_cap, INTEGER) && ASCII(tags, 0) &&
           UTF8(on_finish) && (!to->has_sprt || take_sprt(take, from->sprt, &to->sprt));
}

static bool take_stop_experiment(struct take *take, const Kroo__Wire__StopExperiment *from,
                                 struct message_stop_experiment *to)
{
    return KNOWN("STOP_EXPERIMENT") && NEED(experiment, 1, BIG) && UTF8(reason);
}

static bool take_control_experiment(struct take *take, const Kroo__Wire__ControlExperiment *from,
                                    struct message_control_experiment *to)
{
    to->verb = (enum message_verb)from->verb;
    to->priority = from->has_priority ? from->priority : 0;
    return KNOWN("CONTROL_EXPERIMENT") && ASCII(tournament, 0) &&
           (to->tournament[0] ? MAY(experiment, 0) : NEED(experiment, 1, BIG)) &&
           take_enum(take, "verb", from->has_verb, (int)from->verb, MESSAGE_VERB_REJECT) && UTF8(text);
}

static bool take_promote_weights(struct take *take, const Kroo__Wire__PromoteWeights *from,
                                 struct message_promote_weights *to)
{
    return KNOWN("PROMOTE_WEIGHTS") && HASH(sha256, sha256) &&
           take_name(take, "line", from->line, to->line) && MAY(experiment, BIG) && UTF8(reason);
}

static bool take_control_done(struct take *take, const Kroo__Wire__ControlDone *from,
                              struct message_control_done *to)
{
    to->existed = from->has_existed && from->existed;
    return KNOWN("CONTROL_DONE") && MAY(experiment, BIG) && UTF8(text);
}

static bool take_status_request(struct take *take, const Kroo__Wire__StatusRequest *from,
                                struct message_status_request *to)
{
    return KNOWN("STATUS_REQUEST") && ASCII(worker, 0) && MAY32(skip, INTEGER) && MAY(waits_from, BIG);
}

static bool take_status_reply(struct take *take, const Kroo__Wire__StatusReply *from,
                              struct message_status_reply *to)
{
    return KNOWN("STATUS_REPLY") && take_document(take, "json", from->json, &to->json);
}

/* `kind` is set before the body is taken, so that message_done frees what a refused one already holds. */
#define CASE(UPPER, name)                                                                                    \
    case KROO__WIRE__ENVELOPE__BODY_##UPPER:                                                                 \
        out->kind = MESSAGE_##UPPER;                                                                         \
        return take_##name(take, from->name, &out->name)

static bool take_body(struct take *take, const Kroo__Wire__Envelope *from, struct message *out)
{
    switch (from->body_case) {
        CASE(HELLO, hello);
        CASE(WELCOME, welcome);
        CASE(REFUSED, refused);
        CASE(LEASE_REQUEST, lease_request);
        CASE(LEASE_GRANT, lease_grant);
        CASE(NOTHING, nothing);
        CASE(RESULTS, results);
        CASE(RESULTS_ACK, results_ack);
        CASE(PROGRESS, progress);
        CASE(PROGRESS_ACK, progress_ack);
        CASE(RELEASE, release);
        CASE(ARTIFACT_REQUEST, artifact_request);
        CASE(ARTIFACT_CHUNK, artifact_chunk);
        CASE(CREATE_EXPERIMENT, create_experiment);
        CASE(STOP_EXPERIMENT, stop_experiment);
        CASE(PROMOTE_WEIGHTS, promote_weights);
        CASE(CONTROL_DONE, control_done);
        CASE(STATUS_REQUEST, status_request);
        CASE(STATUS_REPLY, status_reply);
        CASE(CONTROL_EXPERIMENT, control_experiment);
        CASE(SEALS_REQUEST, seals_request);
        CASE(SEALS, seals);
    case KROO__WIRE__ENVELOPE__BODY_RELEASE_ACK:
        out->kind = MESSAGE_RELEASE_ACK;
        return take_known(take, "RELEASE_ACK", &from->release_ack->base);
    default:
        return take_refuse(take, "no body, or a kind of message this version does not know");
    }
}

int message_decode_within(const void *bytes, size_t size, size_t memory, struct message *out, char *reason,
                          size_t reason_size)
{
    struct take take;
    take_init(&take, memory, reason, reason_size);
    memset(out, 0, sizeof *out);
    if (size == 0 || size > MESSAGE_BYTES_MAX) {
        take_refuse(&take, "a frame of %zu bytes, not 1..%d", size, MESSAGE_BYTES_MAX);
        return -1;
    }
    Kroo__Wire__Envelope *envelope = kroo__wire__envelope__unpack(&take.allocator, size, bytes);
    if (envelope == NULL) {
        take_refuse(&take, "not a message, or it takes more memory than one message may");
        return -1;
    }
    uint64_t request = envelope->has_request ? envelope->request : 0;
    bool taken = take_known(&take, "envelope", &envelope->base) && take_body(&take, envelope, out);
    kroo__wire__envelope__free_unpacked(envelope, &take.allocator);
    if (!taken)
        message_done(out);
    out->request = request;
    return taken ? 0 : -1;
}

int message_decode(const void *bytes, size_t size, struct message *out, char *reason, size_t reason_size)
{
    return message_decode_within(bytes, size, MESSAGE_MEMORY_MAX, out, reason, reason_size);
}

int message_game_decode(const void *bytes, size_t size, struct message_game *out, char *reason,
                        size_t reason_size)
{
    struct take take;
    take_init(&take, MESSAGE_MEMORY_MAX, reason, reason_size);
    memset(out, 0, sizeof *out);
    if (size == 0 || size > MESSAGE_BYTES_MAX) {
        take_refuse(&take, "a game of %zu bytes, not 1..%d", size, MESSAGE_BYTES_MAX);
        return -1;
    }
    Kroo__Wire__GameResult *wire = kroo__wire__game_result__unpack(&take.allocator, size, bytes);
    if (wire == NULL) {
        take_refuse(&take, "not a game");
        return -1;
    }
    bool taken = take_game(&take, wire, out);
    kroo__wire__game_result__free_unpacked(wire, &take.allocator);
    if (!taken)
        message_game_done(out);
    return taken ? 0 : -1;
}
