/* What weights say of a position, house by house: a table's own numbers, the traits of `features`, and of a net what it says when
 * nothing but the seeds of one house is changed. */
import { el, fill, number, signed, svg } from "./shell.js";
import { drawn, path, range, scale, ticks } from "./figure.js";
import { key, PHASES, phaseTable } from "./fit.js";

const place = (id) => document.getElementById(id);
const HOUSES = "ABCDEF", COUNTS = 13;
const points = Array.from({ length: COUNTS }, (none, count) => count);

/* --- curves of twelve houses, laid out as the mover sees the board --- */

function house(name, lines, span, width) {
    const height = Math.max(84, Math.round(width * 0.72)), left = 30, x = scale([0, COUNTS - 1], left, width - 4), y = scale(span, height - 16, 8);
    return svg("svg", { class: "figure", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${name}: ${lines.map((line) => line.text).join("; ")}` },
        ticks(...span, 5).map((mark) => [svg("line", { class: mark === 0 ? "grid zero" : "grid", x1: left, x2: width - 4, y1: y(mark), y2: y(mark) }),
            svg("text", { class: "mark end", x: left - 4, y: y(mark) + 4 }, number(mark / 100, span[1] - span[0] < 400 ? 1 : 0))]).flat(),
        [0, 4, 8, 12].map((count) => svg("text", { class: "mark middle", x: x(count), y: height - 3 }, count === 12 ? "12+" : count)),
        lines.map((line) => svg("path", { class: `curve tone-${line.tone}`, d: path(line.values.map((value, count) => [count, value]), x, y) })));
}

/* Counts that hardly ever occur have wild numbers: the scale is that of 19 in 20, and the rest runs out of the frame. */
function mostOf(values) {
    const inOrder = values.toSorted((a, b) => a - b), cut = Math.floor(inOrder.length / 40);
    return range(inOrder.slice(cut, inOrder.length - cut), { air: 0.12 });
}

/* `values[house]` are lines of thirteen numbers in hundredths of a seed. */
function drawBoard(target, values) {
    const span = mostOf(values.flatMap((lines) => lines.flatMap((line) => line.values)));
    const row = (title, order, whose) => [el("h3", null, title), el("div", { class: "houses" }, order.map((index) => {
        const figure = el("div", null);
        const name = `${whose} ${HOUSES[index % 6]}`;
        const cell = el("figure", null, el("figcaption", null, name), figure);
        queueMicrotask(() => drawn(figure, (width) => house(name, values[index], span, width)));
        return cell;
    }))];
    target.append(...row("the other side's houses", [11, 10, 9, 8, 7, 6], "other"), ...row("the mover's houses", [0, 1, 2, 3, 4, 5], "own"));
}

const textOf = (values) => `1 seed ${signed(values[1] / 100, 2)}, 4 seeds ${signed(values[4] / 100, 2)}, 12 and more ${signed(values[12] / 100, 2)}`;

/* --- the three kinds --- */

function sayTable(one, target) {
    const unit = 2 ** one.shift;
    const values = Array.from({ length: 12 }, (none, index) => one.phases.map((phase, tone) => {
        const line = phase.houses[index].map((value) => (value - phase.houses[index][0]) / unit);
        return { tone, values: line, text: `${PHASES[tone]}: ${textOf(line)}` };
    }));
    fill(place("says-note"), "what seeds in a house are worth against an empty one, in seeds, by phase of the game");
    target.append(key());
    drawBoard(target, values);
    target.append(el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Bias and store" }, phaseTable("Bias and store", [
        ["the move itself", ...one.phases.map((phase) => signed(phase.bias / unit / 100, 2))],
        ["a seed in the store", ...one.phases.map((phase) => signed(phase.store / unit / 100, 2))]])));
}

function sayFeatures(one, target) {
    const unit = 2 ** one.shift, names = Object.keys(one.phases[0]);
    fill(place("says-note"), "what each trait of a position is worth, in seeds");
    target.append(el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Traits" }, phaseTable("What each trait is worth, in seeds",
        names.map((name) => [name.replaceAll("_", " "), ...one.phases.map((phase) => signed(phase[name] / unit / 100, 2))]))));
}

/* "4-4-4-4-4-4-4-4-4-4-4-4-0-0-S" as the side to move sees it: its houses first, and its lead in the store. */
function seen(text) {
    const parts = text.split("-"), counts = parts.slice(0, 14).map(Number), isNorth = parts[14] === "N";
    const houses = isNorth ? [...counts.slice(6, 12), ...counts.slice(0, 6)] : counts.slice(0, 12);
    return { houses, lead: isNorth ? counts[13] - counts[12] : counts[12] - counts[13] };
}

const within = (value, lo, hi) => Math.max(lo, Math.min(hi, value));

/* The net's score in hundredths of a seed; eval/README.md has the formula. */
function score(net, { houses, lead }) {
    const rows = [...houses.map((count, index) => net.houses[index][Math.min(count, 15)]), net.store[within(lead, -25, 25) + 25]];
    let sum = net.output_bias;
    for (let unit = 0; unit < net.output.length; unit++)
        sum += net.output[unit] * within(rows.reduce((total, row) => total + row[unit], net.hidden_bias[unit]) >> net.hidden_shift, 0, 127);
    return within(sum >> net.shift, -32000, 32000);
}

/* The mean over the export's own positions of the score with so many seeds in one house, against an empty one. */
function sayNet(one, target) {
    const positions = one.vectors.map(({ position }) => seen(position));
    const wrong = one.vectors.filter((vector, i) => score(one, positions[i]) !== vector.score).length;
    if (wrong) throw new Error(`${wrong} test positions of these weights do not come out`);
    const values = Array.from({ length: 12 }, (none, index) => {
        const means = points.map((count) => positions.reduce((sum, position) => sum + score(one, { ...position, houses: position.houses.with(index, count) }), 0) / positions.length);
        const line = means.map((mean) => mean - means[0]);
        return [{ tone: 0, values: line, text: textOf(line) }];
    });
    fill(place("says-note"), `what seeds in a house are worth against an empty one, in seeds: the mean over ${positions.length} positions in which nothing else is changed`);
    drawBoard(target, values);
}

export function showSays(one) {
    const target = el("div", { class: "says" });
    place("says").replaceChildren(target);
    ({ table: sayTable, features: sayFeatures, net: sayNet })[one.kind](one, target);
}
