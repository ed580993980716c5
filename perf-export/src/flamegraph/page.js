// What is shown, and what a person does with it.

const ROW = 20;
// The height of a row on a touch screen.
const TALL = 26;
// Frames that are narrower are drawn as one.
const NARROW = 1;
const KINDS = ['user', 'kernel', 'inlined', 'generated (JIT)', 'without a name', 'not mapped'];
// Hue, its range, saturation, and lightness in light and dark mode.
const COLORS = [
    [24, 15, 88, 67, 36], [206, 14, 62, 72, 36], [44, 8, 88, 70, 32], [140, 22, 44, 68, 30], [220, 0, 4, 80, 33],
    [335, 8, 34, 80, 34],
];
const GROUP = [250, 0, 18, 84, 34];

const $ = (id) => document.getElementById(id);
const data = readData();
const { meta, functions, rows } = data;
const state = {
    event: 0, size: 'period', group: 'none', fromLeaf: false, flame: false, span: null, search: null, dark: false,
};
let tree, shown = [], focus = 0, hovered = -1, chosen = -1, matches = null, groupMatches = [], perBucket = [], tallest = 1;
let columns = 1;
const number = (value) => value.toLocaleString('en-US');
const reducedTo = (value, digits) => value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits });

function make(tag, text = '', className = '') {
    const element = document.createElement(tag);
    element.textContent = text;
    if (className) element.className = className;
    return element;
}

function time(ns) {
    if (ns >= 1e9) return `${reducedTo(ns / 1e9, ns >= 1e11 ? 0 : 2)} s`;
    if (ns >= 1e6) return `${reducedTo(ns / 1e6, 1)} ms`;
    return ns >= 1e3 ? `${reducedTo(ns / 1e3, 1)} µs` : `${ns} ns`;
}

const inTime = () => state.size === 'period' && meta.events[state.event].unit === 'ns';
const valueText = (value) => inTime() ? time(value) : `${number(value)} ${state.size === 'samples' ? value === 1 ? 'sample' : 'samples' : meta.events[state.event].name}`;

function percent(part, all) {
    const share = all > 0 ? 100 * part / all : 0;
    return share > 0 && share < 0.01 ? '< 0.01 %' : `${reducedTo(share, share >= 10 ? 1 : 2)} %`;
}

const kindOf = (frame) => tree.fn[frame] < 0 ? -1 : functions.kind[tree.fn[frame]];
const fileOf = (frame) => tree.fn[frame] < 0 ? '' : functions.files[functions.file[tree.fn[frame]]];

function hash(text) {
    let value = 2166136261;
    for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 16777619);
    return (value >>> 8) % 1000 / 1000;
}

const paints = new Map();
function paint(kind, name) {
    const part = Math.round(hash(name) * 12) / 12;
    const id = `${kind} ${part} ${state.dark}`;
    let color = paints.get(id);
    if (!color) {
        const [hue, range, saturation, light, dark] = COLORS[kind] ?? GROUP;
        const lightness = (state.dark ? dark : light) + 7 * (part - 0.5);
        color = `hsl(${hue + range * (part - 0.5)} ${state.dark ? saturation * 0.72 : saturation}% ${lightness}%)`;
        paints.set(id, color);
    }
    return color;
}

// ---- What is selected

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
    const keys = tree ? tree.keys(focus) : [];
    const values = rows[state.size];
    const [groupOf, labels] = state.group === 'none' ? [[], []] : groupLabels();
    const { order, groups } = select(data, state.event, state.span, values, groupOf, labels);
    tree = new (state.fromLeaf ? FromLeaf : FromRoot)(data, values, order, groups);
    focus = tree.find(keys);
    hovered = chosen = -1;
    showTotals();
    showLegend();
    search();
    countTimes();
    if ($('table').open) showTable();
    layout();
}

function showTotals() {
    const event = meta.events[state.event];
    if (!event) return;
    const samples = tree.order.reduce((sum, row) => sum + rows.samples[row], 0);
    const whole = state.span === null;
    const exact = event.unit === 'ns' ? time(Number(event.total.period)) : `${BigInt(event.total.period).toLocaleString('en-US')} ${event.name}`;
    const parts = [`${number(samples)}${whole ? '' : ` of ${number(event.total.samples)}`} samples`];
    if (whole) parts.push(event.unit === 'ns' ? `${event.name} ${exact}` : exact);
    else parts.push(percent(samples, event.total.samples));
    if (meta.duration) parts.push(`${time(meta.duration)} long`);
    $('totals').textContent = parts.join(' · ');
    $('totals').title = `exactly: ${event.total.samples} samples, ${event.total.period} ${event.unit || event.name}`;
}

