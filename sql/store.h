/* The one C layer over libpq: the coordinator's writes, the trainer's reads, and plain queries for people
 * (DESIGN sections 6 and 8). A struct store is one connection, used by one thread. It does not reconnect by
 * itself: after STORE_ERROR_CONNECTION the caller closes it, opens another, and sends again what it does not
 * know to be committed (everything here is idempotent by key). */
#ifndef KROO_SQL_STORE_H
#define KROO_SQL_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum store_error {
    STORE_OK = 0,
    STORE_ERROR_CONNECTION =
        -1, /* away, or died on the way: a commit's outcome is unknown; or a lock or time-out
               that another try may pass. The store answers so until it is opened again */
    STORE_ERROR_REFUSED = -2, /* the database refused it: constraint, permission, unknown row */
    STORE_ERROR_UNIQUE = -3,  /* the key is there already */
    STORE_ERROR_DATA = -4,    /* what came back is not what the schema promises */
    STORE_ERROR_SPACE = -5,   /* no space left (SQLSTATE 53xxx) */
    STORE_ERROR_MEMORY = -6,
    STORE_ERROR_VERSION = -7, /* schema older or newer than this program */
    STORE_ERROR_LEADER = -8,  /* another coordinator holds the advisory lock */
};

enum { STORE_HASH = 32, STORE_NAME = 64, STORE_TEXT = 512, STORE_RULES = 160, STORE_KEY = 41 };
/* All options of a player, one `Name=Value` a line; an engine's own list of options. */
enum { STORE_SIGNATURE = 32, STORE_CONFINEMENT = 32 };
enum {
    STORE_OPTIONS = 1024,
    STORE_LIST = 16384,
    STORE_TAGS = 256,
    STORE_SHARE_USUAL = 100,
    STORE_SCALE_USUAL = 1000000
};

/* The training line meant where none is named. */
#define STORE_LINE "main"

struct store;

/* Opens a connection with statement, lock and connect time-outs set, and prepares nothing yet. `role` (may be
 * NULL) becomes the session's role: kroo_coordinator, kroo_trainer or kroo_reader. `application` names the
 * session. */
struct store *store_open(const char *conninfo, const char *role, const char *application, char *reason,
                         size_t reason_size);
void store_close(struct store *store);
/* Why the last call failed, one line, with SQLSTATE where there is one; valid until the next call. */
const char *store_reason(const struct store *store);
/* Refuses a schema that is not exactly the one compiled in (see migrate.h). */
enum store_error store_check_schema(struct store *store);
/* Takes the leader's advisory lock for the life of the connection: STORE_ERROR_LEADER when another has it
 * (store_lead.h has the rest). */
enum store_error store_lead(struct store *store);
/* Settings that would break promise 2: fsync, full_page_writes or synchronous_commit
 * off. Returns true and a reason. */
bool store_is_unsafe(struct store *store, char *reason, size_t reason_size);

enum store_error store_begin(struct store *store);
enum store_error store_commit(struct store *store);
enum store_error store_rollback(struct store *store);

/* --- experiments --- */
enum store_kind { STORE_SELFPLAY, STORE_MATCH, STORE_TUNE };
enum store_state {
    STORE_RUNNING,
    STORE_FINISHED,
    STORE_STOPPED,
    STORE_BLOCKED,
    STORE_PENDING, /* waits for approval */
    STORE_PAUSED
};

struct store_limits {
    uint64_t nodes;
    uint32_t depth, time_ms, hash_kib;
    uint32_t clock_ms, increment_ms; /* of a whole game */
};

struct store_player {
    uint8_t weights[STORE_HASH];
    char engine_build[STORE_NAME];
    struct store_limits limits;
    uint8_t engine[STORE_HASH];      /* zeros: the built-in one */
    uint8_t tables[STORE_HASH];      /* zeros: none */
    char options[STORE_OPTIONS];     /* lines of `Name=Value`; "" = none */
    char signature[STORE_SIGNATURE]; /* its engine's, as `engine` has it; "" = none. Never written */
};

struct store_sprt {
    char model[16]; /* normalized, logistic */
    double elo0, elo1, alpha, beta;
    uint32_t batch;
};

