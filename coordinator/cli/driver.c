#include "coordinator/cli/driver.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coordinator/cli/child.h"
#include "coordinator/cli/commands.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/table.h"
#include "proto/progress.h"

enum { PATIENCE_MS = 600000, RETRY_MS = 2000, LOOK_MS = 250 };

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

static void rest(int ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

int driver_open(struct driver *driver, const struct args_common *common, const char *role)
{
    int status;
    *driver = (struct driver){.common = common, .role = role};
    driver->settings = connect_settings(common, &status);
    if (!driver->settings)
        return status;
    driver->store = connect_store(driver->settings, role);
    return driver->store ? COMMAND_DONE : COMMAND_NO_CONNECTION;
}

void driver_close(struct driver *driver)
{
    json_decref(driver->warned);
    driver->warned = NULL;
    store_close(driver->store);
    settings_destroy(driver->settings);
    driver->store = NULL;
    driver->settings = NULL;
}

static int take_lock(struct driver *driver)
{
    struct store_table table;
    const char *parameters[] = {driver->lock_group, driver->lock_name};
    int status =
        connect_query(driver->store, "select pg_try_advisory_lock(hashtext('kroo ' || $1), hashtext($2))",
                      parameters, 2, &table);
    if (status != COMMAND_DONE)
        return status;
    if (strcmp(store_cell(&table, 0, 0), "t") != 0)
        status =
            args_refuse("%s %s is driven by another command already", driver->lock_group, driver->lock_name);
    store_table_done(&table);
    return status;
}

int driver_lock(struct driver *driver, const char *group, const char *name)
{
    driver->lock_group = group;
    driver->lock_name = name;
    int status = take_lock(driver);
    if (status != COMMAND_DONE)
        driver->lock_name = NULL;
    return status;
}

int driver_ask(struct driver *driver, const char *sql, const char *const *parameters, size_t count,
               struct store_table *table)
{
    int64_t until_ms = progress_now_ms() + PATIENCE_MS;
    for (;;) {
        if (driver->store) {
            enum store_error error = store_query(driver->store, sql, parameters, count, table);
            if (error != STORE_ERROR_CONNECTION)
                return connect_failed(driver->store, error);
        }
        if (progress_now_ms() > until_ms || interrupted)
            return COMMAND_NO_CONNECTION;
        rest(RETRY_MS);
        store_close(driver->store);
        driver->store = connect_store(driver->settings, driver->role);
        if (driver->store && driver->lock_name && take_lock(driver) == COMMAND_REFUSED)
            return COMMAND_REFUSED;
    }
}

int driver_ask_of(struct driver *driver, const char *sql, uint64_t number, struct store_table *table)
{
    char text[DRIVER_NUMBER];
    const char *parameters[] = {text};
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    return driver_ask(driver, sql, parameters, 1, table);
}

int driver_tell(struct driver *driver, const char *sql, const char *const *parameters, size_t count)
{
    struct store_table table;
    int status = driver_ask(driver, sql, parameters, count, &table);
    if (status == COMMAND_DONE)
        store_table_done(&table);
    return status;
}

/* --- commands of ours --- */

void driver_words_keep(struct driver_words *words, const char *word)
{
    if (words->count + 1 >= DRIVER_WORDS_MAX) {
        words->is_too_long = true;
        return;
    }
    words->word[words->count++] = word;
    words->word[words->count] = NULL;
}

void driver_words_add(struct driver_words *words, const char *format, ...)
{
    va_list arguments;
    if (words->count + 1 >= DRIVER_WORDS_MAX) {
        words->is_too_long = true;
        return;
    }
    char *text = words->text[words->count];
    va_start(arguments, format);
    int length = vsnprintf(text, DRIVER_WORD_MAX, format, arguments);
    va_end(arguments);
    words->is_too_long |= length < 0 || length >= DRIVER_WORD_MAX;
    driver_words_keep(words, text);
}

void driver_words_begin(struct driver_words *words, const struct driver *driver, const char *program,
                        const char *command)
{
    words->count = 0;
    words->is_too_long = false;
    driver_words_add(words, "%s", child_program(program));
    driver_words_keep(words, command);
    if (driver->common->dir && strcmp(program, "kroo") == 0)
        driver_words_add(words, "--dir=%s", driver->common->dir);
    if (driver->common->config)
        driver_words_add(words, "--config=%s", driver->common->config);
}

int driver_run(struct driver_words *words, json_t **answer)
{
    int64_t until_ms = progress_now_ms() + PATIENCE_MS;
    *answer = NULL;
    if (words->is_too_long)
        return args_refuse("too many or too long settings for one command");
    for (;;) {
        char *output;
        setenv(ARGS_DRIVEN, "1", 1);
        int status = child_run(words->word, &output);
        unsetenv(ARGS_DRIVEN);
        *answer = output ? json_loads(output, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
        free(output);
        if (status == COMMAND_DONE && *answer)
            return COMMAND_DONE;
        if (status >= 128)
            return DRIVER_PAUSED;
        if (status != COMMAND_NO_CONNECTION)
            return status == COMMAND_DONE ? args_refuse("%s gave no answer", words->word[1]) : status;
        json_decref(*answer);
        *answer = NULL;
        if (progress_now_ms() > until_ms)
            return COMMAND_NO_CONNECTION;
        rest(RETRY_MS);
    }
}

void driver_warn(struct driver *driver, const json_t *answer)
{
    const json_t *warning, *told;
    size_t i, j;
    if (!driver->warned)
        driver->warned = json_array();
    json_array_foreach(json_object_get(answer, "warnings"), i, warning)
    {
        bool is_new = json_is_string(warning);
        json_array_foreach(driver->warned, j, told)
        {
            is_new = is_new && json_equal(warning, told) != 1;
        }
        if (!is_new)
            continue;
        args_warn("%s", json_string_value(warning));
        json_array_append_new(driver->warned, json_deep_copy(warning));
    }
}

/* --- following --- */

struct standing {
    uint64_t experiments, ended, pairs, planned;
    uint64_t trouble; /* an experiment that will not finish by itself */
    char state[16];
};

static struct standing sum_up(const struct store_table *table)
{
    struct standing standing = {.experiments = table->rows};
    for (size_t i = 0; i < table->rows; i++) {
        const char *state = store_cell(table, i, 1);
        standing.pairs += table_number(table, i, 2);
        standing.planned += table_number(table, i, 3);
        standing.ended += strcmp(state, "finished") == 0;
        if (strcmp(state, "blocked") == 0 || strcmp(state, "stopped") == 0) {
            standing.trouble = table_number(table, i, 0);
            snprintf(standing.state, sizeof standing.state, "%s", state);
        }
    }
    return standing;
}

/* Until all have ended; the bar is begun with the first look. */
static int look_on(struct driver *driver, const char *what, const char *sql, const char *const *parameters,
                   size_t count)
{
    struct progress progress;
    for (bool is_first = true; !interrupted; is_first = false) {
        struct store_table table;
        char note[64];
        int status = driver_ask(driver, sql, parameters, count, &table);
        if (status != COMMAND_DONE)
            return interrupted ? DRIVER_PAUSED : status;
        struct standing standing = sum_up(&table);
        store_table_done(&table);
        if (is_first) {
            progress_init(&progress, what, "pairs", standing.planned, args_hides_progress());
            progress.first = standing.pairs;
        }
        snprintf(note, sizeof note, "%llu of %llu matches done", (unsigned long long)standing.ended,
                 (unsigned long long)standing.experiments);
        if (standing.ended == standing.experiments) {
            progress_end(&progress, standing.pairs, note);
            return COMMAND_DONE;
        }
        if (standing.trouble)
            return args_refuse("experiment %llu is %s: `kroo show %llu` tells why",
                               (unsigned long long)standing.trouble, standing.state,
                               (unsigned long long)standing.trouble);
        progress_show(&progress, standing.pairs, note);
        rest(LOOK_MS);
    }
    return DRIVER_PAUSED;
}

int driver_follow(struct driver *driver, const char *what, const char *sql, const char *const *parameters,
                  size_t count)
{
    struct sigaction action = {.sa_handler = on_interrupt}, before;
    interrupted = 0;
    sigaction(SIGINT, &action, &before);
    int status = look_on(driver, what, sql, parameters, count);
    sigaction(SIGINT, &before, NULL);
    return status;
}
