/* What leaves Kroo: each format read back and held against what went in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "coordinator/export.h"
#include "engine/play.h"
#include "proto/artifact.h"
#include "tests/unit/check.h"

struct subject {
    struct weights *weights;
    void *bytes;
    size_t size;
    char hex[ARTIFACT_HEX];
    json_t *lineage;
    struct export_weights what;
};

static int set_up(void **state)
{
    struct subject *subject = calloc(1, sizeof *subject);
    uint8_t sha256[ARTIFACT_HASH];
    subject->weights = weights_create_starting("site");
    assert_non_null(subject->weights);
    assert_int_equal(weights_serialize(subject->weights, &subject->bytes, &subject->size), WEIGHTS_OK);
    artifact_hash(subject->bytes, subject->size, sha256);
    artifact_hex(sha256, subject->hex);
    subject->lineage = json_pack("[{s:i, s:s}, {s:i, s:s}]", "distance", 0, "ancestor_sha256", subject->hex,
                                 "distance", 1, "ancestor_sha256", "ab12");
    subject->what = (struct export_weights){.weights = subject->weights,
                                            .bytes = subject->bytes,
                                            .size = subject->size,
                                            .sha256 = subject->hex,
                                            .number = 7,
                                            .name = "evil */ int x; /*",
                                            .lineage = subject->lineage};
    *state = subject;
    return 0;
}

static int tear_down(void **state)
{
    struct subject *subject = *state;
    weights_destroy(subject->weights);
    free(subject->bytes);
    json_decref(subject->lineage);
    free(subject);
    return 0;
}

/* The export as a string the caller frees. */
static char *exported(const struct subject *subject, enum export_format format, size_t *size)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, size);
    assert_non_null(stream);
    assert_int_equal(export_weights(&subject->what, format, stream), 0);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void formats_have_names(void **state)
{
    (void)state;
    assert_int_equal(export_format_parse("bin"), EXPORT_BIN);
    assert_int_equal(export_format_parse("md"), EXPORT_MD);
    assert_int_equal(export_format_parse("xml"), -1);
}

static void binary_is_the_file_itself(void **state)
{
    const struct subject *subject = *state;
    size_t size = 0;
    char *bytes = exported(subject, EXPORT_BIN, &size);
    assert_int_equal(size, subject->size);
    assert_memory_equal(bytes, subject->bytes, size);
    free(bytes);
}

/* Evaluates a position from the JSON alone, as another program would. */
static int evaluate_from_json(const json_t *root, const struct position *position)
{
    int side = position->side, seeds = POSITION_SEEDS - position->stores[0] - position->stores[1];
    size_t phase = 0;
    while (json_integer_value(json_array_get(json_object_get(root, "phase_seeds_min"), phase)) > seeds)
        phase++;
    const json_t *table = json_array_get(json_object_get(root, "phases"), phase);
    json_int_t sum = json_integer_value(json_object_get(table, "bias")) +
                     json_integer_value(json_object_get(table, "store")) *
                         (position->stores[side] - position->stores[1 - side]);
    for (int house = 0; house < 12; house++) {
        int seeds_in = position->houses[(6 * side + house) % 12];
        const json_t *row = json_array_get(json_object_get(table, "houses"), (size_t)house);
        sum += json_integer_value(json_array_get(row, (size_t)(seeds_in > 12 ? 12 : seeds_in)));
    }
    return (int)(sum >> json_integer_value(json_object_get(root, "shift")));
}

static void json_is_enough_to_evaluate(void **state)
{
    const struct subject *subject = *state;
    size_t size = 0;
    char *text = exported(subject, EXPORT_JSON, &size);
    json_error_t error;
    json_t *root = json_loads(text, 0, &error);
    if (!root)
        fail_msg("line %d: %s", error.line, error.text);
    assert_string_equal(json_string_value(json_object_get(root, "sha256")), subject->hex);
    assert_string_equal(json_string_value(json_object_get(root, "rules")), "site");
    const json_t *vectors = json_object_get(root, "vectors");
    assert_int_equal(json_array_size(vectors), WEIGHTS_VECTORS);
    for (size_t i = 0; i < WEIGHTS_VECTORS; i++) {
        struct position position;
        char reason[128];
        const json_t *vector = json_array_get(vectors, i);
        const char *where = json_string_value(json_object_get(vector, "position"));
        assert_int_equal(position_parse(where, &position, reason, sizeof reason), 0);
        assert_int_equal(evaluate_from_json(root, &position),
                         json_integer_value(json_object_get(vector, "score")));
    }
    json_decref(root);
    free(text);
}

