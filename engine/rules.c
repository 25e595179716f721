#include "engine/rules.h"

#include <stdio.h>
#include <string.h>

enum { REPETITIONS_MAX = 1000, QUIET_LIMIT_MAX = 10000 };

static const char *const slam_texts[] = {
    [RULES_SLAM_CAPTURES_NOTHING] = "captures-nothing",
    [RULES_SLAM_VOID_AT_SIX] = "void-at-six",
    [RULES_SLAM_ILLEGAL] = "illegal",
    [RULES_SLAM_REST_TO_OPPONENT] = "rest-to-opponent",
    [RULES_SLAM_KEEP_LAST] = "keep-last",
    [RULES_SLAM_KEEP_FIRST] = "keep-first",
    [RULES_SLAM_ALLOWED] = "allowed",
    [RULES_SLAM_LAST_RESORT] = "last-resort",
};
static const char *const feeding_texts[] = {
    [RULES_FEEDING_MUST] = "must",
    [RULES_FEEDING_NONE] = "none",
    [RULES_FEEDING_IF_ANY] = "if-any",
};
static const char *const leftovers_texts[] = {
    [RULES_LEFTOVERS_OWN_ROW] = "own-row",
    [RULES_LEFTOVERS_STAY] = "stay",
};
static const char *const truth_texts[] = {"no", "yes"};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct rules presets[] = {
    {.name = "site", .repetitions = 3, .quiet_limit = 500},
    {.name = "international", .repetitions = 3},
    {.name = "school",
     .feeding = RULES_FEEDING_NONE,
     .stop_leftovers = RULES_LEFTOVERS_STAY,
     .quiet_limit = 200},
    {.name = "ghana", .slam = RULES_SLAM_VOID_AT_SIX, .repetitions = 3},
    {.name = "togo", .slam = RULES_SLAM_VOID_AT_SIX, .repetitions = 3, .unfed_loses = true},
    {.name = "auale", .repetitions = 2},
    {.name = "slam-illegal", .slam = RULES_SLAM_ILLEGAL, .repetitions = 3, .quiet_limit = 500},
    {.name = "slam-rest-to-opponent",
     .slam = RULES_SLAM_REST_TO_OPPONENT,
     .repetitions = 3,
     .quiet_limit = 500},
    {.name = "slam-keep-last", .slam = RULES_SLAM_KEEP_LAST, .repetitions = 3, .quiet_limit = 500},
    {.name = "slam-keep-first", .slam = RULES_SLAM_KEEP_FIRST, .repetitions = 3, .quiet_limit = 500},
    {.name = "slam-allowed", .slam = RULES_SLAM_ALLOWED, .repetitions = 3, .quiet_limit = 500},
    {.name = "awari", .slam = RULES_SLAM_LAST_RESORT, .feeding = RULES_FEEDING_IF_ANY},
};

static const char *const summaries[] = {
    "grand slams capture nothing; an empty opponent must be fed; threefold repetition; 500 quiet plies",
    "as site, without the limit of quiet plies",
    "no duty to feed; an empty row at the start of a turn ends the game; 200 quiet plies, then stores stay",
    "a slam is void only when it would take all six houses; threefold repetition",
    "as ghana; at any end a side with two seeds or more facing an empty row loses",
    "as site, ended by the first repetition, without the limit of quiet plies",
    "as site; a grand slam is no legal move",
    "as site; a grand slam captures and what is left on the board goes to the opponent",
    "as site; a grand slam captures all but the house of the last seed",
    "as site; a grand slam captures all but the captured house nearest to a (A)",
    "as site; a grand slam captures everything",
    "a move must leave the opponent a seed if any move does; no end by repetition: for endgame tables",
};
_Static_assert(COUNT(presets) == COUNT(summaries), "one summary for each preset");

/* The fields by their words: everything parsing, naming and comparing needs to know. */
enum field { SLAM, FEEDING, LEFTOVERS, STOP_LEFTOVERS, REPETITIONS, QUIET_LIMIT, UNFED_LOSES, FIELDS };

