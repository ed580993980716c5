// What is shown, as the fragment of the page's address: it can be kept, sent with the page, and gone back to.

const DEFAULTS = { ...state };
// Characters that an address may have; a stack with longer names is left out.
const LONGEST = 64_000;
let isRestoring = false;

function fragment() {
    const params = new URLSearchParams();
    const put = (key, value, isDefault) => isDefault || params.append(key, value);
    put('event', meta.events[state.event].name, state.event === DEFAULTS.event);
    put('size', state.size, state.size === DEFAULTS.size);
    put('group', state.group, state.group === DEFAULTS.group);
    put('width', state.width, state.width === DEFAULTS.width);
    for (const key of ['fromLeaf', 'flame', 'collapsed', 'lanes', 'heat']) put(key, 1, !state[key]);
    put('names', 'full', state.short);
    put('span', state.span?.join('-'), !state.span);
    put('compare', state.other?.join('-'), !state.other);
    for (const label of state.pair ?? []) put('pair', label, false);
    put('search', $('search').value, !$('search').value);
    put('of', state.sandwich, state.sandwich === null);
    for (const { kind, name } of state.transforms) put(kind, name, false);
    put('zoom', JSON.stringify(tree.keys(focus).map(keyText)), focus === 0);
    if (params.toString().length > LONGEST) params.delete('zoom');
    const text = params.toString();
    return text.length > LONGEST ? '' : text;
}

// What a frame is called in pages of other samples too, where functions have other numbers: its name, its file and its kind.
const keyText = (key) => typeof key === 'number' ? [functions.names[nameOf(key)], functions.files[functions.file[key]], functions.kind[key]] : key;

// The key of a frame in this page; one that no frame has, if there is no such function.
function keyOfText(text) {
    if (!Array.isArray(text)) return text;
    const [name, file] = [nameIndex(text[0]), functions.files.indexOf(text[1])];
    return name < 0 ? -1 : functions.name.findIndex((it, fn) => it === name && functions.file[fn] === file && functions.kind[fn] === text[2]);
}

// `isStep`: whether going back comes to what was before.
function saveState(isStep) {
    if (isRestoring) return;
    const text = fragment();
    if (text === location.hash.slice(1)) return;
    try {
        history[isStep ? 'pushState' : 'replaceState'](null, '', `#${text}`);
    } catch {
        // A page in a frame may have no history.
    }
}

function spanOf(text) {
    const span = /^(\d{1,6})-(\d{1,6})$/.exec(text ?? '')?.slice(1).map(Number);
    return span && span[0] >= 1 && span[0] <= span[1] && span[1] <= meta.buckets ? span : null;
}

function keysOf(text) {
    try {
        const keys = JSON.parse(text);
        return Array.isArray(keys) ? keys.map(keyOfText) : null;
    } catch {
        return null;
    }
}

// Takes from a fragment what is valid; everything else is as it is at first.
function readState(text) {
    const params = new URLSearchParams(text);
    const event = meta.events.findIndex(({ name }) => name === params.get('event'));
    const choice = (key) => [...$(key).options].some(({ value }) => value === params.get(key)) ? params.get(key) : DEFAULTS[key];
    Object.assign(state, {
        event: event < 0 ? DEFAULTS.event : event, size: choice('size'), group: choice('group'), width: choice('width'),
        short: params.get('names') !== 'full', span: spanOf(params.get('span')), other: spanOf(params.get('compare')),
        sandwich: nameIndex(params.get('of')) < 0 ? null : params.get('of'), transforms: [],
    });
    for (const key of ['fromLeaf', 'flame', 'collapsed', 'lanes', 'heat']) state[key] = params.has(key);
    for (const [kind, name] of params) {
        if (Object.hasOwn(TRANSFORMS, kind) && nameIndex(name) >= 0) state.transforms.push({ kind, name });
    }
    if (!state.span) state.other = null;
    const labels = state.group === 'none' ? [] : groupLabels()[1];
    const pair = params.getAll('pair');
    state.pair = pair.length === 2 && pair[0] !== pair[1] && pair.every((label) => labels.includes(label)) ? pair : null;
    state.lanes &&= hasTimes();
    $('search').value = params.get('search') ?? '';
    return keysOf(params.get('zoom'));
}

function restoreState() {
    if (location.hash.slice(1) === fragment()) return;
    isRestoring = true;
    const keys = readState(location.hash.slice(1));
    showControls();
    tree = null;
    rebuild();
    if (keys) zoom(tree.find(keys));
    showDetails();
    isRestoring = false;
}
