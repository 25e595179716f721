#include "coordinator/tally.h"

#include <stdlib.h>
#include <string.h>

/* A pair beyond the prefix: each leg's score plus one in two bits (0 = not there), the hold, and whether a
 * leg came without its key. */
enum { CELL_LEG_BITS = 2, CELL_LEG_MASK = 3, CELL_HELD = 16, CELL_UNKEYED = 32, CELLS_FIRST = 64 };

struct tally {
    uint64_t planned, window;
    uint64_t reached; /* pairs below it are within, whatever the window says */
    bool tested;
    struct sprt_test test;
    struct sprt_state sprt;
    int64_t batch[STATISTICS_PAIR_BINS]; /* counted, not evaluated yet */
    uint32_t batch_pairs;
    struct tally_totals totals;
    enum tally_decision decision;
    uint64_t decided_at;
    uint64_t beyond; /* games in the cells */
    uint8_t *cells;  /* owned; pair p at p & (capacity - 1), for prefix <= p < prefix + capacity */
    uint64_t capacity;
    bool tells_repeats;
    struct repeat_key *keys;  /* owned; beside the cells, of the legs that are there; NULL: none told */
    struct repeat_view known; /* of the pairs that count */
    uint64_t run;             /* repeats in a row */
    bool used_up;
    struct tally_repeat *repeats; /* owned; since creation or cloning */
    size_t repeats_count, repeats_room;
};

const char *tally_decision_name(enum tally_decision decision)
{
    static const char *const names[] = {"", "accepted", "rejected", "undecided"};
    return names[decision];
}

const char *tally_answer_text(enum tally_answer answer)
{
    switch (answer) {
    case TALLY_ADDED:
        return "added";
    case TALLY_COUNTED:
        return "counted";
    case TALLY_LATE:
        return "beyond the deciding pair: kept, not counted";
    case TALLY_DUPLICATE:
        return "there already";
    case TALLY_OUT_OF_RANGE:
        return "no such pair, leg or score in this experiment";
    case TALLY_BEYOND:
        return "too far beyond the pairs that are counted";
    case TALLY_MEMORY:
        return "out of memory";
    }
    return "";
}

struct tally *tally_create(uint64_t planned, uint64_t window, const struct sprt_test *test)
{
    char reason[SPRT_REASON_MAX];
    if (planned < 1 || planned > TALLY_PAIRS_MAX || window < 1 || window > TALLY_WINDOW_MAX ||
        (test && !sprt_validate(test, false, reason)))
        return NULL;
    struct tally *tally = calloc(1, sizeof *tally);
    if (!tally)
        return NULL;
    tally->planned = planned;
    tally->window = window;
    if (test) {
        tally->tested = true;
        tally->test = *test;
        sprt_init(&tally->sprt, test, STATISTICS_PAIR_BINS);
    }
    return tally;
}

struct tally *tally_clone(const struct tally *tally)
{
    struct tally *clone = malloc(sizeof *clone);
    if (!clone)
        return NULL;
    *clone = *tally;
    if (tally->capacity) {
        size_t count = (size_t)tally->capacity;
        clone->cells = malloc(count);
        clone->keys = tally->keys ? malloc(count * sizeof *clone->keys) : NULL;
        if (!clone->cells || (tally->keys && !clone->keys)) {
            free(clone->cells);
            free(clone->keys);
            free(clone);
            return NULL;
        }
        memcpy(clone->cells, tally->cells, count);
        if (tally->keys)
            memcpy(clone->keys, tally->keys, count * sizeof *clone->keys);
    }
    clone->known = repeat_view_share(&tally->known);
    clone->repeats = NULL;
    clone->repeats_count = clone->repeats_room = 0;
    return clone;
}

void tally_swap(struct tally *one, struct tally *other)
{
    struct tally kept = *one;
    *one = *other;
    *other = kept;
}

void tally_destroy(struct tally *tally)
{
    if (!tally)
        return;
    free(tally->cells);
    free(tally->keys);
    repeat_view_release(&tally->known);
    free(tally->repeats);
    free(tally);
}

void tally_tell_repeats(struct tally *tally)
{
    tally->tells_repeats = true;
}

