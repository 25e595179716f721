/* The tools of kroo-engine as a user runs them: the executable of the same build, input on its standard
 * input. */
#include "tests/unit/engine/vectors.h"

#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_MAX = 8 << 20 };

struct answer {
    int status;
    char *text; /* both output streams if `2>&1` was asked for */
};

/* <build>/tests/engine/test_tools stands three levels below the executable. */
static void find_engine(char *path, size_t size)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    for (int level = 0; level < 3; level++)
        *strrchr(self, '/') = '\0';
    assert_true((size_t)snprintf(path, size, "%s/kroo-engine", self) < size);
}

static struct answer run(const char *arguments, const char *input, size_t length)
{
    char engine[PATH_MAX], command[2 * PATH_MAX], name[] = "/tmp/kroo-test-tools-XXXXXX";
    find_engine(engine, sizeof engine);
    int file = mkstemp(name);
    assert_true(file >= 0);
    for (size_t written = 0; written < length;) {
        ssize_t part = write(file, input + written, length - written);
        assert_true(part > 0);
        written += (size_t)part;
    }
    close(file);
    assert_true((size_t)snprintf(command, sizeof command, "'%s' %s < %s", engine, arguments, name) <
                sizeof command);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    struct answer answer = {.text = malloc(OUTPUT_MAX)};
    assert_non_null(answer.text);
    size_t got = fread(answer.text, 1, OUTPUT_MAX - 1, pipe);
    assert_true(got < OUTPUT_MAX - 1);
    answer.text[got] = '\0';
    int status = pclose(pipe);
    unlink(name);
    assert_true(WIFEXITED(status));
    answer.status = WEXITSTATUS(status);
    return answer;
}

static void assert_answer(const char *arguments, const char *input, const char *expected, int status)
{
    struct answer answer = run(arguments, input, strlen(input));
    assert_string_equal(answer.text, expected);
    assert_int_equal(answer.status, status);
    free(answer.text);
}

static void assert_says(const char *arguments, const char *part, int status)
{
    struct answer answer = run(arguments, "", 0);
    if (strstr(answer.text, part) == NULL)
        fail_msg("'%s' does not say '%s' but: %s", arguments, part, answer.text);
    assert_int_equal(answer.status, status);
    free(answer.text);
}

/* --- perft, divide, rules --- */

static void perft_counts_each_depth(void **state)
{
    (void)state;
    static const long long nodes[] = {6, 36, 190, 1014, 5219, 27332, 139157};
    struct answer answer = run("perft 7 --json", "", 0);
    assert_int_equal(answer.status, 0);
    char *rest = answer.text;
    for (int depth = 1; depth <= 7; depth++) {
        json_t *row = json_loads(strsep(&rest, "\n"), 0, NULL);
        assert_non_null(row);
        assert_int_equal(json_object_size(row), 3);
        assert_int_equal(vectors_number(row, "depth"), depth);
        assert_int_equal(vectors_number(row, "nodes"), nodes[depth - 1]);
        assert_true(json_is_real(json_object_get(row, "seconds")));
        json_decref(row);
    }
    assert_string_equal(rest, "");
    free(answer.text);
    assert_says("perft 2", "36 nodes", 0);
    assert_says("perft 1 --json --rules slam-illegal --position 0-0-6-0-3-5-1-2-1-0-0-0-15-15-S",
                "\"nodes\":2,", 0);
}

