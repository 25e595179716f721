/* Thousands of workers at a lab's rhythm in one thread: each asks for work in time, plays so many games a
 * second, delivers what it has every few seconds, reports progress, and comes back by itself when the
 * coordinator was away. Games are random legal ones from the pair's opening. Loopback or ipc without keys.
 *
 *   build/bench/crowd ENDPOINT WORKERS [--rate G] [--seconds S] [--spread S] [--every S]
 *
 * prints a JSON line every so often and one for the whole at the end: answers to lease requests by their
 * percentiles, games acknowledged, who is connected. Ends with 1 when anything was refused. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include "engine/mix.h"
#include "tests/bench/synthetic.h"
#include "tests/bench/zmtp.h"

enum {
    WORKERS_MAX = 16000,
    HELD = 8,            /* leases a worker may hold */
    DELIVER_MS = 3000,   /* it delivers what it has so often */
    AHEAD_MS = 15000,    /* it asks when less work than this is left */
    ANSWER_MS = 30000,   /* without an answer for so long it connects anew */
    BACK_FIRST_MS = 200, /* and waits before: doubled up to */
    BACK_MAX_MS = 10000,
    TOPICS = 3,
    SAMPLES = 1 << 20,
};

enum topic { LEASE, RESULTS, PROGRESS };
static const char *const topic_names[TOPICS] = {"lease", "results", "progress"};

struct held {
    struct message_lease_grant grant; /* its arrays are not kept */
    uint32_t played;                  /* games */
};

struct member {
    struct synthetic synthetic; /* name, nonce and chance; its dealer is not used */
    struct zmtp link;
    enum { AWAY, CALLING, GREETED, WELCOME } state;
    uint32_t wait_ms; /* before the next call */
    int64_t due_ms;   /* when to look at it again */
    int64_t asked_ms[TOPICS], next_ms[TOPICS];
    uint64_t asked[TOPICS]; /* request number under way; 0: none */
    struct held held[HELD];
    unsigned held_count;
    double games_owed; /* played by the clock, not yet made */
    int64_t played_ms;
    struct message_game *games; /* made or sent, not acknowledged */
    size_t game_count, sent_count;
    uint64_t plies, batch;
    uint32_t progress_ms;
};

struct samples {
    uint32_t *us;
    size_t count;
};

struct crowd {
    const char *endpoint;
    unsigned workers;
    double rate;
    int64_t seconds, spread, every;
    int epoll;
    struct member *members;
    struct synthetic_games made;
    uint64_t made_for; /* experiment */
    bool has_made;
    struct samples topics[TOPICS], whole[TOPICS];
    uint64_t games, duplicates, refused, connects, losses, leases, nothings, silences;
    uint64_t games_before;
    unsigned welcome;
};

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static uint32_t chance(struct member *member, uint32_t sides)
{
    member->synthetic.bits = mix(member->synthetic.bits, 1);
    return mix_below(member->synthetic.bits, sides);
}

/* --- figures --- */

