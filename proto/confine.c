#include "proto/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ENTRIES_MAX = 40,
    NOBODY = 65534,
    PROBE_STACK = 128 * 1024,
    /* One user a program where ours may give users away, so that processes are counted for each alone: */
    USERS_FIRST = 0x60000000, /* 64 for each process number of ours */
};

enum how {
    HOW_LIMITS,
    HOW_USER_NAMESPACE, /* anybody may, where the machine lets them */
    HOW_SEPARATE_USER,  /* the superuser may: a user that nobody else is */
};

enum step {
    STEP_USER_MAP,
    STEP_ROOT,
    STEP_FILES,
    STEP_HIDE,
    STEP_WORK,
    STEP_SEAL,
    STEP_USER,
    STEP_LIMITS,
    STEP_SOCKETS,
};

static const char *const step_texts[] = {
    [STEP_USER_MAP] = "no user namespace of its own",
    [STEP_ROOT] = "no root of its own",
    [STEP_FILES] = "a file cannot be shown to it",
    [STEP_HIDE] = "a file cannot be hidden from it",
    [STEP_WORK] = "no folder of its own",
    [STEP_SEAL] = "its root cannot be made read-only",
    [STEP_USER] = "no user of its own",
    [STEP_LIMITS] = "no limits",
    [STEP_SOCKETS] = "sockets cannot be forbidden",
};

enum entry_kind { ENTRY_FOLDER, ENTRY_FILE, ENTRY_LINK };

struct entry {
    enum entry_kind kind;
    char from[CONFINE_PATH_MAX + 8]; /* below /old; a link's text */
    char to[CONFINE_PATH_MAX];
};

struct confine_plan {
    enum how how;
    struct confine limits; /* its files are in `entries` */
    char work[CONFINE_PATH_MAX + 8];
    char user_map[48], group_map[48];
    unsigned user;
    size_t count, system_count; /* the system's come first */
    struct entry entries[ENTRIES_MAX];
};

/* What every program needs to run at all; nothing of /etc but how libraries are found. */
static const char *const shown[] = {"/usr",
                                    "/bin",
                                    "/sbin",
                                    "/lib",
                                    "/lib32",
                                    "/lib64",
                                    "/libx32",
                                    "/nix/store",
                                    "/gnu/store",
                                    "/etc/ld.so.cache",
                                    "/etc/alternatives",
                                    "/etc/localtime",
                                    "/dev/null",
                                    "/dev/zero",
                                    "/dev/full",
                                    "/dev/random",
                                    "/dev/urandom"};

static struct {
    pthread_once_t once;
    enum how how;
    char why[256];
    size_t hidden_count;
    char hidden[CONFINE_HIDDEN_MAX][CONFINE_PATH_MAX];
} machine = {.once = PTHREAD_ONCE_INIT};

struct confine confine_player(void)
{
    return (struct confine){.memory_bytes = UINT64_C(2) << 30,
                            .file_bytes = CONFINE_WORK_BYTES,
                            .open_files = 64,
                            .processes = 64,
                            .cpu_seconds = 4 * 3600};
}

const char *confine_level_text(enum confine_level level)
{
    return level == CONFINE_NAMESPACES ? "namespaces" : "limits only";
}

const char *confine_step_text(int step)
{
    bool known = step >= 0 && step < (int)(sizeof step_texts / sizeof *step_texts);
    return known ? step_texts[step] : "it cannot be confined";
}

void confine_hide(const char *path)
{
    char whole[PATH_MAX];
    if (machine.hidden_count < CONFINE_HIDDEN_MAX && realpath(path, whole) != NULL &&
        strlen(whole) < CONFINE_PATH_MAX)
        memcpy(machine.hidden[machine.hidden_count++], whole, strlen(whole) + 1);
}

/* --- the plan --- */

