#include "eval/perfect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/tables_build.h"

/* NULL where the rules have none, or the disk no room for 250 kB. */
static struct tables *build_small(const struct rules *rules)
{
    const char *base = getenv("TMPDIR");
    char folder[256], path[288];
    struct tables *tables = NULL;
    if ((size_t)snprintf(folder, sizeof folder, "%s/kroo-train.XXXXXX", base && *base ? base : "/tmp") >=
            sizeof folder ||
        !mkdtemp(folder))
        return NULL;
    snprintf(path, sizeof path, "%s/small.tables", folder);
    if (tables_build(rules, PERFECT_SEEDS, 1, path, NULL, NULL) == TABLES_OK &&
        tables_open(path, rules, &tables) != TABLES_OK)
        tables = NULL;
    unlink(path); /* it stays mapped */
    rmdir(folder);
    return tables;
}

void perfect_judge(const struct rules *rules, const struct tables *given, const struct weights *own,
                   const struct weights *parent, const struct rows *rows, struct perfect *out)
{
    struct tables *built = given ? NULL : build_small(rules);
    const struct tables *tables = built ? built : given;
    memset(out, 0, sizeof *out);
    if (tables) {
        out->seeds = tables->seeds;
        endgame_judge(tables, own, rows, &out->own);
        endgame_judge(tables, parent, rows, &out->parent);
    }
    tables_close(built);
}

json_t *perfect_figures(const struct endgame *endgame)
{
    return json_pack("{s:I, s:I, s:f, s:I, s:I}", "positions", (json_int_t)endgame->positions, "best",
                     (json_int_t)endgame->best, "given_away", endgame->given_away, "outcomes",
                     (json_int_t)endgame->outcomes, "agreed", (json_int_t)endgame->agreed);
}

json_t *perfect_json(const struct perfect *perfect)
{
    if (perfect->seeds == 0)
        return NULL;
    return json_pack("{s:i, s:o, s:o}", "seeds", perfect->seeds, "own", perfect_figures(&perfect->own),
                     "parent", perfect_figures(&perfect->parent));
}
