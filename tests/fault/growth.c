/* How a cluster grows: coordinators with their databases, perhaps relays between them and the workers, as
 * queues that are served in order, with the real lease book inside. Options say what a message, a game and a
 * commit cost (deploy/SCALE.md has the measured figures); how long an answer takes, what is busiest, how much
 * waits for work and how much is played twice comes out. A relay leases large ranges from above, serves the
 * same protocol below, judges the games, and passes them on together. Simulated time; the same options give
 * the same figures. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/lease.h"
#include "engine/mix.h"
#include "tests/fault/heap.h"

enum {
    WARM_MS = 30000,
    NETWORK_US = 300,
    CREDIT_GAMES = 8192, /* a worker keeps so many unacknowledged ones, then it waits */
    RELAY_PAIRS = 65536,
    WINDOW_PAIRS = 1 << 20, /* out at one coordinator */
    RELAY_GAMES = 32768,    /* at most, passed on at once */
    COMMIT_GAMES = 65536,   /* about the writer's 16 MiB; the rest waits for the next commit */
    DELAYS_MAX = 1 << 22,
};

struct shape {
    double seed, cores, slots, coordinators, relays, seconds;
    double game_ms;                      /* core time of a game */
    double message_us, judge_us, row_us; /* a message; a game judged; a game that a relay has judged; */
    double commit_ms, commit_us;         /* a commit; a game in it */
    double report_s, deliver_s, ahead_s; /* the workers' rhythm */
    double deaths;                       /* of a worker, an hour */
};

enum kind { WAKE, ASK, DELIVER, REPORT, COMMIT, DIE };

struct event {
    double at;
    enum kind kind;
    uint32_t who;
    double games;
};

struct server {
    double free_at, busy;
};

struct job {
    uint32_t who;
    double games;
};

struct jobs {
    struct job *list;
    size_t count, room;
};

struct coordinator {
    struct server loop;
    struct jobs queued, under_way;
    bool committing;
    double out; /* games leased and not committed */
    double commit_busy;
    struct lease_book *book;
};

/* A worker, or a relay as its coordinator sees it. */
struct node {
    uint32_t above; /* relay or coordinator */
    double held, spooled, sent, played_at;
    bool asks;
    struct server loop; /* of a relay */
    uint32_t under;     /* workers of a relay */
};

struct growth {
    struct shape shape;
    uint64_t dice, events;
    struct heap heap; /* of events */
    struct coordinator *coordinators;
    struct node *workers, *relays;
    uint32_t worker_count, relay_count, coordinator_count;
    double *delays;
    size_t delay_count;
    double now, played, idle_ms, core_ms, committed, lost;
};

static _Noreturn void give_up(const char *why)
{
    fprintf(stderr, "growth: %s\n", why);
    exit(1);
}

static void *need(void *memory)
{
    if (!memory)
        give_up("no memory");
    return memory;
}

static double uniform(struct growth *g)
{
    return (double)(mix((uint64_t)g->shape.seed, g->dice++) >> 11) / 9007199254740992.0;
}

static bool earlier(const void *one, const void *other)
{
    return ((const struct event *)one)->at < ((const struct event *)other)->at;
}

static void push(struct growth *g, double delay_ms, enum kind kind, uint32_t who, double games)
{
    struct event event = {g->now + delay_ms, kind, who, games};
    if (!heap_push(&g->heap, &event))
        give_up("no memory");
}

static struct event pop(struct growth *g)
{
    struct event first;
    heap_pop(&g->heap, &first);
    return first;
}

static bool warm(const struct growth *g)
{
    return g->now >= WARM_MS;
}

/* When work that comes now will be done. */
static double serve(const struct growth *g, struct server *server, double ms)
{
    double begins = server->free_at > g->now ? server->free_at : g->now;
    server->free_at = begins + ms;
    server->busy += warm(g) ? ms : 0;
    return server->free_at;
}

/* --- workers --- */

static double speed(const struct growth *g)
{
    return g->shape.slots / g->shape.game_ms;
}

