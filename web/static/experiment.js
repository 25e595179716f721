/* One experiment: what was asked for, how far it is, what it says. Without an id: all of them. */
import { showActions } from "./operator.js";
import { plot } from "./plot.js";
import { ask, duration, el, experimentLink, fill, live, moment, number, percent, plural, signed, stateTag, table, track,
    when } from "./shell.js";

/* What is dear is asked for again when there are so many more pairs, and not more often than so. */
const GROWTH = 1.04, LEAST_MS = 10000;

const place = (id) => document.getElementById(id);
const wanted = new URLSearchParams(location.search).get("id");

/** A section of the page, made once; what it shows is put into `body`. */
function panel(id, title, span, { scroll = true } = {}) {
    const body = el("div", scroll ? { class: "scroll", tabindex: "0", role: "region", "aria-label": `${title}, the figures` } : null);
    const note = el("span", { class: "muted" });
    const section = el("section", { class: `panel ${span}`, "aria-labelledby": `${id}-title`, id },
        el("header", null, el("h2", { id: `${id}-title` }, title), note), body);
    return { section, body, note };
}

const facts = (rows) =>
    el("dl", { class: "facts" }, rows.filter(([, value]) => value !== null && value !== undefined && value !== "")
        .map(([name, value]) => [el("dt", null, name), el("dd", null, value)]));

const figures = (rows) =>
    el("dl", { class: "figures" }, rows.filter(Boolean).map(([name, value, note]) =>
        el("div", null, el("dt", null, name), el("dd", null, value, note ? el("small", null, note) : null))));

/* --- the list --- */

const verdictOf = (row) => (row.kind === "match" && row.verdict ? row.verdict : row.state);
const sides = (row) => (row.kind === "match" ? `${row.a} – ${row.b}` : row.a);

function eloOf(row) {
    return row.kind === "match" && row.elo !== null ? `${signed(row.elo)}  [${signed(row.elo_lo)}, ${signed(row.elo_hi)}]` : "";
}

async function showList() {
    const before = new URLSearchParams(location.search).get("before");
    const list = panel("list", before ? `Experiments before #${before}` : "All experiments, the newest first", "");
    place("content").append(list.section);
    const show = async () => {
        const { experiments } = await ask(`/api/experiments${before ? `?before=${encodeURIComponent(before)}` : ""}`);
        fill(list.body, table("Experiments", [["experiment", "name"], ["kind", "text"], ["players", "text"], ["outcome", "text"],
            ["pairs", "number"], ["of", "number"], ["Elo with its 95 % interval", "number"], ["made", "text"], ["by", "text"], ["note", "text"]],
            experiments.map((row) => [experimentLink(row.id), row.sprt_model ? `test ${row.elo0} to ${row.elo1}` : row.kind, sides(row),
                stateTag(verdictOf(row)), number(row.pairs), (row.sprt_model ? "≤ " : "") + number(row.planned_pairs), eloOf(row),
                when(row.created_at), row.created_by, row.note]),
            "There is none yet: kroo selfplay or kroo match makes one."));
        const last = experiments.at(-1);
        fill(list.note, experiments.length === 100 && last.id > 1
            ? el("a", { href: `/experiment?before=${last.id}` }, "older ones") : plural(experiments.length, "experiment"));
    };
    await show();
    live(() => show().catch(() => {}));
}

/* --- one: its parts --- */

function limits(options) {
    const parts = [];
    if (options.nodes) parts.push(`${number(options.nodes)} nodes`);
    if (options.depth) parts.push(`depth ${options.depth}`);
    if (options.time_ms) parts.push(`${number(options.time_ms)} ms`);
    const each = parts.length ? `${parts.join(", ")} a move` : "";
    const clock = options.clock_ms ? `a clock of ${options.clock_ms / 1000} s + ${(options.increment_ms ?? 0) / 1000} s` : "";
    return [each, clock].filter(Boolean).join(", ");
}

function playerText(player) {
    const extra = [player.engine !== "built-in" ? `engine ${player.engine}` : "", player.tables ? `tables ${player.tables}` : ""];
    return [el("a", { href: `/weights?id=${player.weights}` }, `#${player.weights}${player.name ? ` ${player.name}` : ""}`),
        ` (${player.sha256.slice(0, 12)}), ${limits(player.options)}`, ...extra.filter(Boolean).map((text) => `, ${text}`)];
}

