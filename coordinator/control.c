#include "coordinator/control.h"

#define MOVE(to)                                                                                             \
    {                                                                                                        \
        CONTROL_MOVE, STORE_##to, NULL                                                                       \
    }
#define END                                                                                                  \
    {                                                                                                        \
        CONTROL_END, STORE_STOPPED, NULL                                                                     \
    }
#define CHANGE(same)                                                                                         \
    {                                                                                                        \
        CONTROL_CHANGE, STORE_##same, NULL                                                                   \
    }
#define DELETE(same)                                                                                         \
    {                                                                                                        \
        CONTROL_DELETE, STORE_##same, NULL                                                                   \
    }
#define REFUSE(why)                                                                                          \
    {                                                                                                        \
        CONTROL_REFUSE, STORE_RUNNING, (why)                                                                 \
    }

#define WAITS    "waits for approval: `kroo approve` or `kroo reject` it"
#define ASKED    "waits for no approval"
#define UNENDED  "has not ended: `kroo stop` it first"
#define FINISHED "is not running: it is finished, and its verdict stands; `kroo clone` makes another like it"
#define STOPPED  "is not running: it was stopped, and that stands; `kroo clone` makes another like it"

/* clang-format off */
static const struct control_step steps[][MESSAGE_VERBS] = {
    [STORE_PENDING] = {
        [MESSAGE_VERB_PAUSE]    = REFUSE(WAITS),
        [MESSAGE_VERB_RESUME]   = REFUSE(WAITS),
        [MESSAGE_VERB_STOP]     = END,
        [MESSAGE_VERB_PRIORITY] = CHANGE(PENDING),
        [MESSAGE_VERB_NOTE]     = CHANGE(PENDING),
        [MESSAGE_VERB_DELETE]   = REFUSE(UNENDED),
        [MESSAGE_VERB_APPROVE]  = MOVE(RUNNING),
        [MESSAGE_VERB_REJECT]   = END,
    },
    [STORE_RUNNING] = {
        [MESSAGE_VERB_PAUSE]    = MOVE(PAUSED),
        [MESSAGE_VERB_RESUME]   = {CONTROL_AGREE, STORE_RUNNING, "is running already"},
        [MESSAGE_VERB_STOP]     = END,
        [MESSAGE_VERB_PRIORITY] = CHANGE(RUNNING),
        [MESSAGE_VERB_NOTE]     = CHANGE(RUNNING),
        [MESSAGE_VERB_DELETE]   = REFUSE(UNENDED),
        [MESSAGE_VERB_APPROVE]  = REFUSE(ASKED),
        [MESSAGE_VERB_REJECT]   = REFUSE(ASKED),
    },
    [STORE_PAUSED] = {
        [MESSAGE_VERB_PAUSE]    = {CONTROL_AGREE, STORE_PAUSED, "is paused already"},
        [MESSAGE_VERB_RESUME]   = MOVE(RUNNING),
        [MESSAGE_VERB_STOP]     = END,
        [MESSAGE_VERB_PRIORITY] = CHANGE(PAUSED),
        [MESSAGE_VERB_NOTE]     = CHANGE(PAUSED),
        [MESSAGE_VERB_DELETE]   = REFUSE(UNENDED),
        [MESSAGE_VERB_APPROVE]  = REFUSE(ASKED),
        [MESSAGE_VERB_REJECT]   = REFUSE(ASKED),
    },
    [STORE_BLOCKED] = {
        [MESSAGE_VERB_PAUSE]    = REFUSE("is blocked: no pair of it goes out anyway; `kroo show` says why"),
        [MESSAGE_VERB_RESUME]   = MOVE(RUNNING),
        [MESSAGE_VERB_STOP]     = END,
        [MESSAGE_VERB_PRIORITY] = CHANGE(BLOCKED),
        [MESSAGE_VERB_NOTE]     = CHANGE(BLOCKED),
        [MESSAGE_VERB_DELETE]   = REFUSE(UNENDED),
        [MESSAGE_VERB_APPROVE]  = REFUSE(ASKED),
        [MESSAGE_VERB_REJECT]   = REFUSE(ASKED),
    },
    [STORE_FINISHED] = {
        [MESSAGE_VERB_PAUSE]    = REFUSE(FINISHED),
        [MESSAGE_VERB_RESUME]   = {CONTROL_REOPEN, STORE_RUNNING, FINISHED},
        [MESSAGE_VERB_STOP]     = REFUSE(FINISHED),
        [MESSAGE_VERB_PRIORITY] = REFUSE(FINISHED),
        [MESSAGE_VERB_NOTE]     = CHANGE(FINISHED),
        [MESSAGE_VERB_DELETE]   = DELETE(FINISHED),
        [MESSAGE_VERB_APPROVE]  = REFUSE(FINISHED),
        [MESSAGE_VERB_REJECT]   = REFUSE(FINISHED),
    },
    [STORE_STOPPED] = {
        [MESSAGE_VERB_PAUSE]    = REFUSE(STOPPED),
        [MESSAGE_VERB_RESUME]   = REFUSE(STOPPED),
        [MESSAGE_VERB_STOP]     = REFUSE(STOPPED),
        [MESSAGE_VERB_PRIORITY] = REFUSE(STOPPED),
        [MESSAGE_VERB_NOTE]     = CHANGE(STOPPED),
        [MESSAGE_VERB_DELETE]   = DELETE(STOPPED),
        [MESSAGE_VERB_APPROVE]  = REFUSE(STOPPED),
        [MESSAGE_VERB_REJECT]   = REFUSE(STOPPED),
    },
};

static const struct {
    const char *name, *done;
} words[MESSAGE_VERBS] = {
    [MESSAGE_VERB_PAUSE]    = {"pause", "paused"},
    [MESSAGE_VERB_RESUME]   = {"resume", "resumed"},
    [MESSAGE_VERB_STOP]     = {"stop", "stopped"},
    [MESSAGE_VERB_PRIORITY] = {"priority", "prioritized"},
    [MESSAGE_VERB_NOTE]     = {"note", "noted"},
    [MESSAGE_VERB_DELETE]   = {"delete", "deleted"},
    [MESSAGE_VERB_APPROVE]  = {"approve", "approved"},
    [MESSAGE_VERB_REJECT]   = {"reject", "rejected"},
};
/* clang-format on */

struct control_step control_step(enum store_state state, enum message_verb verb)
{
    bool known = (size_t)state < sizeof steps / sizeof *steps && verb > 0 && verb < MESSAGE_VERBS;
    return known ? steps[state][verb] : (struct control_step)REFUSE("cannot do that");
}

const char *control_done_word(enum message_verb verb)
{
    return verb > 0 && verb < MESSAGE_VERBS ? words[verb].done : "?";
}

const char *control_verb_name(enum message_verb verb)
{
    return verb > 0 && verb < MESSAGE_VERBS ? words[verb].name : "?";
}
