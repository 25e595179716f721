#include "tests/unit/engine/vectors.h"

#include "engine/board.h"
#include "engine/mix.h"

/* --- an independent reference: seeds carried by hand, house by house --- */

struct plain {
    int houses[12]; /* the mover's own first */
    int stores[2];
};

struct plain_move {
    struct plain after; /* still in the mover's view */
    int captured;
    bool slam;
};

static int plain_row(const struct plain *plain, int first)
{
    int seeds = 0;
    for (int house = first; house < first + 6; house++)
        seeds += plain->houses[house];
    return seeds;
}

static struct plain_move plain_make(const struct plain *before, int house, enum rules_slam slam)
{
    struct plain_move move = {.after = *before};
    int *houses = move.after.houses;
    int seeds = houses[house], at = house, chain[6], length = 0, sum = 0;
    houses[house] = 0;
    while (seeds > 0) {
        at = (at + 1) % 12;
        if (at == house)
            continue;
        houses[at]++;
        seeds--;
    }
    for (int back = at; back >= 6 && (houses[back] == 2 || houses[back] == 3); back--) {
        chain[length++] = back;
        sum += houses[back];
    }
    move.slam = length > 0 && sum == plain_row(&move.after, 6);
    int first = 0, last = length; /* the part of the chain that is taken */
    if (move.slam && (slam == RULES_SLAM_CAPTURES_NOTHING || (slam == RULES_SLAM_VOID_AT_SIX && length == 6)))
        last = 0;
    else if (move.slam && slam == RULES_SLAM_KEEP_LAST)
        first = 1;
    else if (move.slam && slam == RULES_SLAM_KEEP_FIRST)
        last = length - 1;
    for (int i = first; i < last; i++) {
        move.captured += houses[chain[i]];
        houses[chain[i]] = 0;
    }
    move.after.stores[0] += move.captured;
    for (int own = 0; move.slam && slam == RULES_SLAM_REST_TO_OPPONENT && own < 6; own++) {
        move.after.stores[1] += houses[own];
        houses[own] = 0;
    }
    return move;
}

static unsigned plain_legal(const struct plain *plain, enum rules_slam slam, enum rules_feeding feeding)
{
    unsigned legal = 0, leaving = 0;
    for (int house = 0; house < 6; house++) {
        if (plain->houses[house] == 0)
            continue;
        struct plain_move move = plain_make(plain, house, slam);
        if (feeding == RULES_FEEDING_MUST && plain_row(plain, 6) == 0 && plain->houses[house] < 6 - house)
            continue;
        if (slam == RULES_SLAM_ILLEGAL && move.slam)
            continue;
        legal |= 1u << house;
        if (plain_row(&move.after, 6) > 0)
            leaving |= 1u << house;
    }
    if ((slam == RULES_SLAM_LAST_RESORT || feeding == RULES_FEEDING_IF_ANY) && leaving != 0)
        return leaving;
    return legal;
}

static struct board plain_board(const struct plain *plain)
{
    struct position position = {.side = SIDE_SOUTH};
    for (int house = 0; house < 12; house++)
        position.houses[house] = (uint8_t)plain->houses[house];
    position.stores[0] = (uint8_t)plain->stores[0];
    position.stores[1] = (uint8_t)plain->stores[1];
    return board_from_position(&position);
}

/* --- tests --- */

static void sowing_matches_carrying_seeds(void **state)
{
    (void)state;
    size_t sowings = 0;
    for (int house = 0; house < 6; house++) {
        for (int seeds = 1; seeds <= POSITION_SEEDS; seeds++) {
            struct plain plain = {.stores = {POSITION_SEEDS - seeds, 0}};
            plain.houses[house] = seeds;
            struct plain_move move = plain_make(&plain, house, RULES_SLAM_CAPTURES_NOTHING);
            struct board expected = board_swap(plain_board(&move.after));
            assert_true(board_equal(board_make_site(plain_board(&plain), house), expected));
            sowings++;
        }
    }
    assert_int_equal(sowings, 288);
}

/* A board that favours what is rare: an opponent with few seeds, none, or ones and twos only; laps; own rows
 * with a single house; stores near 25. */
