/* Synthetic workers that speak the real protocol: they play random legal games from each pair's opening, as
 * fast as they can, and deliver them. Measures what coordinator and database take.
 *
 *   build/bench/load ENDPOINT WORKERS BATCH_PAIRS
 *
 * ends when the coordinator has nothing more to lease and prints one JSON line. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "engine/build.h"
#include "engine/mix.h"
#include "engine/play.h"
#include "proto/progress.h"
#include "proto/socket.h"

enum { LOAD_WORKERS_MAX = 256, LOAD_DEADLINE_MS = 30000, LOAD_IDLE_TURNS = 20 };

struct load_worker {
    pthread_t thread;
    const char *endpoint;
    unsigned number;
    uint32_t batch_pairs;
    struct dealer *dealer;
    uint64_t request, batch, games, plies, duplicates, refused;
    uint64_t bits;
    int64_t first_ms, last_ms; /* first lease, last acknowledgement */
};

static void give_up(const struct load_worker *worker, const char *why)
{
    fprintf(stderr, "load: worker %u: %s\n", worker->number, why);
    exit(1);
}

static void ask(struct load_worker *worker, struct message *question, struct message *answer)
{
    char reason[256] = "";
    int64_t until = progress_now_ms() + LOAD_DEADLINE_MS;
    question->request = ++worker->request;
    while (dealer_send(worker->dealer, question) != SOCKET_OK) {
        if (progress_now_ms() > until)
            give_up(worker, "cannot send");
        bool woken;
        dealer_wait(worker->dealer, -1, 20, &woken);
    }
    while (progress_now_ms() < until) {
        bool woken;
        if (dealer_wait(worker->dealer, -1, 100, &woken) != SOCKET_OK ||
            dealer_receive(worker->dealer, answer, reason, sizeof reason) != SOCKET_OK)
            continue;
        if (answer->request == question->request)
            return;
        message_done(answer);
    }
    give_up(worker, "no answer");
}

static void say_hello(struct load_worker *worker)
{
    struct message hello = {.kind = MESSAGE_HELLO}, answer;
    uint64_t nonce;
    if (getrandom(&nonce, sizeof nonce, 0) != sizeof nonce)
        give_up(worker, "no random numbers");
    hello.hello = (struct message_hello){
        .role = MESSAGE_ROLE_WORKER,
        .protocol = MESSAGE_PROTOCOL,
        .protocol_min = MESSAGE_PROTOCOL_MIN,
        .session_nonce = nonce,
        .slots = 1,
        .credit = 65536,
    };
    snprintf(hello.hello.name, sizeof hello.hello.name, "load-%u", worker->number);
    snprintf(hello.hello.engine_build, sizeof hello.hello.engine_build, "%s", engine_build());
    ask(worker, &hello, &answer);
    if (answer.kind != MESSAGE_WELCOME)
        give_up(worker, answer.kind == MESSAGE_REFUSED ? answer.refused.text : "no welcome");
    message_done(&answer);
}

static void play_random(struct load_worker *worker, const struct play_setup *setup, struct game *game,
                        uint64_t pair)
{
    char opening[PLAY_OPENING_MAX + 1];
    size_t played;
    int length = play_opening(setup, pair, opening);
    game_reset(game, NULL);
    if (length < 0 || game_play_text(game, opening, (size_t)length, &played) != GAME_OK)
        give_up(worker, "no opening");
    while (!game_over(game)) {
        unsigned legal = game_legal(game);
        worker->bits = mix(worker->bits, legal);
        uint32_t skip = mix_below(worker->bits, (uint32_t)__builtin_popcount(legal));
        while (skip--)
            legal &= legal - 1;
        game_play(game, __builtin_ctz(legal) + 6 * game_position(game).side);
    }
}

static void fill_game(struct message_game *out, const struct message_lease_grant *grant, uint64_t pair,
                      unsigned leg, const struct game *game)
{
    const struct message_spec *spec = &grant->spec;
    *out = (struct message_game){
        .experiment = spec->experiment,
        .pair = pair,
        .leg = leg,
        .lease = grant->lease,
        .attempt = grant->attempt,
        .moves = strdup(game_moves(game)),
        .plies = game_plies(game),
        .nodes = 1000 * game_plies(game),
        .time_ms = 10,
    };
    if (spec->with_scores) {
        out->scores_size = 2 * out->plies;
        out->scores = calloc(1, out->scores_size + 1);
    }
    snprintf(out->result, sizeof out->result, "%s", game_result_text(game_result(game)));
    snprintf(out->reason, sizeof out->reason, "%s", game_reason_text(game_reason(game)));
    snprintf(out->engine_build, sizeof out->engine_build, "%s", spec->engine_build);
    memcpy(out->weights_a, spec->a.weights, MESSAGE_HASH);
    memcpy(out->weights_b, spec->b.weights, MESSAGE_HASH);
}

