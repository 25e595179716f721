#include "coordinator/cli/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/names.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/follow.h"
#include "coordinator/cli/live.h"
#include "coordinator/cli/pace.h"
#include "coordinator/cli/table.h"
#include "coordinator/record.h"
#include "coordinator/specification.h"
#include "coordinator/sprt.h"
#include "coordinator/timecontrol.h"
#include "engine/play.h"
#include "proto/artifact.h"

enum {
    DEFAULT_NODES = 1000,
    DEFAULT_OPENING_PLIES = 8,
    DEFAULT_NOISE_PPM = 20000,
    DEFAULT_AUDIT_PPM = 20000
};

/* Per-game variance of the score near equality in oware (STATISTICS: 0.17 to 0.21). */
#define EXPECTED_GAME_VARIANCE 0.19

enum {
    OPTION_PAIRS = 0x2000,
    OPTION_GAMES,
    OPTION_RULES,
    OPTION_OPENING,
    OPTION_SEED,
    OPTION_PRIORITY,
    OPTION_AUDIT,
    OPTION_KEY,
    OPTION_NOTE,
    OPTION_WAIT,
    OPTION_ON_FINISH,
    OPTION_DRY_RUN,
    OPTION_NODES,
    OPTION_DEPTH,
    OPTION_TIME,
    OPTION_HASH,
    OPTION_ENGINE,
    OPTION_TABLES,
    OPTION_OPTION,
    OPTION_CLOCK,
    OPTION_SHARE,
    OPTION_CAP,
    OPTION_TAGS,
};

const struct argp_option launch_options[] = {
    {"pairs", OPTION_PAIRS, "N", 0, "How many pairs (two games from one opening, sides swapped)", 1},
    {"games", OPTION_GAMES, "N", 0, "The same in games: an even number", 1},
    {"rules", OPTION_RULES, "RULES", 0, "Rule set, with overrides: site,repetitions=2 (default site)", 2},
    {"nodes", OPTION_NODES, "N", 0, "Nodes a move (default 1000 when no limit is given)", 3},
    {"depth", OPTION_DEPTH, "D", 0, "Plies of search a move", 3},
    {"time", OPTION_TIME, "MS", 0, "Milliseconds a move; not reproducible", 3},
    {"clock", OPTION_CLOCK, "TIME+INC", 0, "A clock for the whole game: 10s+0.1s; not reproducible", 3},
    {"hash", OPTION_HASH, "KIB", 0, "Transposition table (default 1024 KiB)", 3},
    {"engine", OPTION_ENGINE, "N", 0, "Another program plays: one of `kroo engine ls` (default built-in)", 3},
    {"option", OPTION_OPTION, "NAME=VALUE", 0,
     "Sent to that program, or of the built-in search; may be given again", 3},
    {"tables", OPTION_TABLES, "T", 0, "Endgame tables: some of `kroo tables ls` (default none)", 3},
    {"opening-plies", OPTION_OPENING, "K", 0, "Random plies before the players think (default 8)", 4},
    {"book", TERMS_OPTION_BOOK, "B", 0, "Openings: a book of `kroo book ls`, in place of random plies", 4},
    {"adjudicate", TERMS_OPTION_ADJUDICATE, "T", 0,
     "Tables of `kroo tables ls` end a game once they prove its outcome", 4},
    {"resign", TERMS_OPTION_RESIGN, "SCORE[,PLIES[,PERCENT]]", 0,
     "A side so many hundredths of a seed behind on PLIES moves in a row (default 3) resigns; PERCENT of the "
     "games (default 10) are played out, to see how often it had not lost",
     4},
    {"seed", OPTION_SEED, "S", 0, "Everything random derives from it (default: a random one, printed)", 4},
    {"priority", OPTION_PRIORITY, "P", 0, "Higher goes first (default 0)", 5},
    {"audit", OPTION_AUDIT, "PERCENT", 0,
     "Share of the pairs that another worker plays again, to be compared (default: 2 of a match or tune "
     "under limits of nodes or depth, else 0)",
     5},
    {"share", OPTION_SHARE, "N", 0, "Its part of the core time beside others of its priority (default 100)",
     5},
    {"cap", OPTION_CAP, "N", 0, "At most N games of it are played at once (default any number)", 5},
    {"tags", OPTION_TAGS, "NAME,...", 0, "Only workers that have all of these tags play it: avx2,gpu", 5},
    {"key", OPTION_KEY, "TEXT", 0, "Idempotency key: sent twice, the experiment is made once", 5},
    {"note", OPTION_NOTE, "TEXT", 0, "A note for people", 5},
    {"on-finish", OPTION_ON_FINISH, "HOOK", 0,
     "Run by the coordinator when it ends: NAME ARGUMENT..., one of its operator's hooks", 5},
    {"wait", OPTION_WAIT, NULL, 0, "Follow it to its end", 6},
    {"dry-run", OPTION_DRY_RUN, NULL, 0, "Check and forecast only; submit nothing", 6},
    {0},
};

