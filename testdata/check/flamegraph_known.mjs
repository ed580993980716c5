// Opens the page of known_program.py in a headless Chromium, and does what a person does with its functions.
//
//     node flamegraph_known.mjs CHROMIUM PAGE [--screenshots DIR]
//
// Exits with 1 if something is wrong or takes a minute.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { contrastsOfElements } from './contrast.mjs';
import { startPages } from './pages.mjs';

const [chromium, file, ...options] = process.argv.slice(2);
if (!file) {
    console.error('usage: node flamegraph_known.mjs CHROMIUM PAGE [--screenshots DIR]');
    process.exit(2);
}
const screenshots = options.includes('--screenshots') ? options[options.indexOf('--screenshots') + 1] : null;
const url = pathToFileURL(resolve(file)).href;
const { wrong, same, openPage, end } = startPages(chromium, file, (asked) => asked.startsWith(url) || asked.startsWith('blob:'), screenshots);

// Chooses the first frame that a search finds.
async function find(open, pattern) {
    await open.choose('search', '');
    await open.choose('search', pattern);
    await open.press('next');
}

async function lines(open) {
    await find(open, '^inner$');
    const details = await open.text('details');
    if (!details.includes('/src/lines.c:6 · lines · inlined')) wrong(`no line of inner: ${details}`);
    await find(open, '^free$');
    if ((await open.text('details')).includes('.c:')) wrong('a line of generated code');
    await open.choose('search', '');
}

async function matches(open) {
    const { choose, key, text, same: _, evaluate } = open;
    await choose('search', 'fib');
    const found = async () => (await text('found')).split(' · ')[1];
    same('matches before a step', await found(), undefined);
    await evaluate("document.getElementById('graph').focus()");
    const steps = [];
    for (const step of ['n', 'n', 'n', 'n', 'N']) {
        await key(step);
        steps.push(await found());
    }
    same('matches step by step', steps, ['1 of 3', '2 of 3', '3 of 3', '1 of 3', '3 of 3']);
    if (!(await text('details')).startsWith('fib')) wrong('a match is not the chosen frame');
    await choose('search', 'no such name');
    same('buttons without a match', await evaluate("document.getElementById('next').hidden"), true);
    await choose('search', 'fib');
    await open.shoot('matches');
    await choose('search', '');
}

// Names as programs have them, and as they are drawn.
const SHORT = [
    ['std::map<std::string, std::vector<int, std::allocator<int> > >::find(std::string const&)', 'std::map<…>::find(std::string const&)'],
    ['<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop::h0123456789abcdef', 'alloc::vec::Vec<…>::drop'],
    ['core::ptr::drop_in_place<core::option::Option<alloc::string::String>>::h0123456789abcdef', 'core::ptr::drop_in_place<…>'],
    ['core::fmt::num::<impl core::fmt::Display for u32>::fmt', 'core::fmt::num::u32::fmt'],
    ['alloc::slice::<impl [T]>::sort', 'alloc::slice::[T]::sort'],
    ['<F as core::ops::function::Fn<(A,) -> R>>::call', 'F::call'],
    ['iter::map::<u32, F>::next', 'iter::map::<…>::next'],
    ['bool operator< <char>(std::basic_string<char> const&)', 'bool operator< <…>(std::basic_string<…> const&)'],
    ['operator<<(std::ostream&, A<B>)', 'operator<<(std::ostream&, A<…>)'],
    ['A<B>::operator->() const', 'A<…>::operator->() const'],
    ['<anonymous>', '<anonymous>'],
    ['a < b', 'a < b'],
    ['do_syscall_64', 'do_syscall_64'],
];

async function shortNames(open) {
    const script = readFileSync(new URL('../../perf-export/src/flamegraph/short_names.js', import.meta.url), 'utf8');
    const { shortName } = new Function(`${script}; return { shortName };`)();
    for (const [full, short] of SHORT) same(`the short name of ${full}`, shortName(full), short);
    // In the path, with the full name on hover; and full again after the key.
    await find(open, 'Vec');
    await open.key('Escape');
    await find(open, 'Vec');
    await open.evaluate("document.getElementById('graph').focus()");
    await open.key('Enter');
    const last = () => open.evaluate("(({ textContent, title }) => [textContent, title])(document.querySelector('#path button:last-child'))");
    const [shown, title] = await last();
    same('the name in the path', shown, 'alloc::vec::Vec<…>::drop');
    if (!title.endsWith('drop::h0123456789abcdef')) wrong(`the full name: ${title}`);
    if (!(await open.text('details')).startsWith('<alloc::vec::Vec<T,A> as ')) wrong('details have no full name');
    await open.shoot('short-names');
    await open.key('s');
    if (!(await last())[0].startsWith('<alloc::vec::Vec<T,A> as ')) wrong('names stay short');
}

