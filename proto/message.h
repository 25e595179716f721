/* The messages of proto/kroo.proto as plain C, checked on the way in (DESIGN section 6; proto/README.md is
 * the grammar). message_decode refuses whatever is too big, too deep, out of range or not printable, with a
 * reason; message_encode writes one frame. Strings and arrays inside a decoded message belong to it and end
 * with message_done. Pure; any thread. */
#ifndef KROO_PROTO_MESSAGE_H
#define KROO_PROTO_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/seal.h"

enum {
    MESSAGE_PROTOCOL = 1,     /* the version we speak */
    MESSAGE_PROTOCOL_MIN = 1, /* the oldest we still understand */
    MESSAGE_BYTES_MAX = 256 * 1024,
    MESSAGE_MEMORY_MAX = 4 * 1024 * 1024, /* what one decode may allocate */
    MESSAGE_NAME_MAX = 64,                /* with its NUL */
    MESSAGE_TEXT_MAX = 512,
    MESSAGE_RULES_MAX = 160,
    MESSAGE_GAMES_MAX = 1024,
    MESSAGE_MOVES_MAX = 16384,
    MESSAGE_CHUNK_MAX = 128 * 1024,
    MESSAGE_LEASES_MAX = 256,
    MESSAGE_SKIP_MAX = 4096,
    MESSAGE_HASH = 32,
    MESSAGE_OPTIONS_MAX = 1024, /* all options of a player, with a NUL */
    MESSAGE_OPTION_MAX = 256,   /* one of them, with its NUL */
    MESSAGE_OPTION_COUNT = 16,
    MESSAGE_SCALE_USUAL = 1000000, /* scale_ppm of a worker as fast as the reference */
    MESSAGE_TAGS_MAX = 256,
    MESSAGE_SHARE_USUAL = 100,
    MESSAGE_SIGNATURE_MAX = 32, /* an engine's answers to fixed positions, as text */
    MESSAGE_CONFINEMENT_MAX = 32,
    MESSAGE_TRAIT_MAX = 64,
    MESSAGE_FAULT_MAX = 256,       /* what a program did, as text */
    MESSAGE_FAULT_MOVES_MAX = 256, /* letters before a first move, with a NUL */
};

enum message_kind {
    MESSAGE_NONE,
    MESSAGE_HELLO,
    MESSAGE_WELCOME,
    MESSAGE_REFUSED,
    MESSAGE_LEASE_REQUEST,
    MESSAGE_LEASE_GRANT,
    MESSAGE_NOTHING,
    MESSAGE_RESULTS,
    MESSAGE_RESULTS_ACK,
    MESSAGE_PROGRESS,
    MESSAGE_PROGRESS_ACK,
    MESSAGE_RELEASE,
    MESSAGE_RELEASE_ACK,
    MESSAGE_ARTIFACT_REQUEST,
    MESSAGE_ARTIFACT_CHUNK,
    MESSAGE_CREATE_EXPERIMENT,
    MESSAGE_STOP_EXPERIMENT,
    MESSAGE_PROMOTE_WEIGHTS,
    MESSAGE_CONTROL_DONE,
    MESSAGE_STATUS_REQUEST,
    MESSAGE_STATUS_REPLY,
    MESSAGE_CONTROL_EXPERIMENT,
    MESSAGE_SEALS_REQUEST,
    MESSAGE_SEALS,
    MESSAGE_KINDS
};

enum message_role { MESSAGE_ROLE_WORKER = 1, MESSAGE_ROLE_CONTROL = 2 };

enum message_refusal {
    MESSAGE_REFUSAL_VERSION = 1,
    MESSAGE_REFUSAL_MALFORMED,
    MESSAGE_REFUSAL_SAY_HELLO,
    MESSAGE_REFUSAL_NOT_ALLOWED,
    MESSAGE_REFUSAL_UNKNOWN,
    MESSAGE_REFUSAL_CONFLICT,
    MESSAGE_REFUSAL_UNAVAILABLE,
    MESSAGE_REFUSAL_BUSY,
};

enum message_experiment_kind { MESSAGE_SELFPLAY = 1, MESSAGE_MATCH = 2, MESSAGE_TUNE = 3 };

