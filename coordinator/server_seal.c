/* Who signed an artifact: asked by workers that run only what a key they trust has signed. */
#include <stdio.h>
#include <string.h>

#include "coordinator/server_parts.h"

void server_seals_request(struct server *server, struct session *session, const struct message *message)
{
    struct job *job = job_create(JOB_SEALS);
    if (job) {
        job->peer = session->peer;
        job->request = message->request;
        memcpy(job->seals.sha256, message->seals_request.sha256, STORE_HASH);
    }
    server_submit(server, job);
}

void server_answer_seals(struct server *server, struct job *job)
{
    struct seal seals[STORE_SEALS_MAX];
    struct message message = {.request = job->request, .kind = MESSAGE_SEALS};
    if (job->error != STORE_OK) {
        server_refuse(server, &job->peer, job->request, MESSAGE_REFUSAL_UNAVAILABLE, SERVER_RETRY_MS, "%s",
                      job->text);
        return;
    }
    for (size_t i = 0; i < job->seals.count; i++) {
        const struct store_seal *row = &job->seals.list[i];
        memcpy(seals[i].name, row->name, sizeof seals[i].name);
        memcpy(seals[i].key, row->key, sizeof seals[i].key);
        memcpy(seals[i].signature, row->signature, sizeof seals[i].signature);
    }
    memcpy(message.seals.sha256, job->seals.sha256, MESSAGE_HASH);
    message.seals.seals = seals;
    message.seals.seal_count = job->seals.count;
    server_reply(server, &job->peer, &message);
}
