// The engine in a worker, so that a page stays alive while it thinks (thinker.js). Each task says all it needs, and starts
// with nothing searched before.
import { loadEngine } from "./engine.js";

const HASH_KIB = 16384;
const ready = loadEngine({ hashKib: HASH_KIB });

async function perform({ number, task, weights }) {
    const engine = await ready;
    const report = (info) => postMessage({ number, info });
    if (weights !== undefined) engine.useWeights(weights);
    engine.play(task.game);
    engine.forget();
    return task.choose ? engine.choose(task.choose, report) : engine.search(task.search, report);
}

onmessage = async ({ data }) => {
    try {
        postMessage({ number: data.number, answer: await perform(data) });
    } catch (error) {
        postMessage({ number: data.number, error: error.message });
    }
};