static void note(struct samples *samples, int64_t us)
{
    if (samples->count < SAMPLES)
        samples->us[samples->count++] = us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

static int by_size(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

static void print_topic(struct samples *samples, const char *name)
{
    if (samples->count == 0)
        return;
    qsort(samples->us, samples->count, sizeof *samples->us, by_size);
    size_t last = samples->count - 1;
    printf(",\"%s\":{\"answers\":%zu,\"p50_ms\":%.2f,\"p90_ms\":%.2f,\"p99_ms\":%.2f,\"max_ms\":%.2f}", name,
           samples->count, samples->us[last / 2] / 1e3, samples->us[last * 9 / 10] / 1e3,
           samples->us[last * 99 / 100] / 1e3, samples->us[last] / 1e3);
    samples->count = 0;
}

static void print_line(struct crowd *crowd, struct samples *topics, const char *what, double at, double span,
                       uint64_t games)
{
    printf("{\"%s\":%.1f,\"welcome\":%u,\"games\":%llu,\"games_per_second\":%.0f,\"leases\":%llu,"
           "\"nothing\":%llu,\"duplicates\":%llu,\"refused\":%llu,\"connects\":%llu,\"losses\":%llu,"
           "\"silences\":%llu",
           what, at, crowd->welcome, (unsigned long long)crowd->games, span > 0 ? (double)games / span : 0,
           (unsigned long long)crowd->leases, (unsigned long long)crowd->nothings,
           (unsigned long long)crowd->duplicates, (unsigned long long)crowd->refused,
           (unsigned long long)crowd->connects, (unsigned long long)crowd->losses,
           (unsigned long long)crowd->silences);
    for (unsigned topic = 0; topic < TOPICS; topic++)
        print_topic(&topics[topic], topic_names[topic]);
    puts("}");
    fflush(stdout);
}

/* --- talking --- */

static void watch(const struct crowd *crowd, struct member *member, int operation)
{
    struct epoll_event event = {
        .events = EPOLLIN | (zmtp_wants_to_write(&member->link) || member->state == CALLING ? EPOLLOUT : 0u),
        .data.ptr = member};
    if (epoll_ctl(crowd->epoll, operation, member->link.fd, &event) != 0 && operation == EPOLL_CTL_ADD)
        synthetic_give_up(&member->synthetic, "no epoll");
}

static void lose(struct crowd *crowd, struct member *member, int64_t now)
{
    crowd->welcome -= member->state == WELCOME;
    crowd->losses += member->state == WELCOME;
    zmtp_close(&member->link);
    member->state = AWAY;
    memset(member->asked, 0, sizeof member->asked);
    member->sent_count = 0;
    member->due_ms = now + member->wait_ms / 2 + chance(member, member->wait_ms);
    member->wait_ms = member->wait_ms * 2 < BACK_MAX_MS ? member->wait_ms * 2 : BACK_MAX_MS;
}

static void call(struct crowd *crowd, struct member *member, int64_t now)
{
    crowd->connects++;
    if (zmtp_connect(&member->link, crowd->endpoint) != 0) {
        lose(crowd, member, now);
        return;
    }
    member->state = CALLING;
    member->due_ms = now + ANSWER_MS;
    watch(crowd, member, EPOLL_CTL_ADD);
}

static uint64_t tell(struct crowd *crowd, struct member *member, struct message *message)
{
    void *bytes;
    size_t size;
    message->request = ++member->synthetic.request;
    if (message_encode(message, &bytes, &size) != 0 || zmtp_send(&member->link, bytes, size) != 0)
        synthetic_give_up(&member->synthetic, "cannot encode");
    free(bytes);
    /* A connection that is gone is seen by the next read. */
    (void)zmtp_flush(&member->link);
    watch(crowd, member, EPOLL_CTL_MOD);
    return message->request;
}

static void ask(struct crowd *crowd, struct member *member, enum topic topic, struct message *message)
{
    member->asked_ms[topic] = now_us();
    member->asked[topic] = tell(crowd, member, message);
}

static void say_hello(struct crowd *crowd, struct member *member)
{
    struct message hello = {.kind = MESSAGE_HELLO};
    hello.hello = (struct message_hello){.role = MESSAGE_ROLE_WORKER,
                                         .protocol = MESSAGE_PROTOCOL,
                                         .protocol_min = MESSAGE_PROTOCOL,
                                         .session_nonce = member->synthetic.nonce,
                                         .slots = 1,
                                         .credit = 4096};
    snprintf(hello.hello.name, sizeof hello.hello.name, "%s", member->synthetic.name);
    snprintf(hello.hello.engine_build, sizeof hello.hello.engine_build, "%s", member->synthetic.engine_build);
    tell(crowd, member, &hello);
    member->state = GREETED;
}

/* --- playing --- */

static uint64_t games_left(const struct member *member)
{
    uint64_t left = 0;
    for (unsigned i = 0; i < member->held_count; i++)
        left += 2 * (uint64_t)member->held[i].grant.pair_count - member->held[i].played;
    return left;
}

static void drop_lease(struct member *member, unsigned index)
{
    member->held[index] = member->held[--member->held_count];
}

/* All of one specification: the first experiment's. */
static void make_game(struct crowd *crowd, struct member *member)
{
    struct held *held = &member->held[0];
    if (!crowd->has_made || crowd->made_for != held->grant.spec.experiment) {
        if (crowd->has_made)
            synthetic_games_done(&crowd->made);
        synthetic_games_init(&crowd->made, &member->synthetic, &held->grant.spec);
        crowd->made.same = true; /* a pair may be played by two of them */
        crowd->made_for = held->grant.spec.experiment;
        crowd->has_made = true;
    }
    if (member->game_count % 64 == 0)
        member->games = realloc(member->games, (member->game_count + 64) * sizeof *member->games);
    struct message_game *game = &member->games[member->game_count++];
    synthetic_play(&member->synthetic, &crowd->made, &held->grant, held->grant.first_pair + held->played / 2,
                   held->played % 2, game);
    game->core_us = (uint32_t)(1e6 / crowd->rate);
    member->plies += game->plies;
    held->played++;
    if (held->played == 2 * held->grant.pair_count) {
        for (unsigned i = 0; i + 1 < member->held_count; i++)
            member->held[i] = member->held[i + 1];
        member->held_count--;
    }
}

static void play(struct crowd *crowd, struct member *member, int64_t now)
{
    double owed = member->games_owed + crowd->rate * (double)(now - member->played_ms) / 1000;
    uint64_t most = games_left(member);
    member->played_ms = now;
    for (; owed >= 1 && most > 0 && member->game_count < MESSAGE_GAMES_MAX / 2; owed--, most--)
        make_game(crowd, member);
    member->games_owed = most == 0 && owed > 1 ? 1 : owed; /* idle time is not made up for */
}

static void deliver(struct crowd *crowd, struct member *member)
{
    struct message message = {.kind = MESSAGE_RESULTS};
    member->sent_count = member->game_count;
    message.results = (struct message_results){++member->batch, member->games, member->game_count};
    ask(crowd, member, RESULTS, &message);
}

static void report(struct crowd *crowd, struct member *member)
{
    struct message_lease_progress leases[HELD];
    struct message message = {.kind = MESSAGE_PROGRESS};
    for (unsigned i = 0; i < member->held_count; i++)
        leases[i] = (struct message_lease_progress){member->held[i].grant.lease, member->plies,
                                                    member->held[i].played / 2};
    message.progress = (struct message_progress){leases, member->held_count};
    ask(crowd, member, PROGRESS, &message);
}

static void act(struct crowd *crowd, struct member *member, int64_t now)
{
    play(crowd, member, now);
    for (unsigned topic = 0; topic < TOPICS; topic++)
        if (member->asked[topic] && now_us() - member->asked_ms[topic] > ANSWER_MS * INT64_C(1000)) {
            crowd->silences++;
            lose(crowd, member, now);
            return;
        }
    if (!member->asked[RESULTS] && member->game_count > 0 &&
        (now >= member->next_ms[RESULTS] || games_left(member) == 0)) {
        member->next_ms[RESULTS] = now + DELIVER_MS;
        deliver(crowd, member);
    }
    if (!member->asked[LEASE] && now >= member->next_ms[LEASE] && member->held_count < HELD &&
        (double)games_left(member) < crowd->rate * AHEAD_MS / 1000) {
        struct message message = {.kind = MESSAGE_LEASE_REQUEST};
        message.lease_request = (struct message_lease_request){
            .pairs = 1024, .pairs_per_minute = (uint32_t)(crowd->rate * 30) + 1, .work_ms = 2 * AHEAD_MS};
        ask(crowd, member, LEASE, &message);
    }
    if (!member->asked[PROGRESS] && member->held_count > 0 && now >= member->next_ms[PROGRESS]) {
        member->next_ms[PROGRESS] = now + member->progress_ms;
        report(crowd, member);
    }
    int64_t step = (int64_t)(1000 / crowd->rate);
    member->due_ms = now + (step < 100 ? 100 : step > 1000 ? 1000 : step);
}

/* --- hearing --- */

static void forget_games(struct member *member, size_t count)
{
    for (size_t i = 0; i < count; i++)
        message_game_done(&member->games[i]);
    memmove(member->games, member->games + count, (member->game_count - count) * sizeof *member->games);
    member->game_count -= count;
}

static void hear_ack(struct crowd *crowd, struct member *member, const struct message_results_ack *ack)
{
    crowd->games += ack->accepted;
    crowd->duplicates += ack->duplicates;
    for (size_t i = 0; i < ack->exception_count; i++) {
        if (crowd->refused++ < 10)
            fprintf(stderr, "crowd: %s\n", ack->exceptions[i].text);
    }
    forget_games(member, member->sent_count);
    member->sent_count = 0;
}

static void hear_grant(struct crowd *crowd, struct member *member, const struct message_lease_grant *grant)
{
    crowd->leases++;
    if (member->held_count == HELD)
        return;
    struct held *held = &member->held[member->held_count++];
    *held = (struct held){.grant = *grant};
    held->grant.skip = NULL;
    held->grant.skip_count = 0;
}

static void hear_progress(struct member *member, const struct message_progress_ack *ack)
{
    for (size_t i = 0; i < ack->dropped_count; i++)
        for (unsigned j = 0; j < member->held_count; j++)
            if (member->held[j].grant.lease == ack->dropped[i])
                drop_lease(member, j--);
}

static void hear_welcome(struct crowd *crowd, struct member *member, const struct message_welcome *welcome,
                         int64_t now)
{
    crowd->welcome += member->state != WELCOME;
    member->state = WELCOME;
    member->wait_ms = BACK_FIRST_MS;
    member->progress_ms = welcome->progress_ms;
    member->played_ms = now;
    for (unsigned topic = 0; topic < TOPICS; topic++)
        member->next_ms[topic] = now + chance(member, topic == LEASE ? 1000 : DELIVER_MS);
    member->due_ms = now;
}

static void hear(struct crowd *crowd, struct member *member, const struct message *message, int64_t now)
{
    for (unsigned topic = 0; topic < TOPICS; topic++)
        if (member->asked[topic] == message->request && message->request) {
            int64_t us = now_us() - member->asked_ms[topic];
            note(&crowd->topics[topic], us);
            note(&crowd->whole[topic], us);
            member->asked[topic] = 0;
        }
    switch (message->kind) {
    case MESSAGE_WELCOME:
        hear_welcome(crowd, member, &message->welcome, now);
        break;
    case MESSAGE_LEASE_GRANT:
        hear_grant(crowd, member, &message->lease_grant);
        break;
    case MESSAGE_NOTHING:
        crowd->nothings++;
        member->next_ms[LEASE] = now + message->nothing.retry_ms;
        break;
    case MESSAGE_RESULTS_ACK:
        hear_ack(crowd, member, &message->results_ack);
        break;
    case MESSAGE_PROGRESS_ACK:
        hear_progress(member, &message->progress_ack);
        break;
    case MESSAGE_REFUSED:
        if (message->refused.code == MESSAGE_REFUSAL_SAY_HELLO)
            say_hello(crowd, member);
        else if (message->refused.code != MESSAGE_REFUSAL_BUSY &&
                 message->refused.code != MESSAGE_REFUSAL_UNAVAILABLE)
            synthetic_give_up(&member->synthetic, message->refused.text);
        else
            member->next_ms[RESULTS] = now + message->refused.retry_ms;
        break;
    default:
        break;
    }
}

static void read_from(struct crowd *crowd, struct member *member, int64_t now)
{
    bool gone = zmtp_fill(&member->link) != 0, broken = false;
    uint8_t *bytes;
    size_t size;
    while (member->state != AWAY && (bytes = zmtp_next(&member->link, &size, &broken)) != NULL) {
        struct message message;
        char reason[256];
        if (message_decode(bytes, size, &message, reason, sizeof reason) != 0)
            synthetic_give_up(&member->synthetic, reason);
        free(bytes);
        hear(crowd, member, &message, now);
        message_done(&message);
    }
    if (gone || broken) {
        lose(crowd, member, now);
        return;
    }
    if (member->state == CALLING && member->link.ready)
        say_hello(crowd, member);
    watch(crowd, member, EPOLL_CTL_MOD);
}

/* --- the run --- */

static void look_at(struct crowd *crowd, struct member *member, int64_t now)
{
    if (member->due_ms > now)
        return;
    if (member->state == AWAY)
        call(crowd, member, now);
    else if (member->state == WELCOME)
        act(crowd, member, now);
    else {
        crowd->silences++;
        lose(crowd, member, now);
    }
}

static void run(struct crowd *crowd)
{
    struct epoll_event events[512];
    int64_t began = now_us() / 1000, printed = began, now = began;
    unsigned next = 0;
    while (now < began + crowd->seconds * 1000) {
        int count = epoll_wait(crowd->epoll, events, 512, 1);
        now = now_us() / 1000;
        for (int i = 0; i < count; i++) {
            struct member *member = events[i].data.ptr;
            if (events[i].events & EPOLLOUT && zmtp_flush(&member->link) != 0)
                lose(crowd, member, now);
            else if (member->state != AWAY)
                read_from(crowd, member, now);
        }
        /* A few at a time: an answer does not wait until this thread has played everybody's games. */
        for (unsigned looks = 0; looks < crowd->workers / 16 + 1; looks++) {
            look_at(crowd, &crowd->members[next], now);
            next = (next + 1) % crowd->workers;
        }
        if (now - printed >= crowd->every * 1000) {
            print_line(crowd, crowd->topics, "at", (double)(now - began) / 1000,
                       (double)(now - printed) / 1000, crowd->games - crowd->games_before);
            crowd->games_before = crowd->games;
            printed = now;
        }
    }
    double span = (double)(now - began) / 1000;
    print_line(crowd, crowd->whole, "seconds", span, span, crowd->games);
}

static void assemble(struct crowd *crowd)
{
    int64_t now = now_us() / 1000;
    crowd->epoll = epoll_create1(EPOLL_CLOEXEC);
    crowd->members = calloc(crowd->workers, sizeof *crowd->members);
    for (unsigned topic = 0; topic < TOPICS; topic++) {
        crowd->topics[topic].us = malloc(SAMPLES * sizeof(uint32_t));
        crowd->whole[topic].us = malloc(SAMPLES * sizeof(uint32_t));
        if (!crowd->topics[topic].us || !crowd->whole[topic].us)
            exit(1);
    }
    if (crowd->epoll < 0 || !crowd->members)
        exit(1);
    for (unsigned i = 0; i < crowd->workers; i++) {
        struct member *member = &crowd->members[i];
        char name[MESSAGE_NAME_MAX];
        snprintf(name, sizeof name, "crowd-%u", i);
        synthetic_name(&member->synthetic, name);
        member->link.fd = -1;
        member->wait_ms = BACK_FIRST_MS;
        member->due_ms = now + chance(member, (uint32_t)(crowd->spread * 1000) + 1);
    }
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct crowd *crowd = state->input;
    double value = text ? atof(text) : 0;
    if (text && key != ARGP_KEY_ARG && !(value > 0 && value <= 1e6))
        argp_error(state, "a number above 0, not `%s`", text);
    switch (key) {
    case 'r':
        crowd->rate = value;
        return 0;
    case 't':
        crowd->seconds = (int64_t)value;
        return 0;
    case 's':
        crowd->spread = (int64_t)value;
        return 0;
    case 'e':
        crowd->every = (int64_t)value;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0)
            crowd->endpoint = text;
        else if (state->arg_num == 1 && value >= 1 && value <= WORKERS_MAX)
            crowd->workers = (unsigned)value;
        else
            argp_usage(state);
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 2)
            argp_usage(state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"rate", 'r', "G", 0, "games a second of each (5)", 0},
        {"seconds", 't', "S", 0, "how long (60)", 0},
        {"spread", 's', "S", 0, "they come within so many seconds (10)", 0},
        {"every", 'e', "S", 0, "a line so often (10)", 0},
        {0},
    };
    static const struct argp argp = {
        options, parse, "ENDPOINT WORKERS", "Thousands of synthetic workers at a lab's rhythm.", NULL,
        NULL,    NULL};
    struct crowd crowd = {.rate = 5, .seconds = 60, .spread = 10, .every = 10};
    if (argp_parse(&argp, argc, argv, 0, NULL, &crowd) != 0)
        return 2;
    assemble(&crowd);
    run(&crowd);
    return crowd.refused ? 1 : 0;
}
