// What happened, in sentences: the move, and whatever of the rules may surprise somebody. Every sentence is about the
// game as the engine tells it (engine.js), under the rules of that game.
import { LETTERS, captures, sideName } from "./board.js";

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const times = (count) => (count === 2 ? "twice" : count === 3 ? "three times" : `${count} times`);
const ordinal = (count) => (count === 2 ? "second" : count === 3 ? "third" : `${count}th`);

function list(words) {
    return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

const rowOf = (houses, side) => houses.slice(6 * side, 6 * side + 6);
const isEmpty = (houses, side) => rowOf(houses, side).every((count) => count === 0);

function slamSentence(taken, other) {
    return taken === 0
        ? `A grand slam takes nothing: the move would have taken every seed ${other} has, so all of them stay.`
        : "That was a grand slam: it reached every seed on the other side.";
}

/** The move that led to ply `number`: "South plays F and takes 3 seeds from a." */
export function moveSentences(line, number) {
    const before = line.plies[number - 1], after = line.plies[number];
    const house = LETTERS.indexOf(line.moves[number - 1]), side = before.side;
    const taken = captures(before, house, after), seeds = taken.reduce((sum, one) => sum + one.seeds, 0);
    const from = list(taken.map((one) => LETTERS[one.house]).sort());
    const sentences = [`${sideName(side)} plays ${LETTERS[house]}${seeds ? ` and takes ${plural(seeds, "seed")} from ${from}` : ""}.`];
    if (before.houses[house] > 11)
        sentences.push(`${plural(before.houses[house], "seed")} go all the way round: the house they came from is passed over.`);
    if (after.slam) sentences.push(slamSentence(seeds, sideName(1 - side)));
    return sentences;
}

function dutySentence(line, ply) {
    const seeded = rowOf(ply.houses, ply.side).map((count, i) => [count, i + 6 * ply.side]).filter(([count]) => count > 0);
    const barred = seeded.filter(([, house]) => !ply.legal.includes(house));
    if (barred.length === 0) return null;
    const own = sideName(ply.side), other = sideName(1 - ply.side);
    const only = list(ply.legal.map((house) => LETTERS[house]));
    if (isEmpty(ply.houses, 1 - ply.side))
        return `${other} has no seeds left and must be fed: ${own} may play ${only} only.`;
    return `${own} may play ${only} only: any other move would leave ${other} without a seed, which these rules forbid.`;
}

function warnings(line, ply) {
    const { repetitions, quiet_limit: limit } = line.terms, sentences = [];
    if (repetitions > 2 && ply.occurrences > 1)
        sentences.push(`This position has stood ${times(ply.occurrences)}: the ${ordinal(repetitions)} time ends the game.`);
    const left = limit - ply.quiet;
    if (limit > 0 && (left === 50 || left <= 10))
        sentences.push(`${plural(ply.quiet, "ply").replace("plys", "plies")} without a capture: after ${left} more the game ends.`);
    return sentences;
}

/** What the side to move has to know at ply `number` of an unfinished game. */
export function dutySentences(line, number) {
    const ply = line.plies[number];
    if (ply.legal.length === 0) return [];
    return [dutySentence(line, ply), ...warnings(line, ply)].filter((sentence) => sentence !== null);
}

const kept = (rule) => (rule === "own-row" ? "each side takes the seeds in its own row" : "the seeds on the board count for nobody");

function noMoveSentence(line, last) {
    const own = sideName(last.side), other = sideName(1 - last.side);
    if (isEmpty(last.houses, last.side)) return `${own} has no seeds to play: the game ends, and ${kept(line.terms.leftovers)}.`;
    return `${own} cannot feed ${other}, who has no seeds, from any house: the game ends, and ${kept(line.terms.leftovers)}.`;
}

const endings = {
    majority: (line) => `${sideName(line.result === "south" ? 0 : 1)} has more than half of the seeds.`,
    even: () => "Both have half of the seeds.",
    "no-move": noMoveSentence,
    repetition: (line) => `The position has stood ${times(line.terms.repetitions)}, so nobody gets any further: the game ends, and `
        + `${kept(line.terms.stop_leftovers)}.`,
    "quiet-limit": (line) => `${line.terms.quiet_limit} plies went by without a capture: the game ends, and `
        + `${kept(line.terms.stop_leftovers)}.`,
    unfed: (line) => `${sideName(line.result === "south" ? 1 : 0)} kept two seeds or more and left the other side none, and loses by it.`,
    adjudicated: () => "The endgame tables prove the outcome, so the game was ended here.",
    agreed: () => "Both agree that the game goes nowhere: each side takes the seeds in its own row.",
    resign: (line) => `${sideName(line.result === "south" ? 1 : 0)} resigns.`,
    deadline: (line) => `${sideName(line.result === "south" ? 1 : 0)} ran out of time.`,
    "illegal-move": (line) => `${sideName(line.result === "south" ? 1 : 0)} tried a move that is not legal.`,
    crash: (line) => `${sideName(line.result === "south" ? 1 : 0)}'s program failed.`,
};

/** How the game ended; `line.result`, `reason` and `stores` may be those of a claimed ending. */
export function endSentences(line) {
    if (line.result === "unfinished") return [];
    const [south, north] = line.stores;
    const score = line.result === "draw" ? `A draw, ${south} to ${north}.`
        : line.result === "south" ? `South wins, ${south} to ${north}.` : `North wins, ${north} to ${south}.`;
    return [endings[line.reason]?.(line, line.plies.at(-1)), score].filter(Boolean);
}

const WIN = 31000, WIN_BOUND = 30000, TABLE_WIN = 30500;

/** A score of the search for people: seeds, or plies to a proven end. */
export function scoreText(score) {
    const size = Math.abs(score), word = score > 0 ? "wins" : "loses";
    if (size > TABLE_WIN) return `${word} in ${WIN - size}`;
    if (size > WIN_BOUND) return word;
    return `${score > 0 ? "+" : score < 0 ? "−" : ""}${(size / 100).toFixed(2)}`;
}
