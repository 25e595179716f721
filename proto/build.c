#include "proto/build.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "proto/progress.h"
#include "proto/text.h"

enum { STEP_MS = 200, QUOTA_MS = 500, QUOTA_REST = 10, LAST_MAX = 200, PATH_BYTES = CONFINE_PATH_MAX };

/* The product is left where its name is ours; it stands there only when all before it went well. */
static const char script[] =
    "exec 2>&1 </dev/null; top=$PWD; mkdir sources && cd sources && tar -xf \"$0\" || exit 1; "
    "set -- \"$1\" \"$2\" *; [ $# -eq 3 ] && [ -d \"$3\" ] && cd \"$3\"; "
    "sh -c \"$1\" && cp -- \"$2\" \"$top/product.part\" && mv \"$top/product.part\" \"$top/product\"";

struct build {
    const struct build_request *request;
    char folder[PATH_BYTES];
    FILE *log;
    size_t logged;
    char last[LAST_MAX]; /* its last line */
};

static struct confine limits_of(const struct build *build)
{
    struct confine confine = confine_player();
    confine.files[0] = build->request->archive;
    confine.work = build->folder;
    confine.memory_bytes = UINT64_C(4) << 30;
    confine.file_bytes = UINT64_C(1) << 30;
    confine.open_files = 1024;
    confine.processes = 1024;
    return confine;
}

static void take_line(struct build *build, const char *line)
{
    size_t size = strlen(line) + 1;
    if (build->log != NULL && build->logged + size <= BUILD_LOG_MAX)
        fprintf(build->log, "%s\n", line);
    build->logged += size;
    if (*line != '\0')
        text_clean(line, build->last, sizeof build->last);
}

static void step(const struct build *build)
{
    if (build->request->steps != NULL)
        atomic_fetch_add(build->request->steps, 1);
}

/* --- how much of the disk it takes --- */

/* Of the walk below, which can be told nothing; one a thread. */
static _Thread_local struct {
    uint64_t bytes, files, files_max;
} used;

static int count_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)path, (void)type, (void)walk;
    used.bytes += 512 * (uint64_t)status->st_blocks;
    return ++used.files > used.files_max;
}

/* False, with the reason, when it takes too much. What it does between two looks is bounded by their distance
 * alone. */
static bool within_quota(const struct build *build, char reason[BUILD_REASON_MAX])
{
    const struct build_request *request = build->request;
    uint64_t bytes_max = request->disk_max > 0 ? request->disk_max : BUILD_DISK_MAX;
    struct statvfs disk;
    used.bytes = used.files = 0;
    used.files_max = request->files_max > 0 ? request->files_max : BUILD_FILES_MAX;
    nftw(build->folder, count_one, 16, FTW_PHYS | FTW_MOUNT);
    const char *last = build->last[0] != '\0' ? "; it said last: " : "";
    if (used.files > used.files_max)
        snprintf(reason, BUILD_REASON_MAX, "the build makes more than %llu files%s%s",
                 (unsigned long long)used.files_max, last, build->last);
    else if (used.bytes > bytes_max)
        snprintf(reason, BUILD_REASON_MAX, "the build takes more than %llu MiB of disk%s%s",
                 (unsigned long long)(bytes_max >> 20), last, build->last);
    else if (statvfs(build->folder, &disk) == 0 && (uint64_t)disk.f_bavail * disk.f_frsize < BUILD_DISK_LEFT)
        snprintf(reason, BUILD_REASON_MAX, "the build leaves less than %llu MiB free on its disk%s%s",
                 (unsigned long long)(BUILD_DISK_LEFT >> 20), last, build->last);
    else
        return true;
    return false;
}

/* Looks again after half a second, or ten times as long as the look took, if that is more. */
static bool tend_quota(const struct build *build, int64_t *next_ms, char reason[BUILD_REASON_MAX])
{
    int64_t began_ms = progress_now_ms();
    if (began_ms < *next_ms)
        return true;
    bool within = within_quota(build, reason);
    int64_t rest_ms = QUOTA_REST * (progress_now_ms() - began_ms);
    *next_ms = progress_now_ms() + (rest_ms > QUOTA_MS ? rest_ms : QUOTA_MS);
    return within;
}

