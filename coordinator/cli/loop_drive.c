/* The steps of a generation: self-play, fit, gate, promotion, the match against the first. Each is one of our
 * own commands, made once by its key; what came of it is written down before the next begins. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/follow.h"
#include "coordinator/cli/loop.h"
#include "coordinator/cli/table.h"
#include "engine/mix.h"
#include "proto/progress.h"

enum { PATIENCE_MS = 600000, NUMBER_SIZE = 32 };

enum seed_of { SEED_SELFPLAY = 1, SEED_FIT, SEED_GATE, SEED_FIRST };

struct generation {
    uint64_t number, selfplay, gate, first_match;
    char champion[LOOP_HEX], candidate[LOOP_HEX], outcome[16];
};

static void add_text(struct driver_words *words, const char *option, const char *text)
{
    driver_words_keep(words, option);
    driver_words_add(words, "%s", text);
}

static void add_number(struct driver_words *words, const char *option, uint64_t number)
{
    driver_words_keep(words, option);
    driver_words_add(words, "%llu", (unsigned long long)number);
}

/* An option of the specification, as it stands there. */
static void add_specified(struct driver_words *words, const struct loop *loop, const char *option,
                          const char *key)
{
    const json_t *value = json_object_get(loop->specification, key);
    char text[NUMBER_SIZE];
    if (json_is_string(value))
        snprintf(text, sizeof text, "%s", json_string_value(value));
    else
        snprintf(text, sizeof text, "%.15g", json_number_value(value));
    add_text(words, option, text);
}

static uint64_t specified(const struct loop *loop, const char *key)
{
    return (uint64_t)json_number_value(json_object_get(loop->specification, key));
}

/* The starting weights enter the database with their first experiment; until then they have no other name. */
static const char *named(const struct loop *loop, const char *sha256)
{
    return strcmp(sha256, loop->starting) == 0 ? "starting" : sha256;
}

/* Sets columns of this generation: `set` is SQL over $3 and $4. */
static int note(struct loop *loop, const struct generation *generation, const char *set, const char *third,
                const char *fourth)
{
    char sql[512], id[NUMBER_SIZE], number[NUMBER_SIZE];
    snprintf(sql, sizeof sql,
             "update kroo.generation set %s where loop_id = $1::bigint and number = $2::integer", set);
    snprintf(id, sizeof id, "%llu", (unsigned long long)loop->id);
    snprintf(number, sizeof number, "%llu", (unsigned long long)generation->number);
    const char *parameters[] = {id, number, third, fourth};
    return driver_tell(&loop->driver, sql, parameters, fourth ? 4 : 3);
}

static int set_state(struct loop *loop, const char *state)
{
    char id[NUMBER_SIZE];
    snprintf(id, sizeof id, "%llu", (unsigned long long)loop->id);
    const char *parameters[] = {id, state};
    return driver_tell(&loop->driver,
                       "update kroo.learning_loop set state = $2, updated_at = now() where id = $1::bigint",
                       parameters, 2);
}

/* Makes the experiment of one step of this generation, or finds it: its number in *id. */
static int submit(struct loop *loop, const struct generation *generation, struct driver_words *words,
                  const char *step, enum seed_of seed_of, uint64_t *id)
{
    char key[STORE_NAME];
    snprintf(key, sizeof key, "loop.%s.%llu.%s", loop->name, (unsigned long long)generation->number, step);
    add_text(words, "--key", key);
    add_text(words, "--note", key);
    uint64_t seed = mix(mix(specified(loop, "seed"), generation->number), seed_of) >> 11;
    add_number(words, "--seed", seed);
    add_text(words, "--rules", loop->rules);
    driver_words_keep(words, "--json");
    json_t *answer = NULL;
    int status = driver_run(words, &answer);
    if (status == COMMAND_DONE)
        *id = (uint64_t)json_integer_value(json_object_get(answer, "experiment"));
    driver_warn(&loop->driver, answer);
    json_decref(answer);
    return status;
}

