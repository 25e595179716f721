/* Messages: round trips, golden bytes, and a refusal for everything out of range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/message_wire.h"
#include "tests/unit/proto/samples.h"

#define VECTORS "tests/vectors/proto/v1"

struct frame {
    uint8_t *bytes;
    size_t size;
};

static struct frame encode(const struct message *message)
{
    struct frame frame = {NULL, 0};
    void *bytes = NULL;
    if (message_encode(message, &bytes, &frame.size) != 0)
        fail_msg("%s cannot be encoded", message_kind_name(message->kind));
    frame.bytes = bytes;
    return frame;
}

static struct frame read_vector(enum message_kind kind)
{
    char path[128];
    (void)snprintf(path, sizeof path, VECTORS "/%s.bin", message_kind_name(kind));
    struct frame frame = {malloc(MESSAGE_BYTES_MAX), 0};
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s is not there", path);
    frame.size = fread(frame.bytes, 1, MESSAGE_BYTES_MAX, file);
    (void)fclose(file);
    return frame;
}

/* KROO_WRITE_VECTORS=1 writes the golden bytes of a new version; they are never rewritten for an old one. */
static void write_vector(enum message_kind kind, struct frame frame)
{
    char path[128];
    (void)snprintf(path, sizeof path, VECTORS "/%s.bin", message_kind_name(kind));
    FILE *file = fopen(path, "wbx");
    if (file == NULL)
        return;
    assert_int_equal(fwrite(frame.bytes, 1, frame.size, file), frame.size);
    assert_int_equal(fclose(file), 0);
}

static void assert_decodes(struct frame frame, struct message *out)
{
    char reason[256] = "";
    if (message_decode(frame.bytes, frame.size, out, reason, sizeof reason) != 0)
        fail_msg("refused: %s", reason);
}

static void assert_refused(const struct message *message, const char *because)
{
    struct frame frame = encode(message);
    struct message out;
    char reason[256] = "";
    if (message_decode(frame.bytes, frame.size, &out, reason, sizeof reason) == 0)
        fail_msg("%s was taken, expected a refusal because of %s", message_kind_name(message->kind), because);
    if (strstr(reason, because) == NULL)
        fail_msg("refused because '%s', expected '%s'", reason, because);
    assert_int_equal(out.kind, MESSAGE_NONE);
    assert_int_equal(out.request, message->request);
    free(frame.bytes);
}

static void test_every_kind_keeps_its_bytes(void **state)
{
    (void)state;
    for (enum message_kind kind = MESSAGE_HELLO; kind < MESSAGE_KINDS; kind++) {
        struct message message = sample_message(kind), back;
        struct frame first = encode(&message);
        if (getenv("KROO_WRITE_VECTORS") != NULL)
            write_vector(kind, first);
        struct frame golden = read_vector(kind);
        assert_int_equal(golden.size, first.size);
        assert_memory_equal(golden.bytes, first.bytes, first.size);
        assert_decodes(golden, &back);
        assert_int_equal(back.kind, kind);
        assert_int_equal(back.request, 77);
        struct frame second = encode(&back);
        assert_int_equal(second.size, first.size);
        assert_memory_equal(second.bytes, first.bytes, first.size);
        message_done(&back);
        free(first.bytes);
        free(second.bytes);
        free(golden.bytes);
    }
}

static void test_fields_arrive(void **state)
{
    (void)state;
    struct message message;
    struct frame frame = read_vector(MESSAGE_LEASE_GRANT);
    assert_decodes(frame, &message);
    const struct message_lease_grant *grant = &message.lease_grant;
    assert_int_equal(grant->first_pair, 1000);
    assert_int_equal(grant->pair_count, 32);
    assert_int_equal(grant->skip_count, 3);
    assert_int_equal(grant->skip[2], 1031);
    assert_int_equal(grant->spec.kind, MESSAGE_MATCH);
    assert_string_equal(grant->spec.rules, "site,repetitions=2");
    assert_true(grant->spec.seed == UINT64_C(0xfedcba9876543210));
    assert_int_equal(grant->spec.b.node_limit, 1002);
    assert_true(grant->spec.with_scores);
    message_done(&message);
    free(frame.bytes);

    frame = read_vector(MESSAGE_RESULTS);
    assert_decodes(frame, &message);
    assert_int_equal(message.results.game_count, 2);
    assert_string_equal(message.results.games[0].moves, "FcEbDa");
    assert_int_equal(message.results.games[0].scores_size, 12);
    assert_null(message.results.games[1].scores);
    assert_int_equal(message.results.games[1].leg, 1);
    message_done(&message);
    free(frame.bytes);

    frame = read_vector(MESSAGE_CREATE_EXPERIMENT);
    assert_decodes(frame, &message);
    assert_true(message.create_experiment.sprt.elo0 == -1.5);
    assert_int_equal(message.create_experiment.priority, -3);
    assert_string_equal(message.create_experiment.note, "größer ist besser");
    message_done(&message);
    free(frame.bytes);
}

