#include "coordinator/wire.h"

#include <stdio.h>
#include <string.h>

#include "engine/build.h"

static void store_player(const struct message_player *from, struct store_player *to)
{
    memcpy(to->weights, from->weights, STORE_HASH);
    snprintf(to->engine_build, sizeof to->engine_build, "%s", engine_build());
    to->limits = (struct store_limits){
        .nodes = from->node_limit,
        .depth = from->depth_limit,
        .time_ms = from->time_ms,
        .hash_kib = from->hash_kib,
        .clock_ms = from->clock_ms,
        .increment_ms = from->increment_ms,
    };
    memcpy(to->engine, from->engine, STORE_HASH);
    memcpy(to->tables, from->tables, STORE_HASH);
    snprintf(to->options, sizeof to->options, "%s", from->options);
}

static void message_player(const struct store_player *from, struct message_player *to)
{
    *to = (struct message_player){
        .node_limit = from->limits.nodes,
        .depth_limit = from->limits.depth,
        .time_ms = from->limits.time_ms,
        .hash_kib = from->limits.hash_kib,
        .clock_ms = from->limits.clock_ms,
        .increment_ms = from->limits.increment_ms,
    };
    memcpy(to->weights, from->weights, MESSAGE_HASH);
    memcpy(to->engine, from->engine, MESSAGE_HASH);
    memcpy(to->tables, from->tables, MESSAGE_HASH);
    snprintf(to->options, sizeof to->options, "%s", from->options);
    snprintf(to->engine_signature, sizeof to->engine_signature, "%s", from->signature);
}

static const struct {
    enum message_experiment_kind message;
    enum store_kind store;
} kinds[] = {{MESSAGE_SELFPLAY, STORE_SELFPLAY}, {MESSAGE_MATCH, STORE_MATCH}, {MESSAGE_TUNE, STORE_TUNE}};

static enum store_kind store_kind(enum message_experiment_kind kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].message == kind)
            return kinds[i].store;
    return STORE_SELFPLAY;
}

static enum message_experiment_kind message_kind(enum store_kind kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].store == kind)
            return kinds[i].message;
    return MESSAGE_SELFPLAY;
}

void wire_store_experiment(const struct message_create_experiment *create, const char *by,
                           struct store_experiment *experiment)
{
    const struct message_spec *spec = &create->spec;
    *experiment = (struct store_experiment){
        .kind = store_kind(spec->kind),
        .state = STORE_RUNNING,
        .seed = spec->seed,
        .opening_plies = spec->opening_plies,
        .noise_ppm = spec->noise_ppm,
        .planned_pairs = create->pairs,
        .has_sprt = create->has_sprt,
        .with_scores = spec->with_scores,
        .priority = create->priority,
        .resign_score = spec->resign_score,
        .resign_plies = spec->resign_plies,
        .resign_playout_ppm = spec->resign_playout_ppm,
        .audit_ppm = create->audit_ppm,
        .share = create->share,
        .core_cap = create->core_cap,
        .has_reference = spec->reference_speed > 0,
        .reference_speed = spec->reference_speed,
    };
    store_player(&spec->a, &experiment->a);
    store_player(&spec->b, &experiment->b);
    memcpy(experiment->book, spec->book, STORE_HASH);
    memcpy(experiment->adjudication, spec->adjudication, STORE_HASH);
    memcpy(experiment->tune, create->tune, STORE_HASH);
    snprintf(experiment->rules, sizeof experiment->rules, "%s", spec->rules);
    snprintf(experiment->idempotency_key, sizeof experiment->idempotency_key, "%s", create->idempotency_key);
    snprintf(experiment->note, sizeof experiment->note, "%s", create->note);
    snprintf(experiment->created_by, sizeof experiment->created_by, "%s", by);
    snprintf(experiment->tags, sizeof experiment->tags, "%s", create->tags);
    snprintf(experiment->on_finish, sizeof experiment->on_finish, "%s", create->on_finish);
    if (!create->has_sprt)
        return;
    experiment->sprt = (struct store_sprt){
        .elo0 = create->sprt.elo0,
        .elo1 = create->sprt.elo1,
        .alpha = create->sprt.alpha,
        .beta = create->sprt.beta,
        .batch = create->sprt.batch,
    };
    snprintf(experiment->sprt.model, sizeof experiment->sprt.model, "%s", create->sprt.model);
}

void wire_spec(const struct store_experiment *experiment, struct message_spec *spec)
{
    *spec = (struct message_spec){
        .experiment = experiment->id,
        .kind = message_kind(experiment->kind),
        .seed = experiment->seed,
        .opening_plies = experiment->opening_plies,
        .noise_ppm = experiment->noise_ppm,
        .with_scores = experiment->with_scores,
        .resign_score = experiment->resign_score,
        .resign_plies = experiment->resign_plies,
        .resign_playout_ppm = experiment->resign_playout_ppm,
        .reference_speed = experiment->has_reference ? experiment->reference_speed : 0,
    };
    message_player(&experiment->a, &spec->a);
    message_player(&experiment->b, &spec->b);
    memcpy(spec->book, experiment->book, MESSAGE_HASH);
    memcpy(spec->adjudication, experiment->adjudication, MESSAGE_HASH);
    snprintf(spec->rules, sizeof spec->rules, "%s", experiment->rules);
    snprintf(spec->engine_build, sizeof spec->engine_build, "%s", experiment->a.engine_build);
}

void wire_create(const struct store_experiment *experiment, struct message_create_experiment *create)
{
    *create = (struct message_create_experiment){
        .pairs = experiment->planned_pairs,
        .has_sprt = experiment->has_sprt,
        .sprt = {.elo0 = experiment->sprt.elo0,
                 .elo1 = experiment->sprt.elo1,
                 .alpha = experiment->sprt.alpha,
                 .beta = experiment->sprt.beta,
                 .batch = experiment->sprt.batch},
        .priority = experiment->priority,
        .audit_ppm = experiment->audit_ppm,
        .share = experiment->share,
        .core_cap = experiment->core_cap,
    };
    wire_spec(experiment, &create->spec);
    memcpy(create->tune, experiment->tune, MESSAGE_HASH);
    snprintf(create->sprt.model, sizeof create->sprt.model, "%s", experiment->sprt.model);
    snprintf(create->idempotency_key, sizeof create->idempotency_key, "%s", experiment->idempotency_key);
    snprintf(create->note, sizeof create->note, "%s", experiment->note);
    snprintf(create->tags, sizeof create->tags, "%s", experiment->tags);
    snprintf(create->on_finish, sizeof create->on_finish, "%s", experiment->on_finish);
}
