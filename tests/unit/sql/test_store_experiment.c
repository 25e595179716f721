/* Experiments, counters, verdicts, leases, sessions, the allow-list: what is stored is what comes back, what
 * is sent again changes nothing, and what must not be is refused. */
#include "tests/unit/sql/fixture.h"

#include <math.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "sql/store_lead.h"
#include "sql/store_notice.h"

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

static struct store_experiment match(void)
{
    struct store_experiment experiment = fixture_experiment(store);
    struct store_weights other = fixture_weights(store, "better");
    experiment.kind = STORE_MATCH;
    experiment.noise_ppm = 0;
    experiment.has_sprt = true;
    experiment.sprt = (struct store_sprt){
        .model = "normalized", .elo0 = -0.1, .elo1 = 10.25, .alpha = 0.05, .beta = 0.1, .batch = 16};
    memcpy(experiment.a.weights, other.sha256, STORE_HASH);
    return experiment;
}

static void assert_same(const struct store_experiment *one, const struct store_experiment *other)
{
    assert_true(one->id == other->id && one->kind == other->kind && one->state == other->state);
    assert_string_equal(one->rules, other->rules);
    assert_true(one->seed == other->seed);
    assert_int_equal(one->opening_plies, other->opening_plies);
    assert_int_equal(one->noise_ppm, other->noise_ppm);
    assert_true(one->planned_pairs == other->planned_pairs);
    assert_memory_equal(one->a.weights, other->a.weights, STORE_HASH);
    assert_memory_equal(one->b.weights, other->b.weights, STORE_HASH);
    assert_string_equal(one->a.engine_build, other->a.engine_build);
    assert_true(one->a.limits.nodes == other->a.limits.nodes && one->a.limits.depth == other->a.limits.depth);
    assert_true(one->b.limits.time_ms == other->b.limits.time_ms &&
                one->b.limits.hash_kib == other->b.limits.hash_kib);
    assert_true(one->has_sprt == other->has_sprt);
    assert_string_equal(one->sprt.model, other->sprt.model);
    assert_true(one->sprt.elo0 == other->sprt.elo0 && one->sprt.elo1 == other->sprt.elo1);
    assert_true(one->sprt.alpha == other->sprt.alpha && one->sprt.beta == other->sprt.beta);
    assert_int_equal(one->sprt.batch, other->sprt.batch);
    assert_true(one->with_scores == other->with_scores);
    assert_int_equal(one->priority, other->priority);
    assert_string_equal(one->idempotency_key, other->idempotency_key);
    assert_string_equal(one->note, other->note);
    assert_string_equal(one->created_by, other->created_by);
    assert_memory_equal(one->book, other->book, STORE_HASH);
    assert_memory_equal(one->adjudication, other->adjudication, STORE_HASH);
    assert_memory_equal(one->tune, other->tune, STORE_HASH);
    assert_int_equal(one->resign_score, other->resign_score);
    assert_int_equal(one->resign_plies, other->resign_plies);
    assert_int_equal(one->resign_playout_ppm, other->resign_playout_ppm);
    assert_int_equal(one->has_reference, other->has_reference);
    assert_int_equal(one->reference_speed, other->reference_speed);
    assert_int_equal(one->audit_ppm, other->audit_ppm);
    assert_int_equal(one->share ? one->share : STORE_SHARE_USUAL, other->share);
    assert_int_equal(one->core_cap, other->core_cap);
    assert_string_equal(one->tags, other->tags);
    assert_string_equal(one->on_finish, other->on_finish);
    assert_int_equal(one->a.limits.clock_ms, other->a.limits.clock_ms);
    assert_int_equal(one->b.limits.increment_ms, other->b.limits.increment_ms);
}

/* The store does not look into it: an artifact of any content, with openings beside it. */
static const char *opening(const void *context, uint32_t index, size_t *plies)
{
    const char *text = context;
    for (; index > 0; index--)
        text = strchr(text, '\n') + 1;
    *plies = strcspn(text, "\n");
    return text;
}

