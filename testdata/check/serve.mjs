// Opens the page of a perfdata serve that runs in a headless Chromium: it updates itself, and keeps what was chosen.
//
//     node serve.mjs CHROMIUM ADDRESS [--screenshots DIR]
//
// Checks that the page asks only the server, that its flame graph is a new one after a while, that a search stays from one to the
// next, and that nothing changes while it is paused. Exits with 1 if something is wrong or takes a minute.

import { startPages } from './pages.mjs';

const [chromium, address, ...options] = process.argv.slice(2);
if (!address) {
    console.error('usage: node serve.mjs CHROMIUM ADDRESS [--screenshots DIR]');
    process.exit(2);
}
const screenshots = options[0] === '--screenshots' ? options[1] : null;
const { wrong, same, openPage, end } = startPages(chromium, 'perfdata serve', (asked) => asked.startsWith(address), screenshots);

async function check() {
    const { evaluate, shoot, close } = await openPage(address);
    // Waits until an expression is true; those of the frame that is seen begin with `page`.
    const until = (expression) => evaluate(`new Promise((resolve) => {
        const look = () => {
            const frame = document.querySelector('iframe:not([aria-hidden])');
            const page = frame.contentDocument;
            if (${expression}) resolve(true);
            else setTimeout(look, 20);
        };
        look();
    })`);
    const inPage = (expression) => evaluate(`(() => {
        const frame = document.querySelector('iframe:not([aria-hidden])');
        const page = frame.contentDocument;
        return ${expression};
    })()`);
    const version = () => inPage('Number(frame.contentWindow.location.search.slice(1))');

    await until("page?.getElementById('totals')?.textContent");
    const first = await version();
    if (!(await inPage("page.getElementById('graph').width")) > 300) wrong('the graph has no width');
    await inPage("(() => { const it = page.getElementById('search'); it.value = 'heavy'; it.dispatchEvent(new frame.contentWindow.Event('input')); })()");
    await until(`Number(frame.contentWindow.location.search.slice(1)) > ${first}`);
    same('the search after an update', await inPage("page.getElementById('search').value"), 'heavy');
    await until(`Number(frame.contentWindow.location.search.slice(1)) > ${first} && / in 1 function/.test(page.getElementById('found').textContent)`);
    await shoot('serve');
    // Zoomed in by the address, as by a click: functions have other numbers in the next page, where there are others.
    await inPage("(() => { const it = frame.contentWindow; const graph = page.getElementById('graph'); const key = (k) => graph.dispatchEvent(new it.KeyboardEvent('keydown', { key: k, bubbles: true })); for (const k of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter']) key(k); })()");
    const zoomed = await inPage("page.getElementById('path').lastElementChild?.textContent ?? ''");
    if (zoomed === '' || zoomed === 'all') wrong('nothing is zoomed to');
    const before = await version();
    if (!(await inPage('decodeURIComponent(frame.contentWindow.location.hash)')).includes(zoomed)) wrong(`the address does not have ${zoomed}`);
    await until(`Number(frame.contentWindow.location.search.slice(1)) > ${before} + 1`);
    same('the zoomed frame after two updates', await inPage("page.getElementById('path').lastElementChild?.textContent"), zoomed);
    const status = await evaluate("document.getElementById('status').textContent");
    if (!/^[\d,]+ samples of the last 30 s · perfdata takes [\d.]+ % of a CPU$/.test(status)) wrong(`the status is ${status}`);
    same('what is saved', await evaluate("document.getElementById('save').getAttribute('href').startsWith('flamegraph?')"), true);
    await evaluate("document.getElementById('pause').click()");
    const paused = await version();
    await new Promise((resolve) => setTimeout(resolve, 2500));
    same('the update that is seen while it is paused', await version(), paused);
    await evaluate("document.getElementById('pause').click()");
    await until(`Number(frame.contentWindow.location.search.slice(1)) > ${paused}`);
    await close();
}

await end(check());
