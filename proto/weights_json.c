#include "proto/weights_json.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char unit_text[] = "hundredths of a seed, the mover's view";

/* --- writing --- */

static json_t *integers(const int16_t *values, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_integer(values[i]));
    return array;
}

static json_t *phase_json(const struct weights_phase *phase)
{
    json_t *houses = json_array();
    for (int house = 0; house < WEIGHTS_HOUSES; house++)
        json_array_append_new(houses, integers(phase->house[house], WEIGHTS_COUNTS));
    return json_pack("{s:i, s:i, s:o}", "bias", phase->bias, "store", phase->store, "houses", houses);
}

static json_t *traits_json(const int16_t weights[TRAITS])
{
    json_t *object = json_object();
    for (int trait = 0; trait < TRAITS; trait++)
        json_object_set_new(object, traits_name((enum trait)trait), json_integer(weights[trait]));
    return object;
}

static void add_phases(json_t *object, const struct weights *weights)
{
    json_t *array = json_array();
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        json_array_append_new(array, weights->kind == WEIGHTS_TABLE
                                         ? phase_json(&weights->phases[phase])
                                         : traits_json(weights->features.phases[phase]));
    json_object_set_new(object, "phase_seeds_min", json_pack("[i,i,i,i]", 36, 24, 12, 0));
    json_object_set_new(object, "phases", array);
}

static void add_net(json_t *object, const struct weights_net *net)
{
    json_t *houses = json_array(), *store = json_array();
    const int16_t(*row)[WEIGHTS_NET_HIDDEN] = net->input;
    for (int house = 0; house < WEIGHTS_HOUSES; house++) {
        json_t *counts = json_array();
        for (int count = 0; count < WEIGHTS_NET_COUNTS; count++)
            json_array_append_new(counts, integers(*row++, WEIGHTS_NET_HIDDEN));
        json_array_append_new(houses, counts);
    }
    for (int difference = 0; difference < WEIGHTS_NET_STORES; difference++)
        json_array_append_new(store, integers(*row++, WEIGHTS_NET_HIDDEN));
    json_object_set_new(object, "hidden_shift", json_integer(net->hidden_shift));
    json_object_set_new(object, "hidden_bias", integers(net->bias, WEIGHTS_NET_HIDDEN));
    json_object_set_new(object, "houses", houses);
    json_object_set_new(object, "store", store);
    json_object_set_new(object, "output", integers(net->output, WEIGHTS_NET_HIDDEN));
    json_object_set_new(object, "output_bias", json_integer(net->output_bias));
}

static json_t *vectors_json(const struct weights *weights)
{
    struct weights_vector vectors[WEIGHTS_VECTORS];
    char text[POSITION_TEXT_MAX];
    if (weights_vectors(weights, vectors) != WEIGHTS_OK)
        return NULL;
    json_t *array = json_array();
    for (int i = 0; i < WEIGHTS_VECTORS; i++) {
        position_format(&vectors[i].position, text);
        json_array_append_new(array,
                              json_pack("{s:s, s:i}", "position", text, "score", (int)vectors[i].score));
    }
    return array;
}

static json_t *provenance_json(const struct weights *weights)
{
    json_t *value = json_loads(weights->provenance, JSON_DECODE_ANY, NULL);
    return value ? value : json_string(weights->provenance);
}

json_t *weights_json(const struct weights *weights)
{
    json_t *vectors = vectors_json(weights);
    json_t *object =
        json_pack("{s:s, s:i, s:s, s:s, s:s, s:i, s:i}", "format", "kroo-weights", "version", WEIGHTS_VERSION,
                  "kind", weights_kind_name(weights->kind), "rules", weights->rules, "unit", unit_text,
                  "shift", weights->shift, "per_logit", (int)weights->per_logit);
    if (!vectors || !object) {
        json_decref(vectors);
        json_decref(object);
        return NULL;
    }
    if (weights->kind == WEIGHTS_NET)
        add_net(object, &weights->net);
    else
        add_phases(object, weights);
    json_object_set_new(object, "vectors", vectors);
    json_object_set_new(object, "provenance", provenance_json(weights));
    return object;
}

