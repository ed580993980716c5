// The data of the page, as numbers.rs, functions.rs, tree.rs, samples.rs and meta.rs write it.

function readNames(list) {
    const names = [];
    let before = '';
    for (let i = 0; i < list.length; i += 2) {
        before = before.slice(0, list[i]) + list[i + 1];
        names.push(before);
    }
    return names;
}

function readFunctions(meta) {
    const numbers = new Numbers(take('data-functions'));
    const functions = {
        count: meta.functions,
        names: readNames(meta.names),
        files: meta.files,
        name: new Uint32Array(meta.functions),
        file: new Uint32Array(meta.functions),
        kind: new Uint8Array(meta.functions),
        sources: meta.sources,
        // The index of the source file from 1 on, 0 if no line is known; and the line with the most samples.
        source: new Uint32Array(meta.functions),
        line: new Uint32Array(meta.functions),
    };
    let name = 0;
    for (let i = 0; i < meta.functions; i++) {
        name += numbers.next();
        functions.name[i] = name;
        functions.file[i] = numbers.next();
        functions.kind[i] = numbers.next();
        functions.source[i] = numbers.next();
        if (functions.source[i] > 0) functions.line[i] = numbers.next();
    }
    return functions;
}

// Of each node: its caller, its function, and the first node after all that it calls. Node 0 is the root.
function readTree(meta) {
    const numbers = new Numbers(take('data-tree'));
    const count = meta.nodes;
    const [caller, fn, end] = [0, 1, 2].map(() => new Uint32Array(count));
    for (let i = 1; i < count; i++) {
        let above = i - 1;
        for (let up = numbers.next(); up > 0; up--) above = caller[above];
        caller[i] = above;
        fn[i] = numbers.next();
    }
    for (let i = count - 1; i >= 0; i--) {
        end[i] = Math.max(end[i], i + 1);
        end[caller[i]] = Math.max(end[caller[i]], end[i]);
    }
    return { count, caller, fn, end };
}

// Samples with everything in common are a row. Rows of an event are together, in the order of the nodes.
function readSamples(meta) {
    const numbers = new Numbers(take('data-samples'));
    const count = meta.events.reduce((sum, { rows }) => sum + rows, 0);
    const rows = {
        count,
        node: new Uint32Array(count),
        thread: new Uint32Array(count),
        bucket: new Uint16Array(count),
        samples: new Float64Array(count),
        period: new Float64Array(count),
        start: [],
    };
    let i = 0;
    for (const event of meta.events) {
        rows.start.push(i);
        let [node, thread, bucket] = [0, 0, 0];
        for (const end = i + event.rows; i < end; i++) {
            const nodes = numbers.next();
            if (nodes > 0) [thread, bucket] = [0, 0];
            node += nodes;
            const threads = numbers.next();
            if (threads > 0) bucket = 0;
            thread += threads;
            bucket += numbers.next();
            const samples = numbers.next();
            rows.node[i] = node;
            rows.thread[i] = thread;
            rows.bucket[i] = bucket;
            rows.samples[i] = samples;
            rows.period[i] = event.period === null ? numbers.next() : samples * Number(event.period);
        }
    }
    rows.start.push(i);
    return rows;
}

function readData() {
    const meta = JSON.parse(take('data-meta'));
    return { meta, functions: readFunctions(meta), tree: readTree(meta), rows: readSamples(meta) };
}
