/* Processes of a private cluster: started in a session of their own with a log and a pid file, found again by
 * pid and start time (a recycled pid is nobody), stopped within a deadline. One thread. */
#ifndef KROO_COORDINATOR_CLI_DAEMON_H
#define KROO_COORDINATOR_CLI_DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { DAEMON_PATH = 4096 };

/* Runs a program to its end; its output goes to `log` (appended; NULL: /dev/null). With uid not 0 it runs as
 * that user. Returns its exit status, or -1 when it could not be run. */
int daemon_run(const char *const *command, uid_t uid, gid_t gid, const char *log);

/* Starts `command` with output to `log` and its pid in `pid_file`. 0, or -1 after saying why. */
int daemon_start(const char *const *command, const char *log, const char *pid_file);
/* The pid of the living process that wrote the file; 0 when there is none. */
pid_t daemon_pid(const char *pid_file);
/* SIGTERM now; the file stays until daemon_stop_wait. False when nothing runs. */
bool daemon_stop_ask(const char *pid_file);
/* Waits at most deadline_ms, then SIGKILL; removes the file. True when it ended by itself. */
bool daemon_stop_wait(const char *pid_file, int deadline_ms);
/* Waits until ready(context) or the process is gone or the deadline: 0, -1 gone, -2 deadline. */
int daemon_await(const char *pid_file, bool (*ready)(void *context), void *context, int deadline_ms);
/* The moment between two looks at something that takes time. */
void daemon_pause(void);
/* The last lines of a log on standard error. */
void daemon_show_log(const char *log, int lines);

#endif