static void put_book(struct store *to, const char *text, uint8_t sha256[STORE_HASH])
{
    struct store_book book = {.name = "book",
                              .rules = "site",
                              .openings = 2,
                              .plies_min = 3,
                              .plies_max = 4,
                              .made = "by hand"},
                      found;
    bool existed;
    crypto_hash_sha256(book.sha256, (const unsigned char *)text, strlen(text));
    memcpy(sha256, book.sha256, STORE_HASH);
    for (int i = 0; i < 2; i++) {
        assert_ok(to, store_begin(to));
        assert_ok(to, store_book_put(to, &book, text, strlen(text), opening, text, "tester", &existed));
        assert_ok(to, store_commit(to));
        assert_int_equal(existed, i > 0);
    }
    assert_ok(to, store_book_find(to, "book", NULL, &found));
    assert_memory_equal(&found, &book, sizeof book);
    assert_string_equal(
        fixture_cell(to, "select string_agg(number || moves, ' ' order by number) from kroo.book_opening"),
        "0AaBb 1FcE");
    snprintf(book.name, sizeof book.name, "other");
    assert_int_equal(store_book_put(to, &book, text, strlen(text), opening, text, "tester", &existed),
                     STORE_ERROR_REFUSED);
    assert_non_null(strstr(store_reason(to), "under the name book"));
    snprintf(book.name, sizeof book.name, "book");
    book.sha256[0] ^= 1;
    assert_int_equal(store_book_put(to, &book, text, strlen(text), opening, text, "tester", &existed),
                     STORE_ERROR_REFUSED);
    assert_non_null(strstr(store_reason(to), "taken by another book"));
}

static void comes_back_as_it_was(void **state)
{
    (void)state;
    struct store_experiment made[2] = {fixture_experiment(store), match()}, found;
    snprintf(made[1].idempotency_key, sizeof made[1].idempotency_key, "key 'quoted'");
    put_book(store, "AaBb\nFcE\n", made[1].book);
    made[1].opening_plies = 0;
    made[1].state = STORE_PENDING;
    made[1].resign_score = 900;
    made[1].resign_plies = 4;
    made[1].resign_playout_ppm = 100000;
    made[1].audit_ppm = 20000;
    made[1].share = 7;
    made[1].core_cap = 12;
    made[1].b.limits.clock_ms = 10000;
    made[1].b.limits.increment_ms = 50;
    snprintf(made[1].tags, sizeof made[1].tags, "fast,x86_64");
    snprintf(made[1].on_finish, sizeof made[1].on_finish, "tell");
    for (int i = 0; i < 2; i++) {
        fixture_create(store, &made[i]);
        assert_ok(store, store_experiment_get(store, made[i].id, &found));
        assert_same(&made[i], &found);
    }
    assert_int_equal(store_experiment_get(store, 99999, &found), STORE_ERROR_REFUSED);
    assert_non_null(strstr(store_reason(store), "99999"));
}

/* What limits of time are meant for is fixed with the experiment, whatever the cluster's speed becomes. */
static void limits_of_time_have_a_reference(void **state)
{
    (void)state;
    struct store_experiment untimed = match(), usual = match(), own = match(), later = match(), found;
    usual.a.limits.time_ms = 20;
    own.b.limits.clock_ms = 20000;
    own.has_reference = true;
    own.reference_speed = 1234567;
    later.a.limits.time_ms = 30;
    fixture_create(store, &untimed);
    fixture_create(store, &usual);
    fixture_create(store, &own);
    assert_ok(store, store_reference_put(store, 4000000));
    assert_ok(store, store_reference_put(store, 4000000));
    fixture_create(store, &later);
    assert_true(!untimed.has_reference && usual.has_reference && own.has_reference && later.has_reference);
    assert_int_equal(usual.reference_speed, 3000000);
    assert_int_equal(own.reference_speed, 1234567);
    assert_int_equal(later.reference_speed, 4000000);
    assert_ok(store, store_experiment_get(store, usual.id, &found));
    assert_int_equal(found.reference_speed, 3000000);
    assert_string_equal(
        fixture_cell(store, "select count(*) from reference_speed where nodes_per_second = 4000000"), "1");
    assert_ok(store, store_reference_put(store, 3000000));
}

