#include "coordinator/tuning.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/search_parameters.h"
#include "engine/weights_parameters.h"
#include "proto/artifact.h"
#include "proto/message.h"

/* The reading of one artifact: the first complaint ends it. */
struct reader {
    struct tuning *tuning;
    bool built_in;
    size_t weights_count;
    char options[STORE_OPTIONS]; /* of the player, all of them */
    size_t line;                 /* of "parameters", from 1; 0: not in one */
    char *reason;
    bool failed;
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct reader *reader, const char *format, ...)
{
    va_list arguments;
    if (reader->failed)
        return false;
    reader->failed = true;
    int used = 0;
    if (reader->line != 0)
        used = snprintf(reader->reason, TUNING_REASON, "parameters, entry %zu: ", reader->line);
    va_start(arguments, format);
    vsnprintf(reader->reason + used, TUNING_REASON - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

/* --- fields --- */

/* False when the field is absent or wrong; wrong is told. */
static bool read_number(struct reader *reader, const json_t *object, const char *key, double *out)
{
    const json_t *value = json_object_get(object, key);
    if (!value)
        return false;
    if (!json_is_number(value) || !isfinite(json_number_value(value)))
        return refuse(reader, "\"%s\" is a finite number", key);
    *out = json_number_value(value);
    return true;
}

static void read_whole(struct reader *reader, const json_t *object, const char *key, uint64_t low,
                       uint64_t high, uint64_t *out)
{
    const json_t *value = json_object_get(object, key);
    if (!value)
        return;
    if (!json_is_integer(value) || json_integer_value(value) < (json_int_t)low ||
        json_integer_value(value) > (json_int_t)high)
        refuse(reader, "\"%s\" is a whole number from %llu to %llu", key, (unsigned long long)low,
               (unsigned long long)high);
    else
        *out = (uint64_t)json_integer_value(value);
}

static void check_keys(struct reader *reader, const json_t *object, const char *const *keys)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        size_t i = 0;
        while (keys[i] && strcmp(keys[i], key) != 0)
            i++;
        if (!keys[i])
            refuse(reader, "there is no field \"%.40s\"", key);
    }
}

/* --- parameters --- */

/* A place for one more; NULL when there are too many. */
static struct spsa_parameter *add(struct reader *reader, const char *name, bool is_option)
{
    struct tuning *tuning = reader->tuning;
    if (tuning->count == SPSA_PARAMETERS_MAX) {
        refuse(reader, "more than %d parameters", SPSA_PARAMETERS_MAX);
        return NULL;
    }
    size_t at = tuning->count++;
    snprintf(tuning->names[at], TUNING_NAME, "%s", name);
    tuning->is_option[at] = is_option;
    tuning->parameters[at].whole = true;
    return &tuning->parameters[at];
}

/* Bounds and steps of one parameter that starts at `start` unless the entry says otherwise. */
static void read_bounds(struct reader *reader, const json_t *entry, double start, struct spsa_parameter *p)
{
    double span = 0;
    p->start = start;
    read_number(reader, entry, "start", &p->start);
    if (read_number(reader, entry, "span", &span)) {
        p->min = floor(p->start - span);
        p->max = ceil(p->start + span);
    }
    bool low = read_number(reader, entry, "min", &p->min), high = read_number(reader, entry, "max", &p->max);
    if (span != 0 && (low || high))
        refuse(reader, "give \"span\", or \"min\" and \"max\", not both");
    if (span == 0 && !(low && high))
        refuse(reader, "\"min\" and \"max\" are missing, or a \"span\" to either side of the start");
    if (!read_number(reader, entry, "c_end", &p->c_end))
        refuse(reader, "\"c_end\" is missing: the step to either side at the end");
    if (!read_number(reader, entry, "r_end", &p->r_end))
        refuse(reader, "\"r_end\" is missing: the learning rate at the end; 0.002 is usual");
}

static void own(struct reader *reader, size_t number, const char *name)
{
    struct tuning *tuning = reader->tuning;
    if (tuning->owner[number] != 0)
        refuse(reader, "%s is named by two entries", name);
    tuning->owner[number] = (uint32_t)tuning->count;
    tuning->has_weights = true;
}

/* Every weight that fits is a parameter, or all of them are moved together by one. */
static void read_weights(struct reader *reader, const json_t *entry, const char *pattern)
{
    struct tuning *tuning = reader->tuning;
    bool together = json_is_true(json_object_get(entry, "together"));
    size_t before = tuning->count, found = 0;
    if (strlen(pattern) >= TUNING_NAME) {
        refuse(reader, "\"%.40s...\" is too long for a name", pattern);
        return;
    }
    for (size_t i = 0; i < reader->weights_count && !reader->failed; i++) {
        char name[WEIGHTS_PARAMETER_NAME];
        weights_parameter_name(tuning->base, i, name);
        if (!weights_parameter_matches(pattern, name))
            continue;
        found++;
        if (!together || tuning->count == before) {
            struct spsa_parameter *p = add(reader, together ? pattern : name, false);
            if (!p)
                return;
            read_bounds(reader, entry, together ? 0 : weights_parameter_get(tuning->base, i), p);
            tuning->is_together[tuning->count - 1] = together;
        }
        own(reader, i, name);
    }
    if (found == 0)
        refuse(reader, "these weights (kind %s) have no parameter \"%s\"",
               weights_kind_name(tuning->base->kind), pattern);
}

