/* Log lines and progress: what reaches standard error. */
#include "tests/unit/proto/scratch.h"

#include <pty.h>

#include "proto/log.h"
#include "proto/progress.h"

/* Puts `to` in the place of standard error and returns what was there. */
static int divert(int to)
{
    int kept = dup(STDERR_FILENO);
    assert_true(kept >= 0);
    assert_true(dup2(to, STDERR_FILENO) >= 0);
    return kept;
}

static void restore(int kept)
{
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    (void)close(kept);
}

static size_t take(int from, char *text, size_t size)
{
    ssize_t got = read(from, text, size - 1);
    assert_true(got >= 0);
    text[got] = '\0';
    return (size_t)got;
}

static void test_log_line(void **state)
{
    (void)state;
    int ends[2];
    char text[8192], longest[4000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(pipe(ends), 0);
    int kept = divert(ends[1]);
    log_line(LOG_LEVEL_DEBUG, "hidden", "n=1");
    log_line(LOG_LEVEL_INFO, "hello", "name=%s slots=%d", "a\nfake\033[2J", 3);
    log_line(LOG_LEVEL_ERROR, "long", "%s", longest);
    log_set_level(LOG_LEVEL_ERROR);
    log_line(LOG_LEVEL_WARNING, "hidden", "n=2");
    log_set_level(LOG_LEVEL_INFO);
    restore(kept);
    (void)take(ends[0], text, sizeof text);
    char *second = strchr(text, '\n') + 1;
    assert_non_null(strstr(text, "Z info hello name=a fake [2J slots=3\n"));
    assert_int_equal(text[4], '-');
    assert_int_equal(text[10], 'T');
    assert_int_equal(text[23], 'Z');
    assert_non_null(strstr(second, " error long xxx"));
    assert_string_equal(second + strlen(second) - 4, "...\n");
    assert_true(strlen(second) <= 2048);
    assert_null(strstr(text, "hidden"));
    (void)close(ends[0]);
    (void)close(ends[1]);
}

/* Each line is an object, whatever was logged. */
static void test_json_lines(void **state)
{
    (void)state;
    static const struct {
        const char *body, *rest;
    } lines[] = {
        {"lease=5 left=-12: no progress; again",
         "\"fields\":{\"lease\":5,\"left\":-12},\"text\":\"no progress; again\"}\n"},
        {"build=\"a b\" name=x\\y", "\"fields\":{\"build\":\"a b\",\"name\":\"x\\\\y\"}}\n"},
        {"reason=\"says \"no\" twice\" n=007",
         "\"fields\":{\"reason\":\"says \\\"no\\\" twice\",\"n\":\"007\"}}\n"},
        {"leading", "\"fields\":{},\"text\":\"leading\"}\n"},
        {"a=\"open b=2", "\"fields\":{\"a\":\"\\\"open\",\"b\":2}}\n"},
        {"id=12345678901234567890 at=\xff\n{",
         "\"fields\":{\"id\":\"12345678901234567890\",\"at\":\"?\"},\"text\":\"{\"}\n"},
        {"", "\"fields\":{}}\n"},
    };
    int ends[2];
    char text[8192], longest[2 * 2048];
    assert_int_equal(pipe(ends), 0);
    log_set_format(LOG_FORMAT_JSON);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        int kept = divert(ends[1]);
        log_line(LOG_LEVEL_WARNING, "it", "%s", lines[i].body);
        restore(kept);
        (void)take(ends[0], text, sizeof text);
        assert_non_null(strstr(text, "Z\",\"level\":\"warning\",\"event\":\"it\","));
        assert_string_equal(strstr(text, "\"fields\""), lines[i].rest);
    }
    memset(longest, '"', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    int kept = divert(ends[1]);
    log_line(LOG_LEVEL_ERROR, "long", "a=1 b=%s", longest);
    restore(kept);
    log_set_format(LOG_FORMAT_TEXT);
    size_t length = take(ends[0], text, sizeof text);
    assert_true(length < 3 * 2048);
    assert_string_equal(text + length - 3, "}}\n");
    assert_non_null(strstr(text, "{\"a\":1"));
    enum log_format format = LOG_FORMAT_TEXT;
    assert_int_equal(log_parse_format("json", &format), 0);
    assert_int_equal(format, LOG_FORMAT_JSON);
    assert_int_equal(log_parse_format("xml", &format), -1);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static void test_log_levels(void **state)
{
    (void)state;
    enum log_level level = LOG_LEVEL_ERROR;
    assert_int_equal(log_parse_level("debug", &level), 0);
    assert_int_equal(level, LOG_LEVEL_DEBUG);
    assert_int_equal(log_parse_level("warning", &level), 0);
    assert_int_equal(level, LOG_LEVEL_WARNING);
    assert_int_equal(log_parse_level("loud", &level), -1);
    assert_int_equal(level, LOG_LEVEL_WARNING);
}

static void test_progress_text(void **state)
{
    (void)state;
    char text[256];
    struct progress progress;
    progress_init(&progress, "self-play", "games", 400, false);
    progress.terminal = false;
    (void)progress_text(&progress, 100, 10000, NULL, text, sizeof text);
    assert_string_equal(text, "self-play  25%  100/400 games  10.0/s  0:10  0:30 left");
    progress.first = 50; /* resumed: only 50 of the 100 were made now */
    (void)progress_text(&progress, 100, 10000, "LLR 1.20", text, sizeof text);
    assert_string_equal(text, "self-play  25%  100/400 games  5.0/s  0:10  1:00 left  LLR 1.20");
    (void)progress_text(&progress, 400, 3600000, "", text, sizeof text);
    assert_string_equal(text, "self-play 100%  400/400 games  0.1/s  1:00:00");
    (void)progress_text(&progress, 50, 0, NULL, text, sizeof text); /* no rate yet, no time left */
    assert_string_equal(text, "self-play  12%  50/400 games  0.0/s  0:00");
    progress.total = 0;
    progress.first = 0;
    (void)progress_text(&progress, 123456, 1000, NULL, text, sizeof text);
    assert_string_equal(text, "self-play 123456 games  123456/s  0:01");
    progress.total = 400;
    progress.terminal = true;
    (void)progress_text(&progress, 100, 10000, NULL, text, sizeof text);
    assert_non_null(strstr(text, "self-play [######..................]  25%"));
    (void)progress_text(&progress, 500, 10000, NULL, text, sizeof text);
    assert_non_null(strstr(text, "[########################] 100%"));
    assert_int_equal(progress_text(&progress, 100, 10000, "note", text, 20), 19);
}

static void test_progress_plain_lines(void **state)
{
    (void)state;
    int ends[2];
    char text[4096];
    struct progress progress;
    assert_int_equal(pipe(ends), 0);
    int kept = divert(ends[1]);
    progress_init(&progress, "fit", "steps", 10, false);
    for (uint64_t i = 0; i < 1000; i++)
        progress_show(&progress, i % 10, NULL); /* within the first five seconds: nothing */
    progress.started_ms -= 6000;
    progress_show(&progress, 6, NULL);
    progress_show(&progress, 7, NULL);
    progress_end(&progress, 10, "done");
    progress_init(&progress, "quiet", "steps", 10, true);
    progress_show(&progress, 5, NULL);
    progress_end(&progress, 10, NULL);
    restore(kept);
    (void)take(ends[0], text, sizeof text);
    assert_non_null(strstr(text, "6/10 steps"));
    assert_null(strstr(text, "7/10 steps"));
    assert_non_null(strstr(text, "100%  10/10 steps"));
    assert_null(strstr(text, "quiet"));
    assert_null(strchr(text, '\r'));
    assert_null(strchr(text, '\033'));
    assert_int_equal(text[strlen(text) - 1], '\n');
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static void test_progress_on_a_terminal(void **state)
{
    (void)state;
    int master = -1, slave = -1;
    char text[4096];
    const struct winsize window = {.ws_row = 24, .ws_col = 40};
    assert_int_equal(openpty(&master, &slave, NULL, NULL, &window), 0);
    int kept = divert(slave);
    struct progress progress;
    progress_init(&progress, "fit", "steps", 10, false);
    assert_true(progress.terminal);
    for (uint64_t i = 0; i < 1000; i++)
        progress_show(&progress, i % 10, "a note that goes beyond the edge of the window");
    progress_end(&progress, 10, NULL);
    restore(kept);
    size_t size = 0;
    while (size == 0 || text[size - 1] != '\n') /* a terminal hands its bytes out in pieces */
        size += take(master, text + size, sizeof text - size);
    unsigned redraws = 0;
    for (size_t i = 0; i < size; i++)
        redraws += text[i] == '\r' && text[i + 1] != '\n';
    assert_true(redraws >= 2 && redraws < 100); /* the first at once, the last, and few between */
    assert_null(strstr(text, "edge"));
    assert_int_equal(text[size - 1], '\n');
    (void)close(master);
    (void)close(slave);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_line),
        cmocka_unit_test(test_json_lines),
        cmocka_unit_test(test_log_levels),
        cmocka_unit_test(test_progress_text),
        cmocka_unit_test(test_progress_plain_lines),
        cmocka_unit_test(test_progress_on_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
