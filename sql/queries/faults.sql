-- faults [ID]: games that a player ended by its fault, the newest hundred, of all experiments or of one
select experiment_id as experiment, pair_no as pair, leg, reason, side, plies, is_stored, worker, session_id as session, at,
    moves
from kroo.player_fault where $1::bigint is null or experiment_id = $1::bigint order by at desc, experiment_id, pair_no, leg
limit 100