static void running_ones_in_order(void **state)
{
    (void)state;
    struct store_experiment one = fixture_experiment(store), two = match(), three = match();
    fixture_create(store, &one);
    fixture_create(store, &two);
    fixture_create(store, &three);
    assert_ok(store, store_experiment_set_state(store, two.id, STORE_STOPPED, "enough"));
    assert_ok(store, store_experiment_set_state(store, three.id, STORE_BLOCKED, "pair 7 is in dispute"));
    struct store_experiment *list;
    size_t count;
    assert_ok(store, store_experiments_running(store, &list, &count));
    assert_true(count >= 2);
    assert_true(list[count - 2].id == one.id && list[count - 1].id == three.id);
    assert_int_equal(list[count - 1].state, STORE_BLOCKED);
    for (size_t i = 1; i < count; i++)
        assert_true(list[i - 1].id < list[i].id);
    free(list);
}

static void states_move_as_they_may(void **state)
{
    (void)state;
    struct store_experiment experiment = match();
    uint64_t id = fixture_create(store, &experiment);
    assert_int_equal(store_experiment_set_state(store, id, STORE_BLOCKED, ""), STORE_ERROR_REFUSED);
    assert_ok(store, store_experiment_set_state(store, id, STORE_BLOCKED, "why"));
    assert_ok(store, store_experiment_set_state(store, id, STORE_RUNNING, NULL));
    assert_ok(store, store_experiment_set_state(store, id, STORE_FINISHED, "done"));
    assert_ok(store, store_experiment_set_state(store, id, STORE_FINISHED, "done"));
    assert_int_equal(store_experiment_set_state(store, id, STORE_RUNNING, NULL), STORE_ERROR_REFUSED);
    assert_non_null(strstr(store_reason(store), "is finished and cannot become running"));
    assert_int_equal(store_experiment_set_state(store, 99999, STORE_RUNNING, NULL), STORE_ERROR_REFUSED);
    assert_non_null(strstr(store_reason(store), "no experiment 99999"));
}

/* Asking twice with one key creates one experiment, also when the answer to the first was lost. */
static void one_key_one_experiment(void **state)
{
    (void)state;
    struct store_experiment first = match(), again = match();
    snprintf(first.idempotency_key, sizeof first.idempotency_key, "once");
    again = first;
    uint64_t id = fixture_create(store, &first);
    bool existed = false;
    assert_ok(store, store_begin(store));
    assert_ok(store, store_experiment_create(store, &again, &existed));
    assert_ok(store, store_commit(store));
    assert_true(existed);
    assert_true(again.id == id);
    assert_string_equal(fixture_cell(store, "select count(*) from experiment where idempotency_key = 'once'"),
                        "1");
}

static void refuse(struct store_experiment experiment, const char *word)
{
    bool existed;
    assert_ok(store, store_begin(store));
    assert_int_equal(store_experiment_create(store, &experiment, &existed), STORE_ERROR_REFUSED);
    if (strstr(store_reason(store), word) == NULL)
        fail_msg("no word of %s in: %s", word, store_reason(store));
    assert_ok(store, store_rollback(store));
}