/* Until it has ended: COMMAND_DONE, DRIVER_PAUSED when it still runs (interrupted), or refused. */
static int await(struct loop *loop, uint64_t experiment)
{
    char id[NUMBER_SIZE], state[16];
    const char *parameters[] = {id};
    int64_t until_ms = progress_now_ms() + PATIENCE_MS;
    snprintf(id, sizeof id, "%llu", (unsigned long long)experiment);
    for (;;) {
        int followed = follow_experiment(loop->driver.settings, experiment, false);
        struct store_table table;
        int status = driver_ask(&loop->driver, "select state from kroo.experiment where id = $1::bigint",
                                parameters, 1, &table);
        if (status != COMMAND_DONE)
            return status;
        snprintf(state, sizeof state, "%s", table.rows ? store_cell(&table, 0, 0) : "");
        store_table_done(&table);
        if (strcmp(state, "finished") == 0)
            return COMMAND_DONE;
        if (followed == COMMAND_DONE)
            return DRIVER_PAUSED;
        if (followed != COMMAND_NO_CONNECTION || progress_now_ms() > until_ms)
            return args_refuse("experiment %s is %s: loop %s cannot go on by itself", id, state, loop->name);
    }
}

/* Makes and awaits a step's experiment; its number is written to `column` first. */
static int play(struct loop *loop, const struct generation *generation, struct driver_words *words,
                const char *step, enum seed_of seed_of, const char *column, uint64_t *id)
{
    int status = COMMAND_DONE;
    if (*id == 0) {
        char set[64], text[NUMBER_SIZE];
        status = submit(loop, generation, words, step, seed_of, id);
        snprintf(set, sizeof set, "%s = $3::bigint", column);
        snprintf(text, sizeof text, "%llu", (unsigned long long)*id);
        if (status == COMMAND_DONE)
            status = note(loop, generation, set, text, NULL);
    }
    return status == COMMAND_DONE ? await(loop, *id) : status;
}

/* --- the steps --- */

static int step_selfplay(struct loop *loop, struct generation *generation)
{
    struct driver_words words;
    driver_words_begin(&words, &loop->driver, "kroo", "selfplay");
    add_text(&words, "--weights", named(loop, generation->champion));
    add_specified(&words, loop, "--pairs", "pairs");
    add_specified(&words, loop, "--nodes", "nodes");
    add_specified(&words, loop, "--noise", "noise");
    add_specified(&words, loop, "--opening-plies", "opening_plies");
    return play(loop, generation, &words, "selfplay", SEED_SELFPLAY, "selfplay_id", &generation->selfplay);
}

/* Experiments of this generation and of the window before it: `3,7,12`. The caller frees it. */
static int window(struct loop *loop, const struct generation *generation, char **games)
{
    static const char sql[] =
        "select string_agg(selfplay_id::text, ',' order by number) from kroo.generation"
        " where loop_id = $1::bigint and number <= $2::integer and number > $2::integer - $3::integer";
    char id[NUMBER_SIZE], number[NUMBER_SIZE], width[NUMBER_SIZE];
    struct store_table table;
    snprintf(id, sizeof id, "%llu", (unsigned long long)loop->id);
    snprintf(number, sizeof number, "%llu", (unsigned long long)generation->number);
    snprintf(width, sizeof width, "%llu", (unsigned long long)specified(loop, "window"));
    const char *parameters[] = {id, number, width};
    int status = driver_ask(&loop->driver, sql, parameters, 3, &table);
    if (status != COMMAND_DONE)
        return status;
    *games = strdup(store_cell(&table, 0, 0));
    store_table_done(&table);
    return *games ? COMMAND_DONE : args_refuse("out of memory");
}

static int end(struct loop *loop, struct generation *generation, const char *outcome, const char *reason)
{
    snprintf(generation->outcome, sizeof generation->outcome, "%s", outcome);
    return note(loop, generation, "outcome = $3, reason = left($4, 500), ended_at = now()", outcome, reason);
}

