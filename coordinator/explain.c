#include "coordinator/explain.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const state_names[] = {[EXPLAIN_PLAYING] = "playing",
                                          [EXPLAIN_WAITING] = "waiting",
                                          [EXPLAIN_IDLE] = "idle",
                                          [EXPLAIN_SET_ASIDE] = "set aside",
                                          [EXPLAIN_GONE] = "gone"};

const char *explain_state_name(enum explain_state state)
{
    return state_names[state];
}

static void add(char sentence[EXPLAIN_TEXT], const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(char sentence[EXPLAIN_TEXT], const char *format, ...)
{
    size_t used = strlen(sentence);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence + used, EXPLAIN_TEXT - used, format, arguments);
    va_end(arguments);
}

static void add_experiments(char sentence[EXPLAIN_TEXT], const struct explain_facts *facts)
{
    size_t named =
        facts->experiment_count < EXPLAIN_EXPERIMENTS ? facts->experiment_count : EXPLAIN_EXPERIMENTS;
    add(sentence, "experiment%s", facts->experiment_count == 1 ? "" : "s");
    for (size_t i = 0; i < named; i++)
        add(sentence, "%s %llu", i == 0 ? "" : ",", (unsigned long long)facts->experiments[i]);
    if (named < facts->experiment_count)
        add(sentence, " and others");
}

static void add_playing(char sentence[EXPLAIN_TEXT], const struct explain_facts *facts)
{
    add(sentence, "it plays ");
    add_experiments(sentence, facts);
    add(sentence, ": %llu pairs of %u lease%s are out", (unsigned long long)facts->pairs_out, facts->leases,
        facts->leases == 1 ? "" : "s");
    if (facts->games_per_minute > 0)
        add(sentence, ", %.1f games a minute lately", facts->games_per_minute);
}

static enum explain_state explain_state(const struct explain_facts *facts, char sentence[EXPLAIN_TEXT])
{
    if (facts->silent_ms > facts->silent_most_ms) {
        add(sentence, "nothing was heard of it for %lld s: it has ended, hangs, or is cut off",
            (long long)(facts->silent_ms / 1000));
        if (facts->leases > 0)
            add(sentence, "; what it holds goes to others once %u s pass without progress",
                facts->term_ms / 1000);
        return EXPLAIN_GONE;
    }
    if (facts->set_aside) {
        add(sentence, "it is set aside and gets no pairs: %s", facts->set_aside);
        return EXPLAIN_SET_ASIDE;
    }
    if (facts->leases > 0) {
        add_playing(sentence, facts);
        return EXPLAIN_PLAYING;
    }
    if (facts->told[0] != '\0') {
        add(sentence, "it waits: %s (told %lld s ago)", facts->told, (long long)(facts->told_ms / 1000));
        return EXPLAIN_WAITING;
    }
    add(sentence,
        "it is connected and has asked for nothing: it has just come, delivers results, or cannot play "
        "(its own log says why each minute)");
    return EXPLAIN_IDLE;
}

static void add_fitness(char sentence[EXPLAIN_TEXT], const struct explain_facts *facts)
{
    long long ago_s = (long long)(facts->measured_ms / 1000);
    if (facts->unfit && !strstr(sentence, facts->unfit))
        add(sentence, "; it gets no timed play: %s", facts->unfit);
    if (facts->unfit && facts->speed > 0)
        add(sentence, " (measured %lld s ago)", ago_s);
    else if (facts->speed > 0)
        add(sentence, "; it is fit for timed play (%u nodes a second, measured %lld s ago)", facts->speed,
            ago_s);
}

enum explain_state explain(const struct explain_facts *facts, char sentence[EXPLAIN_TEXT])
{
    sentence[0] = '\0';
    enum explain_state state = explain_state(facts, sentence);
    if (state != EXPLAIN_GONE && state != EXPLAIN_SET_ASIDE)
        add_fitness(sentence, facts);
    return state;
}
