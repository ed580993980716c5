// The heat map: a column for each second, in which time goes up, as in FlameScope. A capture that is short or long has
// columns of another unit.

const HEAT_HEIGHT = 128;

// Cells of a column, at the least and at the most.
const [FEW, MANY] = [6, 50];

// How many parts of the time are in a column: a second, or else another unit that gives a number of cells that can be seen.
function heatGrid() {
    const inUnit = (ns) => Math.round(ns * meta.buckets / meta.timeline);
    const isGood = (cells) => cells >= FEW && cells <= MANY;
    const units = [1e9];
    for (let scale = 1e2; scale < 1e14; scale *= 10) units.push(scale, 2 * scale, 5 * scale);
    const found = units.map(inUnit).filter(isGood);
    const cells = isGood(inUnit(1e9)) ? inUnit(1e9) : found.sort((a, b) => Math.abs(a - 24) - Math.abs(b - 24))[0] ?? Math.min(MANY, meta.buckets);
    return { cells, columns: Math.ceil(meta.buckets / cells) };
}

function bucketInHeat(x, y) {
    const { cells, columns } = heatGrid();
    const column = Math.max(0, Math.min(columns - 1, Math.floor(x * columns)));
    const cell = Math.max(0, Math.min(cells - 1, Math.floor((1 - y) * cells)));
    return Math.min(meta.buckets, column * cells + cell + 1);
}

function paintHeat(part, dark) {
    const lightness = dark ? 22 + 44 * part : 90 - 48 * part;
    return `hsl(${34 - 22 * part} 88% ${lightness}%)`;
}

function drawHeat(context, style, width, below) {
    const { cells, columns } = heatGrid();
    const [wide, high] = [width / columns, below / cells];
    let most = 0;
    for (const value of perBucket.subarray(1)) most = Math.max(most, value);
    context.fillStyle = style.getPropertyValue('--panel');
    context.fillRect(0, 0, width, below);
    for (let bucket = 1; bucket <= meta.buckets; bucket++) {
        const value = perBucket[bucket];
        const [column, cell] = [Math.floor((bucket - 1) / cells), (bucket - 1) % cells];
        const isIn = !state.span || isInSpan(state.span, bucket) || isInSpan(state.other, bucket);
        context.globalAlpha = isIn ? 1 : 0.25;
        if (value > 0) {
            context.fillStyle = paintHeat(Math.round(value / most * 16) / 16, state.dark);
            context.fillRect(column * wide, below - (cell + 1) * high, Math.max(wide - 1, 0.5), Math.max(high - 0.5, 0.5));
        }
    }
    context.globalAlpha = 1;
}

function describeHeat(event) {
    const box = $('timeline').getBoundingClientRect();
    const bucket = bucketInHeat((event.clientX - box.left) / box.width, (event.clientY - box.top) / (box.height - AXIS));
    const value = perBucket[bucket];
    return [make('b', `${time(timeOf(bucket))} to ${time(timeOf(bucket + 1))}`), make('div', valueText(value))];
}

function setHeat(isOn) {
    state.heat = isOn;
    showButtons();
    resize();
    saveState(true);
}
