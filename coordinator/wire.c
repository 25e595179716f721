#include "coordinator/wire.h"

#include <stdio.h>
#include <string.h>

#include "coordinator/specification_fields.h"
#include "engine/build.h"

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

/* --- field by field --- */

static void copy_text(const char *from, char *to, size_t size)
{
    snprintf(to, size, "%s", from);
}

static void to_row(const struct field_list *list, const void *request, void *row)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct field *field = &list->fields[i];
        const char *from = (const char *)request + field->offset;
        char *to = (char *)row + field->stored;
        if (field->type == FIELD_KIND)
            *(enum store_kind *)(void *)to =
                store_kind(*(const enum message_experiment_kind *)(const void *)from);
        else if (field->type == FIELD_TEXT || field->type == FIELD_OPTIONS)
            copy_text(from, to, field->stored_size);
        else if (field->type != FIELD_BUILD)
            memcpy(to, from, field->size);
    }
}

static void to_request(const struct field_list *list, const void *row, void *request)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct field *field = &list->fields[i];
        const char *from = (const char *)row + field->stored;
        char *to = (char *)request + field->offset;
        if (field->type == FIELD_KIND)
            *(enum message_experiment_kind *)(void *)to =
                message_kind(*(const enum store_kind *)(const void *)from);
        else if (field->type == FIELD_TEXT || field->type == FIELD_OPTIONS || field->type == FIELD_BUILD)
            copy_text(from, to, field->size);
        else
            memcpy(to, from, field->size);
    }
}

/* --- the two forms --- */

static void store_player(const struct message_player *from, struct store_player *to)
{
    to_row(&specification_player_fields, from, to);
    copy_text(engine_build(), to->engine_build, sizeof to->engine_build);
}

static void message_player(const struct store_player *from, struct message_player *to)
{
    to_request(&specification_player_fields, from, to);
    copy_text(from->signature, to->engine_signature, sizeof to->engine_signature);
}

void wire_store_experiment(const struct message_create_experiment *create, const char *by,
                           struct store_experiment *experiment)
{
    *experiment = (struct store_experiment){.state = STORE_RUNNING, .has_sprt = create->has_sprt};
    to_row(&specification_fields, create, experiment);
    experiment->has_reference = create->spec.reference_speed > 0;
    store_player(&create->spec.a, &experiment->a);
    store_player(&create->spec.b, &experiment->b);
    copy_text(create->idempotency_key, experiment->idempotency_key, sizeof experiment->idempotency_key);
    copy_text(by, experiment->created_by, sizeof experiment->created_by);
    if (create->has_sprt)
        to_row(&specification_sprt_fields, &create->sprt, &experiment->sprt);
}

void wire_create(const struct store_experiment *experiment, struct message_create_experiment *create)
{
    *create = (struct message_create_experiment){.has_sprt = experiment->has_sprt};
    to_request(&specification_fields, experiment, create);
    create->spec.experiment = experiment->id;
    if (!experiment->has_reference)
        create->spec.reference_speed = 0;
    message_player(&experiment->a, &create->spec.a);
    message_player(&experiment->b, &create->spec.b);
    copy_text(experiment->idempotency_key, create->idempotency_key, sizeof create->idempotency_key);
    to_request(&specification_sprt_fields, &experiment->sprt, &create->sprt);
}

void wire_spec(const struct store_experiment *experiment, struct message_spec *spec)
{
    struct message_create_experiment create;
    wire_create(experiment, &create);
    *spec = create.spec;
}
