/* Who answers: the coordinator, its workers, their versions and clocks, results that nobody delivers. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/doctor.h"
#include "coordinator/cli/table.h"
#include "engine/build.h"
#include "proto/keys.h"
#include "proto/progress.h"

enum { PATIENCE_MS = 2500, CLOCK_WARN_MS = 2000, CLOCK_ERROR_MS = 60000, PATH_LENGTH = 4096, REASON = 512 };
enum { SEGMENT_HEADER = 8, DESCRIBED = 3 };

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

/* --- programs of this installation --- */

/* What `PROGRAM --version` says holds the engine's build; the trainer has a build of its own. */
static void check_program(struct doctor *doctor, const char *folder, const char *program)
{
    char command[PATH_LENGTH], line[256] = "";
    snprintf(command, sizeof command, "%.4000s/%s", folder, program);
    if (access(command, X_OK) != 0) {
        doctor_add(doctor, DOCTOR_WARNING, "versions", program, "install the whole release beside `kroo`",
                   "not in %s", folder);
        return;
    }
    snprintf(command, sizeof command, "'%.4000s/%s' --version 2>/dev/null", folder, program);
    FILE *pipe = strchr(folder, '\'') ? NULL : popen(command, "re");
    bool got = pipe && fgets(line, sizeof line, pipe);
    if (pipe)
        pclose(pipe);
    line[strcspn(line, "\n")] = '\0';
    if (got && strstr(line, engine_build()))
        doctor_add(doctor, DOCTOR_OK, "versions", program, "", "%s", line);
    else
        doctor_add(doctor, DOCTOR_ERROR, "versions", program, "install all programs of one release",
                   "it says \"%s\", this `kroo` is of %s", line, engine_build());
}

static void check_programs(struct doctor *doctor)
{
    char folder[PATH_LENGTH];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (length <= 0)
        return;
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    check_program(doctor, folder, "kroo-coordinator");
    check_program(doctor, folder, "kroo-worker");
    check_program(doctor, folder, "kroo-engine");
}

/* --- the coordinator --- */

/* Its status, with the clock against ours, as far as the way of the question lets that be told. */
static void ask_coordinator(struct doctor *doctor, struct coordinator_link *link)
{
    struct message request = {.kind = MESSAGE_STATUS_REQUEST}, reply;
    int64_t before = (int64_t)progress_wall_ms();
    if (link_ask(link, &request, MESSAGE_STATUS_REPLY, &reply) != COMMAND_DONE)
        return;
    int64_t after = (int64_t)progress_wall_ms();
    doctor->status = json_loads(reply.status_reply.json, 0, NULL);
    message_done(&reply);
    int64_t there = json_integer_value(json_object_get(doctor->status, "clock_ms"));
    doctor->clock_off_ms = there == 0       ? 0
                           : there < before ? there - before
                           : there > after  ? there - after
                                            : 0;
}

static void check_time(struct doctor *doctor, const char *whose, int64_t off_ms, const char *against)
{
    int64_t size = off_ms < 0 ? -off_ms : off_ms;
    doctor_add(doctor,
               size > CLOCK_ERROR_MS  ? DOCTOR_ERROR
               : size > CLOCK_WARN_MS ? DOCTOR_WARNING
                                      : DOCTOR_OK,
               "clock", whose, "let both machines keep the time: `timedatectl set-ntp true`, or chrony",
               "%lld ms %s %s", (long long)size, off_ms < 0 ? "behind" : "ahead of", against);
}

static void check_coordinator(struct doctor *doctor)
{
    char reason[REASON] = "";
    int status = COMMAND_DONE;
    if (!settings_get(doctor->settings, "endpoint", NULL))
        return;
    args_capture(reason, sizeof reason);
    struct coordinator_link *link = link_open_within(doctor->settings, PATIENCE_MS, &status);
    if (link) {
        snprintf(doctor->coordinator_build, sizeof doctor->coordinator_build, "%s", link_engine_build(link));
        ask_coordinator(doctor, link);
    }
    link_close(link);
    args_capture(NULL, 0);
    if (!doctor->status) {
        doctor_add(doctor, DOCTOR_ERROR, "coordinator", "reachable",
                   "start it (a private one: `kroo up`); see its log; off loopback `kroo key allow` this key",
                   "%s", reason);
        return;
    }
    doctor_add(doctor, DOCTOR_OK, "coordinator", "reachable", "", "it answers");
    const char *database = text_of(doctor->status, "database");
    doctor_add(doctor, strcmp(database, "up") == 0 ? DOCTOR_OK : DOCTOR_ERROR, "coordinator", "its database",
               "start the database; the coordinator comes back by itself", "%s", database);
    bool is_same = strcmp(doctor->coordinator_build, engine_build()) == 0;
    doctor_add(doctor, is_same ? DOCTOR_OK : DOCTOR_WARNING, "versions", "coordinator",
               "install the same release on both sides, and start the coordinator again", "%s%s%s",
               doctor->coordinator_build, is_same ? "" : "; this `kroo` is of ",
               is_same ? "" : engine_build());
    if (json_object_get(doctor->status, "clock_ms"))
        check_time(doctor, "coordinator", doctor->clock_off_ms, "ours");
}

