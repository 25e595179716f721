/* CRC-32C against the published examples, and in pieces. */
#include "engine/crc32c.h"

#include <string.h>

#include "tests/unit/check.h"

/* RFC 3720, appendix B.4. */
static void published_examples(void **state)
{
    (void)state;
    uint8_t bytes[32];
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(crc32c(0, bytes, sizeof bytes), 0x8a9136aau);
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(crc32c(0, bytes, sizeof bytes), 0x62a8ab43u);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(crc32c(0, bytes, sizeof bytes), 0x46dd794eu);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)(31 - i);
    assert_int_equal(crc32c(0, bytes, sizeof bytes), 0x113fdb5cu);
    assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283u);
}

static void pieces_give_the_whole(void **state)
{
    (void)state;
    uint8_t bytes[100];
    for (int i = 0; i < 100; i++)
        bytes[i] = (uint8_t)(i * 37 + 11);
    uint32_t whole = crc32c(0, bytes, sizeof bytes);
    for (size_t cut = 0; cut <= sizeof bytes; cut++)
        assert_int_equal(crc32c(crc32c(0, bytes, cut), bytes + cut, sizeof bytes - cut), whole);
    assert_int_equal(crc32c(0, NULL, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_examples),
        cmocka_unit_test(pieces_give_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
