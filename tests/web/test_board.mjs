#!/usr/bin/env node
// What the board draws of a move is what the engine makes of it: sowing and captures over the reference games.
import { readFileSync } from "node:fs";
import { LETTERS, captures, positionText, sowing } from "../../web/static/board.js";
import { loadEngine } from "../../web/static/engine.js";

const root = new URL("../../", import.meta.url).pathname;
const web = process.env.KROO_WEB_BUILD ?? `${root}build/web`;
const engine = await loadEngine({ module: await WebAssembly.compile(readFileSync(`${web}/kroo-engine.wasm`)) });
const games = readFileSync(`${root}tests/vectors/rules/games-all-rule-sets.jsonl`, "utf8").trim().split("\n").map(JSON.parse);
let tests = 0, failures = 0;

function ok(name, passed, detail = "") {
    tests += 1;
    if (!passed) failures += 1;
    console.log(`${passed ? "ok" : "not ok"} ${tests} - ${name}`);
    if (!passed && detail) console.log(`# ${detail}`);
}

// The position after a move, as the board would have it.
function drawn(before, house, after) {
    const { sown } = sowing(before.houses, house), stores = [...before.stores];
    captures(before, house, after).forEach(({ house: at, seeds }) => {
        sown[at] -= seeds;
        stores[house < 6 ? 0 : 1] += seeds;
    });
    return positionText({ houses: sown, stores, side: 1 - before.side });
}

let moves = 0, laps = 0, wrong = null;
// Under slam-rest-to-opponent seeds are given away, which is no part of a move's own sowing and captures.
for (const game of games.filter(({ rules }) => rules !== "slam-rest-to-opponent")) {
    const { plies } = engine.play(game);
    for (let ply = 1; ply < plies.length; ply += 1) {
        const house = LETTERS.indexOf(game.moves[ply - 1]);
        moves += 1;
        laps += plies[ply - 1].houses[house] > 11;
        if (!plies[ply - 1].legal.includes(house) || drawn(plies[ply - 1], house, plies[ply]) !== positionText(plies[ply])) {
            wrong ??= `${game.rules} ${game.moves.slice(0, ply)}`;
        }
    }
}
ok(`${moves} moves, ${laps} of them past their own house, are drawn as they are played`, !wrong && laps > 0, wrong);
const start = engine.play().plies[0];
ok("a position is written as every tool reads it", positionText(start) === "4-4-4-4-4-4-4-4-4-4-4-4-0-0-S");
ok("and read again", engine.play({ start: positionText(engine.play({ moves: "Fc" }).plies[2]) }).plies.length === 1);
console.log(`1..${tests}`);
process.exitCode = failures === 0 ? 0 : 1;
