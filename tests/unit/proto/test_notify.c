#include "proto/notify.h"

#include "tests/unit/check.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[64], path[96];
static int supervisor = -1;

static int set_up(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(folder, sizeof folder, "/tmp/kroo-notify.XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/socket", folder);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    supervisor = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(supervisor, (const struct sockaddr *)&address, sizeof address), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    notify_close();
    close(supervisor);
    unlink(path);
    return rmdir(folder);
}

static void heard(const char *expected)
{
    char text[1024];
    ssize_t length = recv(supervisor, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    assert_string_equal(text, expected);
}

static void ready_is_said_once(void **state)
{
    (void)state;
    setenv("NOTIFY_SOCKET", path, 1);
    notify_open();
    assert_null(getenv("NOTIFY_SOCKET")); /* a hook must not speak for us */
    notify_ready("waiting:\nREADY=1");
    heard("READY=1\nSTATUS=waiting: READY=1");
    notify_ready("leading");
    heard("STATUS=leading");
    notify_alive(1); /* no watchdog was asked for */
    heard("");
    notify_stopping();
    heard("STOPPING=1");
}

static void the_watchdog_is_fed_within_its_term(void **state)
{
    (void)state;
    setenv("NOTIFY_SOCKET", path, 1);
    setenv("WATCHDOG_USEC", "3000000", 1);
    notify_open();
    notify_alive(100);
    heard("WATCHDOG=1");
    notify_alive(1000);
    heard("");
    notify_alive(1100);
    heard("WATCHDOG=1");
    setenv("NOTIFY_SOCKET", path, 1);
    setenv("WATCHDOG_USEC", "3000000", 1);
    setenv("WATCHDOG_PID", "1", 1); /* of another process */
    notify_open();
    notify_alive(5000);
    heard("");
}

static void an_abstract_socket_does_as_well(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char name[64], text[64];
    int length = snprintf(name, sizeof name, "@kroo-notify-%d", (int)getpid());
    memcpy(address.sun_path + 1, name + 1, (size_t)length - 1);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)length)),
                     0);
    setenv("NOTIFY_SOCKET", name, 1);
    notify_open();
    notify_stopping();
    assert_int_equal(recv(fd, text, sizeof text, 0), 10);
    close(fd);
}

static void without_a_supervisor_nothing_happens(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "/", "relative", "/nowhere/at/all"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("NOTIFY_SOCKET", wrong[i], 1);
        notify_open();
        notify_ready("x");
        notify_alive(1);
        notify_stopping();
    }
    heard("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ready_is_said_once),
        cmocka_unit_test(the_watchdog_is_fed_within_its_term),
        cmocka_unit_test(an_abstract_socket_does_as_well),
        cmocka_unit_test(without_a_supervisor_nothing_happens),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