/* What the fit said: a candidate, or a refusal that ends the generation. */
static int take_fit(struct loop *loop, struct generation *generation, int fitted, const json_t *answer)
{
    const char *sha256 = json_string_value(json_object_get(answer, "sha256"));
    const char *reason = json_string_value(json_object_get(answer, "reason"));
    char training_run[NUMBER_SIZE];
    uint64_t number = (uint64_t)json_integer_value(json_object_get(answer, "training_run"));
    snprintf(training_run, sizeof training_run, "%llu", (unsigned long long)number);
    if (fitted == COMMAND_REFUSED) {
        int status = number ? note(loop, generation, "training_run_id = $3::bigint", training_run, NULL)
                            : COMMAND_DONE;
        return status == COMMAND_DONE
                   ? end(loop, generation, "refused", reason ? reason : "the fit was refused")
                   : status;
    }
    if (!sha256 || strlen(sha256) + 1 != LOOP_HEX)
        return args_refuse("kroo-train did not say what it made");
    snprintf(generation->candidate, sizeof generation->candidate, "%s", sha256);
    int status = note(loop, generation, "training_run_id = $3::bigint, candidate_sha256 = decode($4, 'hex')",
                      training_run, sha256);
    if (status == COMMAND_DONE && strcmp(sha256, generation->champion) == 0)
        return end(loop, generation, "refused", "the fit made the champion again");
    return status;
}

static int step_fit(struct loop *loop, struct generation *generation)
{
    struct driver_words words;
    char name[STORE_NAME], *games = NULL;
    if (generation->candidate[0])
        return COMMAND_DONE;
    int status = window(loop, generation, &games);
    if (status != COMMAND_DONE)
        return status;
    args_note("fit: games of the experiments %s", games);
    driver_words_begin(&words, &loop->driver, "kroo-train", "fit");
    driver_words_keep(&words, "--database");
    driver_words_keep(&words, settings_get(loop->driver.settings, "database", ""));
    driver_words_keep(&words, "--games");
    driver_words_keep(&words, games);
    add_specified(&words, loop, "--kind", "kind");
    add_specified(&words, loop, "--lambda", "lambda");
    add_text(&words, "--parent", named(loop, generation->champion));
    add_number(&words, "--seed", mix(mix(specified(loop, "seed"), generation->number), SEED_FIT) >> 11);
    snprintf(name, sizeof name, "%s-%llu", loop->name, (unsigned long long)generation->number);
    add_text(&words, "--name", name);
    driver_words_keep(&words, "--json");
    json_t *answer = NULL;
    int fitted = driver_run(&words, &answer);
    status = fitted == COMMAND_DONE || (fitted == COMMAND_REFUSED && answer)
                 ? take_fit(loop, generation, fitted, answer)
                 : fitted;
    json_decref(answer);
    free(games);
    return status;
}

/* Of the matches: positions of a book, else random plies. */
static void add_book(struct driver_words *words, const struct loop *loop)
{
    const char *book = json_string_value(json_object_get(loop->specification, "book"));
    if (book)
        add_text(words, "--book", book);
}

static int step_gate(struct loop *loop, struct generation *generation)
{
    struct driver_words words;
    driver_words_begin(&words, &loop->driver, "kroo", "match");
    driver_words_keep(&words, generation->candidate);
    driver_words_keep(&words, named(loop, generation->champion));
    driver_words_keep(&words, "--sprt");
    add_specified(&words, loop, "--elo0", "elo0");
    add_specified(&words, loop, "--elo1", "elo1");
    add_specified(&words, loop, "--max-pairs", "max_pairs");
    add_specified(&words, loop, "--nodes", "gate_nodes");
    add_book(&words, loop);
    return play(loop, generation, &words, "gate", SEED_GATE, "gate_id", &generation->gate);
}

