// The worker, as the page sees it.

const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
const module = WebAssembly.compile(bytesOf(document.getElementById('module').textContent.trim()));
const source = URL.createObjectURL(new Blob([document.getElementById('worker').textContent], { type: 'text/javascript' }));

class Reader {
    #worker;
    #waiting = new Map();
    #id = 0;
    #opened;
    #onProgress;
    #onRestart;

    // `onProgress` is called with a number of bytes, `onRestart` after the worker failed and was made anew.
    constructor(onProgress, onRestart) {
        this.#onProgress = onProgress;
        this.#onRestart = onRestart;
    }

    async #start() {
        this.#worker = new Worker(source);
        this.#worker.onmessage = ({ data }) => this.#answer(data);
        // What the worker could not catch.
        this.#worker.onerror = (event) => {
            event.preventDefault();
            this.#fail(event.message || 'the worker ended');
        };
        await this.#send('load', { module: await module });
    }

    #send(command, argument) {
        this.#id += 1;
        const id = this.#id;
        return new Promise((resolve, reject) => {
            this.#waiting.set(id, { resolve, reject });
            this.#worker.postMessage({ id, command, argument });
        });
    }

    #answer({ id, result, error, offset, isFatal, progress }) {
        if (progress !== undefined) return this.#onProgress(progress);
        if (isFatal) return this.#fail(error);
        const { resolve, reject } = this.#waiting.get(id) ?? {};
        this.#waiting.delete(id);
        if (error === undefined) return resolve?.(result);
        reject?.(Object.assign(new Error(error), { offset }));
    }

    // Ends the worker, whose memory may be inconsistent. The next command starts another one.
    #fail(message) {
        this.#worker.terminate();
        this.#worker = undefined;
        const waiting = [...this.#waiting.values()];
        this.#waiting.clear();
        waiting.forEach(({ reject }) => reject(new Error(message)));
        this.#onRestart(message);
    }

    // Opens a capture, and files with names. Returns the build ids of the files.
    async open(file, files) {
        if (!this.#worker) await this.#start();
        const ids = await this.#send('open', { file, files });
        this.#opened = { file, files };
        return ids;
    }

    // Calls a method of the capture.
    async call(command, argument = {}) {
        if (!this.#worker) {
            await this.#start();
            if (this.#opened) await this.#send('open', this.#opened);
        }
        return this.#send(command, argument);
    }
}