function showSpecification(part, x) {
    const match = x.kind === "match";
    fill(part.body, facts([
        ["kind", x.sprt ? `${x.kind} with a sequential test` : x.kind],
        [match ? "A" : "player", playerText(x.a)],
        ["B", match ? playerText(x.b) : null],
        ["rules", x.rules],
        ["openings", x.book ? `book ${x.book.name}, ${number(x.book.openings)} openings` : plural(x.opening_plies, "random ply").replace("plys", "plies")],
        ["noise", x.noise_ppm ? percent(x.noise_ppm / 1e6, 2) : null],
        ["seed", x.seed],
        ["test", x.sprt ? `${x.sprt.model} Elo ${x.sprt.elo0} against ${x.sprt.elo1}, α ${x.sprt.alpha}, β ${x.sprt.beta}, batches of ${plural(x.sprt.batch, "pair")}` : null],
        ["adjudicated", x.adjudication ? `by the endgame tables ${x.adjudication}` : null],
        ["resignation", x.resign_plies ? `${x.resign_score / 100} seeds behind on ${plural(x.resign_plies, "own move")} in a row` : null],
        ["audited", x.audit_ppm ? `${percent(x.audit_ppm / 1e6, 2)} of the pairs` : null],
        ["reproducible", x.reproducible],
        ["engine", x.a.build],
        ["priority", `${x.priority}, share ${x.share}${x.core_cap ? `, at most ${plural(x.core_cap, "game")} at once` : ""}`],
        ["needs", x.tags],
        ["made", `${moment(x.created_at)}${x.created_by ? ` by ${x.created_by}` : ""}`],
        ["ended", x.ended_at ? `${moment(x.ended_at)}, after ${duration(x.seconds)}` : null],
        ["key", x.key], ["note", x.note]]));
}

function verdictText(x) {
    const v = x.verdict;
    if (!v || (x.kind !== "match" && v.verdict === "undecided")) return null;
    const by = [v.by ? `by ${v.by}` : "", v.reason].filter(Boolean).join(": ");
    const test = x.sprt ? `; LLR ${number(v.llr, 3)}, bounds ${number(v.lower, 3)} and ${number(v.upper, 3)} drawn in by what one look a batch overshoots, ${x.sprt.model} model` : "";
    return el("p", null, el("strong", null, "Verdict: "), stateTag(v.verdict), ` at ${plural(v.pairs, "pair")}, ${moment(v.written_at)}`,
        by ? ` ${by}` : "", `${test}; formulas of version ${v.formula_version}, counts in the order ${x.order}.`);
}

function showResult(part, x) {
    const e = x.estimate, counted = x.pairs - x.repeated_pairs;
    const best = e?.unbiased ?? e;
    fill(part.note, x.state_reason);
    fill(part.body,
        figures([
            ["pairs counted", number(counted), `of ${x.sprt ? "at most " : ""}${number(x.planned_pairs)}${x.repeated_pairs ? `, ${plural(x.repeated_pairs, "repeat")} not counted` : ""}`],
            e ? ["Elo of A", signed(best.elo), `95 %: ${signed(best.elo_lo)} to ${signed(best.elo_hi)}${e.unbiased ? ", median-unbiased" : e.is_biased ? ", biased by the test" : ""}`] : null,
            e ? ["A is stronger", percent(best.los, 2), `score ${percent(e.score, 2)}, nElo ${signed(e.nelo)}`] : null,
            x.sprt ? ["LLR", number(x.sprt.llr, 3), `bounds ${number(x.sprt.lower, 3)} and ${number(x.sprt.upper, 3)}`] : null,
            ["games", number(x.games_stored), x.kind === "match" ? `A won ${number(x.wins)}, drew ${number(x.draws)}, lost ${number(x.losses)}` : `${number(x.wins + x.losses)} decided, ${number(x.draws)} drawn`],
            x.left ? ["time left", duration(x.left.seconds), x.left.pairs_per_minute ? `${x.left.is_expected ? "about " : ""}${plural(x.left.pairs, "pair")}, ${number(x.left.pairs_per_minute, 1)} a minute` : plural(x.left.pairs, "pair")] : null,
            x.ended_at ? null : ["at work", plural(x.workers, "worker"), `${plural(x.open_leases, "lease")}, ${plural(x.open_disputes, "dispute")}`]]),
        e?.unbiased ? el("p", { class: "muted small" }, `Plain estimate, biased after a sequential test: ${signed(e.elo)}, 95 % from ${signed(e.elo_lo)} to ${signed(e.elo_hi)}.`) : null,
        verdictText(x));
}

