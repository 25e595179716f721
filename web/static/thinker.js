// Asks an engine in a worker, one task at a time. Stopping ends the worker: a search in WebAssembly hears nothing while it
// runs. The next task starts another one, so every answer is a function of its task alone.

/** What a stopped task ends with. */
export class Stopped extends Error {}

export class Thinker {
    #worker = null;
    #number = 0;
    #task = null;
    #weights = null;
    #sent = false;

    /** Weights of the tasks to come: the bytes of an exported file, or null for the built-in ones. */
    useWeights(bytes) {
        this.stop();
        this.#weights = bytes;
        this.#sent = false;
    }

    get busy() {
        return this.#task !== null;
    }

    /**
     * `{game: {rules, start, moves}}` with `choose: {level, seed}` or `search: {nodes, depth, timeMs, lines}`: the answer of
     * the engine. `report` hears of each line of each depth. A task under way is stopped.
     */
    ask(task, report = null) {
        this.stop();
        this.#worker ??= this.#start();
        const number = this.#number += 1;
        const message = { number, task };
        if (!this.#sent) message.weights = this.#weights;
        this.#sent = true;
        return new Promise((resolve, reject) => {
            this.#task = { number, resolve, reject, report };
            this.#worker.postMessage(message);
        });
    }

    #start() {
        const worker = new Worker(new URL("./engine-worker.js", import.meta.url), { type: "module" });
        this.#sent = false;
        worker.onmessage = ({ data }) => this.#hear(data);
        worker.onerror = (event) => this.#hear({
            number: this.#task?.number, error: event.message || "the engine could not be started; load the page again",
        });
        return worker;
    }

    #hear({ number, info, answer, error }) {
        const task = this.#task;
        if (task?.number !== number) return;
        if (info) {
            task.report?.(info);
            return;
        }
        this.#task = null;
        if (error === undefined) task.resolve(answer);
        else task.reject(new Error(error));
    }

    /** Ends the task under way, which rejects with Stopped. */
    stop() {
        const task = this.#task;
        if (!task) return;
        this.#task = null;
        this.#worker.terminate();
        this.#worker = null;
        task.reject(new Stopped("stopped"));
    }
}
