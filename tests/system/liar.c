/* A worker that says what no honest worker says, one thing after the other, and prints what it is answered.
 *
 *   build/tests/system/liar ENDPOINT games            games that are not what was leased
 *   build/tests/system/liar ENDPOINT protocol         HELLO in a version of the future, then every request
 *   build/tests/system/liar ENDPOINT flood            300 requests without waiting for answers, then one with
 *   build/tests/system/liar ENDPOINT tune NAME EXPERIMENT PAIR SEED PLIES WEIGHTS WEIGHTS OPTIONS OPTIONS
 *       a worker NAME has played another pair than the one that is stored, by these players
 *   build/tests/system/liar ENDPOINT build ID...      a worker of another engine build: asks for work,
 * delivers to ID
 *
 * A line an answer: what was said, the kind of the answer (of a game: its verdict), and the reason given. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/artifact.h"
#include "tests/bench/synthetic.h"

static const char *const refusals[] = {
    [MESSAGE_REFUSAL_VERSION] = "VERSION",         [MESSAGE_REFUSAL_MALFORMED] = "MALFORMED",
    [MESSAGE_REFUSAL_SAY_HELLO] = "SAY_HELLO",     [MESSAGE_REFUSAL_NOT_ALLOWED] = "NOT_ALLOWED",
    [MESSAGE_REFUSAL_UNKNOWN] = "UNKNOWN",         [MESSAGE_REFUSAL_CONFLICT] = "CONFLICT",
    [MESSAGE_REFUSAL_UNAVAILABLE] = "UNAVAILABLE", [MESSAGE_REFUSAL_BUSY] = "BUSY",
};
static const char *const verdicts[] = {
    [MESSAGE_GAME_ACCEPTED] = "accepted",
    [MESSAGE_GAME_DUPLICATE] = "duplicate",
    [MESSAGE_GAME_CONFLICT] = "conflict",
    [MESSAGE_GAME_REFUSED] = "refused",
};

static void print_answer(const char *said, const struct message *answer)
{
    if (answer->kind == MESSAGE_REFUSED)
        printf("%s: %s: %s\n", said, refusals[answer->refused.code], answer->refused.text);
    else if (answer->kind == MESSAGE_NOTHING)
        printf("%s: NOTHING: %s\n", said, answer->nothing.because);
    else if (answer->kind == MESSAGE_RESULTS_ACK && answer->results_ack.exception_count > 0)
        printf("%s: %s: %s\n", said, verdicts[answer->results_ack.exceptions[0].verdict],
               answer->results_ack.exceptions[0].text);
    else if (answer->kind == MESSAGE_RESULTS_ACK)
        printf("%s: %s\n", said, answer->results_ack.accepted ? "accepted" : "duplicate");
    else
        printf("%s: %s\n", said, message_kind_name(answer->kind));
}

static void say(struct synthetic *liar, const char *what, struct message *question)
{
    struct message answer;
    do {
        synthetic_ask(liar, question, &answer);
        bool later = answer.kind == MESSAGE_REFUSED && answer.refused.code == MESSAGE_REFUSAL_BUSY;
        if (!later)
            break;
        message_done(&answer);
    } while (true);
    print_answer(what, &answer);
    message_done(&answer);
}

static void deliver(struct synthetic *liar, const char *what, struct message_game *game)
{
    static uint64_t batch;
    struct message results = {.kind = MESSAGE_RESULTS};
    results.results = (struct message_results){++batch, game, 1};
    say(liar, what, &results);
}

/* --- games ------------------------------------------------------------------------------------------------
 */

static void lie_illegal(struct message_game *game)
{
    game->moves[game->plies - 2] = game->moves[game->plies - 1]; /* the other side's house */
}

static void lie_surplus(struct message_game *game)
{
    char *longer = malloc(game->plies + 2);
    sprintf(longer, "%sA", game->moves);
    free(game->moves);
    game->moves = longer;
    game->plies++;
    game->scores_size = game->scores ? 2 * game->plies : 0;
    game->scores = game->scores ? realloc(game->scores, game->scores_size) : NULL;
    if (game->scores)
        memset(game->scores, 0, game->scores_size);
}

static void lie_unfinished(struct message_game *game)
{
    game->moves[--game->plies] = '\0';
    game->scores_size = game->scores ? 2 * game->plies : 0;
}

static void lie_empty(struct message_game *game)
{
    game->moves[game->plies = 0] = '\0';
    game->scores_size = 0;
}

static void lie_winner(struct message_game *game)
{
    strcpy(game->result, strcmp(game->result, "south") == 0 ? "north" : "south");
}

