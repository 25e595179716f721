/* What the files of the event loop share: server.c (start, loop, clock), server_worker.c (what workers ask),
 * server_control.c (what `kroo` asks), server_answer.c (what the writer sends back). Internal to them. */
#ifndef KROO_COORDINATOR_SERVER_PARTS_H
#define KROO_COORDINATOR_SERVER_PARTS_H

#include <jansson.h>

#include "coordinator/allowlist.h"
#include "coordinator/exporter.h"
#include "coordinator/hook.h"
#include "coordinator/lease.h"
#include "coordinator/ration.h"
#include "coordinator/referee.h"
#include "coordinator/roster.h"
#include "coordinator/schedule.h"
#include "coordinator/server.h"
#include "coordinator/writer.h"

enum {
    SERVER_TICK_MS = 250,
    SERVER_RETRY_MS = 1000,
    SERVER_SESSION_SILENT_MS = 600000,  /* forgotten after this long without a word */
    SERVER_ARTIFACTS_MAX = 16,          /* kept in memory */
    SERVER_ARTIFACTS_BYTES = 128 << 20, /* of them together */
    SERVER_SETBACKS_MAX = 5,            /* by one worker, before it is set aside */
    SERVER_UNKNOWN_MAX = 256,           /* experiment numbers known not to exist */
    SERVER_SESSIONS_A_KEY = 1024,       /* of one listed key, those that fell silent included */
    SERVER_TOLD_BURST = 20, /* log lines that strangers or noise can cause, of one kind, at once */
    SERVER_TOLD_A_MINUTE = 20,
    SERVER_REPORTS_BURST = 100, /* rows (events, faults) that a session can cause beside its results */
    SERVER_REPORTS_A_MINUTE = 60,
    SERVER_MESSAGES_A_TURN = 256, /* between looks at the clock and the writer */
    SERVER_PUBLISH_MS = 1000,     /* how old the figures for a scrape may be */
};

/* An experiment in memory. */
struct server_experiment {
    struct store_experiment row;
    struct referee referee;
    uint64_t prefix;
    uint64_t furthest;         /* no pair at or above was leased; stays when the prefix falls back */
    unsigned deleting;         /* deletions asked for: nothing of it is taken any more */
    bool ended;                /* no more leases; late results are stored and not counted */
    bool playable;             /* by this engine build */
    uint64_t setback_worker;   /* who last gave a lease back for a player's fault, since a game came */
    uint64_t awaiting;         /* decided, but so many pairs keep the verdict back */
    uint64_t waived;           /* the same figure when they were last given up */
    struct tune_book *players; /* of a tune: who plays its batches; owned; else NULL */
};

struct server_artifact {
    uint8_t sha256[STORE_HASH];
    void *content;
    size_t size;
    uint64_t used; /* the least recently used goes first */
};

struct server_counters {
    uint64_t results, refused_games, grants, nothing, expired, say_hello, not_allowed, busy, unsigned_engines,
        noisy, crowded, untold;
};

struct server {
    struct server_options options;
    struct router *router;
    struct writer *writer;
    struct roster *roster;
    struct lease_book *leases;
    struct audit_book *audits;
    struct store_flag *flags; /* owned; workers that are set aside */
    size_t flag_count;
    struct schedule *schedule;
    struct allowlist allowlist;
    struct herald *herald; /* hears of changes of it; NULL: there is none */
    uint64_t peers_version;
    struct ration_table *rations;
    struct allowance told_noise, told_unsent, told_keys; /* log lines */
    struct server_experiment **experiments;
    size_t experiment_count, experiment_room;
    uint64_t unknown[SERVER_UNKNOWN_MAX]; /* ring */
    size_t unknown_next;
    struct server_artifact artifacts[SERVER_ARTIFACTS_MAX];
    size_t artifact_bytes; /* of their contents */
    uint64_t artifact_clock;
    uint64_t announcement;
    uint8_t announced[MESSAGE_HASH];
    size_t outstanding;   /* jobs given to the writer and not back */
    uint64_t numbers_end; /* leases below may be told: reserved in the database */
    bool numbers_asked;   /* a further block is with the writer */
    struct hook_table hooks;
    bool hooks_due;   /* some may be */
    bool hooks_asked; /* a claim of them is with the writer */
    bool draining, lost;
    int64_t now_ms, last_tick_ms, started_ms;
    uint64_t jitter;
    struct server_counters counters;
    struct exporter *exporter; /* NULL: metrics are off */
    struct metrics metrics;    /* the histograms are filled as things happen, the rest before publishing */
    int64_t published_ms;
};