/* Compiles the header with the system's compiler and lets it check itself. */
static void c_header_checks_itself(void **state)
{
    const struct subject *subject = *state;
    size_t size = 0;
    char *text = exported(subject, EXPORT_C, &size), folder[] = "/tmp/kroo-export.XXXXXX", command[512];
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, "%s/weights.h", folder);
    FILE *file = fopen(command, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    snprintf(
        command, sizeof command,
        "cd %s && cc -std=c99 -Wall -Wextra -Werror -x c -DKROO_WEIGHTS_MAIN weights.h -o check && ./check",
        folder);
    FILE *check = popen(command, "r");
    char answer[128] = "";
    assert_non_null(check);
    assert_non_null(fgets(answer, sizeof answer, check));
    assert_int_equal(pclose(check), 0);
    assert_string_equal(answer, "64 test positions, 0 wrong\n");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    free(text);
}

static void page_names_hash_parent_and_positions(void **state)
{
    const struct subject *subject = *state;
    size_t size = 0, rows = 0;
    char *text = exported(subject, EXPORT_MD, &size);
    assert_non_null(strstr(text, subject->hex));
    assert_non_null(strstr(text, "| parent | `ab12` |"));
    for (const char *at = text; (at = strstr(at, "-S` | ")); at++)
        rows++;
    for (const char *at = text; (at = strstr(at, "-N` | ")); at++)
        rows++;
    assert_int_equal(rows, WEIGHTS_VECTORS);
    free(text);
}

static struct store_experiment experiment(void)
{
    struct store_experiment e = {.id = 3, .kind = STORE_MATCH, .seed = 9, .opening_plies = 2};
    strcpy(e.rules, "site,repetitions=2");
    e.a.limits = (struct store_limits){.nodes = 1000, .hash_kib = 1024};
    e.b.limits = (struct store_limits){.depth = 4, .hash_kib = 512};
    strcpy(e.a.engine_build, "build");
    strcpy(e.b.engine_build, "build");
    return e;
}

static const uint8_t scores[] = {0x00, 0x80, 0x00, 0x80, 0xff, 0xff, 0x10, 0x00};
static const struct store_game game = {.experiment = 3,
                                       .pair = 5,
                                       .leg = 1,
                                       .attempt = 1,
                                       .moves = "AaBb",
                                       .plies = 4,
                                       .scores = scores,
                                       .scores_size = sizeof scores,
                                       .result = "south",
                                       .reason = "majority",
                                       .south = 26,
                                       .north = 20,
                                       .a_half_points = 0};

static char *game_line(int (*write)(const struct export_game_frame *, const struct store_game *, FILE *),
                       uint64_t counted)
{
    struct store_experiment e = experiment();
    struct export_game_frame frame = {
        .experiment = &e, .sha256_a = "aaaa", .sha256_b = "bbbb", .counted_pairs = counted};
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(write(&frame, &game, stream), 0);
    fclose(stream);
    return text;
}

static void a_text_line_stands_alone(void **state)
{
    (void)state;
    char *line = game_line(export_game_text, 5);
    assert_string_equal(
        line, "experiment=3 pair=5 leg=1 rules=site,repetitions=2 seed=9 opening_plies=2 noise_ppm=0 "
              "south=bbbb/depth:4,hash_kib:512 north=aaaa/nodes:1000,hash_kib:1024 a=north counted=no "
              "claimed=no result=south reason=majority stores=26-20 plies=4 moves=AaBb\n");
    free(line);
}

static void a_json_line_stands_alone(void **state)
{
    (void)state;
    char *line = game_line(export_game_json, 6);
    json_t *root = json_loads(line, 0, NULL);
    assert_non_null(root);
    assert_int_equal(strcspn(line, "\n"), strlen(line) - 1);
    assert_true(json_is_true(json_object_get(root, "counted")));
    const json_t *south = json_object_get(root, "south");
    assert_string_equal(json_string_value(json_object_get(south, "player")), "b");
    assert_string_equal(json_string_value(json_object_get(south, "weights")), "bbbb");
    const json_t *list = json_object_get(root, "scores");
    assert_int_equal(json_array_size(list), 4);
    assert_true(json_is_null(json_array_get(list, 0)));
    assert_int_equal(json_integer_value(json_array_get(list, 2)), -1);
    assert_int_equal(json_integer_value(json_array_get(list, 3)), 16);
    json_decref(root);
    free(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_have_names),
        cmocka_unit_test_setup_teardown(binary_is_the_file_itself, set_up, tear_down),
        cmocka_unit_test_setup_teardown(json_is_enough_to_evaluate, set_up, tear_down),
        cmocka_unit_test_setup_teardown(c_header_checks_itself, set_up, tear_down),
        cmocka_unit_test_setup_teardown(page_names_hash_parent_and_positions, set_up, tear_down),
        cmocka_unit_test(a_text_line_stands_alone),
        cmocka_unit_test(a_json_line_stands_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
