/* Many synthetic workers: they take leases and deliver random legal games from each pair's opening, as fast
 * as they can. Measures what coordinator and database take; with options, does to them what sick workers do.
 *
 *   build/bench/load ENDPOINT WORKERS BATCH_PAIRS [OPTION...]
 *
 * ends when the coordinator has nothing more to lease and prints one JSON line. */
#include <argp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/progress.h"
#include "tests/bench/synthetic.h"

enum { LOAD_WORKERS_MAX = 256, LOAD_IDLE_TURNS = 20 };

struct load_options {
    const char *endpoint, *name;
    unsigned workers;
    uint32_t batch_pairs, lease_pairs, times, leases;
    enum synthetic_winner winner;
    double score;
    bool same, hold, alter, half, hang;
    uint32_t variant;
    const char *architecture;
};

struct load_worker {
    pthread_t thread;
    const struct load_options *options;
    pthread_barrier_t *leased; /* where all wait for each other with --hold */
    unsigned number;
    struct synthetic synthetic;
    uint64_t batch, games, plies, duplicates, conflicts, refused;
    uint32_t leases;
    int64_t first_ms, last_ms; /* first lease, last acknowledgement */
};

static void count_answer(struct load_worker *worker, const struct message_results_ack *ack)
{
    worker->games += ack->accepted;
    worker->duplicates += ack->duplicates;
    for (size_t i = 0; i < ack->exception_count; i++) {
        bool conflict = ack->exceptions[i].verdict == MESSAGE_GAME_CONFLICT;
        worker->conflicts += conflict;
        worker->refused += !conflict;
        if (!conflict)
            fprintf(stderr, "load: %s\n", ack->exceptions[i].text);
    }
    worker->last_ms = progress_now_ms();
}

/* Asks, and says HELLO first where the coordinator is a new one. */
static void ask(struct load_worker *worker, struct message *question, struct message *answer)
{
    for (;;) {
        synthetic_ask(&worker->synthetic, question, answer);
        if (answer->kind != MESSAGE_REFUSED || answer->refused.code != MESSAGE_REFUSAL_SAY_HELLO)
            return;
        message_done(answer);
        synthetic_hello(&worker->synthetic, answer);
        message_done(answer);
    }
}

/* Sends a batch until it is acknowledged. */
static void send_games(struct load_worker *worker, struct message_game *games, size_t count)
{
    struct message results = {.kind = MESSAGE_RESULTS}, answer;
    results.results = (struct message_results){worker->batch, games, count};
    for (;;) {
        ask(worker, &results, &answer);
        if (answer.kind == MESSAGE_RESULTS_ACK)
            break;
        if (answer.kind != MESSAGE_REFUSED || (answer.refused.code != MESSAGE_REFUSAL_BUSY &&
                                               answer.refused.code != MESSAGE_REFUSAL_UNAVAILABLE)) {
            synthetic_give_up(&worker->synthetic,
                              answer.kind == MESSAGE_REFUSED ? answer.refused.text : "no acknowledgement");
        }
        message_done(&answer);
    }
    count_answer(worker, &answer.results_ack);
    message_done(&answer);
}

/* The batch once more, every game with other content. */
static void send_altered(struct load_worker *worker, struct synthetic_games *made,
                         const struct message_lease_grant *grant, const struct message_game *games,
                         size_t count)
{
    struct message_game *others = calloc(count, sizeof *others);
    bool same = made->same;
    made->same = false;
    for (size_t i = 0; i < count; i++)
        do {
            message_game_done(&others[i]);
            synthetic_play(&worker->synthetic, made, grant, games[i].pair, games[i].leg, &others[i]);
        } while (strcmp(others[i].moves, games[i].moves) == 0);
    made->same = same;
    send_games(worker, others, count);
    for (size_t i = 0; i < count; i++)
        message_game_done(&others[i]);
    free(others);
}

static void deliver(struct load_worker *worker, struct synthetic_games *made,
                    const struct message_lease_grant *grant, struct message_game *games, size_t count)
{
    worker->batch++;
    for (uint32_t time = 0; time < worker->options->times; time++)
        send_games(worker, games, count);
    if (worker->options->alter)
        send_altered(worker, made, grant, games, count);
    for (size_t i = 0; i < count; i++) {
        worker->plies += games[i].plies;
        message_game_done(&games[i]);
    }
}

