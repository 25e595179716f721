/* A log line as one JSON object, for collectors: time, level, event, the leading `key=value` pairs as
 * `fields` (numbers where they are), what follows them as `text`. Pure. */
#ifndef KROO_PROTO_LOG_JSON_H
#define KROO_PROTO_LOG_JSON_H

#include <stddef.h>

/* `body` is UTF-8 without control characters (text_clean). Returns the length written, cut to `size`; what
 * does not fit is left out in whole fields, so that the object is always well formed. size is 512 at least.
 */
size_t log_json(const char *time, const char *level, const char *what, const char *body, char *out,
                size_t size);

#endif
