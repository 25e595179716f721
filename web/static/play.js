// Play: a game against the engine in the page, or the engine's view of any position. The game is moves from a start; what
// the board, the sentences and the link show follows from them.
import { dutySentences, endSentences, moveSentences, scoreText } from "./announce.js";
import { Board, LETTERS, positionText, sideName } from "./board.js";
import { copy } from "./copy.js";
import { loadEngine } from "./engine.js";
import { ask, el, fill, number, plural, table, trouble } from "./shell.js";
import { Stopped, Thinker } from "./thinker.js";

const ANALYSIS_MS = 60000, PAUSE_MS = 500, LINK_MAX = 4000, SAID_MAX = 8, WEIGHTS_LISTED = 100;
/* Seeds a player may expect to gain and still agree to end a game, in hundredths. */
const AGREES_BELOW = 50;
const place = (id) => document.getElementById(id);

const game = { rules: "site", start: "", moves: "" };
const seats = { side: "south", level: 2, seed: 1, weights: "" };
let engine, board, line;
let claimed = null; /* an ending that the moves do not show: {result, reason, houses, stores} */
let turn = 0; /* of what goes on; another number makes the older one give up */
let paused = false;
let champion = ""; /* the number of its weights, as the option has it */
const opponent = new Thinker(), analyst = new Thinker();

const ending = () => claimed ?? line;
const isOver = () => ending().result !== "unfinished";
const last = () => line.plies.at(-1);
const isMine = (side) => seats.side === "both" || seats.side === sideName(side).toLowerCase();

/* --- what is shown --- */

function say(sentences) {
    const log = place("said");
    log.querySelectorAll(".now").forEach((old) => old.classList.remove("now"));
    log.append(...sentences.map((sentence) => el("p", { class: "now" }, sentence)));
    while (log.children.length > SAID_MAX) log.firstChild.remove();
    log.scrollTop = log.scrollHeight;
}

function showTurn(thinking) {
    const side = last().side, level = place("level").selectedOptions[0]?.textContent ?? "";
    const words = isOver() ? "The game is over" : isMine(side) ? (seats.side === "both" ? `${sideName(side)} to move` : "Your turn")
        : paused ? "Paused" : `${level} thinks`;
    place("turn").textContent = words;
    place("turn").classList.toggle("thinking", thinking);
}

function showMoves() {
    const rows = [];
    for (let ply = 0; ply < game.moves.length; ply += 2)
        rows.push(el("li", null, el("span", { class: "n" }, `${ply / 2 + 1}.`), ...[...game.moves.slice(ply, ply + 2)].map((letter, i) =>
            el("span", { class: ply + i === game.moves.length - 1 ? "last" : null }, letter))));
    fill(place("moves"), ...rows);
    place("moves").scrollTop = place("moves").scrollHeight;
    place("moves-note").textContent = game.moves ? plural(game.moves.length, "move") : "none yet";
}

function showButtons() {
    const watching = seats.side === "none";
    place("undo").disabled = undone() === null;
    place("resign").disabled = isOver() || watching;
    place("agree").disabled = isOver() || watching || (!isMine(last().side) && seats.side !== "both");
    place("pause").hidden = !watching;
    place("pause").textContent = paused ? "Go on" : "Pause";
}

function showBoard(animate) {
    const number = line.plies.length - 1, legal = !isOver() && isMine(last().side) ? last().legal : [];
    const shown = isOver() && !animate ? { ...last(), houses: ending().houses, stores: ending().stores } : last();
    return board.show({ ...shown, legal, animate, over: isOver(), before: number ? line.plies[number - 1] : null,
        move: number ? LETTERS.indexOf(game.moves[number - 1]) : null });
}

function link() {
    const words = new URLSearchParams({ side: seats.side, level: seats.level, seed: seats.seed });
    if (seats.weights !== champion) words.set("weights", seats.weights);
    if (game.rules !== "site") words.set("rules", game.rules);
    if (game.start) words.set("start", game.start);
    if (game.moves) words.set("moves", game.moves);
    return `${location.pathname}?${words}`;
}

function showLink() {
    if (link().length < LINK_MAX) history.replaceState(null, "", link());
}

/* --- the course of a game --- */

/** After anything that changed the game or who plays it. `moved` animates the last move and says it. */
async function goOn({ moved = false, sentences = [] } = {}) {
    const mine = turn += 1;
    opponent.stop();
    line = engine.play(game);
    showMoves();
    showLink();
    showButtons();
    showTurn(false);
    restartAnalysis();
    if (moved) await showBoard(true);
    if (mine !== turn) return;
    if (!moved || isOver()) await showBoard(false);
    const count = line.plies.length - 1;
    say([...sentences, ...(moved ? moveSentences(line, count) : []),
        ...(isOver() ? endSentences({ ...line, ...claimed }) : dutySentences(line, count))]);
    if (!isOver() && !isMine(last().side) && !paused) await answer(mine);
}

