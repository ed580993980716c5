// Opens a page of perfdata flamegraph in a headless Chromium, and does what a person does.
//
//     node flamegraph.mjs CHROMIUM PAGE [--screenshots DIR] [--hostile] [--big]
//
// Checks that the page loads nothing and violates no policy, that its totals are those of its data, that search, zoom,
// merging, groups and the selection of a span work (of a comparison: the widths), that text has the contrast of WCAG AA, and that
// names stay text. Prints how long drawing takes. Exits with 1 if something is wrong or takes a minute. --hostile: the capture has
// names that look like HTML. --big: only the totals, the search, the zoom, the table, and what is slow of very many stacks.

import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { contrastsOfElements, contrastsOfFrames } from './contrast.mjs';
import { startPages } from './pages.mjs';

const [chromium, file, ...options] = process.argv.slice(2);
if (!file) {
    console.error('usage: node flamegraph.mjs CHROMIUM PAGE [--screenshots DIR] [--hostile] [--big]');
    process.exit(2);
}
const has = (name) => options.includes(name);
const screenshots = has('--screenshots') ? options[options.indexOf('--screenshots') + 1] : null;

const url = pathToFileURL(resolve(file)).href;
const { wrong, same, openPage, end } = startPages(chromium, file, (asked) => asked.startsWith(url), screenshots);

// The same data, read without the page's script.
function readData() {
    const text = readFileSync(file, 'utf8');
    const part = (id) => text.split(`id="data-${id}">`)[1].split('</script>')[0];
    return { meta: JSON.parse(part('meta')), samples: Buffer.from(part('samples'), 'base64') };
}

// Of each event, the samples and their periods as sums of the rows.
function sums({ meta, samples }) {
    let at = 0;
    const next = () => {
        let [number, shift] = [0n, 0n];
        for (;;) {
            const byte = samples[at++];
            number |= BigInt(byte & 127) << shift;
            if (byte < 128) return number;
            shift += 7n;
        }
    };
    const all = meta.events.map(({ rows, period }) => {
        let [count, sum] = [0n, 0n];
        for (let row = 0; row < rows; row++) {
            next(), next(), next();
            const number = next();
            count += number;
            sum += period === null ? next() : number * BigInt(period);
        }
        return { samples: count, period: BigInt.asUintN(64, sum) };
    });
    same('bytes after the rows', samples.length - at, 0);
    return all;
}