static int step_first(struct loop *loop, struct generation *generation)
{
    struct driver_words words;
    if (specified(loop, "first_pairs") == 0 || strcmp(generation->candidate, loop->first) == 0)
        return COMMAND_DONE;
    driver_words_begin(&words, &loop->driver, "kroo", "match");
    driver_words_keep(&words, generation->candidate);
    driver_words_keep(&words, named(loop, loop->first));
    add_specified(&words, loop, "--pairs", "first_pairs");
    add_specified(&words, loop, "--nodes", "gate_nodes");
    add_book(&words, loop);
    return play(loop, generation, &words, "first", SEED_FIRST, "first_match_id", &generation->first_match);
}

/* By the gate's verdict alone; a promotion that is there already is this one, of before an interrupt. */
static int step_promotion(struct loop *loop, struct generation *generation)
{
    static const char sql[] = "select v.verdict, count(p.id) from kroo.verdict v left join kroo.promotion p"
                              " on p.experiment_id = v.experiment_id and p.line = $2"
                              " where v.experiment_id = $1::bigint group by 1";
    char gate[NUMBER_SIZE], reason[STORE_NAME + NUMBER_SIZE];
    struct store_table table;
    snprintf(gate, sizeof gate, "%llu", (unsigned long long)generation->gate);
    const char *parameters[] = {gate, loop->line};
    int status = driver_ask(&loop->driver, sql, parameters, 2, &table);
    if (status != COMMAND_DONE)
        return status;
    bool accepted = table.rows == 1 && strcmp(store_cell(&table, 0, 0), "accepted") == 0;
    bool promoted = accepted && table_number(&table, 0, 1) > 0;
    store_table_done(&table);
    if (accepted && !promoted) {
        struct driver_words words;
        json_t *answer = NULL;
        snprintf(reason, sizeof reason, "loop %s, generation %llu", loop->name,
                 (unsigned long long)generation->number);
        driver_words_begin(&words, &loop->driver, "kroo", "weights");
        driver_words_keep(&words, "promote");
        driver_words_keep(&words, generation->candidate);
        add_text(&words, "--experiment", gate);
        add_text(&words, "--line", loop->line);
        add_text(&words, "--reason", reason);
        driver_words_keep(&words, "--json");
        status = driver_run(&words, &answer);
        json_decref(answer);
    }
    return status == COMMAND_DONE ? end(loop, generation, accepted ? "promoted" : "kept", "") : status;
}

/* --- generations --- */

/* The first generation that has not ended; a new one plays with the line's champion of this moment. */
static int next_generation(struct loop *loop, struct generation *generation)
{
    static const char begin_sql[] =
        "insert into kroo.generation (loop_id, number, champion_sha256)"
        " select $1::bigint, coalesce(max(number), 0) + 1,"
        " coalesce((select weights_sha256 from kroo.champion where line = $2), decode($3, 'hex'))"
        " from kroo.generation where loop_id = $1::bigint"
        " having count(*) filter (where outcome is null) = 0 and count(*) < $4::bigint";
    static const char sql[] =
        "select number, selfplay_id, gate_id, first_match_id,"
        " encode(champion_sha256, 'hex') as champion, encode(candidate_sha256, 'hex') as candidate"
        " from kroo.generation where loop_id = $1::bigint and outcome is null";
    char id[NUMBER_SIZE], planned[NUMBER_SIZE];
    struct store_table table;
    snprintf(id, sizeof id, "%llu", (unsigned long long)loop->id);
    snprintf(planned, sizeof planned, "%llu", (unsigned long long)loop->planned);
    const char *parameters[] = {id, loop->line, loop->first, planned};
    int status = driver_tell(&loop->driver, begin_sql, parameters, 4);
    if (status == COMMAND_DONE)
        status = driver_ask(&loop->driver, sql, parameters, 1, &table);
    if (status != COMMAND_DONE)
        return status;
    memset(generation, 0, sizeof *generation);
    if (table.rows > 0) {
        generation->number = table_number(&table, 0, 0);
        generation->selfplay = table_number(&table, 0, 1);
        generation->gate = table_number(&table, 0, 2);
        generation->first_match = table_number(&table, 0, 3);
        snprintf(generation->champion, LOOP_HEX, "%s", table_named(&table, 0, "champion"));
        snprintf(generation->candidate, LOOP_HEX, "%s", table_named(&table, 0, "candidate"));
    }
    store_table_done(&table);
    return COMMAND_DONE;
}

