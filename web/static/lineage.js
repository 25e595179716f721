/* Weights and where they come from as a graph: from left to right by descent, each chain in a row of its own. A whole line: fitted
 * from; a broken one: played for and measured against it, but fitted from nothing. */
import { el, fill, number, svg } from "./shell.js";

const BOX = { width: 150, height: 42, across: 36, down: 12 };
const MOST = 200; /* the latest; a larger graph nobody follows */

const parentOf = (row) => row.parent ?? row.challenged;

/* Columns by the length of the chain; a first child stays in its parent's row when that is free there. */
function arrange(rows) {
    const byNumber = new Map(rows.map((row) => [row.number, row])), taken = new Set(), places = new Map();
    const column = (row, guard = 0) => {
        const parent = byNumber.get(parentOf(row));
        return parent && parent !== row && guard < rows.length ? column(parent, guard + 1) + 1 : 0;
    };
    const isFree = (x, y) => !taken.has(`${x},${y}`);
    for (const row of rows) {
        const x = column(row), from = places.get(parentOf(row));
        let y = from?.y ?? 0;
        while (!isFree(x, y)) y++;
        taken.add(`${x},${y}`);
        places.set(row.number, { x, y, row });
    }
    return places;
}

const left = ({ x }) => 1 + x * (BOX.width + BOX.across), top = ({ y }) => 1 + y * (BOX.height + BOX.down);

function edge(from, to, isFitted) {
    const [x1, y1, x2, y2] = [left(from) + BOX.width, top(from) + BOX.height / 2, left(to), top(to) + BOX.height / 2];
    return svg("path", { class: isFitted ? "edge" : "edge loose", d: `M${x1} ${y1}C${x1 + 22} ${y1} ${x2 - 22} ${y2} ${x2} ${y2}` });
}

function state(row) {
    if (row.champion.length) return `champion of ${row.champion.join(", ")}`;
    return row.promoted.length ? "was champion" : row.outcome ?? (row.training_run ? "a fit" : "brought here");
}

const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function box(at, chosen) {
    const { row } = at, [x, y] = [left(at), top(at)];
    const name = row.name ? `#${row.number} ${row.name}` : `#${row.number}`;
    const kind = row.champion.length ? "champion" : row.promoted.length ? "promoted" : "";
    return svg("a", { href: `/weights?id=${row.number}`, class: `box ${kind}`, "aria-current": row.number === chosen ? "true" : null },
    svg("rect", { x, y, width: BOX.width, height: BOX.height, rx: 6 }),
    svg("text", { class: "label", x: x + 9, y: y + 18 }, short(name, 19)), " ",
    svg("text", { x: x + 9, y: y + 33 }, short(`${row.kind} · ${state(row)}`, 25)));
}

export function showLineage(place, note, { weights }, chosen) {
    const rows = weights.slice(-MOST), places = arrange(rows);
    if (!rows.length) {
        fill(place, el("p", { class: "empty" }, "No weights yet."));
        return;
    }
    const all = [...places.values()];
    const width = Math.max(...all.map(left)) + BOX.width + 2, height = Math.max(...all.map(top)) + BOX.height + 2;
    const edges = all.filter(({ row }) => places.has(parentOf(row))).map((to) => edge(places.get(parentOf(to.row)), to, to.row.parent !== null));
    fill(note, `${rows.length < weights.length ? `the latest ${number(rows.length)} · ` : ""}whole line: fitted from; broken: played for`);
    place.replaceChildren(svg("svg", { class: "figure lineage", width, height, viewBox: `0 0 ${width} ${height}`, role: "group",
        "aria-label": "Weights by descent, each a link to itself" }, edges, all.map((at) => box(at, chosen))));
    const at = places.get(chosen);
    if (at) place.scrollTo({ left: left(at) - place.clientWidth / 2, top: top(at) - place.clientHeight / 2 });
}
