// What a person does with a function: buttons below the graph, a menu at the pointer, and keys.

// Key, text, and what it does; `name` is that of the function.
const ACTIONS = [
    ['w', 'Sandwich', 'Its callers above it and what it calls below it, in all stacks', (name) => setSandwich(name)],
    ['f', 'Focus', 'Only stacks with it', (name) => addTransform('focus', name)],
    ['h', 'Hide', 'Without the stacks that have it', (name) => addTransform('hide', name)],
    ['x', 'Merge', 'Without it in the stacks; what it takes goes to its callers', (name) => addTransform('merge', name)],
    ['c', 'Copy name', 'The whole name', (name) => copyText(name)],
];

// The function that actions are for: that of the active row of the table, of the chosen frame,
// or of the zoomed one; null if it is none.
function actedOn() {
    const named = namedInTable();
    if (named !== null) return named;
    const fn = state.lanes ? chosenInLanes() : tree.fn[chosen >= 0 ? chosen : focus];
    return fn >= 0 ? functions.names[nameOf(fn)] : null;
}

function addTransform(kind, name) {
    state.transforms = [...state.transforms.filter((it) => it.kind !== kind || it.name !== name), { kind, name }];
    if (state.sandwich === name && kind !== 'focus') state.sandwich = null;
    changed();
}

function setSandwich(name) {
    [state.sandwich, state.lanes] = [name, false];
    changed();
}

function setCollapsed(isCollapsed) {
    state.collapsed = isCollapsed;
    changed();
}

// Shows what follows from a change of what is shown.
function changed() {
    showButtons();
    rebuild();
    showDetails();
}

function copyText(text) {
    const copied = () => {
        $('said').textContent = `Copied: ${text}`;
    };
    const byCommand = () => {
        const area = make('textarea', text);
        document.body.append(area);
        area.select();
        if (document.execCommand('copy')) copied();
        area.remove();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(copied, byCommand);
    else byCommand();
}

function actionButtons(name, role) {
    return ACTIONS.map(([key, text, title, act]) => {
        const button = make('button', text);
        button.type = 'button';
        button.title = `${title} (${key})`;
        if (role) button.setAttribute('role', role);
        button.onclick = () => {
            closeMenu();
            act(name);
        };
        return button;
    });
}

// What has been done: a text, the whole text, and what takes it back.
function changes() {
    const list = state.transforms.map((it) => [`${TRANSFORMS[it.kind]} ${shownName(it.name)}`, `${TRANSFORMS[it.kind]} ${it.name}`, () => {
        state.transforms = state.transforms.filter((other) => other !== it);
    }]);
    const add = (text, whole, undo) => list.push([text, whole, undo]);
    if (state.sandwich !== null) {
        add(`callers and callees of ${shownName(state.sandwich)}`, `callers and callees of ${state.sandwich}`, () => {
            state.sandwich = null;
        });
    }
    if (state.collapsed) {
        add('recursion collapsed', 'recursion collapsed', () => {
            state.collapsed = false;
        });
    }
    if (state.pair) {
        const text = `A ${state.pair[0]} compared with B ${state.pair[1]}`;
        add(text, text, () => {
            state.pair = null;
        });
    }
    if (state.other) {
        const text = `A ${spanText(state.other)} compared with B ${spanText(state.span)}`;
        add(text, text, () => {
            state.other = null;
        });
    }
    return list;
}

const chipTexts = () => changes().map(([text]) => text);

// Shows them, each as a button that takes it back.
function showChips() {
    const chips = changes();
    $('chips').hidden = chips.length === 0;
    $('chips').replaceChildren(...chips.map(([text, whole, undo]) => {
        const chip = make('button', `${text} ✕`);
        chip.type = 'button';
        chip.title = `Take back: ${whole}`;
        chip.setAttribute('aria-label', `Take back: ${whole}`);
        chip.onclick = () => {
            undo();
            changed();
            ($('chips').lastElementChild ?? $('graph')).focus();
        };
        return chip;
    }));
}

// The button of a group; none for a frame of a function, and where there is no other group.
function groupButtons(frame) {
    if (state.lanes || compare || tree.group[frame] < 0 || tree.groups.length < 2) return [];
    const button = make('button', pendingGroup === null ? 'Compare with another group' : 'Now click the other group');
    button.type = 'button';
    button.title = 'Colours show what differs between this group and the next one that is clicked (v)';
    button.onclick = () => startGroups(tree.name(frame));
    return [button];
}

let menuOpener = null;
function openMenu(name, x, y) {
    const menu = $('menu');
    menuOpener = document.activeElement;
    const head = make('b', shownName(name));
    head.setAttribute('role', 'presentation');
    menu.replaceChildren(head, ...actionButtons(name, 'menuitem'));
    menu.hidden = false;
    $('tip').hidden = true;
    const left = Math.max(4, Math.min(x, innerWidth - menu.offsetWidth - 4));
    const top = Math.max(4, Math.min(y, innerHeight - menu.offsetHeight - 4));
    menu.style.transform = `translate(${left}px, ${top}px)`;
    menu.querySelector('button').focus();
}

function closeMenu() {
    if ($('menu').hidden) return;
    $('menu').hidden = true;
    menuOpener?.focus();
}

function onMenuKey(event) {
    const buttons = [...$('menu').querySelectorAll('button')];
    const at = buttons.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === 'Escape' || event.key === 'Tab') closeMenu();
    else if (to !== undefined) buttons.at(to % buttons.length).focus();
    else if (event.key !== 'Enter' && event.key !== ' ') ACTIONS.forEach(([key], i) => key === event.key && buttons[i].click());
    else return;
    event.preventDefault();
    event.stopPropagation();
}

function listenToMenu(on) {
    on('menu', 'keydown', onMenuKey);
    document.addEventListener('pointerdown', (event) => $('menu').contains(event.target) || closeMenu());
    on('graph', 'contextmenu', (event) => {
        // The key of the menu has no place.
        const isKey = event.pointerId === -1 || event.button !== 2 && event.clientX === 0;
        const item = isKey ? null : under(event);
        if (item && state.lanes) chooseInLanes(item);
        else if (item && item.frame >= 0) choose(item.frame);
        const name = actedOn();
        if (name === null) return;
        event.preventDefault();
        const box = $('graph').getBoundingClientRect();
        openMenu(name, isKey ? box.left + 20 : event.clientX, isKey ? box.top + 20 : event.clientY);
    });
}
