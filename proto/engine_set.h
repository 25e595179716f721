/* An engine that is several artifacts: a binary for each of some architectures, or sources and the recipe
 * that makes one of them. The set is a text of its own and an artifact, so that a player names all of it by
 * one hash. Plain data; any thread. */
#ifndef KROO_PROTO_ENGINE_SET_H
#define KROO_PROTO_ENGINE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/artifact.h"

enum {
    ENGINE_SET_BINARIES_MAX = 8,
    ENGINE_SET_ARCH_MAX = 16,
    ENGINE_SET_RECIPE_MAX = 512,  /* a command line of sh */
    ENGINE_SET_PRODUCT_MAX = 256, /* a path inside the sources */
    ENGINE_SET_TEXT_MAX = 2048,
};

struct engine_set {
    size_t count;
    struct engine_set_binary {
        char arch[ENGINE_SET_ARCH_MAX]; /* as uname(2) calls it */
        uint8_t sha256[ARTIFACT_HASH];
    } binaries[ENGINE_SET_BINARIES_MAX];
    bool has_source;
    uint8_t source[ARTIFACT_HASH]; /* a tar archive */
    char recipe[ENGINE_SET_RECIPE_MAX];
    char product[ENGINE_SET_PRODUCT_MAX];
};

/* Whether an artifact is a set, by its first line. */
bool engine_set_is(const void *bytes, size_t size);
/* 0, or -1 with the reason. */
int engine_set_parse(const void *bytes, size_t size, struct engine_set *out, char *reason,
                     size_t reason_size);
/* What is wrong with a set, in words; NULL when nothing is. */
const char *engine_set_fault(const struct engine_set *set);
/* Its text, ENGINE_SET_TEXT_MAX bytes; returns its length. The set has no fault. */
size_t engine_set_format(const struct engine_set *set, char *text);

/* This machine's architecture. */
const char *engine_set_arch(void);
/* That of an ELF executable; false when it is none, or one whose machine has no name here. */
bool engine_set_arch_of(const void *bytes, size_t size, char arch[ENGINE_SET_ARCH_MAX]);
/* The binary for an architecture; NULL: there is none. */
const struct engine_set_binary *engine_set_find(const struct engine_set *set, const char *arch);

#endif