static void take_text(struct argp_state *state, const char *option, const char *text, char *out, size_t size)
{
    if (strlen(text) >= size)
        argp_error(state, "%s: at most %zu letters", option, size - 1);
    snprintf(out, size, "%s", text);
}

static int32_t take_priority(struct argp_state *state, const char *text)
{
    int32_t priority = 0;
    if (args_parse_priority(text, &priority) != 0)
        argp_error(state, "--priority lies within -%d and %d, not \"%.40s\"", SPECIFICATION_PRIORITY_MAX,
                   SPECIFICATION_PRIORITY_MAX, text);
    return priority;
}

/* An odd number is kept out here: half a pair is no unit of anything. */
static uint64_t take_games(struct argp_state *state, const char *text)
{
    uint64_t games = args_number(state, "--games", text, 0, INT64_MAX);
    if (games % 2 != 0) {
        args_refuse("%llu games is an odd number: a pair is two games; take %llu or %llu",
                    (unsigned long long)games, (unsigned long long)(games - 1),
                    (unsigned long long)(games + 1));
        exit(COMMAND_REFUSED);
    }
    return games / 2;
}

void launch_take_clock(struct argp_state *state, const char *option, const char *text,
                       struct launch_limits *limits)
{
    char reason[TIMECONTROL_REASON];
    if (timecontrol_parse(text, &limits->clock_ms, &limits->increment_ms, reason) != 0)
        argp_error(state, "%s: %s", option, reason);
    limits->has_clock = true;
}

