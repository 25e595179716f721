/* CRC-32C (Castagnoli; RFC 3720, appendix B.4): the checksum of weights and table files. Pure; any thread. */
#ifndef KROO_ENGINE_CRC32C_H
#define KROO_ENGINE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of what `crc` covers followed by `size` bytes; start with 0. Each call builds its 8 KiB table
 * on the stack (some microseconds), so feed large pieces. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t size);

#endif
