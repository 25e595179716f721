#include "eval/report.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "eval/plot.h"
#include "eval/provenance.h"

enum { COUNTS = FEATURES_COUNT_MAX + 1, FEW = 20 };

static const char *const phases[WEIGHTS_PHASES] = {"36 seeds and more", "24 to 35 seeds", "12 to 23 seeds",
                                                   "under 12 seeds"};

/* --- loss --- */

static bool plot_epochs(const struct net_fit *net, const char *folder)
{
    static double x[NET_EPOCHS_MAX], training[NET_EPOCHS_MAX], validation[NET_EPOCHS_MAX];
    for (unsigned i = 0; i < net->epochs; i++) {
        x[i] = i + 1.0;
        training[i] = net->curve[i].training;
        validation[i] = net->curve[i].validation > 0.0 ? net->curve[i].validation : NAN;
    }
    struct plot plot = {"Loss by epoch", "epoch", "cross-entropy", .series_count = 2};
    plot.series[0] = (struct plot_series){"training", x, training, net->epochs, false};
    plot.series[1] = (struct plot_series){"validation", x, validation, net->epochs, true};
    return plot_write(&plot, folder, "loss.svg");
}

static bool plot_steps(const struct fit *fit, const char *folder)
{
    static double x[FIT_CURVE_MAX], y[WEIGHTS_PHASES][FIT_CURVE_MAX];
    struct plot plot = {"Loss by Newton step", "step", "cross-entropy", .series_count = WEIGHTS_PHASES};
    for (int i = 0; i < FIT_CURVE_MAX; i++)
        x[i] = i;
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++) {
        const struct fit_phase *made = &fit->phases[phase];
        for (unsigned i = 0; i <= made->steps; i++)
            y[phase][i] = made->curve[i].loss;
        plot.series[phase] = (struct plot_series){phases[phase], x, y[phase], made->steps + 1, false};
    }
    return plot_write(&plot, folder, "loss.svg");
}

/* --- calibration --- */

static bool plot_calibration(const struct judge *judge, const char *folder)
{
    static const double diagonal[] = {0.0, 1.0};
    double x[WEIGHTS_PHASES][JUDGE_BINS], y[WEIGHTS_PHASES][JUDGE_BINS];
    struct plot plot = {"Calibration", "predicted", "target", .series_count = WEIGHTS_PHASES + 1};
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++) {
        for (int i = 0; i < JUDGE_BINS; i++) {
            bool known = judge->bins[phase][i].positions >= FEW;
            x[phase][i] = known ? judge->bins[phase][i].predicted : NAN;
            y[phase][i] = known ? judge->bins[phase][i].target : NAN;
        }
        plot.series[phase] = (struct plot_series){phases[phase], x[phase], y[phase], JUDGE_BINS, false};
    }
    plot.series[WEIGHTS_PHASES] = (struct plot_series){"perfect", diagonal, diagonal, 2, true};
    return plot_write(&plot, folder, "calibration.svg");
}

/* --- houses --- */

struct houses {
    double sum[WEIGHTS_PHASES][WEIGHTS_HOUSES][COUNTS], positions[WEIGHTS_PHASES][WEIGHTS_HOUSES][COUNTS];
    double phase_sum[WEIGHTS_PHASES], phase_positions[WEIGHTS_PHASES];
};

/* What the weights say of validation positions with so many seeds in a house, against the phase's mean: the
 * same curves for every kind. */
static void see_houses(const struct train *train, struct houses *houses)
{
    const struct rows *rows = &train->reader.validation;
    memset(houses, 0, sizeof *houses);
    for (size_t i = 0; i < rows->count; i++) {
        uint64_t key = rows->items[i].key;
        int phase = features_phase(key);
        double score = features_score(key, train->weights);
        houses->phase_sum[phase] += score;
        houses->phase_positions[phase]++;
        for (int house = 0; house < WEIGHTS_HOUSES; house++) {
            houses->sum[phase][house][features_count(key, house)] += score;
            houses->positions[phase][house][features_count(key, house)]++;
        }
    }
}

/* Of a table its own numbers, which say it without the positions. */
static double house_value(const struct train *train, const struct houses *houses, int phase, int house,
                          int count)
{
    if (train->weights->kind == WEIGHTS_TABLE)
        return count < WEIGHTS_COUNTS ? ldexp(train->weights->phases[phase].house[house][count] -
                                                  train->weights->phases[phase].house[house][0],
                                              -train->weights->shift)
                                      : NAN;
    double positions = houses->positions[phase][house][count];
    if (positions < FEW)
        return NAN;
    return houses->sum[phase][house][count] / positions -
           houses->phase_sum[phase] / houses->phase_positions[phase];
}

static bool plot_houses(const struct train *train, const char *folder)
{
    static const char *const names[WEIGHTS_HOUSES] = {"own A",   "own B",   "own C",   "own D",
                                                      "own E",   "own F",   "other A", "other B",
                                                      "other C", "other D", "other E", "other F"};
    static struct houses houses;
    bool written = true;
    see_houses(train, &houses);
    for (int phase = 0; phase < WEIGHTS_PHASES && written; phase++) {
        double x[COUNTS], y[WEIGHTS_HOUSES][COUNTS];
        char title[96], name[32];
        snprintf(title, sizeof title, "Seeds in a house, %s on the board", phases[phase]);
        snprintf(name, sizeof name, "houses-%d.svg", phase + 1);
        struct plot plot = {title, "seeds", "hundredths of a seed", .series_count = WEIGHTS_HOUSES};
        for (int house = 0; house < WEIGHTS_HOUSES; house++) {
            for (int count = 0; count < COUNTS; count++) {
                x[count] = count;
                y[house][count] = house_value(train, &houses, phase, house, count);
            }
            plot.series[house] = (struct plot_series){names[house], x, y[house], COUNTS, house >= 6};
        }
        written = plot_write(&plot, folder, name);
    }
    return written;
}