static void play_lease(struct load_worker *worker, const struct message_lease_grant *grant)
{
    const struct load_options *options = worker->options;
    struct synthetic_games made;
    synthetic_games_init(&made, &worker->synthetic, &grant->spec);
    made.same = options->same;
    made.variant = options->variant;
    made.winner = options->winner;
    made.score = options->score;
    struct message_game *games = calloc(MESSAGE_GAMES_MAX, sizeof *games);
    size_t count = 0, bytes = 0;
    for (uint32_t i = 0; i < grant->pair_count; i++) {
        for (unsigned leg = 0; leg < (options->half ? 1 : 2); leg++) {
            synthetic_play(&worker->synthetic, &made, grant, grant->first_pair + i, leg, &games[count]);
            bytes += message_game_bytes(&games[count++]);
        }
        if (count >= 2 * options->batch_pairs || count + 2 > MESSAGE_GAMES_MAX ||
            bytes > MESSAGE_BYTES_MAX * 3 / 4 || i + 1 == grant->pair_count) {
            deliver(worker, &made, grant, games, count);
            count = bytes = 0;
        }
    }
    synthetic_games_done(&made);
    free(games);
}

/* What a worker says whose play threads hang. */
static void show_no_progress(struct load_worker *worker, uint64_t lease)
{
    struct message_lease_progress still = {.lease = lease, .plies = 1};
    struct message news = {.kind = MESSAGE_PROGRESS, .progress = {&still, 1}}, answer;
    bool woken;
    ask(worker, &news, &answer);
    message_done(&answer);
    dealer_wait(worker->synthetic.dealer, -1, 100, &woken);
}

static void take_lease(struct load_worker *worker, const struct message_lease_grant *grant)
{
    if (!worker->first_ms)
        worker->first_ms = progress_now_ms();
    if (worker->options->hold && worker->leases == 0)
        pthread_barrier_wait(worker->leased);
    worker->leases++;
    while (worker->options->hang)
        show_no_progress(worker, grant->lease);
    play_lease(worker, grant);
}

static void *run(void *context)
{
    struct load_worker *worker = context;
    const struct load_options *options = worker->options;
    char name[MESSAGE_NAME_MAX];
    struct message answer;
    snprintf(name, sizeof name, "%.48s-%u", options->name, worker->number);
    synthetic_init(&worker->synthetic, options->endpoint, name);
    worker->synthetic.architecture = options->architecture;
    synthetic_hello(&worker->synthetic, &answer);
    if (answer.kind != MESSAGE_WELCOME)
        synthetic_give_up(&worker->synthetic,
                          answer.kind == MESSAGE_REFUSED ? answer.refused.text : "no welcome");
    message_done(&answer);
    for (int idle = 0; idle < LOAD_IDLE_TURNS && worker->leases < options->leases;) {
        struct message request = {.kind = MESSAGE_LEASE_REQUEST};
        request.lease_request = (struct message_lease_request){.pairs = options->lease_pairs};
        if (worker->synthetic.late.kind == MESSAGE_LEASE_GRANT) {
            answer = worker->synthetic.late;
            worker->synthetic.late = (struct message){0};
        } else {
            ask(worker, &request, &answer);
        }
        if (answer.kind == MESSAGE_LEASE_GRANT) {
            idle = 0;
            take_lease(worker, &answer.lease_grant);
        } else {
            bool woken;
            idle++;
            dealer_wait(worker->synthetic.dealer, -1, 50, &woken);
        }
        message_done(&answer);
    }
    synthetic_done(&worker->synthetic);
    return NULL;
}

/* --- options ----------------------------------------------------------------------------------------------
 */

enum {
    OPTION_SAME = 256,
    OPTION_HOLD,
    OPTION_ALTER,
    OPTION_HALF,
    OPTION_TIMES,
    OPTION_LEASES,
    OPTION_WINNER,
    OPTION_SCORE,
    OPTION_HANG,
    OPTION_VARIANT,
    OPTION_ARCHITECTURE
};

static const struct argp_option options_known[] = {
    {"name", 'n', "NAME", 0, "Workers are NAME-0, NAME-1, ... (load)", 0},
    {"pairs", 'p', "N", 0, "Pairs asked for at once (4096)", 0},
    {"leases", OPTION_LEASES, "N", 0, "Leave after so many leases", 0},
    {"same", OPTION_SAME, NULL, 0, "A pair's games are the same whoever plays them", 0},
    {"winner", OPTION_WINNER, "a|b", 0, "Only games that this player wins", 0},
    {"score", OPTION_SCORE, "P", 0, "With --same: player a wins a game with this chance, else loses it", 0},
    {"hold", OPTION_HOLD, NULL, 0, "Deliver nothing before every worker holds a lease", 0},
    {"times", OPTION_TIMES, "N", 0, "Send every batch so often", 0},
    {"alter", OPTION_ALTER, NULL, 0, "Send every batch once more, each game with other content", 0},
    {"half", OPTION_HALF, NULL, 0, "Deliver only the first game of each pair", 0},
    {"hang", OPTION_HANG, NULL, 0, "Take a lease and get nowhere with it, for ever", 0},
    {"variant", OPTION_VARIANT, "N", 0, "As --same, for everybody of the same N (0)", 0},
    {"architecture", OPTION_ARCHITECTURE, "NAME", 0, "What HELLO says of the machine (nothing)", 0},
    {0},
};