static void play(struct growth *g, struct node *worker)
{
    double could = speed(g) * (g->now - worker->played_at);
    double may =
        worker->held < CREDIT_GAMES - worker->spooled ? worker->held : CREDIT_GAMES - worker->spooled;
    double games = could < may ? could : may > 0 ? may : 0;
    worker->held -= games;
    worker->spooled += games;
    if (warm(g)) {
        g->core_ms += g->shape.slots * (g->now - worker->played_at);
        g->idle_ms += g->shape.game_ms * (could - games);
        g->played += games;
    }
    worker->played_at = g->now;
}

static void wake_worker(struct growth *g, uint32_t index)
{
    struct node *worker = &g->workers[index];
    play(g, worker);
    if (!worker->asks && worker->held < speed(g) * g->shape.ahead_s * 1000) {
        worker->asks = true;
        push(g, NETWORK_US / 1e3, ASK, index, 0);
    }
    if (worker->sent == 0 && worker->spooled >= 1) {
        worker->sent = worker->spooled;
        push(g, NETWORK_US / 1e3, DELIVER, index, worker->sent);
    }
    push(g, g->shape.deliver_s * 500 * (1 + uniform(g)), WAKE, index, 0);
}

/* --- above --- */

static void note_delay(struct growth *g, double ms)
{
    if (warm(g) && g->delay_count < DELAYS_MAX)
        g->delays[g->delay_count++] = ms;
}

static void append(struct jobs *jobs, struct job job)
{
    if (jobs->count == jobs->room) {
        jobs->room = jobs->room ? 2 * jobs->room : 256;
        jobs->list = need(realloc(jobs->list, jobs->room * sizeof job));
    }
    jobs->list[jobs->count++] = job;
}

static void begin_commit(struct growth *g, struct coordinator *c)
{
    if (c->committing || c->queued.count == 0)
        return;
    double games = 0;
    size_t taken = 0;
    c->under_way.count = 0;
    while (taken < c->queued.count && games < COMMIT_GAMES) {
        games += c->queued.list[taken].games;
        append(&c->under_way, c->queued.list[taken++]);
    }
    c->queued.count -= taken;
    memmove(c->queued.list, c->queued.list + taken, c->queued.count * sizeof *c->queued.list);
    double starts = c->loop.free_at > g->now ? c->loop.free_at - g->now : 0;
    double ms = g->shape.commit_ms + games * g->shape.commit_us / 1e3;
    c->committing = true;
    c->commit_busy += warm(g) ? ms : 0;
    push(g, starts + ms, COMMIT, (uint32_t)(c - g->coordinators), 0);
}

static struct node *node_of(struct growth *g, uint32_t who)
{
    return who < g->worker_count ? &g->workers[who] : &g->relays[who - g->worker_count];
}

static uint32_t slots_of(const struct growth *g, uint32_t who)
{
    uint32_t workers = who < g->worker_count ? 1 : g->relays[who - g->worker_count].under;
    return workers * (uint32_t)g->shape.slots;
}

static double grant(struct growth *g, struct coordinator *c, uint32_t who, double games)
{
    struct lease lease;
    struct lease_ask ask = {.session = who + 1,
                            .credit = games / 2 > RELAY_PAIRS ? RELAY_PAIRS : (uint32_t)(games / 2) + 1,
                            .slots = slots_of(g, who),
                            .work_ms = (uint32_t)(2000 * g->shape.ahead_s),
                            .pairs_per_minute = (uint32_t)(slots_of(g, who) / g->shape.game_ms * 30000) + 1};
    if (c->out >= 2.0 * WINDOW_PAIRS || lease_grant(c->book, 1, &ask, (int64_t)g->now, &lease) != LEASE_OK)
        return 0;
    c->out += 2.0 * lease.count;
    /* Its results end it at once for the book: what is held is counted here, pair by pair it would be the
     * same. */
    for (uint64_t pair = lease.first; pair < lease.first + lease.count; pair++)
        lease_done(c->book, 1, pair, who + 1, (int64_t)g->now, NULL);
    lease_experiment_advance(c->book, 1, lease.first + lease.count);
    return 2.0 * lease.count;
}