/* Hears it to its end. 0, or -1 with the reason. */
static int hear_all(struct build *build, struct program *program, char reason[BUILD_REASON_MAX])
{
    int64_t until = progress_now_ms() + build->request->build_ms, next_ms = 0;
    for (;;) {
        struct program_wait wait = program_wait_begin(STEP_MS);
        const char *line;
        enum program_error error = program_hear(program, &wait, &line);
        step(build);
        if (error == PROGRAM_OK)
            take_line(build, line);
        if (error == PROGRAM_ERROR_OVER)
            return 0;
        if (!tend_quota(build, &next_ms, reason))
            return -1;
        if ((error == PROGRAM_OK || error == PROGRAM_ERROR_DEADLINE) && progress_now_ms() < until)
            continue;
        snprintf(reason, BUILD_REASON_MAX, "the build %s",
                 error == PROGRAM_ERROR_STOPPED    ? "was stopped"
                 : error == PROGRAM_ERROR_NONSENSE ? "says more in a line than any build should"
                                                   : "took too long");
        return -1;
    }
}

/* The product, which the build may have made anything of: only a plain file of a fair size is taken. */
static int take_product(const struct build *build, void **bytes, size_t *size, char reason[BUILD_REASON_MAX])
{
    char path[PATH_BYTES + 16];
    struct stat status;
    snprintf(path, sizeof path, "%s/product", build->folder);
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool plain = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
                 status.st_size <= ARTIFACT_BYTES_MAX;
    *bytes = plain ? malloc((size_t)status.st_size) : NULL;
    *size = plain ? (size_t)status.st_size : 0;
    size_t got = 0;
    for (ssize_t more = 1; *bytes != NULL && got < *size && more > 0; got += more > 0 ? (size_t)more : 0)
        more = read(file, (char *)*bytes + got, *size - got);
    if (file >= 0)
        close(file);
    if (*bytes != NULL && got == *size)
        return 0;
    free(*bytes);
    *bytes = NULL;
    snprintf(reason, BUILD_REASON_MAX, "the build gave no %.100s%s%s", build->request->set->product,
             build->last[0] != '\0' ? "; it said last: " : "", build->last);
    return -1;
}

static int run(struct build *build, void **bytes, size_t *size, char reason[BUILD_REASON_MAX])
{
    const struct build_request *request = build->request;
    char *const arguments[] = {(char *)(uintptr_t) "sh",
                               (char *)(uintptr_t) "-c",
                               (char *)(uintptr_t)script,
                               (char *)(uintptr_t)request->archive,
                               (char *)(uintptr_t)request->set->recipe,
                               (char *)(uintptr_t)request->set->product,
                               NULL};
    struct confine confine = limits_of(build);
    struct program *program =
        program_start("/bin/sh", arguments, &confine, request->stop, reason, BUILD_REASON_MAX);
    if (program == NULL)
        return -1;
    int result = hear_all(build, program, reason);
    program_destroy(program);
    return result == 0 ? take_product(build, bytes, size, reason) : -1;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    remove(path); /* what a build leaves unreadable stays, and is told of by the disk */
    return 0;
}

int build_program(const struct build_request *request, void **bytes, size_t *size,
                  char reason[BUILD_REASON_MAX])
{
    struct build build = {.request = request};
    *bytes = NULL;
    int length = snprintf(build.folder, sizeof build.folder, "%s/build-XXXXXX", request->scratch);
    if (length < 0 || (size_t)length >= sizeof build.folder || mkdtemp(build.folder) == NULL) {
        snprintf(reason, BUILD_REASON_MAX, "no folder to build in: %s", strerror(errno));
        return -1;
    }
    chmod(build.folder, 0777); /* it may run as a user of its own; the folder above is closed */
    build.log = request->log != NULL ? fopen(request->log, "we") : NULL;
    int result = run(&build, bytes, size, reason);
    if (build.log != NULL)
        fclose(build.log);
    nftw(build.folder, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    return result;
}
