#include "worker/session.h"

#include <stddef.h>

static const char *const state_names[SESSION_STATES] = {
    [SESSION_APART] = "apart",     [SESSION_GREETING] = "greeting", [SESSION_READY] = "ready",
    [SESSION_LEAVING] = "leaving", [SESSION_OVER] = "over",
};

static const char *const event_names[SESSION_EVENTS] = {
    [SESSION_EVENT_CONNECT] = "connect", [SESSION_EVENT_WELCOME] = "welcome",
    [SESSION_EVENT_SILENCE] = "silence", [SESSION_EVENT_STRANGER] = "stranger",
    [SESSION_EVENT_PUT_OFF] = "put-off", [SESSION_EVENT_BARRED] = "barred",
    [SESSION_EVENT_LEAVE] = "leave",     [SESSION_EVENT_RELEASED] = "released",
};

static const struct step {
    enum session_state state;
    enum session_event event;
    enum session_state next;
} steps[] = {
    {SESSION_APART, SESSION_EVENT_CONNECT, SESSION_GREETING},
    {SESSION_APART, SESSION_EVENT_LEAVE, SESSION_OVER},

    {SESSION_GREETING, SESSION_EVENT_WELCOME, SESSION_READY},
    {SESSION_GREETING, SESSION_EVENT_SILENCE, SESSION_APART},
    {SESSION_GREETING, SESSION_EVENT_PUT_OFF, SESSION_APART},
    {SESSION_GREETING, SESSION_EVENT_BARRED, SESSION_OVER},
    {SESSION_GREETING, SESSION_EVENT_LEAVE, SESSION_OVER},

    {SESSION_READY, SESSION_EVENT_STRANGER, SESSION_GREETING},
    {SESSION_READY, SESSION_EVENT_SILENCE, SESSION_APART},
    {SESSION_READY, SESSION_EVENT_PUT_OFF, SESSION_APART},
    {SESSION_READY, SESSION_EVENT_BARRED, SESSION_OVER},
    {SESSION_READY, SESSION_EVENT_LEAVE, SESSION_LEAVING},

    {SESSION_LEAVING, SESSION_EVENT_RELEASED, SESSION_OVER},
    {SESSION_LEAVING, SESSION_EVENT_STRANGER, SESSION_OVER},
    {SESSION_LEAVING, SESSION_EVENT_SILENCE, SESSION_OVER},
    {SESSION_LEAVING, SESSION_EVENT_BARRED, SESSION_OVER},
    {SESSION_LEAVING, SESSION_EVENT_LEAVE, SESSION_OVER},
};

void session_init(struct session *session)
{
    *session = (struct session){.state = SESSION_APART};
}

int session_next(enum session_state state, enum session_event event)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i].state == state && steps[i].event == event)
            return (int)steps[i].next;
    return -1;
}

int session_step(struct session *session, enum session_event event)
{
    int next = session_next(session->state, event);
    if (next < 0) {
        session->refused_steps++;
        return -1;
    }
    session->state = (enum session_state)next;
    return 0;
}

const char *session_state_name(enum session_state state)
{
    return (unsigned)state < SESSION_STATES ? state_names[state] : "?";
}

const char *session_event_name(enum session_event event)
{
    return (unsigned)event < SESSION_EVENTS ? event_names[event] : "?";
}
