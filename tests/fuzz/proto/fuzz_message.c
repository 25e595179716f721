/* Whatever message_decode takes can be encoded and decodes to the same bytes again; the rest is refused with
 * a reason. The input's first two bytes choose a memory budget, so that allocations fail in the middle too.
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "proto/message_wire.h"

/* A message from outside that was taken: out and in once more it must stay what it is. */
static void check_taken(const struct message *message)
{
    void *first = NULL, *second = NULL;
    size_t first_size = 0, second_size = 0;
    char reason[256];
    struct message back;
    if (message_encode(message, &first, &first_size) != 0)
        abort();
    if (message_decode(first, first_size, &back, reason, sizeof reason) != 0 || back.kind != message->kind)
        abort();
    if (message_encode(&back, &second, &second_size) != 0 || first_size != second_size ||
        memcmp(first, second, first_size) != 0)
        abort();
    message_done(&back);
    free(first);
    free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    char reason[256] = "";
    struct message message;
    size_t budget = (size_t)data[0] << 8 | data[1];
    budget = budget == 0 ? MESSAGE_MEMORY_MAX : budget;
    if (message_decode_within(data + 2, size - 2, budget, &message, reason, sizeof reason) == 0)
        check_taken(&message);
    else if (message.kind != MESSAGE_NONE || reason[0] == '\0')
        abort();
    message_done(&message);
    return 0;
}
