/* Sets of engines as text, and builds from sources: confined, bounded, and nothing but a plain file comes of
 * them. */
#include "proto/build.h"

#include <signal.h>
#include <sys/stat.h>

#include "proto/progress.h"
#include "tests/unit/proto/scratch.h"

static char folder[64];

static void a_set_comes_back_from_its_text(void **state)
{
    (void)state;
    char text[ENGINE_SET_TEXT_MAX], reason[256];
    struct engine_set set = {.count = 2,
                             .binaries = {{"x86_64", {1}}, {"aarch64", {2}}},
                             .has_source = true,
                             .source = {3},
                             .recipe = "make -j2 build/kroo-engine",
                             .product = "build/kroo-engine"},
                      back;
    assert_null(engine_set_fault(&set));
    size_t size = engine_set_format(&set, text);
    assert_true(engine_set_is(text, size));
    assert_int_equal(engine_set_parse(text, size, &back, reason, sizeof reason), 0);
    assert_memory_equal(&set, &back, sizeof set);
    assert_ptr_equal(engine_set_find(&back, "aarch64"), &back.binaries[1]);
    assert_null(engine_set_find(&back, "riscv64"));
}

static void what_is_no_set_is_refused(void **state)
{
    (void)state;
#define HEX "0000000000000000000000000000000000000000000000000000000000000001"
    static const char *const wrong[] = {
        "",
        "kroo-engine-set 2\n",
        "kroo-engine-set 1\n",
        "kroo-engine-set 1\nbinary x86_64\n",
        "kroo-engine-set 1\nbinary x86_64 12\n",
        "kroo-engine-set 1\nbinary x86_64 " HEX "\nbinary x86_64 " HEX "\n",
        "kroo-engine-set 1\nbinary an_architecture_that_is_none " HEX "\n",
        "kroo-engine-set 1\nsource " HEX "\nproduct a\n",
        "kroo-engine-set 1\nsource " HEX "\nrecipe make\nproduct /bin/sh\n",
        "kroo-engine-set 1\nsource " HEX "\nrecipe make\nproduct a/../../b\n",
        "kroo-engine-set 1\nsource " HEX "\nrecipe make\nproduct ..\n",
        "kroo-engine-set 1\nsource " HEX "\nrecipe make\nproduct -rf\n",
        "kroo-engine-set 1\nbinary x86_64 " HEX "\nrecipe make\nproduct a\n",
        "kroo-engine-set 1\nsource " HEX "\nrecipe make\nrecipe rm\nproduct a\n",
        "kroo-engine-set 1\nsneeze 1\n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct engine_set set;
        char reason[256] = "";
        assert_int_equal(engine_set_parse(wrong[i], strlen(wrong[i]), &set, reason, sizeof reason), -1);
        assert_true(reason[0] != '\0');
    }
}

static void architectures_stand_in_the_header(void **state)
{
    (void)state;
    unsigned char elf[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    char arch[ENGINE_SET_ARCH_MAX];
    elf[18] = 183;
    assert_true(engine_set_arch_of(elf, sizeof elf, arch));
    assert_string_equal(arch, "aarch64");
    elf[18] = 62;
    assert_true(engine_set_arch_of(elf, sizeof elf, arch));
    assert_string_equal(arch, "x86_64");
    elf[5] = 2; /* the other byte order */
    assert_false(engine_set_arch_of(elf, sizeof elf, arch));
    assert_false(engine_set_arch_of("#!/bin/sh\nexit", 14, arch));
    assert_false(engine_set_arch_of(elf, 10, arch));
}

/* --- builds --- */

static void make_archive(const char *name, const char *commands)
{
    char command[2048];
    snprintf(command, sizeof command,
             "cd '%s' && rm -rf tree && mkdir tree && cd tree && { %s; } && tar -cf '../%s' .", folder,
             commands, name);
    assert_int_equal(system(command), 0);
}

static int build(const char *archive, const char *recipe, int build_ms, atomic_bool *stop, void **bytes,
                 size_t *size, char reason[BUILD_REASON_MAX])
{
    struct engine_set set = {.has_source = true, .product = "out/program"};
    snprintf(set.recipe, sizeof set.recipe, "%s", recipe);
    atomic_uint steps = 0;
    struct build_request request = {.archive = scratch_path(folder, archive),
                                    .set = &set,
                                    .scratch = folder,
                                    .log = scratch_path(folder, "log"),
                                    .build_ms = build_ms,
                                    .stop = stop,
                                    .steps = &steps};
    size_t before = scratch_count(folder);
    unlink(request.log);
    int result = build_program(&request, bytes, size, reason);
    assert_true(steps > 0 || result != 0);
    unlink(request.log);
    assert_true(scratch_count(folder) <= before); /* its folder is gone */
    return result;
}

static void a_recipe_makes_a_program(void **state)
{
    (void)state;
    void *bytes;
    size_t size;
    char reason[BUILD_REASON_MAX] = "";
    make_archive("good.tar", "mkdir top && echo hello >top/source");
    int result = build("good.tar", "mkdir out && cat source source >out/program && echo built", 60000, NULL,
                       &bytes, &size, reason);
    if (result != 0)
        fail_msg("%s", reason);
    assert_int_equal(size, 12);
    assert_memory_equal(bytes, "hello\nhello\n", 12);
    free(bytes);
    /* The same bytes each time: nothing of the folder's name is in them. */
    assert_int_equal(build("good.tar", "mkdir out && pwd | tr -d A-Za-z0-9- >out/program", 60000, NULL,
                           &bytes, &size, reason),
                     0);
    free(bytes);
}

static void check_refused(const char *recipe, int build_ms, const char *why)
{
    void *bytes;
    size_t size;
    char reason[BUILD_REASON_MAX] = "";
    int64_t began = progress_now_ms();
    assert_int_equal(build("good.tar", recipe, build_ms, NULL, &bytes, &size, reason), -1);
    assert_null(bytes);
    if (strstr(reason, why) == NULL)
        fail_msg("`%s` said '%s', expected '%s'", recipe, reason, why);
    assert_true(progress_now_ms() - began < 60000);
}

static void what_makes_none_has_a_reason(void **state)
{
    (void)state;
    make_archive("good.tar", "mkdir top && echo hello >top/source");
    check_refused("echo cc: no such thing >&2; exit 3", 60000, "it said last: cc: no such thing");
    check_refused("true", 60000, "the build gave no out/program");
    check_refused("exec tail -f /dev/null", 1500, "took too long");
    check_refused("mkdir out; ln -s /etc/passwd ../../product; exit 1", 60000, "gave no");
    check_refused("mkdir out; mkfifo ../../product; exit 1", 60000, "gave no");
    check_refused("mkdir out; : >out/program", 60000, "gave no");
    void *bytes;
    size_t size;
    char reason[BUILD_REASON_MAX];
    scratch_write(scratch_path(folder, "bad.tar"), "nonsense", 8, 0644);
    assert_int_equal(build("bad.tar", "true", 60000, NULL, &bytes, &size, reason), -1);
    atomic_bool stop = true;
    assert_int_equal(build("good.tar", "true", 60000, &stop, &bytes, &size, reason), -1);
    assert_non_null(strstr(reason, "stopped"));
}

static int set_up(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    snprintf(folder, sizeof folder, "%s", scratch_folder());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_remove(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_comes_back_from_its_text),    cmocka_unit_test(what_is_no_set_is_refused),
        cmocka_unit_test(architectures_stand_in_the_header), cmocka_unit_test(a_recipe_makes_a_program),
        cmocka_unit_test(what_makes_none_has_a_reason),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
