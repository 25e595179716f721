#include "coordinator/withdraw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/ledger.h"
#include "sql/store_flag.h"
#include "sql/store_repeat.h"

struct judging {
    struct ledger *ledger;
    uint64_t pair; /* being read */
    unsigned legs;
    unsigned points[2];
    struct repeat_key keys[2];
    uint64_t pairs; /* that remain */
    bool failed;
};

/* What remains is counted as if it were all: the pairs are numbered anew. */
static void close_pair(struct judging *judging)
{
    if (judging->legs == 3) {
        for (unsigned leg = 0; leg < 2; leg++)
            judging->failed = tally_add_game(judging->ledger->tally, judging->pairs, leg,
                                             judging->points[leg], &judging->keys[leg]) < 0 ||
                              judging->failed;
        judging->pairs++;
    }
    judging->legs = 0;
}

static void take_standing(void *context, const struct store_game *game)
{
    struct judging *judging = context;
    if (game->pair != judging->pair)
        close_pair(judging);
    judging->pair = game->pair;
    if (game->leg > 1)
        return;
    judging->legs |= 1u << game->leg;
    judging->points[game->leg] = game->a_half_points;
    judging->keys[game->leg] = ledger_key(judging->ledger, game);
}

/* A ledger of the experiment that has counted nothing yet. */
static enum store_error begin(struct store *store, const struct store_experiment *experiment,
                              struct ledger **out)
{
    char text[STORE_TEXT];
    struct ledger *ledger = ledger_create(experiment);
    enum store_error error = STORE_OK;
    if (ledger && experiment->repeat_rule != REPEAT_RULE_NONE)
        error = terms_load(store, experiment, &ledger->terms, text);
    if (error == STORE_ERROR_REFUSED) /* what is missing is told where it matters more */
        error = STORE_OK;
    if (error == STORE_OK && (!ledger || ledger_tell_repeats(ledger) != 0))
        error = STORE_ERROR_MEMORY;
    if (error != STORE_OK) {
        ledger_destroy(ledger);
        ledger = NULL;
    }
    *out = ledger;
    return error;
}

static enum store_error outvoted_games(struct store *store, uint64_t experiment, uint64_t *games)
{
    char text[24];
    const char *parameters[] = {text};
    struct store_table row;
    snprintf(text, sizeof text, "%llu", (unsigned long long)experiment);
    enum store_error error = store_query(
        store, "select count(*) from kroo.verdict_standing where experiment_id = $1::bigint and is_outvoted",
        parameters, 1, &row);
    if (error != STORE_OK)
        return error;
    *games = strtoull(store_cell(&row, 0, 0), NULL, 10);
    store_table_done(&row);
    return STORE_OK;
}

static bool is_by_test(const char *verdict)
{
    return strcmp(verdict, "accepted") == 0 || strcmp(verdict, "rejected") == 0;
}

enum store_error withdraw_judge(struct store *store, const struct store_experiment *experiment,
                                const char *verdict, uint64_t counted, bool *changes, char reason[STORE_TEXT])
{
    uint64_t outvoted = 0;
    bool tested = experiment->has_sprt;
    *changes = false;
    if (experiment->kind != STORE_MATCH || strcmp(verdict, "aborted") == 0)
        return STORE_OK;
    struct judging judging = {0};
    enum store_error error = begin(store, experiment, &judging.ledger);
    if (error != STORE_OK)
        return error;
    error = store_played_verdict(store, experiment->id, take_standing, &judging);
    close_pair(&judging);
    if (error == STORE_OK)
        error = judging.failed ? STORE_ERROR_DATA : outvoted_games(store, experiment->id, &outvoted);
    const char *now = tally_decision_name(tally_decision(judging.ledger->tally));
    bool moved = judging.pairs != counted || outvoted > 0;
    *changes = error == STORE_OK && moved &&
               (is_by_test(verdict) || is_by_test(now) ? strcmp(verdict, now) != 0 : !tested);
    snprintf(reason, STORE_TEXT,
             "%llu of its %llu pairs were played by workers that are set aside, %llu games are others by the "
             "word of two workers; what remains makes it %s, not %s",
             (unsigned long long)(counted - judging.pairs), (unsigned long long)counted,
             (unsigned long long)outvoted, is_by_test(now) ? now : "undecided", verdict);
    if (!is_by_test(verdict))
        snprintf(reason + strlen(reason), STORE_TEXT - strlen(reason), "; its figures rest on them");
    ledger_destroy(judging.ledger);
    return error;
}