/* Makes the cell of a pair within the window exist. */
static bool cells_reach(struct tally *tally, uint64_t pair)
{
    uint64_t prefix = tally->totals.pairs, capacity = tally->capacity ? tally->capacity : CELLS_FIRST;
    while (pair - prefix >= capacity)
        capacity *= 2;
    if (capacity == tally->capacity)
        return true;
    uint8_t *cells = calloc((size_t)capacity, 1);
    struct repeat_key *keys = tally->tells_repeats ? calloc((size_t)capacity, sizeof *keys) : NULL;
    if (!cells || (tally->tells_repeats && !keys)) {
        free(cells);
        free(keys);
        return false;
    }
    for (uint64_t p = prefix; p < prefix + tally->capacity; p++) {
        cells[p & (capacity - 1)] = tally->cells[p & (tally->capacity - 1)];
        if (keys)
            keys[p & (capacity - 1)] = tally->keys[p & (tally->capacity - 1)];
    }
    free(tally->cells);
    free(tally->keys);
    tally->cells = cells;
    tally->keys = keys;
    tally->capacity = capacity;
    return true;
}

static uint8_t cell_at(const struct tally *tally, uint64_t pair)
{
    bool there = pair >= tally->totals.pairs && pair - tally->totals.pairs < tally->capacity;
    return there ? tally->cells[pair & (tally->capacity - 1)] : 0;
}

static unsigned cell_leg(uint8_t cell, unsigned leg)
{
    return (cell >> leg * CELL_LEG_BITS) & CELL_LEG_MASK;
}

static bool cell_complete(uint8_t cell)
{
    return cell_leg(cell, 0) && cell_leg(cell, 1);
}

static bool within(const struct tally *tally, uint64_t pair)
{
    uint64_t prefix = tally->totals.pairs;
    return pair >= prefix && pair < tally->planned &&
           (pair - prefix < tally->window || pair < tally->reached);
}

int tally_reach(struct tally *tally, uint64_t pair)
{
    if (pair < tally->totals.pairs || pair >= tally->planned || within(tally, pair))
        return 0;
    if (!cells_reach(tally, pair))
        return -1;
    tally->reached = pair + 1;
    return 0;
}

static void evaluate(struct tally *tally, enum statistics_pair class)
{
    tally->batch[statistics_pair_bin(class)]++;
    if (++tally->batch_pairs < tally->test.batch)
        return;
    enum sprt_status status = sprt_feed(&tally->sprt, &tally->test, tally->batch);
    memset(tally->batch, 0, sizeof tally->batch);
    tally->batch_pairs = 0;
    if (status != SPRT_OPEN)
        tally->decision = status == SPRT_ACCEPTED ? TALLY_ACCEPTED : TALLY_REJECTED;
}

/* Room for everything that the prefix may take in: it may reach over all that is there. */
static bool reserve(struct tally *tally)
{
    size_t pairs = (size_t)(tally->beyond / 2 + 1), room = tally->repeats_count + pairs;
    if (!tally->tells_repeats)
        return true;
    if (room > tally->repeats_room) {
        struct tally_repeat *larger = realloc(tally->repeats, 2 * room * sizeof *larger);
        if (!larger)
            return false;
        tally->repeats = larger;
        tally->repeats_room = 2 * room;
    }
    return repeat_view_reserve(&tally->known, pairs);
}

/* Is the pair at the end of the prefix a repeat? Then it is noted, otherwise its games are remembered. */
static bool is_repeat(struct tally *tally, uint8_t cell, struct repeat_key key)
{
    uint64_t pair = tally->totals.pairs, first;
    if (!tally->tells_repeats || (cell & CELL_UNKEYED))
        return false;
    if (!repeat_view_find(&tally->known, key, &first)) {
        repeat_view_add(&tally->known, key, pair);
        return false;
    }
    tally->repeats[tally->repeats_count++] = (struct tally_repeat){pair, first};
    return true;
}

static void pass_over(struct tally *tally)
{
    tally->totals.repeated++;
    tally->run++;
    tally->used_up =
        tally->tested && tally->run >= repeat_limit(tally->totals.pairs + 1 - tally->totals.repeated);
    if (tally->used_up)
        tally->decision = TALLY_UNDECIDED;
}