static void deliver(struct load_worker *worker, struct message_game *games, size_t count)
{
    struct message results = {.kind = MESSAGE_RESULTS}, answer;
    results.results.batch = ++worker->batch;
    results.results.games = games;
    results.results.game_count = count;
    for (;;) {
        ask(worker, &results, &answer);
        if (answer.kind == MESSAGE_RESULTS_ACK)
            break;
        if (answer.kind != MESSAGE_REFUSED || answer.refused.code != MESSAGE_REFUSAL_BUSY)
            give_up(worker, answer.kind == MESSAGE_REFUSED ? answer.refused.text : "no acknowledgement");
        message_done(&answer);
    }
    worker->games += answer.results_ack.accepted;
    worker->duplicates += answer.results_ack.duplicates;
    worker->refused += answer.results_ack.exception_count;
    if (answer.results_ack.exception_count)
        fprintf(stderr, "load: %s\n", answer.results_ack.exceptions[0].text);
    message_done(&answer);
    worker->last_ms = progress_now_ms();
    for (size_t i = 0; i < count; i++) {
        worker->plies += games[i].plies;
        free(games[i].moves);
        free(games[i].scores);
    }
}

static void play_lease(struct load_worker *worker, const struct message_lease_grant *grant)
{
    struct rules rules;
    char reason[256];
    if (rules_parse(grant->spec.rules, &rules, reason, sizeof reason) != 0)
        give_up(worker, reason);
    struct play_setup setup = {.rules = &rules,
                               .seed = grant->spec.seed,
                               .opening_plies = grant->spec.opening_plies,
                               .noise_ppm = grant->spec.noise_ppm};
    struct game *game = game_create(&rules, NULL);
    struct message_game *games = calloc(MESSAGE_GAMES_MAX, sizeof *games);
    size_t count = 0, bytes = 0;
    for (uint32_t i = 0; i < grant->pair_count; i++) {
        for (unsigned leg = 0; leg < 2; leg++) {
            play_random(worker, &setup, game, grant->first_pair + i);
            fill_game(&games[count], grant, grant->first_pair + i, leg, game);
            bytes += message_game_bytes(&games[count++]);
        }
        if (count >= 2 * worker->batch_pairs || count + 2 > MESSAGE_GAMES_MAX ||
            bytes > MESSAGE_BYTES_MAX * 3 / 4 || i + 1 == grant->pair_count) {
            deliver(worker, games, count);
            count = bytes = 0;
        }
    }
    game_destroy(game);
    free(games);
}

static void *run(void *context)
{
    struct load_worker *worker = context;
    char reason[256];
    worker->dealer = dealer_create(&worker->endpoint, 1, NULL, NULL, reason, sizeof reason);
    if (!worker->dealer)
        give_up(worker, reason);
    worker->bits = mix(progress_now_ms() > 0 ? (uint64_t)progress_now_ms() : 0, worker->number);
    say_hello(worker);
    for (int idle = 0; idle < LOAD_IDLE_TURNS;) {
        struct message request = {.kind = MESSAGE_LEASE_REQUEST}, answer;
        request.lease_request = (struct message_lease_request){.pairs = 4096, .pairs_per_minute = 0};
        ask(worker, &request, &answer);
        if (answer.kind == MESSAGE_LEASE_GRANT) {
            idle = 0;
            if (!worker->first_ms)
                worker->first_ms = progress_now_ms();
            play_lease(worker, &answer.lease_grant);
        } else {
            idle++;
            bool woken;
            dealer_wait(worker->dealer, -1, 50, &woken);
        }
        message_done(&answer);
    }
    dealer_destroy(worker->dealer);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct load_worker workers[LOAD_WORKERS_MAX];
    if (argc != 4 || atoi(argv[2]) < 1 || atoi(argv[2]) > LOAD_WORKERS_MAX || atoi(argv[3]) < 1) {
        fprintf(stderr, "usage: load ENDPOINT WORKERS BATCH_PAIRS\n");
        return 2;
    }
    unsigned count = (unsigned)atoi(argv[2]);
    for (unsigned i = 0; i < count; i++) {
        workers[i] =
            (struct load_worker){.endpoint = argv[1], .number = i, .batch_pairs = (uint32_t)atoi(argv[3])};
        if (pthread_create(&workers[i].thread, NULL, run, &workers[i]) != 0)
            give_up(&workers[i], "no thread");
    }
    uint64_t games = 0, plies = 0, duplicates = 0, refused = 0;
    int64_t first = INT64_MAX, last = 0;
    for (unsigned i = 0; i < count; i++) {
        pthread_join(workers[i].thread, NULL);
        games += workers[i].games;
        plies += workers[i].plies;
        duplicates += workers[i].duplicates;
        refused += workers[i].refused;
        if (workers[i].first_ms && workers[i].first_ms < first)
            first = workers[i].first_ms;
        if (workers[i].last_ms > last)
            last = workers[i].last_ms;
    }
    double seconds = games ? (double)(last - first) / 1000 : 0;
    printf(
        "{\"workers\":%u,\"games\":%llu,\"plies\":%llu,\"duplicates\":%llu,\"refused\":%llu,\"seconds\":%.3f,"
        "\"games_per_second\":%.0f}\n",
        count, (unsigned long long)games, (unsigned long long)plies, (unsigned long long)duplicates,
        (unsigned long long)refused, seconds, seconds > 0 ? (double)games / seconds : 0);
    return refused ? 1 : 0;
}
