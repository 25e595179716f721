#include "proto/tags.h"

#include <string.h>

#include "tests/unit/check.h"

static void lists_are_plain_names(void **state)
{
    (void)state;
    static const char *const good[] = {"", "gpu", "gpu,fast", "arch=x86_64,os=linux", "c++17,a.b-c_d"};
    static const char *const bad[] = {",",
                                      "gpu,",
                                      ",gpu",
                                      "gpu,,fast",
                                      "gpu fast",
                                      "cpu~avx2",
                                      "(a+)+$",
                                      "=x",
                                      "a,b,a",
                                      "\xc3\xa9",
                                      "a123456789b123456789c123456789d12345"};
    char reason[256];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(tags_check(good[i], reason, sizeof reason));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        reason[0] = '\0';
        assert_false(tags_check(bad[i], reason, sizeof reason));
        assert_non_null(strstr(reason, "tag"));
    }
    assert_false(tags_check("a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", reason, sizeof reason));
    assert_non_null(strstr(reason, "at most 16"));
    char endless[TAGS_TEXT + 100];
    memset(endless, 'a', sizeof endless);
    assert_false(tags_check(endless, reason, sizeof reason));
}

static void all_that_is_needed_must_be_there(void **state)
{
    (void)state;
    char missing[TAGS_NAME] = "";
    assert_true(tags_cover("avx2,gpu", "", missing));
    assert_true(tags_cover("avx2,gpu", "gpu,avx2", missing));
    assert_false(tags_cover("avx2,gpu", "avx2,gp", missing));
    assert_string_equal(missing, "gp");
    assert_false(tags_cover("", "avx2", missing));
    assert_string_equal(missing, "avx2");
}

static void a_machine_tells_of_itself(void **state)
{
    (void)state;
    char list[TAGS_TEXT], reason[256];
    tags_of_machine(list);
    assert_true(tags_check(list, reason, sizeof reason));
    assert_non_null(strstr(list, "arch="));
    assert_non_null(strstr(list, "os="));
    tags_add(list, "gpu");
    tags_add(list, "gpu");
    tags_add(list, "no tag");
    assert_true(tags_check(list, reason, sizeof reason));
    assert_non_null(strstr(list, ",gpu"));
    for (int i = 0; i < 100; i++)
        tags_add(list, (const char[]){'x', (char)('0' + i % 10), (char)('0' + i / 10), '\0'});
    assert_true(strlen(list) < TAGS_TEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_plain_names),
        cmocka_unit_test(all_that_is_needed_must_be_there),
        cmocka_unit_test(a_machine_tells_of_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
