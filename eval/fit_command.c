#include "eval/fit_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eval/command.h"
#include "eval/fit_report.h"
#include "eval/report.h"
#include "proto/progress.h"

struct command {
    struct fit_request request;
    struct archive archive;
    struct train train;
    struct progress progress;
    struct fit_times times;
};

static int show_reading(void *context, const struct reader_counts *counts)
{
    struct command *command = context;
    progress_show(&command->progress, counts->games + counts->repeats + counts->unsampled, NULL);
    return command_stop;
}

static int show_fitting(void *context, uint64_t done, uint64_t total, const char *note)
{
    struct command *command = context;
    command->progress.total = total;
    progress_show(&command->progress, done, note);
    return command_stop;
}

static int finish(struct command *command, enum archive_status status, const char *state, const char *reason)
{
    fit_report_refusal(&command->request, &command->train, &command->archive, state, reason);
    return status == ARCHIVE_CONNECTION ? COMMAND_CONNECTION : COMMAND_REFUSED;
}

/* An end that the database prescribed. */
static int archive_finish(struct command *command, enum archive_status status)
{
    const char *state = status == ARCHIVE_REFUSED      ? "refused"
                        : status == ARCHIVE_CONNECTION ? "no connection"
                        : status == ARCHIVE_STOPPED    ? "stopped"
                                                       : "failed";
    return finish(command, status, state, command->archive.reason);
}

static bool write_output(const struct command *command)
{
    FILE *stream = fopen(command->request.output, "wb");
    if (!stream)
        return false;
    struct stat status;
    bool written = fwrite(command->train.bytes, 1, command->train.size, stream) == command->train.size;
    bool ordinary = fstat(fileno(stream), &status) == 0 && S_ISREG(status.st_mode);
    written = fclose(stream) == 0 && written;
    int error = errno;
    if (!written && ordinary)
        unlink(command->request.output); /* a cut file must not be taken for weights */
    errno = error;
    return written;
}

/* Leaves a training_run row for a run that read data, or was kept from it by what it found. */
static void record_failure(struct command *command, enum train_status status)
{
    if (command->request.dry_run || command->request.no_store || command->train.reader.source_count == 0)
        return;
    if (archive_record(&command->archive, &command->request, &command->train, status) != ARCHIVE_OK)
        fprintf(stderr, "kroo-train: the run could not be recorded: %s\n", command->archive.reason);
}

/* Before any game is read: a wrong path should not cost an hour. */
static enum archive_status open_tables(struct command *command)
{
    enum archive_status status =
        command_open_tables(&command->archive, &command->train, command->request.tables);
    if (command->train.tables)
        command->train.options.tables_seeds = command->train.tables->seeds;
    return status;
}

static enum archive_status read_games(struct command *command)
{
    struct reader *reader = &command->train.reader;
    int64_t started_ms = progress_now_ms();
    progress_init(&command->progress, "Reading", "games", 2 * command->archive.pairs, command->request.quiet);
    reader->report = show_reading;
    reader->report_context = command;
    enum archive_status status = archive_read(&command->archive, &command->train);
    progress_end(&command->progress, reader->counts.games + reader->counts.repeats + reader->counts.unsampled,
                 NULL);
    command->times.reading_s = (double)(progress_now_ms() - started_ms) / 1000.0;
    return status;
}

static enum train_status fit_games(struct command *command)
{
    int64_t started_ms = progress_now_ms();
    bool net = command->request.options.kind == WEIGHTS_NET;
    progress_init(&command->progress, "Fitting", net ? "positions" : "steps", 0, command->request.quiet);
    command->train.report = show_fitting;
    command->train.report_context = command;
    enum train_status status = train_run(&command->train);
    if (status == TRAIN_DONE)
        progress_end(&command->progress, command->progress.total, NULL);
    command->times.fitting_s = (double)(progress_now_ms() - started_ms) / 1000.0;
    if (status == TRAIN_DONE)
        perfect_judge(&command->train.reader.rules, command->train.tables, command->train.weights,
                      command->train.parent.weights, &command->train.reader.validation,
                      &command->train.perfect);
    return status;
}