function showLegend() {
    const sums = KINDS.map(() => 0);
    for (const row of tree.order) {
        const node = rows.node[row];
        if (node > 0) sums[functions.kind[data.tree.fn[node]]] += tree.values[row];
    }
    const legend = $('legend');
    legend.replaceChildren();
    KINDS.forEach((name, kind) => {
        if (sums[kind] === 0 && !functions.kind.includes(kind)) return;
        const item = make('span');
        const swatch = make('i');
        swatch.style.background = paint(kind, '');
        item.append(swatch, `${name} ${percent(sums[kind], tree.value[0])}`);
        item.title = `Share of what runs in functions that are ${name}`;
        legend.append(item);
    });
}

// ---- Search

function search() {
    const text = $('search').value;
    const found = $('found');
    found.classList.remove('wrong');
    [matches, groupMatches] = [null, []];
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
    const { caller, fn, count } = data.tree;
    const inStack = new Uint8Array(count);
    for (let node = 1; node < count; node++) inStack[node] = inStack[caller[node]] | matches[fn[node]];
    let value = 0;
    const parts = tree.groups.length > 0 ? tree.groups : [{ start: 0, end: tree.order.length }];
    parts.forEach(({ start, end }, group) => {
        // Frames from the leaf change the order in a group only.
        for (let i = start; i < end; i++) {
            if (groupMatches[group] || inStack[rows.node[tree.order[i]]]) value += tree.values[tree.order[i]];
        }
    });
    const names = matches.reduce((sum, it) => sum + it, 0);
    found.textContent = `${percent(value, tree.value[0])} in ${number(names)} ${names === 1 ? 'function' : 'functions'}`;
    found.title = valueText(value);
}

const isMatch = (frame) => matches !== null && (tree.fn[frame] >= 0 ? matches[tree.fn[frame]] === 1 : groupMatches[tree.group[frame]] === true);

// ---- Layout: the frames of each row, from left to right

function layout() {
    const width = $('scroll').clientWidth;
    columns = width;
    shown = [];
    const around = [];
    for (let at = focus; at >= 0; at = tree.above[at]) around.unshift(at);
    around.forEach((frame) => shown.push([{ frame, x: 0, w: width, many: 0 }]));
    for (let row = shown[shown.length - 1]; row.length > 0;) {
        const next = [];
        for (const { frame, x, w } of row) {
            if (frame < 0 || tree.value[frame] <= 0) continue;
            const scale = w / tree.value[frame];
            const count = tree.below(frame);
            const first = tree.first[frame];
            let [left, from, many] = [x, x, 0];
            const flush = () => {
                if (many > 0 && left - from >= NARROW / 2) next.push({ frame: -1, x: from, w: left - from, many });
                many = 0;
            };
            for (let below = first; below < first + count; below++) {
                const wide = tree.value[below] * scale;
                if (wide >= NARROW) {
                    flush();
                    next.push({ frame: below, x: left, w: wide, many: 0 });
                } else {
                    if (many === 0) from = left;
                    many++;
                }
                left += wide;
            }
            flush();
        }
        if (next.length > 0) shown.push(next);
        row = next;
    }
    tallest = shown.length;
    $('reset').hidden = focus === 0;
    showPath(around);
    resize();
}

function showPath(around) {
    const path = $('path');
    path.hidden = focus === 0;
    path.replaceChildren(...around.map((frame) => {
        const name = tree.name(frame);
        const button = make('button', name.length > 40 ? `${name.slice(0, 39)}…` : name);
        button.type = 'button';
        button.onclick = () => zoom(frame);
        return button;
    }));
    path.scrollLeft = path.scrollWidth;
}

const rowHeight = () => matchMedia('(pointer: coarse)').matches ? TALL : ROW;

function fitted(canvas, width, height) {
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
    canvas.style.height = `${height}px`;
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
}

function resize() {
    const whole = Math.max(tallest * rowHeight(), $('scroll').clientHeight);
    const atBottom = $('scroll').scrollTop;
    $('height').style.height = `${whole}px`;
    if (state.flame && atBottom === 0) $('scroll').scrollTop = whole;
    draw();
}

