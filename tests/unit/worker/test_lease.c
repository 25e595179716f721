/* Grants checked before they are played, and pairs put together from their games. */
#include "worker/lease.h"

#include "engine/build.h"
#include "tests/unit/worker/scratch.h"

static struct message_lease_grant good_grant(void)
{
    struct message_player player = {.node_limit = 100};
    struct message_lease_grant grant = {
        .lease = 4, .attempt = 2, .first_pair = 100, .pair_count = 5, .term_ms = 1000};
    grant.spec = (struct message_spec){.experiment = 1,
                                       .kind = MESSAGE_MATCH,
                                       .rules = "site",
                                       .opening_plies = 4,
                                       .a = player,
                                       .b = player};
    return grant;
}

static void check_refused(const struct message_lease_grant *grant, const char *word)
{
    char reason[512] = "";
    assert_null(lease_create(grant, engine_build(), reason, sizeof reason));
    if (strstr(reason, word) == NULL)
        fail_msg("`%s` does not say `%s`", reason, word);
}

static void what_cannot_be_played_is_refused(void **state)
{
    (void)state;
    struct message_lease_grant grant = good_grant();
    grant.pair_count = 0;
    check_refused(&grant, "0 pairs");
    grant.pair_count = LEASE_PAIRS_MAX + 1;
    check_refused(&grant, "65537 pairs");
    grant = good_grant();
    snprintf(grant.spec.rules, sizeof grant.spec.rules, "chess");
    check_refused(&grant, "site"); /* the known names are listed */
    grant = good_grant();
    grant.spec.opening_plies = PLAY_OPENING_MAX + 1;
    check_refused(&grant, "opening");
    grant = good_grant();
    grant.spec.noise_ppm = PLAY_NOISE_UNIT + 1;
    check_refused(&grant, "noise");
    grant = good_grant();
    grant.spec.b.node_limit = 0;
    check_refused(&grant, "player b has no limit");
    grant = good_grant();
    grant.spec.a.depth_limit = SEARCH_DEPTH_MAX + 1;
    check_refused(&grant, "depth");
    grant = good_grant();
    grant.spec.a.hash_kib = LEASE_HASH_KIB_MAX + 1;
    check_refused(&grant, "KiB");
    grant = good_grant();
    snprintf(grant.spec.engine_build, sizeof grant.spec.engine_build, "another 1");
    check_refused(&grant, "`another 1`");
    check_refused(&grant, engine_build());
}

static struct message_game *new_game(uint64_t pair, uint32_t leg)
{
    char moves[40];
    struct message_game *game = malloc(sizeof *game);
    assert_non_null(game);
    *game = scratch_game(pair, leg, moves);
    game->moves = strdup(moves);
    return game;
}

static void pairs_complete_in_any_order_of_their_games(void **state)
{
    (void)state;
    struct message_lease_grant grant = good_grant();
    uint64_t skip[] = {101, 103};
    grant.skip = skip;
    grant.skip_count = 2;
    char reason[512];
    struct lease *lease = lease_create(&grant, engine_build(), reason, sizeof reason);
    assert_non_null(lease);
    assert_int_equal(lease->left, 3);
    assert_true(lease->pairs[1].skipped && lease->pairs[3].skipped && !lease->pairs[0].skipped);
    assert_false(lease_finish(lease, 0, 1, new_game(100, 1)));
    assert_false(lease_finish(lease, 4, 0, new_game(104, 0)));
    assert_true(lease_finish(lease, 0, 0, new_game(100, 0)));
    assert_int_equal(lease->left, 2);
    assert_int_equal(lease->pairs[0].legs[1]->leg, 1);
    lease_forget_pair(lease, 0);
    assert_null(lease->pairs[0].legs[0]);
    assert_true(lease_finish(lease, 4, 1, new_game(104, 1)));
    assert_int_equal(lease->left, 1);
    assert_int_equal(lease->done, 2);
    lease_destroy(lease);
}

static void skips_outside_the_range_and_twice_do_no_harm(void **state)
{
    (void)state;
    struct message_lease_grant grant = good_grant();
    uint64_t skip[] = {0, 99, 104, 104, 105, UINT64_MAX};
    grant.skip = skip;
    grant.skip_count = 6;
    char reason[512];
    struct lease *lease = lease_create(&grant, engine_build(), reason, sizeof reason);
    assert_non_null(lease);
    assert_int_equal(lease->left, 4);
    lease_destroy(lease);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_played_is_refused),
        cmocka_unit_test(pairs_complete_in_any_order_of_their_games),
        cmocka_unit_test(skips_outside_the_range_and_twice_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
