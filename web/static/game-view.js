// One stored game: the board that steps through it, what each move did, and the score of each ply as a curve.
import { dutySentences, endSentences, moveSentences, scoreText } from "./announce.js";
import { Board, LETTERS, positionText, sideName } from "./board.js";
import { copy } from "./copy.js";
import { plot } from "./plot.js";
import { el, fill, number, plural } from "./shell.js";

/* A curve in seeds; what is proven stands at its edge. */
const SCORE_MOST = 26, PROVEN = 30000;
const place = (id) => document.getElementById(id);

/** South's view in seeds of a mover's score in hundredths. */
function southScore(score, side) {
    if (score === null) return null;
    const seeds = Math.abs(score) > PROVEN ? Math.sign(score) * SCORE_MOST : Math.max(-SCORE_MOST, Math.min(SCORE_MOST, score / 100));
    return side === 0 ? seeds : -seeds;
}

export class GameView {
    #engine;
    #board;
    #game = null;
    #line = null;
    #ply = 0;
    #chart = null;
    #curves = [];
    #moved;

    /** `moved(id, ply)` hears of every step. */
    constructor(engine, moved) {
        this.#engine = engine;
        this.#moved = moved;
        this.#board = new Board(place("board"));
        this.#board.show({ ...engine.play().plies[0], over: false });
        this.#listen();
    }

    get ply() {
        return this.#ply;
    }

    /** A game as /api/game tells it. */
    open(game, ply) {
        this.#line = { ...this.#engine.play({ rules: game.rules, moves: game.moves }), result: game.result, reason: game.reason };
        this.#game = game;
        place("game").classList.remove("empty-game");
        place("game-title").textContent = `${game.south} – ${game.north}`;
        fill(place("game-note"), el("a", { href: `/experiment?id=${game.experiment}` }, `experiment ${game.experiment}`),
            `, pair ${number(game.pair)}, game ${game.leg + 1}${game.counts ? "" : ", not counted"}; rules ${game.rules}`
            + `${game.worker ? `; played by ${game.worker}` : ""}`);
        place("ply").max = game.plies;
        this.#drawMoves();
        this.#drawCurve();
        this.go(Math.max(0, Math.min(ply, game.plies)));
    }

    #drawMoves() {
        const { plies } = this.#line, items = [];
        const button = (ply) => {
            const taken = plies[ply].stores.some((count, side) => count > plies[ply - 1].stores[side]);
            return el("button", { type: "button", class: taken ? "capture" : null, "data-ply": ply, tabindex: -1,
                "aria-label": `move ${ply}, ${this.#line.moves[ply - 1]}${taken ? ", a capture" : ""}` }, this.#line.moves[ply - 1]);
        };
        for (let ply = 1; ply <= this.#game.plies; ply += 2)
            items.push(el("li", null, el("span", { class: "n" }, (ply + 1) / 2), button(ply), ply < this.#game.plies ? button(ply + 1) : null));
        place("moves").replaceChildren(...items);
    }

    #drawCurve() {
        const { plies } = this.#line, { scores } = this.#game;
        const x = plies.map((_, ply) => ply);
        const lead = plies.map(({ stores }) => stores[0] - stores[1]);
        const lines = [{ label: "captured, South's lead", values: lead, tone: "cool", steps: true }];
        this.#curves = [lead];
        if (scores) {
            const south = [...scores.map((score, ply) => southScore(score, plies[ply].side)), null];
            lines.push({ label: "score, South's view", values: south, tone: "accent", width: 2, spanGaps: true });
            this.#curves.push(south);
        }
        lines.push({ label: "here", values: x.map(() => null), tone: "ink", points: true });
        this.#chart?.destroy();
        place("curve").replaceChildren();
        this.#chart = plot(place("curve"), { label: scores ? "Score of each move and South's lead in captured seeds, by move"
            : "South's lead in captured seeds, by move; this experiment keeps no scores", x, lines, height: 170, xName: "move", yLabel: "seeds" });
    }

    #markCurve() {
        const at = this.#curves.at(-1)[this.#ply] ?? this.#curves[0][this.#ply];
        const here = this.#line.plies.map((_, ply) => (ply === this.#ply ? at : null));
        this.#chart.update(this.#line.plies.map((_, ply) => ply), [...this.#curves, here]);
    }

    /** Goes to the position after `ply` moves. */
    go(ply, { animate = false } = {}) {
        if (!this.#game || ply < 0 || ply > this.#game.plies) return;
        this.#ply = ply;
        const { plies, moves } = this.#line, atEnd = ply === this.#game.plies, here = plies[ply];
        this.#board.show({ ...here, legal: [], over: atEnd, animate, before: ply ? plies[ply - 1] : null,
            move: ply ? LETTERS.indexOf(moves[ply - 1]) : null });
        const score = this.#game.scores?.[ply - 1] ?? null;
        place("where").textContent = `${ply ? `Move ${ply} of ${this.#game.plies}` : `The start of ${plural(this.#game.plies, "move")}`}`
            + `${score === null ? "" : `, for ${sideName(plies[ply - 1].side)}: ${scoreText(score)}`}`;
        const said = [...(ply ? moveSentences(this.#line, ply) : []),
            ...(atEnd ? endSentences({ ...this.#line, stores: this.#game.stores }) : dutySentences(this.#line, ply))];
        fill(place("said"), ...said.map((sentence) => el("p", { class: "now" }, sentence)));
        this.#showStep();
        this.#markCurve();
        this.#moved(this.#game.id, ply);
    }

    #showStep() {
        place("ply").value = this.#ply;
        place("ply").setAttribute("aria-valuetext", place("where").textContent);
        ["first", "back"].forEach((id) => { place(id).disabled = this.#ply === 0; });
        ["last", "forth"].forEach((id) => { place(id).disabled = this.#ply === this.#game.plies; });
        const list = place("moves");
        list.querySelector("[aria-current]")?.removeAttribute("aria-current");
        const current = list.querySelector(`[data-ply="${this.#ply}"]`);
        current?.setAttribute("aria-current", "step");
        if (current) list.scrollTop += current.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2;
        const words = new URLSearchParams({ moves: this.#game.moves.slice(0, this.#ply), side: "both" });
        if (this.#game.rules !== "site") words.set("rules", this.#game.rules);
        place("play-on").href = `/play?${words}`;
    }

    #step(key) {
        const steps = { ArrowLeft: this.#ply - 1, ArrowRight: this.#ply + 1, Home: 0, End: this.#game?.plies };
        if (!this.#game || !(key in steps)) return false;
        this.go(steps[key], { animate: key === "ArrowRight" });
        return true;
    }

    #listen() {
        const click = (id, act) => place(id).addEventListener("click", act);
        click("first", () => this.#step("Home"));
        click("back", () => this.#step("ArrowLeft"));
        click("forth", () => this.#step("ArrowRight"));
        click("last", () => this.#step("End"));
        click("moves", ({ target }) => target.dataset.ply && this.go(Number(target.dataset.ply)));
        place("ply").addEventListener("input", ({ target }) => this.go(Number(target.value)));
        /* Arrows step wherever they have no other use. */
        document.addEventListener("keydown", (event) => {
            if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
            if (event.target.closest?.("input, select, textarea, [role=region]")) return;
            if (this.#step(event.key)) event.preventDefault();
        });
        click("copy-game", () => copy(this.#game.moves, "Game", place("copied")));
        click("copy-position", () => copy(positionText(this.#line.plies[this.#ply]), "Position", place("copied")));
        click("copy-link", () => copy(location.href, "Link", place("copied")));
    }
}