static bool lies_below(const char *path, const char *folder)
{
    size_t size = strlen(folder);
    return strncmp(path, folder, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

/* 0, or -1 with errno. */
static int plan_add(struct confine_plan *plan, const char *from, const char *to, mode_t mode)
{
    errno = ENAMETOOLONG;
    if (plan->count == ENTRIES_MAX || strlen(from) >= CONFINE_PATH_MAX || strlen(to) >= CONFINE_PATH_MAX)
        return -1;
    struct entry *entry = &plan->entries[plan->count++];
    entry->kind = S_ISLNK(mode) ? ENTRY_LINK : S_ISDIR(mode) ? ENTRY_FOLDER : ENTRY_FILE;
    snprintf(entry->from, sizeof entry->from, "%s%s", S_ISLNK(mode) ? "" : "/old", from);
    memcpy(entry->to, to, strlen(to) + 1);
    return 0;
}

static int plan_system(struct confine_plan *plan)
{
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        struct stat status;
        char link[CONFINE_PATH_MAX];
        if (lstat(shown[i], &status) != 0)
            continue;
        ssize_t size = S_ISLNK(status.st_mode) ? readlink(shown[i], link, sizeof link - 1) : 0;
        if (size < 0)
            continue;
        link[size] = '\0';
        if (plan_add(plan, size > 0 ? link : shown[i], shown[i], status.st_mode) != 0)
            return -1;
    }
    plan->system_count = plan->count;
    return 0;
}

static bool is_shown(const char *path)
{
    bool found = false;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        found = found || lies_below(path, shown[i]);
    for (size_t i = 0; i < machine.hidden_count; i++)
        found = found && !lies_below(path, machine.hidden[i]);
    return found;
}

/* A file is shown under the path it was given by; what links lead to is looked up now. */
static int plan_file(struct confine_plan *plan, const char *path)
{
    char whole[PATH_MAX];
    struct stat status;
    if (realpath(path, whole) == NULL || stat(whole, &status) != 0)
        return -1;
    return is_shown(path) ? 0 : plan_add(plan, whole, path, status.st_mode);
}

struct confine_plan *confine_plan_create(const struct confine *confine, char *reason, size_t reason_size)
{
    static atomic_uint next_user;
    struct confine_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL) {
        snprintf(reason, reason_size, "not enough memory");
        return NULL;
    }
    confine_level(NULL);
    plan->how = machine.how;
    plan->limits = *confine;
    plan->user = USERS_FIRST + ((unsigned)getpid() & 0x3fffff) * 64 + atomic_fetch_add(&next_user, 1) % 64;
    snprintf(plan->user_map, sizeof plan->user_map, "%d %u 1", NOBODY, geteuid());
    snprintf(plan->group_map, sizeof plan->group_map, "%d %u 1", NOBODY, getegid());
    const char *failed = NULL;
    if (plan->how != HOW_LIMITS && plan_system(plan) != 0)
        failed = "/";
    for (size_t i = 0; i < CONFINE_FILES_MAX && failed == NULL; i++)
        if (confine->files[i] != NULL && plan->how != HOW_LIMITS && plan_file(plan, confine->files[i]) != 0)
            failed = confine->files[i];
    char whole[PATH_MAX];
    if (failed == NULL && confine->work != NULL) {
        if (realpath(confine->work, whole) == NULL || strlen(whole) >= CONFINE_PATH_MAX)
            failed = confine->work;
        else
            snprintf(plan->work, sizeof plan->work, "%s%s", plan->how == HOW_LIMITS ? "" : "/old", whole);
    }
    if (failed == NULL)
        return plan;
    snprintf(reason, reason_size, "it cannot be run: %.300s: %s", failed, strerror(errno));
    free(plan);
    return NULL;
}

void confine_plan_destroy(struct confine_plan *plan)
{
    free(plan);
}

int confine_plan_flags(const struct confine_plan *plan)
{
    static const int spaces = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC;
    return plan->how == HOW_LIMITS ? 0 : plan->how == HOW_USER_NAMESPACE ? spaces | CLONE_NEWUSER : spaces;
}

/* --- in the child: a root of its own --- */

static int put(const char *path, const char *text)
{
    size_t size = strlen(text);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    ssize_t wrote = write(file, text, size);
    close(file);
    return wrote == (ssize_t)size ? 0 : -1;
}

static int map_user(const struct confine_plan *plan)
{
    return put("/proc/self/setgroups", "deny") == 0 && put("/proc/self/uid_map", plan->user_map) == 0 &&
                   put("/proc/self/gid_map", plan->group_map) == 0
               ? 0
               : -1;
}

/* An empty root in memory; the machine's is below /old. */
static int new_root(void)
{
    umask(022);
    static const char at[] = "/usr"; /* any folder would do: it is uncovered again */
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                   mount("tmpfs", at, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755") == 0 &&
                   chdir(at) == 0 && mkdir("old", 0700) == 0 && syscall(SYS_pivot_root, ".", "old") == 0
               ? chdir("/")
               : -1;
}

static void make_parents(const char *path)
{
    char part[CONFINE_PATH_MAX];
    for (size_t at = 0; path[at] != '\0'; at++) {
        if (path[at] == '/' && at > 0) {
            part[at] = '\0';
            mkdir(part, 0755);
        }
        part[at] = path[at];
    }
}

/* Shows a folder or file, read-only with all that is mounted below it. */
static int show(const char *from, const char *to)
{
    struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID};
    if (mount(from, to, NULL, MS_BIND | MS_REC, NULL) != 0)
        return -1;
    return (int)syscall(SYS_mount_setattr, AT_FDCWD, to, AT_RECURSIVE, &attributes, sizeof attributes);
}