static void end_commit(struct growth *g, struct coordinator *c)
{
    c->committing = false;
    for (size_t i = 0; i < c->under_way.count; i++) {
        struct job *job = &c->under_way.list[i];
        struct node *node = node_of(g, job->who);
        g->committed += warm(g) ? job->games : 0;
        if (job->games >= 1)
            lease_experiment_cost(c->book, 1, job->who + 1, (uint64_t)job->games,
                                  job->games * g->shape.game_ms);
        node->spooled -= job->games;
        node->sent = 0;
        c->out -= job->games;
    }
    begin_commit(g, c);
}

/* At a coordinator: games of a worker or a relay. */
static void arrive(struct growth *g, struct coordinator *c, struct job job, double per_game_us)
{
    serve(g, &c->loop, (g->shape.message_us + job.games * per_game_us) / 1e3);
    append(&c->queued, job);
    begin_commit(g, c);
}

static double games_ahead(const struct growth *g)
{
    return 2 * speed(g) * g->shape.ahead_s * 1000;
}

/* A lease is told in the loop's turn; its row waits for the writer. When the answer is there. */
static double ask(struct growth *g, struct coordinator *c, uint32_t who, double games)
{
    struct node *node = node_of(g, who);
    double done = serve(g, &c->loop, g->shape.message_us / 1e3);
    node->held += grant(g, c, who, games);
    return done;
}

static void relay_asks(struct growth *g, uint32_t index)
{
    struct node *relay = &g->relays[index];
    if (relay->held <= speed(g) * g->shape.ahead_s * 1000 * relay->under)
        ask(g, &g->coordinators[relay->above], g->worker_count + index, games_ahead(g) * relay->under);
}

static void on_ask(struct growth *g, uint32_t index)
{
    struct node *worker = &g->workers[index];
    worker->asks = false;
    if (g->relay_count == 0) {
        double done = ask(g, &g->coordinators[worker->above], index, games_ahead(g));
        note_delay(g, done - g->now + 2 * NETWORK_US / 1e3);
        return;
    }
    struct node *relay = &g->relays[worker->above];
    double done = serve(g, &relay->loop, g->shape.message_us / 1e3);
    double games = games_ahead(g) < relay->held ? games_ahead(g) : relay->held;
    relay->held -= games;
    worker->held += games;
    note_delay(g, done - g->now + 2 * NETWORK_US / 1e3);
    relay_asks(g, worker->above);
}

static void on_deliver(struct growth *g, const struct event *e)
{
    struct node *worker = &g->workers[e->who];
    if (g->relay_count == 0) {
        arrive(g, &g->coordinators[worker->above], (struct job){e->who, e->games}, g->shape.judge_us);
        return;
    }
    /* Acknowledged when the database has it: the relay passes on what it has judged ten times a second. */
    struct node *relay = &g->relays[worker->above];
    serve(g, &relay->loop, (g->shape.message_us + e->games * g->shape.judge_us) / 1e3);
    relay->spooled += e->games;
    worker->spooled -= e->games;
    worker->sent = 0;
}

static void wake_relay(struct growth *g, uint32_t index)
{
    struct node *relay = &g->relays[index];
    relay_asks(g, index);
    if (relay->sent == 0 && relay->spooled >= 1) {
        relay->sent = relay->spooled < RELAY_GAMES ? relay->spooled : RELAY_GAMES;
        arrive(g, &g->coordinators[relay->above], (struct job){g->worker_count + index, relay->sent},
               g->shape.row_us);
    }
    push(g, 100, WAKE, g->worker_count + index, 0);
}

static void on_report(struct growth *g, uint32_t index)
{
    struct node *worker = &g->workers[index];
    struct server *loop =
        g->relay_count ? &g->relays[worker->above].loop : &g->coordinators[worker->above].loop;
    serve(g, loop, g->shape.message_us / 1e3);
    push(g, g->shape.report_s * 1000, REPORT, index, 0);
}