struct store_experiment {
    uint64_t id;
    enum store_kind kind;
    enum store_state state;
    char rules[STORE_RULES];
    uint64_t seed;
    uint32_t opening_plies, noise_ppm;
    struct store_player a, b;
    uint64_t planned_pairs;
    bool has_sprt;
    struct store_sprt sprt;
    bool with_scores;
    int32_t priority;
    char idempotency_key[STORE_NAME];
    char note[STORE_TEXT];
    char created_by[STORE_NAME];
    uint8_t book[STORE_HASH];         /* openings; zeros: random plies */
    uint8_t adjudication[STORE_HASH]; /* endgame tables that end a decided game; zeros: none */
    uint32_t resign_score, resign_plies, resign_playout_ppm;
    bool has_reference;       /* it has limits of time, */
    uint32_t reference_speed; /* meant for so many nodes a second; 0: for any, and not scaled */
    uint8_t tune[STORE_HASH]; /* what a tune tunes; zeros: no tune */
    uint32_t audit_ppm, share, core_cap;
    char tags[STORE_TAGS];
    char on_finish[STORE_TEXT];
    uint32_t repeat_rule; /* whether repeated pairs count: decided when it is made, see 017_repeats.sql */
};

/* Counters of the prefix that counts, player a's view; the CHECK constraints of STATISTICS hold. */
struct store_counters {
    uint64_t games_stored; /* rows in game, counted or not */
    uint64_t prefix_pairs; /* contiguous finished pairs from 0 */
    uint64_t ll, ld, dd, wl, dw, ww;
    uint64_t wins, draws, losses;
    double llr;
    uint64_t repeated_pairs; /* of the prefix; they count in none of the above */
};

/* Inserts the experiment, its players, its partition of `game` and its counters; sets experiment->id, and the
 * reference speed where it has limits of time and names none. With an
 * idempotency key that is known: sets the id of that one and *existed. Within the caller's transaction. */
enum store_error store_experiment_create(struct store *store, struct store_experiment *experiment,
                                         bool *existed);
/* All experiments that have not ended, in id order; *list is malloc'ed. */
enum store_error store_experiments_running(struct store *store, struct store_experiment **list,
                                           size_t *count);
/* One experiment in whatever state; REFUSED when there is none. */
enum store_error store_experiment_get(struct store *store, uint64_t id, struct store_experiment *out);
/* Only an experiment that has not ended changes its state; setting the same state again is no error. */
enum store_error store_experiment_set_state(struct store *store, uint64_t experiment, enum store_state state,
                                            const char *reason);
/* Locks its row until the transaction ends; REFUSED when there is none. `submitter`: whose key it waited for.
 */
enum store_error store_experiment_lock(struct store *store, uint64_t experiment, char submitter[STORE_NAME]);
/* One that was just made waits for another's approval; how many of a submitter wait. */
enum store_error store_experiment_pend(struct store *store, uint64_t experiment, const char *submitter);
enum store_error store_experiments_pending(struct store *store, const char *submitter, uint64_t *count);
enum store_error store_experiment_prioritize(struct store *store, uint64_t experiment, int32_t priority);
enum store_error store_experiment_annotate(struct store *store, uint64_t experiment, const char *note);
/* Open disputes of an experiment may have five more runs before they block it again. */
enum store_error store_disputes_restart(struct store *store, uint64_t experiment);
/* An ended experiment goes, with its games and rows; REFUSED when something descends from it. */
enum store_error store_experiment_delete(struct store *store, uint64_t experiment, const char *by,
                                         const char *reason, uint64_t *games);
/* Hooks that are due: claimed in the caller's transaction, to be started once it is committed. */
struct store_hook {
    uint64_t experiment, counted_pairs;
    char command[STORE_TEXT], kind[16], verdict[16], elo[32], note[STORE_TEXT];
};
/* At most `limit` of them; a claim of the same number finds the same again. *list is malloc'ed. */
enum store_error store_hooks_claim(struct store *store, uint64_t claim, size_t limit,
                                   struct store_hook **list, size_t *count);
/* `state` is succeeded or failed; leaves an event. */
enum store_error store_hook_end(struct store *store, uint64_t experiment, const char *state,
                                const char *outcome);
/* Those that an earlier coordinator started and did not see the end of. */
enum store_error store_hooks_lost(struct store *store);
enum store_error store_experiment_was_deleted(struct store *store, uint64_t experiment, bool *deleted);
enum store_error store_counters_update(struct store *store, uint64_t experiment,
                                       const struct store_counters *counters);

