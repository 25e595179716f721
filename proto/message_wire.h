/* Decoding with a stated memory budget, for tests that cut it at every allocation. Elsewhere use message.h.
 */
#ifndef KROO_PROTO_MESSAGE_WIRE_H
#define KROO_PROTO_MESSAGE_WIRE_H

#include "proto/message.h"

int message_decode_within(const void *bytes, size_t size, size_t memory, struct message *out, char *reason,
                          size_t reason_size);

#endif
