/* Games: each counts once, whatever is sent again, in whatever order; other content is a dispute; long ones
 * fit; the counters can be recomputed. */
#include "sql/store_rollup.h"
#include "tests/unit/sql/fixture.h"

static struct store *store;

static int open_store(void **state)
{
    if (fixture_migrate(state) != 0)
        return -1;
    store = fixture_open("kroo_coordinator");
    return 0;
}

static int close_store(void **state)
{
    (void)state;
    store_close(store);
    return 0;
}

static uint64_t new_experiment(void)
{
    struct store_experiment experiment = fixture_experiment(store);
    return fixture_create(store, &experiment);
}

static uint64_t stored(uint64_t experiment)
{
    return strtoull(
        fixture_cell_of(store, "select count(*) from game where experiment_id = %" PRIu64, experiment), NULL,
        10);
}

static uint64_t differences(uint64_t experiment)
{
    return strtoull(fixture_cell_of(store,
                                    "select count(*) from counter_difference where experiment_id = %" PRIu64,
                                    experiment),
                    NULL, 10);
}

static void a_game_comes_back_as_it_was(void **state)
{
    (void)state;
    uint64_t id = new_experiment();
    struct fixture_games made = fixture_games(id, 5, 1);
    made.games[1].scores = NULL;
    made.games[1].scores_size = 0;
    made.games[1].lease = 17;
    made.games[1].session = 18;
    made.games[1].attempt = 3;
    fixture_put(store, &made);
    assert_int_equal(fixture_outcomes(&made, STORE_GAME_INSERTED), 2);
    for (size_t i = 0; i < 2; i++) {
        const struct store_game *game = &made.games[i];
        char leg[2] = {(char)('0' + game->leg), 0}, number[24], expected[512],
             hex[4 * FIXTURE_PLIES + 3] = "\\x";
        snprintf(number, sizeof number, "%" PRIu64, id);
        const char *const parameters[] = {number, leg};
        struct store_table table;
        assert_ok(store,
                  store_query(
                      store,
                      "select concat_ws(' ', pair_no, attempt, lease_id, session_id, plies, result, reason, "
                      "south, north, a_half_points, claimed, nodes, time_ms, first_move), moves, scores "
                      "from game where experiment_id = $1 and leg = $2",
                      parameters, 2, &table));
        assert_int_equal(table.rows, 1);
        snprintf(expected, sizeof expected, "5 %u %u %u %zu %s %s %u %u %u f 90000 250 %c", game->attempt,
                 (unsigned)game->lease, (unsigned)game->session, game->plies, game->result, game->reason,
                 game->south, game->north, game->a_half_points, game->moves[0]);
        assert_string_equal(store_cell(&table, 0, 0), expected);
        assert_int_equal(strlen(store_cell(&table, 0, 1)), game->plies);
        assert_memory_equal(store_cell(&table, 0, 1), game->moves, game->plies);
        if (game->scores != NULL) {
            sodium_bin2hex(hex + 2, sizeof hex - 2, game->scores, game->scores_size);
            assert_string_equal(store_cell(&table, 0, 2), hex);
        } else {
            assert_null(table.cells[2]);
        }
        store_table_done(&table);
    }
    fixture_games_done(&made);
}

/* Commit ambiguity: what may or may not be there is sent again, and counts once. */
static void sent_again_counts_once(void **state)
{
    (void)state;
    uint64_t id = new_experiment();
    struct fixture_games made = fixture_games(id, 0, 50), more = fixture_games(id, 40, 20);
    fixture_put(store, &made);
    fixture_put(store, &made);
    assert_int_equal(fixture_outcomes(&made, STORE_GAME_DUPLICATE), 100);
    fixture_put(store, &more); /* half of it known */
    assert_int_equal(fixture_outcomes(&more, STORE_GAME_DUPLICATE), 20);
    assert_int_equal(fixture_outcomes(&more, STORE_GAME_INSERTED), 20);
    for (size_t i = 0; i < more.count; i++)
        assert_int_equal(more.outcome[i], i < 20 ? STORE_GAME_DUPLICATE : STORE_GAME_INSERTED);
    assert_int_equal(stored(id), 120);
    assert_string_equal(
        fixture_cell_of(store, "select count(*) from dispute where experiment_id = %" PRIu64, id), "0");
    fixture_games_done(&made);
    fixture_games_done(&more);
}

