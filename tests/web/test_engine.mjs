#!/usr/bin/env node
// The engine of the pages plays as the native one: moves, scores, lines, depths and node counts, under several rules and
// weights, levels with their random moves, whole games replayed; and it refuses what kroo-engine refuses.
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { EngineError, loadEngine } from "../../web/static/engine.js";

const root = new URL("../../", import.meta.url).pathname;
const build = process.env.KROO_BUILD ?? `${root}build`;
const engineProgram = `${build}/kroo-engine`;
const vectors = `${root}tests/vectors`;
const DEADLINE_MS = 300000;
let tests = 0, failures = 0;

function ok(name, passed, detail = "") {
    tests += 1;
    if (!passed) failures += 1;
    console.log(`${passed ? "ok" : "not ok"} ${tests} - ${name}`);
    if (!passed && detail) console.log(`# ${detail}`);
}

function same(name, actual, expected) {
    const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
    ok(name, a === b, `${String(a).slice(0, 400)}\n# is not\n# ${String(b).slice(0, 400)}`);
}

// --- the native engine, by its protocol ---

class Native {
    constructor() {
        this.child = spawn(engineProgram, { stdio: ["pipe", "pipe", "inherit"] });
        this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
    }

    say(...lines) {
        this.child.stdin.write(lines.map((line) => `${line}\n`).join(""));
    }

    /** What it says until its move: every line of every depth, and the move. */
    async go(limits) {
        const reports = [];
        this.say(`go ${limits}`);
        for (;;) {
            const { value: line } = await this.lines.next();
            if (line === undefined) throw new Error("kroo-engine ended");
            const words = line.split(" ");
            if (words[0] === "bestmove") return { move: words[1], reports };
            if (words[1] === "string") throw new Error(line);
            const word = (name) => words[words.indexOf(name) + 1];
            const number = words.includes("multipv") ? Number(word("multipv")) - 1 : 0;
            reports.push([Number(word("depth")), number, Number(word("cp")), Number(word("nodes")), word("pv")]);
        }
    }

    end() {
        this.child.stdin.end();
    }
}

const module = await WebAssembly.compile(readFileSync(`${process.env.KROO_WEB_BUILD ?? `${build}/web`}/kroo-engine.wasm`));
const page = await loadEngine({ hashKib: 1024, module });
const native = new Native();
setTimeout(() => {
    console.log("not ok - an engine has not answered for long");
    process.exit(1);
}, DEADLINE_MS).unref();
native.say("setoption name Hash value 1");

async function searchBoth(game, limits, lines = 1) {
    const reports = [];
    native.say(`setoption name MultiPV value ${lines}`, "ucinewgame", `position startpos moves ${game.moves}`.trim());
    const words = Object.entries(limits).map(([name, value]) => `${name} ${value}`).join(" ");
    const theirs = await native.go(words);
    page.play(game);
    page.forget();
    const ours = page.search({ ...limits, lines }, (i) => reports.push([i.depth, i.line, i.score, i.nodes, i.pv]));
    return [{ move: ours.move, reports }, theirs];
}

// The moves of a game chosen by a fixed rule of thumb: some of everything, the same each time.
function someGame(number, length, rules) {
    let moves = "", state = (number * 2654435761 + 12345) >>> 0;
    for (let ply = 0; ply < length; ply += 1) {
        const line = page.play({ rules, moves });
        const legal = line.plies.at(-1).legal;
        if (legal.length === 0) return moves.slice(0, -1);
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        moves += "ABCDEFabcdef"[legal[(state >>> 16) % legal.length]];
    }
    return page.play({ rules, moves }).result === "unfinished" ? moves : moves.slice(0, -1);
}

// Each search is compared whole; the first that differs is shown.
async function compareSearches(name, rules, games, limits, lines = 1) {
    for (let number = 0; number < games; number += 1) {
        const game = { rules, moves: someGame(number, (number * 7) % 70, rules) };
        const [ours, theirs] = await searchBoth(game, limits[number % limits.length], lines);
        if (JSON.stringify(ours) !== JSON.stringify(theirs)) {
            return same(`${name}, ${game.moves}, ${JSON.stringify(limits[number % limits.length])}`, ours, theirs);
        }
    }
    return ok(`${name}: ${games} searches are equal in every report`, true);
}

const nodeLimits = [1, 2, 7, 100, 999, 5000, 20000].map((nodes) => ({ nodes }));
await compareSearches("site by nodes", "site", 140, nodeLimits);
await compareSearches("site by depth", "site", 30, [{ depth: 1 }, { depth: 6 }, { depth: 11 }]);
await compareSearches("six lines", "site", 30, [{ nodes: 3000 }, { depth: 6 }], 6);
for (const rules of ["school", "togo", "slam-rest-to-opponent", "awari", "site,repetitions=2,quiet_limit=20"]) {
    native.say(`setoption name Rules value ${rules}`);
    await compareSearches(rules, rules, 14, nodeLimits);
}
native.say("setoption name Rules value site");
page.play();

// --- weights in the exported binary format ---

