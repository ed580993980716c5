// Imports the text of perf script, or speedscope's own JSON (*.json), into speedscope, in a headless Chromium, and saves
// what speedscope made of it.
//
//     node speedscope.mjs CHROMIUM INDEX_HTML TEXT OUT [TEXT OUT...]
//
// Does what a person does: opens the page, picks the file TEXT, and saves the profile by Ctrl+S. The saved file, in
// speedscope's own format, is moved to OUT. speedscope must take TEXT for that of perf script, or for the format that
// $IMPORTED_AS names in speedscope's words. Needs no network. Exits with 1 if an import fails or takes a minute.

import { mkdirSync, renameSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { start } from './chromium.mjs';

const LIMIT_MS = 60_000;
// What speedscope must say that it imports.
const kind = process.env.IMPORTED_AS ?? 'linux perf';

const [chromium, index, ...files] = process.argv.slice(2);
if (!index || files.length === 0 || files.length % 2 !== 0) {
    console.error('usage: node speedscope.mjs CHROMIUM INDEX_HTML TEXT OUT [TEXT OUT...]');
    process.exit(2);
}

let watchdog;

function end(message) {
    clearTimeout(watchdog);
    browser.end();
    if (message) {
        console.error(`speedscope: ${message}`);
        process.exitCode = 1;
    }
}

// Beside the results, so that the saved files can be renamed.
const browser = start(chromium, resolve(dirname(files[1])), end);
const { send, event } = browser;
const saved = join(browser.folder, 'saved');
mkdirSync(saved);

async function importText(text, out) {
    const page = await browser.open();
    const loaded = event('Page.loadEventFired');
    await page('Page.navigate', { url: pathToFileURL(index).href });
    await loaded;

    const imported = event('Runtime.consoleAPICalled', ({ args }) => /^Importing/.test(args[0]?.value));
    const { root } = await page('DOM.getDocument');
    const { nodeId } = await page('DOM.querySelector', { nodeId: root.nodeId, selector: 'input[type=file]' });
    await page('DOM.setFileInputFiles', { nodeId, files: [resolve(text)] });
    const { args } = await imported;
    const expected = text.endsWith('.json') ? 'speedscope json' : kind;
    if (!args[0].value.includes(expected)) throw new Error(`${text}: not imported as ${expected}: ${args[0].value}`);
    // It is shown when the title names it.
    const shown = `new Promise((resolve) => {
        const look = () => document.title === 'speedscope' ? setTimeout(look, 20) : resolve();
        look();
    })`;
    await page('Runtime.evaluate', { expression: shown, awaitPromise: true });

    const download = event('Browser.downloadWillBegin');
    const complete = event('Browser.downloadProgress', ({ state }) => state === 'completed');
    const key = { key: 's', code: 'KeyS', modifiers: 2, windowsVirtualKeyCode: 83 };
    await page('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...key });
    await page('Input.dispatchKeyEvent', { type: 'keyUp', ...key });
    const { guid } = await download;
    await complete;
    renameSync(join(saved, guid), out);
    await page.close();
}

async function importAll() {
    await send('Browser.setDownloadBehavior', { behavior: 'allowAndName', downloadPath: saved, eventsEnabled: true });
    for (let i = 0; i < files.length; i += 2) {
        clearTimeout(watchdog);
        watchdog = setTimeout(() => end(`${files[i]}: no profile after ${LIMIT_MS / 1000} s`), LIMIT_MS);
        await importText(files[i], files[i + 1]);
    }
    end();
}

importAll().catch((error) => end(error.message));
await browser.ending();
// Processes of the browser that outlive it may hold the pipes open.
process.exit();
