/* A player that is another program: one process for a slot's seat, started afresh for each game (DESIGN
 * section 7). Used by one play thread, which must live as long as the process. */
#ifndef KROO_WORKER_PROCESS_H
#define KROO_WORKER_PROCESS_H

#include "engine/play.h"
#include "proto/dialect.h"

struct process;

/* NULL when memory is short. Nothing is started yet. */
struct process *process_create(void);
void process_destroy(struct process *process);
/* Ends the program, if one runs. */
void process_end(struct process *process);

/* What sits down next; without a limit of time it may be silent for `move_ms`. `engine` and all of `setup`
 * must live until the next call of this function. */
void process_seat(struct process *process, const char *engine, const struct dialect_setup *setup,
                  const struct dialect_limits *limits, int move_ms);
/* For play_seats_use; lives as long as `process`. */
const struct play_mover *process_mover(const struct process *process);
/* What went wrong last, in a sentence; "" when nothing did. */
const char *process_reason(const struct process *process);

#endif
