#include "tests/bench/synthetic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "engine/build.h"
#include "engine/mix.h"
#include "proto/artifact.h"
#include "proto/progress.h"

enum { TRIES_MAX = 100000 };

void synthetic_give_up(const struct synthetic *worker, const char *why)
{
    fprintf(stderr, "%s: %s\n", worker->name, why);
    exit(1);
}

static uint64_t chance(const struct synthetic *worker)
{
    uint64_t bits;
    if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
        synthetic_give_up(worker, "no random numbers");
    return bits;
}

void synthetic_name(struct synthetic *worker, const char *name)
{
    *worker = (struct synthetic){.protocol = MESSAGE_PROTOCOL, .credit = 65536};
    snprintf(worker->name, sizeof worker->name, "%s", name);
    snprintf(worker->engine_build, sizeof worker->engine_build, "%s", engine_build());
    worker->bits = chance(worker);
    worker->nonce = chance(worker);
}

void synthetic_init(struct synthetic *worker, const char *endpoint, const char *name)
{
    char reason[256];
    synthetic_name(worker, name);
    worker->dealer = dealer_create(&endpoint, 1, NULL, NULL, reason, sizeof reason);
    if (!worker->dealer)
        synthetic_give_up(worker, reason);
}

void synthetic_done(struct synthetic *worker)
{
    message_done(&worker->late);
    dealer_destroy(worker->dealer);
    worker->dealer = NULL;
}

void synthetic_ask(struct synthetic *worker, struct message *question, struct message *answer)
{
    char reason[256] = "";
    bool woken;
    int64_t until = progress_now_ms() + SYNTHETIC_DEADLINE_MS, again_ms = 0;
    uint64_t first = worker->request + 1;
    while (progress_now_ms() < until) {
        if (progress_now_ms() >= again_ms) {
            question->request = ++worker->request;
            again_ms = dealer_send(worker->dealer, question) == SOCKET_OK
                           ? progress_now_ms() + SYNTHETIC_AGAIN_MS
                           : progress_now_ms() + 20;
        }
        if (dealer_wait(worker->dealer, -1, 100, &woken) != SOCKET_OK ||
            dealer_receive(worker->dealer, answer, reason, sizeof reason) != SOCKET_OK)
            continue;
        if (answer->request >= first && answer->request <= question->request)
            return;
        if (answer->kind == MESSAGE_LEASE_GRANT && worker->late.kind == MESSAGE_NONE)
            worker->late = *answer;
        else
            message_done(answer);
    }
    synthetic_give_up(worker, "no answer");
}

void synthetic_hello(struct synthetic *worker, struct message *answer)
{
    struct message hello = {.kind = MESSAGE_HELLO};
    hello.hello = (struct message_hello){
        .role = MESSAGE_ROLE_WORKER,
        .protocol = worker->protocol,
        .protocol_min = worker->protocol,
        .session_nonce = worker->nonce,
        .slots = 1,
        .credit = worker->credit,
    };
    snprintf(hello.hello.name, sizeof hello.hello.name, "%s", worker->name);
    snprintf(hello.hello.engine_build, sizeof hello.hello.engine_build, "%s", worker->engine_build);
    if (worker->architecture)
        snprintf(hello.hello.architecture, sizeof hello.hello.architecture, "%s", worker->architecture);
    synthetic_ask(worker, &hello, answer);
}

/* --- games ------------------------------------------------------------------------------------------------
 */

void synthetic_games_init(struct synthetic_games *games, const struct synthetic *worker,
                          const struct message_spec *spec)
{
    char reason[256];
    *games = (struct synthetic_games){0};
    if (rules_parse(spec->rules, &games->rules, reason, sizeof reason) != 0)
        synthetic_give_up(worker, reason);
    games->setup = (struct play_setup){.rules = &games->rules,
                                       .seed = spec->seed,
                                       .opening_plies = spec->opening_plies,
                                       .noise_ppm = spec->noise_ppm};
    games->game = game_create(&games->rules, NULL);
    if (!games->game)
        synthetic_give_up(worker, "no memory");
}

void synthetic_games_done(struct synthetic_games *games)
{
    game_destroy(games->game);
}

static void play_random(struct synthetic *worker, const struct synthetic_games *games, uint64_t pair)
{
    char opening[PLAY_OPENING_MAX + 1];
    size_t played;
    int length = play_opening(&games->setup, pair, opening);
    game_reset(games->game, NULL);
    if (length < 0 || game_play_text(games->game, opening, (size_t)length, &played) != GAME_OK)
        synthetic_give_up(worker, "no opening");
    while (!game_over(games->game)) {
        unsigned legal = game_legal(games->game);
        worker->bits = mix(worker->bits, legal);
        uint32_t skip = mix_below(worker->bits, (uint32_t)__builtin_popcount(legal));
        while (skip--)
            legal &= legal - 1;
        game_play(games->game, __builtin_ctz(legal) + 6 * game_position(games->game).side);
    }
}

static bool is_wanted(const struct synthetic_games *games, unsigned leg, enum synthetic_winner winner)
{
    enum game_result result = game_result(games->game);
    bool a_is_south = leg == 0;
    if (winner == SYNTHETIC_ANYBODY)
        return true;
    return result == ((winner == SYNTHETIC_A) == a_is_south ? GAME_SOUTH_WINS : GAME_NORTH_WINS);
}

void synthetic_play(struct synthetic *worker, struct synthetic_games *games,
                    const struct message_lease_grant *grant, uint64_t pair, unsigned leg,
                    struct message_game *out)
{
    const struct message_spec *spec = &grant->spec;
    if (games->same)
        worker->bits = mix(mix_game_seed(spec->seed, pair, leg), games->variant);
    enum synthetic_winner winner = games->winner;
    if (games->same && games->score > 0)
        winner = (double)(mix(worker->bits, 1) >> 11) / 9007199254740992.0 < games->score ? SYNTHETIC_A
                                                                                          : SYNTHETIC_B;
    play_random(worker, games, pair);
    for (int tries = 1; !is_wanted(games, leg, winner); tries++) {
        if (tries == TRIES_MAX)
            synthetic_give_up(worker, "no game with the wanted winner came up");
        play_random(worker, games, pair);
    }
    const struct game *game = games->game;
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
    if (spec->kind == MESSAGE_TUNE) {
        artifact_hash(spec->a.options, strlen(spec->a.options), out->options_a);
        artifact_hash(spec->b.options, strlen(spec->b.options), out->options_b);
    }
}