/* What came later than the golden bytes of version 1: absent there, and whole here. */
static void test_engines_and_tables_arrive(void **state)
{
    (void)state;
    struct message message = sample_message(MESSAGE_LEASE_GRANT), back;
    struct message_player *a = &message.lease_grant.spec.a;
    sample_hash(a->engine, 5);
    sample_hash(a->tables, 6);
    strcpy(a->options, "Level=Master\nName With Blanks=größer = besser\nEmpty=");
    a->clock_ms = 10000;
    a->increment_ms = 50;
    struct frame frame = encode(&message);
    assert_decodes(frame, &back);
    assert_memory_equal(back.lease_grant.spec.a.engine, a->engine, MESSAGE_HASH);
    assert_memory_equal(back.lease_grant.spec.a.tables, a->tables, MESSAGE_HASH);
    assert_string_equal(back.lease_grant.spec.a.options, a->options);
    assert_true(message_hash_is_none(back.lease_grant.spec.b.engine));
    assert_string_equal(back.lease_grant.spec.b.options, "");
    assert_int_equal(back.lease_grant.spec.a.clock_ms, 10000);
    assert_int_equal(back.lease_grant.spec.a.increment_ms, 50);
    assert_int_equal(back.lease_grant.spec.b.clock_ms, 0);
    message_done(&back);
    free(frame.bytes);

    message = sample_message(MESSAGE_RESULTS);
    sample_hash(message.results.games[0].engine_b, 7);
    sample_hash(message.results.games[1].tables_a, 8);
    frame = encode(&message);
    assert_decodes(frame, &back);
    assert_memory_equal(back.results.games[0].engine_b, message.results.games[0].engine_b, MESSAGE_HASH);
    assert_true(message_hash_is_none(back.results.games[0].engine_a));
    assert_memory_equal(back.results.games[1].tables_a, message.results.games[1].tables_a, MESSAGE_HASH);
    message_done(&back);
    free(frame.bytes);

    message = sample_message(MESSAGE_RELEASE);
    strcpy(message.release.because, "player a: it exited with status 9");
    frame = encode(&message);
    assert_decodes(frame, &back);
    assert_string_equal(back.release.because, message.release.because);
    message_done(&back);
    free(frame.bytes);
}

static void test_faults_arrive(void **state)
{
    (void)state;
    struct message message = sample_message(MESSAGE_RELEASE), back;
    message.release.fault = (struct message_fault){MESSAGE_FAULT_START, 42, 1, 1000, 1, 2, "FcEbDa"};
    struct frame frame = encode(&message);
    assert_decodes(frame, &back);
    assert_int_equal(back.release.fault.kind, MESSAGE_FAULT_START);
    assert_int_equal(back.release.fault.experiment, 42);
    assert_int_equal(back.release.fault.side, 1);
    assert_int_equal(back.release.fault.pair, 1000);
    assert_int_equal(back.release.fault.leg, 1);
    assert_int_equal(back.release.fault.attempt, 2);
    assert_string_equal(back.release.fault.moves, "FcEbDa");
    message_done(&back);
    free(frame.bytes);

    message = sample_message(MESSAGE_RESULTS);
    strcpy(message.results.games[1].fault, "it exited with status 9");
    frame = encode(&message);
    assert_decodes(frame, &back);
    assert_string_equal(back.results.games[0].fault, "");
    assert_string_equal(back.results.games[1].fault, "it exited with status 9");
    message_done(&back);
    free(frame.bytes);

    message = sample_message(MESSAGE_HELLO);
    strcpy(message.hello.confinement, "namespaces");
    frame = encode(&message);
    assert_decodes(frame, &back);
    assert_string_equal(back.hello.confinement, "namespaces");
    message_done(&back);
    free(frame.bytes);
}

