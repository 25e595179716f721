/* What every page shares: the frame (header, navigation, skip link, theme), asking the coordinator, live events, and
 * words for numbers. */

const pages = [
    ["/", "Cluster"],
    ["/experiment", "Experiments"],
    ["/games", "Games"],
    ["/weights", "Weights"],
    ["/play", "Play"],
    ["/ratings", "Ratings"],
];
const themes = { auto: "system colours", light: "light colours", dark: "dark colours" };

/** An element: el("a", { href: "/" }, "text", other). `class`, `on<Event>` and attributes as they are; null children are
 * left out. */
export function el(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (value === null || value === undefined || value === false) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2).toLowerCase(), value);
        else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
    return element;
}

/** The same for SVG. */
export function svg(tag, attributes, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes ?? {}))
        if (value !== null && value !== undefined) element.setAttribute(name, value);
    element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
    return element;
}

/** Puts the children in place of what is there, unless they say the same: a reader's selection and focus stay. */
export function fill(element, ...children) {
    const fresh = el("div", null, ...children);
    if (fresh.innerHTML !== element.innerHTML || fresh.querySelector("button, canvas"))
        element.replaceChildren(...fresh.childNodes);
}

/* --- the frame --- */

function readTheme() {
    try {
        return themes[localStorage.getItem("kroo-theme")] ? localStorage.getItem("kroo-theme") : "auto";
    } catch {
        return "auto"; /* storage is refused */
    }
}

function applyTheme(theme) {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    document.dispatchEvent(new Event("kroo-theme"));
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new Event("kroo-theme")));

function themeButton() {
    const button = el("button", { type: "button", class: "plain" });
    const say = () => (button.textContent = themes[readTheme()]);
    button.addEventListener("click", () => {
        const names = Object.keys(themes);
        const next = names[(names.indexOf(readTheme()) + 1) % names.length];
        try {
            localStorage.setItem("kroo-theme", next);
        } catch {
            /* it lasts as long as the page */
        }
        applyTheme(next);
        say();
    });
    say();
    return button;
}

const liveMark = el("span", { class: "live", role: "status" }, "read once");

function brand() {
    const seeds = [[5, 8], [11, 5], [17, 8], [5, 15], [11, 18], [17, 15]];
    return el("a", { class: "brand", href: "/" },
        svg("svg", { width: 22, height: 23, viewBox: "0 0 22 23", "aria-hidden": "true" },
            seeds.map(([x, y], i) => svg("circle", { cx: x, cy: y, r: 2.6, fill: i === 4 ? "var(--accent)" : "currentColor" }))),
        "Kroo");
}

function frame() {
    const here = location.pathname === "/index" ? "/" : location.pathname;
    const items = pages.map(([path, name]) =>
        el("li", null, el("a", { href: path, "aria-current": path === here ? "page" : null }, name)));
    document.body.prepend(
        el("a", { class: "skip", href: "#main" }, "Skip to the content"),
        el("header", { class: "bar" },
            el("div", null, brand(), el("nav", { "aria-label": "Pages" }, el("ul", null, items)),
                el("div", { class: "tools" }, liveMark, themeButton()))));
    const main = document.querySelector("main");
    main.id = "main";
    main.tabIndex = -1;
    main.prepend(el("div", { class: "trouble", role: "alert", id: "trouble" }));
}
applyTheme(readTheme());
frame();

/** Says what went wrong at the head of the page; "" takes it back. */
export function trouble(text) {
    const place = document.getElementById("trouble");
    if (place.textContent !== text) place.textContent = text;
}

/* --- asking --- */

/** The JSON of a path below /api/. What goes wrong is shown at the head of the page and thrown, with `status`. */
export async function ask(path, { quiet = false } = {}) {
    let reply, answer;
    try {
        reply = await fetch(path, { headers: { Accept: "application/json" }, cache: "no-store" });
        answer = await reply.json();
    } catch {
        const error = new Error("The coordinator does not answer. Is the cluster up?");
        if (!quiet) trouble(error.message);
        throw error;
    }
    if (reply.ok) {
        if (!quiet) trouble("");
        return answer;
    }
    const error = Object.assign(new Error(answer.error ?? `status ${reply.status}`), { status: reply.status });
    if (!quiet) trouble(`The coordinator refused: ${error.message}`);
    throw error;
}

/** Calls onPulse({at, games, games_per_second, workers, event, fault, experiments}) every two seconds; the connection is
 * made again when it breaks, and given up while nobody sees the page. Returns a function that ends it. */