/* What it held goes out again after a term; what it had played and not delivered was played for nothing.
 * Another worker stands up in its place. */
static void on_die(struct growth *g, uint32_t index)
{
    struct node *worker = &g->workers[index];
    play(g, worker);
    double lost = worker->spooled - worker->sent;
    g->lost += warm(g) ? lost : 0;
    if (g->relay_count == 0)
        g->coordinators[worker->above].out -= worker->held + lost;
    else
        g->relays[worker->above].held += worker->held + lost; /* goes to another of its workers */
    worker->held = 0;
    worker->spooled = worker->sent;
    push(g, 3600e3 / g->shape.deaths * 2 * uniform(g), DIE, index, 0);
}

static void handle(struct growth *g, const struct event *e)
{
    switch (e->kind) {
    case WAKE:
        if (e->who < g->worker_count)
            wake_worker(g, e->who);
        else
            wake_relay(g, e->who - g->worker_count);
        break;
    case ASK:
        on_ask(g, e->who);
        break;
    case DELIVER:
        on_deliver(g, e);
        break;
    case REPORT:
        on_report(g, e->who);
        break;
    case COMMIT:
        end_commit(g, &g->coordinators[e->who]);
        break;
    default:
        on_die(g, e->who);
    }
}

/* --- the run --- */

static void build(struct growth *g)
{
    const struct shape *s = &g->shape;
    g->worker_count = (uint32_t)(s->cores / s->slots);
    g->relay_count = (uint32_t)s->relays;
    g->coordinator_count = (uint32_t)s->coordinators;
    g->workers = need(calloc(g->worker_count, sizeof *g->workers));
    g->relays = need(calloc(g->relay_count + 1, sizeof *g->relays));
    g->coordinators = need(calloc(g->coordinator_count, sizeof *g->coordinators));
    g->delays = need(malloc(DELAYS_MAX * sizeof *g->delays));
    struct lease_policy policy = lease_policy_default();
    policy.pairs_max = LEASE_PAIRS_MAX;
    for (uint32_t i = 0; i < g->coordinator_count; i++) {
        g->coordinators[i].book = need(lease_book_create(&policy, 1));
        lease_experiment_add(g->coordinators[i].book, 1, UINT64_C(1) << 40, LEASE_WINDOW_MAX, 0);
    }
    for (uint32_t i = 0; i < g->relay_count; i++) {
        g->relays[i].above = i % g->coordinator_count;
        push(g, 500 * uniform(g), WAKE, g->worker_count + i, 0);
    }
    for (uint32_t i = 0; i < g->worker_count; i++) {
        struct node *worker = &g->workers[i];
        worker->above = g->relay_count ? i % g->relay_count : i % g->coordinator_count;
        if (g->relay_count)
            g->relays[worker->above].under++;
        push(g, WARM_MS * 0.3 * uniform(g), WAKE, i, 0);
        push(g, s->report_s * 1000 * uniform(g), REPORT, i, 0);
        if (s->deaths > 0)
            push(g, 3600e3 / s->deaths * uniform(g), DIE, i, 0);
    }
}