/* The value of an option among lines of `Name=Value`, and where its line is; NULL when it is not there. */
static char *find_option(char *options, const char *name)
{
    size_t length = strlen(name);
    for (char *line = options; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncasecmp(line, name, length) == 0 && line[length] == '=')
            return line;
    return NULL;
}

static void remove_option(char *options, const char *name)
{
    char *line = find_option(options, name);
    if (!line)
        return;
    size_t length = strcspn(line, "\n");
    memmove(line, line + length + (line[length] == '\n'), strlen(line + length + (line[length] == '\n')) + 1);
    length = strlen(options);
    if (length > 0 && options[length - 1] == '\n')
        options[length - 1] = '\0';
}

static void check_search(struct reader *reader, const struct search_parameter *which,
                         const struct spsa_parameter *p)
{
    if (p->min < which->low || p->max > which->high)
        refuse(reader, "%s lies within %d and %d", which->name, which->low, which->high);
}

static void read_option(struct reader *reader, const json_t *entry, const char *name)
{
    const struct search_parameter *which = reader->built_in ? search_parameter_find(name) : NULL;
    char why[200], line[TUNING_NAME + 2];
    if (reader->built_in && !which) {
        refuse(
            reader,
            "the built-in engine has no option \"%.40s\": `echo uci | kroo-engine` lists those of the search",
            name);
        return;
    }
    name = which ? which->name : name;
    snprintf(line, sizeof line, "%s=0", name);
    if (strlen(name) >= TUNING_NAME - 1 || strchr(name, '=') ||
        !message_options_check(line, why, sizeof why)) {
        refuse(reader, "\"%.40s\" is no name of an option", name);
        return;
    }
    for (size_t i = 0; i < reader->tuning->count; i++)
        if (reader->tuning->is_option[i] && strcasecmp(reader->tuning->names[i], name) == 0)
            refuse(reader, "%s is named by two entries", name);
    const char *set = find_option(reader->options, name);
    if (!set && !which && !json_object_get(entry, "start"))
        refuse(reader, "\"start\" is missing: what %s starts from is not known here", name);
    struct spsa_parameter *p = add(reader, name, true);
    if (!p)
        return;
    read_bounds(reader, entry, set ? strtod(strchr(set, '=') + 1, NULL) : which ? which->usual : 0, p);
    if (which)
        check_search(reader, which, p);
    remove_option(reader->tuning->options, name);
}

static void read_entry(struct reader *reader, const json_t *entry)
{
    static const char *const keys[] = {"weights", "option", "together", "start", "span",
                                       "min",     "max",    "c_end",    "r_end", NULL};
    const char *weights = json_string_value(json_object_get(entry, "weights"));
    const char *option = json_string_value(json_object_get(entry, "option"));
    const json_t *together = json_object_get(entry, "together");
    if (!json_is_object(entry) || !weights == !option) {
        refuse(reader, "it names \"weights\" or an \"option\"");
        return;
    }
    check_keys(reader, entry, keys);
    if (together && (!json_is_boolean(together) || option || json_object_get(entry, "start")))
        refuse(reader, "\"together\" is true or false, of weights, and starts from 0");
    else if (weights)
        read_weights(reader, entry, weights);
    else
        read_option(reader, entry, option);
}

static void read_plan(struct reader *reader, const json_t *root, const struct tuning_ground *ground)
{
    struct spsa_plan *plan = &reader->tuning->plan;
    uint64_t batch = 0, lag = 1,
             match = ground->pairs < TUNING_MATCH_USUAL ? ground->pairs : TUNING_MATCH_USUAL;
    *plan = spsa_plan_default();
    read_number(reader, root, "a_ratio", &plan->a_ratio);
    read_number(reader, root, "alpha", &plan->alpha);
    read_number(reader, root, "gamma", &plan->gamma);
    read_whole(reader, root, "batch", 1, TUNING_BATCH_MAX, &batch);
    read_whole(reader, root, "lag", 1, SPSA_LAG_MAX, &lag);
    read_whole(reader, root, "match_pairs", 0, TUNING_MATCH_MAX, &match);
    if (batch == 0)
        refuse(reader, "\"batch\" is missing: the pairs that two players play before the parameters move");
    plan->pairs = ground->pairs;
    plan->seed = ground->seed;
    plan->batch = (uint32_t)batch;
    plan->lag = (uint32_t)lag;
    reader->tuning->match_pairs = match;
}