/* The checksums hold for every build that plays by the rules. */
static void speed_measures_what_it_computes(void **state)
{
    (void)state;
    static const struct {
        const char *measure, *checksum;
        long long count;
    } expected[] = {{"perft", "0000000000006ac4", 27332},
                    {"make", "f9186a3e15061b21", 7998000},
                    {"evaluate-table", "cb576a47f15dd931", 7998000},
                    {"evaluate-net", "b674541efa853566", 7998000},
                    {"evaluate-features", "18e194f307887b90", 7998000},
                    {"replay-random", "d1983245f40e1f65", 1068677},
                    {"replay-played", NULL, 0}};
    struct answer answer = run("speed --rules site --depth 6 --rounds 1 --json", "", 0);
    assert_int_equal(answer.status, 0);
    char *rest = answer.text;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        json_t *row = json_loads(strsep(&rest, "\n"), 0, NULL);
        assert_non_null(row);
        assert_string_equal(vectors_text(row, "measure"), expected[i].measure);
        assert_string_equal(vectors_text(row, "rules"), "site");
        assert_true(vectors_number(row, "per_second") > 0);
        assert_true(vectors_number(row, "count") > 0);
        if (expected[i].checksum != NULL) {
            assert_string_equal(vectors_text(row, "checksum"), expected[i].checksum);
            assert_int_equal(vectors_number(row, "count"), expected[i].count);
        }
        json_decref(row);
    }
    assert_string_equal(rest, "");
    free(answer.text);
    assert_says("speed --rounds 0 2>&1", "must be a number from 1 to 1000", 2);
}

static void divide_adds_up(void **state)
{
    (void)state;
    struct answer answer = run("divide 5 --json", "", 0);
    long long sum = 0, moves = 0;
    char *rest = answer.text, *line;
    while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
        json_t *row = json_loads(line, 0, NULL);
        assert_non_null(row);
        if (json_object_get(row, "move") != NULL) {
            sum += vectors_number(row, "nodes");
            moves++;
        } else {
            assert_int_equal(vectors_number(row, "nodes"), sum);
            assert_int_equal(vectors_number(row, "depth"), 5);
        }
        json_decref(row);
    }
    assert_int_equal(moves, 6);
    assert_int_equal(sum, 5219);
    free(answer.text);
    assert_says("divide 1 -p 1-0-0-0-4-0-1-2-4-0-1-1-7-27-S --json", "{\"depth\":1,\"nodes\":0,", 0);
    assert_says("divide 1 -p 0-0-0-0-0-1-0-0-0-0-0-1-23-23-N --json", "{\"move\":\"f\",\"nodes\":1}", 0);
}

static void rules_lists_the_presets(void **state)
{
    (void)state;
    struct answer answer = run("rules --json", "", 0);
    size_t rows = 0;
    char *rest = answer.text, *line;
    while ((line = strsep(&rest, "\n")) != NULL && *line != '\0') {
        json_t *row = json_loads(line, 0, NULL);
        assert_non_null(row);
        assert_string_equal(vectors_text(row, "name"), rules_preset(rows)->name);
        assert_int_equal(vectors_number(row, "repetitions"), rules_preset(rows)->repetitions);
        json_decref(row);
        rows++;
    }
    assert_int_equal(rows, 12);
    free(answer.text);
    assert_says("rules", "slam-rest-to-opponent\n", 0);
    assert_says("rules site,quiet_limit=0", "international\n", 0);
}

static void wrong_usage_ends_with_two(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"nothing 2>&1", "no tool 'nothing'"},
        {"--nothing 2>&1", "no tool '--nothing'"},
        {"perft 2>&1", "DEPTH is missing"},
        {"perft 0 2>&1", "from 1 to 64"},
        {"perft 65 2>&1", "from 1 to 64"},
        {"perft x 2>&1", "from 1 to 64"},
        {"perft 3 4 2>&1", "left over"},
        {"perft 3 --rules nope 2>&1", "known: site, international, school, ghana, togo, auale"},
        {"perft 3 --position 4-4 2>&1", "position:"},
        {"divide 2>&1", "DEPTH is missing"},
        {"replay --rules site,repetitions=1 2>&1", "from 2 to 1000"},
        {"replay surplus 2>&1", "Too many arguments"},
        {"moves --nothing 2>&1", "nothing"},
        {"rules nope 2>&1", "known: site"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_says(wrong[i][0], wrong[i][1], 2);
}

