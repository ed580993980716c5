// What a person does with the page, and its start.

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
    press('short', state.short);
    press('lanes', state.lanes);
    press('heat', state.heat);
    for (const id of ['root', 'leaf', 'icicle', 'flame', 'group']) $(id).disabled = state.lanes;
    press('collapsed', state.collapsed);
}

function showSizes() {
    const event = meta.events[state.event];
    const what = event?.unit === 'ns' ? 'time' : `what ${event?.name ?? 'the event'} counts`;
    fill($('size'), [['period', what], ['samples', 'samples']]);
    // An event that counted nothing has samples.
    if (event?.total.period === '0') state.size = 'samples';
    $('size').value = state.size;
}

// Shows what the state has in all controls.
function showControls() {
    $('event').value = state.event;
    showSizes();
    $('group').value = state.group;
    $('width').value = state.width;
    showButtons();
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
    saveState(true);
}

function turnNames() {
    state.short = !state.short;
    showButtons();
    showChips();
    if ($('table').open) showTable();
    layout();
    saveState(true);
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
            if (id === 'group') [focus, state.pair] = [0, null];
            state[id] = $(id).value;
            rebuild();
            showDetails();
        });
    }
    on('width', 'change', () => {
        state.width = $('width').value;
        rebuild();
        showDetails();
    });
    on('root', 'click', () => turn(false));
    on('leaf', 'click', () => turn(true));
    on('icicle', 'click', () => turnOver(false));
    on('flame', 'click', () => turnOver(true));
    on('reset', 'click', () => zoom(0));
    on('all', 'click', () => selectSpan(null));
    on('versus', 'click', startComparison);
    on('heat', 'click', () => setHeat(!state.heat));
    on('save', 'click', savePicture);
    on('help', 'click', () => $('keys').showModal());
    on('theme', 'click', () => {
        setTheme(!state.dark);
        showLegend();
        draw();
    });
    on('search', 'input', () => {
        search();
        plan();
        saveState(false);
    });
    // The second one where only the fragment is another.
    addEventListener('popstate', restoreState);
    addEventListener('hashchange', restoreState);
    on('short', 'click', turnNames);
    on('lanes', 'click', () => setLanes(!state.lanes));
    on('collapsed', 'click', () => setCollapsed(!state.collapsed));
    on('next', 'click', () => stepMatch(1));
    on('previous', 'click', () => stepMatch(-1));
    listenToTable(on);
    on('scroll', 'scroll', plan);
    document.addEventListener('keydown', onKey);
    addEventListener('resize', layout);
    // The footer grows when a list in it is opened.
    new ResizeObserver(() => columns === $('scroll').clientWidth ? resize() : layout()).observe($('scroll'));
    listenToGraph(on);
    listenToTimes(on);
    listenToMenu(on);
}

function listenToGraph(on) {
    on('graph', 'pointermove', (event) => {
        const item = under(event);
        showTip(item, event);
        if (state.lanes) {
            hoveredFrame = item;
            plan();
            return;
        }
        const frame = item ? item.frame : -1;
        if (frame === hovered) return;
        hovered = frame;
        plan();
    });
    on('graph', 'pointerleave', () => {
        [hovered, hoveredFrame] = [-1, null];
        $('tip').hidden = true;
        plan();
    });
    on('graph', 'click', (event) => {
        const item = under(event);
        if (state.lanes) {
            if (item) chooseInLanes(item);
            else if (headAt(event) >= 0) foldLane(headAt(event));
            return;
        }
        if (!item || item.frame < 0) return;
        // A finger first shows what it would zoom to.
        if (event.pointerType === 'touch' && chosen !== item.frame) choose(item.frame);
        else zoom(item.frame);
    });
}

function listenToTimes(on) {
    on('graph', 'dblclick', () => state.lanes && zoomInLanes());
    let begin = null;
    const bucketAt = (event) => {
        const box = $('timeline').getBoundingClientRect();
        if (state.heat) return bucketInHeat((event.clientX - box.left) / box.width, (event.clientY - box.top) / (box.height - AXIS));
        return Math.max(1, Math.min(meta.buckets, Math.ceil((event.clientX - box.left) / box.width * meta.buckets)));
    };
    const spanTo = (event) => {
        const end = bucketAt(event);
        return [Math.min(begin, end), Math.max(begin, end)];
    };
    on('timeline', 'pointerleave', () => {
        $('tip').hidden = true;
    });
    on('timeline', 'pointerdown', (event) => {
        $('tip').hidden = true;
        begin = bucketAt(event);
        $('timeline').setPointerCapture(event.pointerId);
    });
    on('timeline', 'pointermove', (event) => {
        if (begin === null && state.heat) showTipAt(event, describeHeat(event));
        if (begin === null || bucketAt(event) === begin) return;
        state.span = spanTo(event);
        plan();
    });
    on('timeline', 'pointerup', (event) => {
        if (begin === null) return;
        const span = spanTo(event);
        begin = null;
        // A cell of a heat map is a span of its own.
        selectSpan(span[0] === span[1] && !state.heat ? null : span);
    });
    on('timeline', 'pointercancel', () => {
        begin = null;
        selectSpan(null);
    });
}

function start() {
    $('title').textContent = meta.captures.join(meta.compare ? ' → ' : ', ');
    showWidths();
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
    // The sides of a comparison have only names in common.
    if (meta.compare) groups.splice(2);
    else if (meta.captures.length > 1) groups.splice(1, 0, ['capture', 'capture']);
    fill($('group'), groups);
    state.group = new Set(meta.threads.map((thread) => thread[4])).size > 1 ? 'comm' : 'none';
    showSizes();
    Object.assign(DEFAULTS, { group: state.group, size: state.size });
    const keys = readState(location.hash.slice(1));
    showControls();
    showQuality();
    $('short').hidden = !canShorten();
    $('lanes').hidden = !hasTimes();
    $('controls').hidden = meta.events.length === 0;
    isRestoring = true;
    rebuild();
    if (keys) zoom(tree.find(keys));
    isRestoring = false;
    showDetails();
    listen();
    performance.mark('drawn');
}

if (meta.events.length === 0) {
    rows.start.push(0);
    meta.events.push({ name: 'none', unit: '', total: { samples: 0, period: '0' }, beyond: { samples: 0, period: '0' }, period: '0', rows: 0 });
}
start();
