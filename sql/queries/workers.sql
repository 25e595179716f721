-- workers: each worker over all its sessions: leases, games, and what went wrong
select worker, coalesce(peer_name, peer) as peer, sessions, open_sessions, open_leases, done_leases, lapsed_leases,
    released_leases, games, faults, refused, disputed, outvoted, last_hello_at
from kroo.worker_health order by games desc, worker limit 1000