enum message_game_verdict {
    MESSAGE_GAME_ACCEPTED = 1,
    MESSAGE_GAME_DUPLICATE,
    MESSAGE_GAME_CONFLICT,
    MESSAGE_GAME_REFUSED
};

struct message_player {
    uint8_t weights[MESSAGE_HASH];
    uint64_t node_limit;
    uint32_t depth_limit;
    uint32_t time_ms;
    uint32_t hash_kib;
    uint8_t engine[MESSAGE_HASH];                 /* a program run as a process; zeros: the built-in engine */
    uint8_t tables[MESSAGE_HASH];                 /* endgame tables; zeros: none */
    char options[MESSAGE_OPTIONS_MAX];            /* `Name=Value`, one a line, no line feed behind the last */
    uint32_t clock_ms;                            /* for the whole game; 0: none */
    uint32_t increment_ms;                        /* added to the clock after each move */
    char engine_signature[MESSAGE_SIGNATURE_MAX]; /* its answers to fixed positions; "": not known */
};

struct message_spec {
    uint64_t experiment;
    enum message_experiment_kind kind;
    char rules[MESSAGE_RULES_MAX];
    uint64_t seed;
    uint32_t opening_plies;
    uint32_t noise_ppm;
    struct message_player a, b;
    bool with_scores;
    char engine_build[MESSAGE_NAME_MAX];
    uint8_t book[MESSAGE_HASH];         /* openings; zeros: random plies */
    uint8_t adjudication[MESSAGE_HASH]; /* endgame tables that end a decided game; zeros: none */
    uint32_t resign_score;              /* hundredths of a seed behind; 0: nobody resigns */
    uint32_t resign_plies;              /* own moves in a row */
    uint32_t resign_playout_ppm;        /* share of resigned games that are played out */
    uint32_t
        reference_speed; /* nodes a second that limits of time are meant for; 0: none, or the cluster's */
};

/* How fast and how steady a worker's machine is. */
struct message_bench {
    uint32_t speed, spread_ppm, load_ppm; /* 0: not measured */
    uint32_t measured_ms;                 /* ago */
};

struct message_hello {
    enum message_role role;
    uint32_t protocol, protocol_min;
    char name[MESSAGE_NAME_MAX];
    char engine_build[MESSAGE_NAME_MAX];
    uint64_t session_nonce;
    uint32_t slots, credit;
    char tags[MESSAGE_TAGS_MAX]; /* what it has, comma separated */
    struct message_bench bench;
    char confinement[MESSAGE_CONFINEMENT_MAX]; /* of its programs; "": not told */
    /* Its machine, and what compiled its engine: games may differ by either, by no fault of the worker's. */
    char architecture[MESSAGE_TRAIT_MAX], compiler[MESSAGE_TRAIT_MAX];
    uint64_t wall_ms; /* its clock, since 1970; 0: not told */
};

struct message_welcome {
    uint64_t session;
    uint32_t protocol, progress_ms, term_ms;
    uint64_t announcement;
    uint8_t announced[MESSAGE_HASH]; /* zeros when announcement is 0 */
    char engine_build[MESSAGE_NAME_MAX];
    uint32_t scale_ppm; /* limits of time are multiplied by this; never 0 once decoded */
};

struct message_refused {
    enum message_refusal code;
    char text[MESSAGE_TEXT_MAX];
    uint32_t retry_ms;
};

struct message_lease_request {
    uint32_t pairs, pairs_per_minute;
    uint32_t work_ms; /* 0: any */
    struct message_bench bench;
};

struct message_lease_grant {
    uint64_t lease;
    uint32_t attempt;
    uint64_t first_pair;
    uint32_t pair_count, term_ms;
    struct message_spec spec;
    uint64_t *skip;
    size_t skip_count;
    uint32_t scale_ppm; /* limits of time are multiplied by this; 0: by that of WELCOME */
    bool measure;       /* timed play waits for a new bench */
};

struct message_nothing {
    char because[MESSAGE_TEXT_MAX];
    uint32_t retry_ms;
    bool measure; /* timed play waits for a new bench */
};

