// The engine of the cluster in this process: the same C sources, compiled to WebAssembly (web/engine/bridge.h), and so
// the same moves and scores. For browsers and Node; searching belongs into a worker (thinker.js).

const WASI_BADF = 8, WASI_OK = 0;

/** What the engine refused, in a sentence for people. */
export class EngineError extends Error {
    constructor(message) {
        super(message);
        this.name = "EngineError";
    }
}

// All the engine asks of its host: a clock, and somebody to report to. It has no files.
function imports(host) {
    const closed = () => WASI_BADF;
    const now = (clock, precision, at) => {
        new DataView(host.memory.buffer).setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
        return WASI_OK;
    };
    const leave = (status) => {
        throw new EngineError(`the engine ended with status ${status}; load the page again`);
    };
    const report = (at) => host.report?.(JSON.parse(read(host.memory, at)));
    return {
        env: { kroo_report: report, emscripten_notify_memory_growth: () => {} },
        wasi_snapshot_preview1: {
            clock_time_get: now, proc_exit: leave, fd_close: closed, fd_write: closed, fd_seek: closed,
        },
    };
}

function read(memory, at) {
    const bytes = new Uint8Array(memory.buffer, at);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
}

const LINE_PLY = ["houses", "stores", "side", "legal", "quiet", "occurrences", "slam"];

// Bits of the mover's own row to houses 0..11.
function legalHouses(bits, side) {
    return [0, 1, 2, 3, 4, 5].filter((house) => bits >> house & 1).map((house) => house + 6 * side);
}

function readPly(ply) {
    const named = Object.fromEntries(LINE_PLY.map((name, i) => [name, ply[i]]));
    return { ...named, legal: legalHouses(named.legal, named.side), slam: named.slam === 1 };
}

/** One player: a game, weights and a search. Made by `loadEngine`. */
export class Engine {
    #code;
    #player;
    #host;

    constructor(code, host, hashKib) {
        this.#code = code;
        this.#host = host;
        this.#player = code.kroo_create(hashKib);
        if (this.#player === 0) throw new EngineError("memory is short; close other pages and load this one again");
    }

    // Arguments as NUL-terminated text or as bytes, freed after the call.
    #with(values, call) {
        const placed = [];
        try {
            for (const value of values) {
                const bytes = typeof value === "string" ? new TextEncoder().encode(`${value}\0`) : value;
                const at = this.#code.kroo_alloc(Math.max(bytes.length, 1));
                if (at === 0) throw new EngineError("memory is short; close other pages and load this one again");
                placed.push(at);
                new Uint8Array(this.#host.memory.buffer).set(bytes, at);
            }
            return call(...placed);
        } finally {
            placed.forEach((at) => this.#code.kroo_free(at));
        }
    }

    #answer(status) {
        const text = read(this.#host.memory, this.#code.kroo_answer(this.#player));
        if (status !== 0) throw new EngineError(text);
        return JSON.parse(text);
    }

    /**
     * Sets the game and tells all of it: `plies` holds the position at the start and after each move, before leftovers
     * are taken, with the houses that may be chosen there; `houses` and `stores` are those at the end.
     */
    play({ rules = "site", start = "", moves = "" } = {}) {
        const line = this.#with([rules, start, moves], (...at) => this.#answer(this.#code.kroo_play(this.#player, ...at)));
        return { ...line, start, moves, plies: line.plies.map(readPly) };
    }

    /** Weights out of an exported binary file (Uint8Array), or the built-in ones (null). */
    useWeights(bytes) {
        if (bytes === null) return this.#answer(this.#code.kroo_use_weights(this.#player, 0, 0));
        return this.#with([bytes], (at) => this.#answer(this.#code.kroo_use_weights(this.#player, at, bytes.length)));
    }

    evaluate() {
        return this.#answer(this.#code.kroo_evaluate(this.#player));
    }

    forget() {
        this.#code.kroo_forget(this.#player);
    }

    #reporting(report, call) {
        this.#host.report = report;
        try {
            return this.#answer(call());
        } finally {
            this.#host.report = null;
        }
    }

    /** Best move within limits; 0 is no limit. `report` hears of each line of each depth. */
    search({ nodes = 0, depth = 0, timeMs = 0, lines = 1 }, report = null) {
        return this.#reporting(report, () => this.#code.kroo_search(this.#player, nodes, depth, timeMs, lines));
    }

    /** The move of a level, by its number, for this game and seed. */
    choose({ level, seed = 0 }, report = null) {
        return this.#reporting(report, () => this.#code.kroo_choose(this.#player, level, seed));
    }

    levels() {
        return this.#answer(this.#code.kroo_levels(this.#player));
    }

    perft(depth) {
        return this.#answer(this.#code.kroo_perft(this.#player, depth));
    }
}

let compiled = null;

async function fetchModule() {
    const response = await fetch(new URL("./kroo-engine.wasm", import.meta.url));
    if (!response.ok) {
        throw new EngineError("this coordinator was built without the engine for pages: install emscripten, build it again");
    }
    return WebAssembly.compile(await response.arrayBuffer());
}

// One download for all engines of a page; one that failed is tried again.
function compiledModule() {
    compiled ??= fetchModule().catch((error) => {
        compiled = null;
        throw error;
    });
    return compiled;
}

/** An engine with a table of `hashKib`; `module` is the compiled WebAssembly where it is at hand. */
export async function loadEngine({ hashKib = 1024, module = null } = {}) {
    const host = { memory: null, report: null };
    const instance = await WebAssembly.instantiate(module ?? await compiledModule(), imports(host));
    host.memory = instance.exports.memory;
    instance.exports._initialize();
    return new Engine(instance.exports, host, hashKib);
}
