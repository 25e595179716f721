/* One message of each kind with every field set, for round trips, golden files and seeds of the fuzzers. */
#ifndef KROO_TESTS_PROTO_SAMPLES_H
#define KROO_TESTS_PROTO_SAMPLES_H

#include <stdint.h>
#include <string.h>

#include "proto/message.h"

static inline void sample_hash(uint8_t hash[MESSAGE_HASH], unsigned seed)
{
    for (unsigned i = 0; i < MESSAGE_HASH; i++)
        hash[i] = (uint8_t)(seed * 37 + i * 11 + 1);
}

static inline void sample_player(struct message_player *player, unsigned seed)
{
    sample_hash(player->weights, seed);
    player->node_limit = 1000 + seed;
    player->depth_limit = 12;
    player->time_ms = 250;
    player->hash_kib = 4096;
}

static inline void sample_spec(struct message_spec *spec)
{
    spec->experiment = 42;
    spec->kind = MESSAGE_MATCH;
    strcpy(spec->rules, "site,repetitions=2");
    spec->seed = UINT64_C(0xfedcba9876543210);
    spec->opening_plies = 8;
    spec->noise_ppm = 50000;
    sample_player(&spec->a, 1);
    sample_player(&spec->b, 2);
    spec->with_scores = true;
    strcpy(spec->engine_build, "kroo-engine 1 0123456789ab");
}

static inline struct message_game sample_game(unsigned leg)
{
    static char moves[] = "FcEbDa";
    static uint8_t scores[] = {1, 0, 255, 255, 2, 0, 254, 255, 100, 0, 156, 255};
    struct message_game game = {.experiment = 42, .pair = 1000, .leg = leg, .lease = 7, .attempt = 2};
    game.moves = moves;
    game.plies = 6;
    game.scores = leg == 0 ? scores : NULL;
    game.scores_size = leg == 0 ? sizeof scores : 0;
    strcpy(game.result, "south");
    strcpy(game.reason, "majority");
    game.nodes = 6000;
    game.time_ms = 17;
    sample_hash(game.weights_a, 1);
    sample_hash(game.weights_b, 2);
    strcpy(game.engine_build, "kroo-engine 1 0123456789ab");
    return game;
}

static inline void sample_worker_side(struct message *message)
{
    static struct message_game games[2];
    static struct message_lease_progress progress[2] = {{7, 1234, 5}, {8, 0, 0}};
    static uint64_t leases[2] = {7, 8};
    switch (message->kind) {
    case MESSAGE_HELLO:
        message->hello = (struct message_hello){.role = MESSAGE_ROLE_WORKER,
                                                .protocol = 1,
                                                .protocol_min = 1,
                                                .name = "worker-1.lab",
                                                .engine_build = "kroo-engine 1 abc",
                                                .session_nonce = 99,
                                                .slots = 2,
                                                .credit = 64};
        break;
    case MESSAGE_LEASE_REQUEST:
        message->lease_request = (struct message_lease_request){.pairs = 32, .pairs_per_minute = 600};
        break;
    case MESSAGE_RESULTS:
        games[0] = sample_game(0);
        games[1] = sample_game(1);
        message->results = (struct message_results){5, games, 2};
        break;
    case MESSAGE_PROGRESS:
        message->progress = (struct message_progress){progress, 2};
        break;
    case MESSAGE_RELEASE:
        message->release = (struct message_release){.leases = leases, .lease_count = 2, .goodbye = true};
        break;
    default:
        sample_hash(message->artifact_request.sha256, 3);
        message->artifact_request.offset = 131072;
        message->artifact_request.length = MESSAGE_CHUNK_MAX;
        break;
    }
}

