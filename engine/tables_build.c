#include "engine/tables_build.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/crc32c.h"
#include "engine/solver.h"

enum { CHUNK_BOARDS = 1 << 22 };

struct build {
    struct solver *solver;
    struct tables tables; /* what the header will say */
    int file;
    uint16_t *entries; /* a chunk, turned to bytes in place */
    size_t room;
    uint32_t checksum; /* of the entries written */
    double done;       /* boards of finished layers */
    tables_progress_told *told;
    void *context;
};

static void tell(struct build *build, int seeds, double share)
{
    double boards = build->done + (share < 1 ? share * (double)index_layer_size(seeds) : 0);
    int last = build->tables.seeds;
    struct tables_progress progress = {seeds, share, boards,
                                       (double)(index_layer_start(last) + index_layer_size(last))};
    if (build->told != NULL)
        build->told(build->context, &progress);
}

static void tell_solver(void *context, int seeds, double share)
{
    tell(context, seeds, share < 0.99 ? share : 0.99);
}

static enum tables_error write_all(int file, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    while (size > 0) {
        ssize_t written = write(file, at, size);
        if (written <= 0)
            return TABLES_ERROR_WRITE;
        at += written;
        size -= (size_t)written;
    }
    return TABLES_OK;
}

static enum tables_error write_layer(struct build *build)
{
    for (size_t segment = 0; segment < solver_segments(build->solver);) {
        size_t count;
        segment = solver_entries(build->solver, segment, build->entries, build->room, &count);
        uint8_t *bytes = (uint8_t *)build->entries;
        for (size_t i = 0; i < count; i++)
            bytes_put_u16(bytes + 2 * i, build->entries[i]);
        build->checksum = crc32c(build->checksum, bytes, 2 * count);
        enum tables_error error = write_all(build->file, bytes, 2 * count);
        if (error != TABLES_OK)
            return error;
    }
    return TABLES_OK;
}

static enum tables_error from_solver(enum solver_error error)
{
    switch (error) {
    case SOLVER_OK:
        return TABLES_OK;
    case SOLVER_ERROR_RULES:
        return TABLES_ERROR_UNSUPPORTED;
    case SOLVER_ERROR_MEMORY:
        return TABLES_ERROR_MEMORY;
    case SOLVER_ERROR_LINE:
        return TABLES_ERROR_LINE;
    }
    return TABLES_ERROR_MEMORY;
}

static enum tables_error build_layer(struct build *build, int seeds)
{
    enum tables_error error = from_solver(solver_next(build->solver));
    if (error == TABLES_OK)
        error = write_layer(build);
    if (error != TABLES_OK)
        return error;
    const struct solver_layer *facts = solver_layer(build->solver, seeds);
    build->tables.layers[seeds] = (struct tables_layer){
        .boards = (uint32_t)index_layer_size(seeds),
        .exact = facts->exact,
        .failed = (uint32_t)facts->failed,
        .plies = (uint16_t)facts->plies,
        .line = (uint16_t)facts->line,
    };
    if (facts->plies > build->tables.plies)
        build->tables.plies = facts->plies;
    build->done += (double)index_layer_size(seeds);
    tell(build, seeds, 1);
    return TABLES_OK;
}

static enum tables_error write_file(struct build *build)
{
    uint8_t header[TABLES_HEADER_SIZE] = {0};
    enum tables_error error = write_all(build->file, header, sizeof header);
    for (int seeds = 0; seeds <= build->tables.seeds && error == TABLES_OK; seeds++)
        error = build_layer(build, seeds);
    if (error != TABLES_OK)
        return error;
    tables_put_header(&build->tables, build->checksum, header);
    bool written =
        pwrite(build->file, header, sizeof header, 0) == (ssize_t)sizeof header && fsync(build->file) == 0;
    return written ? TABLES_OK : TABLES_ERROR_WRITE;
}

/* A rename lasts once its folder is synced. */
static bool sync_folder(const char *path)
{
    char *folder = strdup(path);
    if (folder == NULL)
        return false;
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[slash == folder ? 1 : 0] = '\0';
    int opened = open(slash != NULL ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (opened < 0)
        return false;
    bool synced = fsync(opened) == 0;
    close(opened);
    return synced;
}

/* Opens a new file beside `path`; its name is malloc'ed. */
static enum tables_error open_beside(const char *path, char **name, int *file)
{
    size_t size = strlen(path) + sizeof ".XXXXXX";
    *name = malloc(size);
    if (*name == NULL)
        return TABLES_ERROR_MEMORY;
    snprintf(*name, size, "%s.XXXXXX", path);
    *file = mkostemp(*name, O_CLOEXEC);
    if (*file < 0) {
        free(*name);
        return TABLES_ERROR_WRITE;
    }
    fchmod(*file, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
    return TABLES_OK;
}

static enum tables_error write_beside(struct build *build, const char *path)
{
    char *name;
    enum tables_error error = open_beside(path, &name, &build->file);
    if (error != TABLES_OK)
        return error;
    error = write_file(build);
    if (close(build->file) != 0 && error == TABLES_OK)
        error = TABLES_ERROR_WRITE;
    if (error == TABLES_OK && rename(name, path) != 0)
        error = TABLES_ERROR_WRITE;
    if (error != TABLES_OK)
        unlink(name);
    else if (!sync_folder(path))
        error = TABLES_ERROR_WRITE;
    free(name);
    return error;
}

enum tables_error tables_build(const struct rules *rules, int seeds, int threads, const char *path,
                               tables_progress_told *told, void *context)
{
    struct build build = {
        .tables = {.seeds = seeds, .rules = tables_family(rules)},
        .told = told,
        .context = context,
    };
    build.tables.convention =
        solver_endless_is_zero(&build.tables.rules) ? TABLES_ENDLESS_ZERO : TABLES_OWN_ROWS;
    enum solver_error solver_error =
        solver_create(&build.tables.rules, seeds, threads, tell_solver, &build, &build.solver);
    if (solver_error != SOLVER_OK)
        return from_solver(solver_error);
    build.room = solver_entries_room(build.solver) + CHUNK_BOARDS;
    uint64_t boards = (tables_file_size(seeds) - TABLES_HEADER_SIZE) / 2;
    build.room = build.room < boards ? build.room : (size_t)boards;
    build.entries = malloc(build.room * sizeof *build.entries);
    enum tables_error error = build.entries != NULL ? write_beside(&build, path) : TABLES_ERROR_MEMORY;
    free(build.entries);
    solver_destroy(build.solver);
    return error;
}
