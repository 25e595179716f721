#include "worker/notary.h"

#include <stdio.h>
#include <string.h>

static struct notary_entry *entry_find(struct notary *notary, const uint8_t sha256[ARTIFACT_HASH])
{
    for (size_t i = 0; i < NOTARY_KEPT; i++) {
        struct notary_entry *entry = &notary->entries[i];
        if (entry->used && memcmp(entry->subject.sha256, sha256, ARTIFACT_HASH) == 0)
            return entry;
    }
    return NULL;
}

/* A free place, or that of the artifact that was asked for longest ago. */
static struct notary_entry *entry_place(struct notary *notary)
{
    struct notary_entry *place = &notary->entries[0];
    for (size_t i = 0; i < NOTARY_KEPT; i++) {
        struct notary_entry *entry = &notary->entries[i];
        if (!entry->used)
            return entry;
        if (entry->turn < place->turn)
            place = entry;
    }
    return place;
}

bool notary_trust(struct notary *notary, const struct seal_trust *trust)
{
    bool others = trust->count != notary->trust.count ||
                  memcmp(trust->keys, notary->trust.keys, trust->count * sizeof trust->keys[0]) != 0;
    notary->is_required = notary->is_required || trust->count > 0;
    if (!others)
        return false;
    notary->trust = *trust;
    memset(notary->entries, 0, sizeof notary->entries);
    return true;
}

enum notary_state notary_look(struct notary *notary, const struct seal_subject *subject,
                              char why[SEAL_REASON_MAX])
{
    if (notary->trust.count == 0 && !notary->is_required)
        return NOTARY_GOOD;
    struct notary_entry *entry = entry_find(notary, subject->sha256);
    /* The same bytes in another part are another subject: a seal of one must not stand for the other. */
    if (entry != NULL && (strcmp(entry->subject.kind, subject->kind) != 0 ||
                          strcmp(entry->subject.architecture, subject->architecture) != 0))
        entry->used = false, entry = NULL;
    if (entry == NULL) {
        *entry_place(notary) = (struct notary_entry){
            .used = true, .asked_for = true, .subject = *subject, .turn = ++notary->turns};
        return NOTARY_WAIT;
    }
    if (entry->asked_for)
        return NOTARY_WAIT;
    if (entry->is_good)
        return NOTARY_GOOD;
    snprintf(why, SEAL_REASON_MAX, "%s", entry->why);
    entry->used = false;
    notary->refused++;
    return NOTARY_BAD;
}

/* The oldest that is not answered. */
static const struct notary_entry *entry_next(const struct notary *notary)
{
    const struct notary_entry *next = NULL;
    for (size_t i = 0; i < NOTARY_KEPT; i++) {
        const struct notary_entry *entry = &notary->entries[i];
        if (entry->used && entry->asked_for && (next == NULL || entry->turn < next->turn))
            next = entry;
    }
    return next;
}

bool notary_request(const struct notary *notary, struct message_seals_request *request)
{
    const struct notary_entry *next = entry_next(notary);
    if (next != NULL)
        memcpy(request->sha256, next->subject.sha256, MESSAGE_HASH);
    return next != NULL;
}

bool notary_hear(struct notary *notary, const struct message_seals *seals)
{
    struct notary_entry *entry = entry_find(notary, seals->sha256);
    if (entry == NULL || !entry->asked_for)
        return false;
    entry->asked_for = false;
    entry->is_good =
        seal_find(&notary->trust, &entry->subject, seals->seals, seals->seal_count, entry->why) != NULL;
    return true;
}

void notary_fail(struct notary *notary, const char *why)
{
    const struct notary_entry *next = entry_next(notary);
    if (next == NULL)
        return;
    struct notary_entry *entry = &notary->entries[next - notary->entries];
    entry->asked_for = false;
    snprintf(entry->why, sizeof entry->why, "its signatures cannot be had: %.200s", why);
}
