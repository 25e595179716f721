#include "coordinator/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BYTES = 1024, ENVIRONMENT = 8 };

struct words {
    char text[STORE_TEXT];
    char *word[HOOK_ARGUMENTS_MAX + 1]; /* NULL behind the last */
    size_t count;
};

static bool split(const char *command, struct words *words)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@:/=,+- ";
    words->count = 0;
    if (strlen(command) >= sizeof words->text || strspn(command, allowed) != strlen(command))
        return false;
    snprintf(words->text, sizeof words->text, "%s", command);
    for (char *rest = NULL, *one = strtok_r(words->text, " ", &rest); one; one = strtok_r(NULL, " ", &rest)) {
        if (words->count == HOOK_ARGUMENTS_MAX)
            return false;
        words->word[words->count++] = one;
    }
    words->word[words->count] = NULL;
    return words->count > 0;
}

/* The program's path, when it is one that only the operator can have put there. */
static bool find_program(const struct hook_table *table, const char *name, char path[PATH_BYTES],
                         char *reason)
{
    struct stat status;
    if (strchr(name, '/') || name[0] == '.' || name[0] == '-' ||
        snprintf(path, PATH_BYTES, "%s/%s", table->folder, name) >= PATH_BYTES) {
        snprintf(reason, HOOK_REASON_MAX, "a hook is called by its file name, not \"%.60s\"", name);
        return false;
    }
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || access(path, X_OK) != 0) {
        snprintf(reason, HOOK_REASON_MAX,
                 "this coordinator has no hook \"%.60s\": its operator puts programs into %.100s", name,
                 table->folder);
        return false;
    }
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 || (status.st_uid != geteuid() && status.st_uid != 0)) {
        snprintf(reason, HOOK_REASON_MAX,
                 "hook \"%.60s\" can be changed by others than the coordinator's user: chmod go-w", name);
        return false;
    }
    return true;
}

bool hook_check(const struct hook_table *table, const char *command, char reason[HOOK_REASON_MAX])
{
    struct words words;
    char path[PATH_BYTES];
    if (!table->folder) {
        snprintf(reason, HOOK_REASON_MAX,
                 "this coordinator runs no hooks: its operator names a folder of them (setting `hooks`)");
        return false;
    }
    if (!split(command, &words)) {
        snprintf(reason, HOOK_REASON_MAX,
                 "a hook is a name and at most %d arguments, of letters, digits and ._@:/=,+- only",
                 HOOK_ARGUMENTS_MAX - 1);
        return false;
    }
    return find_program(table, words.word[0], path, reason);
}

size_t hook_room(const struct hook_table *table)
{
    size_t room = 0;
    for (size_t i = 0; i < HOOK_RUNNING_MAX; i++)
        room += table->running[i].pid == 0;
    return room;
}

struct environment {
    char text[ENVIRONMENT][STORE_TEXT + 32];
    char *entry[ENVIRONMENT + 1];
};

static void fill_environment(const struct store_hook *hook, struct environment *environment)
{
    size_t count = 0, size = sizeof environment->text[0];
    snprintf(environment->text[count++], size, "PATH=/usr/local/bin:/usr/bin:/bin");
    snprintf(environment->text[count++], size, "KROO_EXPERIMENT=%llu", (unsigned long long)hook->experiment);
    snprintf(environment->text[count++], size, "KROO_KIND=%s", hook->kind);
    snprintf(environment->text[count++], size, "KROO_VERDICT=%s", hook->verdict);
    snprintf(environment->text[count++], size, "KROO_PAIRS=%llu", (unsigned long long)hook->counted_pairs);
    snprintf(environment->text[count++], size, "KROO_ELO=%s", hook->elo);
    snprintf(environment->text[count++], size, "KROO_NOTE=%s", hook->note);
    for (size_t i = 0; i < count; i++)
        environment->entry[i] = environment->text[i];
    environment->entry[count] = NULL;
}

/* In a group of its own, so that what it starts ends with it; no terminal, no file of ours. */
static int spawn(const char *path, char *const words[], char *const environment[], pid_t *pid)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int error = posix_spawn(pid, path, &files, &attributes, words, environment);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return error;
}

bool hook_start(struct hook_table *table, const struct store_hook *hook, int64_t now_ms,
                char reason[HOOK_REASON_MAX])
{
    struct words words;
    struct environment environment;
    char path[PATH_BYTES];
    struct hook_process *place = NULL;
    for (size_t i = 0; i < HOOK_RUNNING_MAX && !place; i++)
        place = table->running[i].pid == 0 ? &table->running[i] : NULL;
    if (!hook_check(table, hook->command, reason))
        return false;
    if (!place || !split(hook->command, &words) || !find_program(table, words.word[0], path, reason)) {
        snprintf(reason, HOOK_REASON_MAX, "no place for another hook");
        return false;
    }
    fill_environment(hook, &environment);
    int error = spawn(path, words.word, environment.entry, &place->pid);
    if (error != 0) {
        place->pid = 0;
        snprintf(reason, HOOK_REASON_MAX, "cannot be started: %s", strerror(error));
        return false;
    }
    place->experiment = hook->experiment;
    place->deadline_ms = now_ms + HOOK_DEADLINE_MS;
    place->late = false;
    return true;
}

static void describe(const struct hook_process *process, int status, bool *succeeded, char *outcome)
{
    *succeeded = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (process->late)
        snprintf(outcome, HOOK_REASON_MAX, "ended after %d s without an end of its own",
                 HOOK_DEADLINE_MS / 1000);
    else if (WIFEXITED(status))
        snprintf(outcome, HOOK_REASON_MAX, "exit status %d", WEXITSTATUS(status));
    else
        snprintf(outcome, HOOK_REASON_MAX, "ended by signal %d", WTERMSIG(status));
}

bool hook_reap(struct hook_table *table, int64_t now_ms, uint64_t *experiment, bool *succeeded,
               char outcome[HOOK_REASON_MAX])
{
    for (size_t i = 0; i < HOOK_RUNNING_MAX; i++) {
        struct hook_process *process = &table->running[i];
        int status = 0;
        if (process->pid == 0)
            continue;
        if (now_ms >= process->deadline_ms && !process->late) {
            process->late = true;
            kill(-process->pid, SIGKILL);
        }
        pid_t ended = waitpid(process->pid, &status, WNOHANG);
        if (ended == 0 || (ended < 0 && errno == EINTR))
            continue;
        describe(process, ended < 0 ? 1 << 8 : status, succeeded, outcome);
        *experiment = process->experiment;
        process->pid = 0;
        return true;
    }
    return false;
}
