#include "eval/provenance.h"

#include <math.h>
#include <string.h>

#include <jansson.h>

#include "engine/build.h"
#include "eval/blas.h"
#include "eval/build.h"
#include "eval/shards.h"
#include "eval/train.h"
#include "proto/artifact.h"

/* Rounded, so that the last bits of a sum do not show in a file's hash. */
static json_t *rounded(double value, double unit)
{
    return json_real(nearbyint(value / unit) * unit);
}

static json_t *hex(const uint8_t sha256[STORE_HASH])
{
    char text[ARTIFACT_HEX];
    artifact_hex(sha256, text);
    return json_string(text);
}

static json_t *number(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static char *text_of(json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(value);
    return text;
}

static json_t *manifest(const struct train *train)
{
    json_t *list = json_array();
    for (size_t i = 0; i < train->range_count; i++)
        json_array_append_new(list,
                              json_pack("{s:o, s:o, s:o}", "experiment", number(train->ranges[i].experiment),
                                        "first_pair", number(train->ranges[i].first_pair), "pair_count",
                                        number(train->ranges[i].pair_count)));
    return list;
}

static json_t *options(const struct train *train)
{
    const struct train_options *chosen = &train->options;
    const struct reader_filters *filters = &train->reader.filters;
    json_t *object = json_pack("{s:s, s:f, s:f, s:o, s:b, s:i}", "kind", weights_kind_name(chosen->kind),
                               "lambda", chosen->lambda, "count_cap", chosen->count_cap, "min_positions",
                               number(chosen->min_positions), "force", chosen->force, "tables_seeds",
                               chosen->tables_seeds);
    json_t *fitting =
        chosen->kind == WEIGHTS_NET
            ? json_pack("{s:i, s:i, s:f, s:i}", "epochs", (int)chosen->epochs, "batch", (int)chosen->batch,
                        "rate", chosen->rate, "parts", NET_PARTS)
            : json_pack("{s:s, s:f, s:i}", "kernel", chosen->kernel == FIT_DENSE ? "dense" : "sparse",
                        "ridge", chosen->ridge, "iterations", (int)chosen->iterations);
    json_t *reading = json_pack(
        "{s:b, s:b, s:b, s:b, s:i, s:i, s:o, s:s}", "with_captures", filters->with_captures, "with_opening",
        filters->with_opening, "with_decided", filters->with_decided, "with_repeats", filters->with_repeats,
        "validation_ppm", (int)filters->validation_ppm, "sample_ppm", (int)filters->sample_ppm, "seed",
        number(filters->seed), "split", "mix(mix(mix(experiment seed, 4), pair))");
    if (object && reading && fitting) {
        json_object_update(object, reading);
        json_object_update(object, fitting);
    }
    json_decref(reading);
    json_decref(fitting);
    return object;
}

char *provenance_text(const struct train *train)
{
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:f}", "source",
                  "kroo-train", "trainer", train_build(), "engine", engine_build(), "kind",
                  weights_kind_name(train->options.kind), "rules", train->reader.rules.name, "data_sha256",
                  hex(train->data_sha256), "manifest", manifest(train), "options", options(train), "shards",
                  SHARDS, "games", number(train->reader.counts.training_games), "positions",
                  number(train->positions), "distinct_positions", number(train->merged_count), "k",
                  rounded(train->k, 1e-3), "lambda", train->lambda);
    json_t *parents = json_array();
    if (train->parent.stored)
        json_array_append_new(parents, hex(train->parent.sha256));
    else
        json_array_append_new(parents, json_string("starting"));
    json_object_set_new(object, "parents", parents);
    if (train->judged)
        json_object_set_new(object, "validation",
                            json_pack("{s:o, s:o, s:o, s:o}", "games", number(train->judge.games),
                                      "positions", number(train->judge.positions), "loss_before",
                                      rounded(train->judge.before, 1e-5), "loss_after",
                                      rounded(train->judge.after, 1e-5)));
    return text_of(object);
}

char *provenance_manifest(const struct train *train)
{
    return text_of(manifest(train));
}

