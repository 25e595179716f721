/* What text from outside may look like, in one place: names, printable ASCII, UTF-8. Pure; any thread. */
#ifndef KROO_PROTO_TEXT_H
#define KROO_PROTO_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum { TEXT_NAME_MAX = 63 };

/* [A-Za-z0-9._-]{1,63}, not beginning with a dot: safe as a file name, a label and a log value. */
bool text_is_name(const char *text);
/* Every one of `size` bytes is a visible ASCII character or a space. */
bool text_is_printable(const char *text, size_t size);
/* Well-formed UTF-8 (no overlong forms, surrogates or NUL) without control characters; `lines` allows tabs
 * and line feeds. */
bool text_is_utf8(const char *text, size_t size, bool lines);
/* Copies text of any origin (a database's error, a cut sentence) so that text_is_utf8 holds: control
 * characters become spaces, bytes that are no UTF-8 become `?`, a character cut at the end of the room is
 * left out. */
void text_clean(const char *from, char *out, size_t size);
/* Every one of `size` bytes is a letter of a house: A..F, a..f. */
bool text_is_moves(const char *text, size_t size);

#endif