static void test_terms_of_an_experiment_arrive(void **state)
{
    (void)state;
    struct message message = sample_message(MESSAGE_CREATE_EXPERIMENT), back;
    struct message_create_experiment *create = &message.create_experiment;
    struct frame bare = encode(&message);
    assert_decodes(bare, &back);
    assert_int_equal(back.create_experiment.share, MESSAGE_SHARE_USUAL);
    assert_true(message_hash_is_none(back.create_experiment.spec.book));
    message_done(&back);
    free(bare.bytes);
    create->spec.kind = MESSAGE_TUNE;
    sample_hash(create->spec.book, 9);
    sample_hash(create->spec.adjudication, 10);
    sample_hash(create->tune, 11);
    create->spec.resign_score = 900;
    create->spec.resign_plies = 4;
    create->spec.resign_playout_ppm = 100000;
    create->spec.reference_speed = 2500000;
    create->audit_ppm = 20000;
    create->share = 7;
    create->core_cap = 12;
    strcpy(create->tags, "fast,x86_64");
    strcpy(create->on_finish, "tell größer");
    struct frame frame = encode(&message);
    assert_decodes(frame, &back);
    const struct message_create_experiment *there = &back.create_experiment;
    assert_int_equal(there->spec.kind, MESSAGE_TUNE);
    assert_memory_equal(there->spec.book, create->spec.book, MESSAGE_HASH);
    assert_memory_equal(there->spec.adjudication, create->spec.adjudication, MESSAGE_HASH);
    assert_memory_equal(there->tune, create->tune, MESSAGE_HASH);
    assert_int_equal(there->spec.resign_score, 900);
    assert_int_equal(there->spec.resign_plies, 4);
    assert_int_equal(there->spec.resign_playout_ppm, 100000);
    assert_int_equal(there->spec.reference_speed, 2500000);
    assert_int_equal(there->audit_ppm, 20000);
    assert_int_equal(there->share, 7);
    assert_int_equal(there->core_cap, 12);
    assert_string_equal(there->tags, create->tags);
    assert_string_equal(there->on_finish, create->on_finish);
    message_done(&back);
    free(frame.bytes);
}

static void test_speeds_and_tags_arrive(void **state)
{
    (void)state;
    struct message hello = sample_message(MESSAGE_HELLO), back;
    strcpy(hello.hello.tags, "arch=x86_64,gpu");
    hello.hello.bench.speed = 1234567;
    hello.hello.bench.spread_ppm = 20000;
    hello.hello.bench.load_ppm = 500000;
    hello.hello.bench.measured_ms = 61000;
    struct frame frame = encode(&hello);
    assert_decodes(frame, &back);
    assert_string_equal(back.hello.tags, "arch=x86_64,gpu");
    assert_true(back.hello.bench.speed == 1234567 && back.hello.bench.spread_ppm == 20000 &&
                back.hello.bench.load_ppm == 500000 && back.hello.bench.measured_ms == 61000);
    message_done(&back);
    free(frame.bytes);
    struct message welcome = sample_message(MESSAGE_WELCOME);
    welcome.welcome.scale_ppm = 1500000;
    frame = encode(&welcome);
    assert_decodes(frame, &back);
    assert_int_equal(back.welcome.scale_ppm, 1500000);
    message_done(&back);
    free(frame.bytes);
    struct message request = sample_message(MESSAGE_LEASE_REQUEST);
    request.lease_request.work_ms = 1700;
    request.lease_request.bench = (struct message_bench){2900000, 20000, 500000, 7000};
    frame = encode(&request);
    assert_decodes(frame, &back);
    assert_int_equal(back.lease_request.work_ms, 1700);
    assert_memory_equal(&back.lease_request.bench, &request.lease_request.bench,
                        sizeof(struct message_bench));
    message_done(&back);
    free(frame.bytes);
    struct message nothing = sample_message(MESSAGE_NOTHING);
    nothing.nothing.measure = true;
    frame = encode(&nothing);
    assert_decodes(frame, &back);
    assert_true(back.nothing.measure);
    message_done(&back);
    free(frame.bytes);
    struct message grant = sample_message(MESSAGE_LEASE_GRANT);
    grant.lease_grant.scale_ppm = 1234567;
    grant.lease_grant.measure = true;
    frame = encode(&grant);
    assert_decodes(frame, &back);
    assert_true(back.lease_grant.scale_ppm == 1234567 && back.lease_grant.measure);
    message_done(&back);
    free(frame.bytes);
    struct message results = sample_message(MESSAGE_RESULTS);
    results.results.games[1].core_us = UINT32_MAX;
    frame = encode(&results);
    assert_decodes(frame, &back);
    assert_true(back.results.games[0].core_us == 0 && back.results.games[1].core_us == UINT32_MAX);
    message_done(&back);
    free(frame.bytes);
    results.results.games[1].core_us = 0;
}

/* --- one wrong field a time --- */

/* A fresh sample with one field changed must be refused for `because`. */
#define REFUSED(kind, change, because)                                                                       \
    do {                                                                                                     \
        struct message m = sample_message(kind);                                                             \
        change;                                                                                              \
        assert_refused(&m, because);                                                                         \
    } while (0)

