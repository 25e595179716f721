/* How a fit went: its loss step by step, its calibration, and how near to perfect play it came. */
import { el, fill, number, percent, svg, table } from "./shell.js";
import { chart, drawn } from "./figure.js";
import { plot } from "./plot.js";

export const PHASES = ["36 seeds and more", "24 to 35 seeds", "12 to 23 seeds", "under 12 seeds"];
const TONES = ["accent", "cool", "good", "muted"];
const FEW = 20; /* positions that make no point */

const place = (id) => document.getElementById(id);

export const key = () => el("ul", { class: "key" }, PHASES.map((name, i) => el("li", { class: `tone-${i}` }, name)));

const none = (what) => el("p", { class: "empty" }, what);
const notHere = (one) => (one.training ? "This fit kept none." : "No fit of this database made these weights.");

/* --- loss --- */

function linesOf(curve) {
    const epochs = curve.find((entry) => entry.epochs)?.epochs;
    const value = (loss) => number(loss, 4);
    if (epochs)
        return { xLabel: "epoch", x: epochs.map((none, i) => i + 1), lines: [{ label: "training", values: epochs.map((row) => row.training), value },
            { label: "validation", values: epochs.map((row) => row.validation || null), tone: "cool", dash: [5, 4], value }] };
    const phases = curve.filter((entry) => entry.steps?.length);
    const most = Math.max(0, ...phases.map((entry) => entry.steps.length));
    return { xLabel: "Newton step", x: Array.from({ length: most }, (none, i) => i), lines: phases.map((entry) => ({ label: PHASES[entry.phase], tone: TONES[entry.phase], points: true,
        values: Array.from({ length: most }, (none, i) => entry.steps[i]?.loss ?? null), value })) };
}

export function showLoss(one) {
    const curve = one.fit?.curve ?? [], { x, xLabel, lines } = linesOf(curve);
    place("loss").replaceChildren();
    fill(place("loss-note"), lines.length ? `cross-entropy by ${xLabel}` : "");
    if (!lines.length) {
        fill(place("loss"), none(notHere(one)));
        fill(place("loss-more"));
        return;
    }
    plot(place("loss"), { label: `Loss by ${xLabel}`, x, lines, xLabel, yValues: (value) => number(value, 2), xValues: (value) => (Number.isInteger(value) ? number(value) : ""), height: 250 });
    const { validation_loss_before: before, validation_loss_after: after, validation_gain_se: se } = one.training;
    fill(place("loss-more"), before === null ? "" : `On the games set aside: ${number(before, 4)} before, ${number(after, 4)} after, difference ${number(after - before, 4)} ± ${number(se, 4)} by game.`);
}

/* --- calibration --- */

function distance(phases) {
    const bins = phases.flatMap((entry) => entry.calibration), all = bins.reduce((sum, bin) => sum + bin.positions, 0);
    return all ? bins.reduce((sum, bin) => sum + bin.positions * Math.abs(bin.predicted - bin.target), 0) / all : null;
}

function points(phases, width) {
    const most = Math.max(...phases.flatMap((entry) => entry.calibration.map((bin) => bin.positions)));
    const size = Math.min(width, 460);
    return chart({ width: size, height: Math.min(size, 320), label: `Calibration: mean distance ${number(distance(phases), 3)}`, x: { range: [0, 1], label: "what the weights expect" },
        y: { range: [0, 1], label: "what came of it" } }, (x, y) => [
        svg("path", { class: "diagonal", d: `M${x(0)} ${y(0)}L${x(1)} ${y(1)}` }),
        phases.flatMap((entry) => entry.calibration.filter((bin) => bin.positions >= FEW).map((bin) =>
            svg("circle", { class: `dot tone-${entry.phase}`, cx: x(bin.predicted), cy: y(bin.target), r: 2.5 + 4.5 * Math.sqrt(bin.positions / most) },
                svg("title", null, `${PHASES[entry.phase]}: expected ${number(bin.predicted, 3)}, came to ${number(bin.target, 3)} in ${number(bin.positions)} positions`)))),
    ].flat());
}

export function showCalibration(one) {
    const phases = (one.fit?.curve ?? []).filter((entry) => entry.calibration?.some((bin) => bin.positions > 0));
    if (!phases.length) {
        fill(place("calibration-note"));
        fill(place("calibration"), none(notHere(one)));
        return;
    }
    fill(place("calibration-note"), `mean distance ${number(distance(phases), 3)} over ${number(one.fit.validation_positions)} positions set aside`);
    const figure = el("div", null);
    place("calibration").replaceChildren(key(), figure);
    drawn(figure, (width) => points(phases, width));
}

/* --- perfect play --- */

function measure(name, value, before) {
    return el("div", null, el("dt", null, name), el("dd", null, value, before ? el("small", null, `before: ${before}`) : null));
}

export function showPerfect(one) {
    const perfect = one.fit?.perfect, own = perfect?.own, parent = perfect?.parent;
    if (!own?.positions) {
        fill(place("perfect"));
        fill(place("perfect-note"), perfect ? "None of the positions set aside is in the tables." : one.training
            ? "This fit was not held against endgame tables (it is older than that, or its rules have none): kroo-train eval --tables measures it." : notHere(one));
        return;
    }
    const share = (part, whole) => percent(whole ? part / whole : null);
    fill(place("perfect"), measure("best moves", share(own.best, own.positions), share(parent.best, parent.positions)),
        measure("seeds given away", number(own.given_away, 3), number(parent.given_away, 3)),
        measure("winner named", share(own.agreed, own.outcomes), share(parent.agreed, parent.outcomes)));
    fill(place("perfect-note"), `A look one ply deep on ${number(own.positions)} positions set aside that tables of ${perfect.seeds} seeds know, each with a choice of moves. Before: those the fit was compared with.`);
}

/** Rows of names and four numbers, one for each phase. */
export const phaseTable = (caption, rows) => table(caption, [["term", "name"], ...PHASES.map((name) => [name, "number"])], rows);
