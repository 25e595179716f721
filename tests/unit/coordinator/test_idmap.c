#include "coordinator/idmap.h"

#include "coordinator/pairset.h"
#include "engine/mix.h"
#include "tests/unit/check.h"

/* Against a plain array, through many insertions and removals. */
static void a_map_agrees_with_an_array(void **state)
{
    (void)state;
    enum { IDS = 512, STEPS = 40000 };
    struct idmap map;
    bool there[IDS] = {false};
    size_t count = 0;
    idmap_init(&map);
    assert_int_equal(idmap_get(&map, 3), IDMAP_NONE);
    for (uint64_t step = 0; step < STEPS; step++) {
        uint64_t id = mix(11, step) % IDS;
        if (there[id]) {
            assert_int_equal(idmap_get(&map, id << 32), id);
            idmap_remove(&map, id << 32);
            count--;
        } else {
            assert_int_equal(idmap_get(&map, id << 32), IDMAP_NONE);
            assert_true(idmap_reserve(&map));
            idmap_put(&map, id << 32, (uint32_t)id);
            count++;
        }
        there[id] = !there[id];
        assert_int_equal(map.count, count);
    }
    for (uint64_t id = 0; id < IDS; id++)
        assert_int_equal(idmap_get(&map, id << 32), there[id] ? id : IDMAP_NONE);
    idmap_done(&map);
}

static void a_set_finds_the_next_member(void **state)
{
    (void)state;
    static const uint64_t capacities[] = {64, 4096, 65536, 262144};
    for (int c = 0; c < 4; c++) {
        struct pairset set;
        uint64_t capacity = capacities[c], members[6];
        assert_true(pairset_init(&set, capacity));
        assert_true(pairset_next(&set, 0) == PAIRSET_NONE);
        for (uint64_t i = 0; i < 6; i++) {
            members[i] = i == 0 ? 0 : i == 5 ? capacity - 1 : i * (capacity / 6) + i;
            pairset_add(&set, members[i]);
        }
        for (int i = 0; i < 6; i++) {
            assert_int_equal(pairset_next(&set, members[i]), members[i]);
            assert_true(pairset_next(&set, members[i] + 1) == (i < 5 ? members[i + 1] : PAIRSET_NONE));
        }
        for (int i = 0; i < 6; i++) {
            assert_int_equal(pairset_next(&set, 0), members[i]);
            pairset_remove(&set, members[i]);
        }
        assert_true(pairset_next(&set, 0) == PAIRSET_NONE);
        pairset_done(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_map_agrees_with_an_array),
        cmocka_unit_test(a_set_finds_the_next_member),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
