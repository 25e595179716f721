/* What a verb does to a tournament as a whole, in one transaction of the writer: its own row, and each of its
 * matches that has not ended, by the same table as for one experiment (control.h). Used by round_control.c
 * alone.
 */
#ifndef KROO_COORDINATOR_ROUND_TOURNAMENT_H
#define KROO_COORDINATOR_ROUND_TOURNAMENT_H

#include "coordinator/round_control.h"

/* job->control.parts says what came of each match, and job->text of all; REFUSED with a sentence in
 * job->text.
 */
enum store_error round_tournament(struct round *round, struct job *job);

#endif
