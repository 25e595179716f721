/* A few threads that run the same job together, for the builder of endgame tables. One caller; a team is
 * used by one thread at a time. */
#ifndef KROO_ENGINE_TEAM_H
#define KROO_ENGINE_TEAM_H

enum { TEAM_MAX = 64 };

struct team;

typedef void team_job(void *context, int member);

/* `threads` from 1 to TEAM_MAX, the caller included. NULL when memory or threads are short. */
struct team *team_create(int threads);
void team_destroy(struct team *team);
int team_size(const struct team *team);

/* Calls job(context, m) once for each member m = 0 .. size - 1 at the same time (0 is the caller) and returns
 * when all are done. What happened before is visible to the job, and the job's writes to the caller. */
void team_run(struct team *team, team_job *job, void *context);

#endif
