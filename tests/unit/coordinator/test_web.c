#include "coordinator/web.h"

#include "coordinator/web_call.h"
#include "coordinator/web_host.h"
#include "coordinator/web_live.h"
#include "tests/unit/check.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* No database is there: what needs one says so. tests/system/test_web.sh has one. */

enum { ANSWER_MAX = 65536, EVENT_STREAMS = WEB_LISTENERS };

static int dial(unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    const struct timeval patience = {.tv_sec = 60};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* Sends the bytes and reads to the end of the connection; the status, 0 for none. */
static int ask(unsigned port, const char *bytes, char answer[ANSWER_MAX])
{
    int fd = dial(port), status = 0;
    size_t length = 0;
    (void)!send(fd, bytes, strlen(bytes), MSG_NOSIGNAL);
    for (ssize_t more; length < ANSWER_MAX - 1; length += (size_t)more)
        if ((more = recv(fd, answer + length, ANSWER_MAX - 1 - length, 0)) <= 0)
            break;
    answer[length] = '\0';
    close(fd);
    sscanf(answer, "HTTP/1.%*d %d", &status);
    return status;
}

static int get_with(unsigned port, const char *path, const char *header, char answer[ANSWER_MAX])
{
    char request[1024];
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nConnection: close\r\n%s\r\n", path, header);
    return ask(port, request, answer);
}

static int get(unsigned port, const char *path, char answer[ANSWER_MAX])
{
    return get_with(port, path, "Host: localhost\r\n", answer);
}

static struct web *open_web(const char *address, const char *hosts)
{
    char reason[512] = "";
    const struct web_options options = {
        .address = address, .hosts = hosts, .conninfo = "host=/nonexistent dbname=none"};
    struct web *web = web_create(&options, reason, sizeof reason);
    if (!web)
        fail_msg("%s", reason);
    return web;
}

static void only_its_own_names_are_hosts(void **state)
{
    (void)state;
    static const char *const ours[] = {"localhost",    "localhost:7780",   "LOCALHOST:1", "127.0.0.1",
                                       "127.0.0.1:80", "[::1]:9",          "[::1]",       "10.1.2.3:80",
                                       "kroo.lab",     "farm.example:8443"};
    static const char *const others[] = {"",
                                         "evil.example",
                                         "localhost.evil.example",
                                         "127.0.0.1.evil.example",
                                         "kroo.lab.x",
                                         "xkroo.lab",
                                         "localhost:",
                                         "localhost:80x",
                                         "[::1",
                                         "[::1]evil",
                                         "localhost@evil.example",
                                         "kroo.lab, farm.example",
                                         ",",
                                         "farm.example::",
                                         " localhost"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (!web_host_is_ours(ours[i], "10.1.2.3", "kroo.lab, farm.example"))
            fail_msg("%s is refused", ours[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (web_host_is_ours(others[i], "10.1.2.3", "kroo.lab, farm.example"))
            fail_msg("%s is taken", others[i]);
    assert_false(web_host_is_ours(NULL, "127.0.0.1", NULL));
    assert_false(web_host_is_ours("kroo.lab", "127.0.0.1", NULL));
    assert_false(web_host_is_ours("kroo.lab", "127.0.0.1", ""));
}

static void pages_come_with_strict_headers(void **state)
{
    (void)state;
    static char answer[ANSWER_MAX];
    static const char *const wanted[] = {"Content-Type: text/html; charset=utf-8\r\n",
                                         "Content-Security-Policy: default-src 'none'; script-src 'self' ",
                                         "frame-ancestors 'none'\r\n",
                                         "X-Content-Type-Options: nosniff\r\n",
                                         "Referrer-Policy: no-referrer\r\n",
                                         "Cache-Control: no-cache\r\n"};
    struct web *web = open_web("127.0.0.1:0", NULL);
    unsigned port = web_port(web);
    assert_true(port > 0);
    assert_int_equal(get(port, "/", answer), 200);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strstr(answer, wanted[i]))
            fail_msg("no %s in %s", wanted[i], answer);
    char again[256], etag[80] = "";
    assert_int_equal(sscanf(strstr(answer, "ETag: "), "ETag: %79[^\r]", etag), 1);
    snprintf(again, sizeof again, "Host: localhost\r\nIf-None-Match: %s\r\n", etag);
    assert_int_equal(get_with(port, "/", again, answer), 304);
    assert_null(strstr(answer, "<html"));
    assert_int_equal(get(port, "/kroo.css", answer), 200);
    assert_non_null(strstr(answer, "Content-Type: text/css; charset=utf-8\r\n"));
    assert_int_equal(get(port, "/shell.js", answer), 200);
    assert_non_null(strstr(answer, "Content-Type: text/javascript; charset=utf-8\r\n"));
    assert_int_equal(get(port, "/api/nothing", answer), 404);
    assert_non_null(strstr(answer, "Content-Security-Policy: "));
    web_destroy(web);
}

/* A policy without 'unsafe-inline' is of use only to pages that need none. */
static void pages_hold_no_script_or_style_of_their_own(void **state)
{
    (void)state;
    size_t pages = 0;
    for (const struct web_file *file = web_files; file->path; file++) {
        if (strncmp(file->type, "text/html", 9) != 0)
            continue;
        const char *text = (const char *)file->start;
        pages++;
        assert_null(strstr(text, "<style"));
        assert_null(strstr(text, " style="));
        assert_null(strstr(text, "http://"));
        assert_null(strstr(text, "https://"));
        assert_null(strstr(text, " onclick="));
        for (const char *script = text; (script = strstr(script, "<script")); script++)
            assert_non_null(strstr(script, "src=\"/"));
        assert_non_null(strstr(text, "<html lang=\"en\">"));
        assert_non_null(strstr(text, "<main"));
        assert_non_null(strstr(text, "name=\"viewport\""));
    }
    assert_true(pages > 0);
}

static void strangers_get_a_reason(void **state)
{
    (void)state;
    static char answer[ANSWER_MAX], large[4 * WEB_REQUEST_BYTES];
    struct web *web = open_web("127.0.0.1:0", NULL);
    unsigned port = web_port(web);
    assert_int_equal(get_with(port, "/", "Host: evil.example\r\n", answer), 421);
    assert_non_null(strstr(answer, "web_hosts"));
    assert_int_equal(get_with(port, "/api/cluster", "Host: evil.example\r\n", answer), 421);
    assert_true(get_with(port, "/", "", answer) >= 400);
    assert_int_equal(get(port, "/nothing", answer), 404);
    assert_int_equal(get(port, "/../../etc/passwd", answer), 404);
    assert_int_equal(get(port, "/%2e%2e/etc/passwd", answer), 404);
    assert_int_equal(ask(port,
                         "POST /api/cluster HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                         "Content-Length: 3\r\n\r\nabc",
                         answer),
                     405);
    assert_non_null(strstr(answer, "Allow: GET, HEAD\r\n"));
    assert_int_equal(ask(port, "DELETE / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", answer),
                     405);
    memset(large, 'a', sizeof large - 1);
    memcpy(large, "GET /", 5);
    assert_true(ask(port, large, answer) != 200);
    assert_true(ask(port, "\x01\x02\xff\r\n\r\n", answer) != 200);
    assert_int_equal(get(port, "/", answer), 200);
    web_destroy(web);
}

static void parameters_are_checked_before_the_database_is_asked(void **state)
{
    (void)state;
    static char answer[ANSWER_MAX];
    static const char *const bad[] = {"before=x",           "before=-1", "before=1234567890123456789",
                                      "before=1&before=2",  "after=3",   "before=1%00",
                                      "before=1%20or%201=1"};
    char path[128];
    struct web *web = open_web("127.0.0.1:0", NULL);
    unsigned port = web_port(web);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(path, sizeof path, "/api/experiments?%s", bad[i]);
        int status = get(port, path, answer);
        if (status != 400)
            fail_msg("%s: %d", bad[i], status);
    }
    assert_int_equal(get(port, "/api/experiments?before=12", answer), 503);
    assert_int_equal(get(port, "/api/experiments?before=", answer), 503);
    assert_non_null(strstr(answer, "Content-Type: application/json\r\n"));
    assert_non_null(strstr(answer, "{\"error\":\""));
    web_destroy(web);
}

/* Reads the status line of a stream that does not end. */
static int stream_status(int fd)
{
    char text[64] = "";
    int status = 0;
    assert_true(recv(fd, text, 32, MSG_WAITALL) == 32);
    sscanf(text, "HTTP/1.%*d %d", &status);
    return status;
}

static int follow(unsigned port)
{
    static const char request[] = "GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    int fd = dial(port);
    assert_int_equal(send(fd, request, sizeof request - 1, MSG_NOSIGNAL), sizeof request - 1);
    return fd;
}

static void listeners_are_bounded_and_end_with_the_server(void **state)
{
    (void)state;
    static char answer[ANSWER_MAX];
    struct web *web = open_web("127.0.0.1:0", NULL);
    unsigned port = web_port(web);
    int streams[EVENT_STREAMS];
    for (int i = 0; i < EVENT_STREAMS; i++) {
        streams[i] = follow(port);
        assert_int_equal(stream_status(streams[i]), 200);
    }
    int one_more = follow(port);
    assert_int_equal(stream_status(one_more), 503);
    close(one_more);
    assert_int_equal(get(port, "/", answer), 200); /* pages are served all the same */
    size_t length = 0;
    while (length < ANSWER_MAX - 1 && !strstr(answer, "event: trouble")) { /* there is no database */
        ssize_t more = recv(streams[0], answer + length, ANSWER_MAX - 1 - length, 0);
        assert_true(more > 0);
        length += (size_t)more;
        answer[length] = '\0';
    }
    /* One that leaves makes room, as soon as its thread has something to send. */
    close(streams[0]);
    int status = 503;
    for (int i = 0; i < 1000 && status == 503; i++) {
        int fd = follow(port);
        status = stream_status(fd);
        if (status == 200)
            streams[0] = fd;
        else
            close(fd);
        usleep(20000);
    }
    assert_int_equal(status, 200);
    web_destroy(web);
    for (int i = 0; i < EVENT_STREAMS; i++) {
        while (recv(streams[i], answer, sizeof answer, 0) > 0)
            ;
        close(streams[i]);
    }
}

static void a_taken_address_is_waited_for(void **state)
{
    (void)state;
    static char answer[ANSWER_MAX];
    char address[32];
    struct web *first = open_web("127.0.0.1:0", NULL);
    unsigned port = web_port(first);
    snprintf(address, sizeof address, "%u", port);
    struct web *second = open_web(address, NULL);
    assert_int_equal(web_port(second), 0);
    web_destroy(first);
    for (int i = 0; i < 3000 && web_port(second) == 0; i++)
        usleep(10000);
    assert_int_equal(web_port(second), port);
    assert_int_equal(get(port, "/", answer), 200);
    web_destroy(second);
    first = open_web("127.0.0.1:0", NULL);
    snprintf(address, sizeof address, "%u", web_port(first));
    second = open_web(address, NULL);
    web_destroy(second); /* one that waits ends at once, too */
    web_destroy(first);
}

static void beyond_this_machine_it_wants_names(void **state)
{
    (void)state;
    static char answer[ANSWER_MAX];
    char reason[512] = "";
    struct web_options options = {.address = "0.0.0.0:0", .conninfo = "host=/nonexistent"};
    assert_null(web_create(&options, reason, sizeof reason));
    assert_non_null(strstr(reason, "web_hosts"));
    options.address = "nonsense";
    assert_null(web_create(&options, reason, sizeof reason));
    assert_non_null(strstr(reason, "ADDRESS:PORT"));
    struct web *web = open_web("0.0.0.0:0", "kroo.lab");
    assert_int_equal(get_with(web_port(web), "/", "Host: kroo.lab\r\n", answer), 200);
    assert_int_equal(get_with(web_port(web), "/", "Host: other.lab\r\n", answer), 421);
    web_destroy(web);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_its_own_names_are_hosts),
        cmocka_unit_test(pages_come_with_strict_headers),
        cmocka_unit_test(pages_hold_no_script_or_style_of_their_own),
        cmocka_unit_test(strangers_get_a_reason),
        cmocka_unit_test(parameters_are_checked_before_the_database_is_asked),
        cmocka_unit_test(listeners_are_bounded_and_end_with_the_server),
        cmocka_unit_test(a_taken_address_is_waited_for),
        cmocka_unit_test(beyond_this_machine_it_wants_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
