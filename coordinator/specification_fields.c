#include "coordinator/specification_fields.h"

#include "coordinator/specification.h"
#include "coordinator/specification_json.h"
#include "engine/play.h"
#include "engine/search.h"
#include "sql/store.h"

#define FIELD(message, store, key_, type_, member, stored_, ...)                                             \
    {                                                                                                        \
        .key = key_, .type = FIELD_##type_, .offset = offsetof(struct message, member),                      \
        .size = sizeof(((struct message *)0)->member), .stored = offsetof(struct store, stored_),            \
        .stored_size = sizeof(((struct store *)0)->stored_), __VA_ARGS__                                     \
    }
#define TOP(...)       FIELD(message_create_experiment, store_experiment, __VA_ARGS__)
#define PLAYER(...)    FIELD(message_player, store_player, __VA_ARGS__)
#define SPRT(...)      FIELD(message_sprt, store_sprt, __VA_ARGS__)
#define WITHIN(lo, hi) .low = (lo), .high = (hi)
#define NAMED(member)  .name = offsetof(struct specification_names, member)
#define CALLED(member) .name = offsetof(struct specification_player_names, member)
#define ASIDE          .is_aside = true
#define LIST(fields)                                                                                         \
    {                                                                                                        \
        fields, sizeof(fields) / sizeof *(fields)                                                            \
    }

/* clang-format off */
static const struct field top_fields[] = {
    TOP("kind", KIND, spec.kind, kind),
    TOP("rules", TEXT, spec.rules, rules),
    TOP("engine_build", BUILD, spec.engine_build, a.engine_build, ASIDE),
    TOP("seed", U64, spec.seed, seed, WITHIN(0, INT64_MAX)),
    TOP("pairs", U64, pairs, planned_pairs, WITHIN(1, 1000000000)),
    TOP("opening_plies", U32, spec.opening_plies, opening_plies, WITHIN(0, PLAY_OPENING_MAX)),
    TOP("book", FILE, spec.book, book, NAMED(book)),
    TOP("noise_ppm", U32, spec.noise_ppm, noise_ppm, WITHIN(0, PLAY_NOISE_UNIT)),
    TOP("with_scores", BOOL, spec.with_scores, with_scores),
    TOP("adjudication", FILE, spec.adjudication, adjudication, NAMED(adjudication)),
    TOP("resign_score", U32, spec.resign_score, resign_score, WITHIN(0, SPECIFICATION_RESIGN_MAX)),
    TOP("resign_plies", U32, spec.resign_plies, resign_plies, WITHIN(0, SPECIFICATION_RESIGN_PLIES_MAX)),
    TOP("resign_playout_ppm", U32, spec.resign_playout_ppm, resign_playout_ppm, WITHIN(0, PLAY_NOISE_UNIT)),
    TOP("reference_speed", U32, spec.reference_speed, reference_speed, WITHIN(0, INT32_MAX)),
    TOP("audit_ppm", U32, audit_ppm, audit_ppm, WITHIN(0, PLAY_NOISE_UNIT)),
    TOP("tune", FILE, tune, tune, NAMED(tune)),
    TOP("priority", I32, priority, priority, WITHIN(-SPECIFICATION_PRIORITY_MAX, SPECIFICATION_PRIORITY_MAX), ASIDE),
    TOP("share", U32, share, share, WITHIN(1, SPECIFICATION_SHARE_MAX), ASIDE),
    TOP("core_cap", U32, core_cap, core_cap, WITHIN(0, INT32_MAX), ASIDE),
    TOP("tags", TEXT, tags, tags, ASIDE),
    TOP("note", TEXT, note, note, ASIDE),
    TOP("on_finish", TEXT, on_finish, on_finish),
};
static const struct field player_fields[] = {
    PLAYER("weights", FILE, weights, weights, CALLED(weights)),
    PLAYER("engine", FILE, engine, engine, CALLED(engine)),
    PLAYER("tables", FILE, tables, tables, CALLED(tables)),
    PLAYER("nodes", U64, node_limit, limits.nodes, WITHIN(0, INT64_MAX)),
    PLAYER("depth", U32, depth_limit, limits.depth, WITHIN(0, SEARCH_DEPTH_MAX)),
    PLAYER("time_ms", U32, time_ms, limits.time_ms, WITHIN(0, SPECIFICATION_TIME_MAX_MS)),
    PLAYER("clock_ms", U32, clock_ms, limits.clock_ms, WITHIN(0, SPECIFICATION_CLOCK_MAX_MS)),
    PLAYER("increment_ms", U32, increment_ms, limits.increment_ms, WITHIN(0, SPECIFICATION_TIME_MAX_MS)),
    PLAYER("hash_kib", U32, hash_kib, limits.hash_kib, WITHIN(SPECIFICATION_HASH_MIN_KIB, SPECIFICATION_HASH_MAX_KIB)),
    PLAYER("options", OPTIONS, options, options),
};
static const struct field sprt_fields[] = {
    SPRT("model", TEXT, model, model),
    SPRT("elo0", DOUBLE, elo0, elo0),
    SPRT("elo1", DOUBLE, elo1, elo1),
    SPRT("alpha", DOUBLE, alpha, alpha),
    SPRT("beta", DOUBLE, beta, beta),
    SPRT("batch", U32, batch, batch, WITHIN(1, 1000000)),
};
/* clang-format on */

const struct field_list specification_fields = LIST(top_fields);
const struct field_list specification_player_fields = LIST(player_fields);
const struct field_list specification_sprt_fields = LIST(sprt_fields);
