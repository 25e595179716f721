/* Why running experiments wait, for `kroo tournament show`: the answer to a STATUS_REQUEST with `waits_from`.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/server_parts.h"

enum {
    KINDS_MAX = 64,   /* of workers that are told apart; beyond these the first ones stand for all */
    LISTED_MAX = 500, /* experiments in a reply; whoever wants more asks from there on */
};

struct kinds {
    const struct server *server;
    struct schedule_asker askers[KINDS_MAX];
    char unfit[KINDS_MAX][FITNESS_TEXT]; /* the askers' */
    size_t count;
};

static bool same_kind(const struct schedule_asker *asker, const struct session *session, bool unfit)
{
    return asker->slots == session->slots && strcmp(asker->tags, session->tags) == 0 &&
           (asker->unfit != NULL) == unfit;
}

/* Workers that are alike get alike: one of each kind is asked about. */
static void add_kind(void *context, struct session *session)
{
    struct kinds *kinds = context;
    if (session->role != MESSAGE_ROLE_WORKER || server_is_silent(kinds->server, session) ||
        server_flag_of(kinds->server, session) || kinds->count == KINDS_MAX)
        return;
    const char *unfit = server_unfit(kinds->server, session, kinds->unfit[kinds->count]);
    for (size_t i = 0; i < kinds->count; i++)
        if (same_kind(&kinds->askers[i], session, unfit != NULL))
            return;
    kinds->askers[kinds->count++] = (struct schedule_asker){
        .session = session->id, .credit = 1, .slots = session->slots, .tags = session->tags, .unfit = unfit};
}

static json_t *list_waits(const struct schedule_wait *waits, size_t count, uint64_t from)
{
    json_t *array = json_array();
    char text[SCHEDULE_TEXT];
    for (size_t i = 0; i < count && json_array_size(array) < LISTED_MAX; i++) {
        if (waits[i].experiment < from)
            continue;
        schedule_wait_text(&waits[i], text);
        json_array_append_new(array,
                              json_pack("{s:I, s:I, s:s}", "experiment", (json_int_t)waits[i].experiment,
                                        "pairs_out", (json_int_t)waits[i].out, "why", text));
    }
    return array;
}

void server_waits(struct server *server, struct session *session, const struct message *message)
{
    size_t count = schedule_count(server->schedule);
    struct schedule_wait *waits = calloc(count + 1, sizeof *waits);
    struct kinds kinds = {.server = server};
    json_t *status = NULL;
    roster_each(server->roster, add_kind, &kinds);
    if (waits) {
        schedule_waits(server->schedule, server->leases, kinds.askers, kinds.count, waits);
        status = json_pack("{s:o}", "waits", list_waits(waits, count, message->status_request.waits_from));
    }
    free(waits);
    server_reply_status(server, session, message->request, status);
}
