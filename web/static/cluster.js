/* The cluster at this moment, and over the day. */
import { plot } from "./plot.js";
import { ask, dash, duration, el, experimentLink, fill, live, number, plural, stateTag, table, track, when } from "./shell.js";

const place = (id) => document.getElementById(id);

function figure(name, value, note) {
    return el("div", null, el("dt", null, name), el("dd", null, value, note ? el("small", null, note) : null));
}

function showSpeed(cluster) {
    const perSecond = Number(cluster.games_per_second);
    fill(place("figures"),
        figure("games a second", number(perSecond, perSecond < 100 ? 1 : 0), "over the last minutes"),
        figure("games ever", number(cluster.games), plural(cluster.experiments, "experiment")));
}

let day = null;

/* Games a second of each five minutes of the day; of the last ones as far as they have gone. */
function showDay({ day: { since, step, games }, at }) {
    const x = games.map((_, i) => since + i * step);
    const y = games.map((count, i) => count / Math.max(Math.min(step, at - x[i]), 30));
    if (day) day.update(x, [y]);
    else
        day = plot(place("day"), { label: "Games a second over the last 24 hours", time: true, x, height: 200, legend: false,
            yLabel: "games a second", yRange: (u, low, high) => [0, Math.max(high * 1.08, 1)],
            lines: [{ label: "games a second", values: y, tone: "accent", steps: true, fill: true, value: (v) => number(v, 1) }] });
}

/* The coordinator knows who is silent; one that does not lead knows nobody. */
function showWorkers({ workers, worker_list: list, coordinator }) {
    const known = coordinator.leads ? coordinator.workers : workers;
    fill(place("worker-figures"), figure("working", number(known.working)), figure("idle", number(known.idle)),
        figure("silent", coordinator.leads ? number(known.silent) : dash), figure("set aside", number(known.set_aside)));
    fill(place("workers-note"), `${plural(list.length, "worker")}, ${plural(workers.play_threads, "play thread")}`);
    fill(place("workers"), table("Workers", [["name", "name"], ["state", "text"], ["games", "number"], ["faults", "number"]],
        list.map((worker) => [worker.name, stateTag(worker.state), number(worker.games), worker.faults ? number(worker.faults) : ""]),
        "No worker is here: start kroo-worker on a machine."));
}

const players = (row) => (row.kind === "match" ? `${row.a} – ${row.b}` : row.a);

function showQueue({ queue }) {
    const running = queue.filter((row) => row.state === "running");
    fill(place("queue-note"), queue.length ? `${plural(queue.length, "experiment")}, ${number(running.length)} running` : "");
    fill(place("queue"), table("Experiments that have not ended",
        [["experiment", "name"], ["kind", "text"], ["players", "text"], ["state", "text"], ["priority", "number"], ["progress", "text"],
            ["pairs", "number"], ["of", "number"], ["pairs a minute", "number"], ["time left", "number"], ["workers", "number"]],
        queue.map((row) => {
            const share = row.pairs_left === null ? row.pairs / row.planned_pairs : row.pairs / (row.pairs + row.pairs_left || 1);
            return [experimentLink(row.id), row.is_test ? "test" : row.kind, players(row), stateTag(row.state), number(row.priority),
                track(share, `${Math.round(100 * share)} percent`), number(row.pairs), (row.is_test ? "≤ " : "") + number(row.planned_pairs),
                number(row.pairs_per_minute, 1), (row.is_expected && row.seconds_left !== null ? "about " : "") + duration(row.seconds_left),
                number(row.workers)];
        }), "Nothing is queued: kroo selfplay or kroo match gives the cluster something to do."));
}

function showEnded({ ended }) {
    fill(place("ended"), table("Experiments that ended lately",
        [["experiment", "name"], ["players", "text"], ["pairs", "number"], ["verdict", "text"], ["ended", "number"]],
        ended.map((row) => [experimentLink(row.id), players(row), number(row.pairs),
            stateTag(row.kind === "match" && row.verdict ? row.verdict : row.state), when(row.at)]), "None has ended."));
}

function showEvents({ events }) {
    fill(place("events"), table("Events, the newest first", [["at", "text"], ["event", "text"], ["experiment", "text"], ["what happened", "text"]],
        events.map((event) => [when(event.at), event.kind, event.experiment ? experimentLink(event.experiment) : "", event.text]),
        "Nothing has happened yet."));
}

function showFaults({ faults, fault_kinds: kinds }) {
    fill(place("faults-note"), kinds.length ? `in the last day: ${kinds.map((row) => `${row.kind} ${number(row.faults)}`).join(", ")}` : "");
    fill(place("faults"), table("Faults, the newest first",
        [["fault", "name"], ["at", "text"], ["kind", "text"], ["experiment", "text"], ["pair", "number"], ["engine", "text"], ["worker", "text"], ["why", "text"]],
        faults.map((fault) => [`#${fault.id}`, when(fault.at), fault.kind, fault.experiment ? experimentLink(fault.experiment) : "",
            fault.pair === null ? "" : `${number(fault.pair)}.${fault.leg}`, fault.engine ?? "", fault.worker ?? "", fault.why]),
        "No player's program did anything wrong."));
}

async function show() {
    const [cluster, coordinator] = await Promise.all([ask("/api/cluster"), ask("/api/coordinator")]);
    cluster.coordinator = coordinator;
    fill(place("since"), `as of ${new Date(cluster.at * 1000).toLocaleTimeString("sv")}${coordinator.leads ? "" : "; this coordinator waits for the lead"}`);
    for (const part of [showSpeed, showDay, showWorkers, showQueue, showEnded, showEvents, showFaults]) part(cluster);
}

let asking = false;
async function refresh() {
    if (asking) return;
    asking = true;
    try {
        await show();
    } catch {
        /* it is said at the head of the page */
    } finally {
        asking = false;
    }
}
await refresh();
live(refresh);
