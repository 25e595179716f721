/* Plots: uPlot in the page's colours, drawn anew when these or the width change. */
import uPlot from "./uPlot.esm.js";

function colours() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(`--${name}`).trim();
    return { accent: of("accent"), cool: of("cool"), good: of("good"), bad: of("bad"), ink: of("ink"),
        muted: of("muted"), line: of("line"), faint: of("faint") };
}

function axis(tones, label, values) {
    return {
        stroke: tones.muted,
        grid: { stroke: tones.faint, width: 1 },
        ticks: { stroke: tones.line, width: 1, size: 4 },
        font: "11px system-ui, sans-serif",
        labelFont: "11px system-ui, sans-serif",
        label,
        labelSize: label ? 16 : 0,
        labelGap: 2,
        ...(values ? { values: (u, splits) => splits.map((split) => (split === null ? "" : values(split))) } : {}),
    };
}

/* Clock times, and the date where a day begins. */
function clock(seconds) {
    const date = new Date(seconds * 1000);
    return date.getHours() + date.getMinutes() === 0 ? date.toLocaleDateString("sv") : date.toLocaleTimeString("sv", { timeStyle: "short" });
}

function lineSeries(line, tones) {
    const stroke = tones[line.tone ?? "accent"];
    return {
        label: line.label,
        stroke,
        width: line.width ?? 1.5,
        dash: line.dash,
        spanGaps: line.spanGaps ?? false,
        fill: line.fill ? stroke + "22" : undefined,
        paths: line.steps ? uPlot.paths.stepped({ align: 1 })
            : line.bars ? uPlot.paths.bars({ size: [line.bars === true ? 0.9 : line.bars, 60] }) : undefined,
        points: { show: line.points ?? false, size: 5, stroke, fill: stroke },
        value: (u, value) => (value === null || value === undefined ? "–" : (line.value ?? String)(value)),
    };
}

function options(spec, width, tones) {
    return {
        width,
        height: spec.height ?? 220,
        padding: [8, 10, 0, 0],
        cursor: { points: { size: 6 }, drag: { x: spec.zoom ?? false, y: false } },
        legend: { show: spec.legend ?? true },
        scales: { x: { time: spec.time ?? false, range: spec.xRange }, y: { range: spec.yRange } },
        axes: [{ ...axis(tones, spec.xLabel, spec.xValues ?? (spec.time ? clock : undefined)), size: 30, space: spec.time ? 80 : 50 }, { ...axis(tones, spec.yLabel, spec.yValues), size: spec.ySize ?? 48 }],
        series: [{ label: spec.xName ?? spec.xLabel ?? "x", value: spec.xValue ? (u, value) => (value === null ? "–" : spec.xValue(value)) : undefined },
            ...spec.lines.map((line) => lineSeries(line, tones))],
        bands: (spec.bands ?? []).map(([high, low, tone]) => ({ series: [high + 1, low + 1], fill: tones[tone ?? "accent"] + "26" })),
    };
}

/** Draws into `place`. spec: { label (for those who do not see it), lines: [{ label, values, tone: accent, cool, good, bad,
 * ink or muted; dash, width, points, steps, bars, fill, value(v) }], x: numbers in order, time: x is seconds since 1970,
 * xLabel, yLabel, xName, xValues(v), yValues(v), xValue(v), xRange, yRange, bands: [[upper line, lower line, tone]], height,
 * legend, zoom }. Returns { update(x, valuesOfEachLine), destroy() }. */
export function plot(place, spec) {
    let data = [spec.x, ...spec.lines.map((line) => line.values)];
    let chart = null;
    place.classList.add("plot");
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", spec.label);
    const draw = () => {
        const width = Math.floor(place.clientWidth);
        if (width < 40) return;
        chart?.destroy();
        chart = new uPlot(options(spec, width, colours()), data, place);
        chart.root.querySelector("canvas").setAttribute("aria-hidden", "true");
    };
    const watcher = new ResizeObserver(() => {
        const width = Math.floor(place.clientWidth);
        if (!chart) draw();
        else if (width >= 40 && width !== chart.width) chart.setSize({ width, height: spec.height ?? 220 });
    });
    watcher.observe(place);
    document.addEventListener("kroo-theme", draw);
    draw();
    return {
        update(x, values) {
            data = [x, ...values];
            if (chart) chart.setData(data);
            else draw();
        },
        destroy() {
            watcher.disconnect();
            document.removeEventListener("kroo-theme", draw);
            chart?.destroy();
        },
    };
}
