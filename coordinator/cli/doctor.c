#include "coordinator/cli/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/parse.h"
#include "coordinator/cli/table.h"
#include "coordinator/cli/terminal.h"

enum { OPTION_DISK = 0x3000 };
enum { DISK_MIB = 1024, DISK_MIB_MAX = 1 << 30, INODES_MIN = 10000 };

static const char *const state_names[] = {"ok", "warning", "error"};

void doctor_add(struct doctor *doctor, enum doctor_state state, const char *area, const char *check,
                const char *mend, const char *format, ...)
{
    char *found = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&found, format, arguments) < 0)
        found = NULL;
    va_end(arguments);
    doctor->warnings += state == DOCTOR_WARNING;
    doctor->errors += state == DOCTOR_ERROR;
    json_array_append_new(doctor->findings,
                          json_pack("{s:s, s:s, s:s, s:s, s:s}", "area", area, "check", check, "state",
                                    state_names[state], "found", found ? found : "", "mend",
                                    state == DOCTOR_OK ? "" : mend));
    free(found);
}

void doctor_check_disk(struct doctor *doctor, const char *area, const char *check, const char *path)
{
    struct statvfs disk;
    if (statvfs(path, &disk) != 0) {
        doctor_add(doctor, DOCTOR_WARNING, area, check, "make the folder, or name another",
                   "%s: no such folder", path);
        return;
    }
    uint64_t mib = (uint64_t)disk.f_bavail * disk.f_frsize / (1024 * 1024);
    bool few_inodes = disk.f_files > 0 && disk.f_favail < INODES_MIN;
    enum doctor_state state = mib < doctor->disk_mib / 10            ? DOCTOR_ERROR
                              : mib < doctor->disk_mib || few_inodes ? DOCTOR_WARNING
                                                                     : DOCTOR_OK;
    doctor_add(doctor, state, area, check,
               few_inodes ? "delete files: the file system has no room for many more"
                          : "make room, or move it to a larger disk: with a full one everything waits",
               "%s: %llu MiB free%s", path, (unsigned long long)mib, few_inodes ? ", few files left" : "");
}

/* --- showing --- */

/* Words of `text` in lines that fit behind `indent`. */
static void print_wrapped(const char *text, size_t indent)
{
    size_t room = terminal_columns(stdout), at = indent;
    while (*text) {
        size_t length = strcspn(text, " ");
        char word[256];
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        if (room > indent + 20 && at > indent && at + terminal_width(word) >= room) {
            printf("\n%*s", (int)indent, "");
            at = indent;
        }
        fwrite(text, 1, length, stdout);
        at += terminal_width(word) + 1;
        text += length;
        if (*text)
            putchar(*text++);
    }
    putchar('\n');
}

static const char *member(const json_t *finding, const char *name)
{
    return json_string_value(json_object_get(finding, name));
}

static void print_finding(const json_t *finding)
{
    const char *state = member(finding, "state"), *mend = member(finding, "mend");
    printf("  %s%-8s%s%-16s ", terminal_begin(stdout, terminal_paint_of(state)), state, terminal_end(stdout),
           member(finding, "check"));
    print_wrapped(member(finding, "found"), 27);
    if (*mend) {
        printf("%27s%s-> %s", "", terminal_begin(stdout, TERMINAL_ACCENT), terminal_end(stdout));
        print_wrapped(mend, 30);
    }
}

/* Area by area, in the order in which they first came up. */
static void print_all(const struct doctor *doctor)
{
    const json_t *first, *finding;
    size_t i, j;
    json_array_foreach(doctor->findings, i, first)
    {
        const char *area = member(first, "area");
        bool is_known = false;
        json_array_foreach(doctor->findings, j, finding)
        {
            bool is_same = strcmp(member(finding, "area"), area) == 0;
            is_known = is_known || (is_same && j < i);
            if (!is_same || is_known)
                continue;
            if (j == i)
                printf("%s%s%s\n", terminal_begin(stdout, TERMINAL_STRONG), area, terminal_end(stdout));
            print_finding(finding);
        }
    }
    printf("%zu checks: %u errors, %u warnings\n", json_array_size(doctor->findings), doctor->errors,
           doctor->warnings);
}

static error_t doctor_parse(int key, char *text, struct argp_state *state)
{
    struct doctor *doctor = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &doctor->common;
        return 0;
    case OPTION_DISK:
        doctor->disk_mib = args_number(state, "--disk", text, 1, DISK_MIB_MAX);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int doctor_command(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"disk", OPTION_DISK, "MIB", 0,
         "What each disk should have left (default 1024 MiB); below a tenth of it is an error", 1},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = doctor_parse,
        .doc =
            "Check the machine (cores, memory, descriptors, disks, limits of time), the settings and keys, "
            "the "
            "database (version, migrations, durability, roles, room), the coordinator and the workers (who "
            "answers, versions, clocks, results that wait) and the web page, and say how to mend each "
            "finding. Nothing is "
            "changed. Exit status 0 without errors (there may be warnings), 1 with any.\v"
            "Examples:\n  kroo doctor\n  kroo doctor --json | jq '.findings[] | select(.state != \"ok\")'",
        .children = args_common_children};
    struct doctor doctor = {.disk_mib = DISK_MIB, .findings = json_array()};
    parse_line(&argp, argc, argv, &doctor);
    doctor_check_machine(&doctor);
    doctor_check_settings(&doctor);
    if (doctor.settings) {
        doctor_check_database(&doctor);
        doctor_check_cluster(&doctor);
        doctor_check_web(&doctor);
    }
    int status = doctor.errors > 0 ? COMMAND_REFUSED : COMMAND_DONE;
    if (doctor.common.json)
        table_json_print(json_pack("{s:i, s:i, s:O}", "errors", (int)doctor.errors, "warnings",
                                   (int)doctor.warnings, "findings", doctor.findings));
    else
        print_all(&doctor);
    store_close(doctor.store);
    json_decref(doctor.status);
    json_decref(doctor.findings);
    settings_destroy(doctor.settings);
    return status;
}
