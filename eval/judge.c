#include "eval/judge.h"

#include <math.h>
#include <string.h>

#include "eval/features.h"

double judge_loss(double z, double y)
{
    return (z > 0.0 ? z + log1p(exp(-z)) : log1p(exp(z))) - y * z;
}

static double logit(uint64_t key, struct judged judged)
{
    return features_score(key, judged.weights) / judged.k;
}

static void add_bin(struct judge *judge, uint64_t key, double z, double target)
{
    double p = 1.0 / (1.0 + exp(-z));
    int bin = (int)(p * JUDGE_BINS);
    struct judge_bin *into = &judge->bins[features_phase(key)][bin < JUDGE_BINS ? bin : JUDGE_BINS - 1];
    into->positions++;
    into->predicted += p;
    into->target += target;
}

/* Sums over the games read so far, from which the variance of the mean follows without a second pass. */
struct clusters {
    double games;
    double game_sum, game_positions; /* of the game being read */
    double sum_squares, products, position_squares;
};

static void end_game(struct clusters *clusters)
{
    if (clusters->game_positions == 0.0)
        return;
    clusters->games++;
    clusters->sum_squares += clusters->game_sum * clusters->game_sum;
    clusters->products += clusters->game_sum * clusters->game_positions;
    clusters->position_squares += clusters->game_positions * clusters->game_positions;
    clusters->game_sum = clusters->game_positions = 0.0;
}

/* Variance of a ratio of sums over clusters: sum_g (d_g - n_g * mean)^2 * G / (G - 1) / n^2 (Cochran,
 * Sampling Techniques, chapter 9A). One game has no variance to show. */
static double cluster_error(const struct clusters *clusters, double mean, double positions)
{
    if (clusters->games < 2.0)
        return 0.0;
    double sum =
        clusters->sum_squares - 2.0 * mean * clusters->products + mean * mean * clusters->position_squares;
    return sqrt(fmax(sum, 0.0) * clusters->games / (clusters->games - 1.0)) / positions;
}

static void finish(struct judge *judge, const struct clusters *clusters, double squares)
{
    double count = (double)judge->positions;
    judge->games = (uint64_t)clusters->games;
    judge->before /= count;
    judge->after /= count;
    judge->result_before /= count;
    judge->result_after /= count;
    judge->difference /= count;
    judge->error = cluster_error(clusters, judge->difference, count);
    if (judge->positions > 1)
        judge->naive_error =
            sqrt(fmax(squares / count - judge->difference * judge->difference, 0.0) / (count - 1.0));
    for (int phase = 0; phase < WEIGHTS_PHASES; phase++)
        for (int i = 0; i < JUDGE_BINS; i++) {
            struct judge_bin *bin = &judge->bins[phase][i];
            if (bin->positions > 0) {
                bin->predicted /= (double)bin->positions;
                bin->target /= (double)bin->positions;
            }
        }
}

void judge_run(const struct rows *validation, struct row_targets targets, struct judged before,
               struct judged after, struct judge *out)
{
    struct clusters clusters = {0};
    double squares = 0.0;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < validation->count; i++) {
        const struct row *row = &validation->items[i];
        double target = row_target(row, targets.lambda, targets.k), result = row->half_points / 2.0;
        double z_before = logit(row->key, before), z_after = logit(row->key, after);
        double loss_before = judge_loss(z_before, target), loss_after = judge_loss(z_after, target);
        double difference = loss_after - loss_before;
        if (i > 0 && row->game != row[-1].game)
            end_game(&clusters);
        clusters.game_sum += difference;
        clusters.game_positions++;
        squares += difference * difference;
        out->before += loss_before;
        out->after += loss_after;
        out->difference += difference;
        out->result_before += judge_loss(z_before, result);
        out->result_after += judge_loss(z_after, result);
        add_bin(out, row->key, z_after, target);
    }
    end_game(&clusters);
    out->positions = validation->count;
    if (out->positions > 0)
        finish(out, &clusters, squares);
}

double judge_merged(const struct merged *rows, size_t count, struct judged judged)
{
    double sum = 0.0, weight = 0.0;
    for (size_t i = 0; i < count; i++) {
        sum += rows[i].weight * judge_loss(logit(rows[i].key, judged), rows[i].target);
        weight += rows[i].weight;
    }
    return weight > 0.0 ? sum / weight : 0.0;
}
