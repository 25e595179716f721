#include "worker/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/bytes.h"
#include "engine/crc32c.h"

enum {
    HEADER = 8,         /* of a segment */
    RECORD_HEADER = 12, /* magic, length, checksum */
    RECORD_MIN = 4,
    RECORD_MAX = 1024 * 1024, /* payload; two games of 16384 plies with scores need 98 KiB */
    SPOOL_PATH_MAX = 1200,
};
static const char segment_magic[HEADER] = {'K', 'R', 'O', 'O', 'S', 'P', 'L', '1'};
static const uint8_t record_magic[4] = {'K', 'R', 'P', 'R'};

struct record {
    uint32_t offset, size; /* of the whole record in its file */
};

struct segment {
    uint64_t number;
    uint32_t bytes; /* valid length of the file */
    struct record *records;
    size_t count, capacity;
};

struct spool {
    char *directory;
    uint64_t bytes_max;
    uint32_t segment_bytes;
    struct segment *segments; /* oldest first */
    size_t segment_count, segment_capacity;
    size_t head;          /* first record of segments[0] that is not acknowledged */
    int head_fd, tail_fd; /* segments[0] for reading; the last segment for appending; -1 = not open */
    uint64_t next_number;
    uint64_t bytes, pairs, lost;
    bool unsynced;
};

static enum spool_error fail(char *reason, size_t reason_size, const char *what, const char *path)
{
    snprintf(reason, reason_size, "cannot %s %s: %s", what, path, strerror(errno));
    return SPOOL_ERROR_FILE;
}

static void segment_path(const struct spool *spool, uint64_t number, char path[SPOOL_PATH_MAX])
{
    snprintf(path, SPOOL_PATH_MAX, "%s/%016" PRIx64 ".spool", spool->directory, number);
}

/* Makes room for one more record, so that the append itself cannot fail half-way. */
static int segment_reserve(struct segment *segment)
{
    if (segment->count < segment->capacity)
        return 0;
    size_t capacity = segment->capacity == 0 ? 64 : segment->capacity * 2;
    struct record *grown = realloc(segment->records, capacity * sizeof *grown);
    if (grown == NULL)
        return -1;
    segment->records = grown;
    segment->capacity = capacity;
    return 0;
}

static struct segment *spool_add_segment(struct spool *spool, uint64_t number)
{
    if (spool->segment_count == spool->segment_capacity) {
        size_t capacity = spool->segment_capacity == 0 ? 16 : spool->segment_capacity * 2;
        struct segment *grown = realloc(spool->segments, capacity * sizeof *grown);
        if (grown == NULL)
            return NULL;
        spool->segments = grown;
        spool->segment_capacity = capacity;
    }
    struct segment *segment = &spool->segments[spool->segment_count++];
    *segment = (struct segment){.number = number};
    return segment;
}

/* --- opening --- */

/* Size of the whole record at `at`, or 0 when there is none. */
static uint32_t record_check(const uint8_t *at, size_t left)
{
    if (left < RECORD_HEADER + RECORD_MIN || memcmp(at, record_magic, sizeof record_magic) != 0)
        return 0;
    uint32_t length = bytes_get_u32(at + 4);
    if (length < RECORD_MIN || length > RECORD_MAX || length > left - RECORD_HEADER)
        return 0;
    uint32_t crc = crc32c(crc32c(0, at + 4, 4), at + RECORD_HEADER, length);
    if (crc != bytes_get_u32(at + 8) || bytes_get_u32(at + RECORD_HEADER) > length - 4)
        return 0;
    return RECORD_HEADER + length;
}

