#include "coordinator/cli/live.h"

#include <jansson.h>
#include <string.h>

#include "coordinator/cli/commands.h"
#include "coordinator/cli/connect.h"

/* A reply's worth of workers, added to *slots; *count is how many there were. */
static int ask(struct coordinator_link *link, uint32_t skip, size_t *count, uint64_t *slots)
{
    struct message request = {.kind = MESSAGE_STATUS_REQUEST, .status_request = {.skip = skip}}, reply;
    int status = link_ask(link, &request, MESSAGE_STATUS_REPLY, &reply);
    *count = 0;
    if (status != COMMAND_DONE)
        return status;
    json_t *state = json_loads(reply.status_reply.json, 0, NULL), *worker;
    size_t i;
    message_done(&reply);
    json_array_foreach(json_object_get(state, "workers"), i, worker)
    {
        const char *is = json_string_value(json_object_get(worker, "state"));
        if (is && strcmp(is, "gone") != 0 && strcmp(is, "set aside") != 0)
            *slots += (uint64_t)json_integer_value(json_object_get(worker, "slots"));
        ++*count;
    }
    json_decref(state);
    return COMMAND_DONE;
}

uint64_t live_slots(const struct settings *settings)
{
    int status;
    uint64_t slots = 0;
    uint32_t seen = 0;
    size_t count = 1;
    struct coordinator_link *link = link_open(settings, &status);
    while (link && count > 0 && ask(link, seen, &count, &slots) == COMMAND_DONE)
        seen += (uint32_t)count;
    link_close(link);
    return slots;
}
