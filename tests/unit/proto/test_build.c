/* Engines from source: a build that takes too much of the disk is ended, with its last words. */
#include "proto/build.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/unit/proto/scratch.h"

enum { WAIT_MS = 60000 };

static char folder[64], archive[256];

static int set_up(void **state)
{
    (void)state;
    char command[512];
    signal(SIGPIPE, SIG_IGN);
    snprintf(folder, sizeof folder, "%s", scratch_folder());
    snprintf(archive, sizeof archive, "%s", scratch_path(folder, "source.tar"));
    snprintf(command, sizeof command, "mkdir '%s/tree' && echo me >'%s/tree/me' && tar -C '%s' -cf '%s' tree",
             folder, folder, folder, archive);
    return system(command) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_remove(folder);
    return 0;
}

/* What comes of the recipe. */
static int build(const char *recipe, char reason[BUILD_REASON_MAX])
{
    static struct engine_set set;
    void *bytes;
    size_t size;
    memset(&set, 0, sizeof set);
    set.has_source = true;
    snprintf(set.recipe, sizeof set.recipe, "%s", recipe);
    snprintf(set.product, sizeof set.product, "me");
    struct build_request request = {.archive = archive,
                                    .set = &set,
                                    .scratch = folder,
                                    .build_ms = WAIT_MS,
                                    .disk_max = 4 << 20,
                                    .files_max = 50};
    int result = build_program(&request, &bytes, &size, reason);
    free(bytes);
    return result;
}

static void what_a_build_takes_of_the_disk_has_a_bound(void **state)
{
    (void)state;
    char reason[BUILD_REASON_MAX] = "";
    if (build("true", reason) != 0)
        fail_msg("%s", reason);
    assert_int_equal(build("echo compiling; while :; do head -c 1000000 /dev/zero >>big; done", reason), -1);
    if (strstr(reason, "the build takes more than 4 MiB of disk; it said last: compiling") == NULL)
        fail_msg("%s", reason);
    assert_int_equal(build("i=0; while :; do i=$((i + 1)); : >f$i; done", reason), -1);
    if (strstr(reason, "the build makes more than 50 files") == NULL)
        fail_msg("%s", reason);
    char command[256];
    snprintf(command, sizeof command, "test -z \"$(ls -d '%s'/build-* 2>/dev/null)\"", folder);
    assert_int_equal(system(command), 0); /* nothing of them stays */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_a_build_takes_of_the_disk_has_a_bound, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
