#!/usr/bin/env node
// What the pages say of a move, a duty and an end, where the rules may surprise: one sentence each, and none where there is
// nothing to say.
import { readFileSync } from "node:fs";
import { dutySentences, endSentences, moveSentences, scoreText } from "../../web/static/announce.js";
import { loadEngine } from "../../web/static/engine.js";

const root = new URL("../../", import.meta.url).pathname;
const web = process.env.KROO_WEB_BUILD ?? `${root}build/web`;
const engine = await loadEngine({ module: await WebAssembly.compile(readFileSync(`${web}/kroo-engine.wasm`)) });
let tests = 0, failures = 0;

function is(name, actual, expected) {
    const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
    tests += 1;
    if (a !== b) failures += 1;
    console.log(`${a === b ? "ok" : "not ok"} ${tests} - ${name}`);
    if (a !== b) console.log(`# ${a}\n# is not\n# ${b}`);
}

function said(game) {
    const line = engine.play(game), last = line.plies.length - 1;
    return [...(last ? moveSentences(line, last) : []), ...dutySentences(line, last), ...endSentences(line)];
}

const cycle = "0-0-0-0-0-1-0-0-0-0-0-1-23-23-S", round = "FfAaBbCcDdEe";
const cases = [
    ["a plain move", { moves: "C" }, ["South plays C."]],
    ["a capture", { start: "0-1-0-0-0-1-1-0-0-0-0-1-22-22-S", moves: "F" }, ["South plays F and takes 2 seeds from a."]],
    ["a capture of several houses", { start: "1-0-0-0-0-3-1-2-2-9-0-0-15-15-S", moves: "F" }, ["South plays F and takes 8 seeds from a, b and c."]],
    ["a grand slam takes nothing", { start: "0-1-0-0-0-1-1-0-0-0-0-0-22-23-S", moves: "F" }, ["South plays F.",
        "A grand slam takes nothing: the move would have taken every seed North has, so all of them stay."]],
    ["a grand slam takes all where it may", { rules: "slam-allowed", start: "0-1-0-0-0-1-1-0-0-0-0-0-22-23-S", moves: "F" }, [
        "South plays F and takes 2 seeds from a.", "That was a grand slam: it reached every seed on the other side.",
        "North has no seeds to play: the game ends, and each side takes the seeds in its own row.", "South wins, 25 to 23."]],
    ["a grand slam that is forbidden", { rules: "slam-illegal", start: "0-1-0-0-0-1-1-0-0-0-0-0-22-23-S" },
        ["South may play B only: any other move would leave North without a seed, which these rules forbid."]],
    ["the duty to feed", { start: "1-0-0-0-0-5-0-0-0-0-0-0-21-21-S" }, ["North has no seeds left and must be fed: South may play F only."]],
    ["no duty where every move feeds", { start: "0-0-0-0-3-5-0-0-0-0-0-0-20-20-S" }, []],
    ["nobody can be fed", { start: "2-0-0-0-0-0-0-0-0-0-0-0-23-23-S" }, [
        "South cannot feed North, who has no seeds, from any house: the game ends, and each side takes the seeds in its own row.",
        "South wins, 25 to 23."]],
    ["a lap", { start: "13-0-0-0-0-0-1-0-0-0-0-0-17-17-S", moves: "A" },
        ["South plays A.", "13 seeds go all the way round: the house they came from is passed over."]],
    ["the second time", { start: cycle, moves: round }, ["North plays e.", "This position has stood twice: the third time ends the game."]],
    ["the third time", { start: cycle, moves: round + round }, ["North plays e.",
        "The position has stood three times, so nobody gets any further: the game ends, and each side takes the seeds in its own row.",
        "A draw, 24 to 24."]],
    ["plies without a capture, soon", { rules: "site,quiet_limit=10", moves: "C" },
        ["South plays C.", "1 ply without a capture: after 9 more the game ends."]],
    ["plies without a capture, at last", { rules: "site,quiet_limit=2", moves: "Cd" },
        ["North plays d.", "2 plies went by without a capture: the game ends, and each side takes the seeds in its own row.", "South wins, 25 to 23."]],
    ["a majority", { start: "0-0-0-0-0-1-1-0-3-0-0-0-23-20-S", moves: "F" },
        ["South plays F and takes 2 seeds from a.", "South has more than half of the seeds.", "South wins, 25 to 20."]],
    ["half and half", { start: "0-0-0-0-0-0-0-0-0-0-0-0-24-24-S" }, ["Both have half of the seeds.", "A draw, 24 to 24."]],
];
for (const [name, game, expected] of cases) is(name, said(game), expected);
is("scores", [0, 150, -205, 30993, -30990, 30400, -30400].map(scoreText),
    ["0.00", "+1.50", "−2.05", "wins in 7", "loses in 10", "wins", "loses"]);
console.log(`1..${tests}`);
process.exitCode = failures === 0 ? 0 : 1;
