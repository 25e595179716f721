/* What people may do to an experiment, and what becomes of its state: one table of (state, verb), so that
 * every legal step is on one screen (control.c). Whoever asks, the answer is the same. Pure; any thread. */
#ifndef KROO_COORDINATOR_CONTROL_H
#define KROO_COORDINATOR_CONTROL_H

#include "proto/message.h"
#include "sql/store.h"

enum control_effect {
    CONTROL_MOVE,   /* the state becomes `state` */
    CONTROL_CHANGE, /* the state stays, what the verb sets is set */
    CONTROL_REOPEN, /* when its verdict is withdrawn the state becomes `state`; `text` says why not, otherwise
                     */
    CONTROL_END,    /* the verdict `aborted` is written; the state becomes `state` */
    CONTROL_DELETE, /* its games and rows go */
    CONTROL_AGREE,  /* it is so already: nothing to do, and no error */
    CONTROL_REFUSE, /* `text` says why and what to do */
};

struct control_step {
    enum control_effect effect;
    enum store_state state; /* afterwards */
    const char
        *text; /* of AGREE, REFUSE and REOPEN: ends a sentence that begins with "experiment 5 "; static */
};

struct control_step control_step(enum store_state state, enum message_verb verb);

/* `paused`: ends the sentence "experiment 5 was ..." and is the event's kind behind `experiment-`. */
const char *control_done_word(enum message_verb verb);
const char *control_verb_name(enum message_verb verb);

#endif
