#include "worker/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/folder.h"

struct entry {
    struct entry *next;
    uint8_t sha256[ARTIFACT_HASH];
    char rules[RULES_NAME_MAX];
    struct weights *weights;
    unsigned holders;
};

struct cache {
    char *directory;
    struct entry *entries; /* last used first */
};

struct cache *cache_create(const char *directory)
{
    struct cache *cache = calloc(1, sizeof *cache);
    if (cache == NULL || (cache->directory = strdup(directory)) == NULL) {
        free(cache);
        return NULL;
    }
    folder_prune(directory, CACHE_FILES);
    return cache;
}

static void entry_destroy(struct entry *entry)
{
    weights_destroy(entry->weights);
    free(entry);
}

void cache_destroy(struct cache *cache)
{
    if (cache == NULL)
        return;
    for (struct entry *entry = cache->entries, *next; entry != NULL; entry = next) {
        next = entry->next;
        entry_destroy(entry);
    }
    free(cache->directory);
    free(cache);
}

/* The entry, moved to the front. */
static struct entry *find(struct cache *cache, const uint8_t sha256[ARTIFACT_HASH], const char *rules)
{
    for (struct entry **at = &cache->entries; *at != NULL; at = &(*at)->next) {
        struct entry *entry = *at;
        if (memcmp(entry->sha256, sha256, ARTIFACT_HASH) != 0 || strcmp(entry->rules, rules) != 0)
            continue;
        *at = entry->next;
        entry->next = cache->entries;
        cache->entries = entry;
        return entry;
    }
    return NULL;
}

/* Lets go of what was used longest ago and is not held, beyond CACHE_LOADED. */
static void trim(struct cache *cache)
{
    size_t kept = 0;
    for (struct entry **at = &cache->entries; *at != NULL;) {
        struct entry *entry = *at;
        if (entry->holders > 0 || ++kept <= CACHE_LOADED) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        entry_destroy(entry);
    }
}

static enum cache_error load(struct cache *cache, const uint8_t sha256[ARTIFACT_HASH], const char *rules,
                             struct entry **out, char *reason, size_t reason_size)
{
    void *bytes = NULL;
    size_t size = 0;
    enum artifact_error read = artifact_read(cache->directory, sha256, &bytes, &size, reason, reason_size);
    if (read == ARTIFACT_ERROR_FILE)
        return CACHE_ERROR_FILE;
    if (read != ARTIFACT_OK)
        return CACHE_ERROR_ABSENT;
    struct entry *entry = calloc(1, sizeof *entry);
    enum weights_error parsed =
        entry == NULL ? WEIGHTS_ERROR_MEMORY : weights_parse(bytes, size, rules, &entry->weights);
    free(bytes);
    if (parsed != WEIGHTS_OK) {
        free(entry);
        snprintf(reason, reason_size, "%s", weights_error_text(parsed));
        return parsed == WEIGHTS_ERROR_MEMORY ? CACHE_ERROR_FILE : CACHE_ERROR_WEIGHTS;
    }
    memcpy(entry->sha256, sha256, ARTIFACT_HASH);
    snprintf(entry->rules, sizeof entry->rules, "%s", rules);
    entry->next = cache->entries;
    cache->entries = entry;
    *out = entry;
    return CACHE_OK;
}

enum cache_error cache_hold(struct cache *cache, const uint8_t sha256[ARTIFACT_HASH], const char *rules,
                            const struct weights **weights, char *reason, size_t reason_size)
{
    struct entry *entry = find(cache, sha256, rules);
    if (entry == NULL) {
        enum cache_error error = load(cache, sha256, rules, &entry, reason, reason_size);
        if (error != CACHE_OK)
            return error;
    }
    entry->holders++;
    *weights = entry->weights;
    trim(cache);
    return CACHE_OK;
}

void cache_release(struct cache *cache, const struct weights *weights)
{
    for (struct entry *entry = cache->entries; entry != NULL && weights != NULL; entry = entry->next)
        if (entry->weights == weights) {
            entry->holders--;
            break;
        }
    trim(cache);
}

bool cache_has(struct cache *cache, const uint8_t sha256[ARTIFACT_HASH])
{
    void *bytes = NULL;
    size_t size;
    char reason[160];
    bool has = artifact_read(cache->directory, sha256, &bytes, &size, reason, sizeof reason) == ARTIFACT_OK;
    free(bytes);
    return has;
}

enum cache_error cache_store(struct cache *cache, const uint8_t sha256[ARTIFACT_HASH], const void *bytes,
                             size_t size, char *reason, size_t reason_size)
{
    uint8_t stored[ARTIFACT_HASH];
    if (artifact_write(cache->directory, bytes, size, stored, reason, reason_size) != ARTIFACT_OK)
        return CACHE_ERROR_FILE;
    if (memcmp(stored, sha256, ARTIFACT_HASH) != 0) {
        snprintf(reason, reason_size, "stored under another hash than asked for");
        return CACHE_ERROR_WEIGHTS;
    }
    folder_prune(cache->directory, CACHE_FILES);
    return CACHE_OK;
}
