/* What a program that is not ours may do on this machine (DESIGN section 7). Limits of memory, files,
 * processes and processor time, and no sockets, always; where the machine allows it, also namespaces of its
 * own: it then sees the system's programs and libraries, the files it was given, all read-only, and one
 * folder of its own, and neither a network nor another process. Any thread. */
#ifndef KROO_PROTO_CONFINE_H
#define KROO_PROTO_CONFINE_H

#include <stddef.h>
#include <stdint.h>

/* A sanitizer's program, like this one then, maps more than any limit would allow, and its bookkeeping is not
 * to be shared with a child. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define CONFINE_SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CONFINE_SANITIZED 1
#endif
#endif

enum {
    CONFINE_FILES_MAX = 6,   /* files a program is given */
    CONFINE_HIDDEN_MAX = 8,  /* paths that no program may see */
    CONFINE_PATH_MAX = 1024, /* bytes of a path, its NUL included */
    CONFINE_WORK_BYTES = 64 * 1024 * 1024,
};
/* Where its own folder is, in its own view; it starts there. */
#define CONFINE_WORK "/kroo.own"

struct confine {
    const char *files[CONFINE_FILES_MAX]; /* absolute; it reads them where they are. NULL: none */
    const char *work; /* absolute: becomes CONFINE_WORK, for writing; NULL: an empty one in memory, bounded */
    uint64_t memory_bytes; /* a process's own memory */
    uint64_t file_bytes;   /* a file it writes */
    uint32_t open_files, processes, cpu_seconds;
};
/* What a player gets. */
struct confine confine_player(void);

enum confine_level {
    CONFINE_LIMITS,     /* limits and no sockets; it sees the files its user sees */
    CONFINE_NAMESPACES, /* all of it */
};
/* What this machine allows, found out by the first call. `why` says what namespaces failed by, in a sentence
 * for people; "" where they work. */
enum confine_level confine_level(const char **why);
/* `namespaces`, or `limits only` */
const char *confine_level_text(enum confine_level level);

/* From now on no program that has namespaces sees this file or folder, wherever it lies. Before the first
 * program starts. */
void confine_hide(const char *path);

/* --- for program.c --- */

struct confine_plan;

/* All that the child will need, prepared before it exists: it may not allocate. NULL with the reason. */
struct confine_plan *confine_plan_create(const struct confine *confine, char *reason, size_t reason_size);
void confine_plan_destroy(struct confine_plan *plan);
/* Flags for clone(2). */
int confine_plan_flags(const struct confine_plan *plan);
/* In the child, which may share our memory: system calls only. 0, or -1 with errno and the step that failed.
 */
int confine_enter(struct confine_plan *plan, int *step);
const char *confine_step_text(int step);

#endif