static struct plain thrown_board(uint64_t seed)
{
    struct plain plain = {0};
    unsigned kind = mix_below(mix(seed, 100), 8), left = POSITION_SEEDS;
    for (int house = 0; house < 12; house++) {
        uint64_t bits = mix(seed, (uint64_t)house);
        unsigned bound = house >= 6 && kind < 6 ? 3 : 8;
        bool bare = (kind == 5 && house >= 6) || (kind >= 3 && kind < 6 && bits % 4 != 0);
        unsigned count = bare ? 0 : mix_below(bits, bound);
        count = count < left ? count : left;
        plain.houses[house] = (int)count;
        left -= count;
    }
    if (kind % 3 == 2) {
        unsigned more = mix_below(mix(seed, 101), left + 1);
        plain.houses[mix_below(mix(seed, 102), 6)] += (int)more;
        left -= more;
    }
    plain.stores[0] = (int)mix_below(mix(seed, 103), left + 1);
    plain.stores[1] = (int)left - plain.stores[0];
    return plain;
}

static void compare_moves(const struct plain *plain, struct board board, const struct rules *rules,
                          size_t *slams)
{
    for (unsigned mask = board_flags_mask(board_seeded_flags(board.own)); mask != 0; mask &= mask - 1) {
        int house = __builtin_ctz(mask);
        struct plain_move move = plain_make(plain, house, rules->slam);
        struct board next = board_make(rules, board, house);
        assert_true(board_equal(next, board_swap(plain_board(&move.after))));
        assert_int_equal(board_captured(board, next), move.captured);
        assert_int_equal(board_is_slam(board, house), move.slam);
        assert_true(!move.slam || board_slam_possible(board));
        assert_int_equal(board_seeds(next) + board_store(next.own) + board_store(next.other), POSITION_SEEDS);
        *slams += move.slam;
    }
}

static void every_rule_matches_the_reference(void **state)
{
    (void)state;
    size_t slams = 0, none = 0;
    for (unsigned i = 0; i < 8 * 3; i++) {
        struct rules rules = {.slam = (enum rules_slam)(i % 8), .feeding = (enum rules_feeding)(i / 8)};
        for (uint64_t seed = 0; seed < 20000; seed++) {
            struct plain plain = thrown_board(seed);
            struct board board = plain_board(&plain);
            unsigned legal = plain_legal(&plain, rules.slam, rules.feeding);
            assert_int_equal(board_legal(&rules, board), legal);
            if (board_is_site(&rules))
                assert_int_equal(board_legal_site(board), legal);
            compare_moves(&plain, board, &rules, &slams);
            none += legal == 0;
        }
    }
    print_message("# %zu grand slams, %zu boards without a move\n", slams, none);
    assert_true(slams > 10000);
    assert_true(none > 24 * 100);
}

/* Every row of the opponent that a move could empty, and every single house that could empty it. */
static void no_slam_is_called_impossible(void **state)
{
    (void)state;
    size_t emptied = 0, possible = 0, boards = 0;
    for (int row = 0; row < 729; row++) {
        struct board board = {0};
        for (int house = 0, rest = row; house < 6; house++, rest /= 3)
            board.other |= (uint64_t)(rest % 3) << (8 * house);
        for (int house = 0; house < 6; house++) {
            for (unsigned seeds = 1; seeds + board_row_seeds(board.other) <= POSITION_SEEDS; seeds++) {
                board.own = (uint64_t)seeds << (8 * house);
                struct board next = board_make_as(board, house, RULES_SLAM_ALLOWED);
                boards++;
                possible += board_slam_possible(board);
                if ((next.own & BOARD_ROW) != 0)
                    continue;
                assert_true(board_slam_possible(board));
                emptied++;
            }
        }
    }
    print_message("# %zu boards, %zu where a slam may be, %zu where one is\n", boards, possible, emptied);
    assert_true(emptied > 100 && possible < boards);
}

static void all_six_houses_in_one_chain(void **state)
{
    (void)state;
    struct plain plain = {.houses = {0, 0, 0, 0, 0, 18, 1, 1, 0, 1, 1, 0}, .stores = {20, 6}};
    struct plain_move move = plain_make(&plain, 5, RULES_SLAM_ALLOWED);
    assert_false(move.slam);
    struct plain six = {.houses = {0, 0, 0, 0, 0, 17, 1, 1, 1, 1, 1, 1}, .stores = {20, 5}};
    move = plain_make(&six, 5, RULES_SLAM_ALLOWED);
    assert_true(move.slam);
    assert_int_equal(move.captured, 18);
    struct board board = plain_board(&six);
    struct board taken = board_make_as(board, 5, RULES_SLAM_ALLOWED);
    assert_int_equal(board_captured(board, taken), 18);
    struct board left = board_make_as(board, 5, RULES_SLAM_VOID_AT_SIX);
    assert_int_equal(board_captured(board, left), 0);
}

