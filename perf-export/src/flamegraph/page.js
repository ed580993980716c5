// What is shown: the state of the page, and what follows from what is selected.

const ROW = 20;
// The height of a row on a touch screen.
const TALL = 26;
// Frames that are narrower are drawn as one.
const NARROW = 1;
// The captures of a comparison.
const SIDES = ['before', 'after'];

const data = readData();
const { meta, functions, rows } = data;
const state = {
    // The index of the event, `period` or `samples`, and what samples are grouped by.
    event: meta.event, size: 'period', group: 'none',
    // How stacks are merged and drawn.
    fromLeaf: false, flame: false, short: true, dark: false,
    // The selected parts of the time, from and to, and the other ones that they are compared with; null for all and none.
    span: null, other: null,
    // The labels of two groups that are compared, or null; and whose widths a comparison has.
    pair: null, width: 'after',
    // What is done to stacks, in this order: { kind, name }; whether recursion is collapsed; the name of a sandwich or null.
    transforms: [], collapsed: false, sandwich: null,
    // Whether lanes are drawn, and a heat map.
    lanes: false, heat: false,
};
// The stacks after the transforms, and those of which they are.
let view = null, viewOf = '';
let tree, shown = [], focus = 0, hovered = -1, chosen = -1, matches = null, groupMatches = [], perBucket = [], tallest = 1;
let columns = 1, foundText = '';
// What another part of the page has to show of frames.
let more = null;

function time(ns) {
    if (ns >= 1e9) return `${reducedTo(ns / 1e9, ns >= 1e11 ? 0 : 2)} s`;
    if (ns >= 1e6) return `${reducedTo(ns / 1e6, 1)} ms`;
    return ns >= 1e3 ? `${reducedTo(ns / 1e3, 1)} µs` : `${Math.round(ns)} ns`;
}

const inTime = () => state.size === 'period' && meta.events[state.event].unit === 'ns';
const valueText = (value) => compare ? comparedText(value) : inTime() ? time(value) : `${number(value)} ${state.size === 'samples' ? value === 1 ? 'sample' : 'samples' : meta.events[state.event].name}`;

const kindOf = (frame) => tree.fn[frame] < 0 ? -1 : functions.kind[tree.fn[frame]];
const fileOf = (frame) => tree.fn[frame] < 0 ? '' : functions.files[functions.file[tree.fn[frame]]];

// The line of a function that has most of its samples; empty if none is known. `isShort`: without the folders.
function lineOf(fn, isShort) {
    if (fn < 0 || functions.source[fn] === 0) return '';
    const source = functions.sources[functions.source[fn] - 1];
    return `${isShort ? source.slice(source.lastIndexOf('/') + 1) : source}:${functions.line[fn]}`;
}

function groupLabels() {
    const several = meta.captures.length > 1;
    const before = (capture) => several ? `${meta.captures[capture]}: ` : '';
    const numbers = new Map();
    const labels = [];
    const groupOf = new Uint32Array(meta.threads.length);
    // A process is called as its first thread.
    const mains = new Map();
    for (const [, process, pid, tid, comm] of meta.threads) {
        if (!mains.has(process) || pid === tid && mains.get(process).tid !== pid) mains.set(process, { comm, tid });
    }
    meta.threads.forEach(([capture, process, pid, tid, comm], thread) => {
        const [id, label] = {
            capture: () => [capture, meta.captures[capture]],
            comm: () => [comm, comm],
            process: () => [process, `${before(capture)}${mains.get(process).comm} (${pid})`],
            thread: () => [`${process} ${tid} ${comm}`, `${before(capture)}${comm} (${pid}/${tid})`],
        }[state.group]();
        if (!numbers.has(id)) {
            numbers.set(id, labels.length);
            labels.push(label);
        }
        groupOf[thread] = numbers.get(id);
    });
    return [groupOf, labels];
}

// Makes the tree anew after a change of what is selected.
function rebuild() {
    const keys = tree ? tree.keys(focus) : [false];
    compare = comparison();
    pendingGroup = null;
    const values = compare ? comparedRows() : rows[state.size];
    const id = JSON.stringify([state.transforms, state.collapsed]);
    if (viewOf !== id) [view, viewOf] = [transformed(state.transforms, state.collapsed), id];
    const [groupOf, labels] = state.group === 'none' || state.sandwich !== null || state.pair ? [[], []] : groupLabels();
    const { order, groups } = select(rowsInOrder(view, state.event), values, groupOf, labels);
    if (state.sandwich !== null) tree = new Sandwich(view, values, order, nameIndex(state.sandwich));
    else tree = new (state.fromLeaf ? FromLeaf : FromRoot)(view, values, order, groups);
    focus = tree.find(keys);
    showChips();
    hovered = chosen = -1;
    [lanes, chosenFrame, hoveredFrame] = [[], null, null];
    showWidths();
    showTotals();
    showLegend();
    search();
    countTimes();
    if ($('table').open) showTable();
    layout();
    saveState(true);
}

