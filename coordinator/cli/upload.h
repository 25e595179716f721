/* What `kroo engine add` and `kroo tables add` share: FILE, --name and --note, the file's bytes; and a
 * private executable copy of an engine. One thread. */
#ifndef KROO_COORDINATOR_CLI_UPLOAD_H
#define KROO_COORDINATOR_CLI_UPLOAD_H

#include "coordinator/cli/args.h"
#include "sql/store.h"

enum { UPLOAD_BYTES_MAX = 64 * 1024 * 1024, UPLOAD_PATH_MAX = 4096 };

struct upload {
    struct args_common common;
    const char *file, *name, *note;
    bool wanted; /* FILE and --name are */
};

extern const struct argp_option upload_options[];
/* Options above and FILE; its input is a struct upload. */
error_t upload_parse(int key, char *text, struct argp_state *state);

/* COMMAND_DONE, or said what is wrong with the name or the note. */
int upload_check(const struct upload *upload);
/* The whole file, of 1 to UPLOAD_BYTES_MAX bytes; malloc'ed. COMMAND_DONE, or said why not. */
int upload_read(const char *path, void **bytes, size_t *size);

/* `ls` of either: `sql` takes the number of letters of a hash, `empty` stands for no rows. */
int upload_list(const struct args_common *common, const char *sql, const char *empty);

/* A file of our own with mode 0500 in a folder of its own with mode 0700, so that what was hashed is what
 * runs. */
struct private_file {
    char folder[UPLOAD_PATH_MAX], path[UPLOAD_PATH_MAX + 80];
};
/* COMMAND_DONE, or said why not. */
int private_file_create(struct private_file *file, const void *bytes, size_t size);
void private_file_remove(struct private_file *file);

#endif
