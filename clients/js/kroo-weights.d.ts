/** A position as people see it: houses A..F a..f, the stores of South and North, 0 when South is to move, else 1. */
export interface Position {
  houses: ArrayLike<number> & Iterable<number>;
  stores: ArrayLike<number> & Iterable<number>;
  side: 0 | 1;
}

export interface Vector {
  position: Position;
  score: number;
}

interface Shared {
  /** Canonical name of the rule set they were made for. */
  rules: string;
  /** score = sum >> shift */
  shift: number;
  /** Hundredths of a seed in one unit of log odds of winning; 0 when not calibrated. */
  perLogit: number;
  vectors: Vector[];
  provenance: unknown;
}

/** By seeds on the board: 36 or more, 24 to 35, 12 to 23, below 12. */
export interface TableWeights extends Shared {
  kind: 'table';
  phases: { bias: number; store: number; houses: number[][] }[];
}

export interface NetWeights extends Shared {
  kind: 'net';
  hiddenShift: number;
  hiddenBias: number[];
  /** [house][seeds 0..15][unit] */
  houses: number[][][];
  /** [difference + 25][unit] */
  store: number[][];
  output: number[];
  outputBias: number;
}

export interface FeatureWeights extends Shared {
  kind: 'features';
  /** [phase][feature], in the order of featureNames */
  phases: number[][];
}

export type Weights = TableWeights | NetWeights | FeatureWeights;

/** Thrown for whatever is no sound weights or no position. */
export declare class WeightsError extends Error {}

export declare const featureNames: readonly string[];
/** `4-4-4-4-4-4-4-4-4-4-4-4-0-0-S` */
export declare function parsePosition(text: string): Position;
/** A file of `kroo weights export W --format bin`; ranges, checksum and test positions are checked. */
export declare function readBinary(input: ArrayBuffer | Uint8Array): Weights;
/** The JSON of `kroo weights export W --format json`, its text or the parsed object; checked likewise. */
export declare function readJson(input: string | object): Weights;
/** Hundredths of a seed in the view of the side to move, -32000 to 32000. */
export declare function evaluate(weights: Weights, position: Position): number;
/** The 24 inputs of the kind `features`. */
export declare function features(position: Position): number[];
/** The test positions whose score does not come out; empty when all is well. */
export declare function wrongVectors(weights: Weights): Vector[];
