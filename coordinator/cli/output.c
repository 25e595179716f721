#include "coordinator/cli/output.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/cli/args.h"
#include "coordinator/cli/commands.h"

static int refuse_existing(const char *path)
{
    return args_refuse("%s is there already: choose another name, or --force to replace it", path);
}

static int refuse_system(const char *path, int why)
{
    return args_refuse("%s cannot be written: %s", path, strerror(why));
}

static int open_temporary(struct output *output)
{
    snprintf(output->temporary, sizeof output->temporary, "%s.XXXXXX", output->path);
    int fd = mkstemp(output->temporary);
    if (fd < 0)
        return refuse_system(output->name, errno);
    mode_t mask = umask(0);
    umask(mask);
    output->file = fchmod(fd, 0666 & ~mask) == 0 ? fdopen(fd, "w") : NULL;
    output->renames = true;
    if (output->file)
        return COMMAND_DONE;
    int why = errno;
    close(fd);
    unlink(output->temporary);
    return refuse_system(output->name, why);
}

/* What is there and no ordinary file keeps its place: it is written into. */
static int open_special(struct output *output, const struct stat *there)
{
    if (S_ISDIR(there->st_mode))
        return args_refuse("%s is a folder: name a file", output->name);
    output->file = fopen(output->name, "w");
    return output->file ? COMMAND_DONE : refuse_system(output->name, errno);
}

int output_open(struct output *output, const char *path, bool force)
{
    struct stat there;
    char resolved[PATH_MAX];
    memset(output, 0, sizeof *output);
    output->file = stdout;
    output->name = path;
    output->force = force;
    if (!path)
        return COMMAND_DONE;
    bool exists = stat(path, &there) == 0;
    if (exists && !S_ISREG(there.st_mode))
        return open_special(output, &there);
    if (exists && !force)
        return refuse_existing(path);
    const char *place = exists ? realpath(path, resolved) : path;
    if (!place)
        return refuse_system(path, errno);
    int length = snprintf(output->path, sizeof output->path, "%s", place);
    if (length < 0 || (size_t)length >= sizeof output->path)
        return refuse_system(path, ENAMETOOLONG);
    return open_temporary(output);
}

/* Without force the name must still be free: link says so in one step, where the file system knows links. */
static int put_in_place(const struct output *output)
{
    if (output->force)
        return rename(output->temporary, output->path);
    if (link(output->temporary, output->path) == 0)
        return unlink(output->temporary);
    return errno == EEXIST ? -1 : rename(output->temporary, output->path);
}

int output_commit(struct output *output)
{
    FILE *file = output->file;
    output->file = NULL;
    if (!output->name)
        return fflush(file) == 0 && !ferror(file) ? COMMAND_DONE
                                                  : args_refuse("the output cannot be written");
    errno = EIO;
    bool good = !ferror(file) && fflush(file) == 0 && (!output->renames || fsync(fileno(file)) == 0);
    int why = errno;
    if (fclose(file) != 0 && good) {
        good = false;
        why = errno;
    }
    if (good && (!output->renames || put_in_place(output) == 0))
        return COMMAND_DONE;
    why = good ? errno : why;
    if (output->renames)
        unlink(output->temporary);
    return why == EEXIST ? refuse_existing(output->name) : refuse_system(output->name, why);
}

void output_abandon(struct output *output)
{
    if (output->name && output->file)
        fclose(output->file);
    if (output->renames)
        unlink(output->temporary);
    output->file = NULL;
}
