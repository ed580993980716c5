// Runs in the worker, after the JavaScript of the module: has the capture, and answers the page.
//
// A message is { id, command, argument }; its answer is { id, result }, { id, error } or, if the module failed and must not be used
// again, { id, error, isFatal }.
'use strict';

let capture;

const commands = {
    load: ({ module }) => wasm_bindgen({ module_or_path: module }).then(() => undefined),
    open({ file, files }) {
        capture?.free();
        capture = undefined;
        capture = wasm_bindgen.Capture.fromFile(file);
        const reader = new FileReaderSync();
        return files.map((it) => capture.addFile(it.name, new Uint8Array(reader.readAsArrayBuffer(it))) ?? null);
    },
    info: () => capture.info(),
    report: (options) => capture.report(options),
    timeline: ({ parts, ...options }) => capture.timeline(parts, options),
    fold: ({ name, ...options }) => capture.fold(options),
    flamegraph: (options) => capture.flamegraph(options),
    firefox: (options) => capture.firefox(options),
    speedscope: (options) => capture.speedscope(options),
    pprof: ({ name, ...options }) => capture.pprof(options),
};

function withProgress(command, argument) {
    if (['load', 'open', 'info'].includes(command)) return argument;
    return { ...argument, progress: (bytes) => { postMessage({ progress: bytes }); } };
}

onmessage = async ({ data: { id, command, argument } }) => {
    try {
        postMessage({ id, result: await commands[command](withProgress(command, argument)) });
    } catch (error) {
        const message = String(error?.message ?? error);
        // A panic, a trap, and a stack or a memory that is used up.
        const isFatal = message.startsWith('perfdata has a bug') || error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
        postMessage({ id, error: message, offset: error?.offset, isFatal });
    }
};
