#include "coordinator/cli/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "proto/progress.h"

enum { DAEMON_LOOK_MS = 20 };

void daemon_pause(void)
{
    struct timespec wait = {.tv_nsec = DAEMON_LOOK_MS * 1000000};
    nanosleep(&wait, NULL);
}

/* In the child: output to the log, input from nowhere, then the program. */
static void become(const char *const *command, uid_t uid, gid_t gid, const char *log)
{
    int in = open("/dev/null", O_RDONLY);
    int out = open(log ? log : "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        _exit(127);
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    if (uid != 0 && uid != getuid() && (setgroups(0, NULL) != 0 || setgid(gid) != 0 || setuid(uid) != 0))
        _exit(127);
    if (uid != 0 && chdir("/") != 0)
        _exit(127);
    execvp(command[0], (char *const *)command);
    dprintf(2, "%s: %s\n", command[0], strerror(errno));
    _exit(127);
}

int daemon_run(const char *const *command, uid_t uid, gid_t gid, const char *log)
{
    pid_t pid = fork();
    if (pid == 0)
        become(command, uid, gid, log);
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Field 22 of /proc/PID/stat: the start time that tells a process from its pid's next owner; 0 when gone or a
 * zombie. */
static unsigned long long start_time(pid_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[size] = '\0';
    char *at = strrchr(text, ')');
    unsigned long long started = 0;
    char state = 'Z';
    if (!at ||
        sscanf(at + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &state, &started) != 2)
        return 0;
    return state == 'Z' ? 0 : started;
}

static int write_pid(const char *pid_file, pid_t pid)
{
    FILE *file = fopen(pid_file, "we");
    if (!file)
        return -1;
    int bad = fprintf(file, "%d %llu\n", (int)pid, start_time(pid)) < 0;
    return fclose(file) != 0 || bad ? -1 : 0;
}

int daemon_start(const char *const *command, const char *log, const char *pid_file)
{
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        become(command, 0, 0, log);
    }
    if (pid < 0 || write_pid(pid_file, pid) != 0) {
        fprintf(stderr, "kroo: cannot start %s: %s\n", command[0], strerror(errno));
        if (pid > 0)
            kill(pid, SIGTERM);
        return -1;
    }
    return 0;
}

pid_t daemon_pid(const char *pid_file)
{
    int pid = 0;
    unsigned long long started = 0;
    FILE *file = fopen(pid_file, "re");
    int fields = file ? fscanf(file, "%d %llu", &pid, &started) : 0;
    if (file)
        fclose(file);
    if (fields != 2 || pid <= 1)
        return 0;
    waitpid(pid, NULL, WNOHANG);
    return started && start_time(pid) == started ? pid : 0;
}

bool daemon_stop_ask(const char *pid_file)
{
    pid_t pid = daemon_pid(pid_file);
    return pid && kill(pid, SIGTERM) == 0;
}

bool daemon_stop_wait(const char *pid_file, int deadline_ms)
{
    int64_t until = progress_now_ms() + deadline_ms;
    bool by_itself = true;
    while (daemon_pid(pid_file)) {
        if (progress_now_ms() >= until) {
            kill(daemon_pid(pid_file), SIGKILL);
            by_itself = false;
            until = INT64_MAX;
        }
        daemon_pause();
    }
    unlink(pid_file);
    return by_itself;
}

int daemon_await(const char *pid_file, bool (*ready)(void *context), void *context, int deadline_ms)
{
    int64_t until = progress_now_ms() + deadline_ms;
    while (!ready(context)) {
        if (!daemon_pid(pid_file))
            return -1;
        if (progress_now_ms() >= until)
            return -2;
        daemon_pause();
    }
    return 0;
}

void daemon_show_log(const char *log, int lines)
{
    char *line = NULL;
    size_t room = 0;
    int count = 0;
    FILE *file = fopen(log, "re");
    if (!file)
        return;
    while (getline(&line, &room, file) >= 0)
        count++;
    rewind(file);
    for (int i = 0; getline(&line, &room, file) >= 0; i++)
        if (i >= count - lines)
            fprintf(stderr, "    %s", line);
    free(line);
    fclose(file);
}
