#include "coordinator/specification.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "coordinator/sprt.h"
#include "engine/play.h"
#include "proto/tags.h"

static bool refuse(char reason[SPECIFICATION_REASON_MAX], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool refuse(char reason[SPECIFICATION_REASON_MAX], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, SPECIFICATION_REASON_MAX, format, arguments);
    va_end(arguments);
    return false;
}

static bool same_limits(const struct message_player *a, const struct message_player *b)
{
    return a->node_limit == b->node_limit && a->depth_limit == b->depth_limit && a->time_ms == b->time_ms &&
           a->hash_kib == b->hash_kib && a->clock_ms == b->clock_ms && a->increment_ms == b->increment_ms;
}

bool specification_same_player(const struct message_player *a, const struct message_player *b)
{
    return same_limits(a, b) && memcmp(a->weights, b->weights, MESSAGE_HASH) == 0 &&
           memcmp(a->engine, b->engine, MESSAGE_HASH) == 0 &&
           memcmp(a->tables, b->tables, MESSAGE_HASH) == 0 && strcmp(a->options, b->options) == 0;
}

bool specification_reproducible(const struct message_spec *spec)
{
    return spec->a.time_ms == 0 && spec->b.time_ms == 0 && spec->a.clock_ms == 0 && spec->b.clock_ms == 0;
}