/* server.c */
struct server_experiment *server_find_experiment(const struct server *server, uint64_t id);
void server_move_prefix(struct server *server, struct server_experiment *experiment, uint64_t prefix);
/* Takes the experiment into memory (referee, schedule, leases). NULL without memory or on rules unknown here.
 */
struct server_experiment *server_add_experiment(struct server *server, const struct store_experiment *row,
                                                uint64_t prefix);
void server_end_experiment(struct server *server, struct server_experiment *experiment);
/* Pending, paused, blocked: no more grants; what is out lives on. */
void server_hold_experiment(struct server *server, struct server_experiment *experiment,
                            enum store_state state);
void server_resume_experiment(struct server *server, struct server_experiment *experiment);
/* It was deleted. */
void server_forget_experiment(struct server *server, uint64_t id);
/* All leases of a session go back. */
void server_session_leases_end(struct server *server, uint64_t session);
/* The games of an experiment have changed places. */
void server_reload(struct server *server, const struct job_reload *reload);
void server_reply(struct server *server, const struct socket_peer *peer, struct message *message);
/* A STATUS_REPLY of `status`, which it takes; BUSY where that is NULL (no memory). */
void server_reply_status(struct server *server, const struct session *session, uint64_t request,
                         json_t *status);
void server_refuse(struct server *server, const struct socket_peer *peer, uint64_t request,
                   enum message_refusal code, uint32_t retry_ms, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Gives the job to the writer; when its queue is full the job is destroyed, the peer told BUSY, and false
 * returned. */
bool server_submit(struct server *server, struct job *job);
void server_event(struct server *server, const char *kind, uint64_t experiment, uint64_t session,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));
void server_end_leases(struct server *server, const uint64_t *ids, size_t count,
                       enum store_lease_state state);
uint32_t server_jitter(struct server *server, uint32_t retry_ms);

/* server_keys.c */
void server_keys_open(struct server *server, int wake);
/* Goes by the newest allow-list that has come; before messages are read. */
void server_keys_take(struct server *server);
/* Takes a list read at this version; one that is older than what there is goes. */
void server_keys_use(struct server *server, struct store_peer *peers, size_t count, uint64_t version);

/* server_tune.c */
/* A tune enters memory: nothing of it is leased before its players are known. */
void server_tune_open(struct server *server, struct server_experiment *experiment);
/* Players of further batches, which may be leased from now on. */
void server_tune_take(struct server *server, struct server_experiment *experiment,
                      const struct tune_book *news);
/* The specification of a lease: the players of its batch. */
void server_tune_spec(const struct server_experiment *experiment, uint64_t first_pair,
                      struct message_spec *spec);
/* Who plays a batch that was forgotten, from the database. False without memory, or when it is no tune. */
bool server_tune_recall(struct server_experiment *experiment, const struct job_players *players);
/* True when these results have to wait for players that are being looked up, and their sender was told. */
bool server_tune_waits(struct server *server, const struct session *session, const struct message *message);
/* What was made at a tune's end enters memory. */
void server_tune_follow_up(struct server *server, uint64_t experiment);

/* server_worker.c, server_control.c: one message each; results are taken over. */
void server_hello(struct server *server, const struct socket_peer *peer, const struct message *message);
void server_welcome(struct server *server, struct session *session, uint64_t request);
void server_lease_request(struct server *server, struct session *session, const struct message *message);
void server_results(struct server *server, struct session *session, struct message *message);
void server_progress(struct server *server, struct session *session, const struct message *message);
void server_release(struct server *server, struct session *session, const struct message *message);
void server_artifact_request(struct server *server, struct session *session, const struct message *message);
void server_send_chunk(struct server *server, const struct socket_peer *peer, uint64_t request,
                       const struct server_artifact *artifact, uint64_t offset, uint32_t length);
struct server_artifact *server_find_artifact(struct server *server, const uint8_t sha256[STORE_HASH]);

void server_create(struct server *server, struct session *session, const struct message *message);
void server_control(struct server *server, struct session *session, const struct message *message);
void server_stop(struct server *server, struct session *session, const struct message *message);
void server_promote(struct server *server, struct session *session, const struct message *message);

/* Whether one more row may be written because of what this session says; counted where not. */
bool server_may_report(struct server *server, struct session *session);

/* server_seal.c */
void server_seals_request(struct server *server, struct session *session, const struct message *message);
void server_answer_seals(struct server *server, struct job *job);

/* server_status.c */
void server_status(struct server *server, struct session *session, const struct message *message);
/* Nothing was heard of it for so long that it is taken to be gone. */
bool server_is_silent(const struct server *server, const struct session *session);

