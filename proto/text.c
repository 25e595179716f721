#include "proto/text.h"

#include <stdint.h>
#include <string.h>

static bool is_name_letter(char letter)
{
    return (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z') ||
           (letter >= '0' && letter <= '9') || letter == '.' || letter == '_' || letter == '-';
}

bool text_is_name(const char *text)
{
    size_t size = 0;
    while (size <= TEXT_NAME_MAX && text[size] != '\0' && is_name_letter(text[size]))
        size++;
    return size >= 1 && size <= TEXT_NAME_MAX && text[size] == '\0' && text[0] != '.';
}

bool text_is_printable(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return true;
}

bool text_is_moves(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!((text[i] >= 'A' && text[i] <= 'F') || (text[i] >= 'a' && text[i] <= 'f')))
            return false;
    return true;
}

/* The code point at `text`, with its length; 0 when it is malformed or NUL. */
static uint32_t utf8_code(const unsigned char *text, size_t size, size_t *length)
{
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned first = text[0];
    *length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (*length == 0 || *length > size || (first >= 0x80 && first < 0xc2))
        return 0;
    uint32_t code = *length == 1 ? first : first & (0xffu >> (*length + 1));
    for (size_t i = 1; i < *length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3fu);
    }
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < smallest[*length] || surrogate || code > 0x10ffff ? 0 : code;
}

bool text_is_utf8(const char *text, size_t size, bool lines)
{
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t at = 0, length = 0; at < size; at += length) {
        uint32_t code = utf8_code(bytes + at, size - at, &length);
        bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
        if (control && !(lines && (code == '\n' || code == '\t')))
            return false;
    }
    return true;
}

void text_clean(const char *from, char *out, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)from;
    size_t left = strlen(from), at = 0;
    while (left > 0) {
        size_t length = 0;
        uint32_t code = utf8_code(bytes, left, &length);
        bool control = code != 0 && (code < 0x20 || (code >= 0x7f && code < 0xa0));
        size_t taken = code == 0 ? 1 : length, made = code == 0 || control ? 1 : length;
        if (made >= size - at)
            break;
        if (code == 0 || control)
            out[at] = control ? ' ' : '?';
        else
            memcpy(out + at, bytes, length);
        at += made;
        bytes += taken;
        left -= taken;
    }
    out[at] = '\0';
}