// ---- Drawing

const widths = new Map();
function measured(context, text) {
    let width = widths.get(text);
    if (width === undefined) {
        width = context.measureText(text).width;
        if (widths.size > 50_000) widths.clear();
        widths.set(text, width);
    }
    return width;
}

// The part of a name that fits, or nothing.
function cut(context, name, room) {
    if (room < 14) return '';
    const text = name.length > 400 ? name.slice(0, 400) : name;
    if (measured(context, text) <= room) return text;
    let [low, high] = [0, Math.min(text.length, Math.ceil(room / 3))];
    while (low < high) {
        const middle = low + high + 1 >> 1;
        if (measured(context, `${text.slice(0, middle)}…`) <= room) low = middle;
        else high = middle - 1;
    }
    return low > 1 ? `${text.slice(0, low)}…` : '';
}

const yOf = (row) => {
    const height = rowHeight();
    const whole = Math.max(tallest * height, $('scroll').clientHeight);
    return (state.flame ? whole - (row + 1) * height : row * height) - $('scroll').scrollTop;
};

function draw() {
    const view = $('scroll');
    const [width, height, row] = [columns, view.clientHeight, rowHeight()];
    const context = fitted($('graph'), width, height);
    const style = getComputedStyle(document.documentElement);
    const [ink, paper, soft, bar, accent] = ['--ink', '--paper', '--soft', '--bar', '--accent'].map((name) => style.getPropertyValue(name));
    context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    context.textBaseline = 'middle';
    const depth = tree.depth[focus];
    shown.forEach((frames, number) => {
        const y = yOf(number);
        if (y + row < 0 || y > height) return;
        for (const { frame, x, w } of frames) {
            const gap = w > 3 ? 1 : 0;
            if (frame < 0) {
                context.fillStyle = bar;
                context.fillRect(x, y, Math.max(w - gap, 0.5), row - 1);
                continue;
            }
            const isFound = isMatch(frame);
            const isAround = number < depth;
            context.globalAlpha = isAround || matches !== null && !isFound ? 0.45 : 1;
            const name = tree.name(frame);
            context.fillStyle = isFound ? state.dark ? 'hsl(292 60% 42%)' : 'hsl(292 84% 78%)' : paint(kindOf(frame), name);
            context.fillRect(x, y, w - gap, row - 1);
            context.globalAlpha = isAround ? 0.7 : 1;
            if (w > 20) {
                context.fillStyle = ink;
                const text = cut(context, name, w - 9);
                if (text) context.fillText(text, x + 4, y + row / 2);
            }
            context.globalAlpha = 1;
            if (frame === hovered || frame === chosen) {
                context.strokeStyle = frame === chosen ? accent : ink;
                context.lineWidth = frame === chosen ? 2 : 1;
                context.strokeRect(x + 0.5, y + 0.5, Math.max(w - 2, 1), row - 2);
            }
        }
    });
    if (tree.value[0] <= 0) {
        context.fillStyle = soft;
        context.fillText('No samples.', 4, 14);
    }
    context.fillStyle = paper;
    drawTimes(style);
}

let isPlanned = false;
function plan() {
    if (isPlanned) return;
    isPlanned = true;
    requestAnimationFrame(() => {
        isPlanned = false;
        draw();
    });
}

// ---- Timeline

function countTimes() {
    const [start, end] = [rows.start[state.event] ?? 0, rows.start[state.event + 1] ?? 0];
    perBucket = new Float64Array(meta.buckets + 1);
    for (let row = start; row < end; row++) perBucket[rows.bucket[row]] += rows[state.size][row];
    $('times').hidden = !meta.duration;
}

const timeOf = (bucket) => (bucket - 1) * meta.duration / meta.buckets;

