/* The joint ratings of a tournament: table, error bars, likelihood of superiority, matches. `?pool=NAME` chooses one; else it
 * is the latest. */
import { ask, dash, el, experimentLink, fill, live, number, percent, plural, signed, stateTag, svg, table } from "./shell.js";
import { drawn, range, scale, ticks } from "./figure.js";

const place = (id) => document.getElementById(id);
const MATRIX_MAX = 40; /* a wider one nobody reads */
const RATE_MS = 10000; /* while its matches go on */

/* Players by list, then by rating, best first. */
function inOrder(ratings) {
    return ratings.map((row, index) => ({ ...row, index }))
        .sort((a, b) => a.list - b.list || (b.rating ?? 0) - (a.rating ?? 0) || a.index - b.index);
}

const settingsOf = ({ weights, weights_name: name, settings }) =>
    [name || (weights ? `weights ${weights}` : ""), ...(settings ?? [])].filter(Boolean).join(", ");

/* --- table --- */

function ratingCell(row, anchor) {
    if (row.rating === null) return dash;
    return row.player === anchor ? number(row.rating, 1) : signed(row.rating, 1);
}

function showPlayers(answer, order) {
    let list = 0, rank = 0;
    const rows = order.map((row) => {
        rank = row.list === list ? rank + 1 : 1;
        list = row.list;
        return [...(answer.lists.length > 1 ? [number(row.list)] : []), number(rank), row.player,
            answer.anchor ? number(row.rating, 1) : ratingCell(row),
            row.player === answer.anchor ? "anchor" : row.error95 === null ? dash : `± ${number(row.error95, 1)}`,
            row.games ? percent(row.score) : dash, number(row.games), number(row.wins), number(row.draws), number(row.losses),
            settingsOf(answer.players[row.index])];
    });
    fill(place("players"), table("Players, best first",
        [...(answer.lists.length > 1 ? [["list", "number"]] : []), ["rank", "number"], ["player", "name"], ["rating", "number"],
            ["error", "number"], ["score", "number"], ["games", "number"], ["wins", "number"], ["draws", "number"],
            ["losses", "number"], ["plays with", "text"]], rows));
    fill(place("table-note"), answer.anchor ? `${answer.anchor} is the anchor` : "the ratings of a list add up to zero");
}

/* --- in words --- */

const listName = (answer, list) => (answer.lists[list - 1].length === 1 ? answer.lists[list - 1][0] : `list ${list}`);

function alone(row) {
    if (!row.games) return `${row.player}: no counted game yet.`;
    if (row.is_unbeaten) return `${row.player} won all its ${number(row.games)} games: no finite rating.`;
    if (row.is_winless) return `${row.player} lost all its ${number(row.games)} games: no finite rating.`;
    return `${row.player} won all its games against some and lost all against others: no finite rating.`;
}

function showNotes(answer) {
    const single = answer.ratings.filter((row) => answer.lists[row.list - 1].length === 1);
    const notes = single.map(alone);
    for (const gap of answer.gaps)
        notes.push(`${listName(answer, gap.above)} is above ${listName(answer, gap.below)} by at least ${number(gap.at_least)} Elo (95 %, one-sided).`);
    if (answer.lists.length > 1) notes.push("No result ties the lists together: each has a scale of its own.");
    if (answer.first_move !== null)
        notes.push(`Moving first is worth ${signed(answer.first_move, 1)} ± ${number(1.959963984540054 * answer.first_move_sd, 1)} Elo.`);
    notes.push(`Bradley–Terry, draw half a win, ${plural(answer.prior, "virtual draw")} a pairing, error from pairs of games; formula ${answer.formula}.`);
    fill(place("notes"), notes.map((note) => el("p", null, note)));
}

/* --- error bars --- */

function bar(row, y, x, anchor) {
    const reach = row.player === anchor ? 0 : row.error95 ?? 0;
    const text = `${row.player}: ${number(row.rating, 1)}${reach ? ` ± ${number(reach, 1)}` : ""}`;
    return svg("g", { class: "error" }, svg("title", null, text),
        reach ? svg("line", { x1: x(row.rating - reach), x2: x(row.rating + reach), y1: y, y2: y }) : null,
        reach ? [-reach, reach].map((end) => svg("line", { x1: x(row.rating + end), x2: x(row.rating + end), y1: y - 4, y2: y + 4 })) : null,
        svg("circle", { cx: x(row.rating), cy: y, r: 4 }));
}

