#include "coordinator/cli/output.h"

#include <errno.h>
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

int output_open(struct output *output, const char *path, bool force)
{
    *output = (struct output){.file = stdout, .path = path, .force = force};
    if (!path)
        return COMMAND_DONE;
    if (!force && access(path, F_OK) == 0)
        return refuse_existing(path);
    int length = snprintf(output->temporary, sizeof output->temporary, "%s.XXXXXX", path);
    if (length < 0 || (size_t)length >= sizeof output->temporary)
        return args_refuse("the file name is too long");
    int fd = mkstemp(output->temporary);
    if (fd < 0)
        return args_refuse("%s cannot be written: %s", path, strerror(errno));
    mode_t mask = umask(0);
    umask(mask);
    output->file = fchmod(fd, 0666 & ~mask) == 0 ? fdopen(fd, "w") : NULL;
    if (output->file)
        return COMMAND_DONE;
    args_refuse("%s cannot be written: %s", path, strerror(errno));
    close(fd);
    unlink(output->temporary);
    return COMMAND_REFUSED;
}

/* Without force the name must still be free: link says so in one step, where the file system knows links. */
static int place(const struct output *output)
{
    if (output->force)
        return rename(output->temporary, output->path);
    if (link(output->temporary, output->path) == 0)
        return unlink(output->temporary);
    if (errno == EEXIST)
        return -1;
    return rename(output->temporary, output->path);
}

int output_commit(struct output *output)
{
    FILE *file = output->file;
    output->file = NULL;
    if (!output->path)
        return fflush(file) == 0 && !ferror(file) ? COMMAND_DONE
                                                  : args_refuse("the output cannot be written");
    bool good = !ferror(file) && fflush(file) == 0 && fsync(fileno(file)) == 0;
    int why = errno;
    good = fclose(file) == 0 && good;
    if (good && place(output) == 0)
        return COMMAND_DONE;
    why = good ? errno : why;
    unlink(output->temporary);
    return why == EEXIST ? refuse_existing(output->path)
                         : args_refuse("%s cannot be written: %s", output->path, strerror(why));
}

void output_abandon(struct output *output)
{
    if (output->path && output->file) {
        fclose(output->file);
        unlink(output->temporary);
    }
    output->file = NULL;
}
