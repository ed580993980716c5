// What is said about a frame, and about all of them.

function describe(frame, many, isShort) {
    if (frame < 0) return [make('b', `${number(many)} frames narrower than a pixel`), make('div', 'Zoom to the frame next to the root to see them.', 'soft')];
    const [kind, file] = [kindOf(frame), fileOf(frame)];
    tree.below(frame);
    const lines = [make('b', tree.name(frame))];
    if (kind >= 0) lines.push(make('div', [lineOf(tree.fn[frame], isShort), file, KINDS[kind]].filter(Boolean).join(' · '), 'soft'));
    if (compare) return [...lines, make('div', changeText(sidesOf(frame)))];
    const whole = state.sandwich === null ? 'all' : shownName(state.sandwich);
    const parts = [`${percent(tree.value[frame], tree.value[0])} of ${whole}`];
    if (focus > 0 && frame !== focus) parts.push(`${percent(tree.value[frame], tree.value[focus])} of the zoomed frame`);
    parts.push(valueText(tree.value[frame]));
    if (state.size !== 'samples') {
        let samples = 0;
        for (let i = tree.start[frame]; i < tree.end[frame]; i++) samples += rows.samples[tree.order[i]];
        parts.push(`${number(samples)} ${samples === 1 ? 'sample' : 'samples'}`);
    }
    if (!state.fromLeaf && !tree.isUp(frame)) parts.push(`itself ${percent(tree.self[frame], tree.value[0])}`);
    lines.push(make('div', parts.join(' · ')));
    return lines;
}

function showDetails() {
    const frame = chosen >= 0 ? chosen : focus;
    const name = actedOn();
    $('actions').replaceChildren(...(more && !state.lanes ? more.links(frame) : []), ...(name === null ? groupButtons(frame) : actionButtons(name)));
    $('details').replaceChildren(...(state.lanes ? describeLane(chosenFrame, false) : describe(frame, 0, false)));
}

function showTip(item, event) {
    $('tip').hidden = !item || event.pointerType === 'touch';
    if ($('tip').hidden) return;
    showTipAt(event, state.lanes ? describeLane(item, true) : describe(item.frame, item.many, true));
}

function showTipAt(event, parts) {
    const tip = $('tip');
    tip.hidden = false;
    tip.replaceChildren(...parts);
    const [width, height] = [tip.offsetWidth, tip.offsetHeight];
    const left = Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 4));
    const top = event.clientY + 18 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 18;
    tip.style.transform = `translate(${left}px, ${Math.max(4, top)}px)`;
}

function under(event) {
    if (state.lanes) return underInLanes(event);
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
    if (state.lanes) {
        zoomInLanes();
        return;
    }
    if (endGroups(frame)) return;
    focus = frame;
    chosen = -1;
    $('tip').hidden = true;
    layout();
    showDetails();
    saveState(true);
    more?.open(frame);
}

// Scrolls so that a frame can be seen.
function choose(frame) {
    chosen = frame;
    const y = yOf(rowOf(frame));
    const view = $('scroll');
    if (y < 0) view.scrollTop += y;
    else if (y + rowHeight() > view.clientHeight) view.scrollTop += y + rowHeight() - view.clientHeight;
    showDetails();
    plan();
}

// Moves from the chosen frame: to its caller, to the widest frame below, or to a neighbour in its row.
function move(where) {
    if (state.lanes) {
        moveInLanes(where);
        return;
    }
    let at = chosen >= 0 ? chosen : focus;
    // In a sandwich, callers are above.
    if (state.sandwich !== null && (at === 0 ? where === 'above' : tree.isUp(at))) {
        if (at === 0) [at, where] = [1, 'below'];
        else if (where === 'above' || where === 'below') where = where === 'above' ? 'below' : 'above';
    }
    if (where === 'above') return at > 0 && choose(Math.max(tree.above[at] === 1 ? 0 : tree.above[at], 0));
    const row = (number) => (shown[number] ?? []).filter(({ frame }) => frame >= 0);
    const outwards = tree.isUp(at) ? -1 : 1;
    if (where === 'below') {
        const below = row(rowOf(at) + outwards).filter(({ frame }) => tree.above[frame] === at);
        if (below.length > 0) choose(below.reduce((a, b) => b.w > a.w ? b : a).frame);
        return;
    }
    const neighbours = row(rowOf(at));
    const index = neighbours.findIndex(({ frame }) => frame === at);
    const next = neighbours[index + (where === 'left' ? -1 : 1)];
    if (next) choose(next.frame);
}

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