/* Duplicates and conflicts are not played again; the segment's size is the schema's. */
static void who_played_is_counted_once(void **state)
{
    (void)state;
    uint64_t id = new_experiment();
    struct fixture_games made = fixture_games(id, 0, 6), far = fixture_games(id, STORE_SEGMENT_PAIRS - 1, 2);
    made.games[3].session = far.games[0].session = 77;
    fixture_put(store, &made);
    fixture_put(store, &made);
    made.games[0].session = 78; /* the same game from somebody else */
    fixture_put(store, &made);
    fixture_put(store, &far);
    assert_string_equal(
        fixture_cell_of(store,
                        "select string_agg(segment || ':' || games, ' ' order by segment) from "
                        "session_rollup where session_id = 77 and experiment_id = %" PRIu64,
                        id),
        "0:2");
    assert_string_equal(
        fixture_cell_of(store,
                        "select sum(games) || ' in ' || count(distinct segment) || ', ' || count(*) filter "
                        "(where session_id = 78) from session_rollup where experiment_id = %" PRIu64,
                        id),
        "16 in 2, 0");
    assert_string_equal(
        fixture_cell_of(
            store, "select count(*) from verify_rollups(%" PRIu64 ") where source = 'session_rollup'", id),
        "0");
    fixture_games_done(&made);
    fixture_games_done(&far);
}

static void a_rolled_back_batch_is_not_there(void **state)
{
    (void)state;
    uint64_t id = new_experiment();
    struct fixture_games made = fixture_games(id, 0, 10);
    assert_ok(store, store_begin(store));
    assert_ok(store, store_games_put(store, made.games, made.count, made.outcome));
    assert_ok(store, store_rollback(store));
    assert_int_equal(stored(id), 0);
    fixture_put(store, &made);
    assert_int_equal(fixture_outcomes(&made, STORE_GAME_INSERTED), 20);
    fixture_games_done(&made);
}

static void without_a_transaction_nothing_is_stored(void **state)
{
    (void)state;
    uint64_t id = new_experiment();
    struct fixture_games made = fixture_games(id, 0, 1);
    assert_int_equal(store_games_put(store, made.games, made.count, made.outcome), STORE_ERROR_REFUSED);
    assert_int_equal(stored(id), 0);
    fixture_games_done(&made);
}

static void keys_twice_in_one_batch_and_any_order(void **state)
{
    (void)state;
    uint64_t id = new_experiment(), other = new_experiment();
    struct fixture_games made = fixture_games(id, 0, 4); /* 8 games */
    struct store_game batch[11];
    enum store_outcome outcome[11];
    for (size_t i = 0; i < 8; i++)
        batch[i] = made.games[7 - i];
    batch[8] = made.games[2]; /* the same again */
    batch[9] = made.games[3];
    batch[9].moves = made.games[4].moves; /* other content for a key of this batch */
    batch[9].plies = 60;
    batch[9].scores_size = 120;
    batch[10] = made.games[0];
    batch[10].experiment = other;
    assert_ok(store, store_begin(store));
    assert_ok(store, store_games_put(store, batch, 11, outcome));
    assert_ok(store, store_commit(store));
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(outcome[i], STORE_GAME_INSERTED);
    assert_int_equal(outcome[8], STORE_GAME_DUPLICATE);
    assert_int_equal(outcome[9], STORE_GAME_CONFLICT);
    assert_int_equal(outcome[10], STORE_GAME_INSERTED);
    assert_int_equal(stored(id), 8);
    assert_int_equal(stored(other), 1);
    fixture_games_done(&made);
}

static uint64_t runs_of(uint64_t id, uint64_t pair)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "select count(*) from dispute_run r join dispute d on d.id = r.dispute_id where experiment_id = "
             "%" PRIu64 " and pair_no = %" PRIu64,
             id, pair);
    return strtoull(fixture_cell(store, sql), NULL, 10);
}