/* Bars of counts: [name, count, tone, what it means]. */
function bars(caption, columns, rows) {
    const total = rows.reduce((sum, [, count]) => sum + Number(count), 0);
    const most = Math.max(1, ...rows.map(([, count]) => Number(count)));
    return table(caption, [[columns[0], "name"], ["bar", "unseen"], [columns[1], "number"], ["share", "number"], ...columns.slice(2).map((name) => [name, "number"])],
        rows.map(([name, count, tone, title, ...rest]) => [title ? el("abbr", { title }, name) : name,
            track(count / most, `${name}: ${number(count)}`, tone), number(count), percent(total ? count / total : 0), ...rest]));
}

function showPairs(part, x) {
    const [ll, ld, dd, wl, dw, ww] = x.counts;
    fill(part.note, "A's view; WL and DD apart");
    fill(part.body, bars("Pairs by their two results", ["pair", "pairs"], [
        ["LL", ll, "cool", "A lost both games"], ["LD", ld, "cool-soft", "A lost one, drew one"], ["DD", dd, "muted", "both drawn"],
        ["WL", wl, "ink", "each side won one: the opening decided"], ["DW", dw, "accent-soft", "A drew one, won one"],
        ["WW", ww, "accent", "A won both"]]));
}

function showEndings(part, x) {
    fill(part.note, `of ${plural(x.pairs, "pair")}`);
    fill(part.body, x.endings.length
        ? bars("Games by their ending", ["ending", "games", "drawn", "mean plies"],
            x.endings.map((row) => [row.reason.replaceAll("_", " ").replaceAll("-", " "), row.games, "accent", null, number(row.draws), number(row.mean_plies, 1)]))
        : el("p", { class: "empty" }, "No game counts yet."));
}

function showOpenings(part, x) {
    fill(part.note, "pairs in which each side won one game");
    fill(part.body, table("Openings that decide", [["opening", "name"], ["WL pairs", "number"], ["of", "number"], ["share", "number"], ["A's score", "number"]],
        x.openings.map((row) => [row.opening ? el("code", null, row.opening) : "none given", number(row.wl), number(row.pairs), percent(row.wl / row.pairs), percent(row.a_score)]),
        "No opening has decided a pair."));
}

function showShares(part, x) {
    const total = x.shares.reduce((sum, row) => sum + row.games, 0);
    fill(part.note, x.workers_ever > x.shares.length ? `the first ${x.shares.length} of ${x.workers_ever}` : plural(x.shares.length, "worker"));
    fill(part.body, table("Games by worker", [["worker", "name"], ["key", "text"], ["bar", "unseen"], ["games", "number"], ["share", "number"], ["faults", "number"]],
        x.shares.map((row) => [row.worker, (row.peer ?? "").slice(0, 12), track(row.games / (x.shares[0].games || 1), `${row.worker}: ${number(row.games)}`),
            number(row.games), percent(row.games / (total || 1)), row.faults ? number(row.faults) : ""]), "Nobody has played yet."));
}

function showFaults(part, x) {
    fill(part.note, x.fault_kinds.map((row) => `${row.kind}${row.side ? ` of ${row.side.toUpperCase()}` : ""}: ${number(row.faults)}`).join(", "));
    fill(part.body, table("Faults of players, the newest first", [["fault", "name"], ["at", "text"], ["kind", "text"], ["pair", "number"], ["side", "text"], ["worker", "text"], ["why", "text"]],
        x.faults.map((row) => [`#${row.id}`, when(row.at), row.kind, row.pair === null ? "" : `${number(row.pair)}.${row.leg}`, row.side?.toUpperCase() ?? "", row.worker ?? "", row.why]),
        "No player's program did anything wrong."));
}

