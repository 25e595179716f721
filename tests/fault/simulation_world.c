#include <stdio.h>
#include <stdlib.h>

#include "engine/mix.h"
#include "tests/fault/simulation_parts.h"

_Noreturn void broken(struct world *w, const char *what, int line)
{
    w->report->failed = true;
    snprintf(w->report->failure, sizeof w->report->failure, "line %d at %lld ms, event %llu: %s", line,
             (long long)w->now, (unsigned long long)w->report->events, what);
    longjmp(w->out, 1);
}

void *enlarge(struct world *w, void *array, size_t size)
{
    void *larger = realloc(array, size);
    must(w, larger != NULL);
    return larger;
}

void *blank(struct world *w, size_t count, size_t size)
{
    void *memory = calloc(count, size);
    must(w, memory != NULL);
    return memory;
}

/* --- dice and the network --- */

uint32_t roll(struct world *w, uint32_t sides)
{
    return mix_below(mix(w->seed, w->dice++), sides);
}

bool sick(const struct world *w)
{
    return w->now < w->faults.until_ms;
}

bool percent(struct world *w, unsigned share)
{
    return sick(w) && roll(w, 100) < share;
}

bool event_earlier(const void *left, const void *right)
{
    const struct event *one = left, *other = right;
    return one->at != other->at ? one->at < other->at : one->order < other->order;
}

void push(struct world *w, struct event event, int64_t delay_ms)
{
    event.at = w->now + delay_ms;
    event.order = w->next_order++;
    must(w, heap_push(&w->heap, &event));
}

struct event pop(struct world *w)
{
    struct event first;
    heap_pop(&w->heap, &first);
    return first;
}

void post(struct world *w, struct event message)
{
    if (percent(w, w->faults.lost)) {
        w->report->lost++;
        return;
    }
    unsigned copies = percent(w, w->faults.repeated) ? 2 : 1;
    w->report->repeated += copies - 1;
    while (copies-- > 0) {
        bool slow = sick(w) && roll(w, w->faults.slow_one_in) == 0;
        push(w, message, slow ? 60000 : 1 + roll(w, sick(w) ? w->faults.delay_ms : 50));
    }
}