static void every_tool_explains_itself(void **state)
{
    (void)state;
    static const char *const tools[] = {"perft", "divide", "replay", "moves", "rules", "bench", "eval"};
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
        char arguments[64], usage[64];
        snprintf(arguments, sizeof arguments, "%s --help", tools[i]);
        snprintf(usage, sizeof usage, "Usage: kroo-engine %s", tools[i]);
        assert_says(arguments, usage, 0);
        assert_says("--help", tools[i], 0);
    }
    assert_says("--version", "kroo-engine ", 0);
}

/* --- replay --- */

#define START_LINE                                                                                           \
    "{\"plies\":0,\"result\":\"unfinished\",\"reason\":\"\",\"stores\":[0,0],\"houses\":[4,4,4,4,4,4,4,4,4," \
    "4,4,4]}\n"
#define F_LINE                                                                                               \
    "{\"plies\":1,\"result\":\"unfinished\",\"reason\":\"\",\"stores\":[0,0],\"houses\":[4,4,4,4,4,0,5,5,5," \
    "5,4,4]}\n"

static void replay_answers_each_line(void **state)
{
    (void)state;
    assert_answer("replay", "", "", 0);
    assert_answer("replay", "\n", START_LINE, 0);
    assert_answer("replay", "\nF", START_LINE F_LINE, 0);
    assert_answer("replay", "F\r\n\r\nF\r\n", F_LINE START_LINE F_LINE, 0);
    assert_answer("replay", "FF\nF\n", "{\"error\":\"illegal-move\",\"ply\":2,\"move\":\"F\"}\n" F_LINE, 1);
    assert_answer("replay", "f\n", "{\"error\":\"illegal-move\",\"ply\":1,\"move\":\"f\"}\n", 1);
    assert_answer("replay", "Fa b\n", "{\"error\":\"illegal-move\",\"ply\":3,\"move\":\" \"}\n", 1);
    assert_answer("replay", "F\"\n", "{\"error\":\"illegal-move\",\"ply\":2,\"move\":\"\\\"\"}\n", 1);
    assert_answer("replay", "\xc3\xa4\n\n",
                  "{\"error\":\"illegal-move\",\"ply\":1,\"move\":\"\\\\xc3\"}\n" START_LINE, 1);
}

static void replay_refuses_surplus_moves(void **state)
{
    (void)state;
    static const char game[] = "CbEfAaEaCfBeBaAfDaBbEfAeAcFfAeAcBfCcEbAfDeBaCdAf";
    char input[128], expected[128];
    snprintf(input, sizeof input, "%sA\n", game);
    snprintf(expected, sizeof expected, "{\"error\":\"illegal-move\",\"ply\":%zu,\"move\":\"A\"}\n",
             strlen(game) + 1);
    assert_answer("replay", input, expected, 1);
}

static void replay_takes_bytes_of_any_kind(void **state)
{
    (void)state;
    struct answer answer = run("replay", "F\0a\nF\n", 6);
    assert_string_equal(answer.text, "{\"error\":\"illegal-move\",\"ply\":2,\"move\":\"\\\\x00\"}\n" F_LINE);
    assert_int_equal(answer.status, 1);
    free(answer.text);
}

static void lines_of_any_length_are_bounded(void **state)
{
    (void)state;
    enum { LONG = 3 << 20 };
    char *input = malloc(LONG + 4);
    assert_non_null(input);
    memset(input, 'F', LONG);
    memcpy(input + LONG, "\nF\n", 4);
    struct answer answer = run("replay", input, LONG + 3);
    assert_string_equal(answer.text, "{\"error\":\"line-too-long\",\"bytes_max\":65536}\n" F_LINE);
    assert_int_equal(answer.status, 1);
    free(answer.text);
    answer = run("moves", input, LONG + 3);
    assert_int_equal(strncmp(answer.text, "{\"error\":\"the line is longer than 65536 bytes\"}\n", 48), 0);
    assert_int_equal(answer.status, 1);
    free(answer.text);
    /* The longest line that is read, and one byte more; CR is not counted. */
    memset(input, 'x', 65536);
    memcpy(input + 65536, "\r\n", 2);
    answer = run("replay", input, 65538);
    assert_string_equal(answer.text, "{\"error\":\"illegal-move\",\"ply\":1,\"move\":\"x\"}\n");
    free(answer.text);
    input[65536] = 'x';
    answer = run("replay", input, 65538);
    assert_string_equal(answer.text, "{\"error\":\"line-too-long\",\"bytes_max\":65536}\n");
    free(answer.text);
    free(input);
}

