-- verdicts: the verdicts, newest first, with pair counts and estimates
select experiment_id as experiment, verdict, counted_pairs as pairs, ll, ld, dd, wl, dw, ww, round(llr::numeric, 3) as llr,
    round(elo::numeric, 1) as elo, round(elo_lo::numeric, 1) as elo_lo, round(elo_hi::numeric, 1) as elo_hi,
    round(los::numeric, 4) as los, written_at
from kroo.experiment_verdict order by written_at desc, experiment_id desc limit 1000