// The first number of the totals.
const shownSamples = async (open) => Number((await open.text('totals')).split(' ')[0].replaceAll(',', ''));
// Presses one of the buttons below the graph by its text.
const act = async (open, text) => {
    await open.evaluate(`[...document.querySelectorAll('#actions button')].find((it) => it.textContent === '${text}').click()`);
    await open.drawn();
};
const chips = (open) => open.evaluate("[...document.querySelectorAll('#chips button')].map((it) => it.textContent)");
const undo = (open) => open.evaluate("document.querySelector('#chips button').click()").then(open.drawn);

async function transforms(open) {
    const { text, key, evaluate } = open;
    same('samples', await shownSamples(open), 189);
    // Hidden: 39 stacks have it. The totals say what is left.
    await find(open, '^fib$');
    await act(open, 'Hide');
    same('without fib', await shownSamples(open), 150);
    if (!/^150 of 189 samples · 79\.4 %/.test(await text('totals'))) wrong(`totals: ${await text('totals')}`);
    same('chips', await chips(open), ['without fib ✕']);
    await open.choose('search', 'fib');
    if (!(await text('found')).startsWith('0.00 %')) wrong('a hidden function is found');
    await open.shoot('hidden');
    await undo(open);
    same('undone', [await shownSamples(open), await chips(open)], [189, []]);
    // Only with it, by a key; then without another one.
    await find(open, '^memcpy$');
    await evaluate("document.getElementById('graph').focus()");
    await key('f');
    same('with memcpy', await shownSamples(open), 39);
    await find(open, 'find');
    await key('h');
    same('with memcpy, without find', await shownSamples(open), 20);
    same('chips', await chips(open), ['only with memcpy ✕', 'without std::map<…>::find(std::string const&) ✕']);
    await undo(open);
    same('without find', await shownSamples(open), 169);
    await undo(open);
    // Merged: its samples are those of its caller.
    await find(open, '^memcpy$');
    await act(open, 'Merge');
    same('merged', await shownSamples(open), 189);
    await find(open, 'find');
    if (!(await text('details')).includes('20 samples · itself 10.6 %')) wrong(`find after the merge: ${await text('details')}`);
    await undo(open);
    // Recursion.
    await key('r');
    await find(open, '^fib$');
    if (!(await text('found')).endsWith('1 of 1') || !(await text('details')).includes('39 samples · itself 20.6 %')) wrong(`collapsed: ${await text('found')}, ${await text('details')}`);
    await open.shoot('collapsed');
    await key('r');
    await find(open, '^fib$');
    if (!(await text('found')).endsWith('1 of 3')) wrong('recursion stays collapsed');
}

async function sandwich(open) {
    const { text, key, evaluate } = open;
    // A function that calls itself: its stacks count once.
    await find(open, '^fib$');
    await act(open, 'Sandwich');
    same('stacks with fib', await shownSamples(open), 39);
    const whole = await text('details');
    if (!whole.startsWith('fib') || !whole.includes('100.0 % of fib') || !whole.includes('39 samples')) wrong(`sandwich of fib: ${whole}`);
    await key('Escape');
    await key('Escape');
    same('samples after escape', await shownSamples(open), 189);
    // One with two callers.
    await find(open, '^memcpy$');
    await act(open, 'Sandwich');
    same('stacks with memcpy', await shownSamples(open), 39);
    await evaluate("document.getElementById('graph').focus()");
    const names = [];
    const step = async (to) => {
        await key(to);
        names.push((await text('details')).match(/^[\w:]+/)[0]);
    };
    // Up to the caller with more samples, and to that one's neighbour.
    await step('ArrowUp');
    await step('ArrowRight');
    await step('ArrowUp');
    await step('ArrowDown');
    await step('ArrowDown');
    same('callers of memcpy', names, ['main', 'std::map', 'main', 'std::map', 'memcpy']);
    await open.shoot('sandwich');
    same('chips', await chips(open), ['callers and callees of memcpy ✕']);
    await undo(open);
    same('undone', await shownSamples(open), 189);
    // main has no caller in the capture.
    await find(open, '^main$');
    await act(open, 'Sandwich');
    same('stacks with main', await shownSamples(open), 189);
}