static const struct {
    const char *name;
    const char *const *texts; /* NULL: a number from 0 */
    size_t values;            /* words in `texts`, or the largest number */
} fields[FIELDS] = {
    [SLAM] = {"slam", slam_texts, COUNT(slam_texts)},
    [FEEDING] = {"feeding", feeding_texts, COUNT(feeding_texts)},
    [LEFTOVERS] = {"leftovers", leftovers_texts, COUNT(leftovers_texts)},
    [STOP_LEFTOVERS] = {"stop_leftovers", leftovers_texts, COUNT(leftovers_texts)},
    [REPETITIONS] = {"repetitions", NULL, REPETITIONS_MAX},
    [QUIET_LIMIT] = {"quiet_limit", NULL, QUIET_LIMIT_MAX},
    [UNFED_LOSES] = {"unfed_loses", truth_texts, COUNT(truth_texts)},
};

static int field_get(const struct rules *rules, enum field field)
{
    switch (field) {
    case SLAM:
        return (int)rules->slam;
    case FEEDING:
        return (int)rules->feeding;
    case LEFTOVERS:
        return (int)rules->leftovers;
    case STOP_LEFTOVERS:
        return (int)rules->stop_leftovers;
    case REPETITIONS:
        return rules->repetitions;
    case QUIET_LIMIT:
        return rules->quiet_limit;
    case UNFED_LOSES:
        return rules->unfed_loses;
    case FIELDS:
        break;
    }
    return 0;
}

static void field_set(struct rules *rules, enum field field, int value)
{
    switch (field) {
    case SLAM:
        rules->slam = (enum rules_slam)value;
        break;
    case FEEDING:
        rules->feeding = (enum rules_feeding)value;
        break;
    case LEFTOVERS:
        rules->leftovers = (enum rules_leftovers)value;
        break;
    case STOP_LEFTOVERS:
        rules->stop_leftovers = (enum rules_leftovers)value;
        break;
    case REPETITIONS:
        rules->repetitions = value;
        break;
    case QUIET_LIMIT:
        rules->quiet_limit = value;
        break;
    case UNFED_LOSES:
        rules->unfed_loses = value != 0;
        break;
    case FIELDS:
        break;
    }
}

const struct rules *rules_preset(size_t index)
{
    return index < COUNT(presets) ? &presets[index] : NULL;
}

const char *rules_preset_summary(size_t index)
{
    return index < COUNT(summaries) ? summaries[index] : NULL;
}

const char *rules_slam_text(enum rules_slam slam)
{
    return slam_texts[slam];
}

const char *rules_feeding_text(enum rules_feeding feeding)
{
    return feeding_texts[feeding];
}

const char *rules_leftovers_text(enum rules_leftovers leftovers)
{
    return leftovers_texts[leftovers];
}

bool rules_bound_games(const struct rules *rules)
{
    return rules->repetitions > 0 || rules->quiet_limit > 0;
}

/* Different words for the same play are brought to one: leftovers of stops that cannot happen, and a slam as
 * last resort, which already is the demand to leave a seed if any move does. */
static struct rules normalized(const struct rules *rules)
{
    struct rules plain = *rules;
    if (!rules_bound_games(&plain))
        plain.stop_leftovers = RULES_LEFTOVERS_OWN_ROW;
    if (plain.slam == RULES_SLAM_LAST_RESORT && plain.feeding == RULES_FEEDING_NONE)
        plain.feeding = RULES_FEEDING_IF_ANY;
    if (plain.slam == RULES_SLAM_ALLOWED && plain.feeding == RULES_FEEDING_IF_ANY)
        plain.slam = RULES_SLAM_LAST_RESORT;
    return plain;
}

static int differences(const struct rules *a, const struct rules *b)
{
    int count = 0;
    for (enum field field = 0; field < FIELDS; field++)
        count += field_get(a, field) != field_get(b, field);
    return count;
}

bool rules_equal(const struct rules *a, const struct rules *b)
{
    struct rules plain_a = normalized(a), plain_b = normalized(b);
    return differences(&plain_a, &plain_b) == 0;
}

/* The canonical name: the nearest preset (the first of equals) and the fields that differ, in field order. */
static void name_canonically(struct rules *rules)
{
    const struct rules *nearest = &presets[0];
    for (size_t i = 1; i < COUNT(presets); i++) {
        if (differences(rules, &presets[i]) < differences(rules, nearest))
            nearest = &presets[i];
    }
    size_t length = (size_t)snprintf(rules->name, sizeof rules->name, "%s", nearest->name);
    for (enum field field = 0; field < FIELDS; field++) {
        int value = field_get(rules, field);
        if (value == field_get(nearest, field))
            continue;
        char *end = rules->name + length;
        size_t room = sizeof rules->name - length;
        if (fields[field].texts != NULL)
            length += (size_t)snprintf(end, room, ",%s=%s", fields[field].name, fields[field].texts[value]);
        else
            length += (size_t)snprintf(end, room, ",%s=%d", fields[field].name, value);
    }
}

