/* Figures in SVG, where a plot of lines would not do: axes, error bars, drawn anew when the width changes. */
import { number, svg } from "./shell.js";

/** Round numbers from lo to hi, about `most` of them. */
export function ticks(lo, hi, most = 6) {
    const span = hi - lo || 1;
    const power = 10 ** Math.floor(Math.log10(span / most));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => span / size <= most);
    const first = Math.ceil(lo / step - 1e-9);
    return Array.from({ length: Math.floor(hi / step + 1e-9) - first + 1 }, (none, i) => (first + i) * step);
}

/** Digits behind the point that tell such ticks apart. */
const digits = (marks) => (marks.length < 2 ? 0 : Math.max(0, -Math.floor(Math.log10(marks[1] - marks[0]) + 1e-9)));

/** A range with some air, or `least` where there is nothing. */
export function range(values, { air = 0.06, least = [0, 1] } = {}) {
    const known = values.filter((value) => Number.isFinite(value));
    if (!known.length) return least;
    const lo = Math.min(...known), hi = Math.max(...known), more = (hi - lo || Math.abs(hi) || 1) * air;
    return [lo - more, hi + more];
}

export const scale = ([lo, hi], from, to) => (value) => from + ((value - lo) / (hi - lo || 1)) * (to - from);

/** Puts draw(width) into `place` now and whenever its width changes. */
export function drawn(place, draw) {
    let last = 0;
    const again = () => {
        const width = Math.floor(place.clientWidth);
        if (width < 40 || width === last) return;
        last = width;
        place.replaceChildren(draw(width));
    };
    place.watcher?.disconnect();
    place.watcher = new ResizeObserver(again);
    place.watcher.observe(place);
    last = 0;
    again();
}

/** Axes with what marks(x, y) draws between them. Of each axis: { range, label, marks: where, say(value) }. */
export function chart({ width, height, label, x, y, left = 44, top = 8, right = 10 }, marks) {
    const bottom = height - (x.label ? 36 : 20);
    const across = scale(x.range, left, width - right), up = scale(y.range, bottom, top);
    const xs = x.marks ?? ticks(...x.range, Math.max(2, Math.floor((width - left) / 60)));
    const ys = y.marks ?? ticks(...y.range, Math.max(2, Math.floor((bottom - top) / 36)));
    const sayX = x.say ?? ((value) => number(value, digits(xs))), sayY = y.say ?? ((value) => number(value, digits(ys)));
    return svg("svg", { class: "figure", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
        xs.map((value) => svg("line", { class: "grid", x1: across(value), x2: across(value), y1: top, y2: bottom })),
        ys.map((value) => svg("line", { class: "grid", x1: left, x2: width - right, y1: up(value), y2: up(value) })),
        xs.map((value) => svg("text", { class: "mark middle", x: across(value), y: bottom + 14 }, sayX(value))),
        ys.map((value) => svg("text", { class: "mark end", x: left - 6, y: up(value) + 4 }, sayY(value))),
        x.label ? svg("text", { class: "name middle", x: (left + width - right) / 2, y: height - 4 }, x.label) : null,
        y.label ? svg("text", { class: "name middle", transform: `translate(11 ${(top + bottom) / 2}) rotate(-90)` }, y.label) : null,
        marks(across, up));
}

/** A line through the points that are known. */
export function path(points, x, y) {
    let text = "", open = false;
    for (const [a, b] of points) {
        const known = Number.isFinite(a) && Number.isFinite(b);
        if (known) text += `${open ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`;
        open = known;
    }
    return text;
}