/* The stored game stays; the dispute holds both; sending again adds nothing; the prefix waits. */
static void other_content_is_a_dispute(void **state)
{
    (void)state;
    uint64_t id = new_experiment();
    struct fixture_games made = fixture_games(id, 0, 6);
    fixture_put(store, &made);
    char kept[FIXTURE_PLIES + 1] = "";
    memcpy(kept, made.games[7].moves, made.games[7].plies);
    struct store_game changed[3] = {made.games[7], made.games[7], made.games[9]};
    enum store_outcome outcome[3];
    char moves[FIXTURE_PLIES];
    memcpy(moves, changed[0].moves, changed[0].plies);
    moves[50] = moves[50] == 'A' ? 'B' : 'A';
    changed[0].moves = moves; /* pair 3: other moves, another session */
    changed[0].session = 2;
    changed[0].attempt = 2;
    changed[1].session = 3; /* pair 3: agrees with the stored one */
    uint8_t scores[2 * FIXTURE_PLIES];
    memcpy(scores, changed[2].scores, changed[2].scores_size);
    scores[9] ^= 1;
    changed[2].scores = scores; /* pair 4: same moves, other scores */
    changed[2].session = 2;
    for (int times = 0; times < 2; times++) {
        assert_ok(store, store_begin(store));
        assert_ok(store, store_games_put(store, changed, 3, outcome));
        assert_ok(store, store_commit(store));
        assert_int_equal(outcome[0], STORE_GAME_CONFLICT);
        assert_int_equal(outcome[1], STORE_GAME_DUPLICATE);
        assert_int_equal(outcome[2], STORE_GAME_CONFLICT);
    }
    assert_int_equal(runs_of(id, 3), 3);
    assert_int_equal(runs_of(id, 4), 2);
    assert_string_equal(fixture_cell_of(store,
                                        "select string_agg(reason, '; ' order by pair_no) from dispute "
                                        "where experiment_id = %" PRIu64,
                                        id),
                        "leg 1 came with other moves; leg 1 came with other scores");
    assert_string_equal(
        fixture_cell_of(store,
                        "select count(distinct content_sha256) from dispute_run r join dispute d "
                        "on d.id = r.dispute_id where pair_no = 3 and experiment_id = %" PRIu64,
                        id),
        "2");
    assert_string_equal(fixture_cell_of(store,
                                        "select moves from game where pair_no = 3 and leg = 1 and "
                                        "experiment_id = %" PRIu64,
                                        id),
                        kept);
    uint64_t *pairs;
    size_t count;
    assert_ok(store, store_disputed_pairs(store, id, &pairs, &count));
    assert_int_equal(count, 2);
    assert_true(pairs[0] == 3 && pairs[1] == 4);
    free(pairs);
    assert_string_equal(
        fixture_cell_of(store, "select prefix_pairs from counters_recompute(%" PRIu64 ")", id), "3");
    fixture_games_done(&made);
}

/* What the prefix has passed it does not wait for; the pair is out of the games that count all the same. */
static void a_dispute_after_counting(void **state)
{
    (void)state;
    uint64_t id = new_experiment();
    struct fixture_games made = fixture_games(id, 0, 6);
    fixture_put(store, &made);
    fixture_count(store, id);
    struct store_game changed = made.games[4];
    changed.scores = NULL;
    changed.scores_size = 0;
    enum store_outcome outcome;
    assert_ok(store, store_begin(store));
    assert_ok(store, store_games_put(store, &changed, 1, &outcome));
    assert_ok(store, store_commit(store));
    assert_int_equal(outcome, STORE_GAME_CONFLICT);
    uint64_t *pairs;
    size_t count;
    assert_ok(store, store_disputed_pairs(store, id, &pairs, &count));
    assert_int_equal(count, 0);
    free(pairs);
    assert_int_equal(differences(id), 0);
    assert_string_equal(
        fixture_cell_of(store, "select count(*) from game_counted where experiment_id = %" PRIu64, id), "10");
    fixture_games_done(&made);
}

static void refuse_game(struct store_game game, const char *word)
{
    enum store_outcome outcome;
    assert_ok(store, store_begin(store));
    assert_int_equal(store_games_put(store, &game, 1, &outcome), STORE_ERROR_REFUSED);
    if (strstr(store_reason(store), word) == NULL)
        fail_msg("no word of %s in: %s", word, store_reason(store));
    /* The transaction lives on. */
    assert_ok(store, store_event(store, "refused", 0, 0, word));
    assert_ok(store, store_commit(store));
}