/* --- games --- */
struct store_game {
    uint64_t experiment, pair;
    uint8_t leg;
    uint32_t attempt;
    uint64_t lease, session;
    const char *moves;
    size_t plies;
    const uint8_t *scores; /* NULL, or 2 bytes a ply */
    size_t scores_size;
    char result[8]; /* south, north, draw */
    char reason[16];
    uint8_t south, north;
    uint8_t a_half_points; /* player a: 0 lost, 1 drew, 2 won */
    bool claimed;          /* an ending no replay can show */
    uint32_t resign_ply;   /* after which a side has resigned, or would have; 0 = none */
    uint64_t nodes;
    uint32_t time_ms;
    uint32_t core_us;  /* of the play thread; not stored */
    const char *fault; /* of a claimed loss: what its program did; NULL: not told */
};

enum store_outcome { STORE_GAME_INSERTED, STORE_GAME_DUPLICATE, STORE_GAME_CONFLICT };

/* Stores games inside the caller's transaction: COPY straight into the table under a savepoint; on a unique
 * violation (or a key twice in the batch) through a temporary table that compares content (moves, scores,
 * result). outcome[i] tells of games[i]; conflicts are recorded in `dispute` and `dispute_run`, the stored
 * game stays. Any order of input is fine. */
enum store_error store_games_put(struct store *store, const struct store_game *games, size_t count,
                                 enum store_outcome *outcome);
/* What the caller does while the server takes the games in: called once or not at all; calls no store. */
struct store_beside {
    void (*work)(void *context);
    void *context;
};
enum store_error store_games_put_beside(struct store *store, const struct store_game *games, size_t count,
                                        enum store_outcome *outcome, const struct store_beside *beside);

/* Every stored game's standing in key order, for rebuilding a tally: calls `row` with pair, leg, half points.
 */
typedef void store_standing(void *context, uint64_t pair, unsigned leg, unsigned a_half_points);
enum store_error store_standings(struct store *store, uint64_t experiment, store_standing *row,
                                 void *context);
/* Open disputes of an experiment: pairs whose prefix waits. */
enum store_error store_disputed_pairs(struct store *store, uint64_t experiment, uint64_t **pairs,
                                      size_t *count);

/* Settles a disputed pair when independent workers agree (DESIGN section 7), within the caller's transaction.
 * REPLACED: points[leg] are the stored games' half points now, -1 for a leg that is not there. */
enum store_settlement {
    STORE_DISPUTE_KEPT,
    STORE_DISPUTE_REPLACED,
    STORE_DISPUTE_OPEN,
    STORE_DISPUTE_BLOCKED,
    STORE_DISPUTE_OUTVOTED,  /* another game was agreed on; a verdict stands on the stored one */
    STORE_DISPUTE_DIVERGENT, /* as blocked: workers of two builds or architectures say different things */
    STORE_DISPUTE_NONE       /* the pair has no open dispute */
};
enum store_error store_dispute_settle(struct store *store, uint64_t experiment, uint64_t pair,
                                      enum store_settlement *settlement, int points[2]);

/* --- leases, sessions, events --- */
enum store_lease_state { STORE_LEASE_OPEN, STORE_LEASE_DONE, STORE_LEASE_EXPIRED, STORE_LEASE_RELEASED };
struct store_lease {
    uint64_t id; /* given by the caller: see store_lease_numbers */
    uint64_t experiment, first_pair;
    uint32_t pair_count, attempt;
    uint64_t session;
    bool ended;         /* read back for its attempt number only */
    uint32_t scale_ppm; /* of its limits of time; 0: it has none. Never read back */
};
enum store_error store_lease_insert(struct store *store, const struct store_lease *leases, size_t count);
enum store_error store_lease_end(struct store *store, const uint64_t *ids, size_t count,
                                 enum store_lease_state state);
/* For a restart: the open leases of running experiments, and the ended ones that reach beyond the prefix,
 * whose attempt numbers the next ones go on from. In id order. */
enum store_error store_leases_live(struct store *store, struct store_lease **list, size_t *count);
/* Reserves `count` lease numbers from *first on, so that nobody is given them again even where their rows are
 * lost. */
enum store_error store_lease_numbers(struct store *store, uint64_t count, uint64_t *first);

