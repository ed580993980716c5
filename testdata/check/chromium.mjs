// Drives a headless Chromium by the DevTools protocol.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

// Starts the browser, with a folder of its own in another one. `fail` is called with a message when it ends too early, and
// for each event with a message of what went wrong.
export function start(chromium, parent, fail) {
    const folder = mkdtempSync(join(parent, 'chromium-'));
    // Root needs --no-sandbox. The pipe: file descriptor 3 takes commands of the DevTools protocol, 4 gives answers.
    const browser = spawn(chromium, [
        '--headless', '--no-sandbox', '--remote-debugging-pipe', `--user-data-dir=${join(folder, 'user')}`,
        '--disable-background-networking', '--disable-dev-shm-usage', '--enable-unsafe-swiftshader', 'about:blank',
    ], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true });
    const ended = new Promise((resolve) => browser.on('exit', resolve).on('error', resolve));

    // Answers by the id of the command, those who wait for an event, and those who see all events.
    const answers = new Map();
    const waiting = [];
    const listeners = [];
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
        if (method === 'Page.javascriptDialogOpening') fail(`the page says: ${params.message}`);
        if (method === 'Runtime.exceptionThrown') {
            const { text, exception } = params.exceptionDetails;
            fail(`error in the page: ${exception?.description ?? text}`);
        }
        listeners.forEach((listener) => listener(method, params));
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
    browser.stdio[3].on('error', (error) => fail(`Chromium: ${error.message}`));
    browser.on('error', (error) => fail(`Chromium: ${error.message}`));
    browser.on('exit', (status) => status !== null && fail(`Chromium exited with ${status}`));

    // Ends the whole group: CHROMIUM may be a script that starts the browser.
    function end() {
        if (browser.pid && browser.exitCode === null && browser.signalCode === null) process.kill(-browser.pid, 'SIGKILL');
    }

    // Opens an empty page. Returns the function that sends it commands.
    async function open() {
        const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
        const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
        const page = (method, params) => send(method, params, sessionId);
        page.close = () => send('Target.closeTarget', { targetId });
        await page('Page.enable');
        await page('Runtime.enable');
        return page;
    }

    // Waits for the end of the browser, and removes its folder.
    async function ending() {
        await ended;
        rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }

    return { folder, send, event, listeners, open, end, ending };
}