static void bad_specifications_are_refused(void **state)
{
    (void)state;
    struct store_experiment bad = match();
    bad.planned_pairs = 0;
    refuse(bad, "planned_pairs");
    bad = match();
    bad.sprt.elo0 = bad.sprt.elo1;
    refuse(bad, "sprt_bounds");
    bad = match();
    bad.sprt.elo1 = 1000.5;
    refuse(bad, "sprt_bounds");
    bad = match();
    bad.sprt.elo0 = (double)NAN;
    refuse(bad, "sprt_whole");
    bad = match();
    bad.sprt.alpha = 0.5;
    bad.sprt.beta = 0.5;
    refuse(bad, "sprt_errors");
    bad = match();
    bad.sprt.batch = 0;
    refuse(bad, "sprt_batch");
    bad = match();
    bad.kind = STORE_SELFPLAY;
    refuse(bad, "sprt_is_a_match");
    bad = match();
    snprintf(bad.sprt.model, sizeof bad.sprt.model, "other");
    refuse(bad, "sprt_model");
    bad = match();
    snprintf(bad.rules, sizeof bad.rules, "chess");
    refuse(bad, "rule_set");
    bad = match();
    bad.a.weights[0] ^= 1;
    refuse(bad, "weights_sha256");
    bad = match();
    bad.planned_pairs = UINT64_MAX;
    refuse(bad, "out of range");
    bad = fixture_experiment(store);
    bad.noise_ppm = 1000001;
    refuse(bad, "noise_ppm");
    bad = match();
    bad.noise_ppm = 1;
    refuse(bad, "experiment_noise");
}

static void rules_may_have_overrides(void **state)
{
    (void)state;
    struct store_experiment experiment = match();
    snprintf(experiment.rules, sizeof experiment.rules, "site,repetitions=2");
    uint64_t id = fixture_create(store, &experiment);
    assert_string_equal(fixture_cell_of(store, "select rule_set from experiment where id = %" PRIu64, id),
                        "site");
}

static void counters_hold_their_invariants(void **state)
{
    (void)state;
    struct store_experiment experiment = match();
    uint64_t id = fixture_create(store, &experiment);
    struct store_counters good = {.games_stored = 45,
                                  .prefix_pairs = 21,
                                  .ll = 1,
                                  .ld = 2,
                                  .dd = 3,
                                  .wl = 4,
                                  .dw = 5,
                                  .ww = 6,
                                  .wins = 21,
                                  .draws = 13,
                                  .losses = 8,
                                  .llr = -0.75};
    assert_ok(store, store_counters_update(store, id, &good));
    assert_string_equal(fixture_cell_of(store, "select llr from experiment_progress where id = %" PRIu64, id),
                        "-0.75");
    struct store_counters bad = good;
    bad.wins++;
    assert_int_equal(store_counters_update(store, id, &bad), STORE_ERROR_REFUSED);
    bad = good;
    bad.prefix_pairs = 22;
    assert_int_equal(store_counters_update(store, id, &bad), STORE_ERROR_REFUSED);
    bad = good;
    bad.games_stored = 41;
    assert_int_equal(store_counters_update(store, id, &bad), STORE_ERROR_REFUSED);
    bad = good;
    bad.llr = (double)NAN;
    assert_int_equal(store_counters_update(store, id, &bad), STORE_ERROR_REFUSED);
    assert_int_equal(store_counters_update(store, 99999, &good), STORE_ERROR_REFUSED);
}

static struct store_verdict verdict_of(uint64_t experiment, const char *word)
{
    struct store_verdict verdict = {
        .experiment = experiment,
        .counters =
            {.games_stored = 7, .prefix_pairs = 3, .wl = 1, .ww = 2, .wins = 5, .losses = 1, .llr = 2.95},
        .has_sprt = true,
        .lower = -2.25,
        .upper = 2.89,
        .elo = 120,
        .elo_lo = 3,
        .elo_hi = (double)INFINITY,
        .nelo = 80,
        .los = 0.97,
        .formula_version = 1};
    snprintf(verdict.verdict, sizeof verdict.verdict, "%s", word);
    return verdict;
}