static void test_hello_refusals(void **state)
{
    (void)state;
    REFUSED(MESSAGE_HELLO, m.hello.role = 0, "role");
    REFUSED(MESSAGE_HELLO, m.hello.role = 99, "role is 99");
    REFUSED(MESSAGE_HELLO, m.hello.protocol = 0, "protocol");
    REFUSED(MESSAGE_HELLO, m.hello.protocol_min = 2, "protocol_min 2 is above");
    REFUSED(MESSAGE_HELLO, m.hello.slots = 5000, "slots");
    REFUSED(MESSAGE_HELLO, m.hello.credit = 2000000, "credit");
    REFUSED(MESSAGE_HELLO, m.hello.engine_build[0] = '\0', "engine_build is missing");
    REFUSED(MESSAGE_HELLO, m.hello.engine_build[3] = '\n', "engine_build is not printable");
    static const char *const names[] = {"",     "a b",      "a/b", "..",   ".hidden",
                                        "a\nb", "\xc3\xa9", "a;b", "-\x7f"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        REFUSED(MESSAGE_HELLO, strcpy(m.hello.name, names[i]), "name");
    REFUSED(MESSAGE_HELLO, strcpy(m.hello.tags, "cpu~avx2"), "`cpu~avx2` is no tag");
    struct message far = sample_message(MESSAGE_HELLO), back;
    far.hello.protocol = 900; /* a later version must be readable, so that it can be answered */
    struct frame frame = encode(&far);
    assert_decodes(frame, &back);
    message_done(&back);
    free(frame.bytes);
}

static void test_answer_refusals(void **state)
{
    (void)state;
    REFUSED(MESSAGE_WELCOME, m.welcome.session = 0, "session");
    REFUSED(MESSAGE_WELCOME, m.welcome.progress_ms = 0, "progress_ms");
    REFUSED(MESSAGE_WELCOME, m.welcome.term_ms = 0, "term_ms");
    REFUSED(MESSAGE_WELCOME, m.welcome.session = UINT64_MAX, "session");
    REFUSED(MESSAGE_REFUSED, m.refused.code = 9, "code is 9");
    REFUSED(MESSAGE_REFUSED, m.refused.code = (enum message_refusal) - 1, "code");
    REFUSED(MESSAGE_NOTHING, m.nothing.retry_ms = UINT32_MAX, "retry_ms");
    REFUSED(MESSAGE_RESULTS_ACK, m.results_ack.exceptions[0].verdict = 5, "verdict is 5");
    REFUSED(MESSAGE_RESULTS_ACK, m.results_ack.exceptions[0].verdict = 0, "verdict is 0");
}

static void test_grant_refusals(void **state)
{
    (void)state;
    REFUSED(MESSAGE_LEASE_REQUEST, m.lease_request.pairs = 0, "pairs");
    REFUSED(MESSAGE_LEASE_GRANT, m.lease_grant.lease = 0, "lease");
    REFUSED(MESSAGE_LEASE_GRANT, m.lease_grant.attempt = 0, "attempt");
    REFUSED(MESSAGE_LEASE_GRANT, m.lease_grant.pair_count = 0, "pair_count");
    REFUSED(MESSAGE_LEASE_GRANT, m.lease_grant.first_pair = UINT64_MAX, "first_pair");
    REFUSED(MESSAGE_LEASE_GRANT, m.lease_grant.spec.experiment = 0, "experiment");
    REFUSED(MESSAGE_LEASE_GRANT, m.lease_grant.spec.kind = 4, "kind is 4");
    REFUSED(MESSAGE_LEASE_GRANT, m.lease_grant.spec.rules[0] = '\0', "rules");
    REFUSED(MESSAGE_LEASE_GRANT, m.lease_grant.spec.noise_ppm = 1000001, "noise_ppm");
    REFUSED(MESSAGE_LEASE_GRANT, m.lease_grant.spec.opening_plies = 1001, "opening_plies");
    REFUSED(MESSAGE_LEASE_GRANT,
            (m.lease_grant.spec.b.node_limit = 0, m.lease_grant.spec.b.depth_limit = 0,
             m.lease_grant.spec.b.time_ms = 0),
            "player b has no limit");
    REFUSED(MESSAGE_LEASE_GRANT, strcpy(m.lease_grant.spec.a.options, "Name"), "Name=Value");
    REFUSED(MESSAGE_LEASE_GRANT, strcpy(m.lease_grant.spec.a.options, "=x"), "Name=Value");
    REFUSED(MESSAGE_LEASE_GRANT, strcpy(m.lease_grant.spec.a.options, "A =x"), "blank beside its name");
    REFUSED(MESSAGE_LEASE_GRANT, strcpy(m.lease_grant.spec.a.options, "A=\tx"), "UTF-8");
    REFUSED(MESSAGE_LEASE_GRANT, (void)memset(strcpy(m.lease_grant.spec.a.options, "A=") + 2, 'x', 300),
            "at most 255");
    static uint64_t outside[] = {1032}, below[] = {999}, twice[] = {1001, 1001}, falling[] = {1002, 1001};
    static uint64_t many[MESSAGE_SKIP_MAX + 1];
    REFUSED(MESSAGE_LEASE_GRANT, (m.lease_grant.skip = outside, m.lease_grant.skip_count = 1), "ascending");
    REFUSED(MESSAGE_LEASE_GRANT, (m.lease_grant.skip = below, m.lease_grant.skip_count = 1), "ascending");
    REFUSED(MESSAGE_LEASE_GRANT, (m.lease_grant.skip = twice, m.lease_grant.skip_count = 2), "ascending");
    REFUSED(MESSAGE_LEASE_GRANT, (m.lease_grant.skip = falling, m.lease_grant.skip_count = 2), "ascending");
    REFUSED(MESSAGE_LEASE_GRANT, (m.lease_grant.skip = many, m.lease_grant.skip_count = MESSAGE_SKIP_MAX + 1),
            "4097 skipped pairs");
}

static void test_game_refusals(void **state)
{
    (void)state;
    static char moves[MESSAGE_MOVES_MAX + 2];
#define GAME(change, because)                                                                                \
    REFUSED(MESSAGE_RESULTS, struct message_game *g = &m.results.games[1]; change, because)
    GAME(g->experiment = 0, "experiment");
    GAME(g->pair = UINT64_MAX, "pair");
    GAME(g->leg = 2, "leg is 2");
    GAME(g->lease = 0, "lease");
    GAME(g->attempt = 0, "attempt");
    GAME(g->attempt = UINT32_MAX, "attempt");
    GAME((g->moves = (char *)(uintptr_t) "FcG", g->plies = 3), "no house");
    GAME((g->moves = (char *)(uintptr_t) "Fc E", g->plies = 4), "no house");
    GAME((g->moves = (char *)(uintptr_t) "F\0c", g->plies = 3), "no house");
    GAME((g->scores = m.results.games[0].scores, g->scores_size = 11), "11 bytes of scores for 6 moves");
    GAME((g->scores = m.results.games[0].scores, g->scores_size = 6), "6 bytes of scores for 6 moves");
    GAME((memset(moves, 'A', sizeof moves), g->moves = moves, g->plies = MESSAGE_MOVES_MAX + 1),
         "16385 moves");
    GAME(g->result[0] = '\0', "result");
    GAME(g->reason[0] = '\0', "reason");
    GAME(strcpy(g->reason, "a\tb"), "reason is not printable");
    GAME(g->nodes = UINT64_MAX, "nodes");
    GAME(g->engine_build[0] = '\0', "engine_build");
    REFUSED(MESSAGE_RESULTS, m.results.game_count = 0, "0 games");
    /* A game of the most moves, and one without any, are games. */
    struct message_game longest = sample_game(1), back;
    longest.moves = moves;
    for (size_t plies = 0; plies <= MESSAGE_MOVES_MAX; plies += MESSAGE_MOVES_MAX) {
        void *bytes = NULL;
        size_t size = 0;
        char reason[128];
        longest.plies = plies;
        assert_int_equal(message_game_encode(&longest, &bytes, &size), 0);
        assert_true(size <= message_game_bytes(&longest));
        assert_int_equal(message_game_decode(bytes, size, &back, reason, sizeof reason), 0);
        assert_int_equal(back.plies, plies);
        assert_int_equal(strlen(back.moves), plies);
        message_game_done(&back);
        free(bytes);
    }
}

static void test_list_and_artifact_refusals(void **state)
{
    (void)state;
    static struct message_lease_progress leases[MESSAGE_LEASES_MAX + 1];
    static uint64_t numbers[MESSAGE_LEASES_MAX + 1];
    for (size_t i = 0; i <= MESSAGE_LEASES_MAX; i++)
        leases[i].lease = numbers[i] = i + 1;
    REFUSED(MESSAGE_PROGRESS, (m.progress.leases = leases, m.progress.lease_count = MESSAGE_LEASES_MAX + 1),
            "257 leases");
    REFUSED(MESSAGE_RELEASE, (m.release.leases = numbers, m.release.lease_count = MESSAGE_LEASES_MAX + 1),
            "257 leases");
    REFUSED(MESSAGE_PROGRESS_ACK,
            (m.progress_ack.dropped = numbers, m.progress_ack.dropped_count = MESSAGE_LEASES_MAX + 1),
            "257 dropped");
    static uint64_t zero[1] = {0};
    REFUSED(MESSAGE_RELEASE, (m.release.leases = zero, m.release.lease_count = 1), "out of range");
    REFUSED(MESSAGE_RELEASE, (m.release.fault = (struct message_fault){.kind = 9}), "fault kind is 9");
    REFUSED(MESSAGE_RELEASE, (m.release.fault = (struct message_fault){.kind = 1}), "experiment");
    REFUSED(MESSAGE_RELEASE, (m.release.fault = (struct message_fault){1, 42, 3, 0, 0, 1, ""}), "side");
    REFUSED(MESSAGE_RELEASE, (m.release.fault = (struct message_fault){1, 42, 1, 0, 0, 1, "xyz"}), "moves");
    REFUSED(MESSAGE_ARTIFACT_REQUEST, m.artifact_request.length = MESSAGE_CHUNK_MAX + 1, "length");
    REFUSED(MESSAGE_ARTIFACT_REQUEST, m.artifact_request.length = 0, "length");
    REFUSED(MESSAGE_ARTIFACT_REQUEST, m.artifact_request.offset = UINT64_MAX, "offset");
    REFUSED(MESSAGE_ARTIFACT_CHUNK, m.artifact_chunk.size = 131076, "ends beyond");
    REFUSED(MESSAGE_ARTIFACT_CHUNK, m.artifact_chunk.size = 0, "size");
    REFUSED(MESSAGE_ARTIFACT_CHUNK, m.artifact_chunk.size = UINT64_MAX, "size");
    REFUSED(MESSAGE_ARTIFACT_CHUNK, m.artifact_chunk.offset = UINT64_MAX - 2, "offset");
    REFUSED(MESSAGE_ARTIFACT_CHUNK, m.artifact_chunk.content_size = 0, "0 bytes of content");
}

static void test_control_refusals(void **state)
{
    (void)state;
    REFUSED(MESSAGE_CREATE_EXPERIMENT, m.create_experiment.pairs = 0, "pairs");
    REFUSED(MESSAGE_CREATE_EXPERIMENT, m.create_experiment.idempotency_key[0] = '\0', "idempotency_key");
    REFUSED(MESSAGE_CREATE_EXPERIMENT, m.create_experiment.sprt.elo0 = NAN, "elo0");
    REFUSED(MESSAGE_CREATE_EXPERIMENT, m.create_experiment.sprt.elo1 = INFINITY, "elo1");
    REFUSED(MESSAGE_CREATE_EXPERIMENT, m.create_experiment.sprt.alpha = -0.1, "alpha");
    REFUSED(MESSAGE_CREATE_EXPERIMENT, m.create_experiment.sprt.beta = 1.5, "beta");
    REFUSED(MESSAGE_CREATE_EXPERIMENT, strcpy(m.create_experiment.sprt.model, "bayes"), "model");
    REFUSED(MESSAGE_STOP_EXPERIMENT, m.stop_experiment.experiment = 0, "experiment");
    REFUSED(MESSAGE_PROMOTE_WEIGHTS, strcpy(m.promote_weights.line, "../x"), "line");
    REFUSED(MESSAGE_CONTROL_EXPERIMENT, m.control_experiment.experiment = 0, "experiment");
    REFUSED(MESSAGE_CONTROL_EXPERIMENT, strcpy(m.control_experiment.tournament, "both"), "experiment");
    static char bad[] = "\x80";
    REFUSED(MESSAGE_STATUS_REPLY, m.status_reply.json = bad, "json");
}

/* --- raw bytes --- */

static void assert_bytes_refused(const uint8_t *bytes, size_t size, const char *because)
{
    struct message out;
    char reason[256] = "";
    assert_int_equal(message_decode(bytes, size, &out, reason, sizeof reason), -1);
    if (strstr(reason, because) == NULL)
        fail_msg("refused because '%s', expected '%s'", reason, because);
}

static void test_bytes_that_are_no_message(void **state)
{
    (void)state;
    static uint8_t zeros[MESSAGE_BYTES_MAX + 1];
    assert_bytes_refused(zeros, 0, "0 bytes");
    assert_bytes_refused(zeros, MESSAGE_BYTES_MAX + 1, "262145 bytes");
    assert_bytes_refused(zeros, MESSAGE_BYTES_MAX, "not a message");
    assert_bytes_refused((const uint8_t *)"\x08\x05", 2, "no body");
    assert_bytes_refused((const uint8_t *)"\xa2\x06\x00", 3, "no body"); /* field 100: a kind of tomorrow */
    assert_bytes_refused((const uint8_t *)"\x52\x00", 2, "role is missing");
}

/* A body of many empty sub-messages would take hundreds of times its size. */
static void test_memory_is_bounded(void **state)
{
    (void)state;
    static uint8_t bytes[MESSAGE_BYTES_MAX];
    size_t inner = MESSAGE_BYTES_MAX - 8 - (MESSAGE_BYTES_MAX - 8) % 2;
    bytes[0] = 0xba; /* field 23, RESULTS */
    bytes[1] = 0x01;
    bytes[2] = (uint8_t)(0x80 | (inner & 0x7f));
    bytes[3] = (uint8_t)(0x80 | (inner >> 7 & 0x7f));
    bytes[4] = (uint8_t)(inner >> 14);
    for (size_t i = 0; i < inner; i += 2)
        bytes[5 + i] = 0x12; /* games: empty */
    assert_bytes_refused(bytes, 5 + inner, "more memory");
}

/* fishtest#2456: names of 0, 1, 63, 64, 255 and 65,000 letters, as a stranger's encoder would write them. */
static void test_names_of_any_length(void **state)
{
    (void)state;
    static const struct {
        size_t length;
        int taken;
    } cases[] = {{0, 0}, {1, 1}, {63, 1}, {64, 0}, {255, 0}, {65000, 0}};
    static uint8_t bytes[70000];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length = cases[i].length, inner = 6 + 4 + length + 6 + 9;
        uint8_t *at = bytes;
        *at++ = 0x52; /* field 10, HELLO, its length in three bytes */
        *at++ = (uint8_t)(0x80 | (inner & 0x7f));
        *at++ = (uint8_t)(0x80 | (inner >> 7 & 0x7f));
        *at++ = (uint8_t)(inner >> 14);
        memcpy(at, "\x08\x01\x10\x01\x18\x01\x22", 7); /* role, versions, name */
        at += 7;
        *at++ = (uint8_t)(0x80 | (length & 0x7f));
        *at++ = (uint8_t)(0x80 | (length >> 7 & 0x7f));
        *at++ = (uint8_t)(length >> 14);
        memset(at, 'n', length);
        at += length;
        memcpy(at, "\x2a\x04kroo\x31\0\0\0\0\0\0\0\1", 15); /* build, nonce */
        at += 15;
        struct message out;
        char reason[256] = "";
        int result = message_decode(bytes, (size_t)(at - bytes), &out, reason, sizeof reason);
        if (result != (cases[i].taken ? 0 : -1) || (result != 0 && strstr(reason, "name") == NULL))
            fail_msg("a name of %zu letters: %d, '%s'", length, result, reason);
        message_done(&out);
    }
}