static void positions_survive_the_round_trip(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct plain plain = thrown_board(seed);
        struct position position = board_to_position(plain_board(&plain), SIDE_SOUTH);
        position.side = seed & 1;
        struct board board = board_from_position(&position);
        struct position again = board_to_position(board, (enum side)position.side);
        assert_memory_equal(&again, &position, sizeof position);
        for (int house = 0; house < 6; house++)
            assert_int_equal(board_house(board.own, house), position.houses[house + 6 * position.side]);
        assert_int_equal(board_store(board.own), position.stores[position.side]);
    }
}

static void endings_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        int own, other;
        unsigned legal;
        enum board_ending ending;
    } cases[] = {
        {0, 0, 1, BOARD_GOES_ON},    {24, 23, 1, BOARD_GOES_ON}, {24, 24, 0, BOARD_EVEN},
        {25, 0, 1, BOARD_MAJORITY},  {0, 25, 1, BOARD_MAJORITY}, {0, 48, 0, BOARD_MAJORITY},
        {23, 24, 0, BOARD_NO_MOVE},  {8, 16, 1, BOARD_GOES_ON},  {24, 8, 1, BOARD_GOES_ON},
        {24, 25, 0, BOARD_MAJORITY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct board board = {(uint64_t)cases[i].own << 48, (uint64_t)cases[i].other << 48};
        assert_int_equal(board_end(board, cases[i].legal), cases[i].ending);
        assert_int_equal(board_decided(board),
                         cases[i].ending == BOARD_EVEN || cases[i].ending == BOARD_MAJORITY);
    }
}

static void margins_and_unfed_sides(void **state)
{
    (void)state;
    struct plain plain = {.houses = {1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5}, .stores = {18, 22}};
    struct board board = plain_board(&plain);
    assert_int_equal(board_margin(board, RULES_LEFTOVERS_STAY), -4);
    assert_int_equal(board_margin(board, RULES_LEFTOVERS_OWN_ROW), -6);
    assert_int_equal(board_unfed(board), 0);
    struct board starving = {3, 0}, one = {1, 0}, empty = {0, 0};
    assert_int_equal(board_unfed(starving), -1);
    assert_int_equal(board_unfed(board_swap(starving)), 1);
    assert_int_equal(board_unfed(one), 0);
    assert_int_equal(board_unfed(empty), 0);
}

static void hashes_differ_by_one_seed_and_by_side(void **state)
{
    (void)state;
    struct position start = position_start();
    struct board board = board_from_position(&start);
    struct board moved = {board.own - 1 + 256, board.other};
    assert_true(board_hash(board) != board_hash(moved));
    assert_true(board_hash(moved) != board_hash(board_swap(moved)));
    assert_true(board_equal(board, board_swap(board)));
    assert_false(board_equal(moved, board_swap(moved)));
}

/* --- reference vectors --- */

struct counts {
    size_t moves, over, must_feed, slams;
};

static void check_listed_move(const json_t *row, const struct position *position, struct board board,
                              struct counts *counts)
{
    int house = position_letter_house(vectors_text(row, "move")[0]) - 6 * position->side;
    struct rules site = vectors_rules("site");
    struct board next = board_make_site(board, house);
    struct position after = board_to_position(next, position->side == SIDE_SOUTH ? SIDE_NORTH : SIDE_SOUTH);
    char text[POSITION_TEXT_MAX];
    position_format(&after, text);
    assert_string_equal(text, vectors_text(row, "next"));
    assert_int_equal(board_house(board.own, house), vectors_number(row, "sown"));
    assert_int_equal(board_captured(board, next), vectors_number(row, "captured"));
    assert_int_equal(board_is_slam(board, house), json_is_true(json_object_get(row, "grand_slam")));
    bool over = board_end(next, board_legal(&site, next)) != BOARD_GOES_ON;
    assert_int_equal(over, json_is_true(json_object_get(row, "over")));
    counts->slams += board_is_slam(board, house);
    counts->moves++;
}