static bool word_is(const char *word, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(word, text, length) == 0;
}

/* Appends a formatted list of words to `error`, which already holds a sentence. */
static void list_words(char *error, size_t error_size, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(error);
        if (length < error_size)
            snprintf(error + length, error_size - length, "%s%s", i == 0 ? "" : ", ", words[i]);
    }
}

static int parse_preset(const char *word, size_t length, struct rules *out, char *error, size_t error_size)
{
    const char *names[COUNT(presets)];
    for (size_t i = 0; i < COUNT(presets); i++) {
        names[i] = presets[i].name;
        if (word_is(word, length, names[i])) {
            *out = presets[i];
            return 0;
        }
    }
    snprintf(error, error_size, "unknown rules '%.*s'; known: ", (int)(length < 64 ? length : 64), word);
    list_words(error, error_size, names, COUNT(names));
    return -1;
}

/* A value of a field, or -1. The single occurrence `repetitions=1` would end every game before it starts. */
static int parse_value(enum field field, const char *word, size_t length)
{
    if (fields[field].texts != NULL) {
        for (size_t i = 0; i < fields[field].values; i++) {
            if (word_is(word, length, fields[field].texts[i]))
                return (int)i;
        }
        return -1;
    }
    int value = 0;
    for (size_t i = 0; i < length; i++) {
        if (word[i] < '0' || word[i] > '9' || i == 5)
            return -1;
        value = value * 10 + (word[i] - '0');
    }
    if (length == 0 || value > (int)fields[field].values || (field == REPETITIONS && value == 1))
        return -1;
    return value;
}

static void refuse_value(enum field field, const char *word, size_t length, char *error, size_t error_size)
{
    snprintf(error, error_size, "rules: %s cannot be '%.*s'; ", fields[field].name,
             (int)(length < 64 ? length : 64), word);
    size_t used = strlen(error);
    if (used >= error_size)
        return;
    if (fields[field].texts == NULL) {
        snprintf(error + used, error_size - used, "give a number from %d to %zu, or 0 for never",
                 field == REPETITIONS ? 2 : 1, fields[field].values);
        return;
    }
    snprintf(error + used, error_size - used, "known: ");
    list_words(error, error_size, fields[field].texts, fields[field].values);
}

/* One override `field=value`; `seen` has a bit for each field already given. */
static int parse_override(const char *word, size_t length, struct rules *out, unsigned *seen, char *error,
                          size_t error_size)
{
    const char *equals = memchr(word, '=', length);
    size_t name_length = equals != NULL ? (size_t)(equals - word) : length;
    for (enum field field = 0; field < FIELDS; field++) {
        if (equals == NULL || !word_is(word, name_length, fields[field].name))
            continue;
        int value = parse_value(field, equals + 1, length - name_length - 1);
        if (value < 0) {
            refuse_value(field, equals + 1, length - name_length - 1, error, error_size);
            return -1;
        }
        if (*seen >> field & 1) {
            snprintf(error, error_size, "rules: %s is given twice", fields[field].name);
            return -1;
        }
        *seen |= 1u << field;
        field_set(out, field, value);
        return 0;
    }
    const char *names[FIELDS];
    for (enum field field = 0; field < FIELDS; field++)
        names[field] = fields[field].name;
    snprintf(error, error_size,
             "rules: '%.*s' is no override field=value; known fields: ", (int)(length < 64 ? length : 64),
             word);
    list_words(error, error_size, names, FIELDS);
    return -1;
}

int rules_parse(const char *text, struct rules *out, char *error, size_t error_size)
{
    size_t length = strcspn(text, ",");
    struct rules rules;
    if (parse_preset(text, length, &rules, error, error_size) != 0)
        return -1;
    unsigned seen = 0;
    while (text[length] == ',') {
        text += length + 1;
        length = strcspn(text, ",");
        if (parse_override(text, length, &rules, &seen, error, error_size) != 0)
            return -1;
    }
    *out = normalized(&rules);
    name_canonically(out);
    return 0;
}