static int end_output(const struct command *command)
{
    return command_end(command->request.no_store || command->request.dry_run ? "; nothing was to be stored"
                                                                             : "; the result is stored");
}

/* The weights are stored: the way to them is of no more use. */
static void remove_checkpoint(const struct command *command)
{
    if (command->request.options.checkpoint)
        unlink(command->request.options.checkpoint);
}

static int tell_data(struct command *command)
{
    enum train_status status = train_look(&command->train);
    if (status != TRAIN_DONE)
        return finish(command, ARCHIVE_REFUSED, "refused", command->train.reason);
    fit_report_data(&command->request, &command->train, &command->archive, command->times);
    return end_output(command);
}

/* After storing: a report that cannot be written does not cost the weights. */
static bool write_report(const struct command *command)
{
    char reason[TRAIN_TEXT];
    json_t *figures =
        fit_report_figures(&command->request, &command->train, &command->archive, command->times);
    int written = report_write(command->request.report, &command->train, figures, reason, sizeof reason);
    json_decref(figures);
    if (written != 0)
        fprintf(stderr, "kroo-train: %s%s\n", reason,
                command->request.no_store ? "" : "; the weights are stored");
    return written == 0;
}

static int store_result(struct command *command)
{
    if (command->request.output && !write_output(command)) {
        snprintf(command->train.reason, sizeof command->train.reason, "%s cannot be written: %s",
                 command->request.output, strerror(errno));
        record_failure(command, TRAIN_FAILED);
        return finish(command, ARCHIVE_FAILED, "failed", command->train.reason);
    }
    if (!command->request.no_store) {
        enum archive_status status =
            archive_record(&command->archive, &command->request, &command->train, TRAIN_DONE);
        if (status != ARCHIVE_OK)
            return archive_finish(command, status);
    }
    if (command->request.report && !write_report(command))
        return COMMAND_REFUSED;
    if (command->request.json)
        fit_report_json(&command->request, &command->train, &command->archive, command->times);
    else
        fit_report_text(&command->request, &command->train, &command->archive, command->times);
    remove_checkpoint(command);
    return end_output(command);
}

static int run(struct command *command)
{
    enum archive_status status =
        command_connect(&command->archive, command->request.config, command->request.database);
    if (status != ARCHIVE_OK)
        return archive_finish(command, status);
    status = archive_prepare(&command->archive, &command->request, &command->train);
    if (status == ARCHIVE_OK)
        status = open_tables(command);
    if (status == ARCHIVE_OK)
        status = read_games(command);
    if (status != ARCHIVE_OK) {
        snprintf(command->train.reason, sizeof command->train.reason, "%s", command->archive.reason);
        if (status != ARCHIVE_CONNECTION)
            record_failure(command, status == ARCHIVE_REFUSED ? TRAIN_REFUSED : TRAIN_FAILED);
        snprintf(command->archive.reason, sizeof command->archive.reason, "%s", command->train.reason);
        return archive_finish(command, status);
    }
    if (command->request.dry_run)
        return tell_data(command);
    enum train_status trained = fit_games(command);
    if (trained == TRAIN_DONE)
        return store_result(command);
    record_failure(command, trained);
    return finish(command, ARCHIVE_REFUSED,
                  trained == TRAIN_REFUSED   ? "refused"
                  : trained == TRAIN_STOPPED ? "stopped"
                                             : "failed",
                  command->train.reason);
}

int fit_command(int argc, char **argv)
{
    struct command *command = calloc(1, sizeof *command);
    if (!command) {
        fprintf(stderr, "kroo-train: memory is short\n");
        return COMMAND_REFUSED;
    }
    fit_request_parse(argc, argv, &command->request);
    command_catch_signals();
    int status = run(command);
    archive_close(&command->archive);
    train_done(&command->train);
    free(command);
    return status;
}
