/* Little-endian integers in byte buffers, for every file the engine reads or writes: the machine's own byte
 * order never shows. The caller has checked the bounds. Pure; any thread. */
#ifndef KROO_ENGINE_BYTES_H
#define KROO_ENGINE_BYTES_H

#include <stdint.h>

static inline uint16_t bytes_get_u16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t bytes_get_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline int16_t bytes_get_i16(const uint8_t *at)
{
    return (int16_t)bytes_get_u16(at);
}

static inline int32_t bytes_get_i32(const uint8_t *at)
{
    return (int32_t)bytes_get_u32(at);
}

static inline void bytes_put_u16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static inline void bytes_put_u32(uint8_t *at, uint32_t value)
{
    bytes_put_u16(at, (uint16_t)value);
    bytes_put_u16(at + 2, (uint16_t)(value >> 16));
}

#endif
