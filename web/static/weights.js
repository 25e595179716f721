/* Weights: where they come from, what they gained, and of those that are chosen (`?id=N`; else the champion) how the fit went,
 * what they say, and the files to take away. */
import { ask, dash, el, experimentLink, fill, number, percent, plural, signed, svg, table } from "./shell.js";
import { chart, drawn, path, range } from "./figure.js";
import { showLineage } from "./lineage.js";
import { showCalibration, showLoss, showPerfect } from "./fit.js";
import { showSays } from "./says.js";

const place = (id) => document.getElementById(id);
const nameOf = ({ number: no, name }) => (name ? `#${no} ${name}` : `#${no}`);
const link = (row) => el("a", { href: `/weights?id=${row.number}` }, nameOf(row));

/* --- Elo over generations --- */

function bars(series, x, y) {
    return series.rows.filter((row) => row.elo !== null).map((row) => svg("g", { class: "error" },
        svg("title", null, `${series.xLabel} ${row.x}: ${signed(row.elo, 1)}${row.lo === undefined ? "" : ` [${number(row.lo, 1)}, ${number(row.hi, 1)}]`} Elo`),
        row.lo === undefined ? null : [svg("line", { x1: x(row.x), x2: x(row.x), y1: y(row.lo), y2: y(row.hi) }),
            ...[row.lo, row.hi].map((end) => svg("line", { x1: x(row.x) - 4, x2: x(row.x) + 4, y1: y(end), y2: y(end) }))],
        svg("circle", { cx: x(row.x), cy: y(row.elo), r: 4 })));
}

function eloFigure(series, width) {
    const known = (key) => series.rows.map((row) => row[key]).filter((value) => Number.isFinite(value));
    const xs = series.rows.map((row) => row.x), first = Math.min(...xs), last = Math.max(...xs), most = Math.max(2, Math.floor(width / 40));
    const step = Math.ceil((last - first + 1) / most), [lo, hi] = range([0, ...known("elo"), ...known("lo"), ...known("hi"), ...known("sum")]);
    return chart({ width, height: 250, label: `Elo by ${series.xLabel}, ${series.name}`, x: { range: [first - 0.5, last + 0.5], label: series.xLabel, marks: xs.filter((x) => (x - first) % step === 0), say: String },
        y: { range: [lo, hi], label: "Elo" } }, (x, y) => [
        svg("path", { class: "curve broken tone-1", d: path(series.rows.filter((row) => row.sum !== null).map((row) => [row.x, row.sum]), x, y) }),
        svg("path", { class: "curve tone-0", d: path(series.rows.map((row) => [row.x, row.elo]), x, y) }),
        bars(series, x, y)].flat());
}

function drawElo(series) {
    const figure = el("div", null);
    place("elo").replaceChildren(el("ul", { class: "key" }, el("li", { class: "tone-0" }, series.label), series.sumLabel ? el("li", { class: "tone-1" }, series.sumLabel) : null), figure);
    drawn(figure, (width) => eloFigure(series, width));
    fill(place("elo-note"), series.note);
}

function seriesOfLoop(loop, rows) {
    let sum = 0;
    const points = rows.filter((row) => row.outcome || row.gate_elo !== null).map((row) => {
        if (row.outcome === "promoted") sum += row.gate_elo ?? 0;
        return { x: row.generation, elo: row.first_elo, lo: row.first_elo_lo, hi: row.first_elo_hi,
            sum: row.outcome === "promoted" ? sum : null };
    });
    return { name: `loop ${loop}`, label: "against the first champion", sumLabel: "sum of the gates", xLabel: "generation", rows: points,
        note: "Against the loop's first champion, with the match's own interval; the sum of the promoting gates adds up their bias too." };
}

function seriesOfLine(line, rows) {
    return { name: `line ${line}`, label: "sum of the promoting matches", xLabel: "champion",
        rows: rows.map((row, i) => ({ x: i + 1, elo: row.elo_so_far })),
        note: "Each champion's lead over the one before, added up: a rough line, for sequential tests favour the winner." };
}

function groups(rows, key) {
    const found = new Map();
    for (const row of rows) found.set(row[key], [...(found.get(row[key]) ?? []), row]);
    return [...found];
}

function showElo({ generations, champions }) {
    const all = [...groups(generations, "loop").map(([loop, rows]) => seriesOfLoop(loop, rows)),
        ...groups(champions, "line").map(([line, rows]) => seriesOfLine(line, rows))].filter(({ rows }) => rows.length);
    all.sort((a, b) => b.rows.length - a.rows.length);
    const choice = place("series");
    choice.hidden = all.length < 2;
    choice.replaceChildren(...all.map(({ name }, i) => el("option", { value: i }, name)));
    choice.addEventListener("change", () => drawElo(all[choice.value]));
    if (all.length) drawElo(all[0]);
    else fill(place("elo"), el("p", { class: "empty" }, "No generation yet: kroo loop run makes some."));
}

/* --- the table --- */

const outcomeTag = (row) => [...row.champion.map((line) => el("span", { class: "tag accent" }, `champion of ${line}`)),
    row.champion.length === 0 && row.promoted.length ? el("span", { class: "tag good" }, "was champion") : null,
    row.outcome && row.outcome !== "promoted" ? el("span", { class: "tag" }, row.outcome) : null].filter(Boolean);

