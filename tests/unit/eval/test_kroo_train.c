/* `kroo-train fit` as a user runs it: the executable of the same build, on a private PostgreSQL with real
 * games. */
#include "tests/unit/sql/fixture.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include <jansson.h>

#include "engine/tables_build.h"
#include "engine/weights.h"
#include "eval/archive.h"
#include "proto/progress.h"
#include "tests/unit/eval/selfplay.h"

enum { PAIRS = 165, NODES = 150, OUTPUT_MAX = 1 << 20 };

static char executable[PATH_MAX];
static uint64_t selfplay_experiment, number_of_starting;

/* <build>/tests/eval/test_kroo_train stands three levels below the executable. */
static void find_executable(void)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    for (int level = 0; level < 3; level++)
        *strrchr(self, '/') = '\0';
    assert_true((size_t)snprintf(executable, sizeof executable, "%s/kroo-train", self) < sizeof executable);
}

/* Runs `kroo-train ARGUMENTS`; its output (both streams when asked for) into `text`. Returns the exit status.
 */
static int run(const char *arguments, char text[OUTPUT_MAX])
{
    char command[2 * PATH_MAX];
    snprintf(command, sizeof command, "KROO_DATABASE='%s' '%s' %s", database_conninfo(), executable,
             arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t length = fread(text, 1, OUTPUT_MAX - 1, pipe);
    text[length] = '\0';
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static json_t *run_json(const char *arguments, int expected)
{
    static char text[OUTPUT_MAX];
    int status = run(arguments, text);
    if (status != expected)
        fail_msg("status %d: %s", status, text);
    json_error_t error;
    json_t *object = json_loads(text, 0, &error);
    if (!object)
        fail_msg("%s: %s", error.text, text);
    return object;
}

static const char *word(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (!text)
        fail_msg("no text `%s`", key);
    return text;
}

static double real(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        fail_msg("no number `%s`", key);
    return json_number_value(value);
}

static struct store_weights put_starting(struct store *store, const char *rules)
{
    struct store_weights stored = {.kind = "table"};
    struct weights *weights = weights_create_starting(rules);
    void *bytes;
    size_t size;
    assert_int_equal(weights_serialize(weights, &bytes, &size), WEIGHTS_OK);
    crypto_hash_sha256(stored.sha256, bytes, size);
    snprintf(stored.rules, sizeof stored.rules, "%s", rules);
    snprintf(stored.name, sizeof stored.name, "starting-%s", rules);
    assert_ok(store, store_weights_put(store, &stored, bytes, size));
    free(bytes);
    weights_destroy(weights);
    return stored;
}

static struct store_experiment specify(struct store *store, const char *rules, uint64_t seed)
{
    struct store_experiment experiment = {
        .kind = STORE_SELFPLAY, .seed = seed, .opening_plies = 8, .planned_pairs = 1000, .with_scores = true};
    snprintf(experiment.rules, sizeof experiment.rules, "%s", rules);
    struct store_weights weights = put_starting(store, rules);
    memcpy(experiment.a.weights, weights.sha256, STORE_HASH);
    snprintf(experiment.a.engine_build, sizeof experiment.a.engine_build, "kroo-engine 1 test");
    experiment.a.limits = (struct store_limits){.nodes = NODES, .hash_kib = 256};
    experiment.b = experiment.a;
    return experiment;
}

static void put_games(struct store *store, const struct selfplay *played, uint64_t experiment)
{
    struct store_game *games = calloc(played->count, sizeof *games);
    enum store_outcome *outcome = calloc(played->count, sizeof *outcome);
    for (size_t i = 0; i < played->count; i++) {
        const struct store_training_game *game = &played->games[i];
        bool draw = strcmp(game->result, "draw") == 0, south = strcmp(game->result, "south") == 0;
        games[i] = (struct store_game){.experiment = experiment,
                                       .pair = game->pair,
                                       .leg = (uint8_t)game->leg,
                                       .attempt = 1,
                                       .lease = 1,
                                       .session = 1,
                                       .moves = game->moves,
                                       .plies = game->plies,
                                       .scores = game->scores,
                                       .scores_size = 2 * game->plies,
                                       .south = game->south,
                                       .north = game->north,
                                       .a_half_points = draw                        ? 1
                                                        : south == (game->leg == 0) ? 2
                                                                                    : 0};
        memcpy(games[i].result, game->result, sizeof games[i].result);
        memcpy(games[i].reason, game->reason, sizeof games[i].reason);
    }
    assert_ok(store, store_begin(store));
    assert_ok(store, store_games_put(store, games, played->count, outcome));
    assert_ok(store, store_commit(store));
    fixture_count(store, experiment);
    free(games);
    free(outcome);
}

static int set_up(void **state)
{
    struct selfplay played;
    find_executable();
    if (fixture_migrate(state) != 0 || selfplay_play(&played, 1, 31337, PAIRS, NODES, 0) != 0)
        return -1;
    struct store *store = fixture_open("kroo_coordinator");
    struct store_experiment experiment = specify(store, "site", 31337);
    selfplay_experiment = fixture_create(store, &experiment);
    put_games(store, &played, selfplay_experiment);
    struct store_weights found;
    assert_ok(store, store_weights_find(store, "starting-site", &found, &number_of_starting));
    store_close(store);
    selfplay_done(&played);
    return 0;
}

static uint64_t runs_in_state(const char *wanted)
{
    struct store *store = fixture_open("kroo_reader");
    char sql[128];
    snprintf(sql, sizeof sql, "select count(*) from kroo.training_run where state = '%s'", wanted);
    uint64_t count = strtoull(fixture_cell(store, sql), NULL, 10);
    store_close(store);
    return count;
}

/* The same data gives the same file, and the row says everything needed to repeat it. */
static void fits_twice_to_the_same_file(void **state)
{
    (void)state;
    json_t *first = run_json("fit --games 1 --ridge 1e-3 --name gen1 --json --threads 1 -q", 0);
    json_t *again = run_json("fit --games 1 --ridge 1e-3 --name gen1 --json --threads 2 -q", 0);
    assert_string_equal(word(first, "sha256"), word(again, "sha256"));
    assert_string_equal(word(first, "data_sha256"), word(again, "data_sha256"));
    assert_true(real(first, "number") == real(again, "number"));
    assert_true(real(first, "training_run") != real(again, "training_run"));
    assert_true(real(first, "loss_after") < real(first, "loss_before"));
    assert_true(real(first, "loss_se") > 0.0);
    /* Without noise both legs of a pair of equal players are the same game, which counts once. */
    assert_true(real(first, "games") + real(first, "repeated_games") == 2 * PAIRS);

    struct store *store = fixture_open("kroo_reader");
    uint64_t id = (uint64_t)real(first, "training_run");
    assert_string_equal(fixture_cell_of(store, "select state from kroo.training_run where id = %" PRIu64, id),
                        "finished");
    assert_string_equal(
        fixture_cell_of(store, "select manifest->0->>'pair_count' from kroo.training_run where id = %" PRIu64,
                        id),
        "165");
    assert_string_equal(
        fixture_cell_of(store, "select options->>'shards' from kroo.training_run where id = %" PRIu64, id),
        "32");
    assert_string_equal(
        fixture_cell_of(store, "select jsonb_array_length(curve) from kroo.training_run where id = %" PRIu64,
                        id),
        "4");
    assert_true(strlen(fixture_cell_of(store, "select core_type from kroo.training_run where id = %" PRIu64,
                                       id)) > 2);
    assert_string_equal(
        fixture_cell_of(store,
                        "select encode(weights_sha256, 'hex') from kroo.training_run where id = "
                        "%" PRIu64,
                        id),
        word(first, "sha256"));
    struct store_weights found;
    uint64_t number;
    assert_ok(store, store_weights_find(store, "gen1", &found, &number));
    assert_int_equal(number, (uint64_t)real(first, "number"));
    assert_int_equal(found.training_run, id);
    assert_true(found.has_parent);
    /* What was stored is a weights file that the engine takes. */
    void *content;
    size_t size;
    struct weights *weights = NULL;
    assert_ok(store, store_artifact_get(store, found.sha256, &content, &size));
    assert_int_equal(weights_parse(content, size, "site", &weights), WEIGHTS_OK);
    weights_destroy(weights);
    free(content);
    store_close(store);
    json_decref(first);
    json_decref(again);
}

/* A dry run says what data there is, fits nothing, stores nothing. */
static void dry_runs_tell_the_data(void **state)
{
    (void)state;
    static char text[OUTPUT_MAX];
    uint64_t before = runs_in_state("finished") + runs_in_state("refused");
    json_t *dry = run_json("fit 1 --dry-run --json -q --kind net", 0);
    assert_string_equal(word(dry, "state"), "dry-run");
    assert_true(real(dry, "positions") > 10000 && real(dry, "distinct_positions") > 5000);
    assert_true(real(dry, "bytes") == 16.0 * (real(dry, "positions") + real(dry, "validation_positions")));
    json_decref(dry);
    assert_int_equal(run("fit 1 --dry-run -q 2>&1", text), 0);
    assert_non_null(strstr(text, "nothing was fitted"));
    assert_int_equal(runs_in_state("finished") + runs_in_state("refused"), before);
}

/* Each kind is stored as what it is, and the engine takes its file. */
static void every_kind_is_fitted(void **state)
{
    (void)state;
    static const char *const fits[] = {
        "fit 1 --kind net --epochs 6 --batch 256 --parent starting --force --name net1 --json -q",
        "fit 1 --kind features --parent starting --force --name features1 --json -q"};
    static const char *const kinds[] = {"net", "features"};
    for (int i = 0; i < 2; i++) {
        json_t *answer = run_json(fits[i], 0);
        assert_string_equal(word(answer, "kind"), kinds[i]);
        assert_true(real(answer, "train_loss_after") < real(answer, "train_loss_before"));
        struct store *store = fixture_open("kroo_reader");
        struct store_weights found;
        uint64_t number;
        void *content;
        size_t size;
        struct weights *weights = NULL;
        assert_ok(store, store_weights_find(store, word(answer, "sha256"), &found, &number));
        assert_string_equal(found.kind, kinds[i]);
        assert_ok(store, store_artifact_get(store, found.sha256, &content, &size));
        assert_int_equal(weights_parse(content, size, "site", &weights), WEIGHTS_OK);
        assert_string_equal(weights_kind_name(weights->kind), kinds[i]);
        weights_destroy(weights);
        free(content);
        store_close(store);
        json_decref(answer);
    }
}

/* Waits until the checkpoint is there, then kills; false when the fit ended first. */
static bool kill_when_written(pid_t child, const char *path)
{
    for (int64_t deadline = progress_now_ms() + 60000; progress_now_ms() < deadline;) {
        int status;
        if (access(path, F_OK) == 0) {
            kill(child, SIGKILL);
            assert_int_equal(waitpid(child, &status, 0), child);
            return WIFSIGNALED(status) && access(path, F_OK) == 0;
        }
        if (waitpid(child, &status, WNOHANG) == child)
            return false;
        sched_yield();
    }
    fail_msg("no checkpoint in a minute");
    return false;
}

/* A fit of many epochs is killed in the middle; the same command goes on and makes the file that a fit left
 * alone makes. */
static void killed_and_resumed_it_is_the_same_file(void **state)
{
    (void)state;
    char path[] = "/tmp/kroo-train-state-XXXXXX", command[512];
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    unlink(path);
    static const char fit[] = "fit 1 --kind net --epochs 40 --batch 256 --parent starting --no-store --force "
                              "--json -q";
    pid_t child = fork();
    if (child == 0) {
        setenv("KROO_DATABASE", database_conninfo(), 1);
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        execl(executable, executable, "fit", "1", "--kind", "net", "--epochs", "40", "--batch", "256",
              "--parent", "starting", "--no-store", "--force", "--json", "-q", "--threads", "1",
              "--checkpoint", path, (char *)NULL);
        _exit(127);
    }
    bool killed = kill_when_written(child, path);
    snprintf(command, sizeof command, "%s --threads 2 --checkpoint %s", fit, path);
    json_t *resumed = run_json(command, 0), *alone = run_json(fit, 0);
    if (killed)
        assert_true(real(resumed, "resumed_epochs") >= 1.0);
    assert_string_equal(word(resumed, "sha256"), word(alone, "sha256"));
    assert_int_equal(access(path, F_OK), -1); /* done: the state is of no more use */
    json_decref(resumed);
    json_decref(alone);
}

static void expect_not(const char *command, const char *reason)
{
    json_t *answer = run_json(command, 1);
    if (!strstr(word(answer, "reason"), reason))
        fail_msg("`%s` does not say `%s`", word(answer, "reason"), reason);
    json_decref(answer);
}

/* Stored weights of each kind come out again from their row alone. */
static void stored_weights_are_reproduced(void **state)
{
    (void)state;
    static const char *const names[] = {"gen1", "net1", "features1"};
    char command[128];
    for (int i = 0; i < 3; i++) {
        snprintf(command, sizeof command, "reproduce %s --json -q --threads %d", names[i], i + 1);
        json_t *again = run_json(command, 0);
        assert_string_equal(word(again, "state"), "reproduced");
        assert_string_equal(word(again, "sha256"), word(again, "made"));
        json_decref(again);
    }
    json_t *refused = run_json("reproduce starting-site --json -q", 1);
    assert_non_null(strstr(word(refused, "reason"), "no training run"));
    json_decref(refused);
}

/* A file made by another build differs in the builds it names, and the parameters are still the same. */
static void another_build_is_told(void **state)
{
    (void)state;
    struct store *store = fixture_open("kroo_owner");
    fixture_cell(store,
                 "update kroo.training_run set trainer_build = 'kroo-train 0 older', options = options || "
                 "'{\"min_positions\": 1999}' where weights_sha256 = (select sha256 from kroo.weights where "
                 "name = 'features1') returning id");
    store_close(store);
    json_t *again = run_json("reproduce features1 --json -q", 1);
    assert_string_equal(word(again, "state"), "different");
    assert_true(json_is_true(json_object_get(again, "same_parameters")));
    assert_true(json_is_true(json_object_get(again, "same_data")));
    assert_non_null(strstr(word(again, "reason"), "another build"));
    json_decref(again);
}

static void weights_are_judged(void **state)
{
    (void)state;
    static char text[OUTPUT_MAX];
    char command[512], folder[] = "/tmp/kroo-eval-XXXXXX", path[128];
    assert_non_null(mkdtemp(folder));
    struct rules rules;
    assert_int_equal(rules_parse("site", &rules, text, 256), 0);
    snprintf(path, sizeof path, "%s/six.tables", folder);
    assert_int_equal(tables_build(&rules, 6, 1, path, NULL, NULL), TABLES_OK);
    snprintf(command, sizeof command,
             "eval gen1 --games 1 --all --with-decided --against starting --tables %s --report %s/report "
             "--json -q",
             path, folder);
    json_t *judged = run_json(command, 0);
    assert_string_equal(word(judged, "kind"), "table");
    assert_true(real(judged, "loss_after") < real(judged, "loss_before"));
    json_t *endgame = json_object_get(judged, "endgame");
    assert_true(real(endgame, "positions") > 100.0);
    assert_true(real(endgame, "best") > 0.3 * real(endgame, "positions"));
    assert_true(real(endgame, "best") <= real(endgame, "positions"));
    assert_true(real(endgame, "given_away") < 2.0);
    json_decref(judged);
    static const char *const files[] = {"report.md", "report.json", "calibration.svg", "houses-1.svg",
                                        "houses-4.svg"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(command, sizeof command, "%s/report/%s", folder, files[i]);
        assert_int_equal(access(command, R_OK), 0);
    }
    /* A net, by other weights' measure, for people. */
    assert_int_equal(run("eval net1 --games 1 --against gen1 -q 2>&1", text), 0);
    assert_non_null(strstr(text, "weights      net"));
    assert_non_null(strstr(text, "calibration"));
    expect_not("eval nobody --games 1 --json -q", "nobody");
    expect_not("eval gen1 --games 1 --tables /nowhere --json -q", "/nowhere");
    expect_not("eval gen1 --games 999 --json -q", "unknown");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void weights_are_looked_at(void **state)
{
    (void)state;
    static char text[OUTPUT_MAX];
    char command[256], path[] = "/tmp/kroo-weights-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    static const char *const names[] = {"gen1", "net1", "features1", "starting"};
    for (int i = 0; i < 4; i++) {
        snprintf(command, sizeof command, "inspect %s", names[i]);
        assert_int_equal(run(command, text), 0);
        assert_non_null(strstr(text, "sha256"));
        snprintf(command, sizeof command, "export %s -o %s", names[i], path);
        assert_int_equal(run(command, text), 0);
        snprintf(command, sizeof command, "diff %s %s --json", names[i], path);
        json_t *same = run_json(command, 0);
        assert_true(json_is_true(json_object_get(same, "same")));
        json_decref(same);
        snprintf(command, sizeof command, "inspect %s --json", path); /* no database is asked */
        json_t *parts = run_json(command, 0);
        assert_non_null(json_object_get(parts, "sha256"));
        json_decref(parts);
    }
    json_t *difference = run_json("diff gen1 net1 --json", 0);
    assert_true(json_is_false(json_object_get(difference, "same")));
    const json_t *phase = json_array_get(json_object_get(difference, "phases"), 0);
    assert_true(real(phase, "correlation") > 0.3 && real(phase, "correlation") < 1.0);
    assert_true(json_array_size(json_object_get(difference, "provenance")) > 0);
    json_decref(difference);
    assert_int_equal(run("diff gen1 net1", text), 0);
    assert_non_null(strstr(text, "correlation"));
    unlink(path);
    expect_not("inspect /nowhere/at/all --json", "/nowhere");
    expect_not("diff gen1 starting-school --json", "rules");
}

static void a_fit_leaves_its_report(void **state)
{
    (void)state;
    char command[512], folder[] = "/tmp/kroo-report-XXXXXX";
    static char text[OUTPUT_MAX];
    assert_non_null(mkdtemp(folder));
    static const char *const kinds[] = {"table --ridge 1e-3", "net --epochs 2 --batch 256"};
    for (int i = 0; i < 2; i++) {
        snprintf(command, sizeof command,
                 "fit 1 --kind %s --force --no-store --parent starting -q --report %s", kinds[i], folder);
        assert_int_equal(run(command, text), 0);
        snprintf(command, sizeof command,
                 "grep -q '<polyline' %s/loss.svg && grep -q '## Calibration' %s/report.md", folder, folder);
        assert_int_equal(system(command), 0);
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command,
             "fit 1 --ridge 1e-3 --no-store --parent starting -q --report /nowhere/at/all 2>&1");
    assert_int_equal(run(command, text), 1);
    assert_non_null(strstr(text, "/nowhere/at/all"));
}

/* A core type pinned to an older one is told, and the rounded weights are the same. */
static void core_type_is_recorded(void **state)
{
    (void)state;
    setenv("OPENBLAS_CORETYPE", "Prescott", 1);
    json_t *pinned = run_json("fit 1 --ridge 1e-3 --no-store --json -q --kernel dense", 0);
    unsetenv("OPENBLAS_CORETYPE");
    json_t *own = run_json("fit 1 --ridge 1e-3 --no-store --json -q --kernel dense", 0);
#if defined(__x86_64__)
    assert_string_equal(word(pinned, "core"), "Prescott");
    if (__builtin_cpu_supports("avx2"))
        assert_true(json_is_true(json_object_get(pinned, "core_is_older")));
#endif
    assert_true(fabs(real(pinned, "loss_after") - real(own, "loss_after")) < 1e-6);
    json_decref(pinned);
    json_decref(own);
}

static void without_store_nothing_is_stored(void **state)
{
    (void)state;
    uint64_t before = runs_in_state("finished");
    json_t *dry = run_json("fit 1 --ridge 1e-3 --no-store --json -q", 0);
    assert_true(json_is_null(json_object_get(dry, "number")));
    assert_int_equal(runs_in_state("finished"), before);
    json_decref(dry);
}

static void report_is_for_people(void **state)
{
    (void)state;
    static char text[OUTPUT_MAX];
    assert_int_equal(run("fit --games 1:0-129 --ridge 1e-3 --calibration -q 2>&1", text), 0);
    assert_non_null(strstr(text, "pairs 1:0-129"));
    assert_non_null(strstr(text, "validation"));
    assert_non_null(strstr(text, "by game"));
    assert_non_null(strstr(text, "kroo match"));
}

static void expect_refused(const char *arguments, const char *reason, bool recorded)
{
    char command[512];
    uint64_t before = runs_in_state("refused");
    snprintf(command, sizeof command, "fit %s --json -q", arguments);
    json_t *answer = run_json(command, 1);
    assert_string_equal(word(answer, "state"), "refused");
    if (!strstr(word(answer, "reason"), reason))
        fail_msg("`%s` does not say `%s`", word(answer, "reason"), reason);
    assert_int_equal(runs_in_state("refused"), before + recorded);
    json_decref(answer);
}

static void refusals_are_told_and_recorded(void **state)
{
    (void)state;
    struct store *store = fixture_open("kroo_coordinator");
    struct store_experiment empty = specify(store, "site", 5), other = specify(store, "school", 6);
    uint64_t empty_id = fixture_create(store, &empty), other_id = fixture_create(store, &other);
    char text[128];
    store_close(store);
    expect_refused("--games 999", "experiment 999 is unknown", false);
    expect_refused("--games 1:0-165", "165 pairs that count", true);
    snprintf(text, sizeof text, "--games %" PRIu64, empty_id);
    expect_refused(text, "no games", true);
    snprintf(text, sizeof text, "--games 1,%" PRIu64, other_id);
    expect_refused(text, "different rules", true);
    expect_refused("--games 1 --parent starting-school", "school", true);
    expect_refused("--games 1 --parent nobody", "nobody", true);
    expect_refused("--games 1 --ridge 0", "--ridge", true);
    expect_refused("--games 1:0-4", "too few positions", true);
    expect_refused("--games 1 --memory-mib 1 --with-captures --with-decided --with-repeats", "--memory-mib",
                   true);
    expect_refused("--games 1 --parent gen1 --ridge 3", "worse than the parent", true);
}

/* A stored game that does not replay stops the run and is named. */
static void a_game_that_does_not_replay_is_named(void **state)
{
    (void)state;
    struct store *store = fixture_open("kroo_coordinator");
    struct store_experiment experiment = specify(store, "site", 8);
    uint64_t id = fixture_create(store, &experiment);
    struct fixture_games games = fixture_games(id, 0, 3);
    char text[64];
    fixture_put(store, &games);
    fixture_count(store, id);
    fixture_games_done(&games);
    store_close(store);
    snprintf(text, sizeof text, "--games %" PRIu64, id);
    expect_refused(text, "pair 0, leg 0", true);
}

static void the_champion_is_the_default_parent(void **state)
{
    (void)state;
    struct store *store = fixture_open("kroo_coordinator");
    struct store_weights weights;
    uint64_t number, epoch;
    assert_ok(store, store_weights_find(store, "gen1", &weights, &number));
    assert_ok(store, store_begin(store));
    assert_ok(store, store_promote(store, "main", weights.sha256, 0, "tester", "", &epoch));
    assert_ok(store, store_commit(store));
    store_close(store);
    json_t *answer = run_json("fit --games 1 --ridge 1e-3 --force --json -q", 0);
    char hash[65];
    sodium_bin2hex(hash, sizeof hash, weights.sha256, STORE_HASH);
    assert_string_equal(word(answer, "parent"), hash);
    json_decref(answer);
}

static void wrong_usage_is_status_two(void **state)
{
    (void)state;
    static char text[OUTPUT_MAX];
    static const char *const wrong[] = {"",
                                        "fut",
                                        "fit",
                                        "fit --games x",
                                        "fit --games 1 --lambda 2",
                                        "fit --games 1 --ridge nan",
                                        "fit --games 1 --ridge -1",
                                        "fit --games 1 --threads 0",
                                        "fit --games 1 --kernel fast",
                                        "fit --games 1 --iterations 1000",
                                        "fit --games 1,1",
                                        "eval",
                                        "eval gen1",
                                        "inspect",
                                        "diff gen1",
                                        "export gen1 --format pdf",
                                        "reproduce",
                                        "fit --games 1 --kind deep",
                                        "fit --games 1 --kind net --batch 100",
                                        "fit --games 1 --checkpoint x",
                                        "fit --games 1 --kind net --rate 0",
                                        "fit --games 1 --no-such-option"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char command[256];
        snprintf(command, sizeof command, "%s 2>&1", wrong[i]);
        int status = run(command, text);
        if (status != 2)
            fail_msg("`%s` gave status %d: %s", wrong[i], status, text);
    }
    assert_int_equal(run("--help", text), 0);
    assert_non_null(strstr(text, "kroo-train fit"));
    assert_int_equal(run("fit --help", text), 0);
    assert_non_null(strstr(text, "Examples:"));
    assert_int_equal(run("--version", text), 0);
    assert_non_null(strstr(text, "OpenBLAS"));
}

static void no_connection_is_status_three(void **state)
{
    (void)state;
    static char text[OUTPUT_MAX];
    int status = run("fit --games 1 --database 'host=/nonexistent user=kroo' 2>&1", text);
    if (status != 3)
        fail_msg("status %d: %s", status, text);
    assert_non_null(strstr(text, "no connection"));
}

static void *start_database(void *nothing)
{
    (void)nothing;
    return database_start() == 0 ? NULL : executable;
}

/* The plug is pulled between the fit and its record: the fit is not lost, and stored once. */
static void an_outage_at_the_end_is_survived(void **state)
{
    (void)state;
    struct archive *archive = calloc(1, sizeof *archive);
    struct train *train = calloc(1, sizeof *train);
    struct fit_request *request = calloc(1, sizeof *request);
    char reason[FIT_REQUEST_REASON];
    request->name = "survivor";
    request->memory_mib = 64;
    request->options = (struct train_options){.kind = WEIGHTS_TABLE,
                                              .lambda = 0.4,
                                              .ridge = 1e-2,
                                              .iterations = FIT_ITERATIONS,
                                              .threads = 1,
                                              .min_positions = 1,
                                              .force = true};
    request->filters = (struct reader_filters){.validation_ppm = READER_UNIT / 10, .sample_ppm = READER_UNIT};
    assert_int_equal(fit_request_add_games(request, "1", reason), 0);
    uint64_t before = runs_in_state("finished");
    assert_int_equal(archive_open(archive, database_conninfo()), ARCHIVE_OK);
    assert_int_equal(archive_prepare(archive, request, train), ARCHIVE_OK);
    assert_int_equal(archive_read(archive, train), ARCHIVE_OK);
    assert_int_equal(train_run(train), TRAIN_DONE);
    assert_int_equal(database_kill(), 0);
    pthread_t starter;
    void *failed;
    assert_int_equal(pthread_create(&starter, NULL, start_database, NULL), 0);
    enum archive_status status = archive_record(archive, request, train, TRAIN_DONE);
    pthread_join(starter, &failed);
    assert_null(failed);
    if (status != ARCHIVE_OK)
        fail_msg("status %d: %s", status, archive->reason);
    assert_true(archive->number > 0);
    assert_int_equal(runs_in_state("finished"), before + 1);
    /* Recording it again, as after a lost commit, finds the row that is there. */
    assert_int_equal(archive_record(archive, request, train, TRAIN_DONE), ARCHIVE_OK);
    assert_int_equal(runs_in_state("finished"), before + 1);
    archive_close(archive);
    train_done(train);
    free(archive);
    free(train);
    free(request);
}

int main(int argc, char **argv)
{
    (void)argc;
    database_main(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_twice_to_the_same_file),
        cmocka_unit_test(core_type_is_recorded),
        cmocka_unit_test(without_store_nothing_is_stored),
        cmocka_unit_test(dry_runs_tell_the_data),
        cmocka_unit_test(every_kind_is_fitted),
        cmocka_unit_test(killed_and_resumed_it_is_the_same_file),
        cmocka_unit_test(report_is_for_people),
        cmocka_unit_test(refusals_are_told_and_recorded),
        cmocka_unit_test(a_game_that_does_not_replay_is_named),
        cmocka_unit_test(the_champion_is_the_default_parent),
        cmocka_unit_test(an_outage_at_the_end_is_survived),
        cmocka_unit_test(weights_are_judged),
        cmocka_unit_test(weights_are_looked_at),
        cmocka_unit_test(a_fit_leaves_its_report),
        cmocka_unit_test(stored_weights_are_reproduced),
        cmocka_unit_test(another_build_is_told),
        cmocka_unit_test(wrong_usage_is_status_two),
        cmocka_unit_test(no_connection_is_status_three),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