/* --- this key on the allow-list --- */

static void check_allowed(struct doctor *doctor)
{
    const char *path = settings_get(doctor->settings, "key", NULL);
    char reason[REASON];
    struct keys keys;
    struct store_table table;
    if (!path || !doctor->store || keys_load(path, &keys, reason, sizeof reason) != KEYS_OK)
        return;
    const char *parameters[] = {keys.public_key};
    if (store_query(doctor->store,
                    "select name, role, to_char(revoked_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') from "
                    "kroo.peer where public_key = $1",
                    parameters, 1, &table) == STORE_OK) {
        if (table.rows == 0)
            doctor_add(doctor, DOCTOR_ERROR, "keys", "allow-list",
                       "`kroo key allow NAME FILE.pub --role operator`, by who has the database",
                       "the key of %s is not on it", path);
        else if (*store_cell(&table, 0, 2))
            doctor_add(doctor, DOCTOR_ERROR, "keys", "allow-list",
                       "make another key (`kroo key new`), and have it allowed",
                       "the key %s was revoked at %s", store_cell(&table, 0, 0), store_cell(&table, 0, 2));
        else
            doctor_add(doctor, DOCTOR_OK, "keys", "allow-list", "", "%s, as %s", store_cell(&table, 0, 0),
                       store_cell(&table, 0, 1));
        store_table_done(&table);
    }
    keys_wipe(&keys);
}

/* --- workers --- */

struct census {
    unsigned all, gone, aside, other_build, unfit, off;
    char gone_names[128], other_names[128], off_names[128];
};

static void remember(char names[128], unsigned known, const char *name)
{
    size_t used = strlen(names);
    if (known < DESCRIBED && used + strlen(name) + 8 < 128)
        snprintf(names + used, 128 - used, "%s%s", used > 0 ? ", " : "", name);
    else if (known == DESCRIBED && used + 5 < 128)
        strcpy(names + used, ", ...");
}

static void count_worker(const struct doctor *doctor, const json_t *worker, struct census *census)
{
    const char *name = text_of(worker, "name"), *state = text_of(worker, "state");
    int64_t off = json_integer_value(json_object_get(worker, "clock_off_ms"));
    census->all++;
    census->aside += strcmp(state, "set aside") == 0;
    census->unfit += *text_of(worker, "unfit") != '\0';
    if (strcmp(state, "gone") == 0)
        remember(census->gone_names, census->gone++, name);
    if (strcmp(text_of(worker, "engine_build"), doctor->coordinator_build) != 0)
        remember(census->other_names, census->other_build++, name);
    if (off > CLOCK_WARN_MS || off < -CLOCK_WARN_MS)
        remember(census->off_names, census->off++, name);
}

static void check_workers(struct doctor *doctor)
{
    struct census census = {0};
    const json_t *worker;
    size_t i;
    if (!doctor->status)
        return;
    json_array_foreach(json_object_get(doctor->status, "workers"), i, worker)
        count_worker(doctor, worker, &census);
    doctor_add(doctor, census.all == census.gone ? DOCTOR_WARNING : DOCTOR_OK, "workers", "connected",
               "`kroo up --workers N`, or `kroo-worker --endpoint ...` on any machine: nobody plays", "%u",
               census.all - census.gone);
    if (census.gone > 0)
        doctor_add(doctor, DOCTOR_WARNING, "workers", "heard of",
                   "look at their logs; `kroo why NAME` tells since when", "%u have not been for a while: %s",
                   census.gone, census.gone_names);
    if (census.aside > 0)
        doctor_add(doctor, DOCTOR_WARNING, "workers", "set aside",
                   "`kroo workers flags` tells why; `kroo workers restore NAME`", "%u get no work",
                   census.aside);
    doctor_add(doctor, census.other_build > 0 ? DOCTOR_ERROR : DOCTOR_OK, "versions", "workers",
               "install the coordinator's release there: games of another build are refused",
               census.other_build > 0 ? "%u of another build than the coordinator: %s"
                                      : "%u of another build%s",
               census.other_build, census.other_names);
    if (census.unfit > 0)
        doctor_add(doctor, DOCTOR_OK, "workers", "timed play", "", "%u unfit at this moment: `kroo why NAME`",
                   census.unfit);
    doctor_add(doctor, census.off > 0 ? DOCTOR_WARNING : DOCTOR_OK, "clock", "workers",
               "let their machines keep the time: `timedatectl set-ntp true`, or chrony",
               census.off > 0 ? "%u are more than 2 s off the coordinator's: %s"
                              : "%u are off the coordinator's%s",
               census.off, census.off_names);
}