function gain(row) {
    if (row.loss_before === null || row.loss_after === null) return dash;
    return `${signed(row.loss_after - row.loss_before, 4)}${row.gain_se === null ? "" : ` ± ${number(row.gain_se, 4)}`}`;
}

function showAll({ weights, total, generations }) {
    const gates = new Map(generations.filter((row) => row.candidate !== null).map((row) => [row.candidate, row]));
    const gate = (row) => {
        const match = gates.get(row.number);
        return match?.gate_id && match.gate_elo !== null ? el("span", null, experimentLink(match.gate_id), ` ${signed(match.gate_elo, 0)} Elo`) : dash;
    };
    fill(place("all-note"), total > weights.length ? `the latest ${number(weights.length)} of ${number(total)}` : "");
    fill(place("all"), table("All weights, the latest first", [["weights", "name"], ["standing", "text"], ["kind", "text"], ["fitted from", "text"], ["games", "number"],
        ["positions", "number"], ["loss", "number"], ["change", "number"], ["best moves", "number"], ["gate", "number"], ["stored", "number"]],
    weights.toReversed().map((row) => [link(row), el("span", null, outcomeTag(row)), row.kind, row.parent ? el("a", { href: `/weights?id=${row.parent}` }, `#${row.parent}`) : dash,
        number(row.games), number(row.positions), row.loss_after === null ? dash : number(row.loss_after, 4), gain(row),
        percent(row.perfect), gate(row), row.stored_at.slice(0, 10)]), "No weights yet: the starting weights enter with the first experiment."));
}

/* --- those that are chosen --- */

const digest = (text) => el("code", { class: "digest" }, text);

function save(id, format, name, file) {
    return el("div", { class: "file" },
        el("a", { class: "button", href: `/api/weights/file?id=${id}&format=${format}`, download: file.name }, `Save ${name}`),
        el("p", { class: "small" }, el("span", { class: "muted" }, `${file.name}, ${plural(file.size, "byte")}`), el("br"),
            el("span", { class: "muted" }, "SHA-256 "), digest(file.sha256)));
}

function proofOf(row) {
    const match = row.experiment ? [" by ", experimentLink(row.experiment), row.elo === null ? "" : `, ${signed(row.elo, 1)} Elo over ${plural(row.pairs, "pair")}, LLR ${number(row.llr, 2)}`]
        : [` by hand (${row.by}${row.reason ? `: ${row.reason}` : ""})`];
    return el("div", null, `champion of ${row.line}`, match);
}

function lineageOf(lineage) {
    return lineage.length < 2 ? "none known" : lineage.slice(1, 13).flatMap((row, i) => [i ? " ← " : "",
        row.number ? el("a", { href: `/weights?id=${row.number}` }, nameOf(row)) : `${row.ancestor_sha256.slice(0, 12)} (not here)`]).concat(lineage.length > 13 ? " ← …" : "");
}

function factsOf(one) {
    const fit = one.training;
    const facts = [["kind", one.kind], ["rules", one.rules], ["scale", `${number(one.per_logit)} hundredths of a seed make one unit of log odds, shift ${one.shift}`],
        ["ancestors", lineageOf(one.lineage)]];
    if (fit) {
        facts.push(["fit", `run ${fit.training_run}: ${plural(fit.games, "game")}, ${plural(fit.positions, "position")}, ${number(fit.rows_merged)} distinct`],
            ["games of", fit.manifest.flatMap((range, i) => [i ? ", " : "", experimentLink(range.experiment), ` (${plural(range.pair_count, "pair")})`])],
            ["target", `${number(fit.lambda, 2)} result + ${number(1 - fit.lambda, 2)} search score`], ["trainer", `${fit.trainer_build}, kernels for ${fit.core_type}`]);
    }
    if (one.proof.length) facts.push(["promoted", one.proof.map(proofOf)]);
    if (one.fit?.warnings?.length) facts.push(["notes of the fit", one.fit.warnings.map((text) => el("div", null, text))]);
    return facts.flatMap(([name, value]) => [el("dt", null, name), el("dd", null, value)]);
}

async function showOne(id) {
    const one = await ask(`/api/weights?id=${encodeURIComponent(id)}`).catch(() => null); /* it is said at the head of the page */
    if (!one) return;
    document.title = `${nameOf(one)} · Weights · Kroo`;
    fill(place("one-title"), `Weights ${nameOf(one)}`);
    fill(place("facts"), factsOf(one));
    fill(place("files"), save(one.number, "json", "JSON", one.files.json), save(one.number, "binary", "binary", one.files.binary));
    showLoss(one);
    showCalibration(one);
    showPerfect(one);
    showSays(one);
}

/* --- the page --- */

const all = await ask("/api/weights");
const asked = new URLSearchParams(location.search).get("id");
const best = all.weights.find((row) => row.champion.includes("main")) ?? all.weights.findLast((row) => row.champion.length) ?? all.weights.at(-1);
const chosen = asked ?? best?.number;
fill(place("summary"), `${number(all.total)} stored, ${plural(new Set(all.champions.map(({ line }) => line)).size, "line")} with a champion`);
showLineage(place("lineage"), place("lineage-note"), all, Number(chosen));
showElo(all);
showAll(all);
if (chosen) await showOne(chosen);
else document.querySelectorAll("#one, #one ~ section").forEach((section) => (section.hidden = true));