/* What a peer of ours would never send: message_encode cleans sentences. */
static void test_bad_text_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"\xff\xfe", "a\n", "\x1b[", "\xc0\xaf", "\xc3(", "\x7f.", "\xc2\x85"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct message message = sample_message(MESSAGE_NOTHING);
        struct frame frame = encode(&message);
        uint8_t *text = memmem(frame.bytes, frame.size, "no experiment", 13);
        assert_non_null(text);
        memcpy(text + 3, bad[i], 2);
        assert_bytes_refused(frame.bytes, frame.size, "UTF-8 text of one line");
        free(frame.bytes);
    }
}

/* A database's error of several lines, cut inside a character, arrives as one clean line. */
static void test_sentences_are_cleaned(void **state)
{
    (void)state;
    static struct message_game_answer answer = {.experiment = 1, .verdict = MESSAGE_GAME_REFUSED};
    struct message refused = {.kind = MESSAGE_REFUSED, .refused = {.code = MESSAGE_REFUSAL_UNAVAILABLE}},
                   back;
    (void)snprintf(refused.refused.text, sizeof refused.refused.text,
                   "ERROR:  x\nDETAIL:\t\xff gr\xc3\xb6\xc3");
    struct frame frame = encode(&refused);
    assert_decodes(frame, &back);
    assert_string_equal(back.refused.text, "ERROR:  x DETAIL: ? gr\xc3\xb6?");
    message_done(&back);
    free(frame.bytes);
    memset(answer.text, 'x', sizeof answer.text - 1);
    answer.text[0] = '\n';
    struct message ack = {.kind = MESSAGE_RESULTS_ACK,
                          .results_ack = {.exceptions = &answer, .exception_count = 1}};
    frame = encode(&ack);
    assert_decodes(frame, &back);
    assert_int_equal(back.results_ack.exceptions[0].text[0], ' ');
    assert_int_equal(strlen(back.results_ack.exceptions[0].text), sizeof answer.text - 1);
    message_done(&back);
    free(frame.bytes);
}