static void read_root(struct reader *reader, const json_t *root, const struct tuning_ground *ground)
{
    static const char *const keys[] = {"parameters", "batch", "lag",         "a_ratio",
                                       "alpha",      "gamma", "match_pairs", NULL};
    const json_t *entries = json_object_get(root, "parameters");
    check_keys(reader, root, keys);
    read_plan(reader, root, ground);
    if (!json_is_array(entries))
        refuse(reader, "\"parameters\" is an array of what is tuned");
    for (size_t i = 0; i < json_array_size(entries) && !reader->failed; i++) {
        reader->line = i + 1;
        read_entry(reader, json_array_get(entries, i));
    }
    reader->line = 0;
}

/* No step may make weights that cannot be: the corners of the box tell. */
static void check_corners(struct reader *reader)
{
    struct tuning *tuning = reader->tuning;
    double *values = malloc((tuning->count + 1) * sizeof *values);
    for (int corner = 0; values && corner < 3 && !reader->failed; corner++) {
        struct tuning_side side;
        char reason[TUNING_REASON];
        for (size_t i = 0; i < tuning->count; i++) {
            const struct spsa_parameter *p = &tuning->parameters[i];
            values[i] = corner == 0 || (corner == 2 && fabs(p->min) > fabs(p->max)) ? p->min : p->max;
        }
        if (tuning_make(tuning, values, &side, reason) != 0)
            refuse(reader, "give narrower bounds: with all parameters at the bounds, %.200s", reason);
        else
            tuning_side_done(&side);
    }
    free(values);
}

static void check(struct reader *reader)
{
    const struct tuning *tuning = reader->tuning;
    char reason[SPSA_REASON_MAX];
    size_t which;
    if (reader->failed)
        return;
    if (!spsa_check(&tuning->plan, tuning->parameters, tuning->count, &which, reason)) {
        bool named = which < tuning->count;
        refuse(reader, "%s%s%s", named ? tuning->names[which] : "", named ? ": " : "", reason);
        return;
    }
    check_corners(reader);
}

/* --- life --- */

static bool make_room(struct tuning *tuning)
{
    size_t weights = weights_parameter_count(tuning->base);
    tuning->parameters = calloc(SPSA_PARAMETERS_MAX, sizeof *tuning->parameters);
    tuning->names = calloc(SPSA_PARAMETERS_MAX, sizeof *tuning->names);
    tuning->is_option = calloc(SPSA_PARAMETERS_MAX, sizeof *tuning->is_option);
    tuning->is_together = calloc(SPSA_PARAMETERS_MAX, sizeof *tuning->is_together);
    tuning->owner = calloc(weights, sizeof *tuning->owner);
    return tuning->parameters && tuning->names && tuning->is_option && tuning->is_together && tuning->owner;
}