/* server_order.c: what operators order on the web page. */
void server_orders(struct server *server);
/* An answer to nobody's message is one to an order. False: there is no page. */
bool server_order_answer(struct server *server, const struct message *message);

/* server_waits.c: the same question with `waits_from`. */
void server_waits(struct server *server, struct session *session, const struct message *message);

/* Silent for longer than this, a worker is taken to be gone: three reports and what a slow machine may need.
 */
int64_t server_silent_most_ms(const struct server *server);

/* server_metrics.c: how the process is, told to Prometheus and to its supervisor. */
/* Starts serving, if it was asked for: 0, or -1 with the reason. */
int server_metrics_open(struct server *server, char *reason, size_t reason_size);
/* What the start waits for; NULL: it got a step further. */
void server_metrics_waiting(void *context, const char *reason);
void server_metrics_leading(struct server *server);
void server_metrics_draining(struct server *server);
/* After a turn of the loop that began at begun_s. */
void server_metrics_turn(struct server *server, double begun_s);

/* server_bench.c: how fast and steady workers' machines are. */
/* True when the bench is another than the one before. */
bool server_take_bench(struct server *server, struct session *session, const struct message_bench *bench);
void server_bench_row(const struct server *server, const struct session *session, struct store_session *row);
/* Takes it, and has it stored when it is new. */
void server_note_bench(struct server *server, struct session *session, const struct message_bench *bench);
/* Why it gets no timed play; NULL: it may. */
const char *server_unfit(const struct server *server, const struct session *session, char text[FITNESS_TEXT]);
bool server_bench_is_old(const struct server *server, const struct session *session);
/* By what limits of time are multiplied under a lease of this experiment; 0: it has none. */
uint32_t server_lease_scale(const struct server *server, const struct session *session, uint64_t experiment);
/* The cluster's reference speed goes into the database. */
void server_tell_reference(struct server *server);

/* server_hook.c: at each tick; and those that were claimed. */
void server_tend_hooks(struct server *server);
void server_start_hooks(struct server *server, struct job *job);

/* server_audit.c: pairs that are played again. */
void server_audit_want(struct server *server, uint64_t experiment, const struct job_replays *again);
void server_audit_report(struct server *server, struct server_experiment *experiment,
                         const struct job_report *report);
/* True when the session has one now, of an experiment of at least this priority, and its answer is on the
 * way. */
bool server_audit_grant(struct server *server, struct session *session, uint64_t request, int32_t floor);
/* Tells the lease book what is played beside it, which counts towards the caps. */
void server_audit_cores(struct server *server);
/* A lease of the session lapsed without progress; it asked for work, or got on with some. */
void server_note_lapse(struct server *server, uint64_t session);
void server_note_able(struct server *server, struct session *session, bool progress);
/* The experiment of the lease that was given back; 0: it is none of these. */
uint64_t server_audit_released(struct server *server, uint64_t lease, uint64_t session);
void server_audit_session_end(struct server *server, uint64_t session);
/* Gives up the open audits of a decided experiment when nobody is there who could play them. */
void server_audit_waive(struct server *server, struct server_experiment *experiment);
void server_audit_tick(struct server *server);

/* server_grant.c: leases on their way. */
/* Whether a lease may be given out; sees to it that there are always numbers left. */
bool server_has_numbers(struct server *server);
void server_answer_numbers(struct server *server, struct job *job);
/* A JOB_GRANT of this row to this session; NULL without memory. */
struct job *server_grant_job(struct server *server, const struct session *session, uint64_t request,
                             const struct store_lease *row);
/* Has the row written and tells the session at once; gives the lease back where the writer has no room. */
void server_grant(struct server *server, struct session *session, const struct lease *lease,
                  uint64_t request);
void server_answer_grant(struct server *server, struct job *job);

/* server_flag.c: workers that are set aside. */
/* The flag of a session's worker, or NULL. */
const struct store_flag *server_flag_of(const struct server *server, const struct session *session);
/* True, and the sentence that such a worker is told. */
bool server_flag_reason(const struct server *server, const struct session *session,
                        char reason[MESSAGE_TEXT_MAX]);
/* Takes over the flags that came with the allow-list. */
void server_flag_take(struct server *server, struct job_peers *peers);
/* A player failed there before its first move, or cannot be used. */
void server_take_setback(struct server *server, struct session *session, uint64_t id, const char *why);

/* server_answer.c: a job that came back; takes it. */
void server_refuse_job(struct server *server, const struct job *job);
void server_take_answer(struct server *server, struct job *job);

#endif
