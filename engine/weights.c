#include "engine/weights.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/evaluate.h"
#include "engine/game.h"
#include "engine/mix.h"
#include "engine/weights_parts.h"

/* --- the model --- */

enum { STARTING_STORE = 100 };

static const char starting_provenance[] = "{\"source\":\"built-in\"}";

int weights_phase(int seeds_on_board)
{
    return evaluate_phase(seeds_on_board);
}

int32_t weights_evaluate(const struct weights *weights, const struct position *position)
{
    return evaluate_board(weights, board_from_position(position));
}

static const char *const kind_names[] = {
    [WEIGHTS_TABLE] = "table", [WEIGHTS_NET] = "net", [WEIGHTS_FEATURES] = "features"};

const char *weights_kind_name(enum weights_kind kind)
{
    return kind >= WEIGHTS_TABLE && kind <= WEIGHTS_FEATURES ? kind_names[kind] : NULL;
}

enum weights_kind weights_kind_parse(const char *name)
{
    for (int kind = WEIGHTS_TABLE; kind <= WEIGHTS_FEATURES; kind++)
        if (strcmp(name, kind_names[kind]) == 0)
            return (enum weights_kind)kind;
    return (enum weights_kind)0;
}

/* A JSON object as far as the engine can tell without a parser: braces around text without control
 * characters. */
static bool provenance_plausible(const char *text, size_t length)
{
    if (length < 2 || length > WEIGHTS_PROVENANCE_MAX || text[0] != '{' || text[length - 1] != '}')
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 && text[i] != '\n' && text[i] != '\t' && text[i] != '\r')
            return false;
    return true;
}

bool weights_parse_rules(const char *name, struct rules *out)
{
    char reason[512];
    return rules_parse(name, out, reason, sizeof reason) == 0;
}

/* --- ranges: what a sum can come to, in whatever order it is added --- */

static int32_t largest_of(const int16_t *values, size_t count, size_t stride)
{
    int32_t largest = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t size = abs(values[i * stride]);
        largest = size > largest ? size : largest;
    }
    return largest;
}

static int32_t phase_bound(const struct weights_phase *phase)
{
    int32_t bound = abs(phase->bias) + POSITION_SEEDS * abs(phase->store);
    for (int house = 0; house < WEIGHTS_HOUSES; house++)
        bound += largest_of(phase->house[house], WEIGHTS_COUNTS, 1);
    return bound;
}

static bool table_fits(const struct weights_phase phases[WEIGHTS_PHASES])
{
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        if (phase_bound(&phases[phase]) > INT16_MAX)
            return false;
    return true;
}

static int32_t unit_bound(const struct weights_net *net, int unit)
{
    int32_t bound = abs(net->bias[unit]);
    for (int house = 0; house < WEIGHTS_HOUSES; house++)
        bound +=
            largest_of(&net->input[house * WEIGHTS_NET_COUNTS][unit], WEIGHTS_NET_COUNTS, WEIGHTS_NET_HIDDEN);
    return bound + largest_of(&net->input[WEIGHTS_NET_INPUTS - WEIGHTS_NET_STORES][unit], WEIGHTS_NET_STORES,
                              WEIGHTS_NET_HIDDEN);
}

static bool net_fits(const struct weights_net *net)
{
    int64_t output = llabs(net->output_bias);
    for (int unit = 0; unit < WEIGHTS_NET_HIDDEN; unit++) {
        if (unit_bound(net, unit) > INT16_MAX)
            return false;
        output += WEIGHTS_NET_ACTIVE * abs(net->output[unit]);
    }
    return output <= INT32_MAX && net->hidden_shift <= WEIGHTS_SHIFT_MAX;
}

/* --- making --- */