static void test_nul_in_text_is_refused(void **state)
{
    (void)state;
    struct message message = sample_message(MESSAGE_NOTHING);
    struct frame frame = encode(&message);
    uint8_t *text = memmem(frame.bytes, frame.size, "no experiment", 13);
    assert_non_null(text);
    text[4] = 0;
    assert_bytes_refused(frame.bytes, frame.size, "NUL inside");
    free(frame.bytes);
    message = sample_message(MESSAGE_HELLO);
    frame = encode(&message);
    text = memmem(frame.bytes, frame.size, "worker-1.lab", 12);
    assert_non_null(text);
    text[11] = 0;
    assert_bytes_refused(frame.bytes, frame.size, "NUL inside");
    free(frame.bytes);
}

/* A later version may add a few fields; a heap of them is somebody else's. */
static void test_unknown_fields(void **state)
{
    (void)state;
    for (size_t count = 0; count <= 9; count++) {
        uint8_t bytes[128] = {0x08, 0x05, 0xe2, 0x01, 0x00}; /* request 5, RELEASE_ACK {} */
        size_t size = 5;
        for (size_t i = 0; i < count; i++) {
            bytes[size++] = 0xf8; /* field 2047 = 1 */
            bytes[size++] = 0x7f;
            bytes[size++] = 0x01;
        }
        struct message out;
        char reason[128];
        assert_int_equal(message_decode(bytes, size, &out, reason, sizeof reason), count <= 8 ? 0 : -1);
        if (count <= 8)
            assert_int_equal(out.kind, MESSAGE_RELEASE_ACK);
        assert_int_equal(out.request, 5);
        message_done(&out);
    }
}