static inline void sample_answer(struct message *message)
{
    static uint64_t skip[3] = {1001, 1002, 1031}, dropped[2] = {3, 4};
    static struct message_game_answer exceptions[2] = {
        {42, 1000, 0, MESSAGE_GAME_CONFLICT, "another game has this key"},
        {42, 1000, 1, MESSAGE_GAME_REFUSED, "ply 3: `x` is no legal move"}};
    static uint8_t content[5] = {1, 2, 0, 254, 255};
    switch (message->kind) {
    case MESSAGE_WELCOME:
        message->welcome = (struct message_welcome){.session = 11,
                                                    .protocol = 1,
                                                    .progress_ms = 5000,
                                                    .term_ms = 60000,
                                                    .announcement = 3,
                                                    .engine_build = "kroo-engine 1 abc",
                                                    .scale_ppm = MESSAGE_SCALE_USUAL};
        sample_hash(message->welcome.announced, 4);
        break;
    case MESSAGE_REFUSED:
        message->refused =
            (struct message_refused){MESSAGE_REFUSAL_UNAVAILABLE, "the database is away – come back", 2000};
        break;
    case MESSAGE_LEASE_GRANT:
        message->lease_grant = (struct message_lease_grant){.lease = 7,
                                                            .attempt = 2,
                                                            .first_pair = 1000,
                                                            .pair_count = 32,
                                                            .term_ms = 60000,
                                                            .skip = skip,
                                                            .skip_count = 3};
        sample_spec(&message->lease_grant.spec);
        break;
    case MESSAGE_NOTHING:
        message->nothing = (struct message_nothing){"no experiment is open", 1500, false};
        break;
    case MESSAGE_RESULTS_ACK:
        message->results_ack = (struct message_results_ack){5, 20, 3, exceptions, 2};
        break;
    case MESSAGE_PROGRESS_ACK:
        message->progress_ack = (struct message_progress_ack){dropped, 2, 3, {0}};
        sample_hash(message->progress_ack.announced, 4);
        break;
    case MESSAGE_ARTIFACT_CHUNK:
        sample_hash(message->artifact_chunk.sha256, 3);
        message->artifact_chunk.offset = 131072;
        message->artifact_chunk.size = 131077;
        message->artifact_chunk.content = content;
        message->artifact_chunk.content_size = sizeof content;
        break;
    default: /* RELEASE_ACK has no fields */
        break;
    }
}

static inline void sample_control(struct message *message)
{
    static char json[] = "{\"sessions\":[],\n\t\"leases\":0}";
    switch (message->kind) {
    case MESSAGE_CREATE_EXPERIMENT:
        strcpy(message->create_experiment.idempotency_key, "k-1");
        sample_spec(&message->create_experiment.spec);
        message->create_experiment.spec.experiment = 0;
        message->create_experiment.pairs = 5000;
        message->create_experiment.has_sprt = true;
        message->create_experiment.sprt = (struct message_sprt){"normalized", -1.5, 3.25, 0.05, 0.1, 16};
        message->create_experiment.priority = -3;
        strcpy(message->create_experiment.note, "größer ist besser");
        break;
    case MESSAGE_STOP_EXPERIMENT:
        message->stop_experiment = (struct message_stop_experiment){42, "by hand"};
        break;
    case MESSAGE_CONTROL_EXPERIMENT:
        message->control_experiment =
            (struct message_control_experiment){42, MESSAGE_VERB_PRIORITY, -7, "it must wait", ""};
        break;
    case MESSAGE_PROMOTE_WEIGHTS:
        sample_hash(message->promote_weights.sha256, 2);
        strcpy(message->promote_weights.line, "main");
        message->promote_weights.experiment = 42;
        strcpy(message->promote_weights.reason, "accepted");
        break;
    case MESSAGE_CONTROL_DONE:
        message->control_done = (struct message_control_done){43, "made", true};
        break;
    case MESSAGE_STATUS_REPLY:
        message->status_reply.json = json;
        break;
    default: /* STATUS_REQUEST has no fields */
        break;
    }
}

static inline void sample_seals(struct message *message)
{
    static struct seal seals[2] = {{.name = "release-1"}, {.name = "today"}};
    sample_hash(message->kind == MESSAGE_SEALS ? message->seals.sha256 : message->seals_request.sha256, 5);
    for (unsigned i = 0; i < 2 && message->kind == MESSAGE_SEALS; i++) {
        sample_hash(seals[i].key, 6 + i);
        sample_hash(seals[i].signature, 8 + i);
        sample_hash(seals[i].signature + MESSAGE_HASH, 10 + i);
        message->seals.seals = seals;
        message->seals.seal_count = 2;
    }
}

/* Borrows static memory: not for message_done. */
static inline struct message sample_message(enum message_kind kind)
{
    struct message message = {.request = 77, .kind = kind};
    switch (kind) {
    case MESSAGE_HELLO:
    case MESSAGE_LEASE_REQUEST:
    case MESSAGE_RESULTS:
    case MESSAGE_PROGRESS:
    case MESSAGE_RELEASE:
    case MESSAGE_ARTIFACT_REQUEST:
        sample_worker_side(&message);
        break;
    case MESSAGE_WELCOME:
    case MESSAGE_REFUSED:
    case MESSAGE_LEASE_GRANT:
    case MESSAGE_NOTHING:
    case MESSAGE_RESULTS_ACK:
    case MESSAGE_PROGRESS_ACK:
    case MESSAGE_RELEASE_ACK:
    case MESSAGE_ARTIFACT_CHUNK:
        sample_answer(&message);
        break;
    case MESSAGE_SEALS_REQUEST:
    case MESSAGE_SEALS:
        sample_seals(&message);
        break;
    default:
        sample_control(&message);
        break;
    }
    return message;
}

#endif
