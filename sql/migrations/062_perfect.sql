-- What the page about weights shows: how near to perfect play a fit came, and a weights file with all that goes with it.

set local role kroo_owner;
set local search_path = kroo, pg_temp;

alter table training_run add column perfect jsonb;
comment on column training_run.perfect is
    'The new weights (own) and those before (parent) held against endgame tables of so many seeds, on the validation positions that these know, by a look one ply deep: positions with a choice, best moves, seeds given away a move, positions with a winner, of these the ones where the score names it. null = not measured.';

create view weights_export as
select w.number as weights, w.name, encode(w.sha256, 'hex') as sha256, w.rules, encode(a.content, 'hex') as content,
    (select json_agg(l order by l.distance) from (
        select distance, ancestor as number, encode(ancestor_sha256, 'hex') as ancestor_sha256, ancestor_name as name,
            training_run_id as training_run, training_games as games
        from weights_lineage where weights = w.number order by distance limit 1000) l) as lineage,
    (select row_to_json(t) from (
        select id as training_run, trainer_build, games, positions, rows_merged, lambda, ridge, scale, seed::text as seed,
            threads, core_type, encode(data_sha256, 'hex') as data_sha256, validation_loss_before,
            validation_loss_after, validation_gain_se, manifest
        from training_run where id = w.training_run_id) t) as training,
    (select json_agg(p order by p.epoch) from (
        select p.id as epoch, p.line, p.experiment_id as experiment, v.verdict,
            v.counted_pairs - v.repeated_pairs as pairs, v.elo, v.elo_lo, v.elo_hi, v.llr, v.sprt_model as model,
            v.elo0, v.elo1, p.by, p.reason,
            to_char(p.promoted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as promoted_at
        from promotion p left join verdict v on v.experiment_id = p.experiment_id
        where p.weights_sha256 = w.sha256 order by p.id limit 1000) p) as proof
from weights w join artifact a on a.sha256 = w.sha256;
comment on view weights_export is 'Weights with what an export says of them besides: coordinator/README.md has the fields.';
comment on column weights_export.weights is 'Number of the weights.';
comment on column weights_export.name is 'Their name.';
comment on column weights_export.sha256 is 'Their hash, in hexadecimal digits.';
comment on column weights_export.rules is 'Canonical text of the rule set they were made for.';
comment on column weights_export.content is 'The file, in hexadecimal digits.';
comment on column weights_export.lineage is 'The ancestors, themselves first, as an array of objects.';
comment on column weights_export.training is 'The fit that made them; null = brought from elsewhere.';
comment on column weights_export.proof is 'The promotions with the verdicts behind them, an array of objects; null = none.';
grant select on weights_export to kroo_coordinator, kroo_trainer, kroo_reader;