/* Every cut and every changed byte of every kind is taken or refused, never worse; what is taken encodes. */
static void test_cut_and_changed_bytes(void **state)
{
    (void)state;
    static const uint8_t changes[] = {0x01, 0x80, 0xff, 0x40};
    for (enum message_kind kind = MESSAGE_HELLO; kind < MESSAGE_KINDS; kind++) {
        struct frame frame = read_vector(kind);
        for (size_t at = 0; at < frame.size; at++) {
            for (size_t i = 0; i <= sizeof changes; i++) {
                struct message out;
                char reason[256];
                uint8_t *copy = malloc(frame.size); /* its own block, so that ASan sees the end */
                memcpy(copy, frame.bytes, frame.size);
                if (i < sizeof changes)
                    copy[at] ^= changes[i];
                if (message_decode(copy, i < sizeof changes ? frame.size : at, &out, reason, sizeof reason) ==
                    0)
                    free(encode(&out).bytes);
                message_done(&out);
                free(copy);
            }
        }
        free(frame.bytes);
    }
}

/* The budget cut at every place where an allocation can fail: refused, nothing leaks (ASan), then it works.
 */
static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    for (enum message_kind kind = MESSAGE_HELLO; kind < MESSAGE_KINDS; kind++) {
        struct frame frame = read_vector(kind);
        struct message out;
        char reason[256];
        size_t budget = 0;
        while (message_decode_within(frame.bytes, frame.size, budget, &out, reason, sizeof reason) != 0) {
            assert_int_equal(out.kind, MESSAGE_NONE);
            assert_non_null(strstr(reason, "memory"));
            budget += 1;
            assert_true(budget < 100000);
        }
        assert_int_equal(out.kind, kind);
        message_done(&out);
        free(frame.bytes);
    }
}