/* --- text --- */

static void put_counts(FILE *stream, const struct train *train)
{
    const struct reader_counts *read = &train->reader.counts;
    fputs("## Data\n\n| experiment | pairs |\n|---|---|\n", stream);
    for (size_t i = 0; i < train->range_count; i++)
        fprintf(stream, "| %" PRIu64 " | %" PRIu64 "-%" PRIu64 " |\n", train->ranges[i].experiment,
                train->ranges[i].first_pair, train->ranges[i].first_pair + train->ranges[i].pair_count - 1);
    fprintf(stream,
            "\n| | |\n|---|---|\n| games | %" PRIu64 " (%" PRIu64 " to train on, %" PRIu64 " to judge) |\n"
            "| repeated games | %" PRIu64 " |\n| positions read | %" PRIu64 " |\n"
            "| left out: opening | %" PRIu64 " |\n| left out: before noise | %" PRIu64 " |\n"
            "| left out: decided | %" PRIu64 " |\n| left out: captures | %" PRIu64 " |\n"
            "| training positions | %" PRIu64 " |\n| validation positions | %" PRIu64 ", of which %" PRIu64
            " occur in training too |\n",
            read->games, read->training_games, read->validation_games, read->repeats, read->positions,
            read->opening, read->noise, read->decided, read->captures, read->training, read->validation,
            train->shared);
    fprintf(stream, "| target | %.2f result + %.2f score, K = %.1f |\n\n", train->lambda, 1.0 - train->lambda,
            train->k);
}

static void put_losses(FILE *stream, const struct train *train)
{
    const struct judge *judge = &train->judge;
    fputs("## Loss\n\n| | before | after | difference |\n|---|---|---|---|\n", stream);
    if (train->train_after > 0.0)
        fprintf(stream, "| training | %.5f | %.5f | %+.5f |\n", train->train_before, train->train_after,
                train->train_after - train->train_before);
    fprintf(stream, "| validation | %.5f | %.5f | %+.5f +- %.5f by game |\n", judge->before, judge->after,
            judge->difference, judge->error);
    fprintf(stream, "| against the result | %.5f | %.5f | %+.5f |\n\n", judge->result_before,
            judge->result_after, judge->result_after - judge->result_before);
    if (train->train_after > 0.0)
        fputs("![loss](loss.svg)\n\n", stream);
}

static void put_calibration(FILE *stream, const struct judge *judge)
{
    fputs("## Calibration\n\n![calibration](calibration.svg)\n\n| seeds on the board | positions | mean "
          "distance "
          "|\n|---|---|---|\n",
          stream);
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++) {
        double positions = 0.0, sum = 0.0;
        for (int i = 0; i < JUDGE_BINS; i++) {
            const struct judge_bin *bin = &judge->bins[phase][i];
            positions += (double)bin->positions;
            sum += (double)bin->positions * fabs(bin->predicted - bin->target);
        }
        fprintf(stream, "| %s | %.0f | %.4f |\n", phases[phase], positions,
                positions > 0.0 ? sum / positions : 0.0);
    }
    fputs("\n", stream);
}

static bool put_text(const struct train *train, const char *path)
{
    FILE *stream = fopen(path, "w");
    if (!stream)
        return false;
    fprintf(stream, "# Weights of the kind `%s` under `%s`\n\n", weights_kind_name(train->weights->kind),
            train->reader.rules.name);
    put_counts(stream, train);
    put_losses(stream, train);
    put_calibration(stream, &train->judge);
    fprintf(stream,
            "## Integers\n\n%d hundredths of a seed in a log odd, shift %d; largest rounding error %.2f "
            "hundredths; the start position scores %.0f.\n\n",
            train->weights->per_logit, train->weights->shift, train->quantisation_error, train->start_score);
    fputs("## What seeds in a house are worth\n\n", stream);
    for (int phase = 1; phase <= WEIGHTS_PHASES; phase++)
        fprintf(stream, "![houses](houses-%d.svg)\n", phase);
    if (train->warning_count > 0)
        fputs("\n## Notes\n\n", stream);
    for (size_t i = 0; i < train->warning_count; i++)
        fprintf(stream, "- %s\n", train->warnings[i]);
    bool written = ferror(stream) == 0;
    return fclose(stream) == 0 && written;
}

static bool put_json(const struct train *train, json_t *figures, const char *path)
{
    json_t *object = json_copy(figures);
    json_object_set_new(object, "curve", provenance_curve_json(train));
    bool written = object && json_dump_file(object, path, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0;
    json_decref(object);
    return written;
}

int report_write(const char *folder, const struct train *train, json_t *figures, char *reason,
                 size_t reason_size)
{
    char text[PATH_MAX], json[PATH_MAX];
    bool written = (size_t)snprintf(text, sizeof text, "%s/report.md", folder) < sizeof text &&
                   (size_t)snprintf(json, sizeof json, "%s/report.json", folder) < sizeof json &&
                   (mkdir(folder, 0777) == 0 || errno == EEXIST) && put_text(train, text) &&
                   put_json(train, figures, json) && plot_calibration(&train->judge, folder) &&
                   plot_houses(train, folder);
    if (written && train->net)
        written = plot_epochs(train->net, folder);
    else if (written && train->train_after > 0.0)
        written = plot_steps(&train->fit, folder);
    if (!written)
        snprintf(reason, reason_size, "the report in %s cannot be written: %s", folder, strerror(errno));
    return written ? 0 : -1;
}
