-- Prints sql/SCHEMA.md, every table and view with its columns and every function, from the comments in the database.
with named (relname, place) as (
    select * from unnest(array['experiment', 'experiment_counter', 'game', 'verdict', 'dispute', 'dispute_run', 'lease',
        'session', 'event', 'player', 'engine_build', 'engine', 'endgame_table', 'artifact', 'weights', 'training_run', 'promotion', 'rule_set',
        'peer', 'migration', 'experiment_progress', 'experiment_verdict', 'experiment_counted', 'game_counted',
        'first_move_score', 'endings_by_reason', 'game_length', 'champion', 'weights_lineage', 'worker_session',
        'counter_difference', 'dispute_leg', 'weights_provenance', 'learning_loop', 'generation',
        'learning_curve', 'tournament', 'tournament_player', 'tournament_pairing', 'preset', 'tournament_progress',
        'tournament_score', 'progression',
        'game_length_histogram', 'opening_score', 'opening_pairs', 'pair_score', 'opening_count', 'opening_pair_count', 'session_game_count',
        'worker_health', 'champion_history', 'game_unrolled', 'ending_rollup',
        'length_rollup', 'opening_rollup', 'pair_rollup', 'session_rollup', 'captures_by_ply', 'capture_rollup', 'capture_due']) with ordinality
), relation as (
    select c.oid, c.relname::text, c.relkind = 'v' as is_view, obj_description(c.oid, 'pg_class') as remark, n.place
    from pg_class c left join named n on n.relname = c.relname
    where c.relnamespace = 'kroo'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition
), line (is_view, place, relname, number, text) as (
    select v, 0, '', 0, case when v then E'## Views: the public interface\n' else E'## Tables\n' end
    from unnest(array[true, false]) v
    union all
    select is_view, place, relname, 0, format(E'### %s\n\n%s\n', relname, remark) || case when relname = 'game_counted'
        then E'\nIts columns are those of `game`.\n' else E'\n| column | type | |\n|---|---|---|' end
    from relation
    union all
    select r.is_view, r.place, r.relname, a.attnum, format('| `%s` | %s | %s |', a.attname,
        format_type(a.atttypid, a.atttypmod), replace(col_description(r.oid, a.attnum), '|', '\|'))
    from relation r join pg_attribute a on a.attrelid = r.oid
    where a.attnum > 0 and not a.attisdropped and r.relname <> 'game_counted'
    union all
    select is_view, place, relname, 9999, '' from relation where relname <> 'game_counted'
), functions as (
    select string_agg(format(E'### %s(%s)\n\n%s\n', proname, pg_get_function_identity_arguments(p.oid),
        obj_description(p.oid, 'pg_proc')), E'\n' order by proname) as text
    from pg_proc p
    where pronamespace = 'kroo'::regnamespace and prorettype <> 'trigger'::regtype
)
select text from (
    select 0 as part, null::boolean as is_view, null::bigint as place, null::text as relname, null::integer as number,
        E'# What the schema holds\n\nWritten by `sh tests/sql/run.sh --document` from the comments in the database; how it works is in\n'
            '[README.md](README.md). Views are the public interface; tables are there to be read too.\n' as text
    union all select 1 as part, is_view, place, relname, number, text from line
    union all select 2, null, null, null, null, E'## Functions\n\n' || text from functions
) x order by part, is_view, place nulls last, relname, number;
