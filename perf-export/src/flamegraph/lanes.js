// Lanes: a flame chart of each thread, from left to right as it happened.

const LANE_HEAD = 22;
// Labels of the lanes of which only the head is shown.
const folded = new Set();
let lanes = [], chosenFrame = null, hoveredFrame = null;

const chosenInLanes = () => chosenFrame ? lanes[chosenFrame.lane].stacks[chosenFrame.depth][chosenFrame.index].fn : -1;
const isFolded = (lane) => folded.has(laneLabel(lane));
const tallOf = (lane) => LANE_HEAD + (isFolded(lane) ? 0 : lane.depth * rowHeight());
const laneLabel = ({ capture, pid, tid, comm }) => `${meta.captures.length > 1 ? `${meta.captures[capture]}: ` : ''}${comm} (${pid}/${tid})`;

function layoutLanes() {
    columns = $('scroll').clientWidth;
    if (lanes.length === 0) lanes = lanesOf();
    let top = 0;
    for (const lane of lanes) {
        lane.top = top;
        top += tallOf(lane) + 4;
    }
    tallest = Math.ceil(top / rowHeight());
    $('path').hidden = true;
    $('reset').hidden = true;
    resize();
}

// From parts of the time to pixels.
function laneScale() {
    const [from, to] = state.span ?? [1, meta.buckets];
    return { from: from - 1, scale: columns / (to - from + 1) };
}

function drawLanes(context, style, width, height, scrolled) {
    const color = (name) => style.getPropertyValue(name);
    const row = rowHeight();
    const { from, scale } = laneScale();
    lanes.forEach((lane, number) => {
        const top = lane.top - scrolled;
        if (top > height || top + tallOf(lane) < 0) return;
        if (!isFolded(lane)) stacksOf(lane).forEach((frames, depth) => {
            const y = top + LANE_HEAD + depth * row;
            if (y > height || y + row < 0) return;
            let drawn = -1;
            frames.forEach((frame, index) => {
                const x = Math.max(0, (frame.from - from) * scale);
                const right = Math.min(width, (frame.to - from) * scale);
                // Of frames narrower than a pixel, the first one is drawn.
                if (right <= 0 || x >= width || right - drawn < 0.5) return;
                drawn = right;
                drawLaneFrame(context, { number, depth, index, frame, x, y, w: Math.max(right - x, 1) }, color);
            });
        });
        context.globalAlpha = 1;
        context.fillStyle = color('--line');
        context.fillRect(0, top, width, 1);
        context.fillStyle = color('--soft');
        context.fillText(`${isFolded(lane) ? '▸' : '▾'} ${laneLabel(lane)}`, 4, top + LANE_HEAD / 2 + 1);
    });
    if (lanes.length === 0) {
        context.fillStyle = color('--soft');
        context.fillText('No samples.', 4, 14);
    }
}

const isFrame = (it, number, depth, index) => it !== null && it.lane === number && it.depth === depth && it.index === index;

function drawLaneFrame(context, { number, depth, index, frame, x, y, w }, color) {
    const row = rowHeight();
    const isFound = matches !== null && frame.fn >= 0 && matches[frame.fn] === 1;
    const name = context.title = laneName(frame.fn);
    context.globalAlpha = frame.isWait || matches !== null && !isFound ? FADED : 1;
    context.fillStyle = isFound ? paintMatch(state.dark) : paint(frame.fn < 0 ? -1 : functions.kind[frame.fn], name, state.dark);
    context.fillRect(x, y, w > 3 ? w - 1 : w, row - 1);
    context.globalAlpha = 1;
    if (w > 20) {
        context.fillStyle = color('--ink');
        const text = cut(context, shownName(name), w - 9);
        if (text) context.fillText(text, x + 4, y + row / 2);
    }
    const isChosen = isFrame(chosenFrame, number, depth, index);
    if (!isChosen && !isFrame(hoveredFrame, number, depth, index)) return;
    context.strokeStyle = color(isChosen ? '--accent' : '--ink');
    context.lineWidth = isChosen ? 2 : 1;
    context.strokeRect(x + 0.5, y + 0.5, Math.max(w - 2, 1), row - 2);
}

function underInLanes(event) {
    const box = $('graph').getBoundingClientRect();
    const y = event.clientY - box.top + $('scroll').scrollTop;
    const number = lanes.findLastIndex(({ top }) => top <= y);
    if (number < 0) return null;
    const depth = Math.floor((y - lanes[number].top - LANE_HEAD) / rowHeight());
    const frames = isFolded(lanes[number]) ? null : stacksOf(lanes[number])[depth];
    const { from, scale } = laneScale();
    const at = (event.clientX - box.left) / scale + from;
    const index = frames ? frames.findIndex((frame) => frame.from <= at && at < frame.to) : -1;
    return index < 0 ? null : { lane: number, depth, index };
}

