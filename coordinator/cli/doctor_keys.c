/* Settings, endpoints and keys: what can be said before anybody is asked. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/connect.h"
#include "coordinator/cli/doctor.h"
#include "proto/keys.h"

enum { REASON = 512, PATH_LENGTH = 4096, SOCKET_PATH_MAX = 107 };

static bool is_local(const char *endpoint)
{
    static const char *const local[] = {"ipc://", "tcp://127.", "tcp://localhost", "tcp://[::1]"};
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if (strncmp(endpoint, local[i], strlen(local[i])) == 0)
            return true;
    return false;
}

static void check_socket_folder(struct doctor *doctor, const char *path)
{
    char folder[PATH_LENGTH];
    struct stat status;
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    if (!slash || strlen(path) > SOCKET_PATH_MAX)
        doctor_add(doctor, DOCTOR_ERROR, "settings", "endpoint", "name an absolute path of at most 107 bytes",
                   "ipc://%s is no path for a socket", path);
    else if (stat(folder, &status) != 0)
        doctor_add(doctor, DOCTOR_ERROR, "settings", "endpoint", "`kroo up` makes it and starts everything",
                   "the socket's folder %s: %s", folder, strerror(errno));
    else if ((status.st_mode & 077) != 0)
        doctor_add(doctor, DOCTOR_ERROR, "settings", "endpoint",
                   "`chmod 700` the folder: whoever reaches the socket may do everything, without a key",
                   "the socket's folder %s has the mode %04o", folder, (unsigned)(status.st_mode & 07777));
    else
        doctor_add(doctor, DOCTOR_OK, "settings", "endpoint", "", "ipc://%s, in a folder of its user alone",
                   path);
}

static void check_endpoint(struct doctor *doctor, const char *endpoint)
{
    bool has_keys =
        settings_get(doctor->settings, "key", NULL) && settings_get(doctor->settings, "server_key", NULL);
    if (strncmp(endpoint, "ipc://", 6) == 0)
        check_socket_folder(doctor, endpoint + 6);
    else if (strncmp(endpoint, "tcp://", 6) != 0)
        doctor_add(doctor, DOCTOR_ERROR, "settings", "endpoint", "write tcp://HOST:PORT or ipc:///PATH",
                   "%s is no address", endpoint);
    else if (!is_local(endpoint) && !has_keys)
        doctor_add(doctor, DOCTOR_ERROR, "settings", "endpoint",
                   "set `key` (`kroo key new NAME`) and `server_key` (the coordinator's .pub file)",
                   "%s is beyond this machine, and there each end needs a key", endpoint);
    else
        doctor_add(doctor, DOCTOR_OK, "settings", "endpoint", "", "%s", endpoint);
}

static void check_endpoints(struct doctor *doctor)
{
    const char *list = settings_get(doctor->settings, "endpoint", NULL);
    char text[1024], *rest = NULL;
    if (!list) {
        doctor_add(doctor, DOCTOR_WARNING, "settings", "endpoint",
                   "`kroo up` starts a private cluster; for another set `endpoint` or KROO_ENDPOINT",
                   "none is set: no coordinator can be asked");
        return;
    }
    snprintf(text, sizeof text, "%s", list);
    for (char *word = strtok_r(text, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest))
        check_endpoint(doctor, word);
}

static void check_secret(struct doctor *doctor, const char *setting)
{
    const char *path = settings_get(doctor->settings, setting, NULL);
    char reason[REASON];
    struct stat status;
    struct keys keys;
    if (!path)
        return;
    if (stat(path, &status) != 0)
        doctor_add(doctor, DOCTOR_ERROR, "keys", setting,
                   "copy the file there, or make one: `kroo key new NAME`", "%s: %s", path, strerror(errno));
    else if ((status.st_mode & 077) != 0)
        doctor_add(doctor, DOCTOR_ERROR, "keys", setting,
                   "`chmod 600` the file; if anybody may have read it, make another and revoke this one",
                   "%s has the mode %04o: others can read a secret", path,
                   (unsigned)(status.st_mode & 07777));
    else if (strcmp(setting, "key") == 0 && keys_load(path, &keys, reason, sizeof reason) != KEYS_OK)
        doctor_add(doctor, DOCTOR_ERROR, "keys", setting, "make another: `kroo key new NAME`", "%s", reason);
    else
        doctor_add(doctor, DOCTOR_OK, "keys", setting, "", "%s, of its user alone", path);
    keys_wipe(&keys);
}

static void check_public(struct doctor *doctor, const char *setting)
{
    const char *list = settings_get(doctor->settings, setting, NULL);
    char text[2048], reason[REASON], key[KEYS_TEXT], *rest = NULL;
    snprintf(text, sizeof text, "%s", list ? list : "");
    for (char *word = strtok_r(text, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest)) {
        /* A signing key has a form of its own: only whether it is there can be said here. */
        bool is_missing = strcmp(setting, "trust") == 0 && strchr(word, '/') && access(word, R_OK) != 0;
        bool is_bad =
            strcmp(setting, "server_key") == 0 && keys_public(word, key, reason, sizeof reason) != KEYS_OK;
        if (is_missing)
            snprintf(reason, sizeof reason, "%.400s: %s", word, strerror(errno));
        doctor_add(doctor, is_missing || is_bad ? DOCTOR_ERROR : DOCTOR_OK, "keys", setting,
                   "copy the .pub file from where the key was made", "%s",
                   is_missing || is_bad ? reason : word);
    }
}

static void check_file(struct doctor *doctor)
{
    char path[PATH_LENGTH];
    struct stat status;
    const char *dir = doctor->common.dir ? doctor->common.dir : getenv("KROO_DIR");
    const char *named = doctor->common.config ? doctor->common.config : getenv("KROO_CONFIG");
    snprintf(path, sizeof path, "%s%s",
             named && *named ? named
             : dir && *dir   ? dir
                             : "var",
             named && *named ? "" : "/kroo.conf");
    if (stat(path, &status) != 0)
        doctor_add(doctor, DOCTOR_OK, "settings", "file", "", "no %s: settings come from KROO_* variables",
                   path);
    else if (status.st_uid != geteuid() && status.st_uid != 0)
        doctor_add(doctor, DOCTOR_WARNING, "settings", "file",
                   "it decides which database and which keys are used: keep a copy of your own",
                   "%s belongs to another user (%u)", path, (unsigned)status.st_uid);
    else if ((status.st_mode & 022) != 0)
        doctor_add(doctor, DOCTOR_WARNING, "settings", "file",
                   "`chmod go-w` it: who writes it decides which database and which keys are used",
                   "%s has the mode %04o: others can write it", path, (unsigned)(status.st_mode & 07777));
    else
        doctor_add(doctor, DOCTOR_OK, "settings", "file", "", "%s", path);
}

void doctor_check_settings(struct doctor *doctor)
{
    int status;
    char reason[REASON];
    args_capture(reason, sizeof reason);
    doctor->settings = connect_settings(&doctor->common, &status);
    args_capture(NULL, 0);
    if (!doctor->settings) {
        doctor_add(doctor, DOCTOR_ERROR, "settings", "file",
                   status == COMMAND_NO_CONNECTION ? "`kroo up` starts a private cluster there"
                                                   : "correct the line that is named, or name another file",
                   "%s", reason);
        return;
    }
    check_file(doctor);
    check_endpoints(doctor);
    check_secret(doctor, "key");
    check_public(doctor, "server_key");
    check_secret(doctor, "sign");
    check_public(doctor, "trust");
}