async function answer(mine) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    showTurn(true);
    try {
        const [reply] = await Promise.all([
            opponent.ask({ game, choose: { level: seats.level, seed: seats.seed } }),
            new Promise((done) => setTimeout(done, still && seats.side !== "none" ? 0 : PAUSE_MS)),
        ]);
        if (mine === turn) play(LETTERS.indexOf(reply.move));
    } catch (error) {
        if (!(error instanceof Stopped)) trouble(`The engine: ${error.message}`);
    }
}

function play(house) {
    game.moves += LETTERS[house];
    return goOn({ moved: true });
}

/** The moves after taking back: to the turn before of whoever plays here; null where there is none. */
function undone() {
    if (claimed) return game.moves;
    for (let length = game.moves.length - 1; length >= 0; length -= 1)
        if (seats.side === "none" || isMine(line.plies[length].side)) return game.moves.slice(0, length);
    return null;
}

function undo() {
    const before = undone();
    if (before === null) return;
    game.moves = before;
    claimed = null;
    paused = seats.side === "none";
    goOn({ sentences: [`Back to ${before ? `move ${before.length + 1}` : "the start"}.`] });
}

function newGame() {
    Object.assign(game, { start: "", moves: "" });
    seats.seed = crypto.getRandomValues(new Uint32Array(1))[0];
    claimed = null;
    paused = false;
    place("said").replaceChildren();
    goOn({ sentences: ["A new game: South begins."] });
}

/** Each side's own row taken: what `agreed` and the like make of the board. */
function ownRows() {
    const rows = [0, 1].map((side) => last().houses.slice(6 * side, 6 * side + 6).reduce((sum, count) => sum + count, 0));
    const stores = last().stores.map((count, side) => count + rows[side]);
    const result = stores[0] > stores[1] ? "south" : stores[0] < stores[1] ? "north" : "draw";
    return { result, reason: "agreed", houses: Array(12).fill(0), stores };
}

function resign() {
    const side = seats.side === "both" ? last().side : seats.side === "south" ? 0 : 1;
    claimed = { result: side === 0 ? "north" : "south", reason: "resign", houses: last().houses, stores: last().stores };
    goOn();
}

/* The engine agrees when it expects to gain next to nothing by playing on. */
async function agree() {
    const mine = turn, end = ownRows(), side = last().side;
    const offer = 100 * (end.stores[side] - end.stores[1 - side]);
    if (seats.side !== "both") {
        showTurn(true);
        const nodes = engine.levels().find((level) => level.number === seats.level).nodes;
        const view = await opponent.ask({ game, search: { nodes } }).catch(() => null);
        if (mine !== turn || !view) return;
        showTurn(false);
        if (offer - view.score > AGREES_BELOW) {
            say([`${sideName(1 - side)} wants to play on: it expects to gain by it.`]);
            return;
        }
    }
    claimed = end;
    goOn();
}

/* --- analysis --- */

const isAnalysing = () => place("analyse").getAttribute("aria-pressed") === "true";

function showAnalysis(found) {
    const rows = [...found.values()].sort((a, b) => b.score - a.score);
    const [first] = rows;
    place("analysis-note").textContent = first
        ? `for ${sideName(last().side)}, in seeds; depth ${first.depth}, ${number(Math.max(...rows.map((row) => row.nodes)))} positions` : "thinking …";
    fill(place("analysis"), table("Each house with its score and best line", [["house", "name"], ["score", "number"], ["best line", "text"]],
        rows.map(({ score, pv }) => [pv[0], scoreText(score), el("span", { class: "mono" }, pv.slice(0, 24))]), "Thinking …"));
    board.score(new Map(rows.map(({ score, pv }) => [LETTERS.indexOf(pv[0]), scoreText(score).replace(/(wins|loses) in /, (_, word) => `${word === "wins" ? "+" : "−"}#`)])));
}

function restartAnalysis() {
    analyst.stop();
    board.score(null);
    if (!isAnalysing() || isOver()) {
        place("analysis-note").textContent = "";
        fill(place("analysis"), el("p", { class: "empty" }, isAnalysing() ? "The game is over." : "Shows what each house is worth, and the line behind it."));
        return;
    }
    analyse();
}

async function analyse() {
    const found = new Map(), mine = turn;
    let drawn = false;
    const draw = () => {
        drawn = false;
        if (mine === turn && isAnalysing()) showAnalysis(found);
    };
    showAnalysis(found);
    try {
        await analyst.ask({ game: { ...game }, search: { timeMs: ANALYSIS_MS, lines: 6 } }, (info) => {
            found.set(info.pv[0], info);
            if (!drawn) requestAnimationFrame(draw);
            drawn = true;
        });
    } catch (error) {
        if (!(error instanceof Stopped)) trouble(`The engine: ${error.message}`);
    }
}

/* --- weights --- */