function drawTimes(style) {
    if ($('times').hidden) return;
    const canvas = $('timeline');
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const context = fitted(canvas, width, height);
    const color = (name) => style.getPropertyValue(name);
    const below = height - 14;
    // What the zoomed frame has of it.
    const ofFocus = new Float64Array(meta.buckets + 1);
    for (let i = tree.start[focus]; i < tree.end[focus]; i++) {
        const row = tree.order[i];
        ofFocus[rows.bucket[row]] += tree.values[row];
    }
    context.fillStyle = color('--panel');
    context.fillRect(0, 0, width, below);
    const perColumn = meta.buckets / Math.max(1, Math.min(width / 2, meta.buckets));
    const bars = [];
    for (let from = 1; from <= meta.buckets; from += perColumn) {
        const [first, last] = [Math.floor(from), Math.min(meta.buckets, Math.max(Math.floor(from), Math.ceil(from + perColumn) - 1))];
        const bar = { first, last, all: 0, part: 0 };
        for (let bucket = first; bucket <= last; bucket++) {
            bar.all += perBucket[bucket];
            bar.part += ofFocus[bucket];
        }
        bars.push(bar);
    }
    const most = Math.max(...bars.map(({ all, first, last }) => all / (last - first + 1)), 1e-9);
    for (const { first, last, all, part } of bars) {
        const count = last - first + 1;
        const x = (first - 1) / meta.buckets * width;
        const wide = count / meta.buckets * width;
        const w = wide > 4 ? wide - 1 : wide;
        for (const [value, fill] of [[all, '--bar'], [part, focus > 0 ? '--accent' : '--times']]) {
            const high = value / count / most * (below - 3);
            context.fillStyle = color(fill);
            if (value > 0) context.fillRect(x, below - Math.max(high, 1), w, Math.max(high, 1));
        }
    }
    if (state.span) {
        const [from, to] = state.span;
        const [left, right] = [(from - 1) / meta.buckets * width, to / meta.buckets * width];
        context.globalAlpha = 0.72;
        context.fillStyle = color('--paper');
        context.fillRect(0, 0, left, below);
        context.fillRect(right, 0, width - right, below);
        context.globalAlpha = 1;
        context.fillStyle = color('--ink');
        context.fillRect(left, 0, 1.5, below);
        context.fillRect(right - 1.5, 0, 1.5, below);
    }
    context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    context.fillStyle = color('--soft');
    context.textBaseline = 'bottom';
    const step = ticks(meta.duration / Math.max(2, width / 90));
    for (let at = 0; at < meta.duration; at += step) {
        const x = at / meta.duration * width;
        if (x < width - 30) context.fillText(at === 0 ? '0' : tickText(at, step), x + (at === 0 ? 0 : 3), height);
        if (at > 0) context.fillRect(x, below, 1, 5);
    }
    const [from, to] = state.span ?? [1, meta.buckets];
    $('span').textContent = state.span ? `Selected: ${time(timeOf(from))} to ${time(timeOf(to + 1))}` : 'Drag over the timeline to select a span.';
    $('all').hidden = !state.span;
}

function ticks(least) {
    const base = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map((factor) => factor * base).find((step) => step >= least);
}

function tickText(at, step) {
    const [unit, scale] = step >= 1e8 || at >= 1e9 ? ['s', 1e9] : at >= 1e6 ? ['ms', 1e6] : ['µs', 1e3];
    const digits = Math.max(0, Math.ceil(-Math.log10(step / scale) - 1e-9));
    return `${reducedTo(at / scale, Math.min(digits, 6))} ${unit}`;
}

function selectSpan(span) {
    state.span = span;
    rebuild();
}

// ---- What a frame is

function describe(frame, many) {
    if (frame < 0) return [make('b', `${number(many)} frames narrower than a pixel`), make('div', 'Zoom to the frame next to the root to see them.', 'soft')];
    const [kind, file] = [kindOf(frame), fileOf(frame)];
    tree.below(frame);
    const lines = [make('b', tree.name(frame))];
    if (kind >= 0) lines.push(make('div', [file, KINDS[kind]].filter(Boolean).join(' · '), 'soft'));
    const parts = [`${percent(tree.value[frame], tree.value[0])} of all`];
    if (focus > 0 && frame !== focus) parts.push(`${percent(tree.value[frame], tree.value[focus])} of the zoomed frame`);
    parts.push(valueText(tree.value[frame]));
    if (state.size !== 'samples') {
        let samples = 0;
        for (let i = tree.start[frame]; i < tree.end[frame]; i++) samples += rows.samples[tree.order[i]];
        parts.push(`${number(samples)} ${samples === 1 ? 'sample' : 'samples'}`);
    }
    if (!state.fromLeaf) parts.push(`itself ${percent(tree.self[frame], tree.value[0])}`);
    lines.push(make('div', parts.join(' · ')));
    return lines;
}

