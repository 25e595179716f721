#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "proto/text.h"

static void test_names(void **state)
{
    (void)state;
    char longest[66];
    memset(longest, 'x', sizeof longest);
    longest[63] = '\0';
    assert_true(text_is_name(longest));
    longest[63] = 'x';
    longest[64] = '\0';
    assert_false(text_is_name(longest));
    static const char *const good[] = {"a", "A-1_b.c", "0", "_", "-", "a.."};
    static const char *const bad[] = {"",         ".",   "..",   ".a",  "a b", "a/b", "a\n",
                                      "\xc3\xa4", "a:b", "a\\b", "a@b", "a[b", "a{b", "a`b"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(text_is_name(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(text_is_name(bad[i]));
}

static void test_utf8(void **state)
{
    (void)state;
    static const char *const good[] = {"",
                                       "plain",
                                       "gr\xc3\xb6\xc3\x9f",
                                       "\xe2\x80\x93",
                                       "\xf0\x9f\x8c\xb1",
                                       "\xf4\x8f\xbf\xbf",
                                       "\xed\x9f\xbf",
                                       "\xee\x80\x80"};
    static const char *const bad[] = {"\x80",
                                      "\xc3",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xe0\x80\x80",
                                      "\xe2\x80",
                                      "\xed\xa0\x80",
                                      "\xed\xbf\xbf",
                                      "\xf0\x80\x80\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "a\x1b[0m",
                                      "\x7f",
                                      "\xc2\x85",
                                      "a\nb",
                                      "\xc3\x28",
                                      "\xe2\x28\xa1"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(text_is_utf8(good[i], strlen(good[i]), false));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(text_is_utf8(bad[i], strlen(bad[i]), false));
    assert_true(text_is_utf8("a\n\tb", 4, true));
    assert_false(text_is_utf8("a\rb", 3, true));
    assert_false(text_is_utf8("a\0b", 3, true));
}

static void test_clean(void **state)
{
    (void)state;
    char out[8];
    text_clean("a\nb", out, sizeof out);
    assert_string_equal(out, "a b");
    text_clean("1234567890", out, sizeof out);
    assert_string_equal(out, "1234567");
    text_clean("123456\xc3\xb6", out, sizeof out); /* no room for the second half */
    assert_string_equal(out, "123456");
    text_clean("\xff\xc3", out, sizeof out);
    assert_string_equal(out, "??");
    text_clean("12345\xc3\xb6", out, sizeof out);
    assert_string_equal(out, "12345\xc3\xb6");
    text_clean("x", out, 1);
    assert_string_equal(out, "");
}

static void test_moves_and_printable(void **state)
{
    (void)state;
    for (int letter = 0; letter < 256; letter++) {
        char text[1] = {(char)letter};
        assert_int_equal(text_is_moves(text, 1), letter != 0 && strchr("ABCDEFabcdef", letter) != NULL);
        assert_int_equal(text_is_printable(text, 1), letter >= 32 && letter <= 126);
    }
    assert_true(text_is_moves("", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_moves_and_printable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