async function menu(open) {
    const { key, evaluate, page, drawn } = open;
    const { x, y } = await open.box('graph');
    const rightClick = async (x, y) => {
        for (const type of ['mousePressed', 'mouseReleased']) await page('Input.dispatchMouseEvent', { type, x, y, button: 'right', buttons: 2, clickCount: 1 });
        await drawn();
    };
    // The fourth row: the widest function.
    await rightClick(x + 20, y + 70);
    const items = () => evaluate("document.getElementById('menu').hidden ? [] : [...document.querySelectorAll('#menu [role=menuitem]')].map((it) => it.textContent)");
    same('the menu', await items(), ['Sandwich', 'Focus', 'Hide', 'Merge', 'Copy name']);
    await open.shoot('menu');
    const at = () => evaluate('document.activeElement.textContent');
    await key('ArrowDown');
    await key('ArrowDown');
    same('the item after two keys', await at(), 'Hide');
    await key('Escape');
    same('the menu after escape', await items(), []);
    await rightClick(x + 20, y + 70);
    await key('h');
    same('after hide', await shownSamples(open), 89);
    await key('Escape');
    await find(open, 'find');
    await act(open, 'Copy name');
    for (let tries = 0; tries < 100 && !(await open.text('said')); tries++) await drawn();
    same('what is said', await open.text('said'), 'Copied: std::map<std::string, std::vector<int, std::allocator<int> > >::find(std::string const&)');
    await open.choose('search', '');
    // The root is no function.
    await rightClick(x + 20, y + 10);
    same('the menu of the root', await items(), []);
}

// Of the chosen frame in a lane: its name, and when it was, in milliseconds.
async function laneFrame(open) {
    const [name, , when] = await open.evaluate("[...document.getElementById('details').children].map((it) => it.textContent)");
    const [from, to] = (when ?? '').match(/[\d.]+(?= ms| µs| s| ns)/g)?.map(Number) ?? [];
    return [name, Math.round(from), Math.round(to)];
}

// Threads in time order, with the gap off the CPU.
async function lanes(open) {
    const { key, evaluate, text } = open;
    await evaluate("document.getElementById('graph').focus()");
    await key('t');
    if (!(await text('details')).includes('Samples are placed to 308.6 µs')) wrong(`lanes: ${await text('details')}`);
    await key('ArrowDown');
    const seen = [await laneFrame(open)];
    await key('ArrowDown');
    for (let i = 0; i < 4; i++) {
        seen.push(await laneFrame(open));
        await key('ArrowRight');
    }
    const functions = seen.map(([name]) => name.split('<')[0]);
    same('the frames of main', functions, ['main', 'fib', 'std::map', 'memcpy', 'memcpy']);
    // What ran: 0 to 39 ms, 39 to 79 with the wait, and 79 to 98 ms after the first sample; to the width of a part.
    const near = (found, expected, what) => Math.abs(found - expected) <= 1 || wrong(`${what} at ${found} ms, not ${expected}`);
    near(seen[1][2], 39, 'the end of fib');
    near(seen[2][1], 39, 'the start of find');
    near(seen[2][2], 79, 'the end of find');
    near(seen[3][2], 98, 'the end of memcpy');
    await open.shoot('lanes');
    // The head of the first lane folds it: the second one is then where the first frame was.
    const { x, y } = await open.box('graph');
    await open.click(x + 60, y + 10);
    await open.click(x + 1000, y + 65);
    if ((await laneFrame(open))[0] !== 'main' || !(await text('details')).includes('worker (')) wrong(`below a folded lane: ${await text('details')}`);
    await open.shoot('lanes-folded');
    await open.click(x + 60, y + 10);
    // The wait is a frame below find.
    await key('ArrowLeft');
    await key('ArrowDown');
    await key('ArrowRight');
    await open.choose('search', 'memcpy');
    await open.press('next');
    same('matches in lanes', (await text('found')).split(' · ')[1], '1 of 2');
    await open.choose('search', '');
    await open.press('lanes');
    await open.key('t');
    await open.choose('search', 'fib');
    await open.press('next');
    await evaluate("document.getElementById('graph').focus()");
    await key('Enter');
    if (!/^Selected: 0 ns to 3[89]/.test(await text('span'))) wrong(`the time of fib: ${await text('span')}`);
    await open.shoot('lanes-zoomed');
    same('samples of fib', await shownSamples(open), 39);
}

