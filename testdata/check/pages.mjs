// Pages that this project writes, in a headless Chromium: what a person does with them, and what no page may do.

import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { start } from './chromium.mjs';

const LIMIT_MS = 60_000;
const KEY_CODES = { Enter: 13, Escape: 27, Backspace: 8, ArrowUp: 38, ArrowDown: 40, ArrowLeft: 37, ArrowRight: 39, End: 35, Home: 36 };

// Starts the browser. `label` stands before each message of what is wrong; `isOwn` tells whether a page may ask for an address;
// `screenshots` is the folder of the screenshots, null for none.
export function startPages(chromium, label, isOwn, screenshots) {
    let failures = 0;
    function wrong(message) {
        console.error(`${label}: ${message}`);
        failures += 1;
        process.exitCode = 1;
    }

    function same(what, found, expected) {
        const text = JSON.stringify;
        const isSame = expected !== null && typeof expected === 'object' ? text(found) === text(expected) : found === expected;
        if (!isSame) wrong(`${what}: ${text(found)}, not ${text(expected)}`);
    }

    const watchdog = setTimeout(() => {
        wrong(`not done after ${LIMIT_MS / 1000} s`);
        browser.end();
    }, LIMIT_MS);
    let isDone = false;
    const browser = start(chromium, tmpdir(), (message) => isDone || wrong(message));
    browser.listeners.push((method, params) => {
        if (method === 'Network.requestWillBeSent' && !params.request.url.startsWith('data:') && !isOwn(params.request.url)) wrong(`asks for ${params.request.url}`);
        if (method === 'Log.entryAdded') wrong(`${params.entry.source}: ${params.entry.text}`);
        if (method === 'Runtime.consoleAPICalled') wrong(`the console has: ${params.args[0]?.value}`);
        // What a script presses, as tests do, is no step for the button that goes back.
        const isSkippable = params.issue?.details.genericIssueDetails?.errorType === 'NavigationEntryMarkedSkippable';
        if (method === 'Audits.issueAdded' && !isSkippable) wrong(`issue: ${params.issue.code} ${JSON.stringify(params.issue.details)}`);
    });

    // Opens a page by its address and waits until it is loaded. Returns what a person does with it.
    async function openPage(url) {
        const page = await browser.open();
        for (const domain of ['Network', 'Log', 'Audits']) await page(`${domain}.enable`);
        const evaluate = async (expression) => {
            const { result, exceptionDetails } = await page('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
            if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description}`);
            return result.value;
        };
        // Until what was changed is drawn.
        const drawn = () => evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))');
        const key = async (key, modifiers = 0) => {
            const code = KEY_CODES[key];
            await page('Input.dispatchKeyEvent', { type: code ? 'rawKeyDown' : 'keyDown', key, modifiers, windowsVirtualKeyCode: code ?? key.charCodeAt(0), text: code ? undefined : key });
            await page('Input.dispatchKeyEvent', { type: 'keyUp', key });
            await drawn();
        };
        const mouse = async (type, x, y, buttons = 0) => page('Input.dispatchMouseEvent', { type, x, y, button: buttons || type === 'mouseReleased' ? 'left' : 'none', buttons, clickCount: 1 });
        const click = async (x, y) => {
            await mouse('mousePressed', x, y, 1);
            await mouse('mouseReleased', x, y);
            await drawn();
        };
        const size = (width, height, mobile = false) => page('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: mobile ? 2 : 1, mobile });
        const theme = (value) => page('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });
        const shoot = async (name) => {
            if (!screenshots) return;
            mkdirSync(screenshots, { recursive: true });
            await drawn();
            const { data } = await page('Page.captureScreenshot', { format: 'png' });
            writeFileSync(join(screenshots, `${name}.png`), Buffer.from(data, 'base64'));
        };
        const text = (id) => evaluate(`document.getElementById('${id}').textContent`);
        const box = (id) => evaluate(`(({ x, y, width, height }) => ({ x, y, width, height }))(document.getElementById('${id}').getBoundingClientRect())`);
        // Sets an input or a choice.
        const choose = async (id, value) => {
            await evaluate(`{ const it = document.getElementById('${id}'); it.value = ${JSON.stringify(value)}; it.dispatchEvent(new Event(it.tagName === 'SELECT' ? 'change' : 'input')); }`);
            await drawn();
        };
        // Presses a button by its id.
        const press = async (id) => {
            await evaluate(`document.getElementById('${id}').click()`);
            await drawn();
        };
        await size(1280, 800);
        await theme('light');
        const loaded = browser.event('Page.loadEventFired');
        await page('Page.navigate', { url });
        await loaded;
        return { evaluate, text, box, choose, press, drawn, key, mouse, click, size, theme, shoot, page, close: page.close };
    }

    // Waits for a check of the pages, and ends the program, with 1 if something was wrong or took a minute.
    async function end(check) {
        await check.catch((error) => wrong(error.message));
        isDone = true;
        clearTimeout(watchdog);
        browser.end();
        await browser.ending();
        // Processes of the browser that outlive it may hold the pipes open.
        process.exit(failures > 0 ? 1 : 0);
    }

    return { wrong, same, openPage, end };
}