/* Appends to a growing text. */
struct text {
    char *bytes;
    size_t length, room;
};

static void text_add(struct text *text, const char *piece)
{
    size_t length = strlen(piece);
    if (text->length + length + 1 > text->room) {
        text->room = 2 * (text->length + length + 1);
        text->bytes = realloc(text->bytes, text->room);
        assert_non_null(text->bytes);
    }
    memcpy(text->bytes + text->length, piece, length + 1);
    text->length += length;
}

struct batch {
    const char *rules;
    struct text input;
    json_t *rows;
};

static void collect_game(json_t *row, void *context)
{
    struct batch *batch = context;
    if (strcmp(vectors_text(row, "rules"), batch->rules) != 0)
        return;
    text_add(&batch->input, vectors_text(row, "moves"));
    text_add(&batch->input, "\n");
    json_array_append(batch->rows, row);
}

static size_t replay_preset(const char *rules)
{
    struct batch batch = {.rules = rules, .rows = json_array()};
    char arguments[64];
    vectors_each_line(VECTORS_RULES "games-all-rule-sets.jsonl", collect_game, &batch);
    snprintf(arguments, sizeof arguments, "replay --rules %s", rules);
    struct answer answer = run(arguments, batch.input.bytes, batch.input.length);
    assert_int_equal(answer.status, 0);
    char *rest = answer.text;
    size_t games = json_array_size(batch.rows);
    static const char *const keys[] = {"plies", "result", "reason", "stores", "houses"};
    for (size_t i = 0; i < games; i++) {
        json_t *row = json_loads(strsep(&rest, "\n"), 0, NULL);
        const json_t *expected = json_array_get(batch.rows, i);
        assert_int_equal(json_object_size(row), 5);
        for (size_t key = 0; key < 5; key++)
            assert_true(json_equal(json_object_get(row, keys[key]), json_object_get(expected, keys[key])));
        json_decref(row);
    }
    assert_string_equal(rest, "");
    free(answer.text);
    free(batch.input.bytes);
    json_decref(batch.rows);
    return games;
}

static void replay_gives_every_reference_game(void **state)
{
    (void)state;
    size_t games = 0;
    for (size_t i = 0; strcmp(rules_preset(i)->name, "awari") != 0; i++)
        games += replay_preset(rules_preset(i)->name);
    assert_int_equal(games, 660);
}

/* --- moves --- */

static void collect_position(json_t *row, void *context)
{
    struct batch *batch = context;
    text_add(&batch->input, vectors_text(row, "pos"));
    text_add(&batch->input, "\n");
    json_array_append(batch->rows, row);
}

static void compare_moves(const json_t *row, const json_t *expected)
{
    assert_string_equal(vectors_text(row, "legal"), vectors_text(expected, "legal"));
    assert_true(json_equal(json_object_get(row, "over"), json_object_get(expected, "over")));
    assert_int_equal(strcmp(vectors_text(row, "reason"), "") == 0,
                     !json_is_true(json_object_get(row, "over")));
    const json_t *moves = json_object_get(row, "moves"), *wanted = json_object_get(expected, "moves");
    assert_int_equal(json_array_size(moves), json_array_size(wanted));
    for (size_t i = 0; i < json_array_size(moves); i++) {
        const json_t *move = json_array_get(moves, i), *reference = json_array_get(wanted, i);
        assert_int_equal(json_object_size(move), 4);
        assert_string_equal(vectors_text(move, "position"), vectors_text(reference, "next"));
        static const char *const keys[] = {"move", "captured", "grand_slam"};
        for (size_t key = 0; key < 3; key++)
            assert_true(json_equal(json_object_get(move, keys[key]), json_object_get(reference, keys[key])));
    }
}

