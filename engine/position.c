#include "engine/position.h"

#include <stdio.h>
#include <string.h>

struct position position_start(void)
{
    struct position position = {.side = SIDE_SOUTH};
    memset(position.houses, 4, sizeof position.houses);
    return position;
}

/* Reads a number of one or two digits followed by '-'. Returns -1 when there is none. */
static int parse_count(const char **text)
{
    const char *at = *text;
    int count = 0;
    size_t digits = 0;
    while (digits < 3 && at[digits] >= '0' && at[digits] <= '9')
        count = count * 10 + (at[digits++] - '0');
    if (digits == 0 || digits == 3 || at[digits] != '-')
        return -1;
    *text = at + digits + 1;
    return count;
}

int position_parse(const char *text, struct position *out, char *error, size_t error_size)
{
    struct position position = {0};
    int seeds = 0;
    for (int i = 0; i < 14; i++) {
        int count = parse_count(&text);
        if (count < 0) {
            snprintf(
                error, error_size,
                "field %d is no number followed by '-'; a position is fourteen numbers A..F a..f South-store "
                "North-store and the side, like 4-4-4-4-4-4-4-4-4-4-4-4-0-0-S",
                i + 1);
            return -1;
        }
        seeds += count;
        uint8_t *field = i < 12 ? &position.houses[i] : &position.stores[i - 12];
        *field = (uint8_t)count;
    }
    if ((text[0] != 'S' && text[0] != 'N') || text[1] != '\0') {
        snprintf(error, error_size, "the side must be S or N and end the position");
        return -1;
    }
    if (seeds != POSITION_SEEDS) {
        snprintf(error, error_size, "the seeds add up to %d, not %d", seeds, POSITION_SEEDS);
        return -1;
    }
    position.side = text[0] == 'S' ? SIDE_SOUTH : SIDE_NORTH;
    *out = position;
    return 0;
}

void position_format(const struct position *position, char *text)
{
    const uint8_t *h = position->houses;
    snprintf(text, POSITION_TEXT_MAX, "%d-%d-%d-%d-%d-%d-%d-%d-%d-%d-%d-%d-%d-%d-%c", h[0], h[1], h[2], h[3],
             h[4], h[5], h[6], h[7], h[8], h[9], h[10], h[11], position->stores[0], position->stores[1],
             position->side == SIDE_SOUTH ? 'S' : 'N');
}

char position_house_letter(int house)
{
    return "ABCDEFabcdef"[house];
}

int position_letter_house(char letter)
{
    if (letter >= 'A' && letter <= 'F')
        return letter - 'A';
    if (letter >= 'a' && letter <= 'f')
        return letter - 'a' + 6;
    return -1;
}
