/* The engine for the web page, compiled to WebAssembly: what web/static/engine.js calls. Numbers and
 * NUL-terminated text go in; JSON comes out, for a page that draws it. One struct kroo_player holds a game,
 * the weights and a search; nothing else is shared. One thread. */
#ifndef KROO_WEB_BRIDGE_H
#define KROO_WEB_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

struct kroo_player;

/* At the start position of `site`, with the built-in weights. NULL when memory is short. */
struct kroo_player *kroo_create(unsigned hash_kib);
void kroo_destroy(struct kroo_player *player);

/* What the last call answered: JSON where it returned 0, the reason as a sentence where it returned -1. Valid
 * until the next call. A call that returns -1 has changed nothing. */
const char *kroo_answer(const struct kroo_player *player);

/* Room for `size` bytes to write an argument to; the caller's, ended with kroo_free. */
void *kroo_alloc(size_t size);
void kroo_free(void *bytes);

/* Sets the game: rules as in rules_parse, a position in text form ("" for the usual start), letters played
 * from there. Answers with the whole line: an object with `rules`, their `terms`, `plies` (one entry for the
 * start and one after each move: [houses], [stores], side, legal houses of its own row as bits, quiet plies,
 * occurrences, whether the move was a grand slam), and `result`, `reason`, `houses`, `stores` at the end. */
int kroo_play(struct kroo_player *player, const char *rules, const char *start, const char *moves);

/* Weights out of an exported binary file; where they are of other rules than the game's, a game by theirs
 * begins. NULL for the built-in ones. Answers with their kind, rules and provenance. */
int kroo_use_weights(struct kroo_player *player, const uint8_t *bytes, size_t size);

/* Hundredths of a seed, of the game's position as it stands, without a search; the mover's view. */
int kroo_evaluate(struct kroo_player *player);

/* Forgets what was searched before. */
void kroo_forget(struct kroo_player *player);

/* Looks for the best move of the game. 0 means no limit, but there must be one of nodes, depth and time_ms; a
 * time makes the answer irreproducible. `lines` best moves, each with its line. Calls kroo_report for each
 * line of each depth, and answers with the last. */
int kroo_search(struct kroo_player *player, double nodes, int depth, int time_ms, int lines);

/* The move of a level (engine/level.h) for this game and seed, by what was not searched before. */
int kroo_choose(struct kroo_player *player, int level, double seed);

/* All levels: number, name or null, nodes a move, share of random moves in millionths. */
int kroo_levels(struct kroo_player *player);

/* Move sequences of a length from the game's position. */
int kroo_perft(struct kroo_player *player, int depth);

/* Provided by the page. */
void kroo_report(const char *json);

#endif
