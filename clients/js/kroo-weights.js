// Reads weights of Kroo (binary or JSON) and evaluates oware positions with them: the same integers as kroo-engine.
// An ES module without dependencies, for browsers, Node, Deno. Both formats: weights/FORMAT.md, in the package FORMAT.md.

const MAGIC = [0x4b, 0x52, 0x4f, 0x4f, 0x57, 0xe2, 0x0d, 0x0a];
const HEADER = 40, VECTORS = 64, VECTOR = 19, SEEDS = 48, PROVENANCE_MAX = 65536;
const KINDS = { 1: 'table', 2: 'net', 3: 'features' };
const DIMENSIONS = { table: [4, 12, 13], net: [243, 32, 1], features: [4, 24, 1] };
const PAYLOAD = { table: 1264, net: 15684, features: 192 };

/** Names of the inputs of the kind `features`, by index. */
export const featureNames = Object.freeze([
  'bias', 'store_difference', 'own_seeds', 'other_seeds', 'own_mobility', 'other_mobility', 'own_reaching',
  'other_reaching', 'own_ones', 'other_ones', 'own_twos', 'other_twos', 'own_kroos', 'other_kroos', 'own_captures',
  'other_captures', 'own_best_capture', 'other_best_capture', 'own_vulnerable', 'other_vulnerable', 'own_largest',
  'other_largest', 'own_rear', 'other_rear',
]);

/** Thrown for whatever is no sound weights; the message says what is wrong and where. */
export class WeightsError extends Error {
  constructor(message) {
    super(message);
    this.name = 'WeightsError';
  }
}

function demand(condition, message) {
  if (!condition) throw new WeightsError(message);
}

function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new WeightsError(`no JSON: ${error.message}`);
  }
}

// --- positions ---

/** `4-4-4-4-4-4-4-4-4-4-4-4-0-0-S`: houses A..F a..f, the stores of South and North, the side to move. */
export function parsePosition(text) {
  const match = /^(\d{1,2}(?:-\d{1,2}){13})-([SN])$/.exec(text);
  demand(match, `"${String(text).slice(0, 80)}" is no position`);
  const numbers = match[1].split('-').map(Number);
  return checkPosition({ houses: numbers.slice(0, 12), stores: numbers.slice(12), side: match[2] === 'S' ? 0 : 1 });
}

function checkPosition(position) {
  const { houses, stores, side } = position ?? {};
  demand(houses?.length === 12 && stores?.length === 2 && (side === 0 || side === 1), 'no position');
  const all = [...houses, ...stores];
  demand(all.every((n) => Number.isInteger(n) && n >= 0), 'a position holds whole numbers of seeds');
  demand(all.reduce((sum, n) => sum + n, 0) === SEEDS, `a position holds ${SEEDS} seeds`);
  return position;
}

// The mover's six houses and store, then the opponent's.
function view({ houses, stores, side }) {
  const south = { houses: Array.from(houses).slice(0, 6), store: stores[0] };
  const north = { houses: Array.from(houses).slice(6), store: stores[1] };
  return side === 0 ? [south, north] : [north, south];
}

// --- evaluation ---

function phaseOf(own, other) {
  const seeds = SEEDS - own.store - other.store;
  return seeds >= 36 ? 0 : seeds >= 24 ? 1 : seeds >= 12 ? 2 : 3;
}

function sumTable(weights, own, other) {
  const phase = weights.phases[phaseOf(own, other)];
  let sum = phase.bias + phase.store * (own.store - other.store);
  [...own.houses, ...other.houses].forEach((seeds, house) => {
    sum += phase.houses[house][Math.min(seeds, 12)];
  });
  return sum;
}

function sumNet(weights, own, other) {
  const difference = Math.max(-25, Math.min(25, own.store - other.store));
  const rows = [...own.houses, ...other.houses].map((seeds, house) => weights.houses[house][Math.min(seeds, 15)]);
  rows.push(weights.store[difference + 25]);
  let sum = weights.outputBias;
  for (let unit = 0; unit < 32; unit++) {
    let value = weights.hiddenBias[unit];
    for (const row of rows) value += row[unit];
    sum += weights.output[unit] * Math.max(0, Math.min(127, value >> weights.hiddenShift));
  }
  return sum;
}

// What sowing house `from` of `own` captures: the opponent's houses as indices; a grand slam captures nothing.
function captures(own, other, from) {
  const board = [...own.houses, ...other.houses];
  let at = from;
  board[from] = 0;
  for (let seeds = own.houses[from]; seeds > 0; seeds--) {
    at = (at + 1) % 12;
    if (at === from) at = (at + 1) % 12;
    board[at]++;
  }
  const taken = [];
  for (let house = at; house >= 6 && (board[house] === 2 || board[house] === 3); house--) taken.push(house - 6);
  const gain = taken.reduce((sum, house) => sum + board[6 + house], 0);
  const left = board.slice(6).reduce((sum, seeds) => sum + seeds, 0);
  return gain === left ? { taken: [], gain: 0 } : { taken, gain };
}

