// The timeline, on which a span is selected.

const TIMES_HEIGHT = 56;
const AXIS = 14;
// The span that the next one is compared with.
let pending = null;

const hasTimes = () => Boolean(meta.duration) && !meta.compare;

function countTimes() {
    const [start, end] = [rows.start[state.event] ?? 0, rows.start[state.event + 1] ?? 0];
    perBucket = new Float64Array(meta.buckets + 1);
    for (let row = start; row < end; row++) perBucket[rows.bucket[row]] += rows[state.size][row];
    // The times of two captures have nothing in common.
    $('times').hidden = !hasTimes();
}

const timeOf = (bucket) => (bucket - 1) * meta.timeline / meta.buckets;

function drawTimes(style) {
    if ($('times').hidden) return;
    const canvas = $('timeline');
    const [width, height] = [canvas.clientWidth, state.heat ? HEAT_HEIGHT : TIMES_HEIGHT];
    const context = fitted(canvas, width, height);
    const below = height - AXIS;
    if (state.heat) drawHeat(context, style, width, below);
    else drawBars(context, style, width, below);
    drawAxis(context, style, width, height);
    showSpan();
}

const isInSpan = (span, bucket) => span !== null && bucket >= span[0] && bucket <= span[1];
const spanText = ([from, to]) => `${time(timeOf(from))} to ${time(timeOf(to + 1))}`;

function showSpan() {
    const text = !state.span ? 'Drag over the timeline to select a span.' : pending ? 'Drag over the span to compare with.' : `Selected: ${spanText(state.span)}`;
    // Only a change is read out.
    if ($('span').textContent !== text) $('span').textContent = text;
    $('all').hidden = !state.span;
    $('versus').hidden = !state.span || compare !== null || pending !== null;
}

function drawBars(context, style, width, below) {
    const color = (name) => style.getPropertyValue(name);
    // What the zoomed frame has of it.
    const ofFocus = new Float64Array(meta.buckets + 1);
    for (let i = tree.start[focus]; i < tree.end[focus]; i++) {
        const row = tree.order[i];
        ofFocus[rows.bucket[row]] += rows[state.size][row];
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
    if (state.span) drawSpans(context, color, width, below);
}

// What is in no selected span is paler.
function drawSpans(context, color, width, below) {
    const spans = [state.other, state.span].filter(Boolean);
    for (const [i, [from, to]] of spans.entries()) {
        const [left, right] = [(from - 1) / meta.buckets * width, to / meta.buckets * width];
        context.fillStyle = color('--ink');
        context.fillRect(left, 0, 1.5, below);
        context.fillRect(right - 1.5, 0, 1.5, below);
        if (spans.length > 1) {
            context.font = `bold 12px ${getComputedStyle(document.body).fontFamily}`;
            context.textBaseline = 'top';
            context.fillText('AB'[i], left + 4, 2);
        }
    }
    context.globalAlpha = 0.72;
    context.fillStyle = color('--paper');
    let at = 0;
    for (const [from, to] of [...spans].sort((a, b) => a[0] - b[0])) {
        const left = (from - 1) / meta.buckets * width;
        context.fillRect(at, 0, Math.max(0, left - at), below);
        at = Math.max(at, to / meta.buckets * width);
    }
    context.fillRect(at, 0, width - at, below);
    context.globalAlpha = 1;
}

// The times below; the columns of a heat map are somewhat longer than the capture.
function drawAxis(context, style, width, height) {
    const color = (name) => style.getPropertyValue(name);
    const below = height - AXIS;
    const { cells, columns } = heatGrid();
    const length = meta.timeline * (state.heat ? cells * columns / meta.buckets : 1);
    context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    context.fillStyle = color('--soft');
    context.textBaseline = 'bottom';
    const step = ticks(meta.duration / Math.max(2, width / 90));
    for (let at = 0; at < meta.duration; at += step) {
        const x = at / length * width;
        if (x < width - 30) context.fillText(at === 0 ? '0' : tickText(at, step), x + (at === 0 ? 0 : 3), height);
        if (at > 0) context.fillRect(x, below, 1, 5);
    }
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
    if (pending && span) state.other = pending;
    pending = null;
    if (span === null) state.other = null;
    state.span = span;
    rebuild();
    showDetails();
}

// The next span is compared with the selected one.
function startComparison() {
    pending = state.span;
    showSpan();
    $('timeline').focus();
}
