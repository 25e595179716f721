#include "proto/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "proto/progress.h"
#include "proto/text.h"

enum {
    SLICE_MS = 50, /* how late a `stop` may be seen */
    END_MS = 1000, /* a process that has closed its streams ends within this, or is killed */
    CHILD_STACK = 128 * 1024,
    ENVIRONMENT_MAX = 16,
    EXEC_TRIES = 100,   /* a file that another thread's child still holds open for writing is `busy` */
    EXEC_RETRY_MS = 10, /* between two of them */
};

struct program {
    pid_t pid;
    atomic_bool *stop;    /* NULL: none */
    int in, out, error;   /* ours of its streams, non-blocking */
    size_t filled, taken; /* of `buffer`: bytes read, bytes handed out as lines */
    size_t error_filled;  /* of `error_text`, NUL-terminated */
    char error_text[PROGRAM_STDERR_MAX + 1];
    char buffer[PROGRAM_LINE_MAX];
};

const char *program_error_text(enum program_error error)
{
    switch (error) {
    case PROGRAM_OK:
        return "all is well";
    case PROGRAM_ERROR_START:
        return "it cannot be run";
    case PROGRAM_ERROR_OVER:
        return "it has ended";
    case PROGRAM_ERROR_DEADLINE:
        return "it did not answer in time";
    case PROGRAM_ERROR_NONSENSE:
        return "it says more than any program should";
    case PROGRAM_ERROR_STOPPED:
        return "stopped";
    }
    return "unknown";
}

/* --- starting --- */

/* What the child needs to know, prepared before it exists: nothing may be allocated in it. */
struct launch {
    const char *path;
    char *const *arguments;
    struct confine_plan *plan;
    int in, out, error,
        report; /* the child's ends; `report` closes with exec and carries the failure otherwise */
    char *environment[ENVIRONMENT_MAX + 1];
    sigset_t mask;
};

/* Why the child did not become the program; nothing is read where it did. */
struct failure {
    int step; /* of confine_enter; -1: none of those */
    int error;
};

/* Only what a program needs to find its libraries and its language: no keys, no passwords. */
static void pick_environment(char *environment[ENVIRONMENT_MAX + 1])
{
    static const char *const names[] = {
        "PATH=",         "LANG=",         "LC_ALL=",       "TZ=",           "JAVA_HOME=", "LD_LIBRARY_PATH=",
        "ASAN_OPTIONS=", "LSAN_OPTIONS=", "TSAN_OPTIONS=", "UBSAN_OPTIONS="};
    static char home[] = "HOME=" CONFINE_WORK, temporary[] = "TMPDIR=" CONFINE_WORK;
    size_t count = 0;
    if (confine_level(NULL) == CONFINE_NAMESPACES) {
        environment[count++] = home;
        environment[count++] = temporary;
    }
    for (char **at = environ; *at != NULL && count < ENVIRONMENT_MAX; at++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (strncmp(*at, names[i], strlen(names[i])) == 0) {
                environment[count++] = *at;
                break;
            }
    environment[count] = NULL;
}

/* The other end of `report` is our parent's alone: gone, it died before its end could become ours. */
static bool is_orphan(void)
{
    struct pollfd report = {.fd = 3};
    return poll(&report, 1, 0) > 0 && (report.revents & POLLERR) != 0;
}

/* In the child, which shares our memory until exec: system calls only, and nothing of ours is changed. */
static int run_child(void *context)
{
    const struct launch *launch = context;
    const struct timespec pause = {.tv_nsec = EXEC_RETRY_MS * 1000000L};
    struct failure failure = {.step = -1};
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL); /* the handlers are ours, and so is the ignored SIGPIPE */
    setpgid(0, 0);
    bool ready = dup2(launch->in, STDIN_FILENO) >= 0 && dup2(launch->out, STDOUT_FILENO) >= 0 &&
                 dup2(launch->error, STDERR_FILENO) >= 0 && dup2(launch->report, 3) >= 0 &&
                 fcntl(3, F_SETFD, FD_CLOEXEC) == 0;
    close_range(4, ~0U, 0);
    if (ready && confine_enter(launch->plan, &failure.step) == 0)
        failure.step = -1;
    else
        ready = false;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* here: a change of users would have undone it */
    sigprocmask(SIG_SETMASK, &launch->mask, NULL);
    for (int tries = 0; ready && !is_orphan() && tries < EXEC_TRIES; tries++) {
        execve(launch->path, launch->arguments, launch->environment);
        if (errno != ETXTBSY)
            break;
        nanosleep(&pause, NULL);
    }
    failure.error = errno;
    ssize_t told = write(3, &failure, sizeof failure);
    _exit(told == (ssize_t)sizeof failure ? 127 : 126);
}

