// Imports the text of perf script, or speedscope's own JSON (*.json), into speedscope, in a headless Chromium, and saves
// what speedscope made of it.
//
//     node speedscope.mjs CHROMIUM INDEX_HTML TEXT OUT [TEXT OUT...]
//
// Does what a person does: opens the page, picks the file TEXT, and saves the profile by Ctrl+S. The saved file, in
// speedscope's own format, is moved to OUT. Needs no network. Exits with 1 if an import fails or takes a minute.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const LIMIT_MS = 60_000;

const [chromium, index, ...files] = process.argv.slice(2);
if (!index || files.length === 0 || files.length % 2 !== 0) {
    console.error('usage: node speedscope.mjs CHROMIUM INDEX_HTML TEXT OUT [TEXT OUT...]');
    process.exit(2);
}

// Beside the results, so that the saved files can be renamed.
const folder = mkdtempSync(join(resolve(dirname(files[1])), 'chromium-'));
const saved = join(folder, 'saved');
mkdirSync(saved);

// Root needs --no-sandbox. The pipe: file descriptor 3 takes commands of the DevTools protocol, 4 gives answers.
const browser = spawn(chromium, [
    '--headless', '--no-sandbox', '--remote-debugging-pipe', `--user-data-dir=${join(folder, 'user')}`,
    '--disable-background-networking', '--disable-dev-shm-usage', '--enable-unsafe-swiftshader', 'about:blank',
], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true });
const ended = new Promise((resolve) => browser.on('exit', resolve).on('error', resolve));
let watchdog;

function end(message) {
    clearTimeout(watchdog);
    // The whole group: CHROMIUM may be a script that starts the browser.
    if (browser.pid && browser.exitCode === null && browser.signalCode === null) process.kill(-browser.pid, 'SIGKILL');
    if (message) {
        console.error(`speedscope: ${message}`);
        process.exitCode = 1;
    }
}

// Answers by the id of the command, and those who wait for an event.
const answers = new Map();
const waiting = [];
let id = 0;

function send(method, params = {}, sessionId = undefined) {
    id += 1;
    browser.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0');
    return new Promise((resolve, reject) => answers.set(id, { method, resolve, reject }));
}

// The next event of this name whose parameters are accepted.
function event(name, accepts = () => true) {
    return new Promise((resolve) => waiting.push({ name, accepts, resolve }));
}

function onMessage({ id, method, params, result, error }) {
    if (id !== undefined) {
        const answer = answers.get(id);
        answers.delete(id);
        if (error) answer.reject(new Error(`${answer.method}: ${error.message}`));
        else answer.resolve(result);
        return;
    }
    if (method === 'Page.javascriptDialogOpening') end(`the page says: ${params.message}`);
    if (method === 'Runtime.exceptionThrown') {
        const { text, exception } = params.exceptionDetails;
        end(`error in the page: ${exception?.description ?? text}`);
    }
    for (const waiter of waiting.filter(({ name, accepts }) => name === method && accepts(params))) {
        waiting.splice(waiting.indexOf(waiter), 1);
        waiter.resolve(params);
    }
}

let partial = '';
browser.stdio[4].setEncoding('utf8').on('data', (chunk) => {
    const messages = (partial + chunk).split('\0');
    partial = messages.pop();
    messages.forEach((message) => onMessage(JSON.parse(message)));
});
browser.stdio[3].on('error', (error) => end(`Chromium: ${error.message}`));
browser.on('error', (error) => end(`Chromium: ${error.message}`));
browser.on('exit', (status) => status !== null && end(`Chromium exited with ${status}`));

async function importText(text, out) {
    const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
    const page = (method, params) => send(method, params, sessionId);
    await page('Page.enable');
    await page('Runtime.enable');
    const loaded = event('Page.loadEventFired');
    await page('Page.navigate', { url: pathToFileURL(index).href });
    await loaded;

    const imported = event('Runtime.consoleAPICalled', ({ args }) => /^Importing/.test(args[0]?.value));
    const { root } = await page('DOM.getDocument');
    const { nodeId } = await page('DOM.querySelector', { nodeId: root.nodeId, selector: 'input[type=file]' });
    await page('DOM.setFileInputFiles', { nodeId, files: [resolve(text)] });
    const { args } = await imported;
    const expected = text.endsWith('.json') ? /speedscope json/ : /linux perf/;
    if (!expected.test(args[0].value)) throw new Error(`${text}: not imported as such: ${args[0].value}`);
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
    await send('Target.closeTarget', { targetId });
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
await ended;
rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
// Processes of the browser that outlive it may hold the pipes open.
process.exit();