static error_t parse_limit(int key, char *text, struct argp_state *state, struct launch_limits *limits)
{
    switch (key) {
    case OPTION_NODES:
        limits->nodes = args_number(state, "--nodes", text, 1, INT64_MAX);
        limits->has_nodes = true;
        return 0;
    case OPTION_DEPTH:
        limits->depth = (uint32_t)args_number(state, "--depth", text, 1, SEARCH_DEPTH_MAX);
        limits->has_depth = true;
        return 0;
    case OPTION_TIME:
        limits->time_ms = (uint32_t)args_number(state, "--time", text, 1, SPECIFICATION_TIME_MAX_MS);
        limits->has_time = true;
        return 0;
    case OPTION_CLOCK:
        launch_take_clock(state, "--clock", text, limits);
        return 0;
    case OPTION_HASH:
        limits->hash_kib = (uint32_t)args_number(state, "--hash", text, SPECIFICATION_HASH_MIN_KIB,
                                                 SPECIFICATION_HASH_MAX_KIB);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t launch_parse(int key, char *text, struct argp_state *state)
{
    struct launch *launch = state->input;
    struct message_create_experiment *create = &launch->create;
    switch (key) {
    case OPTION_PAIRS:
        create->pairs = args_number(state, "--pairs", text, 0, INT64_MAX);
        launch->has_pairs = true;
        return 0;
    case OPTION_GAMES:
        create->pairs = take_games(state, text);
        launch->has_pairs = true;
        return 0;
    case OPTION_RULES:
        launch->rules = text;
        return 0;
    case OPTION_ENGINE:
        launch->outfits[0].engine = text;
        return 0;
    case OPTION_TABLES:
        launch->outfits[0].tables = text;
        return 0;
    case OPTION_OPTION:
        outfit_add_option(state, &launch->outfits[0], "--option", text);
        return 0;
    case OPTION_OPENING:
        create->spec.opening_plies =
            (uint32_t)args_number(state, "--opening-plies", text, 0, PLAY_OPENING_MAX);
        launch->has_opening = true;
        return 0;
    case OPTION_SEED:
        create->spec.seed = args_number(state, "--seed", text, 0, SPECIFICATION_SEED_MAX);
        launch->has_seed = true;
        return 0;
    case OPTION_PRIORITY:
        create->priority = take_priority(state, text);
        return 0;
    case OPTION_AUDIT:
        create->audit_ppm = args_share(state, "--audit", text);
        launch->has_audit = true;
        return 0;
    case OPTION_SHARE:
        create->share = (uint32_t)args_number(state, "--share", text, 1, SPECIFICATION_SHARE_MAX);
        return 0;
    case OPTION_CAP:
        create->core_cap = (uint32_t)args_number(state, "--cap", text, 1, INT32_MAX);
        return 0;
    case OPTION_TAGS:
        take_text(state, "--tags", text, create->tags, sizeof create->tags);
        return 0;
    case OPTION_KEY:
        take_text(state, "--key", text, create->idempotency_key, sizeof create->idempotency_key);
        return 0;
    case OPTION_NOTE:
        take_text(state, "--note", text, create->note, sizeof create->note);
        return 0;
    case OPTION_ON_FINISH:
        take_text(state, "--on-finish", text, create->on_finish, sizeof create->on_finish);
        return 0;
    case OPTION_WAIT:
        launch->wait = true;
        return 0;
    case OPTION_DRY_RUN:
        launch->dry_run = true;
        return 0;
    default:
        break;
    }
    error_t error = terms_parse(key, text, state, &launch->terms);
    return error == ARGP_ERR_UNKNOWN ? parse_limit(key, text, state, &launch->limits[0]) : error;
}

const struct argp launch_argp = {.options = launch_options, .parser = launch_parse};

void launch_init(struct launch *launch, enum message_experiment_kind kind)
{
    memset(launch, 0, sizeof *launch);
    launch->rules = "site";
    launch->create.spec.kind = kind;
    launch->create.spec.opening_plies = DEFAULT_OPENING_PLIES;
    launch->create.share = MESSAGE_SHARE_USUAL;
    if (kind == MESSAGE_SELFPLAY) {
        launch->create.spec.noise_ppm = DEFAULT_NOISE_PPM;
        launch->create.spec.with_scores = true;
    }
}

static struct message_player side_limits(const struct launch_limits *both, const struct launch_limits *own)
{
    bool any_own = own->has_nodes || own->has_depth || own->has_time || own->has_clock;
    const struct launch_limits *from = any_own ? own : both;
    struct message_player player = {.hash_kib = SEARCH_HASH_KIB};
    if (from->has_nodes || (!from->has_depth && !from->has_time && !from->has_clock))
        player.node_limit = from->has_nodes ? from->nodes : DEFAULT_NODES;
    player.depth_limit = from->depth;
    player.time_ms = from->time_ms;
    player.clock_ms = from->clock_ms;
    player.increment_ms = from->increment_ms;
    if (own->hash_kib || both->hash_kib)
        player.hash_kib = own->hash_kib ? own->hash_kib : both->hash_kib;
    return player;
}

/* The built-in weights are a function of the rules, so their name can be computed here. */
static int starting_hash(const char *rules, uint8_t sha256[MESSAGE_HASH])
{
    void *bytes = NULL;
    size_t size = 0;
    struct weights *weights = weights_create_starting(rules);
    enum weights_error error = weights ? weights_serialize(weights, &bytes, &size) : WEIGHTS_ERROR_MEMORY;
    weights_destroy(weights);
    if (error != WEIGHTS_OK)
        return args_refuse("starting weights: %s", weights_error_text(error));
    artifact_hash(bytes, size, sha256);
    free(bytes);
    return COMMAND_DONE;
}

int launch_find_weights(struct store *store, const char *text, const char *rules,
                        uint8_t sha256[MESSAGE_HASH])
{
    if (strcmp(text, "starting") == 0)
        return starting_hash(rules, sha256);
    struct store_weights found;
    uint64_t number = 0;
    enum store_error error = store_weights_find(store, text, &found, &number);
    if (error == STORE_ERROR_REFUSED)
        return names_refuse_weights(store, text);
    if (error != STORE_OK)
        return connect_failed(store, error);
    if (strcmp(found.rules, rules) != 0)
        return args_refuse(
            "weights \"%.80s\" were made for the rules %s, this experiment plays %s: give --rules "
            "%s, or other weights",
            text, found.rules, rules, found.rules);
    memcpy(sha256, found.sha256, MESSAGE_HASH);
    return COMMAND_DONE;
}

/* Self-play without --weights: the champion if there is one, else the starting weights. */
static int default_weights(struct store *store, const char *rules, uint8_t sha256[MESSAGE_HASH])
{
    uint64_t epoch = 0;
    uint8_t champion[STORE_HASH];
    struct store_weights found;
    if (store_champion(store, "main", champion, &epoch) == STORE_OK && epoch != 0 &&
        store_weights_find(store, "champion", &found, &epoch) == STORE_OK &&
        strcmp(found.rules, rules) == 0) {
        memcpy(sha256, found.sha256, MESSAGE_HASH);
        return COMMAND_DONE;
    }
    return starting_hash(rules, sha256);
}

static int fill_rules(struct launch *launch)
{
    struct rules rules;
    char reason[SPECIFICATION_REASON_MAX];
    if (rules_parse(launch->rules, &rules, reason, sizeof reason) != 0)
        return args_refuse("%s", reason);
    snprintf(launch->create.spec.rules, sizeof launch->create.spec.rules, "%s", rules.name);
    return COMMAND_DONE;
}

static int fill_weights(struct launch *launch, struct store *store)
{
    struct message_spec *spec = &launch->create.spec;
    int status = launch->weights[0]
                     ? launch_find_weights(store, launch->weights[0], spec->rules, spec->a.weights)
                     : default_weights(store, spec->rules, spec->a.weights);
    if (status != COMMAND_DONE)
        return status;
    if (launch->weights[1])
        return launch_find_weights(store, launch->weights[1], spec->rules, spec->b.weights);
    memcpy(spec->b.weights, spec->a.weights, MESSAGE_HASH);
    return COMMAND_DONE;
}

/* With a key the seed must be the same when the request is sent again: that of the experiment which the key
 * stands for, else one that the key gives. */
static int seed_of_key(struct store *store, const char *key, uint64_t *seed)
{
    struct store_table table;
    const char *parameters[] = {key};
    uint8_t hash[MESSAGE_HASH];
    int status = connect_query(store, "select seed::text from kroo.experiment where idempotency_key = $1",
                               parameters, 1, &table);
    if (status != COMMAND_DONE)
        return status;
    artifact_hash(key, strlen(key), hash);
    memcpy(seed, hash, sizeof *seed);
    *seed >>= 11;
    if (table.rows == 1)
        *seed = strtoull(store_cell(&table, 0, 0), NULL, 10);
    store_table_done(&table);
    return COMMAND_DONE;
}

/* Seeds made here stay below 2^53, which every JSON reader keeps exactly. */
int launch_fill_random(struct launch *launch, struct store *store)
{
    uint64_t bits[3] = {0};
    struct message_create_experiment *create = &launch->create;
    if (create->idempotency_key[0] != '\0')
        return launch->has_seed ? COMMAND_DONE
                                : seed_of_key(store, create->idempotency_key, &create->spec.seed);
    if (getrandom(bits, sizeof bits, 0) != sizeof bits)
        return args_refuse("no random numbers from the system");
    if (!launch->has_seed)
        create->spec.seed = bits[0] >> 11;
    snprintf(create->idempotency_key, sizeof create->idempotency_key, "%016llx%016llx",
             (unsigned long long)bits[1], (unsigned long long)bits[2]);
    return COMMAND_DONE;
}

static struct sprt_test test_of(const struct message_sprt *sprt)
{
    struct sprt_test test = {.elo0 = sprt->elo0,
                             .elo1 = sprt->elo1,
                             .alpha = sprt->alpha,
                             .beta = sprt->beta,
                             .batch = sprt->batch};
    statistics_model_parse(sprt->model, &test.model);
    return test;
}

struct launch_forecast {
    double elo, pairs, acceptance;
};

static void forecast(const struct message_sprt *sprt, struct launch_forecast out[3])
{
    struct sprt_test test = test_of(sprt);
    double low, high;
    sprt_bound_scores(&test, EXPECTED_GAME_VARIANCE, &low, &high);
    for (int i = 0; i < 3; i++) {
        struct sprt_forecast expected;
        sprt_forecast(&test, low + (high - low) * i / 2, EXPECTED_GAME_VARIANCE, &expected);
        out[i] = (struct launch_forecast){
            .elo = sprt->elo0 + (sprt->elo1 - sprt->elo0) * i / 2,
            .pairs = expected.games / 2,
            .acceptance = expected.acceptance,
        };
    }
}

static void say_pace(double pairs_per_minute)
{
    if (pairs_per_minute > 0)
        fprintf(stderr, "at about %.0f pairs a minute, as the connected workers played lately\n",
                pairs_per_minute);
    else
        fprintf(stderr,
                "how long is unknown until the first games: nothing was played by these programs under "
                "comparable limits, or no worker is there\n");
}

static void say_length(const struct launch *launch)
{
    char text[64];
    pace_text((double)launch->create.pairs, launch->pairs_per_minute, text, sizeof text);
    fprintf(stderr, "%llu pairs: %s, ", (unsigned long long)launch->create.pairs, text);
    say_pace(launch->pairs_per_minute);
}

static void say_forecast(const struct launch *launch)
{
    struct launch_forecast expected[3];
    const struct message_create_experiment *create = &launch->create;
    const struct message_sprt *sprt = &create->sprt;
    char text[64];
    forecast(sprt, expected);
    fprintf(stderr, "SPRT, %s model, [%g, %g], alpha %g, beta %g, batches of %u pairs; expect about\n",
            sprt->model, sprt->elo0, sprt->elo1, sprt->alpha, sprt->beta, sprt->batch);
    for (int i = 0; i < 3; i++) {
        pace_text(expected[i].pairs, launch->pairs_per_minute, text, sizeof text);
        fprintf(stderr, "  %8.0f pairs if the difference is %g (accepted with probability %.2f): %s\n",
                expected[i].pairs, expected[i].elo, expected[i].acceptance, text);
    }
    say_pace(launch->pairs_per_minute);
    if (expected[1].pairs > (double)create->pairs)
        args_warn("at most %llu pairs: half-way between the bounds the test would often end undecided",
                  (unsigned long long)create->pairs);
}

static json_t *player_json(const struct message_player *player, const struct outfit *both,
                           const struct outfit *own)
{
    char hex[ARTIFACT_HEX];
    struct store_player row = {
        .limits = {.clock_ms = player->clock_ms, .increment_ms = player->increment_ms}};
    const char *engine = own->engine ? own->engine : both->engine;
    const char *tables = own->tables ? own->tables : both->tables;
    artifact_hex(player->weights, hex);
    memcpy(row.engine, player->engine, sizeof row.engine);
    memcpy(row.tables, player->tables, sizeof row.tables);
    memcpy(row.options, player->options, sizeof row.options);
    json_t *object =
        json_pack("{s:s, s:I, s:I, s:I, s:I}", "weights", hex, "nodes", (json_int_t)player->node_limit,
                  "depth", (json_int_t)player->depth_limit, "time_ms", (json_int_t)player->time_ms,
                  "hash_kib", (json_int_t)player->hash_kib);
    outfit_add_json(object, &row, engine ? engine : "", tables ? tables : "");
    return object;
}

static json_t *minutes_json(double pairs, double pairs_per_minute)
{
    return pairs_per_minute > 0 ? json_real(pairs / pairs_per_minute) : json_null();
}

static json_t *forecast_json(const struct launch *launch)
{
    if (!launch->create.has_sprt)
        return json_null();
    struct launch_forecast expected[3];
    forecast(&launch->create.sprt, expected);
    json_t *array = json_array();
    for (int i = 0; i < 3; i++)
        json_array_append_new(array,
                              json_pack("{s:f, s:f, s:f, s:o}", "elo", expected[i].elo, "pairs",
                                        expected[i].pairs, "acceptance", expected[i].acceptance, "minutes",
                                        minutes_json(expected[i].pairs, launch->pairs_per_minute)));
    return array;
}

static json_t *warnings_json(const struct message_create_experiment *create)
{
    char warnings[SPECIFICATION_WARNINGS_MAX][SPECIFICATION_REASON_MAX];
    unsigned count = specification_warnings(create, warnings);
    json_t *array = json_array();
    for (unsigned i = 0; i < count; i++)
        json_array_append_new(array, json_string(warnings[i]));
    return array;
}

static const char *kind_name(enum message_experiment_kind kind)
{
    return kind == MESSAGE_MATCH ? "match" : kind == MESSAGE_TUNE ? "tune" : "selfplay";
}

static int print_json(const struct launch *launch, const struct message_control_done *done)
{
    const struct message_create_experiment *create = &launch->create;
    const struct message_spec *spec = &create->spec;
    json_t *object =
        json_pack("{s:o, s:b, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:b, s:o, s:o}", "experiment",
                  done ? json_integer((json_int_t)done->experiment) : json_null(), "existed",
                  done && done->existed, "kind", kind_name(spec->kind), "key", create->idempotency_key,
                  "rules", spec->rules, "pairs", (json_int_t)create->pairs, "seed", (json_int_t)spec->seed,
                  "opening_plies", (json_int_t)spec->opening_plies, "noise_ppm", (json_int_t)spec->noise_ppm,
                  "a", player_json(&spec->a, &launch->outfits[0], &launch->outfits[1]), "b",
                  player_json(&spec->b, &launch->outfits[0], &launch->outfits[2]), "is_reproducible",
                  specification_reproducible(spec), "forecast", forecast_json(launch), "warnings",
                  warnings_json(create));
    json_object_set_new(object, "minutes", minutes_json((double)create->pairs, launch->pairs_per_minute));
    return table_json_print(object);
}

static void say_warnings(const struct message_create_experiment *create)
{
    char warnings[SPECIFICATION_WARNINGS_MAX][SPECIFICATION_REASON_MAX];
    unsigned count = specification_warnings(create, warnings);
    for (unsigned i = 0; i < count; i++)
        args_warn("%s", warnings[i]);
}

/* The key was known: what is told from here on is the experiment that is there. */
static int adopt_existing(struct launch *launch, const struct settings *settings, uint64_t experiment)
{
    struct store *store = connect_store(settings, "kroo_reader");
    struct record record;
    struct message_create_experiment there;
    if (!store)
        return COMMAND_NO_CONNECTION;
    int status = connect_failed(store, record_load(store, experiment, &record));
    store_close(store);
    if (status != COMMAND_DONE)
        return status;
    record_specification(&record, &there);
    args_note("the key \"%s\" is known: this is experiment %llu, nothing new was made",
              launch->create.idempotency_key, (unsigned long long)experiment);
    launch->create = there;
    return COMMAND_DONE;
}

static int ask(struct launch *launch, const struct settings *settings, struct message_control_done *done)
{
    int status = COMMAND_DONE;
    struct coordinator_link *link = link_open(settings, &status);
    if (!link)
        return status;
    struct message request = {.kind = MESSAGE_CREATE_EXPERIMENT}, reply;
    if (launch->create.spec.engine_build[0] == '\0')
        snprintf(launch->create.spec.engine_build, sizeof launch->create.spec.engine_build, "%s",
                 link_engine_build(link));
    request.create_experiment = launch->create;
    status = link_ask(link, &request, MESSAGE_CONTROL_DONE, &reply);
    link_close(link);
    if (status != COMMAND_DONE)
        return status;
    *done = reply.control_done;
    message_done(&reply);
    return COMMAND_DONE;
}

static int submit(struct launch *launch, const struct settings *settings)
{
    struct message_control_done done;
    int status = ask(launch, settings, &done);
    if (status == COMMAND_DONE && done.existed)
        status = adopt_existing(launch, settings, done.experiment);
    if (status != COMMAND_DONE)
        return status;
    launch->experiment = done.experiment;
    if (!done.existed && !launch->has_seed && !launch->common.json)
        args_note("seed %llu", (unsigned long long)launch->create.spec.seed);
    if (!launch->common.json && strstr(done.text, "approve"))
        args_note("experiment %llu waits: an operator lets it run by `kroo approve %llu`",
                  (unsigned long long)done.experiment, (unsigned long long)done.experiment);
    if (launch->common.json)
        status = print_json(launch, &done);
    else
        printf("%llu\n", (unsigned long long)done.experiment);
    fflush(stdout);
    return launch->wait && status == COMMAND_DONE
               ? follow_experiment(settings, done.experiment, launch->common.json)
               : status;
}

/* Everything that can be said without the database comes first. */
static int prepare(struct launch *launch, const struct settings *settings)
{
    struct message_spec *spec = &launch->create.spec;
    spec->a = side_limits(&launch->limits[0], &launch->limits[1]);
    spec->b = side_limits(&launch->limits[0], &launch->limits[2]);
    int status = fill_rules(launch);
    if (status != COMMAND_DONE)
        return status;
    if (!launch->has_audit && spec->kind != MESSAGE_SELFPLAY && specification_reproducible(spec))
        launch->create.audit_ppm = DEFAULT_AUDIT_PPM;
    struct store *store = connect_store(settings, "kroo_reader");
    if (!store)
        return COMMAND_NO_CONNECTION;
    status = launch_fill_random(launch, store);
    if (status == COMMAND_DONE)
        status = fill_weights(launch, store);
    if (status == COMMAND_DONE)
        status = outfit_fill(store, &launch->outfits[0], &launch->outfits[1], &spec->a);
    if (status == COMMAND_DONE)
        status = outfit_fill(store, &launch->outfits[0], &launch->outfits[2], &spec->b);
    if (status == COMMAND_DONE)
        status = terms_fill(store, &launch->terms, launch->has_opening, &launch->create);
    store_close(store);
    return status;
}

int launch_offer(struct launch *launch, const struct settings *settings)
{
    char reason[SPECIFICATION_REASON_MAX];
    if (!specification_check(&launch->create, reason))
        return args_refuse("%s", reason);
    say_warnings(&launch->create);
    bool create_is_match = launch->create.spec.kind == MESSAGE_MATCH;
    struct store *store = connect_store(settings, "kroo_reader");
    if (!store)
        return COMMAND_NO_CONNECTION;
    launch->pairs_per_minute = pace_pairs_per_minute(store, &launch->create.spec, live_slots(settings));
    store_close(store);
    if (launch->create.has_sprt && !launch->common.json)
        say_forecast(launch);
    else if (create_is_match && !launch->common.json)
        say_length(launch);
    if (!launch->dry_run)
        return submit(launch, settings);
    return launch->common.json ? print_json(launch, NULL) : COMMAND_DONE;
}

int launch_run(struct launch *launch)
{
    int status;
    struct settings *settings = connect_settings(&launch->common, &status);
    if (!settings)
        return status;
    status = prepare(launch, settings);
    if (status == COMMAND_DONE && launch->complete)
        status = launch->complete(launch, settings);
    if (status == COMMAND_DONE)
        status = launch_offer(launch, settings);
    settings_destroy(settings);
    return status;
}