static void bad_games_are_refused(void **state)
{
    (void)state;
    uint64_t id = new_experiment();
    struct fixture_games made = fixture_games(id, 0, 1);
    struct store_game good = made.games[0], bad;
    good.south = 26;
    good.north = 10;
    good.a_half_points = 2;
    snprintf(good.result, sizeof good.result, "south");
    snprintf(good.reason, sizeof good.reason, "majority");
    bad = good;
    bad.experiment = 99999;
    refuse_game(bad, "no partition");
    bad = good;
    bad.moves = "AbCdEfG";
    bad.plies = 7;
    bad.scores_size = 14;
    refuse_game(bad, "game_moves");
    bad.moves = "AbCdeF";
    bad.plies = 6;
    bad.scores_size = 12;
    refuse_game(bad, "game_moves");
    bad = good;
    bad.moves = "AbC\0eF";
    bad.plies = 6;
    bad.scores_size = 12;
    refuse_game(bad, "22021");
    bad = good;
    bad.scores_size -= 1;
    refuse_game(bad, "game_scores");
    bad = good;
    bad.leg = 2;
    refuse_game(bad, "game_");
    bad = good;
    bad.south = 39;
    refuse_game(bad, "game_seeds");
    bad = good;
    bad.south = 24;
    refuse_game(bad, "game_reason");
    bad = good;
    bad.a_half_points = 0;
    refuse_game(bad, "game_half_points");
    bad = good;
    bad.claimed = true;
    refuse_game(bad, "game_claimed");
    bad = good;
    snprintf(bad.reason, sizeof bad.reason, "boredom");
    refuse_game(bad, "game_reason");
    bad = good;
    bad.pair = UINT64_MAX;
    refuse_game(bad, "game_pair_no");
    bad = good;
    bad.nodes = UINT64_MAX;
    refuse_game(bad, "game_cost");
    assert_int_equal(stored(id), 0);
    fixture_games_done(&made);
}

/* Claimed endings are stored as claimed. */
static void a_claimed_ending(void **state)
{
    (void)state;
    uint64_t id = new_experiment();
    struct fixture_games made = fixture_games(id, 0, 1);
    struct store_game game = made.games[1];
    game.south = 20;
    game.north = 3;
    game.claimed = true;
    game.a_half_points = 2; /* leg 1: player a is North */
    snprintf(game.result, sizeof game.result, "north");
    snprintf(game.reason, sizeof game.reason, "crash");
    enum store_outcome outcome;
    assert_ok(store, store_begin(store));
    assert_ok(store, store_games_put(store, &game, 1, &outcome));
    assert_ok(store, store_commit(store));
    assert_int_equal(outcome, STORE_GAME_INSERTED);
    fixture_games_done(&made);
}

/* A B-tree on moves refuses games above some 2,700 plies; this index takes the longest there can be. */
static void the_longest_games_fit(void **state)
{
    (void)state;
    enum { LONG_GAMES = 24 };
    uint64_t id = new_experiment();
    struct fixture_games made = fixture_games(id, 0, LONG_GAMES / 2);
    char *moves = malloc((size_t)LONG_GAMES * FIXTURE_PLIES_MAX);
    uint8_t *scores = calloc(FIXTURE_PLIES_MAX, 2);
    assert_true(moves != NULL && scores != NULL);
    for (size_t i = 0; i < LONG_GAMES; i++) {
        char *text = moves + i * FIXTURE_PLIES_MAX;
        size_t plies = i % 3 == 0 ? FIXTURE_PLIES_MAX : 2600 + 500 * i;
        fixture_letters(text, plies, i % 3 == 1 ? 1 : i + 1); /* some are the beginning of another */
        made.games[i].moves = text;
        made.games[i].plies = plies;
        made.games[i].scores = scores;
        made.games[i].scores_size = 2 * plies;
    }
    for (int times = 0; times < 2; times++) {
        fixture_put(store, &made);
        assert_int_equal(fixture_outcomes(&made, times == 0 ? STORE_GAME_INSERTED : STORE_GAME_DUPLICATE),
                         LONG_GAMES);
    }
    char sql[256];
    snprintf(sql, sizeof sql,
             "select count(*) from game where experiment_id = %" PRIu64 " and moves like '%.40s%%'", id,
             moves);
    assert_string_equal(fixture_cell(store, sql),
                        "9"); /* game 0, seed 1, and the eight that begin as it does */
    made.games[0].plies = FIXTURE_PLIES_MAX + 1;
    made.games[0].pair = 1000;
    assert_ok(store, store_begin(store));
    assert_int_equal(store_games_put(store, made.games, 1, made.outcome), STORE_ERROR_REFUSED);
    assert_ok(store, store_rollback(store));
    free(moves);
    free(scores);
    fixture_games_done(&made);
}

