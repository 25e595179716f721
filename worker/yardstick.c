#include "worker/yardstick.h"

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/clock.h"
#include "engine/game.h"
#include "engine/search.h"
#include "engine/weights.h"
#include "worker/measure.h"

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The same search each time; its time in microseconds, at least 1. */
static int64_t run(struct search *search, const struct game *game, const struct weights *weights)
{
    struct search_limits limits = {.nodes = YARDSTICK_NODES};
    struct search_info info;
    search_new_game(search);
    int64_t began_us = clock_now_us();
    search_run(search, game, weights, &limits, NULL, NULL, NULL, &info);
    int64_t took_us = clock_now_us() - began_us;
    return took_us > 1 ? took_us : 1;
}

static uint32_t millionths(double share)
{
    return share <= 0 ? 0 : share >= 4000 ? 4000000000u : (uint32_t)(share * 1e6);
}

static int cores_allowed(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? count : 1;
}

static int64_t used_us(int who)
{
    struct rusage usage;
    if (getrusage(who, &usage) != 0)
        return 0;
    return (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
           usage.ru_stime.tv_usec;
}

int64_t yardstick_cpu_us(void)
{
    return used_us(RUSAGE_SELF) + used_us(RUSAGE_CHILDREN);
}

struct yardstick yardstick_measure(double own_cores)
{
    struct yardstick yardstick = {0};
    struct rules rules;
    char reason[256];
    int64_t times[YARDSTICK_RUNS];
    double load;
    bool known = rules_parse("site", &rules, reason, sizeof reason) == 0;
    struct search *search = search_create(SEARCH_HASH_KIB);
    struct weights *weights = known ? weights_create_starting("site") : NULL;
    struct game *game = known ? game_create(&rules, NULL) : NULL;
    if (getloadavg(&load, 1) == 1)
        yardstick.load_ppm = measure_others_ppm(load, own_cores, cores_allowed());
    if (search != NULL && weights != NULL && game != NULL) {
        for (int i = 0; i < YARDSTICK_RUNS; i++)
            times[i] = run(search, game, weights);
        qsort(times, YARDSTICK_RUNS, sizeof *times, by_time);
        double median = (double)times[YARDSTICK_RUNS / 2];
        yardstick.speed = (uint32_t)(YARDSTICK_NODES * 1e6 / median);
        yardstick.spread_ppm = millionths((double)(times[YARDSTICK_RUNS - 2] - times[1]) / median);
    }
    game_destroy(game);
    weights_destroy(weights);
    search_destroy(search);
    return yardstick;
}

/* A name in the abstract name space is taken by the first who binds it and free again when he ends, whatever
 * his end.
 */
static int claim(int core)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int size = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "kroo-worker-core-%d", core);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&address,
                        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size)) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

unsigned yardstick_claim_cores(unsigned slots, int cores[YARDSTICK_CORES_MAX])
{
    int claims[YARDSTICK_CORES_MAX];
    unsigned count = 0;
    cpu_set_t set;
    if (slots > YARDSTICK_CORES_MAX || sched_getaffinity(0, sizeof set, &set) != 0)
        return 0;
    for (int core = 0; core < CPU_SETSIZE && count < slots; core++) {
        if (!CPU_ISSET((unsigned)core, &set) || (claims[count] = claim(core)) < 0)
            continue;
        cores[count++] = core;
    }
    if (count == slots)
        return slots;
    while (count > 0)
        close(claims[--count]);
    return 0;
}
