// The board as SVG, for the pages Games and Play: both rows, the stores, what the last move did. Sowing runs counter-
// clockwise, South's A to F from left to right below and North's a to f from right to left above, or turned about for
// who plays North. Where houses can be chosen they are buttons; otherwise the whole is a picture with a description.

export const LETTERS = "ABCDEFabcdef";
const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 640, HEIGHT = 266, COLUMN = 82, LEFT = 115, ROW = { upper: 84, lower: 180 }, PIT = 36;
const STORE = { width: 62, height: 184, left: 6, right: 572, top: 40 };
const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const STEP_MS = 130, SOWING_MS = 1300, TAKING_MS = 450, TAKING_STEP_MS = 40;

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Where the seeds of a house go, in order: the house itself is passed over on every lap. */
export function sowing(houses, house) {
    const path = [];
    for (let at = house; path.length < houses[house];) {
        at = (at + 1) % 12;
        if (at !== house) path.push(at);
    }
    const sown = [...houses];
    sown[house] = 0;
    path.forEach((to) => { sown[to] += 1; });
    return { path, sown };
}

/** The houses a move emptied into its store: those of the other row that hold less than was sown. */
export function captures(before, house, after) {
    const { sown } = sowing(before.houses, house);
    const row = house < 6 ? 6 : 0;
    return [0, 1, 2, 3, 4, 5].map((i) => i + row).filter((at) => after.houses[at] < sown[at])
        .map((at) => ({ house: at, seeds: sown[at] - after.houses[at] }));
}

/** `4-4-...-S`, as every tool of Kroo reads it. */
export function positionText({ houses, stores, side }) {
    return [...houses, ...stores, side === 0 ? "S" : "N"].join("-");
}

export const sideName = (side) => (side === 0 ? "South" : "North");
const seedsText = (seeds) => `${seeds} ${seeds === 1 ? "seed" : "seeds"}`;

function make(name, attributes, parent) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent?.append(element);
    return element;
}

// Seeds lie as in a sunflower; the same number lies the same way each time.
function seedPlaces(count, width, height, turn) {
    const spread = Math.min(9.6, Math.min(width, height) / Math.sqrt(Math.max(count, 1)));
    const stretch = height / width;
    return Array.from({ length: count }, (_, i) => {
        const distance = count === 1 ? 0 : spread * Math.sqrt(i + 0.4), angle = i * GOLDEN + turn;
        const tall = stretch > 1.5 ? 1.9 : 1;
        return [distance * Math.cos(angle), distance * Math.sin(angle) * tall];
    });
}

export class Board {
    #svg;
    #houses = [];
    #stores = [];
    #flipped = false;
    #showing = 0;
    #state = null;
    #choose;

    /** `choose(house)` is called with a legal house; without it nothing can be chosen. */
    constructor(container, { choose = null } = {}) {
        this.#choose = choose;
        this.#svg = make("svg", { class: "board", viewBox: `0 0 ${WIDTH} ${HEIGHT}` });
        make("rect", { class: "board-wood", x: 1, y: 28, width: WIDTH - 2, height: 208, rx: 28 }, this.#svg);
        for (let side = 0; side < 2; side += 1) this.#stores.push(this.#makeStore());
        for (let house = 0; house < 12; house += 1) this.#houses.push(this.#makeHouse(house));
        this.marks = make("g", { class: "board-marks", "aria-hidden": "true" }, this.#svg);
        this.#svg.setAttribute("role", choose ? "group" : "img");
        if (choose) this.#listen();
        container.replaceChildren(this.#svg);
        this.#place();
    }

    // --- parts ---

    #makeHouse(house) {
        const group = make("g", { class: "board-house", "data-house": LETTERS[house] }, this.#svg);
        make("circle", { class: "board-pit", r: PIT }, group);
        const seeds = make("g", { class: "board-seeds" }, group);
        const words = make("g", { class: "board-words", "aria-hidden": "true" }, this.#svg);
        const label = make("text", { class: "board-letter", "text-anchor": "end", x: -4 }, words);
        const count = make("text", { class: "board-count", x: 2 }, words);
        const score = make("text", { class: "board-score", "text-anchor": "middle" }, words);
        label.textContent = LETTERS[house];
        if (this.#choose) group.setAttribute("role", "button");
        else group.setAttribute("aria-hidden", "true");
        return { group, words, seeds, label, count, score, turn: house * 1.7 };
    }

    #makeStore() {
        const group = make("g", { class: "board-store" }, this.#svg);
        const { width, height } = STORE;
        make("rect", { class: "board-pit", x: -width / 2, y: -height / 2, width, height, rx: 24 }, group);
        const seeds = make("g", { class: "board-seeds" }, group);
        const count = make("text", { class: "board-stored", "text-anchor": "middle", y: height / 2 - 14 }, group);
        const name = make("text", { class: "board-letter", "text-anchor": "middle" }, group);
        if (this.#choose) group.setAttribute("role", "img");
        else group.setAttribute("aria-hidden", "true");
        return { group, seeds, count, name };
    }

    /** The middle of a house (0..11) or of a side's store ('store0', 'store1'). */
    #point(place) {
        if (typeof place === "string") {
            const right = (place === "store0") !== this.#flipped;
            return [(right ? STORE.right : STORE.left) + STORE.width / 2, STORE.top + STORE.height / 2];
        }
        const lower = (place < 6) !== this.#flipped, index = place % 6;
        const column = lower ? index : 5 - index;
        return [LEFT + COLUMN * column, lower ? ROW.lower : ROW.upper];
    }

    #place() {
        this.#houses.forEach(({ group, words, label, count, score }, house) => {
            const [x, y] = this.#point(house), lower = y === ROW.lower;
            [group, words].forEach((part) => part.setAttribute("transform", `translate(${x} ${y})`));
            label.setAttribute("y", lower ? 78 : -63);
            count.setAttribute("y", lower ? 78 : -63);
            score.setAttribute("y", lower ? 51 : -41);
        });
        this.#stores.forEach(({ group, name }, side) => {
            const [x, y] = this.#point(`store${side}`);
            group.setAttribute("transform", `translate(${x} ${y})`);
            name.setAttribute("y", STORE.height / 2 + 34);
            name.textContent = sideName(side);
        });
    }

