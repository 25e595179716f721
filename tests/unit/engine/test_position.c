#include "tests/unit/check.h"

#include <string.h>

#include "engine/position.h"

static void start_has_its_text(void **state)
{
    (void)state;
    struct position start = position_start();
    char text[POSITION_TEXT_MAX];
    position_format(&start, text);
    assert_string_equal(text, "4-4-4-4-4-4-4-4-4-4-4-4-0-0-S");
}

static void text_survives_the_round_trip(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "4-4-4-4-4-4-4-4-4-4-4-4-0-0-S",  "1-0-4-19-4-2-1-1-3-1-0-0-5-7-N", "0-0-0-0-0-0-0-0-0-0-0-0-24-24-S",
        "48-0-0-0-0-0-0-0-0-0-0-0-0-0-N", "0-0-0-0-0-0-0-0-0-0-0-0-0-48-S",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct position position;
        char error[256], text[POSITION_TEXT_MAX];
        assert_int_equal(position_parse(texts[i], &position, error, sizeof error), 0);
        position_format(&position, text);
        assert_string_equal(text, texts[i]);
    }
}

static void fields_land_where_they_belong(void **state)
{
    (void)state;
    struct position position;
    char error[256];
    assert_int_equal(position_parse("1-0-4-19-4-2-1-1-3-1-0-0-5-7-N", &position, error, sizeof error), 0);
    assert_int_equal(position.houses[3], 19);
    assert_int_equal(position.houses[8], 3);
    assert_int_equal(position.stores[SIDE_SOUTH], 5);
    assert_int_equal(position.stores[SIDE_NORTH], 7);
    assert_int_equal(position.side, SIDE_NORTH);
}

static void bad_text_is_refused_with_a_reason(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"", "field 1 "},
        {"4", "field 1 "},
        {"startpos", "field 1 "},
        {"4-4-4-4-4-4-4-4-4-4-4-4-0-0", "field 14 "},
        {"4-4-4-4-4-4-4-4-4-4-4-4-0-0-", "side"},
        {"4-4-4-4-4-4-4-4-4-4-4-4-0-0-s", "side"},
        {"4-4-4-4-4-4-4-4-4-4-4-4-0-0-SS", "side"},
        {"4-4-4-4-4-4-4-4-4-4-4-4-0-0-0-S", "side"},
        {"4-4-4-4-4-4-4-4-4-4-4-4-0-1-S", "add up to 49"},
        {"4-4-4-4-4-4-4-4-4-4-4-3-0-0-S", "add up to 47"},
        {"4-4-4-4-4-4-4-4-4-4-4--4-0-8-S", "field 12 "},
        {"4-4-4-4-4-4-4-4-4-4-4-+4-0-0-S", "field 12 "},
        {" 4-4-4-4-4-4-4-4-4-4-4-4-0-0-S", "field 1 "},
        {"256-4-4-4-4-4-4-4-4-4-4-4-0-0-S", "field 1 "},
        {"99999999999999999999-4-4-4-4-4-4-4-4-4-4-4-0-0-S", "field 1 "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct position position = position_start(), before = position;
        char error[256] = "";
        assert_int_equal(position_parse(cases[i].text, &position, error, sizeof error), -1);
        if (strstr(error, cases[i].reason) == NULL)
            fail_msg("'%s' is refused with '%s'", cases[i].text, error);
        assert_memory_equal(&position, &before, sizeof position);
    }
}

static void letters_and_houses_are_inverse(void **state)
{
    (void)state;
    for (int house = 0; house < 12; house++)
        assert_int_equal(position_letter_house(position_house_letter(house)), house);
    for (int byte = 0; byte < 256; byte++) {
        bool house = (byte >= 'A' && byte <= 'F') || (byte >= 'a' && byte <= 'f');
        assert_int_equal(position_letter_house((char)byte) >= 0, house);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(start_has_its_text),
        cmocka_unit_test(text_survives_the_round_trip),
        cmocka_unit_test(fields_land_where_they_belong),
        cmocka_unit_test(bad_text_is_refused_with_a_reason),
        cmocka_unit_test(letters_and_houses_are_inverse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