static void one_verdict_and_it_stays(void **state)
{
    (void)state;
    struct store_experiment experiment = match();
    uint64_t id = fixture_create(store, &experiment);
    struct store_verdict accepted = verdict_of(id, "accepted"), rejected = verdict_of(id, "rejected");
    bool written = false;
    assert_ok(store, store_verdict_write(store, &accepted, &written));
    assert_true(written);
    assert_ok(store, store_verdict_write(store, &rejected, &written));
    assert_false(written);
    assert_string_equal(
        fixture_cell_of(store,
                        "select concat_ws(' ', v.verdict, v.counted_pairs, v.sprt_model, v.elo1, "
                        "v.llr, coalesce(v.elo_hi::text, 'null'), e.state, "
                        "e.ended_at is not null) from verdict v join experiment e on e.id = "
                        "v.experiment_id where e.id = %" PRIu64,
                        id),
        "accepted 3 normalized 10.25 2.95 null finished t");
    struct store_table table;
    struct store *owner = fixture_open(NULL);
    assert_int_equal(store_query(owner, "update verdict set verdict = 'rejected'", NULL, 0, &table),
                     STORE_ERROR_REFUSED);
    assert_int_equal(store_query(owner, "delete from verdict", NULL, 0, &table), STORE_ERROR_REFUSED);
    assert_int_equal(store_query(owner, "truncate verdict cascade", NULL, 0, &table), STORE_ERROR_REFUSED);
    assert_non_null(strstr(store_reason(owner), "immutable"));
    store_close(owner);
}

static void verdicts_that_cannot_be(void **state)
{
    (void)state;
    bool written = false;
    struct store_experiment experiment = match(), plain = fixture_experiment(store);
    uint64_t id = fixture_create(store, &experiment), plain_id = fixture_create(store, &plain);
    struct store_verdict verdict = verdict_of(99999, "accepted");
    assert_int_equal(store_verdict_write(store, &verdict, &written), STORE_ERROR_REFUSED);
    verdict = verdict_of(id, "perhaps");
    assert_int_equal(store_verdict_write(store, &verdict, &written), STORE_ERROR_REFUSED);
    verdict = verdict_of(id, "accepted");
    verdict.counters.wins++;
    assert_int_equal(store_verdict_write(store, &verdict, &written), STORE_ERROR_REFUSED);
    verdict = verdict_of(id, "accepted");
    verdict.counters.llr = (double)NAN;
    assert_int_equal(store_verdict_write(store, &verdict, &written), STORE_ERROR_REFUSED);
    verdict = verdict_of(id, "aborted"); /* by nobody */
    assert_int_equal(store_verdict_write(store, &verdict, &written), STORE_ERROR_REFUSED);
    verdict = verdict_of(plain_id, "accepted"); /* without a test */
    verdict.has_sprt = false;
    assert_int_equal(store_verdict_write(store, &verdict, &written), STORE_ERROR_REFUSED);
    assert_false(written);

    verdict = verdict_of(plain_id, "undecided");
    verdict.has_sprt = false;
    verdict.elo = verdict.elo_lo = verdict.nelo = verdict.los = (double)NAN;
    assert_ok(store, store_verdict_write(store, &verdict, &written));
    assert_true(written);
    verdict = verdict_of(id, "aborted");
    snprintf(verdict.by, sizeof verdict.by, "tester");
    assert_ok(store, store_verdict_write(store, &verdict, &written));
    assert_true(written);
    assert_string_equal(fixture_cell_of(store, "select state from experiment where id = %" PRIu64, id),
                        "stopped");
}