function showEvents(part, x) {
    fill(part.body, table("Events, the newest first", [["at", "text"], ["event", "text"], ["what happened", "text"]],
        x.events.map((row) => [when(row.at), row.kind, row.text]), "Nothing has happened yet."));
}

/* --- plots --- */

function keep(part, spec, x, values) {
    if (part.plot) {
        part.plot.update(x, values);
        return;
    }
    part.body.replaceChildren();
    part.plot = plot(part.body, { ...spec, x, lines: spec.lines.map((line, i) => ({ ...line, values: values[i] })) });
}

function drawLengths(part, x) {
    if (!x.lengths.length) return fill(part.body, el("p", { class: "empty" }, "No game counts yet."));
    const low = x.lengths[0].from_plies, high = x.lengths.at(-1).from_plies;
    const at = [], games = [], draws = [];
    for (let plies = low; plies <= high; plies += 10) {
        const row = x.lengths.find((one) => one.from_plies === plies);
        at.push(plies + 5);
        games.push(row?.games ?? 0);
        draws.push(row?.draws ?? 0);
    }
    const range = (u, least, most) => [Math.min(least, low) - 6, Math.max(most, high) + 16];
    keep(part, { label: "Games by their length in classes of ten plies", xLabel: "plies", height: 210, xRange: range, yRange: (u, a, b) => [0, b * 1.08],
        xName: "plies", xValue: (v) => `${v - 5} to ${v + 4}`,
        lines: [{ label: "games", tone: "accent", bars: true, fill: true, value: number }, { label: "drawn", tone: "cool", bars: true, fill: true, value: number }] },
        at, [games, draws]);
}

function drawCurves(parts, x, counted) {
    if (!counted.length) {
        for (const part of [parts.llr, parts.elo])
            if (part && !part.plot) fill(part.body, el("p", { class: "empty" }, "It is drawn once there are pairs."));
        return;
    }
    const points = [[0, null, null, null, 0], ...counted]; /* before the first pair the test knows nothing */
    const at = points.map((point) => point[0]);
    const column = (i) => points.map((point) => point[i]);
    const few = counted.length < 3;
    const flat = (value) => at.map(() => value);
    if (x.sprt) {
        const { lower, upper } = x.sprt;
        keep(parts.llr, { label: "Log-likelihood ratio over counted pairs, with the bounds of the test", xLabel: "pairs", height: 230,
            xName: "pairs", xValue: number, xValues: (v) => number(v), yRange: (u, a, b) => [Math.min(a ?? lower, lower) - 0.4, Math.max(b ?? upper, upper) + 0.4],
            lines: [{ label: "LLR", tone: "accent", spanGaps: true, points: few, value: (v) => number(v, 3) },
                { label: "accept", tone: "good", dash: [5, 4], width: 1, value: (v) => number(v, 3) },
                { label: "reject", tone: "bad", dash: [5, 4], width: 1, value: (v) => number(v, 3) }] }, at, [column(4), flat(upper), flat(lower)]);
    }
    /* The first intervals reach far beyond anything worth showing: the scale is that of the later ones. */
    const later = counted.slice(Math.min(Math.floor(counted.length / 8), 20));
    const reach = [Math.min(...later.map((point) => point[2])), Math.max(...later.map((point) => point[3]))];
    const pad = (reach[1] - reach[0]) * 0.06 + 1;
    keep(parts.elo, { label: "Elo of A over counted pairs, with its 95 percent interval", xLabel: "pairs", height: 230, xName: "pairs",
        xValue: number, xValues: (v) => number(v), yValues: (v) => signed(v, 0), yRange: () => [reach[0] - pad, reach[1] + pad],
        lines: [{ label: "Elo", tone: "accent", points: few, value: (v) => signed(v) }, { label: "to", tone: "muted", width: 0.6, value: (v) => signed(v) },
            { label: "from", tone: "muted", width: 0.6, value: (v) => signed(v) }, { label: "equal", tone: "line", width: 1, value: () => "0" }],
        bands: [[1, 2, "accent"]] }, at, [column(1), column(3), column(2), flat(0)]);
}