function lookAt(own, other, side, out) {
  const count = (test) => own.houses.filter(test).length;
  const vulnerable = new Set();
  out[2 + side] = own.houses.reduce((sum, seeds) => sum + seeds, 0);
  out[4 + side] = count((seeds) => seeds > 0);
  out[6 + side] = count((seeds, house) => seeds + house >= 6);
  out[8 + side] = count((seeds) => seeds === 1);
  out[10 + side] = count((seeds) => seeds === 2);
  out[12 + side] = count((seeds) => seeds >= 12);
  out[20 + side] = Math.max(...own.houses);
  out[22 + side] = own.houses[0] + own.houses[1] + own.houses[2];
  for (let house = 0; house < 6; house++) {
    if (own.houses[house] === 0) continue;
    const { taken, gain } = captures(own, other, house);
    if (gain === 0) continue;
    out[14 + side]++;
    out[16 + side] = Math.max(out[16 + side], gain);
    taken.forEach((captured) => vulnerable.add(captured));
  }
  out[19 - side] = vulnerable.size;
}

/** The 24 inputs of the kind `features`, in the order of featureNames. */
export function features(position) {
  const [own, other] = view(checkPosition(position));
  const out = new Array(24).fill(0);
  out[0] = 1;
  out[1] = own.store - other.store;
  lookAt(own, other, 0, out);
  lookAt(other, own, 1, out);
  return out;
}

/** Hundredths of a seed in the view of the side to move, -32000 to 32000. */
export function evaluate(weights, position) {
  const [own, other] = view(checkPosition(position));
  let sum;
  if (weights.kind === 'table') sum = sumTable(weights, own, other);
  else if (weights.kind === 'net') sum = sumNet(weights, own, other);
  else {
    const phase = weights.phases[phaseOf(own, other)];
    sum = features(position).reduce((total, value, index) => total + value * phase[index], 0);
  }
  // every sum fits into 32 bits, so this shift is the engine's: it rounds down
  return Math.max(-32000, Math.min(32000, sum >> weights.shift));
}

/** The test positions whose score does not come out; empty when all is well. */
export function wrongVectors(weights) {
  return weights.vectors.filter(({ position, score }) => evaluate(weights, position) !== score);
}

// --- ranges: as the engine, no sum may leave its type in whatever order it is added ---

const largest = (numbers) => numbers.reduce((most, n) => Math.max(most, Math.abs(n)), 0);

function checkRanges(weights) {
  demand(weights.shift >= 0 && weights.shift <= 14, 'shift is not from 0 to 14');
  demand(weights.perLogit >= 0, 'per_logit is negative');
  if (weights.kind === 'table')
    weights.phases.forEach(({ bias, store, houses }, index) => {
      const bound = houses.reduce((sum, row) => sum + largest(row), Math.abs(bias) + SEEDS * Math.abs(store));
      demand(bound <= 32767, `phases[${index}]: a sum could leave 16 bits`);
    });
  if (weights.kind !== 'net') return;
  demand(weights.hiddenShift >= 0 && weights.hiddenShift <= 14, 'hidden_shift is not from 0 to 14');
  for (let unit = 0; unit < 32; unit++) {
    const at = (rows) => largest(rows.map((row) => row[unit]));
    const bound = weights.houses.reduce((sum, rows) => sum + at(rows), Math.abs(weights.hiddenBias[unit]));
    demand(bound + at(weights.store) <= 32767, `unit ${unit}: a sum could leave 16 bits`);
  }
  const output = weights.output.reduce((sum, n) => sum + 127 * Math.abs(n), Math.abs(weights.outputBias));
  demand(output <= 0x7fffffff, 'output: a sum could leave 32 bits');
}

// Ranges and test positions: whatever comes out of this module evaluates as its file promises.
function finish(weights) {
  checkRanges(weights);
  const wrong = wrongVectors(weights);
  demand(wrong.length === 0, `${wrong.length} of ${weights.vectors.length} test positions do not come out`);
  return weights;
}

// --- the binary ---

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

