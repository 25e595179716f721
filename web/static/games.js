// Games: a filter, the games it finds, the newest first, and one of them on the board. All that is chosen stands in the
// address, so a link shows the same.
import { loadEngine } from "./engine.js";
import { GameView } from "./game-view.js";
import { ask, el, fill, number, plural, table, trouble } from "./shell.js";

const FIELDS = ["experiment", "player", "result", "reason", "opening"];
const place = (id) => document.getElementById(id);

let view = null; /* until the engine is there */
let chosen = { id: "", ply: 0 };
let games = [], next = null, lookedAt = 0;
let asking = 0; /* of the question under way; the answers to older ones come too late */

function wish() {
    const words = new URLSearchParams();
    FIELDS.forEach((name) => place(name).value.trim() && words.set(name, place(name).value.trim()));
    return words;
}

function showAddress() {
    const words = wish();
    if (chosen.id) {
        words.set("game", chosen.id);
        words.set("ply", chosen.ply);
    }
    history.replaceState(null, "", words.size ? `?${words}` : location.pathname);
}

function showList() {
    const rows = games.map((game) => [
        el("button", { type: "button", class: "open", "data-id": game.id, "aria-label": `game ${game.id}, ${game.south} – ${game.north}` }, game.id),
        game.south, game.north, el("span", { class: "nowrap" }, `${game.result} ${game.stores.join("–")}`), game.reason, number(game.plies),
        el("span", { class: "mono" }, game.opening.slice(0, 8))]);
    fill(place("list"), table("Games", [["game", "name"], ["South", "text"], ["North", "text"], ["result", "text"], ["ending", "text"],
        ["moves", "number"], ["opening", "text"]], rows, next ? "None among the games looked at." : "No stored game is like that."));
    place("list-note").textContent = `${plural(games.length, "game")}${next ? `; ${number(lookedAt)} pairs looked at, there are more` : ""}`;
    place("older").disabled = !next;
    markChosen();
}

function markChosen() {
    for (const button of place("list").querySelectorAll("button.open")) {
        const row = button.closest("tr");
        if (button.dataset.id === chosen.id) row.setAttribute("aria-current", "true");
        else row.removeAttribute("aria-current");
    }
}

/** `before` goes on where the answer before ended. */
async function find(before = null) {
    const mine = asking += 1, words = wish();
    if (before) words.set("before", before);
    place("list").setAttribute("aria-busy", "true");
    try {
        const answer = await ask(`/api/games?${words}`);
        if (mine !== asking) return;
        games = before ? [...games, ...answer.games] : answer.games;
        lookedAt = answer.looked_at + (before ? lookedAt : 0);
        next = answer.next;
        showList();
    } finally {
        if (mine === asking) place("list").removeAttribute("aria-busy");
    }
}

async function open(id, ply) {
    const game = await ask(`/api/game?id=${encodeURIComponent(id)}`);
    view.open(game, ply);
    markChosen();
}

async function listNames() {
    const answer = await ask("/api/experiments", { quiet: true }).catch(() => ({ experiments: [] }));
    const names = new Set(answer.experiments.flatMap(({ a, b }) => [a, b]));
    place("experiments").replaceChildren(...answer.experiments.map(({ id, a, b, note }) =>
        el("option", { value: id }, note || (a === b ? a : `${a} – ${b}`))));
    place("players").replaceChildren(...[...names].sort().map((name) => el("option", { value: name })));
}

function listen() {
    place("filter").addEventListener("submit", (event) => {
        event.preventDefault();
        showAddress();
        find();
    });
    place("filter").addEventListener("reset", () => requestAnimationFrame(() => {
        showAddress();
        find();
    }));
    ["result", "reason"].forEach((id) => place(id).addEventListener("change", () => place("filter").requestSubmit()));
    place("older").addEventListener("click", () => find(next));
    place("list").addEventListener("click", ({ target }) => view && target.dataset.id && open(target.dataset.id, 0));
}

async function begin() {
    const words = new URLSearchParams(location.search);
    FIELDS.forEach((name) => { place(name).value = words.get(name) ?? ""; });
    place("game").classList.add("empty-game");
    const loading = loadEngine().catch((error) => error);
    listen();
    listNames();
    await find();
    const engine = await loading;
    if (engine instanceof Error) {
        trouble(`No game can be shown: ${engine.message}`);
        return;
    }
    view = new GameView(engine, (id, ply) => {
        chosen = { id, ply };
        showAddress();
    });
    const wanted = words.get("game") ?? games[0]?.id;
    if (wanted) await open(wanted, Number(words.get("ply") ?? 0) || 0);
}

begin().catch((error) => trouble(error.message));