static uint32_t whole(struct argp_state *state, const char *text, uint32_t most)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*end != '\0' || value < 1 || value > most)
        argp_error(state, "a whole number from 1 to %u, not `%s`", most, text);
    return (uint32_t)value;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct load_options *options = state->input;
    switch (key) {
    case 'n':
        options->name = text;
        return 0;
    case 'p':
        options->lease_pairs = whole(state, text, 4096);
        return 0;
    case OPTION_LEASES:
        options->leases = whole(state, text, UINT32_MAX - 1);
        return 0;
    case OPTION_SAME:
        options->same = true;
        return 0;
    case OPTION_WINNER:
        options->winner = *text == 'a' ? SYNTHETIC_A : SYNTHETIC_B;
        return 0;
    case OPTION_SCORE:
        options->score = atof(text);
        if (!(options->score > 0 && options->score < 1))
            argp_error(state, "a chance between 0 and 1, not `%s`", text);
        return 0;
    case OPTION_HOLD:
        options->hold = true;
        return 0;
    case OPTION_TIMES:
        options->times = whole(state, text, 1000);
        return 0;
    case OPTION_ALTER:
        options->alter = true;
        return 0;
    case OPTION_HALF:
        options->half = true;
        return 0;
    case OPTION_HANG:
        options->hang = true;
        return 0;
    case OPTION_VARIANT:
        options->same = true;
        options->variant = whole(state, text, UINT32_MAX - 1);
        return 0;
    case OPTION_ARCHITECTURE:
        options->architecture = text;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0)
            options->endpoint = text;
        else if (state->arg_num == 1)
            options->workers = whole(state, text, LOAD_WORKERS_MAX);
        else if (state->arg_num == 2)
            options->batch_pairs = whole(state, text, 4096);
        else
            argp_usage(state);
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 3)
            argp_usage(state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void print_sum(const struct load_worker *workers, unsigned count)
{
    struct load_worker sum = {.first_ms = INT64_MAX};
    for (unsigned i = 0; i < count; i++) {
        const struct load_worker *worker = &workers[i];
        sum.games += worker->games;
        sum.plies += worker->plies;
        sum.duplicates += worker->duplicates;
        sum.conflicts += worker->conflicts;
        sum.refused += worker->refused;
        sum.leases += worker->leases;
        if (worker->first_ms && worker->first_ms < sum.first_ms)
            sum.first_ms = worker->first_ms;
        if (worker->last_ms > sum.last_ms)
            sum.last_ms = worker->last_ms;
    }
    double seconds = sum.games ? (double)(sum.last_ms - sum.first_ms) / 1000 : 0;
    printf(
        "{\"workers\":%u,\"leases\":%u,\"games\":%llu,\"plies\":%llu,\"duplicates\":%llu,\"conflicts\":%llu,"
        "\"refused\":%llu,\"seconds\":%.3f,\"games_per_second\":%.0f}\n",
        count, sum.leases, (unsigned long long)sum.games, (unsigned long long)sum.plies,
        (unsigned long long)sum.duplicates, (unsigned long long)sum.conflicts,
        (unsigned long long)sum.refused, seconds, seconds > 0 ? (double)sum.games / seconds : 0);
}

int main(int argc, char **argv)
{
    static struct load_worker workers[LOAD_WORKERS_MAX];
    static const struct argp argp = {options_known,
                                     parse,
                                     "ENDPOINT WORKERS BATCH_PAIRS",
                                     "Synthetic workers: random legal games over the real protocol.",
                                     NULL,
                                     NULL,
                                     NULL};
    struct load_options options = {.name = "load", .lease_pairs = 4096, .times = 1, .leases = UINT32_MAX};
    pthread_barrier_t leased;
    uint64_t refused = 0;
    if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0)
        return 2;
    pthread_barrier_init(&leased, NULL, options.workers);
    for (unsigned i = 0; i < options.workers; i++) {
        workers[i] = (struct load_worker){.options = &options, .leased = &leased, .number = i};
        if (pthread_create(&workers[i].thread, NULL, run, &workers[i]) != 0) {
            fprintf(stderr, "load: no thread\n");
            return 1;
        }
    }
    for (unsigned i = 0; i < options.workers; i++) {
        pthread_join(workers[i].thread, NULL);
        refused += workers[i].refused;
    }
    print_sum(workers, options.workers);
    return refused ? 1 : 0;
}