async function functionTable(open) {
    const { key, evaluate, text, drawn } = open;
    await evaluate("document.getElementById('table').open = true");
    await drawn();
    await drawn();
    const cells = () => evaluate("[...document.querySelectorAll('#visible .row')].map((row) => [...row.children].map((it) => it.textContent).join('|'))");
    const sorting = () => evaluate("[...document.querySelectorAll('#heads [role=columnheader]')].map((it) => it.ariaSort)");
    const sort = async (head) => {
        await evaluate(`[...document.querySelectorAll('#heads button')].find((it) => it.textContent.startsWith('${head}')).click()`);
        await drawn();
    };
    const first = await cells();
    same('the table', first.slice(0, 3).map((row) => row.split('|').slice(0, 3)), [['52.9 %', '52.9 %', 'free'], ['20.6 %', '20.6 %', 'fib'], ['20.6 %', '20.6 %', 'memcpy']]);
    if (!first.some((row) => row.endsWith('|inner|lines.c:6|lines|inlined'))) wrong(`no line in the table: ${first}`);
    same('rows of the table', await evaluate("document.getElementById('grid').ariaRowCount"), String(first.length + 1));
    same('sorted', (await sorting()).slice(0, 3), ['descending', 'none', 'none']);
    await sort('Function');
    const names = (await cells()).map((row) => row.split('|')[2]);
    same('sorted by name', names[1], 'fib');
    same('sorted by name', (await sorting())[2], 'ascending');
    await sort('Function');
    same('the other way', (await cells()).map((row) => row.split('|')[2]), [...names].reverse());
    await sort('Total');
    same('the largest total', (await cells())[0].split('|').slice(1, 3), ['100.0 %', 'main']);
    // Keys: the second row, a search for it, and an action on it.
    await evaluate("document.getElementById('grid').focus()");
    await key('ArrowDown');
    await key('ArrowDown');
    same('the active row', await evaluate("document.getElementById(document.getElementById('grid').getAttribute('aria-activedescendant')).ariaRowIndex"), '3');
    await key('Enter');
    const wanted = (await cells())[1].split('|')[1];
    if (!(await text('found')).startsWith(wanted)) wrong(`the search from the table: ${await text('found')}`);
    await open.shoot('table');
    await key('h');
    if ((await chips(open)).length !== 1) wrong('an action from the table');
    await undo(open);
}

// Selects a span by the mouse, from one place of the timeline to another, in parts of its width and height.
async function drag(open, [fromX, fromY], [toX, toY]) {
    const times = await open.box('timeline');
    const at = (x, y) => [times.x + times.width * x, times.y + (times.height - 14) * y];
    await open.mouse('mousePressed', ...at(fromX, fromY), 1);
    await open.mouse('mouseMoved', ...at((fromX + toX) / 2, (fromY + toY) / 2), 1);
    await open.mouse('mouseMoved', ...at(toX, toY), 1);
    await open.mouse('mouseReleased', ...at(toX, toY));
    await open.drawn();
}

// 512 parts of the time are 32 columns of 16 cells, in which time goes up.
async function heatMap(open) {
    const { text, mouse, box, drawn } = open;
    await open.press('heat');
    const times = await box('timeline');
    same('the height of the heat map', times.height, 128);
    await mouse('mouseMoved', times.x + times.width * 0.5 / 32, times.y + times.height - 16);
    await drawn();
    same('the cell at the pointer', await text('tip'), '0 ns to 308.6 µs1.0 ms');
    await open.shoot('heat');
    // From the lowest cell of the first column to the highest one of the eighth: a quarter of the time.
    await drag(open, [0.5 / 32, 0.99], [7.5 / 32, 0.01]);
    same('the selected span', await text('span'), 'Selected: 0 ns to 39.5 ms');
    same('its samples', await shownSamples(open), 40);
    // By a key, to the next column.
    await open.evaluate("document.getElementById('timeline').focus()");
    await open.key('ArrowRight');
    same('the span a column later', await text('span'), 'Selected: 4.9 ms to 44.4 ms');
    const again = await openPage(url + await open.evaluate('location.hash'));
    same('the heat map of the same address', [(await again.box('timeline')).height, await again.text('span')], [128, 'Selected: 4.9 ms to 44.4 ms']);
    await again.close();
    await open.press('heat');
    same('the height of the timeline', (await box('timeline')).height, 56);
}

