// Keys.

function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || $('keys').open) return;
    const isTyping = ['INPUT', 'SELECT'].includes(event.target.tagName);
    if (event.key === 'Escape') {
        if (focus > 0 && !state.lanes) zoom(0);
        else if ($('search').value) {
            $('search').value = '';
            search();
            draw();
        } else if (pendingGroup !== null) {
            pendingGroup = null;
            showDetails();
        } else if (pending) {
            pending = null;
            showSpan();
        } else if (state.span) selectSpan(null);
        else if (state.sandwich !== null) setSandwich(null);
        if (isTyping) $('graph').focus();
        return;
    }
    if (event.target === $('search') && event.key === 'Enter') stepMatch(event.shiftKey ? -1 : 1);
    if (isTyping) return;
    const onTimes = event.target === $('timeline');
    const up = state.flame ? 'below' : 'above';
    const actions = {
        '/': () => $('search').focus(),
        '?': () => $('keys').showModal(),
        m: () => state.lanes || turn(!state.fromLeaf),
        i: () => state.lanes || turnOver(!state.flame),
        s: turnNames,
        t: () => $('lanes').hidden || setLanes(!state.lanes),
        e: () => $('times').hidden || setHeat(!state.heat),
        v: compareChosen,
        o: () => state.lanes && chosenFrame && foldLane(chosenFrame.lane),
        p: savePicture,
        r: () => setCollapsed(!state.collapsed),
        n: () => stepMatch(1),
        N: () => stepMatch(-1),
    };
    const name = actedOn();
    if (name !== null) ACTIONS.forEach(([key, , , act]) => Object.assign(actions, { [key]: () => act(name) }));
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
        const step = state.heat ? heatGrid().cells : Math.max(1, Math.round(meta.buckets / 64));
        Object.assign(actions, { ArrowLeft: () => shift(-step, event.shiftKey), ArrowRight: () => shift(step, event.shiftKey) });
        if (state.heat) Object.assign(actions, { ArrowUp: () => shift(1, event.shiftKey), ArrowDown: () => shift(-1, event.shiftKey) });
    }
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
}

// Compares the chosen group, or else the selected span, with the next one.
function compareChosen() {
    const [button] = groupButtons(chosen >= 0 ? chosen : focus);
    if (button) button.click();
    else if (!$('versus').hidden) startComparison();
}

// Moves the selected span, or only its end.
function shift(by, onlyEnd) {
    const [from, to] = state.span ?? [1, Math.ceil(meta.buckets / 16)];
    const step = state.span ? by : 0;
    const start = onlyEnd ? from : Math.max(1, Math.min(from + step, meta.buckets - (to - from)));
    selectSpan([start, Math.max(start, Math.min(to + (onlyEnd ? step : start - from), meta.buckets))]);
}
