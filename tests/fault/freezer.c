/* Stops one thread of a process, as a fault of a core would: build/tests/fault/freezer PROCESS
 *
 * The thread is the one that has worked most and is not the first. It says `frozen` and holds it until it is
 * told to end (SIGTERM) or killed; then the thread goes on. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Clock ticks spent in user space; 0 when it is gone. */
static unsigned long ticks_of(int process, int thread)
{
    char path[64], text[1024];
    unsigned long ticks = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", process, thread);
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[size] = '\0';
    const char *behind_name = strrchr(text, ')');
    if (!behind_name ||
        sscanf(behind_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu", &ticks) != 1)
        return 0;
    return ticks + 1;
}

static int busiest_thread(int process)
{
    char path[64];
    int found = 0;
    unsigned long most = 0;
    snprintf(path, sizeof path, "/proc/%d/task", process);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        int thread = atoi(entry->d_name);
        unsigned long ticks = thread > 0 && thread != process ? ticks_of(process, thread) : 0;
        if (ticks > most) {
            most = ticks;
            found = thread;
        }
    }
    if (folder)
        closedir(folder);
    return found;
}

int main(int argc, char **argv)
{
    int process = argc == 2 ? atoi(argv[1]) : 0;
    int thread = process > 0 ? busiest_thread(process) : 0, status;
    if (thread == 0) {
        fprintf(stderr, "usage: freezer PROCESS (that has threads)\n");
        return 2;
    }
    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) != 0 || ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0 ||
        waitpid(thread, &status, __WALL) != thread) {
        fprintf(stderr, "freezer: thread %d: %s\n", thread, strerror(errno));
        return 1;
    }
    printf("frozen %d\n", thread);
    fflush(stdout);
    for (;;)
        pause(); /* dying lets it go */
}