/* --- experiments that cannot go on --- */

static void check_experiments(struct doctor *doctor)
{
    struct store_table table;
    const char *parameters[] = {doctor->coordinator_build};
    if (!doctor->store)
        return;
    if (store_query(
            doctor->store,
            "select string_agg(id::text, ', ' order by id) filter (where state = 'blocked'),"
            " string_agg(e.id::text, ', ' order by e.id) filter (where $1 <> '' and state = 'running' and"
            " exists (select from kroo.player p where p.id in (e.player_a, e.player_b) and p.engine_build"
            " <> $1 and p.engine_sha256 is null)) from kroo.experiment e",
            parameters, 1, &table) != STORE_OK)
        return;
    if (*store_cell(&table, 0, 0))
        doctor_add(doctor, DOCTOR_WARNING, "experiments", "blocked",
                   "`kroo show ID` tells why; then `kroo resume ID`", "%s", store_cell(&table, 0, 0));
    if (*store_cell(&table, 0, 1))
        doctor_add(doctor, DOCTOR_WARNING, "experiments", "engine build",
                   "finish them with the release that made them, or `kroo stop` them",
                   "%s: of another build than the coordinator's", store_cell(&table, 0, 1));
    store_table_done(&table);
}

/* --- results that wait on this machine --- */

static bool is_held(const char *folder)
{
    char path[PATH_LENGTH];
    snprintf(path, sizeof path, "%.4000s/lock", folder);
    int lock = open(path, O_RDONLY | O_CLOEXEC);
    bool held = lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) != 0;
    if (lock >= 0)
        close(lock);
    return held;
}

/* Bytes of records below `folder`/`part`. */
static uint64_t waiting_bytes(const char *folder, const char *part, const char *ending, unsigned *files)
{
    char path[PATH_LENGTH];
    uint64_t bytes = 0;
    snprintf(path, sizeof path, "%.4000s/%s", folder, part);
    DIR *list = opendir(path);
    for (struct dirent *entry; list && (entry = readdir(list)) != NULL;) {
        struct stat status;
        size_t length = strlen(entry->d_name), tail = strlen(ending);
        if (length < tail || strcmp(entry->d_name + length - tail, ending) != 0 ||
            fstatat(dirfd(list), entry->d_name, &status, 0) != 0 || status.st_size <= SEGMENT_HEADER)
            continue;
        ++*files;
        bytes += (uint64_t)status.st_size;
    }
    if (list)
        closedir(list);
    return bytes;
}

static void check_spool(struct doctor *doctor, const char *folder, unsigned *checked)
{
    unsigned segments = 0, refused = 0;
    uint64_t bytes = waiting_bytes(folder, "spool", ".spool", &segments);
    waiting_bytes(folder, "refused", ".txt", &refused);
    ++*checked;
    if (segments > 0 && !is_held(folder))
        doctor_add(doctor, DOCTOR_WARNING, "spool", "left over",
                   "start a worker on it, and they are delivered: `kroo-worker --state FOLDER`, or `kroo up`",
                   "%s: %llu bytes of results, and no worker that delivers them", folder,
                   (unsigned long long)bytes);
    if (refused > 0)
        doctor_add(doctor, DOCTOR_WARNING, "spool", "refused", "read them: each says why; then delete them",
                   "%s/refused: %u games", folder, refused);
}

static void check_spools(struct doctor *doctor)
{
    const char *state = settings_get(doctor->settings, "state", NULL);
    const char *dir = doctor->common.dir ? doctor->common.dir : settings_get(doctor->settings, "dir", "var");
    char folder[PATH_LENGTH];
    unsigned checked = 0;
    if (state)
        check_spool(doctor, state, &checked);
    DIR *list = opendir(dir);
    for (struct dirent *entry; list && (entry = readdir(list)) != NULL;) {
        if (strncmp(entry->d_name, "worker-", 7) != 0)
            continue;
        snprintf(folder, sizeof folder, "%.3800s/%.255s", dir, entry->d_name);
        check_spool(doctor, folder, &checked);
    }
    if (list) {
        closedir(list);
        doctor_check_disk(doctor, "spool", "disk", dir);
    }
    doctor_add(doctor, DOCTOR_OK, "spool", "folders", "", "%u looked at", checked);
}

void doctor_check_cluster(struct doctor *doctor)
{
    check_allowed(doctor);
    check_programs(doctor);
    check_coordinator(doctor);
    check_workers(doctor);
    check_experiments(doctor);
    check_spools(doctor);
}
