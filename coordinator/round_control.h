/* What a verb does to an experiment, in the writer's transaction: the state in the database decides
 * (control.h), the event log says who did it, and what the coordinator remembers follows only once COMMIT has
 * returned. Used by round.c alone. */
#ifndef KROO_COORDINATOR_ROUND_CONTROL_H
#define KROO_COORDINATOR_ROUND_CONTROL_H

#include "coordinator/round.h"

enum { ROUND_PENDING_MAX = 64 /* experiments of one submitter that wait for approval */ };

/* job->control.step says what came of it; REFUSED with a sentence in job->text. */
enum store_error round_control(struct round *round, struct job *job);
/* The same for one experiment: control->step says what came of it; REFUSED with a sentence in `text`. */
enum store_error round_control_one(struct round *round, struct job_control *control, char text[STORE_TEXT]);
/* After COMMIT, or with `committed` false after a failure. */
void round_control_end(struct round *round, const struct job *job, bool committed);
/* An experiment that was just made waits for approval if its submitter needs one. */
enum store_error round_pend(struct round *round, struct job *job);

#endif
