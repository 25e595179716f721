/* Which of the programs that this worker is to run are signed by a key that it trusts. Says what to ask the
 * coordinator and judges what comes; the asking is the conversation's. Where no key was ever trusted
 * everything is good. One thread. */
#ifndef KROO_WORKER_NOTARY_H
#define KROO_WORKER_NOTARY_H

#include "proto/message.h"
#include "proto/seal.h"

enum { NOTARY_KEPT = 64 }; /* artifacts that are remembered; what is forgotten is asked for again */

enum notary_state {
    NOTARY_GOOD,
    NOTARY_WAIT, /* its signatures are being asked for */
    NOTARY_BAD,  /* the reason says why; forgotten by being told, so that the next lease asks again */
};

struct notary {
    struct seal_trust trust;
    bool is_required; /* some key was trusted once: without any, nothing is good any more */
    struct notary_entry {
        bool used, asked_for; /* asked_for: still to be asked, or the answer is awaited */
        bool is_good;
        struct seal_subject subject;
        char why[SEAL_REASON_MAX];
        uint64_t turn;
    } entries[NOTARY_KEPT];
    uint64_t turns;
    uint64_t refused; /* verdicts of NOTARY_BAD so far */
};

/* Trusts these keys from now on. What was judged by others is asked for again; true when they are others. */
bool notary_trust(struct notary *notary, const struct seal_trust *trust);
/* How an artifact stands; one that is not known is asked for from now on. */
enum notary_state notary_look(struct notary *notary, const struct seal_subject *subject,
                              char why[SEAL_REASON_MAX]);
/* The next question; false when there is none. It stays until it is answered. */
bool notary_request(const struct notary *notary, struct message_seals_request *request);
/* The answer. True when it was one to a question of ours. */
bool notary_hear(struct notary *notary, const struct message_seals *seals);
/* The question that is next will not be answered. */
void notary_fail(struct notary *notary, const char *why);

#endif