static bool read_json(struct reader *reader, const void *json, size_t size,
                      const struct tuning_ground *ground)
{
    json_error_t error;
    if (size > TUNING_FILE_MAX)
        return refuse(reader, "a tune's file has at most %d bytes", TUNING_FILE_MAX);
    json_t *root = json_loadb(json, size, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return refuse(reader, "line %d: %.160s", error.line, error.text);
    if (json_is_object(root))
        read_root(reader, root, ground);
    else
        refuse(reader, "a tune's file is a JSON object");
    json_decref(root);
    check(reader);
    return !reader->failed;
}

struct tuning *tuning_create(const void *json, size_t size, const struct tuning_ground *ground,
                             char reason[TUNING_REASON])
{
    struct tuning *tuning = calloc(1, sizeof *tuning);
    struct reader reader = {
        .tuning = tuning, .built_in = message_hash_is_none(ground->player->engine), .reason = reason};
    snprintf(reason, TUNING_REASON, "no memory");
    if (!tuning)
        return NULL;
    enum weights_error error =
        weights_parse(ground->weights, ground->weights_size, ground->rules, &tuning->base);
    if (error != WEIGHTS_OK) {
        snprintf(reason, TUNING_REASON, "weights: %s", weights_error_text(error));
        tuning_destroy(tuning);
        return NULL;
    }
    artifact_hash(ground->weights, ground->weights_size, tuning->base_sha256);
    reader.weights_count = weights_parameter_count(tuning->base);
    snprintf(reader.options, sizeof reader.options, "%s", ground->player->options);
    snprintf(tuning->options, sizeof tuning->options, "%s", ground->player->options);
    if (make_room(tuning) && read_json(&reader, json, size, ground))
        return tuning;
    tuning_destroy(tuning);
    return NULL;
}

void tuning_destroy(struct tuning *tuning)
{
    if (!tuning)
        return;
    weights_destroy(tuning->base);
    free(tuning->parameters);
    free(tuning->names);
    free(tuning->is_option);
    free(tuning->is_together);
    free(tuning->owner);
    free(tuning);
}

/* --- players --- */

void tuning_side_done(struct tuning_side *side)
{
    free(side->file);
    side->file = NULL;
}

static int make_options(const struct tuning *tuning, const double *values, char *out, char *reason)
{
    size_t at = (size_t)snprintf(out, STORE_OPTIONS, "%s", tuning->options);
    for (size_t i = 0; i < tuning->count; i++) {
        if (!tuning->is_option[i])
            continue;
        int wrote = snprintf(out + at, STORE_OPTIONS - at, "%s%s=%.0f", at > 0 ? "\n" : "", tuning->names[i],
                             values[i]);
        at += (size_t)wrote;
        if (at >= STORE_OPTIONS) {
            snprintf(reason, TUNING_REASON, "the options of a player are longer than %d bytes",
                     STORE_OPTIONS - 1);
            return -1;
        }
    }
    return 0;
}

/* All parameters of the weights; true when one is another than the base's. */
static bool change_weights(const struct tuning *tuning, const double *values, int32_t *out)
{
    size_t count = weights_parameter_count(tuning->base);
    bool changed = false;
    for (size_t i = 0; i < count; i++) {
        int32_t base = weights_parameter_get(tuning->base, i);
        out[i] = base;
        if (tuning->owner[i] == 0)
            continue;
        size_t at = tuning->owner[i] - 1;
        out[i] = (int32_t)values[at] + (tuning->is_together[at] ? base : 0);
        changed = changed || out[i] != base;
    }
    return changed;
}

static int make_weights(const struct tuning *tuning, const int32_t *values, struct tuning_side *side,
                        char *reason)
{
    char hex[ARTIFACT_HEX], provenance[ARTIFACT_HEX + 40];
    struct weights *weights = NULL;
    artifact_hex(tuning->base_sha256, hex);
    snprintf(provenance, sizeof provenance, "{\"source\":\"tune\",\"base\":\"%s\"}", hex);
    enum weights_error error = weights_create_changed(tuning->base, values, provenance, &weights);
    if (error == WEIGHTS_OK)
        error = weights_serialize(weights, &side->file, &side->file_size);
    weights_destroy(weights);
    if (error != WEIGHTS_OK) {
        snprintf(reason, TUNING_REASON, "%s", weights_error_text(error));
        return -1;
    }
    artifact_hash(side->file, side->file_size, side->weights);
    return 0;
}

int tuning_make(const struct tuning *tuning, const double *values, struct tuning_side *side,
                char reason[TUNING_REASON])
{
    *side = (struct tuning_side){.file = NULL};
    memcpy(side->weights, tuning->base_sha256, STORE_HASH);
    if (make_options(tuning, values, side->options, reason) != 0)
        return -1;
    if (!tuning->has_weights)
        return 0;
    int32_t *weights = malloc(weights_parameter_count(tuning->base) * sizeof *weights);
    if (!weights) {
        snprintf(reason, TUNING_REASON, "no memory");
        return -1;
    }
    int outcome = change_weights(tuning, values, weights) ? make_weights(tuning, weights, side, reason) : 0;
    free(weights);
    return outcome;
}

int tuning_settle(const struct tuning *tuning, const double *theta, struct tuning_side *side,
                  char reason[TUNING_REASON])
{
    double *values = malloc((tuning->count + 1) * sizeof *values);
    if (!values) {
        snprintf(reason, TUNING_REASON, "no memory");
        return -1;
    }
    for (size_t i = 0; i < tuning->count; i++)
        values[i] = nearbyint(theta[i]);
    int outcome = tuning_make(tuning, values, side, reason);
    free(values);
    return outcome;
}

int tuning_players(const struct tuning *tuning, uint64_t batch, const double *theta,
                   struct tuning_side sides[2], char reason[TUNING_REASON])
{
    double *values = malloc(2 * (tuning->count + 1) * sizeof *values);
    if (!values) {
        snprintf(reason, TUNING_REASON, "no memory");
        return -1;
    }
    double *both[2] = {values, values + tuning->count};
    spsa_players(&tuning->plan, tuning->parameters, tuning->count, batch, theta, both);
    int outcome = tuning_make(tuning, both[0], &sides[0], reason);
    if (outcome == 0 && (outcome = tuning_make(tuning, both[1], &sides[1], reason)) != 0)
        tuning_side_done(&sides[0]);
    free(values);
    return outcome;
}

void tuning_start(const struct tuning *tuning, double *theta)
{
    for (size_t i = 0; i < tuning->count; i++)
        theta[i] = tuning->parameters[i].start;
}
