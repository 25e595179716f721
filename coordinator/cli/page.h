/* What `kroo` alone and `kroo watch` show of a glance, section by section. One thread. */
#ifndef KROO_COORDINATOR_CLI_PAGE_H
#define KROO_COORDINATOR_CLI_PAGE_H

#include <stdio.h>

#include "coordinator/cli/glance.h"

/* Database, coordinator and workers, a line each. */
void page_print_standing(FILE *out, const struct glance *glance);
/* Whether the one or the other is away, blocked, disputed, or waits for a person: a line each. */
void page_print_attention(FILE *out, const struct glance *glance);
/* The experiments that have not ended; nothing when there are none. */
void page_print_open(FILE *out, const struct glance *glance);
/* A line each: who plays, and why others do not. */
void page_print_workers(FILE *out, const struct glance *glance);
void page_print_verdicts(FILE *out, const struct glance *glance);
void page_print_champions(FILE *out, const struct glance *glance);
void page_print_events(FILE *out, const struct glance *glance);

/* Games a second that the workers deliver; how many workers there are, and how many of them play. */
double page_games_per_second(const struct glance *glance, size_t *workers, size_t *playing);
/* `####....`: a share of 0 to 1 in so many letters and a NUL. */
enum { PAGE_BAR = 11 };
void page_bar(double share, char *bar, size_t letters);
/* Of an object's member: its text, "" when there is none; its number, 0 when there is none. */
const char *page_text(const json_t *object, const char *name);
double page_number(const json_t *object, const char *name);

#endif
