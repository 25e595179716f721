/* The rule of repeated pairs, as far as it knows experiments and games: where it holds, and what makes two
 * games the same. */
#ifndef KROO_COORDINATOR_REPEAT_GAME_H
#define KROO_COORDINATOR_REPEAT_GAME_H

#include "coordinator/repeat.h"
#include "engine/play.h"
#include "sql/store.h"

/* Versions of the rule, as `experiment.repeat_rule` has them. */
enum { REPEAT_RULE_NONE = 0, REPEAT_RULE_BY_GAMES = 1 };

/* Decided once, when an experiment is made, by what was asked for (and by the signature that each engine was
 * added with): a match whose players are both deterministic. They are limited by nodes or depth alone, play
 * without noise, and are the built-in engine or a program that answered fixed positions alike when it was
 * added. */
uint32_t repeat_game_rule(const struct store_experiment *experiment);

struct repeat_game;
/* `setup` (borrowed): where the games' openings end; NULL: not known, and games count as the same from their
 * first move on. NULL without memory. */
struct repeat_game *repeat_game_create(const struct rules *rules, const struct play_setup *setup);
void repeat_game_destroy(struct repeat_game *games); /* takes NULL */

/* The first 16 bytes of the sha256 of: leg, position after the opening of the pair, result, reason, and the
 * moves from there. */
struct repeat_key repeat_game_key(struct repeat_game *games, uint64_t pair, unsigned leg, const char *moves,
                                  const char *result, const char *reason);

#endif