/* Finds every whole record of a file's content; damage is passed over by looking for the next magic. */
static int segment_scan(struct segment *segment, const uint8_t *content, size_t size,
                        struct spool_report *report)
{
    size_t end = HEADER; /* behind the last whole record */
    for (size_t at = HEADER; at < size;) {
        uint32_t record = record_check(content + at, size - at);
        if (record == 0) {
            const uint8_t *next = memmem(content + at + 1, size - at - 1, record_magic, sizeof record_magic);
            if (next == NULL)
                break;
            at = (size_t)(next - content);
            continue;
        }
        if (segment_reserve(segment) != 0)
            return -1;
        segment->records[segment->count++] = (struct record){(uint32_t)at, record};
        report->damaged_bytes += at - end;
        at += record;
        end = at;
    }
    report->torn_bytes += size - end;
    segment->bytes = (uint32_t)end;
    return 0;
}

/* Reads a whole file of at most SPOOL_SEGMENT_MAX bytes. */
static uint8_t *read_file(int fd, size_t *size)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return NULL;
    if (status.st_size > SPOOL_SEGMENT_MAX) {
        errno = EFBIG;
        return NULL;
    }
    uint8_t *content = malloc((size_t)status.st_size + 1);
    *size = 0;
    while (content != NULL && *size < (size_t)status.st_size) {
        ssize_t got = pread(fd, content + *size, (size_t)status.st_size - *size, (off_t)*size);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR) {
            free(content);
            return NULL;
        }
        *size += got > 0 ? (size_t)got : 0;
    }
    return content;
}

/* A file without a whole record goes; one that some other program wrote is kept under another name. */
static enum spool_error segment_discard(const char *path, bool foreign, char *reason, size_t reason_size)
{
    char aside[SPOOL_PATH_MAX + 16];
    snprintf(aside, sizeof aside, "%s.unknown", path);
    if ((foreign ? rename(path, aside) : unlink(path)) != 0)
        return fail(reason, reason_size, "put out of the way", path);
    return SPOOL_OK;
}