static void lie_reason(struct message_game *game)
{
    strcpy(game->reason, strcmp(game->reason, "repetition") == 0 ? "no-move" : "repetition");
}

static void lie_resigned(struct message_game *game)
{
    strcpy(game->reason, "resign");
}

static void lie_weights(struct message_game *game)
{
    game->weights_a[31] ^= 1;
}

static void lie_build(struct message_game *game)
{
    strcpy(game->engine_build, "kroo-engine 1 000000000000");
}

static void lie_scores(struct message_game *game)
{
    game->scores_size = 0;
}

static void lie_next_pair(struct message_game *game)
{
    game->pair++;
}

static void lie_far_pair(struct message_game *game)
{
    game->pair = UINT64_C(1) << 40;
}

static void lie_leg(struct message_game *game)
{
    game->leg = 2;
}

static void lie_experiment(struct message_game *game)
{
    game->experiment = 999999999;
}

static const struct lie {
    const char *name;
    void (*tell)(struct message_game *game);
} lies[] = {
    {"illegal", lie_illegal},   {"surplus", lie_surplus},       {"unfinished", lie_unfinished},
    {"empty", lie_empty},       {"winner", lie_winner},         {"reason", lie_reason},
    {"resigned", lie_resigned}, {"weights", lie_weights},       {"build", lie_build},
    {"scores", lie_scores},     {"next-pair", lie_next_pair},   {"far-pair", lie_far_pair},
    {"leg", lie_leg},           {"experiment", lie_experiment},
};

static void lie_about_games(struct synthetic *liar)
{
    struct message request = {.kind = MESSAGE_LEASE_REQUEST, .lease_request = {.pairs = 1}}, answer;
    struct synthetic_games games;
    synthetic_ask(liar, &request, &answer);
    if (answer.kind != MESSAGE_LEASE_GRANT)
        synthetic_give_up(liar, "no lease");
    synthetic_games_init(&games, liar, &answer.lease_grant.spec);
    games.same = true;
    for (size_t i = 0; i <= sizeof lies / sizeof *lies; i++) {
        struct message_game game;
        bool honest = i == sizeof lies / sizeof *lies;
        synthetic_play(liar, &games, &answer.lease_grant, answer.lease_grant.first_pair, 0, &game);
        if (!honest)
            lies[i].tell(&game);
        deliver(liar, honest ? "honest" : lies[i].name, &game);
        message_game_done(&game);
    }
    struct message release = {.kind = MESSAGE_RELEASE};
    release.release =
        (struct message_release){.leases = &answer.lease_grant.lease, .lease_count = 1, .goodbye = true};
    say(liar, "release", &release);
    synthetic_games_done(&games);
    message_done(&answer);
}

/* --- versions ---------------------------------------------------------------------------------------------
 */

static struct message_game short_game(const struct synthetic *liar, uint64_t experiment)
{
    static char moves[] = "A";
    struct message_game game = {
        .experiment = experiment, .lease = 1, .attempt = 1, .moves = moves, .plies = 1};
    strcpy(game.result, "south");
    strcpy(game.reason, "majority");
    strcpy(game.engine_build, liar->engine_build);
    return game;
}

static void ask_everything(struct synthetic *liar)
{
    struct message_lease_progress progress = {.lease = 1, .plies = 1};
    struct message_game game = short_game(liar, 1);
    uint64_t lease = 1;
    struct message questions[] = {
        {.kind = MESSAGE_LEASE_REQUEST, .lease_request = {.pairs = 1}},
        {.kind = MESSAGE_RESULTS, .results = {1, &game, 1}},
        {.kind = MESSAGE_PROGRESS, .progress = {&progress, 1}},
        {.kind = MESSAGE_RELEASE, .release = {.leases = &lease, .lease_count = 1}},
        {.kind = MESSAGE_ARTIFACT_REQUEST, .artifact_request = {.length = 100}},
        {.kind = MESSAGE_STOP_EXPERIMENT, .stop_experiment = {.experiment = 1}},
        {.kind = MESSAGE_PROMOTE_WEIGHTS, .promote_weights = {.line = "main"}},
        {.kind = MESSAGE_STATUS_REQUEST},
    };
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        say(liar, message_kind_name(questions[i].kind), &questions[i]);
}

static void be_of_another_build(struct synthetic *liar, char **ids)
{
    struct message request = {.kind = MESSAGE_LEASE_REQUEST, .lease_request = {.pairs = 1}};
    say(liar, "LEASE_REQUEST", &request);
    for (; *ids; ids++) {
        struct message_game game = short_game(liar, strtoull(*ids, NULL, 10));
        deliver(liar, *ids, &game);
    }
}

/* --- too many ---------------------------------------------------------------------------------------------
 */

