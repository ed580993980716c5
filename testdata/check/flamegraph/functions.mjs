// Functions: lines, matches, names, and what is done with a function.

import { readFileSync } from 'node:fs';

import { act, chips, find, shownSamples, undo } from './actions.mjs';

export async function lines(open, { wrong }) {
    await find(open, '^inner$');
    const details = await open.text('details');
    if (!details.includes('/src/lines.c:6 · lines · inlined')) wrong(`no line of inner: ${details}`);
    await find(open, '^free$');
    if ((await open.text('details')).includes('.c:')) wrong('a line of generated code');
    await open.choose('search', '');
}

export async function matches(open, { wrong, same }) {
    const { choose, key, text, evaluate } = open;
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

export async function shortNames(open, { wrong, same }) {
    const script = readFileSync(new URL('../../../perf-export/src/flamegraph/short_names.js', import.meta.url), 'utf8');
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

export async function transforms(open, { wrong, same }) {
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

export async function sandwich(open, { wrong, same }) {
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

export async function menu(open, { same }) {
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