static void check_position(json_t *row, void *context)
{
    struct counts *counts = context;
    struct position position;
    char error[256];
    assert_int_equal(position_parse(vectors_text(row, "pos"), &position, error, sizeof error), 0);
    struct board board = board_from_position(&position);
    unsigned legal = board_legal_site(board);
    enum board_ending ending = board_end(board, legal);
    bool over = json_is_true(json_object_get(row, "over"));
    assert_int_equal(ending != BOARD_GOES_ON, over);
    if (over) {
        const char *reason = vectors_text(row, "reason");
        assert_int_equal(ending == BOARD_MAJORITY, strcmp(reason, "majority") == 0);
        legal = 0;
    }
    char letters[7];
    size_t length = 0;
    for (int house = 0; house < 6; house++) {
        if (legal >> house & 1)
            letters[length++] = position_house_letter(house + 6 * position.side);
    }
    letters[length] = '\0';
    assert_string_equal(letters, vectors_text(row, "legal"));
    bool must_feed = !over && board_row_seeds(board.other) == 0;
    assert_int_equal(must_feed, json_is_true(json_object_get(row, "must_feed")));
    const json_t *moves = json_object_get(row, "moves");
    assert_int_equal(json_array_size(moves), length);
    for (size_t i = 0; i < length; i++)
        check_listed_move(json_array_get(moves, i), &position, board, counts);
    counts->over += over;
    counts->must_feed += must_feed;
}

static void every_row_of_positions(void **state)
{
    (void)state;
    struct counts counts = {0};
    size_t rows = vectors_each_line(VECTORS_RULES "positions.jsonl", check_position, &counts);
    print_message("# %zu positions, %zu moves, %zu over, %zu that must feed, %zu grand slams\n", rows,
                  counts.moves, counts.over, counts.must_feed, counts.slams);
    assert_int_equal(rows, 2008);
    assert_int_equal(counts.moves, 7308);
    assert_int_equal(counts.over, 106);
}

static size_t check_single_position(const json_t *row)
{
    struct position position = {.side = SIDE_SOUTH};
    for (size_t house = 0; house < 12; house++)
        position.houses[house] = (uint8_t)vectors_item(json_object_get(row, "board"), house);
    struct board board = board_from_position(&position);
    const char *legal = vectors_text(row, "legal");
    unsigned mask = 0;
    for (size_t i = 0; i < strlen(legal); i++)
        mask |= 1u << (legal[i] - 'A');
    assert_int_equal(board_legal_site(board), mask);
    json_t *moves = json_object_get(row, "moves"), *move;
    const char *letter;
    assert_int_equal(json_object_size(moves), strlen(legal));
    json_object_foreach(moves, letter, move)
    {
        int house = letter[0] - 'A';
        struct board next = board_make_site(board, house);
        struct position after = board_to_position(next, SIDE_NORTH);
        for (size_t i = 0; i < 12; i++)
            assert_int_equal(after.houses[i], vectors_item(json_object_get(move, "board_after_absolute"), i));
        assert_int_equal(board_captured(board, next), vectors_number(move, "captured"));
        assert_int_equal(board_is_slam(board, house), json_is_true(json_object_get(move, "void_slam")));
    }
    return json_object_size(moves);
}

static void every_single_move_of_site(void **state)
{
    (void)state;
    json_t *root = vectors_load(VECTORS_RULES "site-vectors.json");
    const json_t *rows = json_object_get(root, "single_moves");
    size_t moves = 0;
    for (size_t i = 0; i < json_array_size(rows); i++)
        moves += check_single_position(json_array_get(rows, i));
    print_message("# %zu positions, %zu moves\n", json_array_size(rows), moves);
    assert_int_equal(json_array_size(rows), 16);
    assert_int_equal(moves, 28);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sowing_matches_carrying_seeds),
        cmocka_unit_test(every_rule_matches_the_reference),
        cmocka_unit_test(no_slam_is_called_impossible),
        cmocka_unit_test(all_six_houses_in_one_chain),
        cmocka_unit_test(positions_survive_the_round_trip),
        cmocka_unit_test(endings_are_told_apart),
        cmocka_unit_test(margins_and_unfed_sides),
        cmocka_unit_test(hashes_differ_by_one_seed_and_by_side),
        cmocka_unit_test(every_row_of_positions),
        cmocka_unit_test(every_single_move_of_site),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
