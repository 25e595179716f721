#include "engine/team.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct member {
    struct team *team;
    int number;
    pthread_t thread;
};

struct team {
    int size;
    struct member members[TEAM_MAX]; /* the first is the caller */
    pthread_mutex_t lock;            /* guards what follows */
    pthread_cond_t called, done;
    unsigned long calls; /* jobs called so far */
    int busy;            /* members other than the caller still at the job */
    bool leaving;
    team_job *job;
    void *context;
};

static void *member_main(void *argument)
{
    struct member *member = argument;
    struct team *team = member->team;
    unsigned long seen = 0;
    pthread_mutex_lock(&team->lock);
    for (;;) {
        while (team->calls == seen && !team->leaving)
            pthread_cond_wait(&team->called, &team->lock);
        if (team->leaving)
            break;
        seen = team->calls;
        team_job *job = team->job;
        void *context = team->context;
        pthread_mutex_unlock(&team->lock);
        job(context, member->number);
        pthread_mutex_lock(&team->lock);
        if (--team->busy == 0)
            pthread_cond_signal(&team->done);
    }
    pthread_mutex_unlock(&team->lock);
    return NULL;
}

struct team *team_create(int threads)
{
    assert(threads >= 1 && threads <= TEAM_MAX);
    struct team *team = calloc(1, sizeof *team);
    if (team == NULL)
        return NULL;
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->called, NULL);
    pthread_cond_init(&team->done, NULL);
    for (team->size = 1; team->size < threads; team->size++) {
        struct member *member = &team->members[team->size];
        *member = (struct member){.team = team, .number = team->size};
        if (pthread_create(&member->thread, NULL, member_main, member) != 0) {
            team_destroy(team);
            return NULL;
        }
    }
    return team;
}

void team_destroy(struct team *team)
{
    if (team == NULL)
        return;
    pthread_mutex_lock(&team->lock);
    team->leaving = true;
    pthread_cond_broadcast(&team->called);
    pthread_mutex_unlock(&team->lock);
    for (int i = 1; i < team->size; i++)
        pthread_join(team->members[i].thread, NULL);
    pthread_cond_destroy(&team->done);
    pthread_cond_destroy(&team->called);
    pthread_mutex_destroy(&team->lock);
    free(team);
}

int team_size(const struct team *team)
{
    return team->size;
}

void team_run(struct team *team, team_job *job, void *context)
{
    if (team->size > 1) {
        pthread_mutex_lock(&team->lock);
        team->job = job;
        team->context = context;
        team->busy = team->size - 1;
        team->calls++;
        pthread_cond_broadcast(&team->called);
        pthread_mutex_unlock(&team->lock);
    }
    job(context, 0);
    if (team->size > 1) {
        pthread_mutex_lock(&team->lock);
        while (team->busy > 0)
            pthread_cond_wait(&team->done, &team->lock);
        pthread_mutex_unlock(&team->lock);
    }
}
