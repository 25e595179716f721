#include "coordinator/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/specification_fields.h"
#include "engine/build.h"
#include "tests/unit/check.h"

/* Something that is no default and that a message may hold. */
static void fill_field(const struct field *field, void *at, int seed)
{
    uint64_t number = (uint64_t)(field->low > 0 ? field->low : 0) + (uint64_t)seed + 1;
    switch (field->type) {
    case FIELD_KIND:
        *(enum message_experiment_kind *)at = MESSAGE_TUNE;
        break;
    case FIELD_U64:
        *(uint64_t *)at = number;
        break;
    case FIELD_U32:
        *(uint32_t *)at = (uint32_t)number;
        break;
    case FIELD_I32:
        *(int32_t *)at = -(int32_t)number;
        break;
    case FIELD_BOOL:
        *(bool *)at = true;
        break;
    case FIELD_DOUBLE:
        *(double *)at = 0.01 * seed + 0.001;
        break;
    case FIELD_TEXT:
        snprintf(at, field->size, "%s", strcmp(field->key, "model") == 0 ? "logistic" : "site");
        break;
    case FIELD_BUILD:
        snprintf(at, field->size, "%s", engine_build());
        break;
    case FIELD_FILE:
        memset(at, seed + 1, field->size);
        break;
    case FIELD_OPTIONS:
        snprintf(at, field->size, "Level=%d\nOwnBook=false", seed);
        break;
    }
}

static void fill(const struct field_list *list, void *request, int seed)
{
    for (size_t i = 0; i < list->count; i++)
        fill_field(&list->fields[i], (char *)request + list->fields[i].offset, seed + (int)i);
}

static void assert_same(const struct field_list *list, const void *one, const void *other)
{
    static const uint8_t zeros[sizeof(struct message_create_experiment)];
    for (size_t i = 0; i < list->count; i++) {
        const struct field *field = &list->fields[i];
        const char *a = (const char *)one + field->offset, *b = (const char *)other + field->offset;
        bool is_text =
            field->type == FIELD_TEXT || field->type == FIELD_OPTIONS || field->type == FIELD_BUILD;
        if (memcmp(a, zeros, field->size) == 0)
            fail_msg("%s is at its default", field->key);
        if (is_text ? strcmp(a, b) != 0 : memcmp(a, b, field->size) != 0)
            fail_msg("%s does not come back", field->key);
    }
}

static void assert_all_same(const struct message_create_experiment *one,
                            const struct message_create_experiment *other)
{
    assert_same(&specification_fields, one, other);
    assert_same(&specification_player_fields, &one->spec.a, &other->spec.a);
    assert_same(&specification_player_fields, &one->spec.b, &other->spec.b);
    assert_same(&specification_sprt_fields, &one->sprt, &other->sprt);
}

static struct message_create_experiment whole(void)
{
    struct message_create_experiment create = {.has_sprt = true, .idempotency_key = "key"};
    fill(&specification_fields, &create, 3);
    fill(&specification_player_fields, &create.spec.a, 20);
    fill(&specification_player_fields, &create.spec.b, 40);
    fill(&specification_sprt_fields, &create.sprt, 1);
    return create;
}

static void every_field_is_stored_and_comes_back(void **state)
{
    (void)state;
    struct message_create_experiment create = whole(), back;
    struct store_experiment row;
    struct message_spec spec;
    wire_store_experiment(&create, "anna", &row);
    row.id = 7;
    wire_create(&row, &back);
    assert_all_same(&create, &back);
    assert_string_equal(back.idempotency_key, "key");
    assert_string_equal(row.created_by, "anna");
    assert_true(back.has_sprt && back.spec.experiment == 7);
    wire_spec(&row, &spec);
    assert_memory_equal(&spec, &back.spec, sizeof spec);
}