export function live(onPulse) {
    let source = null;
    const mark = (state, text) => {
        liveMark.dataset.state = state;
        if (liveMark.textContent !== text) liveMark.textContent = text;
    };
    const open = () => {
        if (source || document.hidden) return;
        source = new EventSource("/api/events");
        source.addEventListener("pulse", (event) => {
            mark("live", "live");
            onPulse(JSON.parse(event.data));
        });
        source.addEventListener("trouble", () => mark("lost", "no database"));
        source.addEventListener("error", () => {
            mark("lost", "not live");
            if (source?.readyState === EventSource.CLOSED) {
                close();
                setTimeout(open, 10000); /* refused: too many listen */
            }
        });
    };
    const close = () => {
        source?.close();
        source = null;
    };
    const visibility = () => (document.hidden ? close() : open());
    document.addEventListener("visibilitychange", visibility);
    open();
    return () => {
        document.removeEventListener("visibilitychange", visibility);
        close();
        mark("", "read once");
    };
}

/* --- words for numbers --- */

export const dash = "–";
const minus = (text) => text.replace("-", "−");

/** 12345.6 -> "12,346"; with digits: fixed. */
export function number(value, digits = 0) {
    if (value === null || value === undefined || Number.isNaN(Number(value))) return dash;
    return minus(Number(value).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }));
}
/** +3.4, −2.0 */
export function signed(value, digits = 1) {
    if (value === null || value === undefined) return dash;
    return (Number(value) > 0 ? "+" : "") + number(value, digits);
}
/** 0.1234 -> "12.3 %" */
export function percent(value, digits = 1) {
    return value === null || value === undefined ? dash : `${number(100 * value, digits)} %`;
}
/** Seconds in the two greatest units: "3 h 20 min". */
export function duration(seconds) {
    if (seconds === null || seconds === undefined || !Number.isFinite(Number(seconds))) return dash;
    let rest = Math.round(Number(seconds));
    const parts = [];
    for (const [unit, size] of [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]]) {
        if (rest < size && !(unit === "s" && !parts.length)) {
            if (parts.length) break;
            continue;
        }
        parts.push(`${Math.floor(rest / size)} ${unit}`);
        if (parts.length === 2 || rest >= 10 * size) break; /* "46 min", "3 h 20 min" */
        rest %= size;
    }
    return parts.join(" ");
}
/** Seconds since 1970 as local date and time. */
export function moment(seconds) {
    if (!seconds) return dash;
    return new Date(seconds * 1000).toLocaleString("sv", { dateStyle: "short", timeStyle: "short" });
}
/** A moment as a <time>: the clock today, the date before. */
export function when(seconds) {
    if (!seconds) return dash;
    const date = new Date(seconds * 1000);
    const today = date.toDateString() === new Date().toDateString();
    const text = today ? date.toLocaleTimeString("sv") : date.toLocaleDateString("sv");
    return el("time", { datetime: date.toISOString(), title: moment(seconds), class: "nowrap" }, text);
}

export const plural = (count, word) => `${number(count)} ${word}${Number(count) === 1 ? "" : "s"}`;

/** A link to an experiment's page. */
export function experimentLink(id, text = `#${id}`) {
    return el("a", { href: `/experiment?id=${id}` }, text);
}

/** Words for an experiment's state or verdict as a tag. */
export function stateTag(state) {
    const tone = { running: "accent", accepted: "good", rejected: "bad", blocked: "bad", aborted: "bad" }[state] ?? "";
    return el("span", { class: `tag ${tone}` }, state);
}

/** A table: columns are [name, kind] with kind "number", "text", "unseen" (named for readers of screens only), or "name" (the row's header); rows are arrays. */
export function table(caption, columns, rows, empty = "none") {
    if (!rows.length) return el("p", { class: "empty" }, empty);
    const cell = (content, i) =>
        el(columns[i][1] === "name" ? "th" : "td",
            { class: columns[i][1] === "number" ? "number" : null, scope: columns[i][1] === "name" ? "row" : null }, content);
    return el("table", null,
        el("caption", { class: "visually-hidden" }, caption),
        el("thead", null, el("tr", null, columns.map(([name, kind]) =>
            el("th", { scope: "col", class: kind === "number" ? "number" : null },
                kind === "unseen" ? el("span", { class: "visually-hidden" }, name) : name)))),
        el("tbody", null, rows.map((row) => el("tr", null, row.map(cell)))));
}

/** A thin bar of a share from 0 to 1, in a tone of plot.js or one of these with "-soft" behind it. */
export function track(share, label, tone = "accent") {
    const width = Math.max(0, Math.min(1, Number(share) || 0)) * 100;
    return el("span", { class: "track", role: "img", "aria-label": label ?? percent(share, 0) },
        svg("svg", { viewBox: "0 0 100 6", preserveAspectRatio: "none" },
            svg("rect", { class: `fill ${tone}`, width, height: 6, x: 0, y: 0 })));
}
