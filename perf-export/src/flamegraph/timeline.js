// The timeline, on which a span is selected.

const hasTimes = () => Boolean(meta.duration) && compare === null;

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
        const x = at / meta.timeline * width;
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
