/* What must happen to an engine before this worker plays with it for the first time: it is built where it
 * comes as sources, and its answers to fixed positions are compared with those it gave where it was added.
 * What was built is kept on disk by the content it was built from. One thread of its own, so that leases live
 * meanwhile; made, asked and ended by the main thread. */
#ifndef KROO_WORKER_PREPARE_H
#define KROO_WORKER_PREPARE_H

#include <stdint.h>

#include "proto/engine_set.h"
#include "proto/message.h"
#include "worker/folder.h"

enum { PREPARE_KEPT = 64 }; /* engines that are remembered; what is wanted again is prepared again */

enum prepare_state {
    PREPARE_ABSENT, /* nobody asked, or it was forgotten */
    PREPARE_UNDER_WAY,
    PREPARE_READY,
    PREPARE_FAILED,
};

struct prepare_order {
    uint8_t engine[ARTIFACT_HASH]; /* as the player names it */
    char path[FOLDER_PATH_MAX];    /* the program, or its sources; it stays until the answer is there */
    char signature[MESSAGE_SIGNATURE_MAX]; /* "": none to compare with */
    bool from_source;
    struct engine_set set; /* recipe and product */
};

struct prepare_answer {
    enum message_fault_kind fault; /* of PREPARE_FAILED; 0: not the engine's */
    char why[MESSAGE_TEXT_MAX];
    char path[FOLDER_PATH_MAX]; /* of PREPARE_READY: what runs */
};

struct prepare;

/* `wake_fd` is rung when an engine is ready or failed; `engines` is the folder for what is built. NULL when
 * there is no thread or memory. */
struct prepare *prepare_create(const char *engines, int move_ms, int wake_fd);
/* Programs under test may be silent for `move_ms` from now on. */
void prepare_bound(struct prepare *prepare, int move_ms);
/* Stops what is under way; takes NULL. */
void prepare_destroy(struct prepare *prepare);

/* An order for an engine that is ABSENT; another is no news. -1: too many are under way. */
int prepare_ask(struct prepare *prepare, const struct prepare_order *order);
/* How it stands. A FAILED one is forgotten by being told: the next lease tries again. */
enum prepare_state prepare_look(struct prepare *prepare, const uint8_t engine[ARTIFACT_HASH],
                                struct prepare_answer *answer);
/* Whether an engine is being built or tested, or waits for it. */
bool prepare_is_busy(struct prepare *prepare);
/* Steps made since the last call: grows only while the thread really works. */
unsigned prepare_steps(struct prepare *prepare);

#endif