struct store_session {
    uint64_t id;
    char peer[STORE_NAME]; /* z85 key, `local` or `loopback` */
    char name[STORE_NAME], engine_build[STORE_NAME];
    uint32_t slots;
    char confinement[STORE_CONFINEMENT]; /* of its programs; "": not told */
    char architecture[STORE_NAME], compiler[STORE_NAME];
    char tags[STORE_TAGS];                /* what it has, comma separated */
    uint32_t speed, spread_ppm, load_ppm; /* of its bench; 0: not measured */
    uint32_t scale_ppm;                   /* limits of time are multiplied by this; 0: as usual */
    uint32_t measured_ms;                 /* how long ago the bench was made */
};
enum store_error store_session_insert(struct store *store, const struct store_session *session);
/* Another bench of a session that is there; one that is not there changes nothing. */
enum store_error store_session_measured(struct store *store, const struct store_session *session);
/* What limits of time are meant for from now on: a new version, if it is another than the newest. */
enum store_error store_reference_put(struct store *store, uint32_t nodes_per_second);
enum store_error store_session_end(struct store *store, uint64_t session);
/* One row of the event log; experiment or session 0 = none. */
enum store_error store_event(struct store *store, const char *kind, uint64_t experiment, uint64_t session,
                             const char *text);

/* What a player's program did wrong, for people and for `kroo replay-fault`. */
struct store_fault {
    uint64_t experiment, session;
    char kind[16]; /* start, self-test, build, illegal-move, deadline, crash */
    char side;     /* a, b; 0: not known */
    bool has_game; /* false: the three below say nothing */
    uint64_t pair;
    uint8_t leg;
    uint32_t attempt;
    const char *moves; /* that led there */
    char why[STORE_TEXT];
};
/* Within the caller's transaction; one that is there already (same game, session, attempt) changes nothing.
 */
enum store_error store_fault_put(struct store *store, const struct store_fault *fault);
/* The claimed losses among `games`, as faults. */
enum store_error store_faults_of_games(struct store *store, const struct store_game *games, size_t count);

/* --- verdicts, weights, artifacts, keys --- */
struct store_verdict {
    uint64_t experiment;
    char verdict[16]; /* accepted, rejected, undecided, aborted */
    struct store_counters counters;
    bool has_sprt;
    double lower, upper;
    double elo, elo_lo, elo_hi, nelo, los;
    int formula_version;
    char by[STORE_NAME]; /* who aborted; "" otherwise */
    char reason[STORE_TEXT];
};
/* Compare-and-set: inserts the row and ends the experiment and its open leases. A verdict that is there
 * already stays: *written false. */
enum store_error store_verdict_write(struct store *store, const struct store_verdict *verdict, bool *written);

/* Stores an artifact and, for kind `weights`, its row in `weights` (rules, weights kind, parent and training
 * run may be absent: NULL, 0). Storing it again changes nothing. */
struct store_weights {
    uint8_t sha256[STORE_HASH];
    char rules[STORE_RULES];
    char kind[16]; /* table, net, features */
    char name[STORE_NAME];
    bool has_parent;
    uint8_t parent[STORE_HASH];
    uint64_t training_run; /* 0 = none */
};
enum store_error store_weights_put(struct store *store, const struct store_weights *weights,
                                   const void *content, size_t size);
/* Content of an artifact; `*content` is malloc'ed. REFUSED when unknown. */
enum store_error store_artifact_get(struct store *store, const uint8_t sha256[STORE_HASH], void **content,
                                    size_t *size);
/* Finds weights by number, hash prefix (8 hex letters or more), name, or `champion`/`champion:LINE`: REFUSED
 * with a reason when unknown or ambiguous. */
enum store_error store_weights_find(struct store *store, const char *text, struct store_weights *out,
                                    uint64_t *number);
/* Promotes: a row in `promotion`; the epoch of the announcement is its number. With an experiment: refused
 * unless its verdict is `accepted` and the weights are its player a. */
enum store_error store_promote(struct store *store, const char *line, const uint8_t sha256[STORE_HASH],
                               uint64_t experiment, const char *by, const char *reason, uint64_t *epoch);
enum store_error store_champion(struct store *store, const char *line, uint8_t sha256[STORE_HASH],
                                uint64_t *epoch);

struct store_engine {
    char name[STORE_NAME];
    uint8_t sha256[STORE_HASH];
    char program[256];        /* what it calls itself */
    char options[STORE_LIST]; /* as it lists them, one a line */
    char note[STORE_TEXT];
    char signature[STORE_SIGNATURE]; /* what it answers to fixed positions; "": it does not repeat itself */
    char
        architectures[STORE_NAME * 2]; /* of a set: what it has binaries for, and `source`; "": one program */
};
/* Stores a part of an engine, kind `engine` or `source`; the same again changes nothing. */
enum store_error store_artifact_put(struct store *store, const char *kind, const uint8_t sha256[STORE_HASH],
                                    const void *content, size_t size);