static json_t *counts(const struct reader_counts *read)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "games",
                     number(read->games), "training_games", number(read->training_games), "validation_games",
                     number(read->validation_games), "repeats", number(read->repeats), "unsampled",
                     number(read->unsampled), "south", number(read->south), "north", number(read->north),
                     "draws", number(read->draws), "positions", number(read->positions), "left_out_opening",
                     number(read->opening), "left_out_before_noise", number(read->noise), "left_out_decided",
                     number(read->decided), "left_out_captures", number(read->captures), "training",
                     number(read->training), "validation", number(read->validation));
}

char *provenance_options(const struct train *train)
{
    json_t *object = options(train);
    json_t *warnings = json_array();
    for (size_t i = 0; i < train->warning_count; i++)
        json_array_append_new(warnings, json_string(train->warnings[i]));
    char remark[TRAIN_TEXT];
    blas_remark(remark, sizeof remark);
    json_object_set_new(object, "blas_remark", json_string(remark));
    json_object_set_new(object, "core_pinned", blas_pinned() ? json_string(blas_pinned()) : json_null());
    json_object_set_new(object, "shards", json_integer(SHARDS));
    json_object_set_new(object, "engine_build", json_string(engine_build()));
    json_object_set_new(object, "lambda_used", json_real(train->lambda));
    json_object_set_new(object, "parent_scale", json_real(train->parent_k));
    json_object_set_new(object, "read", counts(&train->reader.counts));
    json_object_set_new(object, "shared_validation_positions", number(train->shared));
    json_object_set_new(object, "validation_positions", number(train->validation_positions));
    json_object_set_new(object, "exact_positions", number(train->exact.positions));
    json_object_set_new(object, "exact_share", json_real(train->exact.share));
    json_object_set_new(object, "quantisation_error", json_real(train->quantisation_error));
    json_object_set_new(object, "shift", json_integer(train->quantized.shift));
    json_object_set_new(object, "per_logit", json_integer(train->quantized.per_logit));
    json_object_set_new(object, "start_score", json_real(train->start_score));
    json_object_set_new(object, "warnings", warnings);
    return text_of(object);
}

static json_t *steps(const struct fit_phase *phase)
{
    json_t *list = json_array();
    for (unsigned i = 0; i <= phase->steps && phase->weight > 0.0; i++)
        json_array_append_new(list,
                              json_pack("{s:f, s:f, s:f}", "loss", phase->curve[i].loss, "gradient",
                                        phase->curve[i].gradient, "levenberg", phase->curve[i].levenberg));
    return list;
}

static json_t *calibration(const struct judge_bin bins[JUDGE_BINS])
{
    json_t *list = json_array();
    for (int i = 0; i < JUDGE_BINS; i++)
        json_array_append_new(list, json_pack("{s:o, s:f, s:f}", "positions", number(bins[i].positions),
                                              "predicted", bins[i].predicted, "target", bins[i].target));
    return list;
}

static json_t *epochs(const struct net_fit *net)
{
    json_t *list = json_array();
    for (unsigned i = 0; net && i < net->epochs; i++)
        json_array_append_new(list,
                              json_pack("{s:f, s:f, s:f}", "training", net->curve[i].training, "validation",
                                        net->curve[i].validation, "rate", net->curve[i].rate));
    return list;
}

json_t *provenance_curve_json(const struct train *train)
{
    json_t *list = json_array();
    for (int i = 0; i < WEIGHTS_PHASES; i++) {
        const struct fit_phase *phase = &train->fit.phases[i];
        json_t *entry = json_pack("{s:i, s:o}", "phase", i, "calibration", calibration(train->judge.bins[i]));
        if (train->options.kind != WEIGHTS_NET) {
            json_object_set_new(entry, "rows", number(phase->rows));
            json_object_set_new(entry, "positions", json_real(phase->weight));
            json_object_set_new(entry, "columns", json_integer(phase->columns));
            json_object_set_new(entry, "steps", steps(phase));
        }
        json_array_append_new(list, entry);
    }
    if (train->options.kind == WEIGHTS_NET)
        json_array_append_new(list, json_pack("{s:i, s:o}", "best", train->net ? (int)train->net->best : 0,
                                              "epochs", epochs(train->net)));
    return list;
}

char *provenance_curve(const struct train *train)
{
    return text_of(provenance_curve_json(train));
}

char *provenance_perfect(const struct train *train)
{
    return text_of(perfect_json(&train->perfect));
}