enum { FLOOD = 300, FLOOD_TURNS = 20 };

struct flood {
    unsigned answered, refused;
    uint32_t retry_ms;
    char text[MESSAGE_TEXT_MAX];
};

static void hear_some(struct synthetic *liar, struct flood *flood, int wait_ms)
{
    char reason[256];
    bool woken;
    struct message answer;
    (void)dealer_wait(liar->dealer, -1, wait_ms, &woken);
    while (dealer_receive(liar->dealer, &answer, reason, sizeof reason) == SOCKET_OK) {
        bool busy = answer.kind == MESSAGE_REFUSED && answer.refused.code == MESSAGE_REFUSAL_BUSY;
        flood->answered += !busy;
        flood->refused += busy;
        if (busy && answer.refused.retry_ms > flood->retry_ms) {
            flood->retry_ms = answer.refused.retry_ms;
            memcpy(flood->text, answer.refused.text, sizeof flood->text);
        }
        message_done(&answer);
    }
}

static void say_too_much(struct synthetic *liar)
{
    struct flood flood = {0};
    unsigned sent = 0;
    struct message request = {.kind = MESSAGE_STATUS_REQUEST};
    /* Who reads slowly may lose the refusals, as any answer that finds its queue full: then once more. */
    for (unsigned turn = 0; turn < FLOOD_TURNS && flood.refused == 0; turn++) {
        while (sent < (turn + 1) * FLOOD) {
            request.request = ++liar->request;
            bool gone = dealer_send(liar->dealer, &request) == SOCKET_OK;
            sent += gone;
            hear_some(liar, &flood, gone ? 0 : 10);
        }
        for (int i = 0; i < 50; i++)
            hear_some(liar, &flood, 10);
    }
    printf("flood: %s: BUSY: %s; %s\n", flood.answered < sent ? "not all served" : "all served", flood.text,
           flood.retry_ms > 0 ? "with a time to wait" : "without a time");
    say(liar, "after it", &request); /* again and again, as long as it is BUSY */
}

/* Every liar plays the same games of a pair, and they are none that the players would play. */
static void play_a_tune(struct synthetic *liar, char **words)
{
    struct message_lease_grant grant = {.lease = 1, .attempt = 1};
    struct message_spec *spec = &grant.spec;
    struct synthetic_games games;
    *spec = (struct message_spec){.experiment = strtoull(words[0], NULL, 10),
                                  .kind = MESSAGE_TUNE,
                                  .rules = "site",
                                  .seed = strtoull(words[2], NULL, 10),
                                  .opening_plies = (uint32_t)strtoul(words[3], NULL, 10)};
    snprintf(spec->engine_build, sizeof spec->engine_build, "%s", liar->engine_build);
    snprintf(spec->a.options, sizeof spec->a.options, "%s", words[6]);
    snprintf(spec->b.options, sizeof spec->b.options, "%s", words[7]);
    if (artifact_parse_hex(words[4], spec->a.weights) != 0 ||
        artifact_parse_hex(words[5], spec->b.weights) != 0)
        synthetic_give_up(liar, "no weights");
    synthetic_games_init(&games, liar, spec);
    games.same = true;
    for (unsigned leg = 0; leg < 2; leg++) {
        struct message_game game;
        synthetic_play(liar, &games, &grant, strtoull(words[1], NULL, 10), leg, &game);
        deliver(liar, leg ? "leg 1" : "leg 0", &game);
        message_game_done(&game);
    }
    synthetic_games_done(&games);
}

int main(int argc, char **argv)
{
    struct synthetic liar;
    struct message answer;
    if (argc < 3) {
        fprintf(stderr, "usage: liar ENDPOINT games|protocol|flood|tune ...|build [ID...]\n");
        return 2;
    }
    bool tune = strcmp(argv[2], "tune") == 0 && argc == 12;
    synthetic_init(&liar, argv[1], tune ? argv[3] : "liar");
    bool future = strcmp(argv[2], "protocol") == 0, other = strcmp(argv[2], "build") == 0;
    if (future)
        liar.protocol = 99;
    if (other)
        strcpy(liar.engine_build, "kroo-engine 1 000000000000");
    synthetic_hello(&liar, &answer);
    print_answer("HELLO", &answer);
    message_done(&answer);
    if (future)
        ask_everything(&liar);
    else if (strcmp(argv[2], "flood") == 0)
        say_too_much(&liar);
    else if (other)
        be_of_another_build(&liar, argv + 3);
    else if (tune)
        play_a_tune(&liar, argv + 4);
    else
        lie_about_games(&liar);
    synthetic_done(&liar);
    return 0;
}
