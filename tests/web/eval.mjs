#!/usr/bin/env node
// eval.mjs FILE: positions from standard input, one a line, answered by their evaluation, as kroo-engine eval does: by the
// pages' engine. Exit status 0, or 1 when the file or a line was refused.
import { readFileSync } from "node:fs";
import { EngineError, loadEngine } from "../../web/static/engine.js";

const web = process.env.KROO_WEB_BUILD ?? new URL("../../build/web", import.meta.url).pathname;
const engine = await loadEngine({ module: await WebAssembly.compile(readFileSync(`${web}/kroo-engine.wasm`)) });

try {
    const { rules } = engine.useWeights(readFileSync(process.argv[2]));
    const lines = readFileSync(0, "utf8").split("\n").filter((line) => line !== "");
    const answers = lines.map((start) => (engine.play({ rules, start }), engine.evaluate()));
    process.stdout.write(answers.map((answer) => `${answer}\n`).join(""));
} catch (error) {
    if (!(error instanceof EngineError)) throw error;
    process.stderr.write(`eval.mjs: ${error.message}\n`);
    process.exitCode = 1;
}
