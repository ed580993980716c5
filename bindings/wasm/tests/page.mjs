// Opens the page from its folder in a headless Chromium, gives it captures, and compares what it shows with the package.
//
//     node page.mjs CHROMIUM [SCREENSHOTS]
//
// Exits with 1 if something is wrong or takes a minute.

import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { start } from '../../../testdata/check/chromium.mjs';
import { Capture, here, testdata } from './common.mjs';

const LIMIT_MS = 60_000;
const [chromium, screenshots] = process.argv.slice(2);
const page = pathToFileURL(join(here, '../dist/index.html')).href;
let isDone = false;

function wrong(message) {
    if (isDone) return;
    console.error(`page: ${message}`);
    process.exitCode = 1;
}

function same(what, found, expected) {
    if (JSON.stringify(found) !== JSON.stringify(expected)) wrong(`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
}

const browser = start(chromium, tmpdir(), wrong);
const watchdog = setTimeout(() => { wrong(`not done after ${LIMIT_MS / 1000} s`); browser.end(); }, LIMIT_MS);
browser.listeners.push((method, params) => {
    if (method === 'Network.requestWillBeSent' && !/^(file|blob|data|about):/.test(params.request.url)) wrong(`asks for ${params.request.url}`);
    if (method === 'Log.entryAdded') wrong(`${params.entry.source}: ${params.entry.text}`);
    if (method === 'Runtime.consoleAPICalled') wrong(`the console has: ${params.args[0]?.value}`);
});

async function run() {
    const tab = await browser.open();
    await tab('Network.enable');
    await tab('Log.enable');
    const loaded = browser.event('Page.loadEventFired');
    await tab('Emulation.setDeviceMetricsOverride', { width: 1200, height: 800, deviceScaleFactor: 1, mobile: false });
    await tab('Page.navigate', { url: page });
    await loaded;

    const evaluate = async (expression) => {
        const { result, exceptionDetails } = await tab('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
        if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
        return result.value;
    };
    const until = (condition) => evaluate(`new Promise((resolve) => { const look = () => (${condition}) ? resolve() : setTimeout(look, 20); look(); })`);
    const isIdle = "!document.body.hasAttribute('aria-busy')";
    async function drop(...files) {
        const { root } = await tab('DOM.getDocument');
        const { nodeId } = await tab('DOM.querySelector', { nodeId: root.nodeId, selector: '#files' });
        await tab('DOM.setFileInputFiles', { nodeId, files });
        await until(`${isIdle} && (document.getElementById('status').textContent.includes('done') || document.getElementById('failure').textContent)`);
        await until(isIdle);
    }
    async function show(name) {
        await evaluate(`document.getElementById('tab-${name}').click()`);
        await until(isIdle);
    }
    const failure = () => evaluate("document.getElementById('failure').textContent");
    const texts = (selector) => evaluate(`[...document.querySelectorAll('${selector}')].map((it) => it.textContent)`);
    async function picture(name) {
        if (!screenshots) return;
        const { data } = await tab('Page.captureScreenshot', { format: 'png' });
        writeFileSync(join(screenshots, `${name}.png`), Buffer.from(data, 'base64'));
    }

    const path = join(testdata, 'captures/callchain.data');
    const capture = new Capture(readFileSync(path));
    const grouped = (number) => number.toLocaleString('en');
    await drop(path);
    same('failure', await failure(), '');
    const info = capture.info();
    same('records', await texts('#summary table:last-of-type tbody td'), info.records.flatMap(({ type, count }) => [type, grouped(count)]));
    await picture('summary');

    await show('report');
    same('failure', await failure(), '');
    const [table] = capture.report().tables;
    const expected = table.rows.slice(0, 1000).map((row) => [
        ...(row.children ? [`${row.children[0].percent.toFixed(2)}%`] : []), `${row.self[0].percent.toFixed(2)}%`, grouped(row.self[0].samples),
        row.comm, row.dso, row.symbol ?? `0x${row.address.toString(16)}`,
    ].join(' '));
    same('report', await evaluate("[...document.querySelectorAll('table.report tbody tr')].map((row) => [...row.cells].map((it) => it.textContent).join(' '))"), expected);
    // Sorted by the last column but two, by the keyboard.
    await evaluate("document.querySelectorAll('table.report th button')[2].focus()");
    await tab('Input.dispatchKeyEvent', { type: 'keyDown', key: 'Enter', code: 'Enter', text: '\r', windowsVirtualKeyCode: 13 });
    await tab('Input.dispatchKeyEvent', { type: 'keyUp', key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13 });
    same('sorted', await evaluate("document.querySelectorAll('table.report th')[2].getAttribute('aria-sort')"), 'descending');
    await picture('report');

    await show('flamegraph');
    same('failure', await failure(), '');
    same('flame graph', await evaluate("document.querySelector('iframe').srcdoc.length"), capture.flamegraph({ name: 'callchain.data' }).length);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await picture('flamegraph');

    await show('timeline');
    const { threads } = capture.timeline(200).events[0];
    same('timeline', (await texts('#timeline table tr td:nth-child(3)')).slice(0, threads.length), threads.map(({ total }) => `${grouped(total)} samples`));
    await tab('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: 'dark' }] });
    await picture('timeline');

    // A file that ends too early, with its account.
    await evaluate("document.getElementById('tab-summary').click()");
    const cut = join(browser.folder, 'cut.data');
    const bytes = readFileSync(path).subarray(0, 20_000);
    writeFileSync(cut, bytes);
    await drop(cut);
    const { account } = new Capture(bytes).info();
    same('faults', (await texts('#faults')).map((it) => it.split(' ')[0]), [String(account.faults)]);
    await picture('broken');

    await drop(join(here, 'page.mjs'));
    same('a file of names', await failure(), '');
    // A worker that fails is made anew.
    const failing = `(() => { const { terminate } = Worker.prototype; let count = 0;
        Worker.prototype.terminate = function () { count += 1; return terminate.call(this); };
        const post = Worker.prototype.postMessage;
        Worker.prototype.postMessage = function (message) {
            if (message.command === 'fold') { Worker.prototype.postMessage = post; this.onmessage({ data: { id: message.id, error: 'perfdata has a bug: tried', isFatal: true } }); return; }
            post.call(this, message);
        }; globalThis.ended = () => count; })()`;
    await evaluate(failing);
    await evaluate("document.querySelector('[data-format=fold]').click()");
    await until("document.getElementById('failure').textContent.includes('was started again')");
    same('workers that ended', await evaluate('ended()'), 1);
    await drop(path);
    same('after a failure', [await failure(), (await texts('#summary table:last-of-type tbody td')).length], ['', 2 * info.records.length]);
}

await run().catch((error) => wrong(error.stack));
isDone = true;
clearTimeout(watchdog);
browser.end();
await browser.ending();
if (!process.exitCode) console.log('page: as it should be');
