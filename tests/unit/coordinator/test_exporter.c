#include "coordinator/exporter.h"

#include "proto/progress.h"
#include "tests/unit/check.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_MAX = 65536, IDLE_CONNECTIONS = 200 };

static int dial(unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* Sends the bytes and reads to the end of the connection; the status, 0 for none. */
static int ask(unsigned port, const char *bytes, size_t size, char answer[ANSWER_MAX])
{
    int fd = dial(port), status = 0;
    size_t length = 0;
    (void)!send(fd, bytes, size, MSG_NOSIGNAL);
    for (ssize_t more; length < ANSWER_MAX - 1; length += (size_t)more)
        if ((more = recv(fd, answer + length, ANSWER_MAX - 1 - length, 0)) <= 0)
            break;
    answer[length] = '\0';
    close(fd);
    sscanf(answer, "HTTP/1.%*d %d", &status);
    return status;
}

static int get(unsigned port, const char *path, char answer[ANSWER_MAX])
{
    char request[256];
    int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: kroo\r\n\r\n", path);
    return ask(port, request, (size_t)length, answer);
}

static struct exporter *open_exporter(void)
{
    char reason[256] = "";
    struct exporter *exporter = exporter_create("127.0.0.1:0", reason, sizeof reason);
    if (!exporter)
        fail_msg("%s", reason);
    return exporter;
}

static void pages_say_how_it_is(void **state)
{
    (void)state;
    static char answer[ANSWER_MAX];
    struct exporter *exporter = open_exporter();
    unsigned port = exporter_port(exporter);
    struct metrics metrics = {.state = METRICS_WAITING, .build = "here", .why = "another coordinator leads"};
    exporter_publish(exporter, &metrics);
    assert_int_equal(get(port, "/healthz", answer), 200);
    assert_int_equal(get(port, "/readyz", answer), 503);
    assert_non_null(strstr(answer, "waiting for the database or for leadership: another coordinator leads"));

    metrics = (struct metrics){.state = METRICS_LEADING, .why = "the database has been away for 3 s"};
    exporter_publish(exporter, &metrics);
    assert_int_equal(get(port, "/readyz", answer), 503);
    assert_non_null(strstr(answer, "away for 3 s"));

    metrics = (struct metrics){.state = METRICS_LEADING};
    metrics.number[METRIC_DATABASE_UP] = 1;
    metrics.number[METRIC_LEASES] = 11;
    exporter_publish(exporter, &metrics);
    assert_int_equal(get(port, "/readyz", answer), 200);
    assert_int_equal(get(port, "/metrics", answer), 200);
    assert_non_null(strstr(answer, "Content-Type: text/plain; version=0.0.4"));
    assert_non_null(strstr(answer, "\nkroo_leases 11\n"));

    metrics.state = METRICS_DRAINING;
    exporter_publish(exporter, &metrics);
    assert_int_equal(get(port, "/readyz", answer), 503);
    assert_int_equal(get(port, "/healthz", answer), 200);
    exporter_destroy(exporter);
}

static void strangers_get_a_status_or_nothing(void **state)
{
    (void)state;
    static char answer[ANSWER_MAX], large[4 * EXPORTER_REQUEST_BYTES];
    struct exporter *exporter = open_exporter();
    unsigned port = exporter_port(exporter);
    static const char post[] = "POST /metrics HTTP/1.1\r\nHost: kroo\r\nContent-Length: 3\r\n\r\nabc",
                      noise[] = "\x01\x02\xff\r\n\r\n", half[] = "GET /met";
    assert_int_equal(get(port, "/", answer), 404);
    assert_int_equal(get(port, "/metrics/../../etc/passwd", answer), 404);
    assert_int_equal(ask(port, post, sizeof post - 1, answer), 405);
    memset(large, 'a', sizeof large);
    memcpy(large, "GET /", 5);
    assert_true(ask(port, large, sizeof large, answer) != 200);
    assert_true(ask(port, noise, sizeof noise - 1, answer) != 200);
    int hanging = dial(port);
    assert_int_equal(send(hanging, half, sizeof half - 1, 0), sizeof half - 1);
    assert_int_equal(get(port, "/metrics", answer), 200);
    char byte;
    assert_true(recv(hanging, &byte, 1, 0) <= 0); /* it is closed after EXPORTER_SILENT_S */
    close(hanging);
    exporter_destroy(exporter);
}

/* OCEAN-xyz/datum_gateway#186: a page frozen by idle keep-alives. */
static void idle_connections_do_not_freeze_it(void **state)
{
    (void)state;
    static char answer[ANSWER_MAX];
    struct exporter *exporter = open_exporter();
    unsigned port = exporter_port(exporter);
    int idle[IDLE_CONNECTIONS];
    for (int i = 0; i < IDLE_CONNECTIONS; i++)
        idle[i] = dial(port);
    int64_t begun_ms = progress_now_ms();
    assert_int_equal(get(port, "/metrics", answer), 200);
    print_message("# /metrics among %d idle connections: %lld ms\n", IDLE_CONNECTIONS,
                  (long long)(progress_now_ms() - begun_ms));
    for (int i = 0; i < IDLE_CONNECTIONS; i++)
        close(idle[i]);
    exporter_destroy(exporter);
}

static void a_bad_address_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",      "x",  "127.0.0.1:",    "127.0.0.1:65536", "::1:9710",
                                        "1:2:3", "-1", "127.0.0.1:97x", "256.1.1.1:0"};
    char reason[256];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        reason[0] = '\0';
        assert_null(exporter_create(wrong[i], reason, sizeof reason));
        assert_non_null(strstr(reason, "metrics"));
    }
    struct exporter *exporter = open_exporter();
    char taken[32];
    snprintf(taken, sizeof taken, "%u", exporter_port(exporter)); /* a bare port is of the loopback address */
    assert_null(exporter_create(taken, reason, sizeof reason));
    assert_non_null(strstr(reason, "Address already in use"));
    exporter_destroy(exporter);
    exporter_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_say_how_it_is),
        cmocka_unit_test(strangers_get_a_status_or_nothing),
        cmocka_unit_test(idle_connections_do_not_freeze_it),
        cmocka_unit_test(a_bad_address_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