// The first quarter, mostly fib, against the third one, mostly free.
async function comparison(open) {
    const { text, evaluate } = open;
    await drag(open, [0.001, 0.5], [0.249, 0.5]);
    const quarter = await shownSamples(open);
    await open.press('versus');
    same('what is asked for', await text('span'), 'Drag over the span to compare with.');
    await drag(open, [0.65, 0.5], [0.98, 0.5]);
    if (!(await text('totals')).startsWith(`${quarter} samples in A · 52 in B`)) wrong(`compared: ${await text('totals')}`);
    await find(open, '^free$');
    if (!/in A 0\.00 % · in B 88\.46 % · \+88\.46 %/.test(await text('details'))) wrong(`free, compared: ${await text('details')}`);
    await open.choose('width', 'both');
    await find(open, '^fib$');
    if (!/in A 97\.50 % · in B 0\.00 % · −97\.50 %/.test(await text('details'))) wrong(`fib, compared: ${await text('details')}`);
    if (!(await text('legend')).includes('only in B')) wrong(`the legend of a comparison: ${await text('legend')}`);
    await open.choose('search', '');
    await open.shoot('comparison');
    const again = await openPage(url + await evaluate('location.hash'));
    same('the comparison of the same address', await again.text('totals'), await text('totals'));
    await again.close();
    await undo(open);
    same('only the second span', await shownSamples(open), 52);
}

// The threads against each other: a group, and the next one that is clicked.
async function groups(open) {
    const { text, key, evaluate } = open;
    await evaluate("document.getElementById('graph').focus()");
    await key('ArrowDown');
    await act(open, 'Compare with another group');
    same('what is asked for', await text('actions'), 'Now click the other group');
    await evaluate("document.getElementById('graph').focus()");
    await key('ArrowRight');
    await key('Enter');
    same('compared groups', [await text('totals'), await chips(open)], ['110 samples in A · 79 in B', ['A worker compared with B main ✕']]);
    await find(open, '^main$');
    if (!/in A 100\.00 % · in B 100\.00 % · \+0\.00 %/.test(await text('details'))) wrong(`main in both groups: ${await text('details')}`);
    const again = await openPage(url + await evaluate('location.hash'));
    same('the groups of the same address', await again.text('totals'), await text('totals'));
    await again.close();
    await undo(open);
    same('samples of all groups', await shownSamples(open), 189);
}

// Text of chips, buttons and the menu, in both modes; and each button has a name for a screen reader.
async function readable(open) {
    await find(open, '^fib$');
    await act(open, 'Focus');
    await open.key('t');
    await open.press('heat');
    await open.evaluate("document.getElementById('table').open = true");
    await open.evaluate("document.getElementById('graph').focus()");
    await open.key('ArrowDown');
    await open.evaluate("document.getElementById('graph').dispatchEvent(new PointerEvent('contextmenu', { pointerId: -1, cancelable: true }))");
    for (const mode of ['light', 'dark']) {
        await open.theme(mode);
        await open.drawn();
        const { low, count } = await contrastsOfElements(open.evaluate);
        if (low.length > 0 || count < 40) wrong(`low contrasts of ${count} texts, ${mode}: ${low.join('; ')}`);
        await open.shoot(`readable-${mode}`);
    }
    same('the menu is open', await open.evaluate("document.activeElement.getAttribute('role')"), 'menuitem');
    const nameless = await open.evaluate("[...document.querySelectorAll('button, input, select, canvas')].filter((it) => !it.textContent.trim() && !it.ariaLabel && !it.labels?.length).map((it) => it.id)");
    same('controls without a name', nameless, []);
    // All keys are in the list of keys.
    const keys = await open.evaluate("[...document.querySelectorAll('#keys dt')].map((it) => it.textContent).join(', ')");
    for (const it of 'wfhxcrstevpomin/N?') {
        if (!keys.split(', ').includes(it)) wrong(`the key ${it} is not in the list of keys`);
    }
}