/* Like vfork, so that no other thread's lock or memory is copied; but on a stack of its own and with the
 * plan's namespaces. Signals wait until the child has its own. */
static pid_t fork_child(struct launch *launch)
{
    sigset_t all;
    char *stack = malloc(CHILD_STACK);
    if (stack == NULL)
        return -1;
#ifdef CONFINE_SANITIZED
    const int share = 0;
#else
    const int share = CLONE_VM | CLONE_VFORK;
#endif
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &launch->mask);
    pid_t pid =
        clone(run_child, stack + CHILD_STACK, share | SIGCHLD | confine_plan_flags(launch->plan), launch);
    int why = errno;
    pthread_sigmask(SIG_SETMASK, &launch->mask, NULL);
    free(stack);
    errno = why;
    return pid;
}

/* A pipe whose ends are above the numbers the child fills. */
static int open_pipe(int ends[2])
{
    int low[2];
    if (pipe2(low, O_CLOEXEC) != 0)
        return -1;
    ends[0] = fcntl(low[0], F_DUPFD_CLOEXEC, 10);
    ends[1] = fcntl(low[1], F_DUPFD_CLOEXEC, 10);
    close(low[0]);
    close(low[1]);
    return ends[0] < 0 || ends[1] < 0 ? -1 : 0;
}

static void close_all(int pipes[4][2])
{
    for (int i = 0; i < 4; i++)
        for (int end = 0; end < 2; end++)
            if (pipes[i][end] >= 0)
                close(pipes[i][end]);
}

static void take_end(int *ours, int *end)
{
    fcntl(*end, F_SETFL, O_NONBLOCK);
    *ours = *end;
    *end = -1;
}

/* Starts it with the pipes in the order in, out, error, report. 0, or -1 with what failed. */
static int start(struct program *program, struct launch *launch, int pipes[4][2], struct failure *failure)
{
    launch->in = pipes[0][0];
    launch->out = pipes[1][1];
    launch->error = pipes[2][1];
    launch->report = pipes[3][1];
    pick_environment(launch->environment);
    *failure = (struct failure){.step = -1};
    program->pid = fork_child(launch);
    failure->error = errno;
    if (program->pid < 0)
        return -1;
    for (int i = 0; i < 4; i++) {
        int theirs = i == 0 ? 0 : 1;
        close(pipes[i][theirs]);
        pipes[i][theirs] = -1;
    }
    ssize_t got;
    do
        got = read(pipes[3][0], failure, sizeof *failure);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof *failure ? -1 : 0;
}

/* Opens the pipes, starts it, keeps our ends. */
static int launch_program(struct program *program, struct launch *launch, struct failure *failure)
{
    int pipes[4][2] = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    int result = 0;
    *failure = (struct failure){.step = -1};
    for (int i = 0; i < 4 && result == 0; i++)
        if ((result = open_pipe(pipes[i])) != 0)
            failure->error = errno;
    if (result == 0)
        result = start(program, launch, pipes, failure);
    if (result == 0) {
        take_end(&program->in, &pipes[0][1]);
        take_end(&program->out, &pipes[1][0]);
        take_end(&program->error, &pipes[2][0]);
    }
    close_all(pipes);
    return result;
}

static void tell_failure(const struct failure *failure, char *reason, size_t reason_size)
{
    if (failure->step >= 0)
        snprintf(reason, reason_size, "it cannot be confined: %s: %s", confine_step_text(failure->step),
                 strerror(failure->error));
    else
        snprintf(reason, reason_size, "it cannot be run: %s%s", strerror(failure->error),
                 failure->error == ENOEXEC ? " (a script needs a first line like `#!/bin/sh`)" : "");
}

