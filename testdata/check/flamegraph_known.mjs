// Opens the page of known_program.py in a headless Chromium, and does what a person does with its functions.
//
//     node flamegraph_known.mjs CHROMIUM PAGE [--screenshots DIR]
//
// Exits with 1 if something is wrong or takes a minute.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { startPages } from './pages.mjs';

const [chromium, file, ...options] = process.argv.slice(2);
if (!file) {
    console.error('usage: node flamegraph_known.mjs CHROMIUM PAGE [--screenshots DIR]');
    process.exit(2);
}
const screenshots = options.includes('--screenshots') ? options[options.indexOf('--screenshots') + 1] : null;
const url = pathToFileURL(resolve(file)).href;
const { wrong, same, openPage, end } = startPages(chromium, file, (asked) => asked.startsWith(url), screenshots);

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

const PARTS = { lines, matches, shortNames };

async function check() {
    for (const [name, part] of Object.entries(PARTS)) {
        const open = await openPage(url);
        await open.choose('event', '0');
        await part(open).catch((error) => wrong(`${name}: ${error.message}`));
        await open.close();
    }
}

await end(check());