/* --- reading: the first fault ends it, and names its field --- */

enum { PATH_MAX_LENGTH = 96 };

struct reader {
    char *reason; /* WEIGHTS_JSON_REASON bytes */
    bool failed;
};

static bool refuse(struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(struct reader *reader, const char *format, ...)
{
    va_list arguments;
    if (!reader->failed) {
        va_start(arguments, format);
        vsnprintf(reader->reason, WEIGHTS_JSON_REASON, format, arguments);
        va_end(arguments);
    }
    reader->failed = true;
    return false;
}

/* An integer in [low, high] of a field that may be missing (NULL). */
static bool take_integer(struct reader *reader, const json_t *value, const char *path, long long low,
                         long long high, long long *out)
{
    if (!value)
        return refuse(reader, "%s is missing", path);
    if (!json_is_integer(value))
        return refuse(reader, "%s: a whole number is needed", path);
    *out = json_integer_value(value);
    if (*out < low || *out > high)
        return refuse(reader, "%s: %lld is not from %lld to %lld", path, *out, low, high);
    return true;
}

static bool take_int16(struct reader *reader, const json_t *value, const char *path, int16_t *out)
{
    long long number = 0;
    if (!take_integer(reader, value, path, INT16_MIN, INT16_MAX, &number))
        return false;
    *out = (int16_t)number;
    return true;
}

static bool take_array(struct reader *reader, const json_t *value, const char *path, size_t count)
{
    if (!value)
        return refuse(reader, "%s is missing", path);
    if (!json_is_array(value) || json_array_size(value) != count)
        return refuse(reader, "%s: an array of %zu is needed", path, count);
    return true;
}

static void element_path(char out[PATH_MAX_LENGTH], const char *path, size_t index)
{
    snprintf(out, PATH_MAX_LENGTH, "%.80s[%zu]", path, index);
}

static void member_path(char out[PATH_MAX_LENGTH], const char *path, const char *name)
{
    snprintf(out, PATH_MAX_LENGTH, "%.60s.%.30s", path, name);
}

static bool take_integers(struct reader *reader, const json_t *array, const char *path, int16_t *out,
                          size_t count)
{
    char element[PATH_MAX_LENGTH];
    if (!take_array(reader, array, path, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        element_path(element, path, i);
        if (!take_int16(reader, json_array_get(array, i), element, &out[i]))
            return false;
    }
    return true;
}

/* `count` rows of `width` integers, one after the other in `out`. */
static bool take_rows(struct reader *reader, const json_t *array, const char *path, int16_t *out,
                      size_t count, size_t width)
{
    char row[PATH_MAX_LENGTH];
    if (!take_array(reader, array, path, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        element_path(row, path, i);
        if (!take_integers(reader, json_array_get(array, i), row, out + i * width, width))
            return false;
    }
    return true;
}

/* Every member of `object` is one of the names that `known` ends with NULL. */
static bool only_known(struct reader *reader, const json_t *object, const char *path,
                       const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        const char *const *name = known;
        while (*name && strcmp(*name, key) != 0)
            name++;
        if (!*name)
            return refuse(reader, "%s%s%.60s: there is no such field", path, *path ? "." : "", key);
    }
    return true;
}

static bool take_phase(struct reader *reader, const json_t *object, const char *path,
                       struct weights_phase *phase)
{
    static const char *const known[] = {"bias", "store", "houses", NULL};
    char member[3][PATH_MAX_LENGTH];
    for (int i = 0; i < 3; i++)
        member_path(member[i], path, known[i]);
    return only_known(reader, object, path, known) &&
           take_int16(reader, json_object_get(object, "bias"), member[0], &phase->bias) &&
           take_int16(reader, json_object_get(object, "store"), member[1], &phase->store) &&
           take_rows(reader, json_object_get(object, "houses"), member[2], phase->house[0], WEIGHTS_HOUSES,
                     WEIGHTS_COUNTS);
}

static bool take_traits(struct reader *reader, const json_t *object, const char *path, int16_t out[TRAITS])
{
    const char *known[TRAITS + 1] = {0};
    char member[PATH_MAX_LENGTH];
    for (int trait = 0; trait < TRAITS; trait++)
        known[trait] = traits_name((enum trait)trait);
    if (!only_known(reader, object, path, known))
        return false;
    for (int trait = 0; trait < TRAITS; trait++) {
        member_path(member, path, known[trait]);
        if (!take_int16(reader, json_object_get(object, known[trait]), member, &out[trait]))
            return false;
    }
    return true;
}

/* The object of each phase, `path` being where it stands. */
static const json_t *phase_of(struct reader *reader, const json_t *root, size_t phase,
                              char path[PATH_MAX_LENGTH])
{
    const json_t *array = json_object_get(root, "phases");
    element_path(path, "phases", phase);
    if (!take_array(reader, array, "phases", WEIGHTS_PHASES))
        return NULL;
    const json_t *object = json_array_get(array, phase);
    if (!json_is_object(object))
        refuse(reader, "%s: an object is needed", path);
    return reader->failed ? NULL : object;
}

/* What weights of all kinds are made with. */
struct frame {
    const char *rules, *provenance;
    uint8_t shift;
    int32_t per_logit;
};

static struct weights *made(struct reader *reader, enum weights_error error, struct weights *weights)
{
    if (error == WEIGHTS_OK)
        return weights;
    refuse(reader, "%s", weights_error_text(error));
    return NULL;
}

static struct weights *take_table(struct reader *reader, const json_t *root, const struct frame *frame)
{
    struct weights_phase phases[WEIGHTS_PHASES];
    struct weights *weights = NULL;
    char path[PATH_MAX_LENGTH];
    for (size_t phase = 0; phase < WEIGHTS_PHASES; phase++) {
        const json_t *object = phase_of(reader, root, phase, path);
        if (!object || !take_phase(reader, object, path, &phases[phase]))
            return NULL;
    }
    enum weights_error error = weights_create_table(frame->rules, frame->shift, frame->per_logit, phases,
                                                    frame->provenance, &weights);
    return made(reader, error, weights);
}

static struct weights *take_features(struct reader *reader, const json_t *root, const struct frame *frame)
{
    struct weights_features features;
    struct weights *weights = NULL;
    char path[PATH_MAX_LENGTH];
    for (size_t phase = 0; phase < WEIGHTS_PHASES; phase++) {
        const json_t *object = phase_of(reader, root, phase, path);
        if (!object || !take_traits(reader, object, path, features.phases[phase]))
            return NULL;
    }
    enum weights_error error = weights_create_features(frame->rules, frame->shift, frame->per_logit,
                                                       &features, frame->provenance, &weights);
    return made(reader, error, weights);
}

static bool take_net_fields(struct reader *reader, const json_t *root, struct weights_net *net)
{
    long long shift = 0, bias = 0;
    const json_t *houses = json_object_get(root, "houses");
    char path[PATH_MAX_LENGTH];
    if (!take_integer(reader, json_object_get(root, "hidden_shift"), "hidden_shift", 0, WEIGHTS_SHIFT_MAX,
                      &shift) ||
        !take_integers(reader, json_object_get(root, "hidden_bias"), "hidden_bias", net->bias,
                       WEIGHTS_NET_HIDDEN) ||
        !take_array(reader, houses, "houses", WEIGHTS_HOUSES))
        return false;
    for (size_t house = 0; house < WEIGHTS_HOUSES; house++) {
        element_path(path, "houses", house);
        if (!take_rows(reader, json_array_get(houses, house), path, net->input[house * WEIGHTS_NET_COUNTS],
                       WEIGHTS_NET_COUNTS, WEIGHTS_NET_HIDDEN))
            return false;
    }
    net->hidden_shift = (uint8_t)shift;
    if (!take_rows(reader, json_object_get(root, "store"), "store",
                   net->input[WEIGHTS_NET_INPUTS - WEIGHTS_NET_STORES], WEIGHTS_NET_STORES,
                   WEIGHTS_NET_HIDDEN) ||
        !take_integers(reader, json_object_get(root, "output"), "output", net->output, WEIGHTS_NET_HIDDEN) ||
        !take_integer(reader, json_object_get(root, "output_bias"), "output_bias", INT32_MIN, INT32_MAX,
                      &bias))
        return false;
    net->output_bias = (int32_t)bias;
    return true;
}

static struct weights *take_net(struct reader *reader, const json_t *root, const struct frame *frame)
{
    struct weights *weights = NULL;
    struct weights_net *net = calloc(1, sizeof *net);
    if (!net)
        return made(reader, WEIGHTS_ERROR_MEMORY, NULL);
    enum weights_error error = WEIGHTS_ERROR_RANGE;
    bool taken = take_net_fields(reader, root, net);
    if (taken)
        error = weights_create_net(frame->rules, frame->shift, frame->per_logit, net, frame->provenance,
                                   &weights);
    free(net);
    return taken ? made(reader, error, weights) : NULL;
}

/* --- the fields of all kinds --- */

static const char *take_string(struct reader *reader, const json_t *root, const char *name)
{
    const json_t *value = json_object_get(root, name);
    const char *text = json_string_value(value);
    if (!text)
        refuse(reader, value ? "%s: a text is needed" : "%s is missing", name);
    return text;
}

static bool take_head(struct reader *reader, const json_t *root, enum weights_kind *kind)
{
    long long version = 0;
    const char *format = take_string(reader, root, "format");
    if (!format)
        return false;
    if (strcmp(format, "kroo-weights") != 0)
        return refuse(reader, "format: \"%.40s\" is not kroo-weights", format);
    if (!take_integer(reader, json_object_get(root, "version"), "version", 1, WEIGHTS_VERSION, &version))
        return false;
    const char *name = take_string(reader, root, "kind");
    if (!name)
        return false;
    *kind = weights_kind_parse(name);
    return weights_kind_name(*kind) || refuse(reader, "kind: \"%.40s\" is not table, net or features", name);
}

static bool take_fields(struct reader *reader, const json_t *root, enum weights_kind kind)
{
    static const char *const by_phase[] = {
        "format", "version",  "kind", "rules",  "unit",    "shift",      "per_logit", "phase_seeds_min",
        "phases", "sha256",   "name", "number", "vectors", "provenance", "size",      "lineage",
        "proof",  "training", NULL};
    static const char *const net[] = {
        "format",      "version", "kind",  "rules",   "unit",        "shift",   "per_logit",  "hidden_shift",
        "hidden_bias", "houses",  "store", "output",  "output_bias", "vectors", "provenance", "sha256",
        "name",        "number",  "size",  "lineage", "training",    "proof",   NULL};
    return only_known(reader, root, "", kind == WEIGHTS_NET ? net : by_phase);
}

static bool take_rules(struct reader *reader, const char *name, const char *wanted, struct rules *rules)
{
    struct rules other;
    char why[512];
    if (rules_parse(name, rules, why, sizeof why) != 0)
        return refuse(reader, "rules: %.200s", why);
    if (wanted && (rules_parse(wanted, &other, why, sizeof why) != 0 || !rules_equal(&other, rules)))
        return refuse(reader, "rules: these weights are for %.100s, not for %.100s", rules->name, wanted);
    return true;
}

/* The caller frees it. Compact, as every trainer of Kroo writes it, so that an export comes back as it was.
 */
static char *take_provenance(struct reader *reader, const json_t *root)
{
    const json_t *value = json_object_get(root, "provenance");
    if (!value)
        return strdup("{\"source\":\"import\"}");
    if (!json_is_object(value)) {
        refuse(reader, "provenance: an object is needed");
        return NULL;
    }
    char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(9));
    if (!text)
        refuse(reader, "%s", weights_error_text(WEIGHTS_ERROR_MEMORY));
    else if (strlen(text) > WEIGHTS_PROVENANCE_MAX)
        refuse(reader, "provenance: more than %d bytes", WEIGHTS_PROVENANCE_MAX);
    return text;
}

static bool vectors_hold(struct reader *reader, const json_t *root, const struct weights *weights)
{
    const json_t *array = json_object_get(root, "vectors");
    char path[PATH_MAX_LENGTH], member[PATH_MAX_LENGTH], why[128];
    if (array && !json_is_array(array))
        return refuse(reader, "vectors: an array is needed");
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *vector = json_array_get(array, i);
        const char *text = json_string_value(json_object_get(vector, "position"));
        struct position position;
        long long score = 0;
        element_path(path, "vectors", i);
        if (!text)
            return refuse(reader, "%s.position: a text is needed", path);
        if (position_parse(text, &position, why, sizeof why) != 0)
            return refuse(reader, "%s.position: %s", path, why);
        member_path(member, path, "score");
        if (!take_integer(reader, json_object_get(vector, "score"), member, INT32_MIN, INT32_MAX, &score))
            return false;
        int32_t found = weights_evaluate(weights, &position);
        if (found != score)
            return refuse(reader, "%s: %lld is promised, but these weights give %d", member, score,
                          (int)found);
    }
    return true;
}