for (const kind of ["table", "net", "features"]) {
    const file = `${vectors}/weights/${kind}.weights`;
    const { vectors: expected } = JSON.parse(readFileSync(file.replace(".weights", ".json"), "utf8"));
    same(`${kind}: the kind is told`, page.useWeights(readFileSync(file)).kind, kind);
    const answers = expected.map(({ position }) => (page.play({ start: position }), page.evaluate()));
    same(`${kind}: the test positions`, answers, expected.map(({ score }) => score));
    native.say(`setoption name WeightsFile value ${file}`);
    await compareSearches(`${kind} weights`, "site", 21, nodeLimits);
}
const damaged = readFileSync(`${vectors}/weights/net.weights`);
damaged[5000] ^= 1;

function refusal(call) {
    try {
        return `no refusal: ${JSON.stringify(call())}`;
    } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        return error.message;
    }
}

const refusals = [
    ["damaged weights", () => page.useWeights(damaged), /^the weights are refused: .*checksum/],
    ["an empty file", () => page.useWeights(new Uint8Array()), /^the weights are refused: /],
    ["weights of other rules", () => page.play({ rules: "school" }), /made for the rules 'site', not for 'school'/],
    ["a move that is not legal", () => page.play({ moves: "Fa" + "A" + "A" }), /^move 4, 'A', is refused/],
    ["a letter that is no house", () => page.play({ moves: "F?" }), /^move 2, '\?', is refused: it is not legal/],
    ["rules nobody knows", () => page.play({ rules: "chess" }), /^the rules are refused: .*site/],
    ["a position of 47 seeds", () => page.play({ start: "3-4-4-4-4-4-4-4-4-4-4-4-0-0-S" }), /position is refused/],
    ["a search without a limit", () => page.search({}), /needs a limit/],
    ["seven lines", () => page.search({ nodes: 5, lines: 7 }), /from 1 to 6/],
    ["a level that is none", () => page.choose({ level: 10 }), /from 1 to 9/],
    ["a game that is over", () => {
        page.play({ start: "0-0-0-0-0-0-0-0-0-0-0-0-24-24-S" });
        return page.search({ nodes: 5 });
    }, /the game is over/],
];
for (const [name, call, pattern] of refusals) {
    const said = refusal(call);
    ok(`${name}: refused`, pattern.test(said), said);
}
same("after a refusal the engine plays on", page.play({ moves: "F" }).plies.length, 2);
page.useWeights(null);
native.say("setoption name WeightsFile value");

// --- levels ---

same("the levels are the native ones", page.levels().filter(({ name }) => name).map(({ name }) => name),
    execFileSync(engineProgram, { input: "uci\n" }).toString().match(/Level type combo .*/)[0].match(/(?<=var )\w+/g)
        .filter((name) => name !== "Full"));
for (const { number, name } of page.levels().filter((level) => level.name)) {
    native.say(`setoption name Level value ${name}`);
    const moves = { ours: "", theirs: "" };
    for (let ply = 0; ply < 24; ply += 1) {
        const game = someGame(ply + 40, ply * 2, "site");
        native.say(`setoption name Seed value ${ply + 1}`, "ucinewgame", `position startpos moves ${game}`.trim());
        moves.theirs += (await native.go("")).move;
        page.play({ moves: game });
        moves.ours += page.choose({ level: number, seed: ply + 1 }).move;
    }
    same(`${name} plays as the native ${name}`, moves.ours, moves.theirs);
}
native.end();

// --- rules ---

for (const [rules, depth] of [["site", 8], ["school", 7], ["slam-illegal", 7], ["awari", 7]]) {
    const command = ["perft", "--rules", rules, "--json", String(depth)];
    const counted = JSON.parse(execFileSync(engineProgram, command).toString().trim().split("\n").at(-1));
    page.play({ rules });
    same(`perft ${depth} of ${rules}`, page.perft(depth), counted.nodes);
}

// Reference games of every rule set, to their ends: the last position, the reason, and the grand slams on the way.
const games = readFileSync(`${vectors}/rules/games-all-rule-sets.jsonl`, "utf8").trim().split("\n").map(JSON.parse);
const wrong = games.filter((game) => {
    const line = page.play({ rules: game.rules, moves: game.moves });
    const told = [line.result, line.reason, line.stores, line.houses, line.plies.length - 1];
    return JSON.stringify(told) !== JSON.stringify([game.result, game.reason, game.stores, game.houses, game.plies]);
});
ok(`${games.length} games of ${new Set(games.map(({ rules }) => rules)).size} rule sets end as they should`,
    games.length > 0 && wrong.length === 0, JSON.stringify(wrong[0]));
const sites = games.filter(({ rules }) => rules === "site");
const slams = ({ rules, moves }) => page.play({ rules, moves }).plies.filter(({ slam }) => slam).length;
same("and as many moves of site are grand slams", sites.map(slams), sites.map((game) => game.grand_slams));
console.log(`1..${tests}`);
process.exitCode = failures === 0 ? 0 : 1;
