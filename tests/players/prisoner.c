/* A program that tries what a confined one must not do. One attempt a line; the answer is `done` or why not.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(bool done)
{
    if (done)
        puts("done");
    else
        printf("not: %s\n", strerror(errno));
}

static void try_socket(const char *family)
{
    int number = strcmp(family, "inet") == 0    ? AF_INET
                 : strcmp(family, "inet6") == 0 ? AF_INET6
                 : strcmp(family, "unix") == 0  ? AF_UNIX
                                                : AF_NETLINK;
    int made = socket(number, number == AF_NETLINK ? SOCK_RAW : SOCK_STREAM, 0);
    tell(made >= 0);
    if (made >= 0)
        close(made);
}

static void try_write(const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    tell(file >= 0 && write(file, "x", 1) == 1);
    if (file >= 0)
        close(file);
}

static void try_read(const char *path)
{
    int file = open(path, O_RDONLY);
    tell(file >= 0);
    if (file >= 0)
        close(file);
}

/* How much can be written to one file, in MiB. */
static void try_fill(const char *path)
{
    static char block[1 << 20];
    signal(SIGXFSZ, SIG_IGN);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), wrote = 0;
    while (file >= 0 && wrote < 1024 && write(file, block, sizeof block) == (ssize_t)sizeof block)
        wrote++;
    printf("%d\n", wrote);
    if (file >= 0) {
        close(file);
        unlink(path);
    }
}

/* How many children it can have at a time, up to a bound. */
static void try_fork(const char *most)
{
    int count = 0, bound = atoi(most);
    while (count < bound) {
        pid_t pid = fork();
        if (pid < 0)
            break;
        if (pid == 0)
            for (;;)
                pause();
        count++;
    }
    printf("%d\n", count);
}

/* How many MiB it can have and use, up to a bound. */
static void try_memory(const char *most)
{
    int count = 0, bound = atoi(most);
    while (count < bound) {
        char *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            break;
        memory[0] = 1;
        count++;
    }
    printf("%d\n", count);
}

static void try_kill(const char *pid)
{
    tell(kill((pid_t)atol(pid), 0) == 0);
}

static void try_leave(const char *unused)
{
    (void)unused;
    pid_t pid = fork();
    if (pid == 0)
        _exit(setsid() >= 0 ? 0 : 1);
    int status = -1;
    waitpid(pid, &status, 0);
    puts(status == 0 ? "done" : "not");
}

static void try_spin(const char *unused)
{
    (void)unused;
    for (volatile unsigned long i = 0;; i++)
        ;
}

static void who(const char *unused)
{
    (void)unused;
    char folder[256];
    printf("%s %d\n", getcwd(folder, sizeof folder) != NULL ? folder : "?", (int)getpid());
}

static const struct {
    const char *name;
    void (*act)(const char *argument);
} attempts[] = {
    {"socket", try_socket}, {"write", try_write},   {"read", try_read}, {"fill", try_fill},
    {"fork", try_fork},     {"memory", try_memory}, {"kill", try_kill}, {"leave", try_leave},
    {"spin", try_spin},     {"who", who},
};

int main(void)
{
    static char line[4096];
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *argument = line + strcspn(line, " ");
        if (*argument != '\0')
            *argument++ = '\0';
        for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++)
            if (strcmp(line, attempts[i].name) == 0)
                attempts[i].act(argument);
        fflush(stdout);
    }
    return 0;
}