static void test_full_batch_fits(void **state)
{
    (void)state;
    static struct message_game games[MESSAGE_GAMES_MAX];
    size_t bound = 64, count = 0;
    while (count < MESSAGE_GAMES_MAX && bound + message_game_bytes(&games[count]) <= MESSAGE_BYTES_MAX) {
        games[count] = sample_game(count % 2 == 0);
        games[count].pair = UINT64_C(1) << 61;
        games[count].experiment = games[count].lease = games[count].nodes = INT64_MAX;
        games[count].attempt = games[count].time_ms = INT32_MAX;
        memset(games[count].result, 'x', 15);
        memset(games[count].reason, 'x', 15);
        memset(games[count].engine_build, 'x', MESSAGE_NAME_MAX - 1);
        bound += message_game_bytes(&games[count++]);
    }
    struct message message = {.kind = MESSAGE_RESULTS, .results = {UINT64_MAX, games, count}}, back;
    struct frame frame = encode(&message);
    assert_true(frame.size <= bound);
    assert_decodes(frame, &back);
    assert_int_equal(back.results.game_count, count);
    message_done(&back);
    free(frame.bytes);
    /* A frame too big is not made. */
    static char moves[MESSAGE_MOVES_MAX];
    memset(moves, 'a', sizeof moves);
    for (size_t i = 0; i < 20; i++) {
        games[i].moves = moves;
        games[i].plies = sizeof moves;
    }
    void *bytes = NULL;
    size_t size = 0;
    message.results.game_count = 20;
    assert_int_equal(message_encode(&message, &bytes, &size), -1);
    assert_null(bytes);
}

static void test_kinds_have_names(void **state)
{
    (void)state;
    for (enum message_kind kind = MESSAGE_NONE; kind < MESSAGE_KINDS; kind++)
        assert_non_null(message_kind_name(kind));
    assert_string_equal(message_kind_name(MESSAGE_KINDS), "?");
    struct message none = {.kind = MESSAGE_NONE};
    void *bytes = NULL;
    size_t size = 0;
    assert_int_equal(message_encode(&none, &bytes, &size), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_keeps_its_bytes),
        cmocka_unit_test(test_fields_arrive),
        cmocka_unit_test(test_engines_and_tables_arrive),
        cmocka_unit_test(test_faults_arrive),
        cmocka_unit_test(test_terms_of_an_experiment_arrive),
        cmocka_unit_test(test_speeds_and_tags_arrive),
        cmocka_unit_test(test_hello_refusals),
        cmocka_unit_test(test_answer_refusals),
        cmocka_unit_test(test_grant_refusals),
        cmocka_unit_test(test_game_refusals),
        cmocka_unit_test(test_list_and_artifact_refusals),
        cmocka_unit_test(test_control_refusals),
        cmocka_unit_test(test_bytes_that_are_no_message),
        cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_names_of_any_length),
        cmocka_unit_test(test_bad_text_is_refused),
        cmocka_unit_test(test_sentences_are_cleaned),
        cmocka_unit_test(test_nul_in_text_is_refused),
        cmocka_unit_test(test_unknown_fields),
        cmocka_unit_test(test_cut_and_changed_bytes),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_full_batch_fits),
        cmocka_unit_test(test_kinds_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