/* --- the page --- */

function makeParts(x) {
    const match = x.kind === "match";
    const plain = { scroll: false };
    const parts = { result: panel("result", match ? "Result" : "Progress", "", plain), specification: panel("specification", "Specification", "span-4", plain),
        endings: panel("endings", "Endings", match ? "span-6" : ""), lengths: panel("lengths", "Length of games", "span-6", plain),
        shares: panel("shares", "Workers' shares", "span-6"),
        faults: panel("faults", "Faults of players", "span-6"), events: panel("events", "Events", "span-6") };
    if (match) {
        parts.pairs = panel("pairs", "Pairs", "");
        parts.openings = panel("openings", "Openings that decide", "span-6");
    }
    if (match) parts.elo = panel("elo", "Elo over pairs", x.sprt ? "span-6" : "", plain);
    if (match && x.sprt) parts.llr = panel("llr", "LLR over pairs", "span-6", plain);
    const column = el("div", { class: "column span-8" }, parts.result.section, (parts.pairs ?? parts.endings).section);
    const order = [parts.llr, parts.elo, match ? parts.endings : null, parts.lengths, parts.openings, parts.shares, parts.faults, parts.events];
    place("content").replaceChildren(column, parts.specification.section, ...order.filter(Boolean).map((part) => part.section));
    return parts;
}

function showHead(x) {
    const title = `Experiment #${x.id}`;
    document.title = `${title} · Kroo`;
    fill(place("name"), title);
    fill(place("state"), stateTag(verdictOf({ ...x, verdict: x.verdict?.verdict })));
    fill(place("about"), el("a", { href: `/games?experiment=${x.id}` }, "its games"),
        ` · as of ${new Date(x.at * 1000).toLocaleTimeString("sv")}`, x.kind === "tune" ? ` · kroo tune show ${x.id} has the parameters` : "");
}

async function showOne(id) {
    const dear = { pairs: -1, at: 0 };
    let parts = null, asking = false;
    const show = async () => {
        const x = await ask(`/api/experiment?id=${encodeURIComponent(id)}`);
        parts ??= makeParts(x);
        showHead(x);
        showActions(place("actions"), x, () => show().catch(() => {})).catch(() => {});
        showResult(parts.result, x);
        showSpecification(parts.specification, x);
        const draws = { pairs: showPairs, shares: showShares, faults: showFaults, events: showEvents };
        for (const [name, draw] of Object.entries(draws)) if (parts[name]) draw(parts[name], x);
        if (x.pairs > dear.pairs * GROWTH || (x.ended_at && x.pairs !== dear.pairs)) await showDear(x);
        return x;
    };
    const showDear = async (x) => {
        if (Date.now() - dear.at < LEAST_MS && !x.ended_at) return;
        Object.assign(dear, { pairs: x.pairs, at: Date.now() });
        const path = (name) => `/api/${name}?id=${encodeURIComponent(id)}`;
        const [games, curve] = await Promise.all([ask(path("breakdown")), parts.elo ? ask(path("curve")) : null]);
        for (const [name, draw] of Object.entries({ endings: showEndings, lengths: drawLengths, openings: showOpenings }))
            if (parts[name]) draw(parts[name], games);
        if (curve) drawCurves(parts, x, curve.points);
    };
    const refresh = async () => {
        if (asking) return;
        asking = true;
        await show().catch(() => {}).finally(() => (asking = false));
    };
    const first = await show();
    let known = first.ended_at ? "ended" : "";
    live((pulse) => {
        const here = pulse.experiments.find((one) => one.id === first.id);
        const state = here ? JSON.stringify(here) : "ended";
        if (state !== known) refresh();
        known = state;
    });
}

await (wanted === null ? showList() : showOne(wanted)).catch((error) => {
    if (error.status === undefined && !(error instanceof TypeError)) return;
    place("content").replaceChildren(el("section", { class: "panel" }, el("p", null, error.status === 404 ? "There is no such experiment. " : `${error.message}. `,
        el("a", { href: "/experiment" }, "All experiments"))));
});
