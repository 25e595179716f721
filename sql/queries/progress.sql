-- progress: the experiments, newest first: state, pairs, wins, draws and losses of player a, verdict
select id, kind, state, coalesce(counted_pairs, prefix_pairs) as pairs, planned_pairs as planned, wins, draws, losses,
    round(llr::numeric, 3) as llr, verdict, open_disputes, updated_at
from kroo.experiment_progress order by id desc limit 1000
