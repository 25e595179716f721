-- pairs-by-opening ID [PREFIX]: pair counts by opening, at most four plies of it, most pairs first
select opening, pairs, ll, ld, dd, wl, dw, ww, a_score
from kroo.opening_pairs where experiment_id = $1::bigint and opening ^@ coalesce($2::text, '')
order by pairs desc, opening