static struct weights *take_weights(struct reader *reader, const json_t *root, const char *rules_name)
{
    enum weights_kind kind = (enum weights_kind)0;
    struct rules rules;
    long long shift = 0, per_logit = 0;
    const json_t *logit = json_object_get(root, "per_logit");
    if (!json_is_object(root)) {
        refuse(reader, "a JSON object is needed");
        return NULL;
    }
    if (!take_head(reader, root, &kind) || !take_fields(reader, root, kind))
        return NULL;
    const char *name = take_string(reader, root, "rules");
    if (!name || !take_rules(reader, name, rules_name, &rules) ||
        !take_integer(reader, json_object_get(root, "shift"), "shift", 0, WEIGHTS_SHIFT_MAX, &shift) ||
        (logit && !take_integer(reader, logit, "per_logit", 0, INT32_MAX, &per_logit)))
        return NULL;
    char *provenance = take_provenance(reader, root);
    struct frame frame = {rules.name, provenance, (uint8_t)shift, (int32_t)per_logit};
    struct weights *weights = NULL;
    if (!reader->failed)
        weights = kind == WEIGHTS_TABLE ? take_table(reader, root, &frame)
                  : kind == WEIGHTS_NET ? take_net(reader, root, &frame)
                                        : take_features(reader, root, &frame);
    free(provenance);
    if (weights && !vectors_hold(reader, root, weights)) {
        weights_destroy(weights);
        return NULL;
    }
    return weights;
}

struct weights *weights_json_parse(const char *text, size_t length, const char *rules_name,
                                   char reason[WEIGHTS_JSON_REASON])
{
    struct reader reader = {reason, false};
    json_error_t error;
    *reason = '\0';
    if (length > WEIGHTS_JSON_MAX) {
        refuse(&reader, "more than %d bytes of JSON", WEIGHTS_JSON_MAX);
        return NULL;
    }
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        refuse(&reader, "no JSON: line %d, column %d: %.150s", error.line, error.column, error.text);
        return NULL;
    }
    struct weights *weights = take_weights(&reader, root, rules_name);
    json_decref(root);
    return weights;
}

bool weights_json_sha256(const char *text, size_t length, char out[65])
{
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    const char *hash = json_string_value(json_object_get(root, "sha256"));
    bool found = hash && strlen(hash) == 64 && strspn(hash, "0123456789abcdef") == 64;
    if (found)
        memcpy(out, hash, 65);
    json_decref(root);
    return found;
}