struct standing_sum {
    uint64_t rows, points, last;
    bool ordered;
};

static void add_standing(void *context, uint64_t pair, unsigned leg, unsigned points)
{
    struct standing_sum *sum = context;
    sum->ordered = sum->ordered && (sum->rows == 0 || pair * 2 + leg > sum->last);
    sum->last = pair * 2 + leg;
    sum->rows++;
    sum->points += points;
}

static void standings_in_order(void **state)
{
    (void)state;
    uint64_t id = new_experiment(), points = 0;
    struct fixture_games late = fixture_games(id, 100, 60), early = fixture_games(id, 0, 70);
    fixture_put(store, &late);
    fixture_put(store, &early);
    for (size_t i = 0; i < late.count; i++)
        points += late.games[i].a_half_points;
    for (size_t i = 0; i < early.count; i++)
        points += early.games[i].a_half_points;
    struct standing_sum sum = {.ordered = true};
    assert_ok(store, store_standings(store, id, add_standing, &sum));
    assert_true(sum.ordered);
    assert_int_equal(sum.rows, 260);
    assert_true(sum.points == points);
    sum = (struct standing_sum){.ordered = true};
    assert_ok(store, store_standings(store, new_experiment(), add_standing, &sum));
    assert_int_equal(sum.rows, 0);
    fixture_games_done(&late);
    fixture_games_done(&early);
}

/* Six counts as C adds them up. */
static void tally(const struct fixture_games *made, size_t pairs, struct store_counters *out)
{
    memset(out, 0, sizeof *out);
    out->prefix_pairs = pairs;
    for (size_t i = 0; i < pairs; i++) {
        unsigned one = made->games[2 * i].a_half_points, two = made->games[2 * i + 1].a_half_points;
        uint64_t *const classes[] = {&out->ll, &out->ld, one == 1 ? &out->dd : &out->wl, &out->dw, &out->ww};
        (*classes[one + two])++;
        out->wins += (one == 2 ? 1U : 0U) + (two == 2 ? 1U : 0U);
        out->draws += (one == 1 ? 1U : 0U) + (two == 1 ? 1U : 0U);
        out->losses += (one == 0 ? 1U : 0U) + (two == 0 ? 1U : 0U);
    }
}

static void verify_finds_what_is_wrong(void **state)
{
    (void)state;
    uint64_t id = new_experiment();
    struct fixture_games made = fixture_games(id, 0, 200);
    struct store_counters counters;
    fixture_put(store, &made);
    tally(&made, 200, &counters);
    counters.games_stored = 400;
    assert_ok(store, store_counters_update(store, id, &counters));
    assert_int_equal(differences(id), 0);
    counters.games_stored = 402;
    assert_ok(store, store_counters_update(store, id, &counters));
    assert_int_equal(differences(id), 1);
    tally(&made, 199, &counters);
    counters.games_stored = 400;
    assert_ok(store, store_counters_update(store, id, &counters));
    assert_true(differences(id) >= 2);
    fixture_games_done(&made);
}

/* Pairs after a gap, and single legs, are stored and do not count. */
static void the_prefix_ends_at_a_gap(void **state)
{
    (void)state;
    uint64_t id = new_experiment();
    struct fixture_games made = fixture_games(id, 0, 20), beyond = fixture_games(id, 30, 5);
    made.count = 39; /* the last pair has one leg */
    fixture_put(store, &made);
    fixture_put(store, &beyond);
    struct store_counters counters;
    tally(&made, 19, &counters);
    counters.games_stored = 49;
    assert_ok(store, store_counters_update(store, id, &counters));
    assert_int_equal(differences(id), 0);
    fixture_games_done(&made);
    fixture_games_done(&beyond);
}

