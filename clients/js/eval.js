#!/usr/bin/env node
// node eval.js FILE: positions from standard input, one a line, answered by their evaluation, as kroo-engine eval does.
// FILE is a weights file or its JSON. Exit status 0, or 1 when the file or a line was refused.
import { readFileSync } from 'node:fs';
import { evaluate, parsePosition, readBinary, readJson, WeightsError } from './kroo-weights.js';

function answer(weights, line) {
  try {
    return String(evaluate(weights, parsePosition(line)));
  } catch (error) {
    if (!(error instanceof WeightsError)) throw error;
    process.exitCode = 1;
    return `error: ${error.message}`;
  }
}

try {
  const bytes = readFileSync(process.argv[2] ?? '');
  const weights = bytes[0] === 0x7b ? readJson(bytes.toString('utf8')) : readBinary(bytes);
  const lines = readFileSync(0, 'utf8').split('\n').filter((line) => line !== '');
  process.stdout.write(lines.map((line) => `${answer(weights, line)}\n`).join(''));
} catch (error) {
  process.stderr.write(`eval.js: ${error.message}\n`);
  process.exitCode = 1;
}