async function check() {
    const { evaluate, text, box, choose, drawn, key, mouse, click, size, theme, shoot, close } = await openPage(url);
    const first = await evaluate("performance.getEntriesByName('drawn')[0]?.startTime");
    if (!(first > 0)) throw new Error('nothing was drawn');
    await drawn();

    const data = readData();
    const { meta } = data;
    const found = sums(data);
    meta.events.forEach(({ name, total }, i) => {
        same(`samples of ${name}`, String(found[i].samples), String(total.samples));
        same(`periods of ${name}`, String(found[i].period), total.period);
    });
    const number = (value) => value.toLocaleString('en-US');
    const event = meta.events[meta.event];
    const isEmpty = meta.events.length === 0 || event.total.samples === 0;
    const isCompared = meta.compare !== null;
    const shownTotal = async () => {
        const counts = (await text('totals')).match(isCompared ? /^([\d,]+) samples before · ([\d,]+) after$/ : /^([\d,]+) samples/) ?? [];
        return number(counts.slice(1).reduce((sum, count) => sum + Number(count.replaceAll(',', '')), 0));
    };
    if (meta.events.length > 0) same('the shown total', await shownTotal(), number(event.total.samples));
    await shoot('light');
    // The root of a tree has all samples, unless all periods are 0.
    const everything = isEmpty ? '' : ` ${number(event.total.samples)} sample`;
    const isWhole = (details) => isCompared
        ? details === 'allbefore 100.00 % · after 100.00 % · +0.00 %'
        : details.startsWith('all100.0 % of all') && details.includes(everything);
    // What takes long is measured in the page: until it is drawn.
    const took = async (id, event, value) => evaluate(`{
        const it = document.getElementById('${id}');
        const start = performance.now();
        it.value = ${JSON.stringify(value)};
        it.dispatchEvent(new Event('${event}'));
        new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start))));
    }`);

    if (!isEmpty) {
        // The root has everything.
        const whole = await text('details');
        if (!isWhole(whole)) wrong(`the root is ${whole}`);
        // A search that finds everything, one that finds nothing, one that is wrong, and all that differ from nothing.
        await choose('search', '.');
        const all = await text('found');
        same('functions that a search for all finds', all.split(' in ')[1]?.split(' ')[0], number(meta.functions));
        await choose('search', '^no such name$');
        same('a search for nothing', await text('found'), '0.00 % in 0 functions');
        await choose('search', '(');
        same('a wrong search', await text('found'), 'not a regular expression');
        await choose('search', '');
        // Zoom: by keys to the widest frame below the root, and back.
        await evaluate("document.getElementById('graph').focus()");
        await key('ArrowDown');
        const chosen = await text('details');
        await key('Enter');
        if (meta.nodes > 1) {
            same('the zoomed frame', (await text('details')).split('·')[0].slice(0, 20), chosen.split('·')[0].slice(0, 20));
            same('the button that resets the zoom is hidden', await evaluate("document.getElementById('reset').hidden"), false);
        }
        await key('Escape');
        same('the button that resets the zoom is hidden', await evaluate("document.getElementById('reset').hidden"), true);
        // By the mouse, into the first frame of the second row.
        const graph = await box('graph');
        await mouse('mouseMoved', graph.x + 20, graph.y + 30);
        await drawn();
        if (await evaluate("document.getElementById('tip').hidden")) wrong('no text at the pointer');
        await click(graph.x + 20, graph.y + 30);
        if (!(await evaluate("document.getElementById('path').textContent")).startsWith('all')) wrong('a click does not zoom');
        await key('Escape');
    }

    if (!isEmpty && !has('--big')) {
        for (const group of await evaluate("[...document.getElementById('group').options].map(({ value }) => value)")) {
            await choose('group', group);
            for (const direction of ['root', 'leaf']) {
                await evaluate(`document.getElementById('${direction}').click()`);
                await drawn();
                const details = await text('details');
                if (!isWhole(details)) wrong(`by ${group}, from ${direction}: ${details}`);
            }
            await shoot(`leaf-${group}`);
            await evaluate("document.getElementById('root').click()");
        }
        await evaluate("document.getElementById('flame').click()");
        await shoot('flame');
        await evaluate("document.getElementById('icicle').click()");
        await evaluate("document.getElementById('table').open = true");
        await drawn();
        await drawn();
        if (await evaluate("document.querySelectorAll('#visible .row').length") === 0 && meta.functions > 0) wrong('the table is empty');
        await shoot('table');
        await evaluate("document.getElementById('table').open = false");
        await drawn();
    }

    if (isCompared) {
        same('the timeline is hidden', await evaluate("document.getElementById('times').hidden"), true);
        for (const width of ['before', 'both', 'after']) {
            await choose('width', width);
            const details = await text('details');
            if (!isWhole(details)) wrong(`as wide as ${width}: ${details}`);
            await shoot(`width-${width}`);
        }
        // Without the function of the widest stack, the totals say how many samples are left of each side.
        await evaluate("document.getElementById('graph').focus()");
        for (let i = 0; i < 3; i++) await key('ArrowDown');
        await key('h');
        const left = (await text('totals')).match(/^(?:([\d,]+) of )?([\d,]+) samples before · (?:([\d,]+) of )?([\d,]+) after$/);
        if (!left || !left[1] && !left[3]) wrong(`totals after a function is hidden: ${await text('totals')}`);
        await evaluate("document.querySelector('#chips button').click()");
    } else same('the choice of widths is hidden', await evaluate("document.getElementById('width').parentElement.hidden"), true);

    if (!isEmpty && meta.duration && !isCompared) {
        const times = await box('timeline');
        const y = times.y + 10;
        const drag = async (from, to) => {
            await mouse('mousePressed', times.x + times.width * from, y, 1);
            await mouse('mouseMoved', times.x + times.width * (from + to) / 2, y, 1);
            await mouse('mouseMoved', times.x + times.width * to, y, 1);
            await mouse('mouseReleased', times.x + times.width * to, y);
            await drawn();
            return Number((await text('totals')).split(' ')[0].replaceAll(',', ''));
        };
        // The parts add up to the whole.
        const parts = [await drag(0.0001, 0.4999), await drag(0.5001, 0.9999)];
        await shoot('span');
        const total = event.total.samples;
        const timed = total - untimed(data);
        // Both ends are in the bucket at the middle, if the pixels are coarse.
        if (Math.abs(parts[0] + parts[1] - timed) > 0.05 * timed + 2 || parts.some((part) => part > timed)) wrong(`samples of both halves: ${parts}, of all: ${timed}`);
        await click(times.x + 10, y);
        same('the total after a click on the timeline', (await text('totals')).split(' samples')[0], number(total));
    }

    if (has('--big')) {
        // All functions are in the table, and only the visible ones are elements.
        await evaluate("document.getElementById('table').open = true");
        await drawn();
        await drawn();
        const [rows, elements] = await evaluate("[Number(document.getElementById('grid').ariaRowCount), document.querySelectorAll('#visible .row').length]");
        if (rows < 5000 || elements > 60 || elements < 5) wrong(`the table has ${rows} rows, of which ${elements} are elements`);
        await evaluate("document.getElementById('body').scrollTop = 1e9");
        await drawn();
        await drawn();
        same('the last row', await evaluate("document.querySelector('#visible .row:last-child').ariaRowIndex"), String(rows));
        await evaluate("document.getElementById('table').open = false");
    }

    if (has('--hostile')) {
        same('elements that names made', await evaluate("document.querySelectorAll('img, [onerror], svg').length"), 0);
        await evaluate("document.getElementById('table').open = true");
        await drawn();
        await drawn();
        same('elements that names made in the table', await evaluate("document.querySelectorAll('img, [onerror], svg').length"), 0);
        // Whole names, from the first one on.
        await evaluate("document.getElementById('short').click()");
        await evaluate("[...document.querySelectorAll('#heads button')].find((it) => it.textContent === 'Function').click()");
        if (!(await text('visible')).includes('</script><img src=x onerror=alert(')) wrong('the name is not in the table');
        await evaluate("document.getElementById('table').open = false");
    }

    // Text in both modes, in all parts of the page.
    const frames = contrastsOfFrames(new URL('../../perf-export/src/', import.meta.url));
    if (frames.low.length > 0 || frames.count < 500) wrong(`low contrasts of ${frames.count}: ${frames.low.join('; ')}`);
    for (const mode of ['light', 'dark']) {
        await theme(mode);
        await choose('search', '(');
        await evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true; })");
        await drawn();
        const elements = await contrastsOfElements(evaluate);
        if (elements.low.length > 0 || elements.count < 10) wrong(`low contrasts of ${elements.count} texts, ${mode}: ${elements.low.join('; ')}`);
        await evaluate("document.querySelectorAll('details').forEach((it) => { it.open = false; })");
    }
    await choose('search', '');
    await theme('light');

    if (screenshots) {
        await theme('dark');
        await shoot('dark');
        await choose('search', 'alloc|sort|read');
        await shoot('search');
        await choose('search', '');
        await theme('light');
        await size(390, 844, true);
        await drawn();
        await shoot('phone');
    }
    const times = [['search', await took('search', 'input', 'a|e|1')]];
    await took('search', 'input', '');
    times.push(['by group', await took('group', 'change', isCompared ? 'comm' : 'thread')]);
    if (has('--big')) times.push(...await tookBig({ evaluate, key, text, took, wrong, event }));
    times.push(['from leaf', await took('leaf', 'click')]);
    await close();
    const bytes = statSync(file).size;
    console.log(`${file}: ${bytes} bytes, ${meta.nodes} nodes, drawn after ${first.toFixed(0)} ms; ${times.map(([what, ms]) => `${what} ${ms.toFixed(0)} ms`).join(', ')}`);
}

