#include "coordinator/cli/standing.h"

#include <stdio.h>

#include "coordinator/cli/connect.h"

static const char standing_sql[] =
    "select what, text, to_char(at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') as at from ("
    " select 'withdrawn' as what, format('%s; `kroo resume %s` has others play these pairs, and it goes on',"
    "  reason, experiment_id) as text, withdrawn_at as at"
    " from kroo.verdict_withdrawn where experiment_id = $1::bigint"
    " union all select 'before', format('%s over %s pairs, withdrawn: %s; resumed by %s', verdict, "
    "counted_pairs,"
    "  withdrawn_reason, resumed_by), resumed_at from kroo.verdict_past where experiment_id = $1::bigint"
    " union all select 'divergent', format('%s disputed pairs are played differently by %s: %s; nobody is "
    "charged', count(*), trait, sides), max(found_at) from kroo.divergence where experiment_id = $1::bigint"
    " group by trait, sides) said order by at, what";

int standing_read(struct store *store, uint64_t experiment, struct store_table *standing)
{
    return connect_query_of(store, standing_sql, experiment, standing);
}

void standing_print_lines(const struct store_table *standing)
{
    for (size_t i = 0; i < standing->rows; i++)
        printf("  %-11s %s\n", store_cell(standing, i, 0), store_cell(standing, i, 1));
}
