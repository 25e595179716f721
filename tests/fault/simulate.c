/* Many invented clusters, one after the other; a seed that fails is printed and fails again.
 *
 *   build/fault/simulate [--seed N] [--runs N] [--workers N] [--seconds N] [--verbose]
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/progress.h"
#include "tests/fault/simulation.h"

struct wanted {
    uint64_t seed, runs, workers, seconds;
    bool verbose;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct wanted *wanted = state->input;
    uint64_t number = argument ? strtoull(argument, NULL, 10) : 0;
    switch (key) {
    case 's':
        wanted->seed = number;
        return 0;
    case 'r':
        wanted->runs = number;
        return 0;
    case 'w':
        wanted->workers = number;
        return 0;
    case 't':
        wanted->seconds = number;
        return 0;
    case 'v':
        wanted->verbose = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* From twenty workers to ten thousand, small ones more often. */
static uint32_t workers_of(const struct wanted *wanted, uint64_t seed)
{
    static const uint32_t sizes[] = {20, 50, 150, 150, 500, 500, 1500, 10000};
    return wanted->workers ? (uint32_t)wanted->workers : sizes[seed % (sizeof sizes / sizeof *sizes)];
}

static void print(const struct simulation_plan *plan, const struct simulation_report *report)
{
    printf(
        "seed %llu workers %u restarts %llu: %llu events, %lld s (%lld s after the last fault), %llu games, "
        "%llu leases, %llu lapsed, %llu deaths, %llu hangs, %llu lost, %llu repeated, %llu failed commits, "
        "%llu lost lease rows, %llu duplicates, %llu late, %llu twins, %llu lies, %llu disputes, %llu "
        "replaced, %llu audited, "
        "%llu reopened, %llu set aside\n",
        (unsigned long long)plan->seed, plan->workers, (unsigned long long)report->restarts,
        (unsigned long long)report->events, (long long)report->simulated_ms / 1000,
        (long long)report->ended_ms / 1000, (unsigned long long)report->games,
        (unsigned long long)report->leases, (unsigned long long)report->lapses,
        (unsigned long long)report->deaths, (unsigned long long)report->hangs,
        (unsigned long long)report->lost, (unsigned long long)report->repeated,
        (unsigned long long)report->failures, (unsigned long long)report->rows_lost,
        (unsigned long long)report->duplicates, (unsigned long long)report->late,
        (unsigned long long)report->twins, (unsigned long long)report->lies,
        (unsigned long long)report->disputes, (unsigned long long)report->replaced,
        (unsigned long long)report->audits, (unsigned long long)report->reopened,
        (unsigned long long)report->set_aside);
}

int main(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"seed", 's', "N", 0, "the first seed (1)", 0},
        {"runs", 'r', "N", 0, "how many seeds (1)", 0},
        {"workers", 'w', "N", 0, "20 to 10000, of every run (by the seed)", 0},
        {"seconds", 't', "N", 0, "begin no run after so long", 0},
        {"verbose", 'v', 0, 0, "a line a run", 0},
        {0},
    };
    struct wanted wanted = {.seed = 1, .runs = 1};
    struct argp argp = {options, parse, NULL, "Seeded simulation of a sick cluster.", NULL, NULL, NULL};
    argp_parse(&argp, argc, argv, 0, NULL, &wanted);
    int64_t started = progress_now_ms();
    uint64_t failed = 0, done = 0, events = 0;
    for (; done < wanted.runs; done++) {
        if (wanted.seconds && progress_now_ms() - started > (int64_t)wanted.seconds * 1000)
            break;
        uint64_t seed = wanted.seed + done;
        struct simulation_plan plan = {seed, workers_of(&wanted, seed), seed % 4 != 0};
        struct simulation_report report;
        simulate(&plan, &report);
        events += report.events;
        if (wanted.verbose)
            print(&plan, &report);
        if (report.failed) {
            failed++;
            printf("FAILED: build/fault/simulate --seed %llu --workers %u\n        %s\n",
                   (unsigned long long)seed, plan.workers, report.failure);
        }
        fflush(stdout);
    }
    printf("%llu runs, %llu failed, %llu events, %.1f s\n", (unsigned long long)done,
           (unsigned long long)failed, (unsigned long long)events,
           (double)(progress_now_ms() - started) / 1000);
    return failed > 0;
}