static void count_scores(struct tally *tally, unsigned score0, unsigned score1)
{
    enum statistics_pair class = statistics_pair_class(score0, score1);
    struct tally_totals *totals = &tally->totals;
    tally->run = 0;
    totals->counts[class]++;
    for (unsigned leg = 0; leg < 2; leg++) {
        unsigned score = leg ? score1 : score0;
        totals->wins += score == 2;
        totals->draws += score == 1;
        totals->losses += score == 0;
    }
    if (tally->tested)
        evaluate(tally, class);
}

static void take_pair(struct tally *tally, uint8_t cell, struct repeat_key key)
{
    if (is_repeat(tally, cell, key))
        pass_over(tally);
    else
        count_scores(tally, cell_leg(cell, 0) - 1, cell_leg(cell, 1) - 1);
    tally->totals.pairs++;
    if (tally->decision == TALLY_NONE && tally->totals.pairs == tally->planned)
        tally->decision = TALLY_UNDECIDED;
    if (tally->decision != TALLY_NONE)
        tally->decided_at = tally->totals.pairs - 1;
}

static void cell_clear(struct tally *tally, uint64_t pair)
{
    uint64_t at = pair & (tally->capacity - 1);
    tally->cells[at] = 0;
    if (tally->keys)
        tally->keys[at] = (struct repeat_key){{0, 0}};
}

/* Counts every pair that the prefix can take in now. */
static bool advance(struct tally *tally)
{
    bool moved = false;
    while (tally->decision == TALLY_NONE) {
        uint64_t pair = tally->totals.pairs;
        uint8_t cell = cell_at(tally, pair);
        if (!cell_complete(cell) || (cell & CELL_HELD))
            break;
        struct repeat_key key = {{0, 0}};
        if (tally->keys)
            key = tally->keys[pair & (tally->capacity - 1)];
        cell_clear(tally, pair);
        tally->beyond -= 2;
        take_pair(tally, cell, key);
        moved = true;
    }
    return moved;
}

enum tally_answer tally_add(struct tally *tally, uint64_t pair, unsigned leg, unsigned score)
{
    return tally_add_game(tally, pair, leg, score, NULL);
}

static void cell_take(struct tally *tally, uint64_t pair, unsigned leg, unsigned score,
                      const struct repeat_key *key)
{
    uint64_t at = pair & (tally->capacity - 1);
    tally->cells[at] |= (uint8_t)((score + 1) << leg * CELL_LEG_BITS);
    if (!tally->tells_repeats)
        return;
    if (key)
        tally->keys[at] = repeat_key_join(tally->keys[at], *key);
    else
        tally->cells[at] |= CELL_UNKEYED;
}

enum tally_answer tally_add_game(struct tally *tally, uint64_t pair, unsigned leg, unsigned score,
                                 const struct repeat_key *key)
{
    if (pair >= tally->planned || leg > 1 || score > 2)
        return TALLY_OUT_OF_RANGE;
    if (tally_has(tally, pair, leg))
        return TALLY_DUPLICATE;
    if (!within(tally, pair))
        return TALLY_BEYOND;
    if (!cells_reach(tally, pair) || !reserve(tally))
        return TALLY_MEMORY;
    cell_take(tally, pair, leg, score, key);
    tally->beyond++;
    if (tally->decision != TALLY_NONE)
        return TALLY_LATE;
    return advance(tally) ? TALLY_COUNTED : TALLY_ADDED;
}

int tally_hold(struct tally *tally, uint64_t pair)
{
    if (!within(tally, pair))
        return -1;
    if (!cells_reach(tally, pair))
        return -2;
    tally->cells[pair & (tally->capacity - 1)] |= CELL_HELD;
    return 0;
}

