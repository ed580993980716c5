// Two captures, two spans or two groups against each other: the widths are those of one of them, the colours say where they differ.

if (meta.compare) meta.compare.sides = SIDES;
// A comparison of two spans, or of two groups.
const EVER = [0, Infinity];
const OF_PARTS = { normalize: 'share', seconds: [1, 1], changed: [], sides: ['in A', 'in B'] };
let compare = meta.compare ?? null;
// Of each thread, its side in a comparison of groups; and the group that the next one is compared with.
let sideOfGroups = [], pendingGroup = null;
const sideOfThread = meta.compare ? Uint8Array.from(meta.threads, ([capture]) => capture) : new Uint8Array(0);
// What is compared, after a change of what is selected.
function comparison() {
    if (meta.compare) return meta.compare;
    if (state.pair && state.group !== 'none') {
        const [groupOf, labels] = groupLabels();
        sideOfGroups = Int8Array.from(groupOf, (group) => state.pair.indexOf(labels[group]));
        return OF_PARTS;
    }
    state.pair = null;
    return state.other && state.span ? OF_PARTS : null;
}

// Compares the group of a frame with the next one that is clicked.
function startGroups(label) {
    pendingGroup = label;
    showDetails();
}

// Whether a frame is the group that was waited for.
function endGroups(frame) {
    if (pendingGroup === null) return false;
    const pair = [pendingGroup, tree.group[frame] >= 0 ? tree.name(frame) : pendingGroup];
    pendingGroup = null;
    if (pair[0] === pair[1]) return false;
    [state.pair, state.other] = [pair, null];
    changed();
    return true;
}

// The side of a row: 0 or 1, or -1 for neither.
function sideOfRow(row) {
    if (meta.compare) return sideOfThread[rows.thread[row]];
    if (state.pair) return isInSpan(state.span ?? EVER, rows.bucket[row]) ? sideOfGroups[rows.thread[row]] : -1;
    return isInSpan(state.span, rows.bucket[row]) ? 1 : isInSpan(state.other, rows.bucket[row]) ? 0 : -1;
}
// A frame that takes less of both sides than this part has a paler colour: few samples differ by chance.
const PALE = 0.005;
// What a row counts, so that both sides are comparable, and what all rows of a side count then.
let comparable = null, sums = [0, 0];
// Of each frame of the tree, what it takes before and after; undefined until it is drawn.
let ofFrames = [];

// Makes the rows comparable, and returns them as wide as they are drawn.
function comparedRows() {
    const [start, end] = [rows.start[state.event], rows.start[state.event + 1]];
    const values = rows[state.size];
    const all = [0, 0];
    for (let row = start; row < end; row++) {
        if (sideOfRow(row) >= 0) all[sideOfRow(row)] += values[row];
    }
    const units = all.map((sum, side) => ({ share: sum / 100, time: compare.seconds[side], none: 1 }[compare.normalize]));
    sums = all.map((sum, side) => units[side] > 0 ? sum / units[side] : 0);
    comparable = new Float64Array(rows.count);
    const widths = new Float64Array(rows.count);
    for (let row = start; row < end; row++) {
        const side = sideOfRow(row);
        if (side < 0) continue;
        comparable[row] = units[side] > 0 ? values[row] / units[side] : 0;
        if (state.width === 'both' || state.width === SIDES[side]) widths[row] = comparable[row];
    }
    ofFrames = [];
    return widths;
}

// What a frame takes before and after.
function sidesOf(frame) {
    if (!ofFrames[frame]) {
        const sides = [0, 0];
        for (let i = tree.start[frame]; i < tree.end[frame]; i++) {
            const row = tree.order[i];
            sides[sideOfRow(row)] += comparable[row];
        }
        ofFrames[frame] = sides;
    }
    return ofFrames[frame];
}

// From -1, only before, to 1, only after; nearer to 0 where a frame takes little.
function change([before, after]) {
    const most = Math.max(before, after);
    if (most <= 0) return 0;
    const weight = Math.min(1, most / (PALE * Math.max(...sums)));
    return (after - before) / most * weight;
}

function comparedText(value) {
    if (compare.normalize === 'share') return `${reducedTo(value, 2)} %`;
    const text = inTime() ? time(value) : value.toLocaleString('en-US', { maximumFractionDigits: 2 });
    return compare.normalize === 'time' ? `${text} a second` : text;
}

function changeText([before, after]) {
    // What remains of rounding is no difference.
    const by = Math.abs(after - before) < 1e-9 * Math.max(...sums) ? 0 : after - before;
    const sign = by < 0 ? '−' : '+';
    const relative = before > 0 && by !== 0 ? ` (${sign}${percent(Math.abs(by), before)})` : '';
    const [one, other] = compare.sides;
    return `${one} ${comparedText(before)} · ${other} ${comparedText(after)} · ${sign}${comparedText(Math.abs(by))}${relative}`;
}

function samplesOfSides(list) {
    const samples = [0, 0];
    for (const row of list) {
        if (sideOfRow(row) >= 0) samples[sideOfRow(row)] += rows.samples[row];
    }
    return samples;
}

function showWidths() {
    $('width').parentElement.hidden = compare === null;
    if (!compare) return;
    const [one, other] = compare.sides;
    fill($('width'), [['after', other], ['before', one], ['both', `${one} and ${other}`]]);
    $('width').value = state.width;
}

function showComparedLegend() {
    const steps = [[-1, `only ${compare.sides[0]}`], [-0.5, 'less'], [0, 'the same'], [0.5, 'more'], [1, `only ${compare.sides[1]}`]];
    $('legend').replaceChildren(...steps.map(([part, name]) => {
        const [item, swatch] = [make('span'), make('i')];
        swatch.style.background = paintChange(part, state.dark);
        item.append(swatch, name);
        item.title = 'Frames that take little on both sides are paler, as few samples differ by chance';
        return item;
    }));
    const files = compare.changed.map(([name]) => name);
    if (files.length === 0) return;
    const others = files.length > 3 ? `, and ${number(files.length - 3)} more` : '';
    const item = make('span', `other files with the same name: ${files.slice(0, 3).join(', ')}${others}`);
    item.title = compare.changed.slice(0, 20).map(([name, before, after]) => `${name}: build id ${before} before, ${after} after`).join('\n');
    $('legend').append(item);
}

// The columns of the table: those functions first whose own part changed the most.
function comparedColumns() {
    const of = (side) => sumsOfFunctions((row) => sideOfRow(row) === side ? comparable[row] : 0);
    const [before, after] = [of(0), of(1)];
    const own = (fn) => after.own[fn] - before.own[fn];
    const whole = (fn) => after.whole[fn] - before.whole[fn];
    const signed = (value) => `${value < 0 ? '−' : '+'}${comparedText(Math.abs(value))}`;
    const change = (head, of) => ({ head, value: (fn) => Math.abs(of(fn)), text: (fn) => signed(of(fn)), isNumber: true });
    const column = (head, values) => ({ head, value: (fn) => values[fn], text: (fn) => comparedText(values[fn]), isNumber: true });
    const columns = [change('Self difference', own), change('Total difference', whole), column(`Self ${compare.sides[0]}`, before.own), column(`Self ${compare.sides[1]}`, after.own)];
    return { columns, has: (fn) => before.whole[fn] > 0 || after.whole[fn] > 0 };
}