static int show_entry(const struct entry *entry)
{
    make_parents(entry->to);
    if (entry->kind == ENTRY_LINK)
        return symlink(entry->from, entry->to);
    if (entry->kind == ENTRY_FOLDER) {
        if (mkdir(entry->to, 0755) != 0 && errno != EEXIST)
            return -1;
    } else {
        int file = open(entry->to, O_WRONLY | O_CREAT | O_CLOEXEC, 0444);
        if (file < 0)
            return -1;
        close(file);
    }
    return show(entry->from, entry->to);
}

static int show_all(const struct confine_plan *plan, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (show_entry(&plan->entries[i]) != 0)
            return -1;
    return 0;
}

/* What lies inside the system's folders and is not for others is covered; a file of it that the program is
 * given is shown in what covers it. */
static int hide_all(void)
{
    for (size_t i = 0; i < machine.hidden_count; i++) {
        struct stat status;
        const char *path = machine.hidden[i];
        if (stat(path, &status) != 0)
            continue;
        int covered = S_ISDIR(status.st_mode)
                          ? mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "size=64k,mode=755")
                          : show("/old/dev/null", path);
        if (covered != 0)
            return -1;
    }
    return 0;
}

static int make_work(const struct confine_plan *plan)
{
    if (mkdir(CONFINE_WORK, 0755) != 0)
        return -1;
    if (plan->work[0] != '\0')
        return mount(plan->work, CONFINE_WORK, NULL, MS_BIND, NULL);
    return mount("tmpfs", CONFINE_WORK, "tmpfs", MS_NOSUID | MS_NODEV, "size=64m,nr_inodes=1024,mode=777");
}

/* Programs that look at themselves need /proc; a container may forbid it, and most live without. */
static void make_proc(void)
{
    if (mkdir("/proc", 0555) == 0)
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
}

static int seal(void)
{
    struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY};
    if (umount2("/old", MNT_DETACH) != 0 || rmdir("/old") != 0)
        return -1;
    return (int)syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &attributes, sizeof attributes);
}

/* The system calls themselves: the library's functions would change the users of our other threads, too. */
static int become(unsigned user)
{
    return syscall(SYS_setgroups, 0, NULL) == 0 && syscall(SYS_setresgid, user, user, user) == 0 &&
                   syscall(SYS_setresuid, user, user, user) == 0
               ? 0
               : -1;
}

/* --- limits --- */

static int limit(int resource, rlim_t most)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)resource, &now) != 0)
        return -1;
    if (now.rlim_max == RLIM_INFINITY || now.rlim_max > most)
        now.rlim_max = most;
    if (now.rlim_cur == RLIM_INFINITY || now.rlim_cur > now.rlim_max)
        now.rlim_cur = now.rlim_max;
    return setrlimit((__rlimit_resource_t)resource, &now);
}

static int limit_all(const struct confine_plan *plan)
{
    const struct confine *limits = &plan->limits;
    int worst = limit(RLIMIT_CORE, 0) | limit(RLIMIT_FSIZE, limits->file_bytes) |
                limit(RLIMIT_NOFILE, limits->open_files) | limit(RLIMIT_CPU, limits->cpu_seconds) |
                limit(RLIMIT_MSGQUEUE, 0);
    /* Counted for a whole user: only where that user is this program's alone. */
    if (plan->how != HOW_LIMITS)
        worst |= limit(RLIMIT_NPROC, limits->processes);
#ifndef CONFINE_SANITIZED
    /* Its own writable memory; addresses, which also hold files and what is only reserved, more generously.
     */
    worst |= limit(RLIMIT_DATA, limits->memory_bytes) |
             limit(RLIMIT_AS, limits->memory_bytes + ((rlim_t)14 << 30));
#endif
    return worst;
}

/* --- no sockets --- */

#if defined __x86_64__
#define CONFINE_ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define CONFINE_ARCH AUDIT_ARCH_AARCH64
#elif defined __riscv && __riscv_xlen == 64
#define CONFINE_ARCH AUDIT_ARCH_RISCV64
#endif

#ifdef CONFINE_ARCH
#define REFUSE(call)                                                                                         \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1),                                                       \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (EPERM & SECCOMP_RET_DATA))

/* Refused: sockets of any kind (a cluster's own socket in the file system included), and what would reach
 * around that; leaving its process group, by which it is ended; looking into other processes. */
static int forbid_sockets(void)
{
    static const struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CONFINE_ARCH, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef __x86_64__
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), /* the same calls by other numbers */
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
#endif
        REFUSE(SYS_socket),
        REFUSE(SYS_io_uring_setup),
        REFUSE(SYS_setsid),
        REFUSE(SYS_setpgid),
        REFUSE(SYS_ptrace),
        REFUSE(SYS_process_vm_readv),
        REFUSE(SYS_process_vm_writev),
        REFUSE(SYS_pidfd_getfd),
        REFUSE(SYS_unshare),
        REFUSE(SYS_setns),
        REFUSE(SYS_mount),
        REFUSE(SYS_bpf),
        REFUSE(SYS_perf_event_open),
        REFUSE(SYS_keyctl),
        REFUSE(SYS_add_key),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof filter / sizeof *filter,
                                       .filter = (struct sock_filter *)(uintptr_t)filter};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
