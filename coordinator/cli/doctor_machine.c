/* This machine: what the programs may use of it. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "coordinator/cli/doctor.h"

enum { MEMORY_GOOD_MIB = 512, MEMORY_LEAST_MIB = 128, DESCRIPTORS_GOOD = 1024, DESCRIPTORS_LEAST = 128 };

static void check_cores(struct doctor *doctor)
{
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int usable = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)online;
    doctor_add(doctor, usable < online ? DOCTOR_WARNING : DOCTOR_OK, "machine", "cores",
               "workers count all cores: give `kroo-worker --slots`, or `kroo up --workers`, so many",
               "%ld, %d of them usable by this process", online, usable);
}

/* A line `NAME: N kB` of a file of /proc; 0 when there is none. */
static uint64_t read_kib(const char *path, const char *name)
{
    char line[256];
    unsigned long long kib = 0;
    FILE *file = fopen(path, "re");
    while (file && kib == 0 && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            kib = strtoull(line + strlen(name), NULL, 10);
    if (file)
        fclose(file);
    return kib;
}

/* The limit of the control group, when there is one; 0 otherwise. */
static uint64_t group_limit_mib(void)
{
    static const char *const files[] = {"/sys/fs/cgroup/memory.max",
                                        "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    char text[32] = "";
    for (size_t i = 0; i < sizeof files / sizeof *files && text[0] == '\0'; i++) {
        FILE *file = fopen(files[i], "re");
        if (file && !fgets(text, sizeof text, file))
            text[0] = '\0';
        if (file)
            fclose(file);
    }
    uint64_t bytes = strtoull(text, NULL, 10); /* `max` is none */
    return bytes < UINT64_C(1) << 50 ? bytes / (1024 * 1024) : 0;
}

static void check_memory(struct doctor *doctor)
{
    struct rlimit limit;
    uint64_t mib = read_kib("/proc/meminfo", "MemAvailable:") / 1024, group = group_limit_mib();
    bool is_group = group > 0 && group < mib;
    const char *whose = is_group ? ", by the control group" : "";
    mib = is_group ? group : mib;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur / (1024 * 1024) < mib) {
        mib = limit.rlim_cur / (1024 * 1024);
        whose = ", by `ulimit -v`";
    }
    doctor_add(doctor,
               mib < MEMORY_LEAST_MIB  ? DOCTOR_ERROR
               : mib < MEMORY_GOOD_MIB ? DOCTOR_WARNING
                                       : DOCTOR_OK,
               "machine", "memory",
               "end other programs, raise the limit, or start fewer workers (`kroo up --workers`)",
               "%llu MiB available%s", (unsigned long long)mib, whose);
}

static void check_descriptors(struct doctor *doctor)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    bool is_unlimited = limit.rlim_cur == RLIM_INFINITY;
    doctor_add(doctor,
               is_unlimited || limit.rlim_cur >= DESCRIPTORS_GOOD ? DOCTOR_OK
               : limit.rlim_cur >= DESCRIPTORS_LEAST              ? DOCTOR_WARNING
                                                                  : DOCTOR_ERROR,
               "machine", "descriptors",
               "`ulimit -n 4096` before the start, or LimitNOFILE= in the unit: the coordinator needs one or "
               "two for "
               "each worker",
               "%llu open files at most", (unsigned long long)limit.rlim_cur);
}

static void check_limit(struct doctor *doctor, int resource, const char *check, const char *unit,
                        const char *mend)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0)
        return;
    if (limit.rlim_cur == RLIM_INFINITY)
        doctor_add(doctor, DOCTOR_OK, "machine", check, mend, "no limit");
    else
        doctor_add(doctor, DOCTOR_WARNING, "machine", check, mend,
                   "at most %llu %s, then a process is killed", (unsigned long long)limit.rlim_cur, unit);
}

void doctor_check_machine(struct doctor *doctor)
{
    check_cores(doctor);
    check_memory(doctor);
    check_descriptors(doctor);
    check_limit(doctor, RLIMIT_CPU, "processor time", "seconds",
                "`ulimit -t unlimited`, or LimitCPU=infinity in the unit; of a batch system: ask for more");
    check_limit(doctor, RLIMIT_FSIZE, "file size", "bytes",
                "`ulimit -f unlimited`, or LimitFSIZE=infinity in the unit");
    doctor_check_disk(doctor, "machine", "disk, temporary", "/tmp");
}
