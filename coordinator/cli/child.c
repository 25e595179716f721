#include "coordinator/cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

static void become(const char *const *command, int out, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent || dup2(out, STDOUT_FILENO) < 0)
        _exit(127);
    execv(command[0], (char *const *)command);
    dprintf(STDERR_FILENO, "kroo: %s: %s\n", command[0], strerror(errno));
    _exit(127);
}

/* Reads to the end whatever comes, keeps what fits. */
static char *read_all(int fd)
{
    char *text = malloc(CHILD_OUTPUT_MAX + 1), rest[4096];
    size_t size = 0;
    for (;;) {
        size_t room = text ? CHILD_OUTPUT_MAX - size : 0;
        ssize_t got = room > 0 ? read(fd, text + size, room) : read(fd, rest, sizeof rest);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        if (room > 0)
            size += (size_t)got;
    }
    if (text)
        text[size] = '\0';
    return text;
}

const char *child_program(const char *name)
{
    static char path[PATH_SIZE + 32];
    ssize_t length = readlink("/proc/self/exe", path, PATH_SIZE - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    snprintf(slash ? slash + 1 : path, 32, "%s", name);
    return path;
}

int child_run(const char *const *command, char **output)
{
    int ends[2], status = 127 << 8;
    pid_t parent = getpid();
    *output = NULL;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return 127;
    pid_t pid = fork();
    if (pid == 0)
        become(command, ends[1], parent);
    close(ends[1]);
    *output = read_all(ends[0]);
    close(ends[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
