#include "coordinator/metrics.h"

#include "tests/unit/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *render(const struct metrics *metrics)
{
    size_t size = 0;
    char *text = metrics_render(metrics, &size);
    assert_non_null(text);
    assert_int_equal(size, strlen(text));
    assert_int_equal(text[size - 1], '\n');
    return text;
}

static void buckets_are_cumulative_and_hold_their_bound(void **state)
{
    (void)state;
    struct metrics metrics = {0};
    struct histogram *histogram = &metrics.histogram[METRIC_COMMIT_SECONDS];
    histogram_add(histogram, 0.0005); /* a bound belongs to its bucket */
    histogram_add(histogram, 0.004);
    histogram_add(histogram, 0.25);
    histogram_add(histogram, 100);
    histogram_add(histogram, -1); /* a clock that stepped back */
    char *text = render(&metrics);
    assert_non_null(strstr(text, "kroo_commit_seconds_bucket{le=\"0.0005\"} 2\n"));
    assert_non_null(strstr(text, "kroo_commit_seconds_bucket{le=\"0.0025\"} 2\n"));
    assert_non_null(strstr(text, "kroo_commit_seconds_bucket{le=\"0.005\"} 3\n"));
    assert_non_null(strstr(text, "kroo_commit_seconds_bucket{le=\"0.25\"} 4\n"));
    assert_non_null(strstr(text, "kroo_commit_seconds_bucket{le=\"30\"} 4\n"));
    assert_non_null(strstr(text, "kroo_commit_seconds_bucket{le=\"+Inf\"} 5\n"));
    assert_non_null(strstr(text, "kroo_commit_seconds_sum 100.2545\n"));
    assert_non_null(strstr(text, "kroo_commit_seconds_count 5\n"));
    free(text);
}

static void numbers_are_whole_and_large(void **state)
{
    (void)state;
    struct metrics metrics = {0};
    metrics.number[METRIC_GAMES_COMMITTED] = 123456789012345.0;
    metrics.number[METRIC_WORKERS_IDLE] = 7;
    metrics.number[METRIC_WRITER_ROUND_AGE] = 0.25;
    char *text = render(&metrics);
    assert_non_null(strstr(
        text, "# TYPE kroo_games_committed_total counter\nkroo_games_committed_total 123456789012345\n"));
    assert_non_null(strstr(text, "# TYPE kroo_workers gauge\n"));
    assert_non_null(strstr(text, "\nkroo_workers{state=\"idle\"} 7\n"));
    assert_non_null(strstr(text, "\nkroo_writer_round_age_seconds 0.25\n"));
    free(text);
}

/* Each name has its HELP and TYPE once, before its series, and its series stand together. */
static void every_name_is_described_once(void **state)
{
    (void)state;
    struct metrics metrics = {0};
    char *text = render(&metrics), *rest = NULL, current[128] = "", seen[64][128];
    size_t count = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, "# HELP ", 7) == 0) {
            snprintf(current, sizeof current, "%.*s", (int)strcspn(line + 7, " "), line + 7);
            for (size_t i = 0; i < count; i++)
                assert_string_not_equal(seen[i], current);
            assert_true(count < 64);
            snprintf(seen[count++], sizeof seen[0], "%s", current);
        } else if (line[0] != '#') {
            assert_true(strncmp(line, current, strlen(current)) == 0);
        }
    }
    assert_true(count > 30);
    free(text);
}

static void a_label_is_escaped(void **state)
{
    (void)state;
    struct metrics metrics = {.build = "a \"b\" \\ c\nd"};
    char *text = render(&metrics);
    assert_non_null(strstr(text, "kroo_build_info{build=\"a \\\"b\\\" \\\\ c\\nd\"} 1\n"));
    free(text);
}

static void the_process_has_its_figures(void **state)
{
    (void)state;
    struct metrics metrics = {.started_s = 1800000000};
    char *text = render(&metrics);
    static const char *const names[] = {"\nprocess_resident_memory_bytes ", "\nprocess_open_fds ",
                                        "\nprocess_max_fds ", "\nprocess_start_time_seconds "};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *at = strstr(text, names[i]);
        assert_non_null(at);
        assert_true(strtod(at + strlen(names[i]), NULL) > 0);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_are_cumulative_and_hold_their_bound),
        cmocka_unit_test(numbers_are_whole_and_large),
        cmocka_unit_test(every_name_is_described_once),
        cmocka_unit_test(a_label_is_escaped),
        cmocka_unit_test(the_process_has_its_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