async function useWeights(id) {
    const note = place("weights-note");
    seats.weights = id;
    let bytes = null;
    try {
        if (id !== "") {
            const reply = await fetch(`/api/weights/file?id=${id}&format=binary`);
            if (!reply.ok) throw new Error((await reply.json()).error ?? `status ${reply.status}`);
            bytes = new Uint8Array(await reply.arrayBuffer());
        }
        const told = engine.useWeights(bytes);
        if (told.rules !== game.rules && bytes) throw new Error(`they were made for the rules ${told.rules}`);
        note.textContent = bytes ? `${told.kind}, ${number(bytes.length)} bytes, checked by their own test positions` : "";
    } catch (error) {
        engine.useWeights(null);
        engine.play({ rules: game.rules });
        seats.weights = "";
        place("weights").value = "";
        note.textContent = `The built-in weights play instead: ${error.message}.`;
        bytes = null;
    }
    opponent.useWeights(bytes);
    analyst.useWeights(bytes);
}

async function listWeights(wanted) {
    const select = place("weights"), builtIn = el("option", { value: "" }, "built-in");
    const answer = await ask("/api/weights", { quiet: true }).catch(() => null);
    const usable = (answer?.weights ?? []).filter((one) => one.rules === game.rules);
    const options = usable.slice(0, WEIGHTS_LISTED).map((one) => el("option", { value: one.number },
        `${one.champion?.length ? `champion ${one.champion[0]}: ` : ""}${one.name || `#${one.number}`}`));
    select.replaceChildren(...options, builtIn);
    champion = String(usable.find((one) => one.champion?.length)?.number ?? "");
    const asked = wanted ?? champion;
    select.value = usable.some((one) => String(one.number) === asked) ? asked : "";
    if (!answer) place("weights-note").textContent = "No cluster answers: the built-in weights play.";
    else if (wanted && select.value !== wanted) place("weights-note").textContent = `There are no weights ${wanted} for these rules here.`;
    else if (!champion) place("weights-note").textContent = "The cluster has no champion yet: the built-in weights play.";
    if (select.value !== "") await useWeights(select.value);
}

/* --- beginning --- */

function listLevels() {
    const levels = engine.levels(), option = ({ number: n, name }) => el("option", { value: n }, name ?? `level ${n}`);
    place("level").replaceChildren(...levels.filter(({ name }) => name).map(option),
        el("optgroup", { label: "between and beyond" }, levels.filter(({ name }) => !name).map(option)));
    return levels;
}

function readLink(levels) {
    const words = new URLSearchParams(location.search);
    game.rules = words.get("rules") ?? "site";
    game.start = words.get("start") ?? "";
    game.moves = words.get("moves") ?? "";
    seats.side = ["south", "north", "both", "none"].find((side) => side === words.get("side")) ?? "south";
    seats.level = levels.find(({ number: n }) => String(n) === words.get("level"))?.number ?? 2;
    seats.seed = /^\d{1,15}$/.test(words.get("seed") ?? "") ? Number(words.get("seed")) : crypto.getRandomValues(new Uint32Array(1))[0];
    try {
        engine.play(game);
    } catch (error) {
        trouble(`The link is refused: ${error.message}. A new game begins.`);
        Object.assign(game, { rules: "site", start: "", moves: "" });
    }
    return words.get("weights");
}

function listen() {
    const change = (id, take) => place(id).addEventListener("change", ({ target }) => take(target.value));
    const click = (id, act) => place(id).addEventListener("click", act);
    change("side", (side) => {
        seats.side = side;
        paused = false;
        board.flip(side === "north");
        goOn();
    });
    change("level", (level) => {
        seats.level = Number(level);
        goOn();
    });
    change("weights", async (id) => {
        await useWeights(id);
        goOn();
    });
    click("new", newGame);
    click("undo", undo);
    click("resign", resign);
    click("agree", agree);
    click("pause", () => {
        paused = !paused;
        goOn();
    });
    click("analyse", () => {
        place("analyse").setAttribute("aria-pressed", String(!isAnalysing()));
        restartAnalysis();
    });
    click("copy-game", () => copy(game.moves, "Game", place("copied")));
    click("copy-position", () => copy(positionText(last()), "Position", place("copied")));
    click("copy-link", () => copy(new URL(link(), location.href).href, "Link", place("copied")));
}

async function begin() {
    engine = await loadEngine();
    const wanted = readLink(listLevels());
    place("side").value = seats.side;
    place("level").value = seats.level;
    place("about").textContent = game.rules === "site" ? "Abapa oware: 25 seeds win" : `by the rules ${game.rules}`;
    board = new Board(place("board"), { choose: (house) => play(house) });
    board.flip(seats.side === "north");
    await listWeights(wanted);
    listen();
    await goOn();
    place("board").removeAttribute("aria-busy");
}

begin().catch((error) => trouble(error.message));