static void sessions_and_leases(void **state)
{
    (void)state;
    uint64_t lease;
    struct store_experiment experiment = match();
    uint64_t id = fixture_create(store, &experiment);
    assert_ok(store, store_lease_numbers(store, 2, &lease));
    assert_int_equal(lease, 1);
    struct store_session one = {
        .id = 1, .peer = "local", .name = "sp\303\244t\n", .engine_build = "kroo-engine 1 x", .slots = 4};
    assert_ok(store, store_session_insert(store, &one));
    assert_ok(store, store_session_insert(store, &one));
    one.slots = 5;
    assert_int_equal(store_session_insert(store, &one), STORE_ERROR_UNIQUE);
    assert_string_equal(fixture_cell(store, "select name from session where id = 1"), "sp??t?");

    struct store_lease leases[3] = {
        {1, id, 0, 10, 1, 1, false, 0}, {2, id, 10, 5, 1, 1, false, 1500000}, {7, id, 0, 10, 2, 1, false, 0}};
    assert_ok(store, store_lease_insert(store, leases, 3));
    assert_ok(store, store_lease_insert(store, leases, 3));
    struct store_lease other = {2, id, 11, 5, 1, 1, false, 0};
    assert_int_equal(store_lease_insert(store, &other, 1), STORE_ERROR_UNIQUE);
    struct store_lease orphan = {8, id, 11, 5, 1, 99, false, 0};
    assert_int_equal(store_lease_insert(store, &orphan, 1), STORE_ERROR_REFUSED);
    assert_ok(store, store_lease_numbers(store, 100, &lease)); /* beyond the rows */
    assert_int_equal(lease, 8);
    assert_ok(store, store_lease_numbers(store, 1, &lease)); /* and beyond what has no row */
    assert_int_equal(lease, 108);

    uint64_t ended[2] = {1, 12345};
    assert_ok(store, store_lease_end(store, ended, 2, STORE_LEASE_DONE));
    assert_ok(store, store_lease_end(store, ended, 2, STORE_LEASE_EXPIRED));
    assert_string_equal(fixture_cell(store, "select state from lease where id = 1"), "done");
    assert_string_equal(
        fixture_cell(store, "select string_agg(id || ':' || scale_ppm, ' ') from lease where id < 3"),
        "2:1500000");
    struct store_lease *open;
    size_t count;
    assert_ok(store, store_leases_live(store, &open, &count));
    assert_int_equal(count, 3);
    assert_true(open[0].id == 1 && open[0].ended && !open[1].ended && !open[2].ended);
    assert_true(open[1].id == 2 && open[1].experiment == id && open[1].first_pair == 10 &&
                open[1].session == 1);
    assert_int_equal(open[1].pair_count, 5);
    assert_int_equal(open[2].attempt, 2);
    free(open);

    assert_ok(store, store_session_end(store, 1));
    assert_ok(store, store_session_end(store, 1));
    assert_string_equal(
        fixture_cell(store, "select concat_ws(' ', open_leases, done_leases, done_pairs, ended_at is "
                            "not null) from worker_session where id = 1"),
        "2 1 10 t");
}

static void events(void **state)
{
    (void)state;
    assert_ok(store, store_event(store, "test", 3, 0, "bad \xff bytes\nand 'quotes'"));
    assert_string_equal(
        fixture_cell(store, "select text from event where experiment_id = 3 and session_id is null"),
        "bad ? bytes?and 'quotes'");
}

static const char key_a[] = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7";
static const char key_b[] = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID";

static size_t allowed(const char *key)
{
    struct store_peer *peers;
    size_t count, found = 0;
    assert_ok(store, store_peers(store, &peers, &count));
    for (size_t i = 0; i < count; i++)
        found += strcmp(peers[i].public_key, key) == 0;
    free(peers);
    return found;
}

static uint64_t version_of_the_allow_list(void)
{
    struct store_peer *peers;
    size_t count;
    uint64_t version = 0;
    assert_ok(store, store_peers_versioned(store, &peers, &count, &version));
    free(peers);
    return version;
}

