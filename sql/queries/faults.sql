-- faults [ID]: what the programs of players did wrong, the newest hundred, of all experiments or of one
select id, experiment_id as experiment, pair_no as pair, leg, kind, side, engine, ply, worker, recorded_at, why
from kroo.fault_report where $1::bigint is null or experiment_id = $1::bigint order by id desc limit 100