static void moves_gives_every_reference_position(void **state)
{
    (void)state;
    struct batch batch = {.rows = json_array()};
    vectors_each_line(VECTORS_RULES "positions.jsonl", collect_position, &batch);
    struct answer answer = run("moves --rules site", batch.input.bytes, batch.input.length);
    assert_int_equal(answer.status, 0);
    char *rest = answer.text;
    for (size_t i = 0; i < json_array_size(batch.rows); i++) {
        json_t *row = json_loads(strsep(&rest, "\n"), 0, NULL);
        assert_int_equal(json_object_size(row), 4);
        compare_moves(row, json_array_get(batch.rows, i));
        json_decref(row);
    }
    assert_string_equal(rest, "");
    assert_int_equal(json_array_size(batch.rows), 2008);
    free(answer.text);
    free(batch.input.bytes);
    json_decref(batch.rows);
}

#define EVEN      "0-0-0-0-0-0-0-0-0-0-0-0-24-24-S"
#define EVEN_LINE "{\"legal\":\"\",\"over\":true,\"reason\":\"even\",\"moves\":[]}\n"

static void moves_refuses_bad_lines_and_goes_on(void **state)
{
    (void)state;
    assert_answer("moves", "", "", 0);
    assert_answer("moves", EVEN "\r\n" EVEN, EVEN_LINE EVEN_LINE, 0);
    struct answer answer = run("moves", "\n" EVEN "\0\n" EVEN "\n4-4-x\n", 2 * sizeof EVEN + 8);
    assert_int_equal(answer.status, 1);
    char *rest = answer.text;
    assert_int_equal(strncmp(strsep(&rest, "\n"), "{\"error\":\"", 10), 0);
    assert_string_equal(strsep(&rest, "\n"), "{\"error\":\"a position holds no NUL byte\"}");
    assert_int_equal(strncmp(rest, EVEN_LINE, strlen(EVEN_LINE)), 0);
    assert_int_equal(strncmp(rest + strlen(EVEN_LINE), "{\"error\":\"field 3 ", 18), 0);
    free(answer.text);
}

static void moves_knows_the_rules(void **state)
{
    (void)state;
    static const char position[] = "0-0-6-0-3-5-1-2-1-0-0-0-15-15-S\n";
    assert_answer("moves --rules slam-illegal", position,
                  "{\"legal\":\"EF\",\"over\":false,\"reason\":\"\",\"moves\":["
                  "{\"move\":\"E\",\"captured\":5,\"grand_slam\":false,\"position\":\"0-0-6-0-0-6-0-0-1-0-0-"
                  "0-20-15-N\"},"
                  "{\"move\":\"F\",\"captured\":0,\"grand_slam\":false,\"position\":\"0-0-6-0-3-0-2-3-2-1-1-"
                  "0-15-15-N\"}"
                  "]}\n",
                  0);
    struct answer answer = run("moves --rules slam-rest-to-opponent", position, strlen(position));
    assert_non_null(strstr(answer.text, "{\"move\":\"C\",\"captured\":7,\"grand_slam\":true,"
                                        "\"position\":\"0-0-0-0-0-0-0-0-0-0-0-0-22-26-N\"}"));
    free(answer.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perft_counts_each_depth),
        cmocka_unit_test(speed_measures_what_it_computes),
        cmocka_unit_test(divide_adds_up),
        cmocka_unit_test(rules_lists_the_presets),
        cmocka_unit_test(wrong_usage_ends_with_two),
        cmocka_unit_test(every_tool_explains_itself),
        cmocka_unit_test(replay_answers_each_line),
        cmocka_unit_test(replay_refuses_surplus_moves),
        cmocka_unit_test(replay_takes_bytes_of_any_kind),
        cmocka_unit_test(lines_of_any_length_are_bounded),
        cmocka_unit_test(replay_gives_every_reference_game),
        cmocka_unit_test(moves_gives_every_reference_position),
        cmocka_unit_test(moves_refuses_bad_lines_and_goes_on),
        cmocka_unit_test(moves_knows_the_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