// The rows of what is drawn, each once.
const shownRows = () => tree.order.subarray(0, tree.end[0]);

function showTotals() {
    const event = meta.events[state.event];
    if (!event) return;
    if (compare) {
        const all = samplesOfSides(rowsOf(state.event));
        const [before, after] = samplesOfSides(shownRows()).map((samples, side) => samples === all[side] ? number(samples) : `${number(samples)} of ${number(all[side])}`);
        $('totals').textContent = `${before} samples ${compare.sides[0]} · ${after} ${compare.sides[1]}`;
        return;
    }
    const samples = shownRows().reduce((sum, row) => sum + rows.samples[row], 0);
    const whole = state.span === null && view.isWhole && state.sandwich === null;
    const exact = event.unit === 'ns' ? time(Number(event.total.period)) : `${BigInt(event.total.period).toLocaleString('en-US')} ${event.name}`;
    const parts = [`${number(samples)}${whole ? '' : ` of ${number(event.total.samples)}`} samples`];
    if (whole) parts.push(event.unit === 'ns' ? `${event.name} ${exact}` : exact);
    else parts.push(percent(samples, event.total.samples));
    if (meta.duration) parts.push(`${time(meta.duration)} long`);
    $('totals').textContent = parts.join(' · ');
    $('totals').title = `exactly: ${event.total.samples} samples, ${event.total.period} ${event.unit || event.name}`;
}

function showLegend() {
    if (compare) return showComparedLegend();
    const sums = KINDS.map(() => 0);
    for (const row of shownRows()) {
        const node = view.node[row];
        if (node > 0) sums[functions.kind[view.tree.fn[node]]] += tree.values[row];
    }
    const legend = $('legend');
    legend.replaceChildren();
    KINDS.forEach((name, kind) => {
        if (sums[kind] === 0 && !functions.kind.includes(kind)) return;
        const item = make('span');
        const swatch = make('i');
        swatch.style.background = paint(kind, '', state.dark);
        item.append(swatch, `${name} ${percent(sums[kind], tree.value[0])}`);
        item.title = `Share of what runs in functions that are ${name}`;
        legend.append(item);
    });
}

function search() {
    const text = $('search').value;
    const found = $('found');
    found.classList.remove('wrong');
    [matches, groupMatches] = [null, []];
    forgetMatches();
    $('previous').hidden = $('next').hidden = true;
    if (text === '') {
        found.textContent = '';
        return;
    }
    let pattern;
    try {
        pattern = new RegExp(text, /[A-Z]/.test(text) ? '' : 'i');
    } catch {
        found.classList.add('wrong');
        found.textContent = 'not a regular expression';
        return;
    }
    const ofName = functions.names.map((name) => pattern.test(name));
    matches = Uint8Array.from(functions.name, (name) => ofName[name] ? 1 : 0);
    groupMatches = tree.groups.map(({ label }) => pattern.test(label));
    // Each stack counts once.
    const { caller, fn, count } = view.tree;
    const inStack = new Uint8Array(count);
    for (let node = 1; node < count; node++) inStack[node] = inStack[caller[node]] | matches[fn[node]];
    let value = 0;
    const parts = tree.groups.length > 0 ? tree.groups : [{ start: 0, end: tree.end[0] }];
    parts.forEach(({ start, end }, group) => {
        // Frames from the leaf change the order in a group only.
        for (let i = start; i < end; i++) {
            if (groupMatches[group] || inStack[view.node[tree.order[i]]]) value += tree.values[tree.order[i]];
        }
    });
    const names = matches.reduce((sum, it) => sum + it, 0);
    foundText = `${percent(value, tree.value[0])} in ${number(names)} ${names === 1 ? 'function' : 'functions'}`;
    found.title = valueText(value);
    $('previous').hidden = $('next').hidden = value === 0;
    showFound();
}

function showFound() {
    const at = matchingAt >= 0 ? ` · ${number(matchingAt + 1)} of ${number(matching.length)}${isMore ? ' or more' : ''}` : '';
    $('found').textContent = foundText + at;
}

const isMatch = (frame) => matches !== null && (tree.fn[frame] >= 0 ? matches[tree.fn[frame]] === 1 : groupMatches[tree.group[frame]] === true);
