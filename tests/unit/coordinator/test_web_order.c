#include "coordinator/web_order.h"

#include "coordinator/web_operator.h"
#include "proto/socket.h"
#include "tests/unit/check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- orders --- */

struct giver {
    struct web_orders *orders;
    struct web_order order;
    enum web_order_outcome outcome;
    char answer[MESSAGE_TEXT_MAX];
};

static void *give(void *context)
{
    struct giver *giver = context;
    giver->outcome = web_orders_give(giver->orders, &giver->order, giver->answer);
    return NULL;
}

static struct web_order await_order(struct web_orders *orders)
{
    struct web_order order;
    for (int i = 0; i < 3000; i++) {
        if (web_orders_take(orders, &order))
            return order;
        usleep(10000);
    }
    fail_msg("nothing was ordered");
    return order;
}

static void an_order_comes_once_and_gets_its_answer(void **state)
{
    (void)state;
    int wake = wake_create();
    struct web_orders *orders = web_orders_create(wake);
    struct web_order none;
    pthread_t threads[2];
    struct giver givers[2] = {
        {.orders = orders,
         .order = {.experiment = 7, .verb = MESSAGE_VERB_PAUSE, .by = "anna", .text = "hot"}},
        {.orders = orders,
         .order = {.experiment = 8, .verb = MESSAGE_VERB_STOP, .by = "ben", .text = "old"}}};
    assert_false(web_orders_take(orders, &none));
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, give, &givers[i]), 0);
    for (int i = 0; i < 2; i++) {
        struct web_order order = await_order(orders);
        const struct web_order *wanted = &givers[order.experiment == 8].order;
        assert_int_equal(order.experiment, wanted->experiment);
        assert_int_equal(order.verb, wanted->verb);
        assert_string_equal(order.by, wanted->by);
        assert_string_equal(order.text, wanted->text);
        web_orders_answer(orders, order.ticket + 100, true, "somebody else's");
        web_orders_answer(orders, order.ticket, order.experiment == 7,
                          order.experiment == 7 ? "paused" : "it has ended");
    }
    assert_false(web_orders_take(orders, &none));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(givers[0].outcome, WEB_ORDER_DONE);
    assert_string_equal(givers[0].answer, "paused");
    assert_int_equal(givers[1].outcome, WEB_ORDER_REFUSED);
    assert_string_equal(givers[1].answer, "it has ended");
    web_orders_destroy(orders);
    close(wake);
}

static void orders_are_bounded_and_let_go_at_the_end(void **state)
{
    (void)state;
    int wake = wake_create();
    struct web_orders *orders = web_orders_create(wake);
    pthread_t threads[WEB_ORDERS];
    struct giver givers[WEB_ORDERS];
    char answer[MESSAGE_TEXT_MAX];
    uint64_t last = 0;
    for (int i = 0; i < WEB_ORDERS; i++) {
        givers[i] = (struct giver){.orders = orders, .order = {.experiment = 1, .verb = MESSAGE_VERB_PAUSE}};
        assert_int_equal(pthread_create(&threads[i], NULL, give, &givers[i]), 0);
    }
    for (int i = 0; i < WEB_ORDERS; i++)
        last = await_order(orders).ticket;
    assert_int_equal(web_orders_give(orders, &givers[0].order, answer), WEB_ORDER_FULL);
    web_orders_stop(orders);
    for (int i = 0; i < WEB_ORDERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(givers[i].outcome, WEB_ORDER_LATE);
    }
    web_orders_answer(orders, last, true, "nobody waits for this");
    assert_int_equal(web_orders_give(orders, &givers[0].order, answer), WEB_ORDER_FULL);
    web_orders_destroy(orders);
    close(wake);
}

/* --- tokens --- */

static struct web_operators *load(const char *text, mode_t mode, char reason[512])
{
    char path[] = "/tmp/kroo-tokens.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
    reason[0] = '\0';
    struct web_operators *operators = web_operators_load(path, reason, 512);
    unlink(path);
    return operators;
}

#define TOKEN_A "0123456789abcdefghijklmn"
#define TOKEN_B "anotherTokenOfTwentyFour"

static void a_token_names_its_operator(void **state)
{
    (void)state;
    char reason[512];
    struct web_operators *operators =
        load("# who may\n\nanna " TOKEN_A "\nben@lab\t" TOKEN_B "  \n", 0600, reason);
    assert_non_null(operators);
    assert_string_equal(web_operators_name(operators, "Bearer " TOKEN_A), "anna");
    assert_string_equal(web_operators_name(operators, "bearer " TOKEN_B), "ben@lab");
    static const char *const others[] = {"",
                                         "Bearer ",
                                         "Bearer " TOKEN_A "x",
                                         TOKEN_A,
                                         "Bearer x",
                                         "Basic " TOKEN_A,
                                         "Bearer  " TOKEN_A,
                                         "Bearer anna",
                                         "Bearer",
                                         "Bearer " TOKEN_A " "};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_null(web_operators_name(operators, others[i]));
    assert_null(web_operators_name(operators, NULL));
    assert_null(web_operators_name(NULL, "Bearer " TOKEN_A));
    web_operators_destroy(operators);
}

static void a_file_that_is_not_private_or_not_sound_is_refused(void **state)
{
    (void)state;
    char reason[512];
    static const char *const bad[] = {"",
                                      "# nobody\n",
                                      "anna short\n",
                                      "anna\n",
                                      TOKEN_A "\n",
                                      "anna " TOKEN_A " more\n",
                                      "an;na " TOKEN_A "\n",
                                      "a-name-that-is-longer-than-any-operator " TOKEN_A "\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(load(bad[i], 0600, reason));
        assert_non_null(strstr(reason, "NAME TOKEN"));
        assert_null(strstr(reason, TOKEN_A));
    }
    assert_null(load("anna " TOKEN_A "\n", 0640, reason));
    assert_non_null(strstr(reason, "chmod 600"));
    assert_null(web_operators_load("/nonexistent/tokens", reason, sizeof reason));
    assert_non_null(strstr(reason, "No such file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_comes_once_and_gets_its_answer),
        cmocka_unit_test(orders_are_bounded_and_let_go_at_the_end),
        cmocka_unit_test(a_token_names_its_operator),
        cmocka_unit_test(a_file_that_is_not_private_or_not_sound_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