/* Names that the worker sets itself; another value would break what the experiment promises. */
static bool is_reserved(const char *line)
{
    static const char *const names[] = {
        "Rules=", "Hash=", "WeightsFile=", "TablesFile=", "Threads=", "MultiPV="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncasecmp(line, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Options, and of a player that is a program what can be said without running it. */
static bool check_program(const struct message_player *player, const char *side, char *reason)
{
    char why[160];
    struct search_parameters parameters;
    if (!message_options_check(player->options, why, sizeof why))
        return refuse(reason, "player %s: %s", side, why);
    if (message_hash_is_none(player->engine))
        return search_parameters_parse(player->options, &parameters, why, sizeof why) ||
               refuse(reason, "player %s: %s", side, why);
    for (const char *line = player->options; line != NULL && *line != '\0';) {
        if (is_reserved(line))
            return refuse(reason,
                          "player %s: %.*s is set by the worker (--rules, --hash, the weights, --tables; one "
                          "thread, one line)",
                          side, (int)strcspn(line, "="), line);
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    if (player->hash_kib % 1024 != 0)
        return refuse(reason, "player %s: an engine's transposition table has whole MiB: give --hash %u",
                      side, (player->hash_kib / 1024 + 1) * 1024);
    return true;
}

static bool check_player(const struct message_player *player, const char *side, char *reason)
{
    static const uint8_t zeros[MESSAGE_HASH];
    if (memcmp(player->weights, zeros, MESSAGE_HASH) == 0)
        return refuse(reason, "player %s has no weights", side);
    if (player->node_limit == 0 && player->depth_limit == 0 && player->time_ms == 0 && player->clock_ms == 0)
        return refuse(reason, "player %s has no limit: give nodes, depth, time or a clock", side);
    if (player->increment_ms != 0 && player->clock_ms == 0)
        return refuse(reason, "player %s: an increment needs a clock that it is added to", side);
    if (player->clock_ms > SPECIFICATION_CLOCK_MAX_MS || player->increment_ms > SPECIFICATION_TIME_MAX_MS)
        return refuse(reason, "player %s: a clock has at most a day, and an increment an hour", side);
    if (player->node_limit > INT64_MAX)
        return refuse(reason, "player %s: that many nodes are never searched", side);
    if (player->depth_limit > SEARCH_DEPTH_MAX)
        return refuse(reason, "player %s: a depth of %u is beyond %d", side, player->depth_limit,
                      SEARCH_DEPTH_MAX);
    if (player->time_ms > SPECIFICATION_TIME_MAX_MS)
        return refuse(reason, "player %s: %u ms a move is more than an hour", side, player->time_ms);
    if (player->hash_kib < SPECIFICATION_HASH_MIN_KIB || player->hash_kib > SPECIFICATION_HASH_MAX_KIB)
        return refuse(reason, "player %s: a transposition table of %u KiB is outside %d to %d", side,
                      player->hash_kib, SPECIFICATION_HASH_MIN_KIB, SPECIFICATION_HASH_MAX_KIB);
    return check_program(player, side, reason);
}

/* What is no part of a game, and how games may end early. */
static bool check_terms(const struct message_create_experiment *create, char *reason)
{
    const struct message_spec *spec = &create->spec;
    if ((spec->resign_score == 0) != (spec->resign_plies == 0))
        return refuse(reason, "a resignation needs both a score and a number of moves in a row");
    if (spec->resign_score > 0 && !spec->with_scores)
        return refuse(reason, "a resignation is checked by the scores of the plies, so they must be stored: "
                              "leave --no-scores out, or --resign");
    if (spec->resign_score == 0 && spec->resign_playout_ppm != 0)
        return refuse(reason, "nobody resigns, so there is no resigned game to play out");
    if (spec->resign_score > SPECIFICATION_RESIGN_MAX || spec->resign_plies > SPECIFICATION_RESIGN_PLIES_MAX)
        return refuse(reason, "a resignation is at most %d hundredths of a seed behind, for at most %d moves",
                      SPECIFICATION_RESIGN_MAX, SPECIFICATION_RESIGN_PLIES_MAX);
    if (create->audit_ppm > 0 && !specification_reproducible(spec))
        return refuse(reason,
                      "under time limits no game comes out the same again: there is nothing to audit");
    if (spec->reference_speed > 0 && specification_reproducible(spec))
        return refuse(reason, "a reference speed is what limits of time are meant for, and there are none");
    if (spec->resign_playout_ppm > PLAY_NOISE_UNIT || create->audit_ppm > PLAY_NOISE_UNIT)
        return refuse(reason, "a share of games or pairs is at most 100 percent");
    if (create->share > SPECIFICATION_SHARE_MAX)
        return refuse(reason, "a share of core time is at most %d", SPECIFICATION_SHARE_MAX);
    if (!tags_check(create->tags, reason, SPECIFICATION_REASON_MAX))
        return false;
    if (create->core_cap > INT32_MAX)
        return refuse(reason, "no farm has %u cores: leave the cap out", create->core_cap);
    return true;
}

static bool check_rules(const struct message_spec *spec, char *reason)
{
    struct rules rules;
    char why[SPECIFICATION_REASON_MAX];
    if (rules_parse(spec->rules, &rules, why, sizeof why) != 0)
        return refuse(reason, "rules: %s", why);
    if (strcmp(rules.name, spec->rules) != 0)
        return refuse(reason, "rules \"%s\" are named \"%s\"", spec->rules, rules.name);
    if (!rules_bound_games(&rules))
        return refuse(reason,
                      "under \"%s\" a game may never end: add a repetition or quiet rule, for example "
                      "\"%s,quiet_limit=500\"",
                      spec->rules, spec->rules);
    return true;
}

static bool check_sprt(const struct message_create_experiment *create, char *reason)
{
    struct sprt_test test = {
        .elo0 = create->sprt.elo0,
        .elo1 = create->sprt.elo1,
        .alpha = create->sprt.alpha,
        .beta = create->sprt.beta,
        .batch = create->sprt.batch,
    };
    char why[SPRT_REASON_MAX];
    if (create->spec.kind != MESSAGE_MATCH)
        return refuse(reason, "only a match can have a sequential test");
    if (statistics_model_parse(create->sprt.model, &test.model) != 0)
        return refuse(reason, "the LLR model is normalized or logistic, not \"%s\"", create->sprt.model);
    if (!sprt_validate(&test, true, why))
        return refuse(reason, "%s", why);
    if (create->pairs < create->sprt.batch)
        return refuse(reason, "%llu pairs are less than one batch of %u: the test would never be looked at",
                      (unsigned long long)create->pairs, create->sprt.batch);
    return true;
}

/* Games that repeat each other are no evidence. */
static bool check_duplicates(const struct message_create_experiment *create, char *reason)
{
    const struct message_spec *spec = &create->spec;
    if (!specification_reproducible(spec) || spec->noise_ppm != 0)
        return true;
    if (spec->kind == MESSAGE_MATCH && specification_same_player(&spec->a, &spec->b))
        return refuse(reason, "both sides are the same deterministic player: the two games of each pair "
                              "would be equal, duplicates that prove nothing; change the weights, the "
                              "engine, its options or the limit of one side; or, to see whether the farm is "
                              "fair, give both noise: `kroo aa`");
    if (spec->opening_plies == 0 && message_hash_is_none(spec->book) && create->pairs > 1)
        return refuse(reason, "without opening plies every pair would be the same two games: duplicates; "
                              "give --opening-plies or --book, or one pair");
    return true;
}

/* What it tunes is read where its file is. Unequal sides would tune against the difference. */
static bool check_tune(const struct message_create_experiment *create, char *reason)
{
    const struct message_spec *spec = &create->spec;
    bool has_file = !message_hash_is_none(create->tune);
    if (spec->kind != MESSAGE_TUNE)
        return !has_file || refuse(reason, "only a tune has something to tune");
    if (!has_file)
        return refuse(reason, "a tune without parameters tunes nothing: name them in its file");
    if (!same_limits(&spec->a, &spec->b))
        return refuse(reason, "in a tune both sides play under the same limits, hash included: the "
                              "parameters would be tuned to the difference");
    if (!specification_same_player(&spec->a, &spec->b))
        return refuse(reason, "in a tune both sides start from the same player");
    if (spec->noise_ppm != 0)
        return refuse(reason, "a tune is played without noise");
    return true;
}

bool specification_check(const struct message_create_experiment *create,
                         char reason[SPECIFICATION_REASON_MAX])
{
    const struct message_spec *spec = &create->spec;
    if (spec->kind != MESSAGE_SELFPLAY && spec->kind != MESSAGE_MATCH && spec->kind != MESSAGE_TUNE)
        return refuse(reason, "an experiment is self-play, a match or a tune");
    if (create->pairs == 0)
        return refuse(reason, "zero pairs are no experiment: give at least one");
    if (create->pairs > SPECIFICATION_PAIRS_MAX)
        return refuse(reason, "%llu pairs are more than the %llu that an experiment may have",
                      (unsigned long long)create->pairs, (unsigned long long)SPECIFICATION_PAIRS_MAX);
    if (spec->seed > SPECIFICATION_SEED_MAX)
        return refuse(reason, "the seed is above 2^63 - 1");
    if (spec->opening_plies > PLAY_OPENING_MAX)
        return refuse(reason, "%u opening plies are more than %d", spec->opening_plies, PLAY_OPENING_MAX);
    if (spec->opening_plies > 0 && !message_hash_is_none(spec->book))
        return refuse(reason, "openings are random plies or from a book: leave one of the two out");
    if (spec->noise_ppm > PLAY_NOISE_UNIT)
        return refuse(reason, "noise is a share of the moves: at most 100 percent");
    if (create->priority > SPECIFICATION_PRIORITY_MAX || create->priority < -SPECIFICATION_PRIORITY_MAX)
        return refuse(reason, "a priority lies within -%d and %d", SPECIFICATION_PRIORITY_MAX,
                      SPECIFICATION_PRIORITY_MAX);
    if (spec->kind == MESSAGE_MATCH && spec->noise_ppm != 0 && !specification_same_player(&spec->a, &spec->b))
        return refuse(reason, "a match is played without noise; only a player against itself needs it");
    if (spec->kind == MESSAGE_SELFPLAY && !specification_same_player(&spec->a, &spec->b))
        return refuse(reason, "in self-play both sides are the same player");
    return check_tune(create, reason) && check_rules(spec, reason) && check_terms(create, reason) &&
           check_player(&spec->a, "A", reason) && check_player(&spec->b, "B", reason) &&
           (!create->has_sprt || check_sprt(create, reason)) && check_duplicates(create, reason);
}

/* An upper bound of the openings of `plies` random moves. */
static double openings(unsigned plies)
{
    double count = 1;
    for (unsigned i = 0; i < plies; i++)
        count *= 6;
    return count;
}

unsigned specification_warnings(const struct message_create_experiment *create,
                                char warnings[SPECIFICATION_WARNINGS_MAX][SPECIFICATION_REASON_MAX])
{
    const struct message_spec *spec = &create->spec;
    unsigned count = 0;
    if (!specification_reproducible(spec))
        snprintf(warnings[count++], SPECIFICATION_REASON_MAX,
                 "limits of time are not reproducible: the games and the verdict depend on the machines");
    if (spec->kind == MESSAGE_MATCH && !same_limits(&spec->a, &spec->b))
        snprintf(warnings[count++], SPECIFICATION_REASON_MAX,
                 "the two sides play under unequal limits: the result compares player and limit together");
    double known = openings(spec->opening_plies);
    if (message_hash_is_none(spec->book) && spec->noise_ppm == 0 && create->pairs > 1 &&
        (double)create->pairs > known / 50)
        snprintf(warnings[count++], SPECIFICATION_REASON_MAX,
                 "%u opening plies make at most %.0f openings: some of the %llu pairs will be equal%s",
                 spec->opening_plies, known, (unsigned long long)create->pairs,
                 spec->kind == MESSAGE_MATCH ? ", and of equal ones between deterministic players only the "
                                               "first counts"
                                             : "");
    if (spec->kind == MESSAGE_SELFPLAY && spec->noise_ppm == 0 && specification_reproducible(spec))
        snprintf(warnings[count++], SPECIFICATION_REASON_MAX,
                 "without noise the two games of each pair are equal: give --noise so that play explores");
    return count;
}