    /** North below, for who plays North. */
    flip(flipped) {
        this.#flipped = flipped;
        this.#place();
        if (this.#state) this.show({ ...this.#state, animate: false });
    }

    // --- what is chosen ---

    #listen() {
        this.#houses.forEach(({ group }, house) => {
            group.addEventListener("click", () => this.#chosen(house));
            group.addEventListener("keydown", (event) => this.#key(event, house));
        });
    }

    #chosen(house) {
        if (this.#state?.legal.includes(house)) this.#choose(house);
    }

    // Enter and Space choose, arrows go along the rows and between them, letters choose at once.
    #key(event, house) {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const [x, y] = this.#point(house);
        const steps = { ArrowLeft: [-COLUMN, 0], ArrowRight: [COLUMN, 0], ArrowUp: [0, -96], ArrowDown: [0, 96] };
        const step = steps[event.key];
        const letter = /^[a-f]$/i.test(event.key) ? event.key.toUpperCase().charCodeAt(0) - 65 : -1;
        if (event.key === "Enter" || event.key === " ") this.#chosen(house);
        else if (letter >= 0) this.#chosen(letter + 6 * (this.#state?.side ?? 0));
        else if (step) this.#focusAt(x + step[0], y + step[1]);
        else return;
        event.preventDefault();
        event.stopPropagation();
    }

    #focusAt(x, y) {
        const to = this.#houses.findIndex((_, house) => this.#point(house).every((at, i) => at === [x, y][i]));
        if (to < 0) return;
        this.#tabStop(to);
        this.#houses[to].group.focus();
    }

    // One house is in the tab order; arrows lead to the others.
    #tabStop(house) {
        if (!this.#choose) return;
        this.#houses.forEach(({ group }, at) => group.setAttribute("tabindex", at === house ? 0 : -1));
    }

    /** Puts the focus on a house that can be chosen. */
    focus() {
        this.#houses[this.#state?.legal[0] ?? 0].group.focus();
    }

    // --- what is shown ---

    #drawSeeds(parent, count, places) {
        parent.replaceChildren(...places.slice(0, count).map(([cx, cy]) =>
            make("circle", { class: "board-seed", cx: cx.toFixed(1), cy: cy.toFixed(1), r: 5.2 })));
    }

    #drawHouse(house, count) {
        const part = this.#houses[house];
        part.count.textContent = count;
        part.words.classList.toggle("is-empty", count === 0);
        this.#drawSeeds(part.seeds, count, seedPlaces(count, PIT - 6, PIT - 6, part.turn));
    }

    #drawStore(side, count) {
        const part = this.#stores[side];
        part.count.textContent = count;
        this.#drawSeeds(part.seeds, count, seedPlaces(count, 26, 64, side).map(([x, y]) => [x, y - 14]));
        part.group.setAttribute("aria-label", `${sideName(side)}'s store, ${seedsText(count)}`);
    }

    #draw(houses, stores) {
        houses.forEach((count, house) => this.#drawHouse(house, count));
        stores.forEach((count, side) => this.#drawStore(side, count));
    }

    #labelHouses({ houses, legal, scores }) {
        const over = legal.length === 0;
        this.#houses.forEach(({ group, score }, house) => {
            const can = legal.includes(house), value = scores?.get(house) ?? "";
            group.classList.toggle("is-legal", can);
            score.textContent = value;
            if (!this.#choose) return;
            const choice = over ? "" : can ? ", legal" : ", not legal";
            group.setAttribute("aria-disabled", can ? "false" : "true");
            group.setAttribute("aria-label",
                `house ${LETTERS[house]}, ${seedsText(houses[house])}${choice}${value ? `, score ${value}` : ""}`);
        });
        this.#tabStop(legal[0] ?? 0);
    }

    #describe({ houses, stores, side, over }) {
        if (this.#choose) {
            this.#svg.setAttribute("aria-label", over ? "Board, the game is over" : `Board, ${sideName(side)} to move`);
            return;
        }
        const row = (from) => houses.slice(from, from + 6).map((n, i) => `${LETTERS[from + i]} ${n}`).join(", ");
        this.#svg.setAttribute("aria-label", `${over ? 'The end' : `${sideName(side)} to move`}. South: ${row(0)}; store `
            + `${stores[0]}. North: ${row(6)}; store ${stores[1]}.`);
    }

    // The last move: where it began, where it ended, what it took.
    #mark({ before, move, houses, stores }) {
        const marks = [];
        if (before) {
            const { path } = sowing(before.houses, move);
            const ring = (place, kind) => {
                const [cx, cy] = this.#point(place);
                marks.push(make("circle", { class: `board-ring ${kind}`, cx, cy, r: PIT + 4 }));
            };
            const badge = (place, text, down) => {
                const [x, y] = this.#point(place);
                const element = make("text", { class: "board-badge", x, y: y + down, "text-anchor": "middle" });
                element.textContent = text;
                marks.push(element);
            };
            ring(move, "is-from");
            if (path.length > 0) ring(path.at(-1), "is-last");
            const taken = captures(before, move, { houses });
            taken.forEach(({ house, seeds }) => badge(house, `−${seeds}`, 6));
            const side = move < 6 ? 0 : 1, gain = stores[side] - before.stores[side];
            if (gain > 0) badge(`store${side}`, `+${gain}`, 52);
        }
        this.marks.replaceChildren(...marks);
    }

    /**
     * Shows a position: `houses`, `stores`, `side`; `legal` houses to choose from; `before` and `move`, the position and
     * house it came from; `over`; `scores`, a Map from house to a short text; `animate`. Resolves when all is in place,
     * to false where something else was shown meanwhile.
     */
    async show(state) {
        const showing = this.#showing += 1;
        this.#state = { legal: [], before: null, move: null, over: false, scores: null, ...state };
        const still = matchMedia("(prefers-reduced-motion: reduce)").matches || document.hidden;
        this.#labelHouses(this.#state);
        this.#describe(this.#state);
        if (state.animate && this.#state.before && !still) {
            this.marks.replaceChildren();
            await this.#animate(this.#state, () => showing === this.#showing);
            if (showing !== this.#showing) return false;
        }
        this.#draw(this.#state.houses, this.#state.stores);
        this.#mark(this.#state);
        return true;
    }

    /** Scores beside the houses, without touching the rest. */
    score(scores) {
        if (!this.#state) return;
        this.#state.scores = scores;
        this.#labelHouses(this.#state);
    }

    // --- movement ---

    async #fly(from, to, duration) {
        const [x, y] = this.#point(from), [toX, toY] = this.#point(to);
        const seed = make("circle", { class: "board-seed is-flying", cx: x, cy: y, r: 5.6 }, this.#svg);
        const lift = -18 - Math.abs(toX - x) / 14;
        const steps = [{ transform: "translate(0, 0)" },
            { transform: `translate(${(toX - x) / 2}px, ${(toY - y) / 2 + lift}px)` },
            { transform: `translate(${toX - x}px, ${toY - y}px)` }];
        try {
            await seed.animate(steps, { duration, easing: "ease-in-out" }).finished;
        } finally {
            seed.remove();
        }
    }

    /* Seeds leave their house one by one, and are counted where they land. */
    async #animate({ before, move, houses }, current) {
        const { path, sown } = sowing(before.houses, move);
        const counts = [...before.houses], step = Math.min(STEP_MS, SOWING_MS / Math.max(path.length, 1));
        const count = (house, change) => {
            counts[house] += change;
            this.#drawHouse(house, counts[house]);
        };
        this.#draw(counts, before.stores);
        await Promise.all(path.map(async (to, i) => {
            await pause(i * step);
            if (!current()) return;
            count(move, -1);
            await this.#fly(move, to, 3 * step);
            if (current()) count(to, 1);
        }));
        if (!current()) return;
        const store = `store${move < 6 ? 0 : 1}`;
        await Promise.all(captures(before, move, { houses }).flatMap(({ house, seeds }) => {
            this.#drawHouse(house, sown[house] - seeds);
            return Array.from({ length: seeds }, (_, i) => pause(i * TAKING_STEP_MS).then(() => current() && this.#fly(house, store, TAKING_MS)));
        }));
    }
}