struct message_game {
    uint64_t experiment, pair;
    uint32_t leg;
    uint64_t lease;
    uint32_t attempt;
    char *moves; /* NUL-terminated letters */
    size_t plies;
    uint8_t *scores; /* NULL, or 2 bytes a ply */
    size_t scores_size;
    char result[16], reason[16];
    uint64_t nodes;
    uint32_t time_ms;
    uint8_t weights_a[MESSAGE_HASH], weights_b[MESSAGE_HASH];
    uint8_t engine_a[MESSAGE_HASH], engine_b[MESSAGE_HASH];   /* zeros: built-in */
    uint8_t tables_a[MESSAGE_HASH], tables_b[MESSAGE_HASH];   /* zeros: none */
    uint8_t options_a[MESSAGE_HASH], options_b[MESSAGE_HASH]; /* of a tune: sha256 of the lines; else zeros */
    char engine_build[MESSAGE_NAME_MAX];
    uint32_t core_us;              /* how long a play thread was busy with it; 0: not told */
    char fault[MESSAGE_FAULT_MAX]; /* of a claimed loss: what its program did */
};

struct message_results {
    uint64_t batch;
    struct message_game *games;
    size_t game_count;
};

struct message_game_answer {
    uint64_t experiment, pair;
    uint32_t leg;
    enum message_game_verdict verdict;
    char text[160];
};

struct message_results_ack {
    uint64_t batch;
    uint32_t accepted, duplicates;
    struct message_game_answer *exceptions;
    size_t exception_count;
};

struct message_lease_progress {
    uint64_t lease, plies;
    uint32_t pairs_done;
};

struct message_progress {
    struct message_lease_progress *leases;
    size_t lease_count;
};

struct message_progress_ack {
    uint64_t *dropped;
    size_t dropped_count;
    uint64_t announcement;
    uint8_t announced[MESSAGE_HASH];
};

enum message_fault_kind {
    MESSAGE_FAULT_START = 1, /* before its first move of a game */
    MESSAGE_FAULT_SELF_TEST, /* it answers otherwise than where it was added */
    MESSAGE_FAULT_BUILD,     /* it cannot be built from its sources */
    MESSAGE_FAULT_OVERTIME,  /* the game did not end within its bound */
    MESSAGE_FAULT_UNSIGNED,  /* no key that is trusted there has signed it */
};

/* A program that gives no game here. */
struct message_fault {
    enum message_fault_kind kind; /* 0: none */
    uint64_t experiment;
    uint32_t side; /* 1: player a, 2: player b */
    uint64_t pair; /* of MESSAGE_FAULT_START and OVERTIME, as the rest */
    uint32_t leg, attempt;
    char moves[MESSAGE_FAULT_MOVES_MAX]; /* up to where it failed */
};

struct message_release {
    uint64_t *leases;
    size_t lease_count;
    bool goodbye;
    char because[MESSAGE_TEXT_MAX]; /* "": nothing is wrong with them */
    struct message_fault fault;     /* kind 0: nobody's */
};

struct message_artifact_request {
    uint8_t sha256[MESSAGE_HASH];
    uint64_t offset;
    uint32_t length;
};

struct message_artifact_chunk {
    uint8_t sha256[MESSAGE_HASH];
    uint64_t offset, size;
    uint8_t *content;
    size_t content_size;
};

struct message_seals_request {
    uint8_t sha256[MESSAGE_HASH];
};

struct message_seals {
    uint8_t sha256[MESSAGE_HASH];
    struct seal *seals; /* at most SEALS_MAX */
    size_t seal_count;
};

struct message_sprt {
    char model[16];
    double elo0, elo1, alpha, beta;
    uint32_t batch;
};

struct message_create_experiment {
    char idempotency_key[MESSAGE_NAME_MAX];
    struct message_spec spec;
    uint64_t pairs;
    bool has_sprt;
    struct message_sprt sprt;
    int32_t priority;
    char note[MESSAGE_TEXT_MAX];
    uint8_t tune[MESSAGE_HASH];  /* what a tune tunes; zeros: no tune */
    uint32_t audit_ppm;          /* share of pairs played again by another worker */
    uint32_t share;              /* of core time beside others of its priority */
    uint32_t core_cap;           /* most cores at once; 0: no bound */
    char tags[MESSAGE_TAGS_MAX]; /* what workers must have, comma separated */
    char on_finish[MESSAGE_TEXT_MAX];
};