static int by_size(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static void print(struct growth *g)
{
    double span = g->shape.seconds * 1000 - WARM_MS, loop = 0, commit = 0, relay = 0;
    for (uint32_t i = 0; i < g->coordinator_count; i++) {
        struct coordinator *c = &g->coordinators[i];
        loop = c->loop.busy > loop ? c->loop.busy : loop;
        commit = c->commit_busy > commit ? c->commit_busy : commit;
    }
    for (uint32_t i = 0; i < g->relay_count; i++)
        relay = g->relays[i].loop.busy > relay ? g->relays[i].loop.busy : relay;
    qsort(g->delays, g->delay_count, sizeof *g->delays, by_size);
    size_t last = g->delay_count ? g->delay_count - 1 : 0;
    printf("{\"cores\":%.0f,\"workers\":%u,\"relays\":%u,\"coordinators\":%u,\"events_per_second\":%.0f,"
           "\"games_per_second\":%.0f,\"wanted\":%.0f,\"idle\":%.4f,\"dispatch_p50_ms\":%.2f,"
           "\"dispatch_p99_ms\":%.2f,\"loop_busy\":%.3f,\"writer_busy\":%.3f,\"relay_busy\":%.3f,"
           "\"played_twice\":%.6f}\n",
           g->shape.cores, g->worker_count, g->relay_count, g->coordinator_count,
           (double)g->events / g->shape.seconds, g->committed / span * 1000,
           g->shape.cores / g->shape.game_ms * 1000, g->core_ms > 0 ? g->idle_ms / g->core_ms : 0,
           g->delay_count ? g->delays[last / 2] : 0, g->delay_count ? g->delays[last * 99 / 100] : 0,
           loop / span, commit / span, relay / span, g->played > 0 ? g->lost / g->played : 0);
}

static const struct option_of {
    const char *name, *help;
    size_t at;
    double least, most;
} known[] = {
    {"seed", "the dice (1)", offsetof(struct shape, seed), 0, 1e15},
    {"cores", "that play (10000)", offsetof(struct shape, cores), 1, 1e7},
    {"slots", "of them in a worker (32)", offsetof(struct shape, slots), 1, 4096},
    {"coordinators", "each with its database and its part of the experiments (1)",
     offsetof(struct shape, coordinators), 1, 1000},
    {"relays", "between them and the workers (0)", offsetof(struct shape, relays), 0, 10000},
    {"seconds", "simulated, of which 30 do not count (120)", offsetof(struct shape, seconds), 40, 100000},
    {"game-ms", "core time of a game (1000)", offsetof(struct shape, game_ms), 0.1, 1e7},
    {"message-us", "a message in the event loop", offsetof(struct shape, message_us), 0.1, 1e6},
    {"judge-us", "a game judged", offsetof(struct shape, judge_us), 0, 1e6},
    {"row-us", "a game passed on that a relay judged", offsetof(struct shape, row_us), 0, 1e6},
    {"commit-ms", "a commit", offsetof(struct shape, commit_ms), 0, 1e6},
    {"commit-us", "a game in a commit", offsetof(struct shape, commit_us), 0, 1e6},
    {"deaths", "of a worker in an hour (0.1)", offsetof(struct shape, deaths), 0, 1000},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct shape *shape = state->input;
    if (key < 256 || key >= 256 + (int)(sizeof known / sizeof *known))
        return ARGP_ERR_UNKNOWN;
    const struct option_of *option = &known[key - 256];
    char *end;
    double value = strtod(text, &end);
    if (*end != '\0' || !(value >= option->least && value <= option->most))
        argp_error(state, "--%s: a number from %g to %g, not `%s`", option->name, option->least, option->most,
                   text);
    *(double *)((char *)shape + option->at) = value;
    return 0;
}

int main(int argc, char **argv)
{
    struct argp_option options[sizeof known / sizeof *known + 1] = {0};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        options[i] = (struct argp_option){known[i].name, 256 + (int)i, "N", 0, known[i].help, 0};
    struct argp argp = {options, parse, NULL, "Queues of a growing cluster.", NULL, NULL, NULL};
    struct growth g = {.heap = {.size = sizeof(struct event), .earlier = earlier},
                       .shape = {.seed = 1,
                                 .cores = 10000,
                                 .slots = 32,
                                 .coordinators = 1,
                                 .seconds = 120,
                                 .game_ms = 1000,
                                 .message_us = 20,
                                 .judge_us = 5,
                                 .row_us = 2,
                                 .commit_ms = 3,
                                 .commit_us = 15,
                                 .report_s = 10,
                                 .deliver_s = 5,
                                 .ahead_s = 15,
                                 .deaths = 0.1}};
    argp_parse(&argp, argc, argv, 0, NULL, &g.shape);
    build(&g);
    while (g.heap.count > 0 && g.now < g.shape.seconds * 1000) {
        struct event e = pop(&g);
        g.now = e.at;
        g.events++;
        handle(&g, &e);
    }
    print(&g);
    return 0;
}