function crc32c(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

// Hands out the int16 of the payload one after the other, in the shape asked for.
class Payload {
  constructor(data, offset) {
    this.data = data;
    this.offset = offset;
  }

  number() {
    this.offset += 2;
    return this.data.getInt16(this.offset - 2, true);
  }

  numbers(count, ...rest) {
    return Array.from({ length: count }, () => (rest.length > 0 ? this.numbers(...rest) : this.number()));
  }
}

function readPayload(kind, payload, hiddenShift) {
  if (kind === 'table')
    return {
      phases: Array.from({ length: 4 }, () => ({
        bias: payload.number(), store: payload.number(), houses: payload.numbers(12, 13),
      })),
    };
  if (kind === 'features') return { phases: payload.numbers(4, 24) };
  const hiddenBias = payload.numbers(32), houses = payload.numbers(12, 16, 32), store = payload.numbers(51, 32);
  const output = payload.numbers(32);
  return { hiddenShift, hiddenBias, houses, store, output, outputBias: payload.data.getInt32(payload.offset, true) };
}

function readVector(data, offset) {
  const at = (index) => data.getUint8(offset + index);
  const twelve = Array.from({ length: 12 }, (_, house) => at(house));
  const position = checkPosition({ houses: twelve, stores: [at(12), at(13)], side: at(14) });
  return { position, score: data.getInt32(offset + 15, true) };
}

/** Reads a weights file (`kroo weights export W --format bin`) from an ArrayBuffer or a Uint8Array. */
export function readBinary(input) {
  const bytes = input instanceof Uint8Array ? input : new Uint8Array(input);
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  demand(bytes.length >= 8 && MAGIC.every((byte, index) => bytes[index] === byte), 'this is no weights file of Kroo');
  demand(bytes.length < 10 || data.getUint16(8, true) === 1, 'the file has another format version than 1');
  demand(bytes.length >= HEADER + 4 && data.getUint32(12, true) === bytes.length, 'the file is cut short or too long');
  demand(crc32c(bytes.subarray(0, -4)) === data.getUint32(bytes.length - 4, true), 'the file is damaged');
  const kind = KINDS[data.getUint16(10, true)];
  demand(kind, 'the kind of the weights is unknown');
  const size = PAYLOAD[kind], rules = data.getUint16(28, true), provenance = data.getUint32(36, true);
  demand(
    DIMENSIONS[kind].every((n, index) => data.getUint16(16 + 2 * index, true) === n) &&
      data.getUint16(30, true) === VECTORS && data.getUint32(32, true) === size && rules < 160 &&
      provenance <= PROVENANCE_MAX && (kind === 'net' || bytes[23] === 0) &&
      bytes.length === HEADER + rules + size + VECTORS * VECTOR + provenance + 4,
    'the dimensions are not those of its kind');
  const text = (offset, length) => new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(offset, offset + length));
  const vectors = HEADER + rules + size;
  return finish({
    kind,
    rules: text(HEADER, rules),
    shift: bytes[22],
    perLogit: data.getInt32(24, true),
    ...readPayload(kind, new Payload(data, HEADER + rules), bytes[23]),
    vectors: Array.from({ length: VECTORS }, (_, index) => readVector(data, vectors + VECTOR * index)),
    provenance: parseJson(text(vectors + VECTORS * VECTOR, provenance)),
  });
}

// --- JSON ---

function integer(value, path, low, high) {
  demand(Number.isInteger(value) && value >= low && value <= high, `${path}: no whole number from ${low} to ${high}`);
  return value;
}

const int16 = (value, path) => integer(value, path, -32768, 32767);

function array(value, path, count, read) {
  demand(Array.isArray(value) && value.length === count, `${path}: no array of ${count}`);
  return value.map((element, index) => read(element, `${path}[${index}]`));
}

const row = (count) => (value, path) => array(value, path, count, int16);
const rows = (count, width) => (value, path) => array(value, path, count, row(width));

function tablePhase(value, path) {
  return {
    bias: int16(value?.bias, `${path}.bias`),
    store: int16(value?.store, `${path}.store`),
    houses: rows(12, 13)(value?.houses, `${path}.houses`),
  };
}

function featuresPhase(value, path) {
  return featureNames.map((name) => int16(value?.[name], `${path}.${name}`));
}

function jsonParameters(root) {
  if (root.kind === 'table') return { phases: array(root.phases, 'phases', 4, tablePhase) };
  if (root.kind === 'features') return { phases: array(root.phases, 'phases', 4, featuresPhase) };
  return {
    hiddenShift: integer(root.hidden_shift, 'hidden_shift', 0, 14),
    hiddenBias: row(32)(root.hidden_bias, 'hidden_bias'),
    houses: array(root.houses, 'houses', 12, rows(16, 32)),
    store: rows(51, 32)(root.store, 'store'),
    output: row(32)(root.output, 'output'),
    outputBias: integer(root.output_bias, 'output_bias', -2147483648, 2147483647),
  };
}

/** Reads the JSON of `kroo weights export W --format json`: its text, or what JSON.parse made of it. */
export function readJson(input) {
  const root = typeof input === 'string' ? parseJson(input) : input;
  demand(root?.format === 'kroo-weights', 'format: not kroo-weights');
  demand(root.version === 1, 'version: not 1');
  demand(Object.values(KINDS).includes(root.kind), 'kind: not table, net or features');
  demand(typeof root.rules === 'string' && root.rules !== '', 'rules: no text');
  const vectors = root.vectors ?? [];
  demand(Array.isArray(vectors), 'vectors: no array');
  return finish({
    kind: root.kind,
    rules: root.rules,
    shift: integer(root.shift, 'shift', 0, 14),
    perLogit: integer(root.per_logit ?? 0, 'per_logit', 0, 2147483647),
    ...jsonParameters(root),
    vectors: vectors.map((vector, index) => ({
      position: parsePosition(vector?.position),
      score: integer(vector?.score, `vectors[${index}].score`, -32000, 32000),
    })),
    provenance: root.provenance ?? {},
  });
}