function errorBars(answer, rows, width) {
    const row = 26, top = 6, height = top + rows.length * row + 24;
    const names = Math.min(150, 12 + 7 * Math.max(...rows.map(({ player }) => player.length)));
    const span = range(rows.flatMap(({ rating, error95 }) => [rating - (error95 ?? 0), rating + (error95 ?? 0)]));
    const x = scale(span, names, width - 14), marks = ticks(...span, Math.max(2, Math.floor((width - names) / 55)));
    return svg("svg", { class: "figure", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
        "aria-label": "Ratings with their errors: the table says the same" },
        marks.map((mark) => svg("line", { class: mark === 0 ? "grid zero" : "grid", x1: x(mark), x2: x(mark), y1: top, y2: height - 20 })),
        marks.map((mark) => svg("text", { class: "mark middle", x: x(mark), y: height - 5 }, number(mark))),
        rows.map((one, i) => [
            svg("text", { class: "label", x: 0, y: top + (i + 0.5) * row + 4 }, one.player.length > 19 ? `${one.player.slice(0, 18)}…` : one.player),
            bar(one, top + (i + 0.5) * row, x, answer.anchor)]).flat());
}

function showPlot(answer, order) {
    const rows = order.filter((row) => row.list === 1 && row.rating !== null && (row.error95 !== null || row.player === answer.anchor));
    if (rows.length) drawn(place("plot"), (width) => errorBars(answer, rows, width));
    else fill(place("plot"), el("p", { class: "empty" }, "No two players are tied together by results yet."));
}

/* --- likelihood of superiority --- */

function superiority(value) {
    if (value === null) return el("td", { class: "number none" }, dash);
    const cell = el("td", { class: "number" }, number(100 * value, 1));
    cell.style.setProperty("--share", `${Math.round(Math.max(0, value - 0.5) * 60)}%`);
    return cell;
}

function showMatrix(answer, order) {
    const shown = order.slice(0, MATRIX_MAX);
    fill(place("matrix"), el("table", { class: "matrix" },
        el("caption", { class: "visually-hidden" }, "Likelihood in percent that the row's player is the stronger"),
        el("thead", null, el("tr", null, el("td", null), shown.map((row) => el("th", { scope: "col", class: "number" }, row.player)))),
        el("tbody", null, shown.map((row) => el("tr", null, el("th", { scope: "row" }, row.player),
            shown.map((other) => superiority(answer.los[row.index][other.index])))))),
    order.length > shown.length ? el("p", { class: "muted small" }, `The first ${MATRIX_MAX} of ${order.length}; kroo ratings --json has all.`) : null);
}

/* --- matches and tournaments --- */

function showMatches(answer) {
    const name = (index) => answer.players[index].name;
    const rounds = answer.kind === "pool";
    fill(place("matches-note"), `${number(answer.pairs)} of ${plural(answer.planned_pairs, "pair")} played`);
    fill(place("matches"), table("Matches", [...(rounds ? [["round", "number"]] : []), ["match", "name"], ["players", "text"], ["state", "text"],
        ["pairs", "number"], ["of", "number"]],
    (answer.pairings ?? []).map((row) => [...(rounds ? [number(row.round)] : []), row.experiment ? experimentLink(row.experiment) : dash,
        `${name(row.a)} – ${name(row.b)}`, row.state ? stateTag(row.state) : "not made yet", number(row.pairs ?? 0), number(row.planned_pairs)]),
    "No match has been made."));
}

function showAll(tournaments, chosen) {
    fill(place("all"), table("Tournaments", [["tournament", "name"], ["kind", "text"], ["players", "number"], ["matches", "number"], ["pairs", "number"]],
        tournaments.map((row) => [el("a", { href: `/ratings?pool=${encodeURIComponent(row.name)}`, "aria-current": row.name === chosen ? "true" : null }, row.name),
            row.kind, number(row.players), `${number(row.finished)} of ${number(row.pairings)}`, number(row.pairs)]),
        "No tournament yet: kroo gauntlet, kroo roundrobin and kroo pool make some."));
}

/* --- the page --- */

async function show(name) {
    const answer = await ask(`/api/ratings?pool=${encodeURIComponent(name)}`).catch(() => null); /* it is said at the head of the page */
    if (!answer) return;
    const order = inOrder(answer.ratings);
    place("heading").textContent = `Ratings: ${answer.tournament}`;
    document.title = `${answer.tournament} · Ratings · Kroo`;
    fill(place("summary"), `${answer.kind} of ${plural(answer.players.length, "player")}, rules ${answer.rules}, `
        + `${number(answer.matches_finished)} of ${plural((answer.pairings ?? []).length, "match").replace("matchs", "matches")} done${answer.note ? ` · ${answer.note}` : ""}`);
    showPlayers(answer, order);
    showNotes(answer);
    showPlot(answer, order);
    showMatrix(answer, order);
    showMatches(answer);
    return answer.pairs < answer.planned_pairs;
}

const { tournaments } = await ask("/api/ratings");
const chosen = new URLSearchParams(location.search).get("pool") || tournaments[0]?.name;
showAll(tournaments, chosen);
if (chosen) {
    let goesOn = await show(chosen), asked = Date.now();
    live(async () => {
        if (!goesOn || Date.now() - asked < RATE_MS) return;
        asked = Date.now();
        goesOn = (await show(chosen)) ?? true;
    });
} else {
    for (const part of ["players", "plot", "matrix", "matches"]) fill(place(part), el("p", { class: "empty" }, "Nothing to rate yet."));
}
