// Opens the page of known_program.py in a headless Chromium, and does what a person does with its functions.
//
//     node flamegraph_known.mjs CHROMIUM PAGE [--screenshots DIR]
//
// Exits with 1 if something is wrong or takes a minute.

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

const PARTS = { lines, matches };

async function check() {
    for (const [name, part] of Object.entries(PARTS)) {
        const open = await openPage(url);
        await open.choose('event', '0');
        await part(open).catch((error) => wrong(`${name}: ${error.message}`));
        await open.close();
    }
}

await end(check());
