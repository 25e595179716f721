/* Endgame tables built for a test, in memory for as long as it runs. */
#ifndef KROO_TESTS_ENGINE_BUILT_H
#define KROO_TESTS_ENGINE_BUILT_H

#include <unistd.h>

#include "engine/tables_build.h"
#include "tests/unit/engine/vectors.h"

/* A sanitizer makes each board cost twenty times as much. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) ||     \
    __has_feature(thread_sanitizer)
#define BUILT_SANITIZED 1
#else
#define BUILT_SANITIZED 0
#endif

static inline struct tables *built_tables(const char *text, int seeds)
{
    char path[] = "/tmp/kroo-test-built-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    struct rules rules = vectors_rules(text);
    struct tables *tables;
    assert_int_equal(tables_build(&rules, seeds, 2, path, NULL, NULL), TABLES_OK);
    assert_int_equal(tables_open(path, &rules, &tables), TABLES_OK);
    unlink(path);
    return tables;
}

#endif