struct program *program_start(const char *path, char *const arguments[], const struct confine *confine,
                              atomic_bool *stop, char *reason, size_t reason_size)
{
    char *const alone[] = {(char *)(uintptr_t)path, NULL};
    struct failure failure;
    struct launch launch = {.path = path, .arguments = arguments != NULL ? arguments : alone};
    struct program *program = malloc(sizeof *program);
    if (program == NULL) {
        snprintf(reason, reason_size, "not enough memory");
        return NULL;
    }
    memset(program, 0, offsetof(struct program, buffer));
    program->in = program->out = program->error = -1;
    program->pid = -1;
    program->stop = stop;
    launch.plan = confine_plan_create(confine, reason, reason_size);
    int result = launch.plan != NULL ? launch_program(program, &launch, &failure) : -1;
    if (launch.plan != NULL && result != 0)
        tell_failure(&failure, reason, reason_size);
    confine_plan_destroy(launch.plan);
    if (result == 0)
        return program;
    program_destroy(program);
    return NULL;
}

/* --- ending --- */

void program_destroy(struct program *program)
{
    if (program == NULL)
        return;
    if (program->pid > 0) {
        kill(-program->pid, SIGKILL); /* its group, which is its own since before exec */
        kill(program->pid, SIGKILL);
        while (waitpid(program->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    const int ends[] = {program->in, program->out, program->error};
    for (size_t i = 0; i < 3; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    free(program);
}

/* --- its standard error --- */

/* Read and thrown away beyond the bound, so that a talkative program never blocks. */
static void drain_error(struct program *program)
{
    char bytes[1024];
    for (ssize_t got; program->error >= 0;) {
        got = read(program->error, bytes, sizeof bytes);
        if (got < 0)
            return;
        if (got == 0) {
            close(program->error);
            program->error = -1;
            return;
        }
        size_t room = PROGRAM_STDERR_MAX - program->error_filled;
        size_t kept = (size_t)got < room ? (size_t)got : room;
        memcpy(program->error_text + program->error_filled, bytes, kept);
        program->error_filled += kept;
        program->error_text[program->error_filled] = '\0';
    }
}

/* --- talking --- */

void program_stop_by(struct program *program, atomic_bool *stop)
{
    program->stop = stop;
}

static _Thread_local atomic_uint *pulse_here;

void program_pulse_here(atomic_uint *pulse)
{
    pulse_here = pulse;
}

struct program_wait program_wait_begin(int wait_ms)
{
    int64_t now_ms = progress_now_ms();
    return (struct program_wait){.deadline_ms = now_ms + wait_ms, .silent_ms = now_ms};
}

/* Of its whole wait, or of its silence, whichever ends first. */
static int64_t wait_left(const struct program_wait *wait)
{
    int64_t now_ms = progress_now_ms(), left_ms = wait->deadline_ms - now_ms;
    int64_t silence_ms = wait->silent_ms + wait->silence_ms - now_ms;
    return wait->silence_ms > 0 && silence_ms < left_ms ? silence_ms : left_ms;
}

/* Waits until its output can be read (or, with `writing`, its input written), a slice at a time. */
static enum program_error wait_ready(struct program *program, const struct program_wait *wait, bool writing)
{
    for (;;) {
        struct pollfd fds[2] = {
            {.fd = writing ? program->in : program->out, .events = (short)(writing ? POLLOUT : POLLIN)},
            {.fd = program->error, .events = POLLIN}};
        int64_t left = wait_left(wait);
        if (pulse_here != NULL)
            atomic_fetch_add_explicit(pulse_here, 1, memory_order_relaxed);
        if (program->stop != NULL && atomic_load_explicit(program->stop, memory_order_relaxed))
            return PROGRAM_ERROR_STOPPED;
        if (left <= 0)
            return PROGRAM_ERROR_DEADLINE;
        int ready = poll(fds, 2, left < SLICE_MS ? (int)left : SLICE_MS);
        if (ready < 0 && errno != EINTR)
            return PROGRAM_ERROR_OVER;
        if (ready > 0 && fds[1].revents != 0)
            drain_error(program);
        if (ready > 0 && fds[0].revents != 0)
            return PROGRAM_OK;
    }
}

enum program_error program_say_text(struct program *program, int wait_ms, const char *text, size_t size)
{
    struct program_wait wait = program_wait_begin(wait_ms);
    while (size > 0) {
        ssize_t wrote = write(program->in, text, size);
        if (wrote > 0) {
            text += wrote;
            size -= (size_t)wrote;
            continue;
        }
        if (wrote < 0 && errno != EAGAIN && errno != EINTR)
            return PROGRAM_ERROR_OVER;
        enum program_error error = wait_ready(program, &wait, true);
        if (error != PROGRAM_OK)
            return error;
    }
    return PROGRAM_OK;
}

enum program_error program_say(struct program *program, int wait_ms, const char *format, ...)
{
    char line[4096];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (size < 0 || size >= (int)sizeof line - 1)
        return PROGRAM_ERROR_NONSENSE;
    line[size] = '\n';
    return program_say_text(program, wait_ms, line, (size_t)size + 1);
}

/* The next whole line of the buffer, or NULL. */
static char *buffered_line(struct program *program)
{
    char *start = program->buffer + program->taken;
    char *end = memchr(start, '\n', program->filled - program->taken);
    if (end == NULL)
        return NULL;
    *end = '\0';
    program->taken += (size_t)(end - start) + 1;
    if (end > start && end[-1] == '\r')
        end[-1] = '\0';
    return start;
}

/* Reads once more behind what is there. */
static enum program_error fill(struct program *program, struct program_wait *wait)
{
    memmove(program->buffer, program->buffer + program->taken, program->filled - program->taken);
    program->filled -= program->taken;
    program->taken = 0;
    if (program->filled == sizeof program->buffer || wait->bytes > PROGRAM_OUTPUT_MAX)
        return PROGRAM_ERROR_NONSENSE;
    ssize_t got =
        read(program->out, program->buffer + program->filled, sizeof program->buffer - program->filled);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? PROGRAM_OK : PROGRAM_ERROR_OVER;
    if (got == 0)
        return PROGRAM_ERROR_OVER;
    if (memchr(program->buffer + program->filled, '\0', (size_t)got) != NULL)
        return PROGRAM_ERROR_NONSENSE;
    program->filled += (size_t)got;
    wait->bytes += (size_t)got;
    return PROGRAM_OK;
}

enum program_error program_hear(struct program *program, struct program_wait *wait, const char **line)
{
    for (;;) {
        *line = buffered_line(program);
        if (*line != NULL) {
            wait->silent_ms = progress_now_ms();
            return PROGRAM_OK;
        }
        enum program_error error = wait_ready(program, wait, false);
        if (error == PROGRAM_OK)
            error = fill(program, wait);
        if (error != PROGRAM_OK)
            return error;
    }
}

void program_end_text(struct program *program, char *text, size_t size)
{
    int64_t deadline = progress_now_ms() + END_MS;
    const struct timespec pause = {.tv_nsec = 1000000};
    char complaint[160];
    siginfo_t end = {.si_pid = 0};
    /* Looked at and left there: until program_destroy has killed its group, its number must not go to
     * another. */
    while (waitid(P_PID, (id_t)program->pid, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid == 0 &&
           progress_now_ms() < deadline)
        nanosleep(&pause, NULL);
    drain_error(program);
    text_clean(program->error_text, complaint, sizeof complaint);
    const char *quote = complaint[0] != '\0' ? "\"" : "";
    const char *says = complaint[0] != '\0' ? ", and wrote " : "";
    if (end.si_pid == 0)
        snprintf(text, size, "it closed its output and runs on%s%s%s%s", says, quote, complaint, quote);
    else if (end.si_code == CLD_EXITED)
        snprintf(text, size, "it exited with status %d%s%s%s%s", end.si_status, says, quote, complaint,
                 quote);
    else
        snprintf(text, size, "it was killed by signal %d%s%s%s%s", end.si_status, says, quote, complaint,
                 quote);
}