// The saved picture is XML, and has what is shown.
async function picture(open) {
    const folder = mkdtempSync(join(tmpdir(), 'picture-'));
    const saved = async (press) => {
        await open.page('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder });
        await press();
        const path = join(folder, 'known.data.svg');
        for (let tries = 0; tries < 300 && !existsSync(path); tries++) await open.drawn();
        const text = readFileSync(path, 'utf8');
        rmSync(path);
        return open.evaluate(`(() => {
            const root = new DOMParser().parseFromString(${JSON.stringify(text)}, 'image/svg+xml').documentElement;
            return { root: root.localName, scripts: root.querySelectorAll('script').length, texts: [...root.querySelectorAll('text')].map((it) => it.textContent), titles: [...root.querySelectorAll('title')].map((it) => it.textContent) };
        })()`);
    };
    const whole = await saved(() => open.press('save'));
    same('the saved picture', [whole.root, whole.scripts], ['svg', 0]);
    same('its frames', whole.titles.length, 16);
    if (!whole.titles.some((it) => it.startsWith('<alloc::vec::Vec<T,A> as')) || !whole.texts.includes('alloc::vec::Vec<…>::drop')) wrong(`names of the picture: ${whole.texts}`);
    await find(open, '^fib$');
    await act(open, 'Hide');
    await open.key('t');
    const lanes = await saved(() => open.key('p'));
    if (!lanes.texts.includes('▾ worker (4194002/4194003)') || lanes.titles.includes('fib') || !lanes.titles.includes('[blocked]')) wrong(`lanes of the picture: ${lanes.texts}`);
    if (!lanes.texts[1].endsWith('without fib')) wrong(`the head of the picture: ${lanes.texts[1]}`);
    rmSync(folder, { recursive: true, force: true });
}

// The address has what is shown: on load, after going back, and when it is edited. What is wrong in it is ignored.
async function address(open) {
    const { text, evaluate, drawn, box } = open;
    const hash = () => evaluate('location.hash');
    await find(open, '^memcpy$');
    await act(open, 'Focus');
    await open.choose('search', 'fin');
    await open.choose('group', 'none');
    await evaluate("document.getElementById('leaf').click()");
    await open.key('s');
    await open.click((await box('graph')).x + 20, (await box('graph')).y + 30);
    const kept = await hash();
    const seen = async (of) => [await of.text('totals'), await of.text('found'), await of.text('path'), await of.text('details'), await chips(of)];
    const before = await seen(open);
    same('the path', before[2], 'allmemcpy');
    const again = await openPage(url + kept);
    same('the page of the same address', await seen(again), before);
    await again.shoot('address');
    await again.close();
    // Back through the zoom, the names and the direction.
    for (const step of ['all', 'names', 'fromLeaf']) {
        const was = await hash();
        await evaluate('history.back()');
        for (let tries = 0; tries < 100 && await hash() === was; tries++) await drawn();
        await drawn();
        if (step === 'all') same('the path after going back', await text('path'), 'all');
        if (step === 'names') same('short names', await evaluate("document.getElementById('short').ariaPressed"), 'true');
        if (step === 'fromLeaf') same('from the root', await evaluate("document.getElementById('root').ariaPressed"), 'true');
    }
    await evaluate("location.hash = '#event=cpu-clock:HG&hide=fib'");
    for (let tries = 0; tries < 100 && (await chips(open)).length === 0; tries++) await drawn();
    same('an edited address', [await shownSamples(open), await chips(open)], [150, ['without fib ✕']]);
    for (const wrongHash of ['#event=none&size=1&group=x&span=9-3&zoom=[[', '#zoom={}&hide=nobody&of=nobody&span=0-99999', '#%ff%', '#zoom=[true,99999999,null]&__proto__=1']) {
        const page = await openPage(url + wrongHash);
        same(`the totals at ${wrongHash}`, (await page.text('totals')).split(' · ')[0], '1 samples');
        await page.close();
    }
}

const PARTS = { lines, matches, shortNames, transforms, sandwich, menu, lanes, functionTable, heatMap, comparison, groups, readable, picture, address };

async function check() {
    let done = 0;
    for (const [name, part] of Object.entries(PARTS)) {
        const open = await openPage(url);
        await open.choose('event', '0');
        await part(open).catch((error) => wrong(`${name}: ${error.message}`));
        await open.close();
        done += 1;
    }
    console.log(`${file}: ${done} parts`);
}

await end(check());
