// The JavaScript reader of weights against the engine: node --test tests/clients/weights.test.mjs
// KROO_BUILD is the folder of kroo-engine, KROO_WEIGHTS_MODULE another copy of the module to test.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const file = process.env.KROO_WEIGHTS_MODULE ?? path.join(root, 'clients/js/kroo-weights.js');
const engine = path.join(process.env.KROO_BUILD ?? path.join(root, 'build'), 'kroo-engine');
const { evaluate, featureNames, features, parsePosition, readBinary, readJson, WeightsError, wrongVectors } = await import(
  pathToFileURL(file)
);

const kinds = ['table', 'net', 'features'];
const vectors = (name) => path.join(root, 'tests/vectors', name);
const binary = (kind) => readFileSync(vectors(`weights/${kind}.weights`));
const json = (kind) => JSON.parse(readFileSync(vectors(`weights/${kind}.json`), 'utf8'));
const positions = readFileSync(vectors('rules/positions.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line).pos);
const start = '4-4-4-4-4-4-4-4-4-4-4-4-0-0-S';

const refuses = (run, pattern) =>
  assert.throws(run, (error) => error instanceof WeightsError && pattern.test(error.message) && error.message !== '');

for (const kind of kinds) {
  test(`${kind}: binary and JSON are the same weights`, () => {
    const { provenance, ...fromBinary } = readBinary(binary(kind));
    const { provenance: other, ...fromJson } = readJson(json(kind));
    assert.deepEqual(fromBinary, fromJson);
    assert.deepEqual(provenance, other);
    assert.equal(fromBinary.vectors.length, 64);
    assert.deepEqual(wrongVectors(fromBinary), []);
  });

  test(`${kind}: ${positions.length} positions as the engine evaluates them`, () => {
    const weights = readBinary(binary(kind));
    const said = execFileSync(engine, ['eval', '--weights', vectors(`weights/${kind}.weights`)], {
      input: positions.join('\n'),
      encoding: 'utf8',
    });
    assert.deepEqual(positions.map((text) => evaluate(weights, parsePosition(text))), said.trim().split('\n').map(Number));
    assert.ok(positions.length > 1000);
  });

  test(`${kind}: swapping the sides and the side to move changes nothing`, () => {
    const weights = readBinary(binary(kind));
    for (const text of positions.slice(0, 200)) {
      const { houses, stores, side } = parsePosition(text);
      const swapped = { houses: [...houses.slice(6), ...houses.slice(0, 6)], stores: [stores[1], stores[0]], side: 1 - side };
      assert.equal(evaluate(weights, swapped), evaluate(weights, { houses, stores, side }));
    }
  });
}

test('bytes come as an ArrayBuffer, a Buffer, or a view into something larger', () => {
  const bytes = binary('net');
  const larger = new Uint8Array(bytes.length + 7);
  larger.set(bytes, 3);
  const wanted = evaluate(readBinary(bytes), parsePosition(start));
  assert.equal(evaluate(readBinary(larger.subarray(3, 3 + bytes.length)), parsePosition(start)), wanted);
  assert.equal(evaluate(readBinary(Uint8Array.from(bytes).buffer), parsePosition(start)), wanted);
});

test('a binary is refused cut at any byte', () => {
  const bytes = binary('features');
  for (let length = 0; length < bytes.length; length++)
    refuses(() => readBinary(bytes.subarray(0, length)), length < 8 ? /no weights file/ : /cut short/);
});

test('a binary is refused with any byte changed', () => {
  const bytes = binary('features');
  for (let at = 0; at < bytes.length; at++) {
    const damaged = Buffer.from(bytes);
    damaged[at] ^= 0x10;
    refuses(() => readBinary(damaged), /no weights file|format version|cut short|damaged/);
  }
});

const paths = {
  table: [['shift'], ['per_logit'], ['phases', 2, 'bias'], ['phases', 0, 'store'], ['phases', 3, 'houses', 11, 12]],
  net: [['hidden_shift'], ['hidden_bias', 31], ['houses', 5, 15, 0], ['store', 50, 31], ['output', 7], ['output_bias']],
  features: [['shift'], ['phases', 1, 'own_kroos'], ['vectors', 9, 'score']],
};
const noNumbers = { NaN: NaN, Infinity: Infinity, '-Infinity': -Infinity, 'a fraction': 0.5, 'a text': '7', null: null, true: true, 'an array': [1], 'too large': 2 ** 31 };

for (const kind of kinds)
  for (const keys of paths[kind])
    test(`JSON, ${kind}: ${keys.join('.')} that is no number is refused by name`, () => {
      for (const value of Object.values(noNumbers)) {
        const root = json(kind);
        keys.slice(0, -1).reduce((at, key) => at[key], root)[keys.at(-1)] = value;
        if (keys[0] === 'per_logit' && value === null) continue; // as if left out
        refuses(() => readJson(root), new RegExp(String(keys.at(-1)).replace(/^\d+$/, '\\[$&\\]')));
      }
    });

test('JSON as text: NaN, numbers beyond all bounds and cut text are refused', () => {
  const text = readFileSync(vectors('weights/table.json'), 'utf8');
  refuses(() => readJson(text.replace(/"shift": ?\d+/, '"shift": NaN')), /no JSON/);
  refuses(() => readJson(text.replace(/"shift": ?\d+/, '"shift": 1e999')), /shift/);
  refuses(() => readJson(text.slice(0, -3)), /no JSON/);
  refuses(() => readJson(''), /no JSON/);
});

test('JSON of another format, version or kind, or without a field, is refused by name', () => {
  refuses(() => readJson({ ...json('table'), format: 'other' }), /format/);
  refuses(() => readJson({ ...json('table'), version: 2 }), /version/);
  refuses(() => readJson({ ...json('table'), kind: 'tree' }), /kind/);
  refuses(() => readJson({ ...json('table'), rules: '' }), /rules/);
  refuses(() => readJson({ ...json('table'), phases: json('table').phases.slice(1) }), /phases/);
  refuses(() => readJson({ ...json('net'), houses: undefined }), /houses/);
  refuses(() => readJson(null), /format/);
  refuses(() => readJson([]), /format/);
});

test('a changed weight does not pass the test positions', () => {
  const root = json('net');
  root.output_bias += 8192;
  refuses(() => readJson(root), /64 of 64 test positions/);
});

test('what is no position is refused', () => {
  const weights = readBinary(binary('table'));
  for (const text of ['', 'nonsense', start.slice(0, -2), `${start}S`, start.replace('S', 's'), start.replace('4', '5'), start.replace('4', '-4')])
    refuses(() => parsePosition(text), /position/);
  const { houses, stores } = parsePosition(start);
  for (const position of [
    null, undefined, {}, { houses, stores }, { houses, stores, side: 2 }, { houses, stores: [NaN, 0], side: 0 },
    { houses: houses.slice(1), stores, side: 0 }, { houses: [48.5, -0.5, ...new Array(10).fill(0)], stores, side: 0 },
    { houses: [52, -4, ...new Array(10).fill(0)], stores, side: 0 },
  ])
    refuses(() => evaluate(weights, position), /position/);
});

test('features are numbered by their names', () => {
  assert.equal(featureNames.length, 24);
  const seen = Object.fromEntries(features(parsePosition('0-0-0-0-0-3-1-1-0-0-0-0-20-23-S')).map((n, i) => [featureNames[i], n]));
  assert.deepEqual(
    [seen.bias, seen.store_difference, seen.own_seeds, seen.other_seeds, seen.own_reaching, seen.own_captures, seen.other_ones],
    [1, -3, 3, 2, 1, 0, 2], // the move would take all that the other side has: a grand slam, which takes nothing
  );
});