function showDetails() {
    const frame = chosen >= 0 ? chosen : focus;
    $('details').replaceChildren(...describe(frame, 0));
}

function showTip(item, event) {
    const tip = $('tip');
    tip.hidden = !item || event.pointerType === 'touch';
    if (tip.hidden) return;
    tip.replaceChildren(...describe(item.frame, item.many));
    const [width, height] = [tip.offsetWidth, tip.offsetHeight];
    const left = Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 4));
    const top = event.clientY + 18 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 18;
    tip.style.transform = `translate(${left}px, ${Math.max(4, top)}px)`;
}

function under(event) {
    const box = $('graph').getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const height = rowHeight();
    const whole = Math.max(tallest * height, $('scroll').clientHeight);
    const inWhole = y + $('scroll').scrollTop;
    const row = shown[Math.floor((state.flame ? whole - inWhole : inWhole) / height)];
    if (!row) return null;
    let [low, high] = [0, row.length];
    while (low < high) {
        const middle = low + high >> 1;
        if (row[middle].x + row[middle].w <= x) low = middle + 1;
        else high = middle;
    }
    return row[low] && row[low].x <= x ? row[low] : null;
}

function zoom(frame) {
    focus = frame;
    chosen = -1;
    $('tip').hidden = true;
    layout();
    showDetails();
}

// Scrolls so that a frame can be seen.
function choose(frame) {
    chosen = frame;
    const y = yOf(tree.depth[frame]);
    const view = $('scroll');
    if (y < 0) view.scrollTop += y;
    else if (y + rowHeight() > view.clientHeight) view.scrollTop += y + rowHeight() - view.clientHeight;
    showDetails();
    plan();
}

// Moves from the chosen frame: to its caller, to the widest frame below, or to a neighbour in its row.
function move(where) {
    const at = chosen >= 0 ? chosen : focus;
    if (where === 'above') return at > 0 && choose(tree.above[at]);
    const row = (depth) => (shown[depth] ?? []).filter(({ frame }) => frame >= 0);
    if (where === 'below') {
        const below = row(tree.depth[at] + 1).filter(({ frame }) => tree.above[frame] === at);
        if (below.length > 0) choose(below.reduce((a, b) => b.w > a.w ? b : a).frame);
        return;
    }
    const neighbours = row(tree.depth[at]);
    const index = neighbours.findIndex(({ frame }) => frame === at);
    const next = neighbours[index + (where === 'left' ? -1 : 1)];
    if (next) choose(next.frame);
}

// ---- Quality and table

function showQuality() {
    const { stacks, ends, frames, mapped, named, missing, others } = meta.quality;
    const parts = [];
    if (stacks > 0) parts.push(`stacks complete to the root: ${percent(ends.rooted ?? 0, stacks)}`);
    if (frames > 0) parts.push(`frames with a name: ${percent(named, frames)}`, `not mapped: ${percent(frames - mapped, frames)}`);
    const files = missing.length + others;
    if (files > 0) parts.push(`files without names: ${number(files)}`);
    const beyond = meta.events.reduce((sum, event) => sum + event.beyond.samples, 0);
    if (beyond > 0) parts.push(`samples left out, because they are beyond limits: ${number(beyond)}`);
    $('grade').textContent = `Quality: ${parts.join(' · ') || 'no samples'}`;
    const list = Object.entries(ends).map(([end, count]) => `${end} ${number(count)}`);
    const text = [make('p', `Ends of the ${number(stacks)} stacks: ${list.join(', ') || 'none'}.`)];
    if (missing.length > 0) {
        const table = make('table');
        table.append(tableRow('th', ['File with frames without a name', 'Frames', 'Why'], [1]));
        missing.forEach((cells) => table.append(tableRow('td', [cells[0], number(cells[1]), cells[2]], [1])));
        text.push(table);
    }
    if (others > 0) text.push(make('p', `And ${number(others)} more files.`));
    $('missing').replaceChildren(...text);
}

function tableRow(tag, cells, numbers) {
    const row = make('tr');
    cells.forEach((cell, i) => {
        const element = make(tag, typeof cell === 'string' ? cell : '', numbers.includes(i) ? 'number' : '');
        if (typeof cell !== 'string') element.append(cell);
        row.append(element);
    });
    return row;
}