/* True when somebody asked it to stop, or its time is over. */
static int is_over(struct loop *loop, int64_t until_ms, bool *over)
{
    struct store_table table;
    const char *parameters[] = {loop->name};
    int status = driver_ask(&loop->driver, "select state from kroo.learning_loop where name = $1", parameters,
                            1, &table);
    if (status != COMMAND_DONE)
        return status;
    bool asked = table.rows == 1 && strcmp(store_cell(&table, 0, 0), "stopping") == 0;
    store_table_done(&table);
    *over = asked || (until_ms > 0 && progress_now_ms() >= until_ms);
    if (asked)
        return set_state(loop, "stopped");
    return COMMAND_DONE;
}

typedef int loop_step(struct loop *loop, struct generation *generation);

static int drive_generation(struct loop *loop, struct generation *generation, int64_t until_ms)
{
    static loop_step *const steps[] = {step_selfplay, step_fit, step_gate, step_first, step_promotion};
    args_note("loop %s: generation %llu of %llu, champion %.12s", loop->name,
              (unsigned long long)generation->number, (unsigned long long)loop->planned,
              generation->champion);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && !generation->outcome[0]; i++) {
        bool over = false;
        int status = steps[i](loop, generation);
        if (status == COMMAND_DONE)
            status = is_over(loop, until_ms, &over);
        if (status != COMMAND_DONE)
            return status;
        if (over && !generation->outcome[0])
            return DRIVER_PAUSED;
    }
    printf("generation %llu: %s\n", (unsigned long long)generation->number, generation->outcome);
    fflush(stdout);
    return COMMAND_DONE;
}

int loop_drive(struct loop *loop)
{
    int64_t until_ms =
        loop->request->hours > 0 ? progress_now_ms() + (int64_t)(loop->request->hours * 3600000) : 0;
    bool over = false;
    int status = driver_lock(&loop->driver, "loop", loop->name);
    if (status == COMMAND_DONE && loop->request->has_generations &&
        loop->request->generations > loop->planned) {
        char id[NUMBER_SIZE], planned[NUMBER_SIZE];
        snprintf(id, sizeof id, "%llu", (unsigned long long)loop->id);
        snprintf(planned, sizeof planned, "%llu", (unsigned long long)loop->request->generations);
        const char *parameters[] = {id, planned};
        status = driver_tell(
            &loop->driver,
            "update kroo.learning_loop set planned_generations = $2::integer where id = $1::bigint",
            parameters, 2);
        loop->planned = loop->request->generations;
    }
    if (status == COMMAND_DONE)
        status = set_state(loop, "running");
    while (status == COMMAND_DONE && !over) {
        struct generation generation;
        status = next_generation(loop, &generation);
        if (status == COMMAND_DONE && generation.number == 0) {
            printf("loop %s: %llu generations are done; `kroo loop show %s` tells of them\n", loop->name,
                   (unsigned long long)loop->planned, loop->name);
            return set_state(loop, "finished");
        }
        if (status == COMMAND_DONE)
            status = drive_generation(loop, &generation, until_ms);
        if (status == COMMAND_DONE)
            status = is_over(loop, until_ms, &over);
    }
    if (status != COMMAND_DONE && status != DRIVER_PAUSED)
        return status;
    args_note("loop %s rests; `kroo loop run %s` goes on where it was", loop->name, loop->name);
    return COMMAND_DONE;
}
