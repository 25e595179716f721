#include "coordinator/explain.h"

#include <string.h>

#include "coordinator/meter.h"
#include "tests/unit/check.h"

static const uint64_t experiments[] = {12, 15};

static struct explain_facts facts_of_a_fine_worker(void)
{
    return (struct explain_facts){.silent_ms = 1000, .silent_most_ms = 20000, .term_ms = 60000, .told = ""};
}

static void check(const struct explain_facts *facts, enum explain_state state, const char *says)
{
    char sentence[EXPLAIN_TEXT];
    assert_int_equal(explain(facts, sentence), state);
    if (!strstr(sentence, says))
        fail_msg("\"%s\" does not say \"%s\"", sentence, says);
}

/* fishnet#223, #219: users could not tell why a client was idle. */
static void every_state_has_its_sentence(void **state)
{
    (void)state;
    struct explain_facts facts = facts_of_a_fine_worker();
    check(&facts, EXPLAIN_IDLE, "has asked for nothing");
    facts.told = "experiment 12 needs the tag gpu";
    facts.told_ms = 3000;
    check(&facts, EXPLAIN_WAITING, "it waits: experiment 12 needs the tag gpu (told 3 s ago)");
    facts.leases = 2;
    facts.pairs_out = 40;
    facts.experiments = experiments;
    facts.experiment_count = 2;
    facts.games_per_minute = 120;
    check(&facts, EXPLAIN_PLAYING,
          "it plays experiments 12, 15: 40 pairs of 2 leases are out, 120.0 games a minute");
    facts.unfit = "its bench varies by 40 %";
    check(&facts, EXPLAIN_PLAYING, "it gets no timed play: its bench varies");
    facts.speed = 2900000;
    facts.measured_ms = 40500;
    check(&facts, EXPLAIN_PLAYING, "its bench varies by 40 % (measured 40 s ago)");
    facts.unfit = NULL;
    check(&facts, EXPLAIN_PLAYING, "it is fit for timed play (2900000 nodes a second, measured 40 s ago)");
    facts.set_aside = "its results differ from others'";
    check(&facts, EXPLAIN_SET_ASIDE, "set aside and gets no pairs: its results differ");
    facts.silent_ms = 20001;
    check(&facts, EXPLAIN_GONE, "nothing was heard of it for 20 s");
    check(&facts, EXPLAIN_GONE, "goes to others once 60 s pass");
    for (int s = EXPLAIN_PLAYING; s <= EXPLAIN_GONE; s++)
        assert_true(strlen(explain_state_name((enum explain_state)s)) > 3);
}

static void a_long_reason_is_cut(void **state)
{
    (void)state;
    char told[2000], sentence[EXPLAIN_TEXT];
    struct explain_facts facts = facts_of_a_fine_worker();
    memset(told, 'x', sizeof told);
    told[sizeof told - 1] = '\0';
    facts.told = told;
    facts.unfit = told;
    assert_int_equal(explain(&facts, sentence), EXPLAIN_WAITING);
    assert_int_equal(strlen(sentence), EXPLAIN_TEXT - 1);
}

static void a_meter_forgets(void **state)
{
    (void)state;
    struct meter meter = {0};
    assert_close(meter_games_per_minute(&meter, 1000), 0, 0);
    meter_add(&meter, 500, 1, 1000); /* in what time, nobody knows */
    assert_close(meter_games_per_minute(&meter, 1000), 0, 0);
    for (int64_t now = 2000; now <= 601000; now += 1000)
        meter_add(&meter, 2, 3000, now);
    assert_close(meter_games_per_minute(&meter, 601000), 120, 1.5);
    assert_close(meter_nodes_per_second(&meter, 601000), 3000, 40);
    assert_close(meter_games_per_minute(&meter, 601000 + METER_MS), 120 / 2.71828, 1);
    for (int64_t now = 602000; now <= 1201000; now += 1000)
        meter_add(&meter, 10, 100, now);
    assert_close(meter_games_per_minute(&meter, 1201000), 600, 6);
    /* A clock that stands still divides nothing by nothing. */
    struct meter still = {0};
    meter_add(&still, 1, 1, 5);
    meter_add(&still, 1, 1, 5);
    assert_close(meter_games_per_minute(&still, 5), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_has_its_sentence),
        cmocka_unit_test(a_long_reason_is_cut),
        cmocka_unit_test(a_meter_forgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