static void every_field_travels(void **state)
{
    (void)state;
    struct message message = {.kind = MESSAGE_CREATE_EXPERIMENT, .create_experiment = whole()}, back;
    char reason[256] = "";
    void *bytes = NULL;
    size_t size = 0;
    assert_int_equal(message_encode(&message, &bytes, &size), 0);
    if (message_decode(bytes, size, &back, reason, sizeof reason) != 0)
        fail_msg("%s", reason);
    assert_all_same(&message.create_experiment, &back.create_experiment);
    message_done(&back);
    free(bytes);
}

/* --- nothing is left out of the list --- */

static void cover(uint8_t *bytes, size_t at, size_t size)
{
    memset(bytes + at, 1, size);
}

static void cover_list(uint8_t *bytes, size_t at, const struct field_list *list, bool stored)
{
    for (size_t i = 0; i < list->count; i++)
        cover(bytes, at + (stored ? list->fields[i].stored : list->fields[i].offset),
              stored ? list->fields[i].stored_size : list->fields[i].size);
}

/* What is not covered can only be what a compiler leaves free before the next field: less than 8 bytes. */
static void assert_covered(const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < size; at++) {
        size_t end = at;
        while (end < size && !bytes[end])
            end++;
        if (end - at >= 8 || (end > at && end % 4 != 0))
            fail_msg("the %zu bytes from %zu on are in no list: name the field in specification_fields.c",
                     end - at, at);
        if (end > at)
            at = end;
    }
}

#define COVER(bytes, type, member)                                                                           \
    cover(bytes, offsetof(struct type, member), sizeof(((struct type *)0)->member))

static void no_field_is_forgotten(void **state)
{
    (void)state;
    uint8_t request[sizeof(struct message_create_experiment)] = {0},
                                  row[sizeof(struct store_experiment)] = {0};
    cover_list(request, 0, &specification_fields, false);
    cover_list(request, offsetof(struct message_create_experiment, spec.a), &specification_player_fields,
               false);
    cover_list(request, offsetof(struct message_create_experiment, spec.b), &specification_player_fields,
               false);
    cover_list(request, offsetof(struct message_create_experiment, sprt), &specification_sprt_fields, false);
    COVER(request, message_create_experiment, idempotency_key);
    COVER(request, message_create_experiment, has_sprt);
    COVER(request, message_create_experiment, spec.experiment);
    COVER(request, message_create_experiment, spec.a.engine_signature);
    COVER(request, message_create_experiment, spec.b.engine_signature);
    assert_covered(request, sizeof request);
    cover_list(row, 0, &specification_fields, true);
    cover_list(row, offsetof(struct store_experiment, a), &specification_player_fields, true);
    cover_list(row, offsetof(struct store_experiment, b), &specification_player_fields, true);
    cover_list(row, offsetof(struct store_experiment, sprt), &specification_sprt_fields, true);
    COVER(row, store_experiment, id);
    COVER(row, store_experiment, state);
    COVER(row, store_experiment, has_sprt);
    COVER(row, store_experiment, has_reference);
    COVER(row, store_experiment, idempotency_key);
    COVER(row, store_experiment, created_by);
    COVER(row, store_experiment, repeat_rule); /* follows from the rest */
    COVER(row, store_experiment, a.signature);
    COVER(row, store_experiment, b.engine_build);
    COVER(row, store_experiment, b.signature);
    assert_covered(row, sizeof row);
}

/* Numbers and hashes are copied as they are. */
static void both_forms_are_alike(void **state)
{
    (void)state;
    const struct field_list *lists[] = {&specification_fields, &specification_player_fields,
                                        &specification_sprt_fields};
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < lists[i]->count; j++) {
            const struct field *field = &lists[i]->fields[j];
            if (field->size != field->stored_size)
                fail_msg("%s has %zu bytes in a request and %zu in a row", field->key, field->size,
                         field->stored_size);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_stored_and_comes_back),
        cmocka_unit_test(every_field_travels),
        cmocka_unit_test(no_field_is_forgotten),
        cmocka_unit_test(both_forms_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