/* Shared by all kinds; the caller fills in the parameters, whose ranges it has checked. */
static enum weights_error create(const struct weights_frame *frame, enum weights_kind kind,
                                 struct weights **out)
{
    if (frame->shift > WEIGHTS_SHIFT_MAX || frame->per_logit < 0)
        return WEIGHTS_ERROR_RANGE;
    if (!provenance_plausible(frame->provenance, frame->provenance_length))
        return WEIGHTS_ERROR_PROVENANCE;
    struct weights *weights = aligned_alloc(_Alignof(struct weights), sizeof *weights);
    char *copy = malloc(frame->provenance_length + 1);
    if (!weights || !copy) {
        free(copy);
        free(weights);
        return WEIGHTS_ERROR_MEMORY;
    }
    memset(weights, 0, sizeof *weights);
    memcpy(copy, frame->provenance, frame->provenance_length);
    copy[frame->provenance_length] = '\0';
    weights->kind = kind;
    memcpy(weights->rules, frame->rules->name, sizeof weights->rules);
    weights->shift = frame->shift;
    weights->per_logit = frame->per_logit;
    weights->provenance = copy;
    *out = weights;
    return WEIGHTS_OK;
}

enum weights_error weights_make_table(const struct weights_frame *frame,
                                      const struct weights_phase phases[WEIGHTS_PHASES], struct weights **out)
{
    if (!table_fits(phases))
        return WEIGHTS_ERROR_RANGE;
    enum weights_error error = create(frame, WEIGHTS_TABLE, out);
    if (error != WEIGHTS_OK)
        return error;
    memcpy((*out)->phases, phases, sizeof(*out)->phases);
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        for (int house = 0; house < WEIGHTS_HOUSES; house++)
            for (int count = 0; count <= POSITION_SEEDS; count++)
                (*out)->counts[phase][house][count] =
                    phases[phase].house[house][count < WEIGHTS_COUNTS ? count : WEIGHTS_COUNTS - 1];
    return WEIGHTS_OK;
}

enum weights_error weights_make_net(const struct weights_frame *frame, const struct weights_net *net,
                                    struct weights **out)
{
    if (!net_fits(net))
        return WEIGHTS_ERROR_RANGE;
    enum weights_error error = create(frame, WEIGHTS_NET, out);
    if (error != WEIGHTS_OK)
        return error;
    size_t count;
    const struct evaluate_net *nets = evaluate_nets(&count);
    (*out)->kernel = nets[count - 1].kernel;
    memcpy(&(*out)->net, net, sizeof *net);
    return WEIGHTS_OK;
}

/* 24 traits of at most 48, times 2^15, are below 2^31: no weights are too large. */
static_assert(TRAITS * POSITION_SEEDS * INT64_C(32768) <= INT32_MAX, "a sum of traits fits into int32");

enum weights_error weights_make_features(const struct weights_frame *frame,
                                         const struct weights_features *features, struct weights **out)
{
    enum weights_error error = create(frame, WEIGHTS_FEATURES, out);
    if (error != WEIGHTS_OK)
        return error;
    (*out)->kernel = evaluate_features;
    memcpy(&(*out)->features, features, sizeof *features);
    return WEIGHTS_OK;
}

struct weights *weights_create_starting(const char *rules_name)
{
    struct weights_phase phases[WEIGHTS_PHASES];
    memset(phases, 0, sizeof phases);
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        phases[phase].store = STARTING_STORE;
    struct weights *weights = NULL;
    if (weights_create_table(rules_name, 0, 0, phases, starting_provenance, &weights) != WEIGHTS_OK)
        return NULL;
    return weights;
}

/* False when there are no such rules. */
static bool frame_init(struct weights_frame *frame, struct rules *rules, const char *rules_name,
                       uint8_t shift, int32_t per_logit, const char *provenance)
{
    *frame = (struct weights_frame){rules, shift, per_logit, provenance, strlen(provenance)};
    return weights_parse_rules(rules_name, rules);
}

enum weights_error weights_create_table(const char *rules_name, uint8_t shift, int32_t per_logit,
                                        const struct weights_phase phases[WEIGHTS_PHASES],
                                        const char *provenance, struct weights **out)
{
    struct weights_frame frame;
    struct rules rules;
    if (!frame_init(&frame, &rules, rules_name, shift, per_logit, provenance))
        return WEIGHTS_ERROR_RULES;
    return weights_make_table(&frame, phases, out);
}

enum weights_error weights_create_net(const char *rules_name, uint8_t shift, int32_t per_logit,
                                      const struct weights_net *net, const char *provenance,
                                      struct weights **out)
{
    struct weights_frame frame;
    struct rules rules;
    if (!frame_init(&frame, &rules, rules_name, shift, per_logit, provenance))
        return WEIGHTS_ERROR_RULES;
    return weights_make_net(&frame, net, out);
}