/* Stores a program under a name; the same again changes nothing (*existed). REFUSED: the name has another
 * file, or the file another name. */
enum store_error store_engine_put(struct store *store, const struct store_engine *engine, const void *content,
                                  size_t size, const char *by, bool *existed);
/* By name or by hash, the other NULL; REFUSED when there is none. */
enum store_error store_engine_find(struct store *store, const char *name, const uint8_t *sha256,
                                   struct store_engine *out);

struct store_tables {
    char name[STORE_NAME];
    uint8_t sha256[STORE_HASH];
    char rules[STORE_RULES];
    char convention[32];
    unsigned seeds;
    uint64_t size;
    char note[STORE_TEXT];
    bool travels; /* workers fetch it; otherwise each is given the file */
};
/* The same for endgame tables; `content` NULL: too large to travel. */
enum store_error store_tables_put(struct store *store, const struct store_tables *tables, const void *content,
                                  const char *by, bool *existed);
enum store_error store_tables_find(struct store *store, const char *name, const uint8_t *sha256,
                                   struct store_tables *out);

struct store_book {
    char name[STORE_NAME];
    uint8_t sha256[STORE_HASH];
    char rules[STORE_RULES];
    uint32_t openings;
    unsigned plies_min, plies_max;
    char made[STORE_TEXT];
    char note[STORE_TEXT];
};
/* The letters of opening `index`, and how many. */
typedef const char *store_book_opening(const void *context, uint32_t index, size_t *plies);
/* The same for an opening book, whose openings become rows. */
enum store_error store_book_put(struct store *store, const struct store_book *book, const void *content,
                                size_t size, store_book_opening *opening, const void *context, const char *by,
                                bool *existed);
enum store_error store_book_find(struct store *store, const char *name, const uint8_t *sha256,
                                 struct store_book *out);
/* Notes how many of `pairs` measured pairs the opening decided. */
enum store_error store_book_measured(struct store *store, const uint8_t sha256[STORE_HASH], uint64_t pairs,
                                     uint64_t decided, const char *how);

struct store_peer {
    char public_key[STORE_KEY];
    char name[STORE_NAME];
    char role[16]; /* worker, operator, viewer */
};
/* Peers allowed now (not revoked). */
enum store_error store_peers(struct store *store, struct store_peer **list, size_t *count);
enum store_error store_peer_allow(struct store *store, const struct store_peer *peer, const char *by);
enum store_error store_peer_revoke(struct store *store, const char *public_key, const char *by);

/* --- the trainer's read --- */
struct store_range {
    uint64_t experiment, first_pair, pair_count;
};
struct store_training_game {
    uint64_t experiment, pair;
    unsigned leg;
    const char *moves; /* NUL-terminated, valid during the call */
    size_t plies;
    const uint8_t *scores; /* NULL, or 2 bytes a ply, little-endian */
    char result[8];
    char reason[16];
    uint8_t south, north;
};
/* Streams counted, undisputed games, without claimed endings but for resignations, of the ranges in
 * (experiment, pair, leg) order by binary COPY. A callback's non-zero return ends the stream and is returned.
 * Memory is bounded by one row. */
typedef int store_training_row(void *context, const struct store_training_game *game);
int store_training_games(struct store *store, const struct store_range *ranges, size_t count,
                         store_training_row *row, void *context);

/* --- plain queries for people --- */
struct store_table {
    size_t rows, columns;
    char **names;  /* columns */
    char **cells;  /* rows * columns, NULL for SQL null */
    bool *numeric; /* columns: right-aligned, a number in JSON */
};
/* Runs one statement with text parameters ($1...); NULL parameters are SQL null. */
enum store_error store_query(struct store *store, const char *sql, const char *const *parameters,
                             size_t count, struct store_table *out);
void store_table_done(struct store_table *table);
/* Cell text, "" for null; asserts the bounds. */
const char *store_cell(const struct store_table *table, size_t row, size_t column);
/* The same rows streamed one at a time (single-row mode), for exports of any size. */
typedef int store_row(void *context, const struct store_table *one_row);
int store_stream(struct store *store, const char *sql, const char *const *parameters, size_t count,
                 store_row *row, void *context);

#endif