#else
static int forbid_sockets(void)
{
    return 0;
}
#endif

static int enter_root(const struct confine_plan *plan, int *step)
{
    *step = STEP_USER_MAP;
    if (plan->how == HOW_USER_NAMESPACE && map_user(plan) != 0)
        return -1;
    *step = STEP_ROOT;
    if (new_root() != 0)
        return -1;
    *step = STEP_FILES;
    if (show_all(plan, 0, plan->system_count) != 0)
        return -1;
    *step = STEP_HIDE;
    if (hide_all() != 0)
        return -1;
    *step = STEP_FILES;
    if (show_all(plan, plan->system_count, plan->count) != 0)
        return -1;
    *step = STEP_WORK;
    if (make_work(plan) != 0)
        return -1;
    make_proc();
    *step = STEP_SEAL;
    if (seal() != 0)
        return -1;
    *step = STEP_USER;
    return plan->how == HOW_SEPARATE_USER && become(plan->user) != 0 ? -1 : 0;
}

int confine_enter(struct confine_plan *plan, int *step)
{
    if (plan->how != HOW_LIMITS && enter_root(plan, step) != 0)
        return -1;
    *step = STEP_WORK;
    if (chdir(plan->how != HOW_LIMITS ? CONFINE_WORK : plan->work[0] != '\0' ? plan->work : "/") != 0)
        return -1;
    *step = STEP_LIMITS;
    if (limit_all(plan) != 0)
        return -1;
    *step = STEP_SOCKETS;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && forbid_sockets() == 0 ? 0 : -1;
}

/* --- what the machine allows --- */

struct probe {
    struct confine_plan *plan;
    int report;
};

static int probe_child(void *context)
{
    struct probe *probe = context;
    int failure[2] = {0, 0};
    if (confine_enter(probe->plan, &failure[1]) != 0) {
        failure[0] = errno;
        ssize_t told = write(probe->report, failure, sizeof failure);
        _exit(told == (ssize_t)sizeof failure ? 1 : 2);
    }
    _exit(0);
}

/* Tries it once with nothing to run. */
static bool probe(struct confine_plan *plan, char *why, size_t size)
{
    int pipes[2], failure[2] = {0, 0}, status = -1;
    char *stack = malloc(PROBE_STACK);
    if (stack == NULL || pipe2(pipes, O_CLOEXEC) != 0) {
        free(stack);
        return false;
    }
    struct probe context = {.plan = plan, .report = pipes[1]};
    /* Without CLONE_VM: a copy of this process, in which nothing of ours can be harmed. */
    pid_t pid = clone(probe_child, stack + PROBE_STACK, SIGCHLD | confine_plan_flags(plan), &context);
    if (pid < 0)
        snprintf(why, size, "the machine gives no namespaces: %s", strerror(errno));
    close(pipes[1]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (pid > 0 && status != 0 && read(pipes[0], failure, sizeof failure) == (ssize_t)sizeof failure)
        snprintf(why, size, "%s: %s", confine_step_text(failure[1]), strerror(failure[0]));
    close(pipes[0]);
    free(stack);
    return pid > 0 && status == 0;
}

static void find_out(void)
{
    struct confine_plan *plan = calloc(1, sizeof *plan);
    snprintf(machine.why, sizeof machine.why, "not enough memory");
    if (plan == NULL)
        return;
    plan->limits = confine_player();
    plan->user = USERS_FIRST + ((unsigned)getpid() & 0x3fffff) * 64;
    snprintf(plan->user_map, sizeof plan->user_map, "%d %u 1", NOBODY, geteuid());
    snprintf(plan->group_map, sizeof plan->group_map, "%d %u 1", NOBODY, getegid());
    if (plan_system(plan) == 0)
        for (enum how how = geteuid() == 0 ? HOW_SEPARATE_USER : HOW_USER_NAMESPACE;
             how != HOW_LIMITS && machine.how == HOW_LIMITS; how--) {
            plan->how = how;
            if (probe(plan, machine.why, sizeof machine.why)) {
                machine.how = how;
                machine.why[0] = '\0';
            }
        }
    free(plan);
}

enum confine_level confine_level(const char **why)
{
    pthread_once(&machine.once, find_out);
    if (why != NULL)
        *why = machine.why;
    return machine.how == HOW_LIMITS ? CONFINE_LIMITS : CONFINE_NAMESPACES;
}
