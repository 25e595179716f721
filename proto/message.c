#include "proto/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/text.h"

const char *message_kind_name(enum message_kind kind)
{
    static const char *const names[MESSAGE_KINDS] = {
        [MESSAGE_NONE] = "NONE",
        [MESSAGE_HELLO] = "HELLO",
        [MESSAGE_WELCOME] = "WELCOME",
        [MESSAGE_REFUSED] = "REFUSED",
        [MESSAGE_LEASE_REQUEST] = "LEASE_REQUEST",
        [MESSAGE_LEASE_GRANT] = "LEASE_GRANT",
        [MESSAGE_NOTHING] = "NOTHING",
        [MESSAGE_RESULTS] = "RESULTS",
        [MESSAGE_RESULTS_ACK] = "RESULTS_ACK",
        [MESSAGE_PROGRESS] = "PROGRESS",
        [MESSAGE_PROGRESS_ACK] = "PROGRESS_ACK",
        [MESSAGE_RELEASE] = "RELEASE",
        [MESSAGE_RELEASE_ACK] = "RELEASE_ACK",
        [MESSAGE_ARTIFACT_REQUEST] = "ARTIFACT_REQUEST",
        [MESSAGE_ARTIFACT_CHUNK] = "ARTIFACT_CHUNK",
        [MESSAGE_CREATE_EXPERIMENT] = "CREATE_EXPERIMENT",
        [MESSAGE_STOP_EXPERIMENT] = "STOP_EXPERIMENT",
        [MESSAGE_PROMOTE_WEIGHTS] = "PROMOTE_WEIGHTS",
        [MESSAGE_CONTROL_DONE] = "CONTROL_DONE",
        [MESSAGE_STATUS_REQUEST] = "STATUS_REQUEST",
        [MESSAGE_STATUS_REPLY] = "STATUS_REPLY",
        [MESSAGE_CONTROL_EXPERIMENT] = "CONTROL_EXPERIMENT",
        [MESSAGE_SEALS_REQUEST] = "SEALS_REQUEST",
        [MESSAGE_SEALS] = "SEALS",
    };
    return (unsigned)kind < MESSAGE_KINDS ? names[kind] : "?";
}

void message_game_done(struct message_game *game)
{
    free(game->moves);
    free(game->scores);
    memset(game, 0, sizeof *game);
}

void message_done(struct message *message)
{
    switch (message->kind) {
    case MESSAGE_SEALS:
        free(message->seals.seals);
        break;
    case MESSAGE_LEASE_GRANT:
        free(message->lease_grant.skip);
        break;
    case MESSAGE_RESULTS:
        for (size_t i = 0; message->results.games != NULL && i < message->results.game_count; i++)
            message_game_done(&message->results.games[i]);
        free(message->results.games);
        break;
    case MESSAGE_RESULTS_ACK:
        free(message->results_ack.exceptions);
        break;
    case MESSAGE_PROGRESS:
        free(message->progress.leases);
        break;
    case MESSAGE_PROGRESS_ACK:
        free(message->progress_ack.dropped);
        break;
    case MESSAGE_RELEASE:
        free(message->release.leases);
        break;
    case MESSAGE_ARTIFACT_CHUNK:
        free(message->artifact_chunk.content);
        break;
    case MESSAGE_STATUS_REPLY:
        free(message->status_reply.json);
        break;
    default: /* the others hold no memory */
        break;
    }
    memset(message, 0, sizeof *message);
}

size_t message_game_bytes(const struct message_game *game)
{
    /* Eight numbers of at most 11 bytes, the core time, eight hashes, three short texts, and each field's
     * head.
     */
    enum { FIXED = 8 * 11 + 7 + 8 * (MESSAGE_HASH + 4) + 2 * 17 + MESSAGE_NAME_MAX + 2 + 3 * 5 };
    return FIXED + game->plies + game->scores_size + strlen(game->fault) + 4;
}

bool message_hash_is_none(const uint8_t hash[MESSAGE_HASH])
{
    static const uint8_t none[MESSAGE_HASH];
    return memcmp(hash, none, MESSAGE_HASH) == 0;
}

/* One line of `size` bytes; NULL, or what is wrong with it. */
static const char *option_fault(const char *line, size_t size)
{
    const char *equals = memchr(line, '=', size);
    if (size >= MESSAGE_OPTION_MAX)
        return "is longer than 255 bytes";
    if (!text_is_utf8(line, size, false))
        return "is not one line of printable UTF-8";
    if (equals == NULL || equals == line)
        return "is not written Name=Value";
    if (line[0] == ' ' || equals[-1] == ' ')
        return "has a blank beside its name";
    return NULL;
}

bool message_options_check(const char *options, char *reason, size_t reason_size)
{
    size_t count = 0;
    if (strlen(options) >= MESSAGE_OPTIONS_MAX) {
        snprintf(reason, reason_size, "the options have more than %d bytes together",
                 MESSAGE_OPTIONS_MAX - 1);
        return false;
    }
    for (const char *line = options; *options != '\0' && line != NULL;) {
        const char *end = strchr(line, '\n');
        size_t size = end != NULL ? (size_t)(end - line) : strlen(line);
        const char *fault =
            ++count > MESSAGE_OPTION_COUNT ? "is one too many: 16 are allowed" : option_fault(line, size);
        if (fault != NULL) {
            snprintf(reason, reason_size, "option \"%.*s\" %s", (int)(size < 60 ? size : 60), line, fault);
            return false;
        }
        line = end != NULL ? end + 1 : NULL;
    }
    return true;
}