// What is slow of very many stacks: a million of them have to be drawn after each.
async function tookBig({ evaluate, key, text, took, wrong, event }) {
    const shown = async () => Number((await text('totals')).split(' ')[0].replaceAll(',', ''));
    const times = [['recursion', await took('collapsed', 'click')]];
    if (await shown() !== event.total.samples) wrong('samples are missing after recursion is collapsed');
    await took('collapsed', 'click');
    times.push(['time order', await took('lanes', 'click')]);
    await took('lanes', 'click');
    await evaluate("document.getElementById('graph').focus()");
    // Below the root, the group and three functions that all stacks have: one that a part has.
    for (let i = 0; i < 6; i++) await key('ArrowDown');
    const part = await evaluate("document.querySelector('#details b').textContent");
    const press = (name) => evaluate(`{
        const button = [...document.querySelectorAll('#actions button')].find((it) => it.textContent === '${name}');
        const start = performance.now();
        button.click();
        new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start))));
    }`);
    times.push(['sandwich', await press('Sandwich')]);
    const inIt = await shown();
    await evaluate("document.querySelector('#chips button').click()");
    await evaluate("document.getElementById('graph').focus()");
    for (let i = 0; i < 6; i++) await key('ArrowDown');
    times.push(['hide', await press('Hide')]);
    const without = await shown();
    if (inIt <= 0 || inIt + without !== event.total.samples) wrong(`${part}: ${inIt} samples with it, ${without} without it, of ${event.total.samples}`);
    await evaluate("document.querySelector('#chips button').click()");
    return times;
}

// The number of samples of the shown event without a time.
function untimed({ meta, samples }) {
    let at = 0;
    const next = () => {
        let [number, scale] = [0, 1];
        for (;;) {
            const byte = samples[at++];
            number += (byte & 127) * scale;
            if (byte < 128) return number;
            scale *= 128;
        }
    };
    let none = 0;
    meta.events.forEach(({ rows, period }, event) => {
        let [thread, bucket] = [0, 0];
        for (let row = 0; row < rows; row++) {
            if (next() > 0) [thread, bucket] = [0, 0];
            const threads = next();
            if (threads > 0) bucket = 0;
            thread += threads;
            bucket += next();
            const count = next();
            if (period === null) next();
            if (bucket === 0 && event === meta.event) none += count;
        }
    });
    return none;
}

await end(check());
