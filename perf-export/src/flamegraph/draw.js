// The frames of each row, from left to right, and their drawing.

// The rows of a frame and of all that is below it, from the outermost frame around it on.
function rowsFrom(from) {
    const list = [];
    const around = [];
    for (let at = from; at >= 0; at = tree.above[at]) around.unshift(at);
    around.forEach((frame) => list.push([{ frame, x: 0, w: columns, many: 0, isAround: frame !== from }]));
    for (let row = list[list.length - 1]; row.length > 0;) {
        const next = rowBelow(row);
        if (next.length > 0) list.push(next);
        row = next;
    }
    return list;
}

function rowBelow(row) {
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
                next.push({ frame: below, x: left, w: wide, many: 0, isAround: false });
            } else {
                if (many === 0) from = left;
                many++;
            }
            left += wide;
        }
        flush();
    }
    return next;
}

// The number of rows of callers, which a sandwich has above the others.
let callerRows = 0;
const rowOf = (frame) => tree.isUp(frame) ? callerRows - tree.depth[frame] : callerRows + tree.depth[frame];

function layout() {
    if (state.lanes) {
        layoutLanes();
        return;
    }
    columns = $('scroll').clientWidth;
    const isUp = tree.isUp(focus);
    shown = rowsFrom(isUp ? 0 : focus);
    callerRows = 0;
    if (state.sandwich !== null) {
        // The function itself is in both.
        const callers = rowsFrom(isUp ? focus : 1).slice(1).reverse();
        callerRows = callers.length;
        shown = [...callers, ...shown];
    }
    tallest = shown.length;
    $('reset').hidden = focus === 0;
    const around = [];
    for (let at = focus; at >= 0; at = tree.above[at]) around.unshift(at);
    showPath(around);
    resize();
}

function showPath(around) {
    const path = $('path');
    path.hidden = focus === 0;
    path.replaceChildren(...around.map((frame) => {
        const name = shownName(tree.name(frame));
        const button = make('button', name.length > 40 ? `${name.slice(0, 39)}…` : name);
        button.type = 'button';
        button.title = tree.name(frame);
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
    if (state.flame && !state.lanes && atBottom === 0) $('scroll').scrollTop = whole;
    draw();
}

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
    const [width, height] = [columns, view.clientHeight];
    const context = fitted($('graph'), width, height);
    const style = getComputedStyle(document.documentElement);
    context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    context.textBaseline = 'middle';
    if (state.lanes) drawLanes(context, style, width, height, view.scrollTop);
    else drawGraph(context, style, width, height, yOf);
    drawTimes(style);
}

// Draws the rows that are in a height, each where `place` says.
function drawGraph(context, style, width, height, place) {
    const row = rowHeight();
    const [ink, soft, bar, accent] = ['--ink', '--soft', '--bar', '--accent'].map((name) => style.getPropertyValue(name));
    shown.forEach((frames, number) => {
        const y = place(number);
        if (y + row < 0 || y > height) return;
        for (const { frame, x, w, isAround } of frames) {
            const gap = w > 3 ? 1 : 0;
            if (frame < 0) {
                context.fillStyle = bar;
                context.fillRect(x, y, Math.max(w - gap, 0.5), row - 1);
                continue;
            }
            const isFound = isMatch(frame);
            context.globalAlpha = isAround || matches !== null && !isFound ? FADED : 1;
            const name = context.title = tree.name(frame);
            context.fillStyle = isFound ? paintMatch(state.dark) : compare ? paintChange(change(sidesOf(frame)), state.dark) : paint(kindOf(frame), name, state.dark);
            context.fillRect(x, y, w - gap, row - 1);
            context.globalAlpha = 1;
            if (w > 20) {
                context.fillStyle = ink;
                const text = cut(context, shownName(name), w - 9);
                if (text) context.fillText(text, x + 4, y + row / 2);
            }
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
