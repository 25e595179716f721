/* The trainer's throughput on games made here: `trainer data [GAMES]` reads, filters, sorts and merges
 * random games. Lines of `name value unit`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "engine/bytes.h"
#include "engine/game.h"
#include "eval/blas.h"
#include "eval/fit.h"
#include "eval/net.h"
#include "eval/reader.h"

enum { MADE_GAMES = 20000, PLIES_MAX = 400, SEED = 9 };

struct made {
    char moves[PLIES_MAX + 1];
    uint8_t scores[2 * PLIES_MAX];
    struct store_training_game game;
};

/* Of this process alone: one thread works, and other work on the machine does not count. */
static clockid_t clock_id = CLOCK_PROCESS_CPUTIME_ID;

static double now_s(void)
{
    struct timespec now;
    clock_gettime(clock_id, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double peak_mib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024.0;
}

/* A random game with scores that go with its stores; false when it is too long. */
static bool make_game(struct game *game, uint64_t number, struct made *made)
{
    size_t ply = 0;
    game_reset(game, NULL);
    for (; ply < PLIES_MAX && !game_over(game); ply++) {
        struct position position = game_position(game);
        unsigned legal = game_legal(game);
        uint32_t skip = mix_below(mix(mix(SEED, number), ply), (uint32_t)__builtin_popcount(legal));
        for (; skip > 0; skip--)
            legal &= legal - 1;
        int house = __builtin_ctz(legal) + 6 * position.side;
        int lead = position.stores[position.side] - position.stores[1 - position.side];
        int noise = (int)mix_below(mix(mix(SEED + 1, number), ply), 400) - 200;
        bytes_put_u16(made->scores + 2 * ply, (uint16_t)(100 * lead + noise));
        made->moves[ply] = position_house_letter(house);
        game_play(game, house);
    }
    if (!game_over(game))
        return false;
    made->moves[ply] = '\0';
    struct position end = game_position(game);
    made->game = (struct store_training_game){.experiment = 1,
                                              .moves = made->moves,
                                              .plies = ply,
                                              .scores = made->scores,
                                              .south = end.stores[0],
                                              .north = end.stores[1]};
    snprintf(made->game.result, sizeof made->game.result, "%s", game_result_text(game_result(game)));
    snprintf(made->game.reason, sizeof made->game.reason, "%s", game_reason_text(game_reason(game)));
    return true;
}

static struct made *make_games(const struct rules *rules)
{
    struct made *made = malloc(MADE_GAMES * sizeof *made);
    struct game *game = game_create(rules, NULL);
    uint64_t number = 0;
    for (size_t i = 0; made && game && i < MADE_GAMES; number++)
        i += make_game(game, number, &made[i]);
    game_destroy(game);
    return made;
}

static void tell(const char *name, double value, const char *unit)
{
    printf("%s %.4g %s\n", name, value, unit);
    fflush(stdout);
}

static int bench_data(uint64_t games)
{
    struct rules rules;
    char reason[256];
    const struct reader_filters filters = {
        .validation_ppm = 100000, .sample_ppm = READER_UNIT, .with_captures = true, .with_repeats = true};
    struct reader *reader = malloc(sizeof *reader);
    rules_parse("site", &rules, reason, sizeof reason);
    struct made *made = make_games(&rules);
    if (!made || !reader || reader_init(reader, &rules, &filters, SIZE_MAX / 64) != READER_OK)
        return 1;
    reader->sources[reader->source_count++] = (struct reader_source){.experiment = 1, .seed = SEED};
    double before_mib = peak_mib(), start = now_s();
    for (uint64_t i = 0; i < games; i++) {
        struct made *one = &made[i % MADE_GAMES];
        one->game.pair = i / 2;
        one->game.leg = (unsigned)(i % 2);
        if (reader_take(reader, &one->game) != READER_OK) {
            fprintf(stderr, "%s\n", reader->reason);
            return 1;
        }
    }
    double read = now_s(), positions = (double)(reader->training.count + reader->validation.count);
    rows_sort(&reader->training);
    rows_sort(&reader->validation);
    double sorted = now_s();
    uint8_t sha256[32];
    rows_digest(&reader->training, &reader->validation, sha256);
    double digested = now_s();
    size_t count;
    rows_merge(&reader->training, 0.4, 200.0, 0.0, &count);
    rows_sort_by_game(&reader->validation);
    double end = now_s();
    tell("trainer.positions", positions, "positions");
    tell("trainer.read", (double)reader->counts.positions / (read - start), "positions/s");
    tell("trainer.sort", positions / (sorted - read), "positions/s");
    tell("trainer.digest", positions / (digested - sorted), "positions/s");
    tell("trainer.merge", positions / (end - digested), "positions/s");
    tell("trainer.data_path", positions / (end - start), "positions/s");
    tell("trainer.memory", (peak_mib() - before_mib) * 1048576.0 / positions, "bytes/position");
    reader_done(reader);
    free(reader);
    free(made);
    return 0;
}

/* Merged rows of random games and a truth about their stores. */
static struct merged *bench_rows(struct rows *rows, size_t count, size_t *merged)
{
    struct rules rules;
    char reason[256];
    rules_parse("site", &rules, reason, sizeof reason);
    struct game *game = game_create(&rules, NULL);
    rows_init(rows, SIZE_MAX / 64);
    for (uint64_t number = 0; rows->count < count; number++) {
        game_reset(game, NULL);
        for (uint64_t ply = 0; ply < PLIES_MAX && !game_over(game); ply++) {
            struct position position = game_position(game);
            unsigned legal = game_legal(game);
            uint32_t skip = mix_below(mix(mix(SEED, number), ply), (uint32_t)__builtin_popcount(legal));
            int lead = position.stores[position.side] - position.stores[1 - position.side];
            struct row row = {.key = features_key(board_from_position(&position)),
                              .score = (int16_t)(100 * lead),
                              .half_points = mix(number, ply) % 48 < (uint64_t)(24 + lead) ? 2 : 0};
            rows_add(rows, &row);
            for (; skip > 0; skip--)
                legal &= legal - 1;
            game_play(game, __builtin_ctz(legal) + 6 * position.side);
        }
    }
    game_destroy(game);
    rows_sort(rows);
    return rows_merge(rows, 0.4, 200.0, 0.0, merged);
}

static int bench_net(size_t wanted, unsigned threads)
{
    struct rows rows, none;
    size_t count;
    char reason[512], name[64];
    struct merged *merged = bench_rows(&rows, wanted, &count);
    struct net_options options = {
        .threads = threads, .epochs = 4, .batch = NET_BATCH_HIGH, .rate = 2e-3, .seed = 1};
    struct net_fit *fit = aligned_alloc(64, sizeof *fit);
    rows_init(&none, 1);
    rows_shuffle(merged, count);
    clock_id = threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    double start = now_s();
    if (net_run(merged, count, &none, (struct row_targets){0.4, 200.0}, &options, NULL, NULL, fit, reason,
                sizeof reason) != NET_OK) {
        fprintf(stderr, "%s\n", reason);
        return 1;
    }
    snprintf(name, sizeof name, "trainer.adam_%u_threads", threads);
    tell(name, 4.0 * (double)count / (now_s() - start), "positions/s");
    tell("trainer.adam_loss", fit->curve[3].training, "nats");
    free(fit);
    rows_done(&rows);
    return 0;
}

static int bench_newton(size_t wanted, unsigned threads, enum fit_kernel kernel)
{
    struct rows rows;
    size_t count;
    char reason[512], name[64];
    struct merged *merged = bench_rows(&rows, wanted, &count);
    struct fit_options options = {
        .model = WEIGHTS_TABLE, .kernel = kernel, .threads = threads, .iterations = 6, .ridge = 1e-6};
    struct fit *fit = calloc(1, sizeof *fit);
    clock_id = threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    double start = now_s();
    if (fit_run(merged, count, &options, NULL, NULL, fit, reason, sizeof reason) != FIT_OK) {
        fprintf(stderr, "%s\n", reason);
        return 1;
    }
    double seconds = now_s() - start;
    snprintf(name, sizeof name, "trainer.newton_%s_%u_threads", kernel == FIT_DENSE ? "dense" : "sparse",
             threads);
    tell(name, (double)count / seconds, "rows/s");
    free(fit);
    rows_done(&rows);
    return 0;
}

static int bench_blas(void)
{
    printf("trainer.core %s\n", blas_core());
    tell("trainer.dgemm", blas_speed(BLAS_DGEMM) * 1e-9, "GFLOP/s");
    tell("trainer.dsyrk", blas_speed(BLAS_DSYRK) * 1e-9, "GFLOP/s");
    tell("trainer.sgemm", blas_speed(BLAS_SGEMM) * 1e-9, "GFLOP/s");
    return 0;
}

int main(int argc, char **argv)
{
    blas_choose_core(argv);
    size_t wanted = argc > 2 ? strtoull(argv[2], NULL, 10) : 2000000;
    unsigned threads = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1;
    if (argc >= 2 && strcmp(argv[1], "blas") == 0)
        return bench_blas();
    if (argc >= 2 && strcmp(argv[1], "net") == 0)
        return bench_net(wanted, threads);
    if (argc >= 2 && strcmp(argv[1], "newton") == 0)
        return bench_newton(wanted, threads, FIT_SPARSE);
    if (argc >= 2 && strcmp(argv[1], "dense") == 0)
        return bench_newton(wanted, threads, FIT_DENSE);
    if (argc >= 2 && strcmp(argv[1], "data") == 0)
        return bench_data(argc > 2 ? strtoull(argv[2], NULL, 10) : 100000);
    fprintf(stderr, "Usage: trainer data [GAMES] | net|newton|dense [POSITIONS [THREADS]] | blas\n");
    return 2;
}