// The functions that take most themselves. A function that calls itself counts once for a stack.
function showTable() {
    const [self, total] = [new Float64Array(functions.count), new Float64Array(functions.count)];
    const seen = new Uint32Array(functions.count);
    const { caller, fn } = data.tree;
    tree.order.forEach((row, i) => {
        const value = tree.values[row];
        if (rows.node[row] > 0) self[fn[rows.node[row]]] += value;
        for (let node = rows.node[row]; node > 0; node = caller[node]) {
            if (seen[fn[node]] === i + 1) continue;
            seen[fn[node]] = i + 1;
            total[fn[node]] += value;
        }
    });
    const order = Array.from(total.keys()).filter((it) => total[it] > 0);
    order.sort((a, b) => self[b] - self[a] || total[b] - total[a]);
    const table = make('table');
    table.append(tableRow('th', ['Self', 'Total', 'Function', 'File', 'Kind'], [0, 1]));
    const all = tree.value[0];
    for (const it of order.slice(0, 100)) {
        const name = functions.names[functions.name[it]];
        const button = make('button', name);
        button.type = 'button';
        button.title = 'Search for it';
        button.onclick = () => {
            $('search').value = `^${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`;
            search();
            draw();
        };
        table.append(tableRow('td', [percent(self[it], all), percent(total[it], all), button, functions.files[functions.file[it]], KINDS[functions.kind[it]]], [0, 1]));
    }
    const parts = [table];
    if (order.length > 100) parts.push(make('p', `The first 100 of ${number(order.length)} functions.`));
    $('rows').replaceChildren(...parts);
}

// ---- Controls

function fill(select, options) {
    select.replaceChildren(...options.map(([value, text]) => {
        const option = make('option', text);
        option.value = value;
        return option;
    }));
}

function showButtons() {
    const press = (id, is) => $(id).setAttribute('aria-pressed', is);
    press('root', !state.fromLeaf);
    press('leaf', state.fromLeaf);
    press('icicle', !state.flame);
    press('flame', state.flame);
}

function showSizes() {
    const event = meta.events[state.event];
    const what = event?.unit === 'ns' ? 'time' : `what ${event?.name ?? 'the event'} counts`;
    fill($('size'), [['period', what], ['samples', 'samples']]);
    // An event that counted nothing has samples.
    if (event?.total.period === '0') state.size = 'samples';
    $('size').value = state.size;
}

function setTheme(dark) {
    state.dark = dark;
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
}

function turn(fromLeaf) {
    if (state.fromLeaf === fromLeaf) return;
    state.fromLeaf = fromLeaf;
    focus = 0;
    showButtons();
    rebuild();
    showDetails();
}

function turnOver(flame) {
    state.flame = flame;
    showButtons();
    resize();
    $('scroll').scrollTop = flame ? $('scroll').scrollHeight : 0;
    draw();
}

function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || $('keys').open) return;
    const isTyping = ['INPUT', 'SELECT'].includes(event.target.tagName);
    if (event.key === 'Escape') {
        if (focus > 0) zoom(0);
        else if ($('search').value) {
            $('search').value = '';
            search();
            draw();
        } else if (state.span) selectSpan(null);
        if (isTyping) $('graph').focus();
        return;
    }
    if (isTyping) return;
    const onTimes = event.target === $('timeline');
    const up = state.flame ? 'below' : 'above';
    const actions = {
        '/': () => $('search').focus(),
        '?': () => $('keys').showModal(),
        m: () => turn(!state.fromLeaf),
        i: () => turnOver(!state.flame),
    };
    if (event.target === $('graph') || event.target === document.body) {
        Object.assign(actions, {
            ArrowUp: () => move(up),
            ArrowDown: () => move(up === 'above' ? 'below' : 'above'),
            ArrowLeft: () => move('left'),
            ArrowRight: () => move('right'),
            Enter: () => zoom(chosen >= 0 ? chosen : focus),
            Backspace: () => zoom(Math.max(tree.above[focus], 0)),
        });
    }
    if (onTimes) {
        Object.assign(actions, { ArrowLeft: () => shift(-8, event.shiftKey), ArrowRight: () => shift(8, event.shiftKey) });
    }
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
}

// Moves the selected span, or only its end.
function shift(by, onlyEnd) {
    const [from, to] = state.span ?? [1, Math.ceil(meta.buckets / 16)];
    const step = state.span ? by : 0;
    const start = onlyEnd ? from : Math.max(1, Math.min(from + step, meta.buckets - (to - from)));
    selectSpan([start, Math.max(start, Math.min(to + (onlyEnd ? step : start - from), meta.buckets))]);
}