struct message_stop_experiment {
    uint64_t experiment;
    char reason[MESSAGE_TEXT_MAX];
};

enum message_verb {
    MESSAGE_VERB_PAUSE = 1, /* no more leases; those out live on */
    MESSAGE_VERB_RESUME,
    MESSAGE_VERB_STOP, /* for good */
    MESSAGE_VERB_PRIORITY,
    MESSAGE_VERB_NOTE,
    MESSAGE_VERB_DELETE,
    MESSAGE_VERB_APPROVE,
    MESSAGE_VERB_REJECT,
    MESSAGE_VERBS
};

struct message_control_experiment {
    uint64_t experiment; /* 0: of a tournament */
    enum message_verb verb;
    int32_t priority;                  /* of PRIORITY */
    char text[MESSAGE_TEXT_MAX];       /* of NOTE the note, of all others the reason */
    char tournament[MESSAGE_NAME_MAX]; /* name or number: all its matches; "": of an experiment */
};

struct message_promote_weights {
    uint8_t sha256[MESSAGE_HASH];
    char line[MESSAGE_NAME_MAX];
    uint64_t experiment;
    char reason[MESSAGE_TEXT_MAX];
};

struct message_control_done {
    uint64_t experiment;
    char text[MESSAGE_TEXT_MAX];
    bool existed;
};

struct message_status_request {
    char worker[MESSAGE_NAME_MAX]; /* name or session number; "": all */
    uint32_t skip;                 /* of these so many; a reply holds as many as fit */
    uint64_t waits_from;           /* not 0: no workers, but why experiments from this number on wait */
};

struct message_status_reply {
    char *json; /* NUL-terminated */
};

struct message {
    uint64_t request;
    enum message_kind kind;
    union {
        struct message_hello hello;
        struct message_welcome welcome;
        struct message_refused refused;
        struct message_lease_request lease_request;
        struct message_lease_grant lease_grant;
        struct message_nothing nothing;
        struct message_results results;
        struct message_results_ack results_ack;
        struct message_progress progress;
        struct message_progress_ack progress_ack;
        struct message_release release;
        struct message_artifact_request artifact_request;
        struct message_artifact_chunk artifact_chunk;
        struct message_seals_request seals_request;
        struct message_seals seals;
        struct message_create_experiment create_experiment;
        struct message_stop_experiment stop_experiment;
        struct message_control_experiment control_experiment;
        struct message_promote_weights promote_weights;
        struct message_control_done control_done;
        struct message_status_request status_request;
        struct message_status_reply status_reply;
    };
};

/* Writes `message` to a malloc'ed frame. Returns 0, or -1 when it would exceed MESSAGE_BYTES_MAX or memory is
 * short (a programmer's bound: callers cut batches with message_game_bytes). Sentences for
 * people (text, because, reason, note of control messages) are cleaned on the way: one line of valid UTF-8.
 */
int message_encode(const struct message *message, void **bytes, size_t *size);

/* Reads a frame. Returns 0 and fills `out`, or -1 with a reason and `out` empty (but for its request number,
 * where that could be read: the refusal repeats it). */
int message_decode(const void *bytes, size_t size, struct message *out, char *reason, size_t reason_size);
void message_done(struct message *message);

/* An upper bound of the bytes one game takes in RESULTS, for cutting batches. */
size_t message_game_bytes(const struct message_game *game);

/* True when `options` (lines of a player's) are as the wire takes them: at most MESSAGE_OPTION_COUNT lines
 * `Name=Value` of printable UTF-8, the name without blanks at its ends. Otherwise the reason. */
bool message_options_check(const char *options, char *reason, size_t reason_size);
/* True when all bytes are zero: no engine, no tables. */
bool message_hash_is_none(const uint8_t hash[MESSAGE_HASH]);

const char *message_kind_name(enum message_kind kind);

/* One game as a self-contained record (what a worker's spool holds): same checks as on the wire. The decoded
 * game's arrays are freed by message_game_done. */
int message_game_encode(const struct message_game *game, void **bytes, size_t *size);
int message_game_decode(const void *bytes, size_t size, struct message_game *out, char *reason,
                        size_t reason_size);
void message_game_done(struct message_game *game);

#endif