static enum spool_error spool_load_segment(struct spool *spool, uint64_t number, struct spool_report *report,
                                           char *reason, size_t reason_size)
{
    char path[SPOOL_PATH_MAX];
    segment_path(spool, number, path);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return fail(reason, reason_size, "open", path);
    size_t size = 0;
    uint8_t *content = read_file(fd, &size);
    struct segment *segment = content != NULL ? spool_add_segment(spool, number) : NULL;
    enum spool_error error = SPOOL_OK;
    bool foreign = false;
    if (segment == NULL) {
        error = fail(reason, reason_size, "read", path);
    } else if (size < HEADER || memcmp(content, segment_magic, HEADER) != 0) {
        report->torn_bytes += size;
        foreign = size >= HEADER; /* else the process died while it was made */
    } else if (segment_scan(segment, content, size, report) != 0) {
        error = SPOOL_ERROR_MEMORY;
        snprintf(reason, reason_size, "not enough memory for the spool's index");
    } else if (segment->bytes < size && ftruncate(fd, (off_t)segment->bytes) != 0) {
        error = fail(reason, reason_size, "cut the torn tail of", path);
    }
    free(content);
    close(fd);
    if (error == SPOOL_OK && segment->count == 0) {
        spool->segment_count--;
        free(segment->records);
        return segment_discard(path, foreign, reason, reason_size);
    } else if (error == SPOOL_OK) {
        spool->bytes += segment->bytes;
        spool->pairs += segment->count;
    }
    return error;
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The numbers of the segment files there, sorted; malloc'ed for the caller. */
static enum spool_error list_segments(const char *directory, uint64_t **numbers, size_t *count, char *reason,
                                      size_t reason_size)
{
    *numbers = NULL;
    *count = 0;
    DIR *handle = opendir(directory);
    if (handle == NULL)
        return fail(reason, reason_size, "open", directory);
    size_t capacity = 0;
    for (struct dirent *entry; (entry = readdir(handle)) != NULL;) {
        uint64_t number;
        int end = 0;
        if (sscanf(entry->d_name, "%16" SCNx64 ".spool%n", &number, &end) != 1 || end != 22 ||
            entry->d_name[end] != '\0')
            continue;
        if (*count == capacity) {
            capacity = capacity == 0 ? 64 : capacity * 2;
            uint64_t *grown = realloc(*numbers, capacity * sizeof *grown);
            if (grown == NULL) {
                closedir(handle);
                snprintf(reason, reason_size, "not enough memory to list the spool");
                return SPOOL_ERROR_MEMORY;
            }
            *numbers = grown;
        }
        (*numbers)[(*count)++] = number;
    }
    closedir(handle);
    if (*count > 0)
        qsort(*numbers, *count, sizeof **numbers, by_number);
    return SPOOL_OK;
}

struct spool *spool_create(const char *directory, uint64_t bytes_max, uint32_t segment_bytes,
                           struct spool_report *report, char *reason, size_t reason_size)
{
    *report = (struct spool_report){0};
    struct spool *spool = calloc(1, sizeof *spool);
    if (spool == NULL || (spool->directory = strdup(directory)) == NULL) {
        free(spool);
        snprintf(reason, reason_size, "not enough memory");
        return NULL;
    }
    spool->segment_bytes = segment_bytes;
    spool->bytes_max = bytes_max < 2 * (uint64_t)segment_bytes ? 2 * (uint64_t)segment_bytes : bytes_max;
    spool->head_fd = spool->tail_fd = -1;
    spool->next_number = 1;
    uint64_t *numbers;
    size_t count;
    enum spool_error error = list_segments(directory, &numbers, &count, reason, reason_size);
    for (size_t i = 0; i < count && error == SPOOL_OK; i++) {
        error = spool_load_segment(spool, numbers[i], report, reason, reason_size);
        spool->next_number = numbers[i] + 1;
    }
    free(numbers);
    if (error != SPOOL_OK) {
        spool_destroy(spool);
        return NULL;
    }
    report->segments = spool->segment_count;
    report->pairs = spool->pairs;
    return spool;
}

void spool_destroy(struct spool *spool)
{
    if (spool == NULL)
        return;
    char ignored[256];
    spool_sync(spool, ignored, sizeof ignored);
    if (spool->tail_fd >= 0)
        close(spool->tail_fd);
    if (spool->head_fd >= 0)
        close(spool->head_fd);
    if (spool->pairs == 0 && spool->segment_count > 0) {
        char path[SPOOL_PATH_MAX];
        segment_path(spool, spool->segments[0].number, path);
        unlink(path);
    }
    for (size_t i = 0; i < spool->segment_count; i++)
        free(spool->segments[i].records);
    free(spool->segments);
    free(spool->directory);
    free(spool);
}

/* --- writing --- */

static int write_all(int fd, const uint8_t *bytes, size_t size, off_t offset)
{
    for (size_t done = 0; done < size;) {
        ssize_t wrote = pwrite(fd, bytes + done, size - done, offset + (off_t)done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return -1;
        done += (size_t)wrote;
    }
    return 0;
}

static int sync_directory(const char *directory)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int failed = fsync(fd);
    close(fd);
    return failed;
}

/* Starts a new last segment. */
static enum spool_error spool_rotate(struct spool *spool, char *reason, size_t reason_size)
{
    enum spool_error error = spool_sync(spool, reason, reason_size);
    if (error != SPOOL_OK)
        return error;
    char path[SPOOL_PATH_MAX];
    segment_path(spool, spool->next_number, path);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(reason, reason_size, "make", path);
    if (write_all(fd, (const uint8_t *)segment_magic, HEADER, 0) != 0 ||
        sync_directory(spool->directory) != 0) {
        error = fail(reason, reason_size, "write", path);
    } else if (spool_add_segment(spool, spool->next_number) == NULL) {
        error = SPOOL_ERROR_MEMORY;
        snprintf(reason, reason_size, "not enough memory");
    }
    if (error != SPOOL_OK) {
        close(fd);
        unlink(path);
        return error;
    }
    if (spool->tail_fd >= 0)
        close(spool->tail_fd);
    spool->tail_fd = fd;
    spool->next_number++;
    spool->segments[spool->segment_count - 1].bytes = HEADER;
    spool->bytes += HEADER;
    return SPOOL_OK;
}

/* The record of a pair, malloc'ed. */
static uint8_t *record_create(const struct message_game *leg0, const struct message_game *leg1, size_t *size)
{
    void *encoded[2] = {NULL, NULL};
    size_t sizes[2] = {0, 0};
    uint8_t *record = NULL;
    bool pair =
        leg0->leg == 0 && leg1->leg == 1 && leg0->pair == leg1->pair && leg0->experiment == leg1->experiment;
    if (pair && message_game_encode(leg0, &encoded[0], &sizes[0]) == 0 &&
        message_game_encode(leg1, &encoded[1], &sizes[1]) == 0 && sizes[0] + sizes[1] + 4 <= RECORD_MAX) {
        uint32_t length = (uint32_t)(4 + sizes[0] + sizes[1]);
        *size = RECORD_HEADER + length;
        record = malloc(*size);
        if (record != NULL) {
            memcpy(record, record_magic, sizeof record_magic);
            bytes_put_u32(record + 4, length);
            bytes_put_u32(record + RECORD_HEADER, (uint32_t)sizes[0]);
            memcpy(record + RECORD_HEADER + 4, encoded[0], sizes[0]);
            memcpy(record + RECORD_HEADER + 4 + sizes[0], encoded[1], sizes[1]);
            bytes_put_u32(record + 8, crc32c(crc32c(0, record + 4, 4), record + RECORD_HEADER, length));
        }
    }
    free(encoded[0]);
    free(encoded[1]);
    return record;
}

static enum spool_error spool_write(struct spool *spool, const uint8_t *record, size_t size, char *reason,
                                    size_t reason_size)
{
    if (spool->bytes + size > spool->bytes_max) {
        snprintf(reason, reason_size, "the spool holds %" PRIu64 " of %" PRIu64 " bytes", spool->bytes,
                 spool->bytes_max);
        return SPOOL_ERROR_FULL;
    }
    if (spool->tail_fd < 0 ||
        (spool->segments[spool->segment_count - 1].count > 0 &&
         spool->segments[spool->segment_count - 1].bytes + size > spool->segment_bytes)) {
        enum spool_error error = spool_rotate(spool, reason, reason_size);
        if (error != SPOOL_OK)
            return error;
    }
    struct segment *tail = &spool->segments[spool->segment_count - 1];
    if (segment_reserve(tail) != 0) {
        snprintf(reason, reason_size, "not enough memory");
        return SPOOL_ERROR_MEMORY;
    }
    if (write_all(spool->tail_fd, record, size, (off_t)tail->bytes) != 0) {
        enum spool_error error = fail(reason, reason_size, "write to the spool in", spool->directory);
        /* If this fails too, the next record overwrites the torn one, and its checksum guards the rest. */
        if (ftruncate(spool->tail_fd, (off_t)tail->bytes) != 0)
            return error;
        return error;
    }
    tail->records[tail->count++] = (struct record){tail->bytes, (uint32_t)size};
    tail->bytes += (uint32_t)size;
    spool->bytes += size;
    spool->pairs++;
    spool->unsynced = true;
    return SPOOL_OK;
}

enum spool_error spool_append(struct spool *spool, const struct message_game *leg0,
                              const struct message_game *leg1, char *reason, size_t reason_size)
{
    size_t size = 0;
    uint8_t *record = record_create(leg0, leg1, &size);
    if (record == NULL) {
        snprintf(reason, reason_size, "not the two games of a pair, or games that cannot be written");
        return SPOOL_ERROR_GAME;
    }
    enum spool_error error = spool_write(spool, record, size, reason, reason_size);
    free(record);
    return error;
}

enum spool_error spool_sync(struct spool *spool, char *reason, size_t reason_size)
{
    if (!spool->unsynced)
        return SPOOL_OK;
    if (fdatasync(spool->tail_fd) != 0)
        return fail(reason, reason_size, "sync the spool in", spool->directory);
    spool->unsynced = false;
    return SPOOL_OK;
}

uint64_t spool_pairs(const struct spool *spool)
{
    return spool->pairs;
}

uint64_t spool_bytes(const struct spool *spool)
{
    return spool->bytes;
}

uint64_t spool_lost(const struct spool *spool)
{
    return spool->lost;
}

/* --- reading --- */

static int open_segment(const struct spool *spool, size_t index)
{
    char path[SPOOL_PATH_MAX];
    segment_path(spool, spool->segments[index].number, path);
    return open(path, O_RDONLY | O_CLOEXEC);
}

enum reading {
    READING_TAKEN,
    READING_ENOUGH,  /* the batch is full, or the next record had better wait for its turn at the head */
    READING_DAMAGED, /* the record at the head cannot be read, now or ever */
    READING_FAILED,  /* this process cannot read now; the reason says why */
};

static enum reading read_fault(int error, const char *what, char *reason, size_t reason_size)
{
    if (error == EIO || error == ENOENT)
        return READING_DAMAGED;
    snprintf(reason, reason_size, "cannot %s a spool file: %s", what, strerror(error));
    return READING_FAILED;
}

/* Takes both games out of a record's bytes; false when they are not there. */
static bool record_decode(const uint8_t *bytes, uint32_t size, struct message_game legs[2])
{
    char why[160];
    const uint8_t *payload = bytes + RECORD_HEADER;
    uint32_t first = bytes_get_u32(payload), all = size - RECORD_HEADER - 4;
    if (message_game_decode(payload + 4, first, &legs[0], why, sizeof why) != 0)
        return false;
    if (message_game_decode(payload + 4 + first, all - first, &legs[1], why, sizeof why) == 0)
        return true;
    message_game_done(&legs[0]);
    return false;
}

static enum reading record_read(int fd, struct record record, struct message_game legs[2], char *reason,
                                size_t reason_size)
{
    uint8_t *bytes = malloc(record.size);
    if (bytes == NULL)
        return read_fault(ENOMEM, "read", reason, reason_size);
    ssize_t got;
    do
        got = pread(fd, bytes, record.size, (off_t)record.offset);
    while (got < 0 && errno == EINTR);
    enum reading reading = got < 0 ? read_fault(errno, "read", reason, reason_size) : READING_DAMAGED;
    if (got == (ssize_t)record.size && record_check(bytes, record.size) == record.size &&
        record_decode(bytes, record.size, legs))
        reading = READING_TAKEN;
    free(bytes);
    return reading;
}

static enum reading batch_add(struct spool_batch *batch, int fd, struct record record, size_t bytes_max,
                              char *reason, size_t reason_size)
{
    struct message_game *legs = &batch->games[2 * batch->pairs];
    enum reading reading = record_read(fd, record, legs, reason, reason_size);
    if (reading != READING_TAKEN)
        return batch->pairs > 0 ? READING_ENOUGH : reading;
    size_t bytes = message_game_bytes(&legs[0]) + message_game_bytes(&legs[1]);
    if (batch->pairs > 0 && batch->bytes + bytes > bytes_max) {
        message_game_done(&legs[0]);
        message_game_done(&legs[1]);
        return READING_ENOUGH;
    }
    batch->pairs++;
    batch->bytes += bytes;
    return READING_TAKEN;
}

/* Reads a segment's records from `from` on into the batch. */
static enum reading segment_read(struct spool *spool, size_t index, size_t from, size_t pairs_max,
                                 size_t bytes_max, struct spool_batch *batch, char *reason,
                                 size_t reason_size)
{
    const struct segment *segment = &spool->segments[index];
    int fd = index == 0 ? spool->head_fd : -1;
    if (fd < 0 && (fd = open_segment(spool, index)) < 0)
        return batch->pairs > 0 ? READING_ENOUGH : read_fault(errno, "open", reason, reason_size);
    enum reading reading = READING_TAKEN;
    for (size_t at = from; reading == READING_TAKEN && at < segment->count; at++)
        reading = batch->pairs == pairs_max
                      ? READING_ENOUGH
                      : batch_add(batch, fd, segment->records[at], bytes_max, reason, reason_size);
    if (index == 0)
        spool->head_fd = fd;
    else
        close(fd);
    return reading;
}

enum spool_error spool_read(struct spool *spool, size_t pairs_max, size_t bytes_max,
                            struct spool_batch *batch, char *reason, size_t reason_size)
{
    *batch = (struct spool_batch){0};
    if (pairs_max > spool->pairs)
        pairs_max = (size_t)spool->pairs;
    if (pairs_max == 0)
        return SPOOL_OK;
    batch->games = calloc(2 * pairs_max, sizeof *batch->games);
    if (batch->games == NULL) {
        snprintf(reason, reason_size, "not enough memory");
        return SPOOL_ERROR_MEMORY;
    }
    size_t index = 0, from = spool->head;
    while (index < spool->segment_count && batch->pairs < pairs_max) {
        enum reading reading =
            from == spool->segments[index].count
                ? READING_TAKEN
                : segment_read(spool, index, from, pairs_max, bytes_max, batch, reason, reason_size);
        if (reading == READING_FAILED) {
            spool_batch_done(batch);
            return SPOOL_ERROR_FILE;
        }
        if (reading == READING_ENOUGH)
            break;
        index = reading == READING_DAMAGED ? 0 : index + 1;
        if (reading == READING_DAMAGED) {
            /* Its checksum was right when the spool was opened: the disk lost it since. The pair's lease
             * lapses, and it will be played again. */
            spool->lost++;
            spool_acknowledge(spool, 1);
        }
        from = index == 0 ? spool->head : 0;
    }
    if (batch->pairs == 0)
        spool_batch_done(batch);
    return SPOOL_OK;
}

void spool_batch_done(struct spool_batch *batch)
{
    for (size_t i = 0; i < 2 * batch->pairs; i++)
        message_game_done(&batch->games[i]);
    free(batch->games);
    *batch = (struct spool_batch){0};
}

/* Deletes segments[0]. */
static void spool_drop_head(struct spool *spool)
{
    char path[SPOOL_PATH_MAX];
    segment_path(spool, spool->segments[0].number, path);
    unlink(path); /* if it stays, the next start sends it again: duplicates */
    if (spool->head_fd >= 0)
        close(spool->head_fd);
    spool->head_fd = -1;
    spool->bytes -= spool->segments[0].bytes;
    free(spool->segments[0].records);
    spool->segment_count--;
    memmove(spool->segments, spool->segments + 1, spool->segment_count * sizeof *spool->segments);
    spool->head = 0;
}

/* Empties the last segment once all of it is acknowledged, so that it need not grow to be deleted. */
static void spool_empty_tail(struct spool *spool)
{
    struct segment *tail = &spool->segments[0];
    if (tail->count == 0 || ftruncate(spool->tail_fd, HEADER) != 0)
        return;
    spool->bytes -= tail->bytes - HEADER;
    tail->bytes = HEADER;
    tail->count = 0;
    spool->head = 0;
    spool->unsynced = false;
}

void spool_acknowledge(struct spool *spool, size_t pairs)
{
    while (pairs > 0 && spool->pairs > 0) {
        size_t here = spool->segments[0].count - spool->head;
        size_t step = pairs < here ? pairs : here;
        spool->head += step;
        spool->pairs -= step;
        pairs -= step;
        if (spool->head < spool->segments[0].count)
            return;
        bool is_tail = spool->tail_fd >= 0 && spool->segment_count == 1;
        if (is_tail)
            spool_empty_tail(spool);
        else
            spool_drop_head(spool);
    }
}
