#include "engine/crc32c.h"

#include "engine/bytes.h"

enum { SLICES = 8 };

/* 0x1EDC6F41 with its bits reversed. */
static const uint32_t polynomial = 0x82f63b78u;

static void fill_slices(uint32_t slices[SLICES][256])
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (polynomial & (0u - (crc & 1u)));
        slices[0][byte] = crc;
    }
    for (int slice = 1; slice < SLICES; slice++)
        for (int byte = 0; byte < 256; byte++) {
            uint32_t before = slices[slice - 1][byte];
            slices[slice][byte] = (before >> 8) ^ slices[0][before & 255u];
        }
}

/* Slicing by eight: Kounavis and Berry, "A Systematic Approach to Building High Performance Software-Based
 * CRC Generators" (2005). */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t size)
{
    uint32_t slices[SLICES][256];
    fill_slices(slices);
    const uint8_t *at = bytes;
    crc = ~crc;
    for (; size >= 8; size -= 8, at += 8) {
        uint32_t low = crc ^ bytes_get_u32(at);
        uint32_t high = bytes_get_u32(at + 4);
        crc = slices[7][low & 255u] ^ slices[6][low >> 8 & 255u] ^ slices[5][low >> 16 & 255u] ^
              slices[4][low >> 24] ^ slices[3][high & 255u] ^ slices[2][high >> 8 & 255u] ^
              slices[1][high >> 16 & 255u] ^ slices[0][high >> 24];
    }
    for (; size > 0; size--, at++)
        crc = (crc >> 8) ^ slices[0][(crc ^ *at) & 255u];
    return ~crc;
}
