/* What the web page says of weights, and the files it saves: the same export as `kroo weights export` writes.
 * Called on the web server's threads. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/export.h"
#include "coordinator/web_call.h"
#include "proto/artifact.h"

web_finish web_weights, web_weights_file;

/* One row of the view weights_export, taken apart. */
struct subject {
    void *bytes;
    size_t size;
    struct weights *weights;
    json_t *lineage, *training, *proof;
    struct export_weights export;
};

static const char *cell(const struct store_table *rows, const char *column)
{
    return web_cell(rows, 0, column);
}

static int digit(char letter)
{
    return letter >= '0' && letter <= '9'   ? letter - '0'
           : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10
                                            : -1;
}

/* NULL: no memory, or not such digits. */
static void *read_hex(const char *text, size_t *size)
{
    *size = strlen(text) / 2;
    unsigned char *bytes = malloc(*size + 1);
    for (size_t i = 0; bytes && i < *size; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            free(bytes);
            return NULL;
        }
        bytes[i] = (unsigned char)(high << 4 | low);
    }
    return bytes;
}

/* NULL for a cell that is null. */
static json_t *read_json(const struct store_table *rows, const char *column)
{
    const char *text = cell(rows, column);
    return text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
}

static void subject_done(struct subject *subject)
{
    weights_destroy(subject->weights);
    free(subject->bytes);
    json_decref(subject->lineage);
    json_decref(subject->training);
    json_decref(subject->proof);
}

/* False: the answer says why. */
static bool subject_init(struct subject *subject, struct web_answer *answer, const struct store_table *rows)
{
    memset(subject, 0, sizeof *subject);
    const char *content = rows->rows > 0 ? cell(rows, "content") : NULL;
    if (!content) {
        web_answer_error(answer, 404, "there are no weights of this number: /api/weights lists them");
        return false;
    }
    subject->bytes = read_hex(content, &subject->size);
    enum weights_error error =
        subject->bytes ? weights_parse(subject->bytes, subject->size, cell(rows, "rules"), &subject->weights)
                       : WEIGHTS_ERROR_MEMORY;
    if (error != WEIGHTS_OK) {
        web_answer_error(answer, 500, "these weights cannot be read: %s", weights_error_text(error));
        return false;
    }
    subject->lineage = read_json(rows, "lineage");
    subject->training = read_json(rows, "training");
    subject->proof = read_json(rows, "proof");
    if (!subject->proof)
        subject->proof = json_array();
    subject->export = (struct export_weights){.weights = subject->weights,
                                              .bytes = subject->bytes,
                                              .size = subject->size,
                                              .sha256 = cell(rows, "sha256"),
                                              .number = strtoull(cell(rows, "number"), NULL, 10),
                                              .name = cell(rows, "name"),
                                              .lineage = subject->lineage,
                                              .training = subject->training,
                                              .proof = subject->proof};
    return true;
}

/* The export as text; NULL without memory. */
static char *write_text(const struct subject *subject, enum export_format format, size_t *size)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, size);
    if (!stream)
        return NULL;
    int failed = export_weights(&subject->export, format, stream);
    if (fclose(stream) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}

/* kroo-7.weights, or kroo-7-night-3.weights where the name is made of plain letters. */
static void name_file(const struct subject *subject, const char *ending, char *out, size_t size)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    const char *name = subject->export.name;
    bool is_plain = *name && strlen(name) < 60 && name[strspn(name, plain)] == '\0';
    snprintf(out, size, "kroo-%llu%s%s.%s", (unsigned long long)subject->export.number, is_plain ? "-" : "",
             is_plain ? name : "", ending);
}

void web_weights_file(struct web_answer *answer, const struct store_table *rows)
{
    struct subject subject;
    const char *format = rows->rows > 0 ? cell(rows, "format") : "";
    bool is_json = strcmp(format, "json") == 0;
    if (rows->rows > 0 && !is_json && strcmp(format, "binary") != 0) {
        web_answer_error(answer, 400, "format is json or binary");
        return;
    }
    if (subject_init(&subject, answer, rows)) {
        answer->text = write_text(&subject, is_json ? EXPORT_JSON : EXPORT_BIN, &answer->size);
        answer->type = is_json ? NULL : "application/octet-stream";
        name_file(&subject, is_json ? "json" : "weights", answer->file_name, sizeof answer->file_name);
    }
    subject_done(&subject);
}

/* {"name", "size", "sha256"} of a file as it would be saved. */
static json_t *describe_file(const struct subject *subject, enum export_format format, const char *ending)
{
    uint8_t sha256[ARTIFACT_HASH];
    char hex[ARTIFACT_HEX], name[96];
    size_t size;
    char *text = write_text(subject, format, &size);
    if (!text)
        return NULL;
    artifact_hash(text, size, sha256);
    free(text);
    artifact_hex(sha256, hex);
    name_file(subject, ending, name, sizeof name);
    return json_pack("{s:s, s:I, s:s}", "name", name, "size", (json_int_t)size, "sha256", hex);
}

/* The export itself, how the fit went, and the two files' names and hashes. */
static json_t *describe(const struct subject *subject, const struct store_table *rows)
{
    json_t *object = export_weights_json(&subject->export);
    json_t *fit = read_json(rows, "fit"), *binary = describe_file(subject, EXPORT_BIN, "weights");
    json_t *json = describe_file(subject, EXPORT_JSON, "json");
    if (!object || !binary || !json) {
        json_decref(object);
        json_decref(fit);
        json_decref(binary);
        json_decref(json);
        return NULL;
    }
    json_object_set_new(object, "fit", fit ? fit : json_null());
    json_object_set_new(object, "files", json_pack("{s:o, s:o}", "binary", binary, "json", json));
    return object;
}

void web_weights(struct web_answer *answer, const struct store_table *rows)
{
    struct subject subject;
    const char *list = rows->rows > 0 ? cell(rows, "answer") : NULL;
    if (list) {
        web_answer_text(answer, strdup(list));
        return;
    }
    if (subject_init(&subject, answer, rows))
        web_answer_json(answer, describe(&subject, rows));
    subject_done(&subject);
}
