// Opens the page of known_program.py in a headless Chromium, and does what a person does with its functions and times.
//
//     node flamegraph_known.mjs CHROMIUM PAGE [--screenshots DIR]
//
// Exits with 1 if something is wrong or takes a minute.

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import * as functions from './flamegraph/functions.mjs';
import * as page from './flamegraph/page.mjs';
import * as times from './flamegraph/times.mjs';
import { startPages } from './pages.mjs';

const [chromium, file, ...options] = process.argv.slice(2);
if (!file) {
    console.error('usage: node flamegraph_known.mjs CHROMIUM PAGE [--screenshots DIR]');
    process.exit(2);
}
const screenshots = options.includes('--screenshots') ? options[options.indexOf('--screenshots') + 1] : null;
const url = pathToFileURL(resolve(file)).href;
const { wrong, same, openPage, end } = startPages(chromium, file, (asked) => asked.startsWith(url) || asked.startsWith('blob:'), screenshots);

async function check() {
    let done = 0;
    for (const [name, part] of Object.entries({ ...functions, ...times, ...page })) {
        const open = await openPage(url);
        await open.choose('event', '0');
        await part(open, { wrong, same, openPage, url }).catch((error) => wrong(`${name}: ${error.message}`));
        await open.close();
        done += 1;
    }
    console.log(`${file}: ${done} parts`);
}

await end(check());