/* Each change is heard, and counted before it is heard. */
static void changes_of_the_allow_list_are_heard(void **state)
{
    (void)state;
    struct store_peer peer = {.name = "heard", .role = "worker"};
    struct store *listener = fixture_open("kroo_coordinator");
    uint64_t lag;
    bool heard = true;
    int wake = eventfd(0, EFD_CLOEXEC);
    assert_non_null(listener);
    assert_ok(listener, store_notice_listen(listener));
    uint64_t before = version_of_the_allow_list();
    assert_ok(listener, store_notice_wait(listener, wake, 0, &heard));
    assert_false(heard);
    memset(peer.public_key, 'h', sizeof peer.public_key - 1);
    assert_ok(store, store_peer_allow(store, &peer, "tester"));
    assert_ok(listener, store_notice_wait(listener, wake, 60000, &heard));
    assert_true(heard);
    uint64_t after = version_of_the_allow_list();
    assert_true(after > before);
    assert_ok(store, store_peers_lag(store, &lag));
    assert_int_equal(lag, 0); /* nobody leads: there is nobody to wait for */
    assert_ok(listener, store_lead(listener));
    assert_ok(store, store_peers_lag(store, &lag));
    assert_true(lag > 0);
    assert_ok(listener, store_peers_in_force(listener, after));
    assert_ok(store, store_peers_lag(store, &lag));
    assert_int_equal(lag, 0);
    assert_ok(store, store_peer_revoke(store, peer.public_key, "tester"));
    assert_ok(store, store_peers_lag(store, &lag));
    assert_int_equal(lag, 1);
    assert_int_equal(eventfd_write(wake, 1), 0); /* its owner wants it elsewhere */
    assert_ok(listener, store_notice_wait(listener, wake, 60000, &heard));
    store_close(listener);
    close(wake);
}

static void the_allow_list(void **state)
{
    (void)state;
    struct store_peer a = {.name = "attic", .role = "worker"}, b = {.name = "boss", .role = "operator"};
    snprintf(a.public_key, sizeof a.public_key, "%s", key_a);
    snprintf(b.public_key, sizeof b.public_key, "%s", key_b);
    assert_ok(store, store_peer_allow(store, &a, "tester"));
    assert_ok(store, store_peer_allow(store, &a, "tester"));
    assert_ok(store, store_peer_allow(store, &b, "tester"));
    assert_int_equal(allowed(key_a), 1);
    assert_ok(store, store_peer_revoke(store, key_a, "tester"));
    assert_ok(store, store_peer_revoke(store, key_a, "tester"));
    assert_int_equal(allowed(key_a), 0);
    assert_int_equal(allowed(key_b), 1);
    assert_ok(store, store_peer_allow(store, &a, "tester"));
    assert_int_equal(allowed(key_a), 1);
    assert_int_equal(store_peer_revoke(store, "unknown", "tester"), STORE_ERROR_REFUSED);
    assert_string_equal(fixture_cell(store, "select count(*) from event where kind = 'peer-revoked'"), "1");

    snprintf(a.public_key, sizeof a.public_key, "too short");
    assert_int_equal(store_peer_allow(store, &a, "tester"), STORE_ERROR_REFUSED);
    snprintf(b.role, sizeof b.role, "root");
    assert_int_equal(store_peer_allow(store, &b, "tester"), STORE_ERROR_REFUSED);
}

int main(int argc, char **argv)
{
    (void)argc;
    database_main(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back_as_it_was),
        cmocka_unit_test(limits_of_time_have_a_reference),
        cmocka_unit_test(running_ones_in_order),
        cmocka_unit_test(states_move_as_they_may),
        cmocka_unit_test(one_key_one_experiment),
        cmocka_unit_test(bad_specifications_are_refused),
        cmocka_unit_test(rules_may_have_overrides),
        cmocka_unit_test(counters_hold_their_invariants),
        cmocka_unit_test(one_verdict_and_it_stays),
        cmocka_unit_test(verdicts_that_cannot_be),
        cmocka_unit_test(sessions_and_leases),
        cmocka_unit_test(events),
        cmocka_unit_test(changes_of_the_allow_list_are_heard),
        cmocka_unit_test(the_allow_list),
    };
    return cmocka_run_group_tests(tests, open_store, close_store);
}
