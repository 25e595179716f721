#!/usr/bin/env bash
# Workers as an array job of a real Slurm of one node: one is preempted and requeued, another requeued by hand, and every
# pair counts once (snakemake-executor-plugin-slurm#109).
. "$(dirname "$0")/lib.sh"

skip() {
    echo "1..0 # SKIP $1"
    exit 0
}
for program in slurmctld slurmd sbatch squeue scontrol scancel; do
    command -v $program >/dev/null || skip "$program is not installed"
done
[ "$(id -u)" -eq 0 ] || skip "slurmd starts jobs only as root"

# --- one node, nothing shared with a Slurm that may run here ---
slurm=$work/slurm
mkdir -p "$slurm/state" "$slurm/spool"
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
host=$(hostname -s)
cat >"$slurm/slurm.conf" <<CONF
ClusterName=kroo
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
KillWait=10
SchedulerParameters=sched_interval=2,bf_interval=2
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd.log
NodeName=$host NodeAddr=127.0.0.1 CPUs=3 State=UNKNOWN
PartitionName=low Nodes=$host Default=YES PriorityTier=1 PreemptMode=REQUEUE GraceTime=10
PartitionName=high Nodes=$host PriorityTier=10
CONF
echo 'CgroupPlugin=cgroup/v1' >"$slurm/cgroup.conf"
export SLURM_CONF=$slurm/slurm.conf
slurmctld -D -f "$SLURM_CONF" >"$slurm/ctld.out" 2>&1 &
ctld=$!
slurmd -D -f "$SLURM_CONF" -N "$host" >"$slurm/d.out" 2>&1 &
node=$!
stop_slurm() {
    scancel -u root >/dev/null 2>&1
    kill "$node" "$ctld" 2>/dev/null
    wait "$node" "$ctld" 2>/dev/null
}
trap 'stop_slurm; cleanup' EXIT
is_up() { [ "$(sinfo -h -o %T -p low 2>/dev/null)" = idle ]; }
up_or_dead() { is_up || ! kill -0 "$node" || ! kill -0 "$ctld"; }
wait_until 60 up_or_dead
if ! is_up && grep -qi cgroup "$slurm/slurmd.log"; then
    skip "slurmd finds no control groups here: $(grep -i cgroup "$slurm/slurmd.log" | tail -n 1)"
fi
ok "a Slurm of one node" is_up || tail "$slurm"/*.log

# --- workers ---
export KROO_TERM_MS=4000 KROO_PROGRESS_MS=300
ok "a cluster without workers of its own" "$kroo" up --dir "$dir" --workers 0
endless=$("$kroo" selfplay --dir "$dir" --pairs 1M --nodes 300 --seed 5 --audit 0)
cd "$work" || exit 1
export KROO_CONFIG=$dir/kroo.conf KROO_STATES=$work/states KROO_WORKER=$build/kroo-worker KROO_IDLE_SECONDS=3
job=$(sbatch --parsable --array=0-2 --cpus-per-task=1 --mem-per-cpu=0 --time=30 "$root/deploy/slurm/kroo-worker.sbatch")
ok "the array job is taken" test -n "$job"
running() { [ "$(squeue -h -t R -p low -o %i | wc -l)" -eq "$1" ]; }
ok "three tasks run" wait_until 60 running 3
session_of() { sql "select id from session where name = 'slurm-${job}_$1' order by started_at desc limit 1"; }
games_of() { sql "select count(*) from game g join session s on s.id = g.session_id where s.name = 'slurm-${job}_$1'"; }
plays() { [ "$(games_of "$1")" -gt "$2" ]; }
all_play() { plays 0 0 && plays 1 0 && plays 2 0; }
ok "and play" wait_until 60 all_play

# --- one is preempted ---
urgent=$(sbatch --parsable -p high --cpus-per-task=1 --output=/dev/null --wrap 'exec tail -f /dev/null')
preempted() {
    victim=$(squeue -h -r -t PD -p low -o %K | head -n 1)
    [ -n "$victim" ]
}
ok "a more urgent job takes the place of one task" wait_until 120 preempted
log=$work/kroo-worker-${job}_$victim.log
ok "that worker was told, and left in order" wait_until 30 grep -q ' drain ' "$log"
open_leases() { sql "select count(*) from lease l join session s on s.id = l.session_id where s.name = 'slurm-${job}_$1' and l.state = 'open'"; }
none_open() { [ "$(open_leases "$1")" -eq 0 ]; }
ok "its leases went back at once" wait_until 30 none_open "$victim"
last=$(sql "select coalesce(max(l.first_pair + l.pair_count), 0) from lease l join session s on s.id = l.session_id where s.name = 'slurm-${job}_$victim'")
counted() { sql "select prefix_pairs from experiment_counter where experiment_id = $endless"; }
passed() { [ "$(counted)" -ge "$1" ]; }
ok "others play its pairs: the prefix passes all it ever held" wait_until 120 passed "$last"
grep -E ' (drain|end) ' "$log" | sed 's/^/# /'
grep -E "preempted|requeue" "$slurm/slurmctld.log" | tail -n 4 | sed 's/^/# /'
before=$(games_of "$victim")
scancel "$urgent"
ok "requeued, it runs again and plays" wait_until 180 plays "$victim" "$before"
is "under the same task" "$(scontrol show job "${job}_$victim" | sed -n 's/.*Restarts=\([0-9]*\).*/\1/p')" 1

# --- another is requeued by hand, and its old self is still there ---
other=$(((victim + 1) % 3))
fails "the same task started twice finds its folder taken" 1 'in use|another|locked|taken' \
    kroo-worker --name "slurm-${job}_$other" --state "$KROO_STATES/${job}_$other"
before=$(games_of "$other")
kroo-worker --name "slurm-${job}_$other" --state "$work/twin" --slots 1 2>"$work/twin.log" &
twin=$!
scontrol requeue "${job}_$other"
ok "requeued beside its own double, it plays" wait_until 180 plays "$other" "$((before + 50))"
wait_until 120 running 3

# --- the end ---
"$kroo" stop --dir "$dir" "$endless" >/dev/null
short=$("$kroo" match --dir "$dir" starting starting --pairs 100 --nodes-a 300 --nodes-b 200 --seed 6)
ok "a match ends" "$kroo" watch --dir "$dir" "$short"
kill "$twin"
wait "$twin"
is "the double left in order" $? 0
is "each pair of it is there, once" "$(sql "select count(*), count(distinct (pair_no, leg)) from game where experiment_id = $short")" "200|200"
is "so is each that counts of the other" "$(sql "select count(*) - 2 * $(counted) from game where experiment_id = $endless and pair_no < $(counted)")" 0
ok "kroo verify finds no difference" "$kroo" verify --dir "$dir"
gone() { [ -z "$(squeue -h -o %i)" ]; }
ok "without work the tasks end by themselves" wait_until 120 gone
is "as completed" "$(scontrol show job "$job" | grep -o 'JobState=[A-Z]*' | sort -u)" JobState=COMPLETED
done_testing