/* A decided experiment counts up to its verdict, whatever is stored beyond, for match and self-play alike. */
static void a_verdict_ends_the_prefix(void **state)
{
    (void)state;
    for (int kind = STORE_SELFPLAY; kind <= STORE_MATCH; kind++) {
        struct store_experiment experiment = fixture_experiment(store);
        experiment.kind = (enum store_kind)kind;
        uint64_t id = fixture_create(store, &experiment);
        struct fixture_games made = fixture_games(id, 0, 64);
        fixture_put(store, &made);
        struct store_verdict verdict = {
            .experiment = id, .verdict = "aborted", .formula_version = 1, .by = "tester"};
        tally(&made, 48, &verdict.counters);
        verdict.counters.games_stored = 128;
        bool written;
        assert_ok(store, store_counters_update(store, id, &verdict.counters));
        assert_ok(store, store_verdict_write(store, &verdict, &written));
        assert_true(written);
        assert_int_equal(differences(id), 0);
        assert_string_equal(
            fixture_cell_of(store, "select count(*) from game_counted where experiment_id = %" PRIu64, id),
            "96");

        struct store_game late = made.games[10]; /* a conflict after the verdict does not move it */
        late.scores = NULL;
        late.scores_size = 0;
        enum store_outcome outcome;
        assert_ok(store, store_begin(store));
        assert_ok(store, store_games_put(store, &late, 1, &outcome));
        assert_ok(store, store_commit(store));
        assert_int_equal(outcome, STORE_GAME_CONFLICT);
        assert_int_equal(differences(id), 0);
        fixture_games_done(&made);
    }
}

/* Killed while games are on their way: all of a transaction or nothing, and sending again heals. */
static void killed_in_the_middle(void **state)
{
    (void)state;
    uint64_t id = new_experiment();
    struct fixture_games kept = fixture_games(id, 0, 100), lost = fixture_games(id, 100, 100);
    fixture_put(store, &kept);
    assert_ok(store, store_begin(store));
    assert_ok(store, store_games_put(store, lost.games, lost.count, lost.outcome));
    assert_int_equal(database_kill(), 0);
    assert_int_equal(store_commit(store), STORE_ERROR_CONNECTION);
    store_close(store);
    assert_int_equal(database_start(), 0);
    store = fixture_open("kroo_coordinator");
    assert_int_equal(stored(id), 200);
    fixture_put(store, &kept);
    assert_int_equal(fixture_outcomes(&kept, STORE_GAME_DUPLICATE), 200);
    fixture_put(store, &lost);
    assert_int_equal(fixture_outcomes(&lost, STORE_GAME_INSERTED), 200);
    fixture_count(store, id);
    assert_int_equal(differences(id), 0);
    fixture_games_done(&kept);
    fixture_games_done(&lost);
}

/* Two runs of a timed game differ by nature; a dispute over them would never settle. */
static void timed_games_are_no_conflict(void **state)
{
    (void)state;
    struct store_experiment experiment = fixture_experiment(store);
    experiment.a.limits = experiment.b.limits = (struct store_limits){.time_ms = 20, .hash_kib = 1024};
    uint64_t id = fixture_create(store, &experiment);
    struct fixture_games first = fixture_games(id, 0, 1), second = fixture_games(id, 1, 1);
    fixture_put(store, &first);
    for (int leg = 0; leg < 2; leg++)
        second.games[leg].pair = 0;
    fixture_put(store, &second);
    assert_int_equal(fixture_outcomes(&second, STORE_GAME_DUPLICATE), 2);
    assert_string_equal(
        fixture_cell_of(store, "select count(*) from dispute where experiment_id = %" PRIu64, id), "0");
    fixture_games_done(&first);
    fixture_games_done(&second);
}

int main(int argc, char **argv)
{
    (void)argc;
    database_main(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_game_comes_back_as_it_was),
        cmocka_unit_test(sent_again_counts_once),
        cmocka_unit_test(who_played_is_counted_once),
        cmocka_unit_test(a_rolled_back_batch_is_not_there),
        cmocka_unit_test(without_a_transaction_nothing_is_stored),
        cmocka_unit_test(keys_twice_in_one_batch_and_any_order),
        cmocka_unit_test(other_content_is_a_dispute),
        cmocka_unit_test(a_dispute_after_counting),
        cmocka_unit_test(bad_games_are_refused),
        cmocka_unit_test(timed_games_are_no_conflict),
        cmocka_unit_test(a_claimed_ending),
        cmocka_unit_test(the_longest_games_fit),
        cmocka_unit_test(standings_in_order),
        cmocka_unit_test(verify_finds_what_is_wrong),
        cmocka_unit_test(the_prefix_ends_at_a_gap),
        cmocka_unit_test(a_verdict_ends_the_prefix),
        cmocka_unit_test(killed_in_the_middle),
    };
    return cmocka_run_group_tests(tests, open_store, close_store);
}
