/* A program run as a child process and spoken to by lines over pipes (another build of the engine, DESIGN
 * section 7). It is confined (confine.h), gets nothing of ours but its three streams and a small environment,
 * lies in a process group of its own, dies when the thread that started it ends, and is killed with its whole
 * group. Every wait has a deadline. One thread at a time; the starting thread must live as long as the
 * program, and SIGPIPE must be ignored. */
#ifndef KROO_PROTO_PROGRAM_H
#define KROO_PROTO_PROGRAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/confine.h"

enum {
    PROGRAM_LINE_MAX = 16 * 1024,         /* a longer line of the program is nonsense */
    PROGRAM_OUTPUT_MAX = 4 * 1024 * 1024, /* bytes it may say in one wait */
    PROGRAM_STDERR_MAX = 1024,            /* bytes kept of its standard error; the rest is thrown away */
};

enum program_error {
    PROGRAM_OK = 0,
    PROGRAM_ERROR_START = -1,    /* cannot be run: the reason says why */
    PROGRAM_ERROR_OVER = -2,     /* it has ended, or closed its streams */
    PROGRAM_ERROR_DEADLINE = -3, /* it was silent too long */
    PROGRAM_ERROR_NONSENSE = -4, /* a line too long or with a NUL, or too many of them */
    PROGRAM_ERROR_STOPPED = -5,  /* `stop` was set meanwhile */
};

struct program;

/* Starts `path` (absolute, executable; among the files of `confine` where it is not the system's) in its own
 * folder, where it has one, else in `/`. `arguments` as for execv; NULL: none. NULL with the reason. When
 * `stop` (may be NULL) is set, every wait ends. */
struct program *program_start(const char *path, char *const arguments[], const struct confine *confine,
                              atomic_bool *stop, char *reason, size_t reason_size);
/* Another `stop` from now on. */
void program_stop_by(struct program *program, atomic_bool *stop);
/* Kills it with its group, waits for its end; takes NULL. */
void program_destroy(struct program *program);

/* Writes a line and its end within `wait_ms`; the program must read on. */
enum program_error program_say(struct program *program, int wait_ms, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with text of any length. */
enum program_error program_say_text(struct program *program, int wait_ms, const char *text, size_t size);

/* From now on `pulse` (NULL: none), which must outlive its use, grows while this thread waits for any
 * program. */
void program_pulse_here(atomic_uint *pulse);

/* A wait for lines: one deadline and one bound of output for all lines until the wanted one. */
struct program_wait {
    int64_t deadline_ms;
    int64_t silence_ms,
        silent_ms; /* without a line for so long is too long, too (0: it is not); and since when */
    size_t bytes;
};
struct program_wait program_wait_begin(int wait_ms);
/* The next line without its end, valid until the next call. */
enum program_error program_hear(struct program *program, struct program_wait *wait, const char **line);

/* How it ended, for people: `it exited with status 3`, `it was killed by signal 11`; after an ERROR_OVER.
 * What it wrote to its standard error last follows in quotes. */
void program_end_text(struct program *program, char *text, size_t size);
const char *program_error_text(enum program_error error);

#endif