// The lane whose head is at a place; -1 if none is.
function headAt(event) {
    const y = event.clientY - $('graph').getBoundingClientRect().top + $('scroll').scrollTop;
    return lanes.findIndex(({ top }) => top <= y && y < top + LANE_HEAD);
}

// Folds a lane to its head, or unfolds it.
function foldLane(number) {
    const label = laneLabel(lanes[number]);
    if (!folded.delete(label)) folded.add(label);
    layoutLanes();
}

function describeLane(it, isShort) {
    if (it === null) {
        const place = time(meta.timeline / meta.buckets);
        return [make('b', 'Threads in time order'), make('div', `Samples are placed to ${place}, a part of the time of which there are ${number(meta.buckets)}; the order within a part is not known, and of more than ${MOST} stacks in it those with most samples are shown. Frames that only wait are paler. Where a lane is empty, the thread has no sample.`, 'soft')];
    }
    const { from, to, fn } = lanes[it.lane].stacks[it.depth][it.index];
    const part = meta.timeline / meta.buckets;
    const parts = [laneLabel(lanes[it.lane]), `${time(from * part)} to ${time(to * part)}`, `about ${time((to - from) * part)}`];
    const lines = [make('b', laneName(fn))];
    if (fn >= 0) lines.push(make('div', [lineOf(fn, isShort), functions.files[functions.file[fn]], KINDS[functions.kind[fn]]].filter(Boolean).join(' · '), 'soft'));
    return [...lines, make('div', parts.join(' · '))];
}

function chooseInLanes(it) {
    chosenFrame = it;
    if (isFolded(lanes[it.lane])) foldLane(it.lane);
    const view = $('scroll');
    const y = lanes[it.lane].top + LANE_HEAD + it.depth * rowHeight() - view.scrollTop;
    if (y < 0) view.scrollTop += y - LANE_HEAD;
    else if (y + rowHeight() > view.clientHeight) view.scrollTop += y + rowHeight() - view.clientHeight;
    showDetails();
    plan();
}

// Selects the time of the chosen frame.
function zoomInLanes() {
    if (chosenFrame === null) return;
    const { from, to } = lanes[chosenFrame.lane].stacks[chosenFrame.depth][chosenFrame.index];
    selectSpan([Math.max(1, Math.floor(from + 1e-6) + 1), Math.min(meta.buckets, Math.max(Math.ceil(to - 1e-6), 1))]);
}

// Moves to the caller, to what is called, to a neighbour, or to the lane above or below at the ends of a stack.
function moveInLanes(where) {
    if (chosenFrame === null) {
        const first = lanes.findIndex((lane) => stacksOf(lane)[0]?.length > 0);
        if (first >= 0) chooseInLanes({ lane: first, depth: 0, index: 0 });
        return;
    }
    const { lane, depth, index } = chosenFrame;
    const stacks = stacksOf(lanes[lane]);
    const { from, to } = stacks[depth][index];
    if (where === 'left' || where === 'right') {
        const next = index + (where === 'left' ? -1 : 1);
        if (stacks[depth][next]) chooseInLanes({ lane, depth, index: next });
        return;
    }
    const [toLane, toDepth] = where === 'above' ? depth > 0 ? [lane, depth - 1] : [lane - 1, 0] : [lane, depth + 1];
    const near = (list) => list ? list.findIndex((it) => it.from < to && it.to > from) : -1;
    const found = toLane === lane ? near(stacks[toDepth]) : lanes[toLane] ? Math.max(0, near(stacksOf(lanes[toLane])[0])) : -1;
    if (found >= 0) chooseInLanes({ lane: toLane, depth: toDepth, index: found });
    else if (where === 'below' && lanes[lane + 1]) chooseInLanes({ lane: lane + 1, depth: 0, index: Math.max(0, near(stacksOf(lanes[lane + 1])[0])) });
}

// The frames that a search finds, lane by lane.
function matchesInLanes() {
    const list = [];
    lanes.forEach((lane, number) => stacksOf(lane).forEach((frames, depth) => frames.forEach((frame, index) => {
        if (list.length < LOOKED_AT && frame.fn >= 0 && matches[frame.fn] === 1) list.push({ lane: number, depth, index });
    })));
    return list;
}

function setLanes(isOn) {
    state.lanes = isOn;
    if (isOn) state.sandwich = null;
    changed();
    $('scroll').scrollTop = 0;
}