function listen() {
    const on = (id, type, action) => $(id).addEventListener(type, action);
    on('event', 'change', () => {
        state.event = Number($('event').value);
        state.size = 'period';
        showSizes();
        rebuild();
        showDetails();
    });
    for (const id of ['size', 'group']) {
        on(id, 'change', () => {
            if (id === 'group') focus = 0;
            state[id] = $(id).value;
            rebuild();
            showDetails();
        });
    }
    on('root', 'click', () => turn(false));
    on('leaf', 'click', () => turn(true));
    on('icicle', 'click', () => turnOver(false));
    on('flame', 'click', () => turnOver(true));
    on('reset', 'click', () => zoom(0));
    on('all', 'click', () => selectSpan(null));
    on('help', 'click', () => $('keys').showModal());
    on('theme', 'click', () => {
        setTheme(!state.dark);
        showLegend();
        draw();
    });
    on('search', 'input', () => {
        search();
        plan();
    });
    on('table', 'toggle', () => $('table').open && showTable());
    on('scroll', 'scroll', plan);
    document.addEventListener('keydown', onKey);
    addEventListener('resize', layout);
    // The footer grows when a list in it is opened.
    new ResizeObserver(() => columns === $('scroll').clientWidth ? resize() : layout()).observe($('scroll'));
    listenToGraph(on);
    listenToTimes(on);
}

function listenToGraph(on) {
    on('graph', 'pointermove', (event) => {
        const item = under(event);
        const frame = item ? item.frame : -1;
        showTip(item, event);
        if (frame === hovered) return;
        hovered = frame;
        plan();
    });
    on('graph', 'pointerleave', () => {
        hovered = -1;
        $('tip').hidden = true;
        plan();
    });
    on('graph', 'click', (event) => {
        const item = under(event);
        if (!item || item.frame < 0) return;
        // A finger first shows what it would zoom to.
        if (event.pointerType === 'touch' && chosen !== item.frame) choose(item.frame);
        else zoom(item.frame);
    });
}

function listenToTimes(on) {
    let begin = null;
    const bucketAt = (event) => {
        const box = $('timeline').getBoundingClientRect();
        return Math.max(1, Math.min(meta.buckets, Math.ceil((event.clientX - box.left) / box.width * meta.buckets)));
    };
    const spanTo = (event) => {
        const end = bucketAt(event);
        return [Math.min(begin, end), Math.max(begin, end)];
    };
    on('timeline', 'pointerdown', (event) => {
        begin = bucketAt(event);
        $('timeline').setPointerCapture(event.pointerId);
    });
    on('timeline', 'pointermove', (event) => {
        if (begin === null || bucketAt(event) === begin) return;
        state.span = spanTo(event);
        plan();
    });
    on('timeline', 'pointerup', (event) => {
        if (begin === null) return;
        const span = spanTo(event);
        begin = null;
        selectSpan(span[0] === span[1] ? null : span);
        showDetails();
    });
    on('timeline', 'pointercancel', () => {
        begin = null;
        selectSpan(null);
    });
}

function start() {
    $('title').textContent = meta.captures.join(', ');
    const dark = matchMedia('(prefers-color-scheme: dark)');
    setTheme(dark.matches);
    dark.addEventListener('change', () => {
        setTheme(dark.matches);
        showLegend();
        draw();
    });
    fill($('event'), meta.events.map(({ name }, i) => [i, name]));
    $('event').parentElement.hidden = meta.events.length < 2;
    const groups = [['none', 'everything'], ['comm', 'command'], ['process', 'process'], ['thread', 'thread']];
    if (meta.captures.length > 1) groups.splice(1, 0, ['capture', 'capture']);
    fill($('group'), groups);
    state.group = new Set(meta.threads.map((thread) => thread[4])).size > 1 ? 'comm' : 'none';
    $('group').value = state.group;
    showSizes();
    showButtons();
    showQuality();
    $('controls').hidden = meta.events.length === 0;
    rebuild();
    showDetails();
    listen();
    performance.mark('drawn');
}

if (meta.events.length === 0) {
    rows.start.push(0);
    meta.events.push({ name: 'none', unit: '', total: { samples: 0, period: '0' }, beyond: { samples: 0, period: '0' }, period: '0', rows: 0 });
}
start();
