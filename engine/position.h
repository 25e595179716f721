/* A position as people and other rooms see it: absolute, South first. The hot path uses struct board
 * (board.h), which is relative to the mover. Plain data; any thread. */
#ifndef KROO_ENGINE_POSITION_H
#define KROO_ENGINE_POSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum side { SIDE_SOUTH = 0, SIDE_NORTH = 1 };

enum { POSITION_SEEDS = 48, POSITION_TEXT_MAX = 64 };

struct position {
    uint8_t houses[12]; /* A..F then a..f, seeds */
    uint8_t stores[2];  /* captured by South, by North */
    uint8_t side;       /* enum side: who moves */
};

/* The start: four seeds in each house, South to move. */
struct position position_start(void);

/* Reads `4-4-4-4-4-4-4-4-4-4-4-4-0-0-S`: fourteen counts and the side. The counts must sum to 48.
 * Returns 0, or -1 with the reason in `error`; `out` is written on success only. */
int position_parse(const char *text, struct position *out, char *error, size_t error_size);

/* Writes the text form; `text` holds POSITION_TEXT_MAX bytes. */
void position_format(const struct position *position, char *text);

/* House 0..11 to its letter A..F a..f, and back (-1 when the letter is no house). */
char position_house_letter(int house);
int position_letter_house(char letter);

#endif