int tally_settle(struct tally *tally, uint64_t pair, bool keep_results)
{
    uint8_t cell = cell_at(tally, pair);
    if (!(cell & CELL_HELD))
        return 0;
    if (!reserve(tally))
        return -1;
    if (keep_results) {
        tally->cells[pair & (tally->capacity - 1)] = cell & (uint8_t)~CELL_HELD;
    } else {
        tally->beyond -= (cell_leg(cell, 0) ? 1u : 0u) + (cell_leg(cell, 1) ? 1u : 0u);
        cell_clear(tally, pair);
    }
    advance(tally);
    return 1;
}

bool tally_is_held(const struct tally *tally, uint64_t pair)
{
    return cell_at(tally, pair) & CELL_HELD;
}

bool tally_pair_complete(const struct tally *tally, uint64_t pair)
{
    return pair < tally->totals.pairs || cell_complete(cell_at(tally, pair));
}

bool tally_has(const struct tally *tally, uint64_t pair, unsigned leg)
{
    return leg <= 1 && (pair < tally->totals.pairs || cell_leg(cell_at(tally, pair), leg));
}

const struct tally_totals *tally_totals(const struct tally *tally)
{
    return &tally->totals;
}

const struct sprt_state *tally_sprt(const struct tally *tally)
{
    return tally->tested ? &tally->sprt : NULL;
}

const struct sprt_test *tally_test(const struct tally *tally)
{
    return tally->tested ? &tally->test : NULL;
}

uint64_t tally_planned(const struct tally *tally)
{
    return tally->planned;
}

uint64_t tally_prefix(const struct tally *tally)
{
    return tally->totals.pairs;
}

enum tally_decision tally_decision(const struct tally *tally)
{
    return tally->decision;
}

uint64_t tally_decided_at(const struct tally *tally)
{
    return tally->decided_at;
}

bool tally_is_used_up(const struct tally *tally)
{
    return tally->used_up;
}

uint64_t tally_run(const struct tally *tally)
{
    return tally->run;
}

const struct tally_repeat *tally_repeats(const struct tally *tally, size_t *count)
{
    *count = tally->repeats_count;
    return tally->repeats;
}

uint64_t tally_beyond(const struct tally *tally)
{
    return tally->beyond;
}

bool tally_waits_for_dispute(const struct tally *tally)
{
    return tally->decision == TALLY_NONE && tally_is_held(tally, tally->totals.pairs);
}

/* Bit for bit: the same pairs in the same order give the same doubles. */
static bool sprt_equal(const struct tally *one, const struct tally *other)
{
    _Static_assert(sizeof(struct sprt_state) == 2 * sizeof(int) + (STATISTICS_PAIR_BINS + 10) * 8, "padding");
    if (one->tested != other->tested)
        return false;
    const struct sprt_test *a = &one->test, *b = &other->test;
    return a->model == b->model && a->batch == b->batch &&
           memcmp(&a->elo0, &b->elo0, 4 * sizeof(double)) == 0 &&
           memcmp(&one->sprt, &other->sprt, sizeof one->sprt) == 0;
}

static bool keys_equal(const struct tally *one, const struct tally *other, uint64_t pair)
{
    if (!one->tells_repeats || cell_at(one, pair) == 0)
        return true;
    return memcmp(&one->keys[pair & (one->capacity - 1)], &other->keys[pair & (other->capacity - 1)],
                  sizeof(struct repeat_key)) == 0;
}

bool tally_equal(const struct tally *one, const struct tally *other)
{
    if (one->planned != other->planned || one->window != other->window || !sprt_equal(one, other) ||
        memcmp(one->batch, other->batch, sizeof one->batch) != 0 || one->batch_pairs != other->batch_pairs ||
        memcmp(&one->totals, &other->totals, sizeof one->totals) != 0 || one->decision != other->decision ||
        one->decided_at != other->decided_at || one->beyond != other->beyond ||
        one->tells_repeats != other->tells_repeats || one->run != other->run ||
        one->used_up != other->used_up || !repeat_view_equal(&one->known, &other->known))
        return false;
    uint64_t prefix = one->totals.pairs;
    uint64_t longest = one->capacity > other->capacity ? one->capacity : other->capacity;
    for (uint64_t pair = prefix; pair < prefix + longest; pair++)
        if (cell_at(one, pair) != cell_at(other, pair) || !keys_equal(one, other, pair))
            return false;
    return true;
}