enum weights_error weights_create_features(const char *rules_name, uint8_t shift, int32_t per_logit,
                                           const struct weights_features *features, const char *provenance,
                                           struct weights **out)
{
    struct weights_frame frame;
    struct rules rules;
    if (!frame_init(&frame, &rules, rules_name, shift, per_logit, provenance))
        return WEIGHTS_ERROR_RULES;
    return weights_make_features(&frame, features, out);
}

void weights_destroy(struct weights *weights)
{
    if (!weights)
        return;
    free(weights->provenance);
    free(weights);
}

/* --- test vectors --- */

enum { VECTOR_PLIES = 400, VECTOR_ATTEMPTS = 1000 };

/* "vectors" in ASCII. */
static const uint64_t vector_seed = UINT64_C(0x766563746f7273);

/* Plays one random game and keeps, each with equal chance, one unfinished position of `phase`. */
static bool draw_vector(struct game *game, uint64_t seed, int phase, struct position *out)
{
    uint32_t seen = 0;
    game_reset(game, NULL);
    for (uint64_t ply = 0; ply < VECTOR_PLIES && !game_over(game); ply++) {
        struct position position = game_position(game);
        int seeds = POSITION_SEEDS - position.stores[0] - position.stores[1];
        if (weights_phase(seeds) == phase && mix_below(mix(seed, 2 * ply + 1), ++seen) == 0)
            *out = position;
        unsigned legal = game_legal(game);
        uint32_t skip = mix_below(mix(seed, 2 * ply), (uint32_t)__builtin_popcount(legal));
        for (; skip > 0; skip--)
            legal &= legal - 1;
        int house = __builtin_ctz(legal) + 6 * position.side;
        if (game_play(game, house) != GAME_OK)
            break;
    }
    return seen > 0;
}

enum weights_error weights_vectors(const struct weights *weights, struct weights_vector out[WEIGHTS_VECTORS])
{
    struct rules rules;
    if (!weights_parse_rules(weights->rules, &rules))
        return WEIGHTS_ERROR_RULES;
    struct game *game = game_create(&rules, NULL);
    if (!game)
        return WEIGHTS_ERROR_MEMORY;
    for (uint64_t i = 0; i < WEIGHTS_VECTORS; i++) {
        bool found = false;
        memset(&out[i], 0, sizeof out[i]);
        for (uint64_t attempt = 0; attempt < VECTOR_ATTEMPTS && !found; attempt++)
            found = draw_vector(game, mix(mix(vector_seed, i), attempt), (int)(i % WEIGHTS_PHASES),
                                &out[i].position);
        if (!found)
            out[i].position = position_start();
        out[i].score = weights_evaluate(weights, &out[i].position);
    }
    game_destroy(game);
    return WEIGHTS_OK;
}

const char *weights_error_text(enum weights_error error)
{
    switch (error) {
    case WEIGHTS_OK:
        return "no error";
    case WEIGHTS_ERROR_READ:
        return "the weights file cannot be read; check its path and permissions";
    case WEIGHTS_ERROR_MAGIC:
        return "this is no weights file of Kroo; export one with `kroo weights export`";
    case WEIGHTS_ERROR_VERSION:
        return "the weights file has another format version than this engine reads; export it again with a "
               "Kroo of this engine's version";
    case WEIGHTS_ERROR_SIZE:
        return "the weights file is cut short, too long, or of other dimensions; fetch it again";
    case WEIGHTS_ERROR_CHECKSUM:
        return "the weights file is damaged, its checksum does not match; fetch it again";
    case WEIGHTS_ERROR_RULES:
        return "the weights were made for other rules; choose weights of this rule set, or these rules";
    case WEIGHTS_ERROR_KIND:
        return "the weights are of a kind this engine cannot evaluate; it reads table, net and features";
    case WEIGHTS_ERROR_RANGE:
        return "the weights are too large, a sum could leave its type; export them with a smaller shift";
    case WEIGHTS_ERROR_VECTORS:
        return "the weights do not give the scores their file promises; do not play with them, export them "
               "again";
    case WEIGHTS_ERROR_MEMORY:
        return "memory is short; free some and try again";
    case WEIGHTS_ERROR_PROVENANCE:
        return "the provenance of the weights is no JSON object; export them again";
    }
    return "unknown error of a weights file";
}
