// Opens the pages of the example annotated_pages in a headless Chromium, and does what a person does.
//
//     node annotation.mjs CHROMIUM FOLDER [--screenshots DIR]
//
// Checks that the pages load nothing and violate no policy, that the row with most samples is shown first, that arrows, calls,
// source lines and the search work, that hostile texts stay text, and that a long function has few rows in the page. Exits with
// 1 if something is wrong or takes a minute.

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { startPages } from './pages.mjs';

// The rows of a page that is 800 pixels high, and those above and below.
const MOST_ROWS = 120;

const [chromium, folder, ...options] = process.argv.slice(2);
if (!folder) {
    console.error('usage: node annotation.mjs CHROMIUM FOLDER [--screenshots DIR]');
    process.exit(2);
}
const screenshots = options[0] === '--screenshots' ? options[1] : null;
const isOwn = (url) => /(functions|flames|none)\.html(#.*)?$/.test(url);
const { wrong, same, openPage, end } = startPages(chromium, 'annotated functions', isOwn, screenshots);

// Opens a page of the folder.
async function open(name) {
    const page = await openPage(pathToFileURL(resolve(folder, name)).href);
    const { evaluate } = page;
    if (await evaluate("performance.getEntriesByName('drawn').length") !== 1) throw new Error(`${name} was not drawn`);
    await page.drawn();
    return {
        ...page,
        clickAt: page.click,
        text: (selector) => evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? null`),
        count: (selector) => evaluate(`document.querySelectorAll(${JSON.stringify(selector)}).length`),
        async click(selector) {
            const { x, y } = await evaluate(`(({ x, y, width, height }) => ({ x: x + Math.min(width / 2, 20), y: y + height / 2 }))(document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect())`);
            await page.click(x, y);
        },
        async type(text) {
            for (const key of text) await page.key(key);
        },
    };
}

const NAME = '#annotation-name';
const CURRENT = '.annotation-row.current';
const OF_LOOP = 'sum_of_squares(std::span<const double>)';

// Texts whose contrast with the ground is less than 4.5, which WCAG's AA asks for.
const FAINT = `{
    const parts = (color) => color.match(/[\\d.]+/g).map(Number);
    const light = (color) => parts(color).slice(0, 3).map((it) => it / 255).map((it) => it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4).reduce((sum, it, i) => sum + it * [0.2126, 0.7152, 0.0722][i], 0);
    const ground = (element) => {
        const color = getComputedStyle(element).backgroundColor;
        return parts(color)[3] === 0 ? ground(element.parentElement) : color;
    };
    const faint = [];
    for (const element of document.querySelectorAll('body *')) {
        if (![...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '') || !element.checkVisibility()) continue;
        const [one, other] = [getComputedStyle(element).color, ground(element)].map(light);
        const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        if (contrast < 4.5) faint.push([element.className || element.tagName, element.textContent.slice(0, 20), contrast.toFixed(2)].join(' '));
    }
    [...new Set(faint)];
}`;

async function checkFunctions() {
    const page = await open('functions.html');
    const { text, count, key, click } = page;
    same('the heading', await text('h1'), 'made-up <functions>');
    same('the functions', await count('#list li'), 5);
    same('the first function', await text(NAME), OF_LOOP);
    const hot = await text(CURRENT);
    if (!hot.includes('addsd') || !hot.startsWith('52.8')) wrong(`the first row is ${hot}`);
    same('the heat of the row with most samples', await count(`${CURRENT} .heat-8`), 2);
    same('the arrows', await count('#annotation-arrows .arrow'), 3);
    const notes = await text('#annotation-notes');
    for (const part of ['cycles: 1,240 samples, 51.7 % of the capture', 'samples may be at an instruction after', 'source not found: /opt/include/limits/large.h']) {
        if (!notes.includes(part)) wrong(`the notes lack ${part}: ${notes}`);
    }
    same('inlined functions', await page.evaluate("[...document.querySelectorAll('.annotation-row.inlined b')].map((it) => it.textContent)"), [
        'square(double)', OF_LOOP, 'is_large(double)', OF_LOOP,
    ]);
    same('texts without contrast in light mode', await page.evaluate(FAINT), []);
    await page.shoot('functions-light');
    await page.theme('dark');
    await page.drawn();
    same('texts without contrast in dark mode', await page.evaluate(FAINT), []);
    await page.shoot('functions-dark');
    await page.theme('light');

    // Hot rows, by keys.
    await key('n');
    if (!(await text(CURRENT)).includes('mulsd')) wrong(`after n: ${await text(CURRENT)}`);
    await key('p');
    if (!(await text(CURRENT)).includes('addsd')) wrong(`after p: ${await text(CURRENT)}`);
    // Percent of the capture, of samples, and of the other event.
    await key('g');
    if (!(await text(CURRENT)).startsWith('27.29')) wrong(`of the capture: ${await text(CURRENT)}`);
    await key('g');
    await key('t');
    same('by samples', await page.evaluate("document.getElementById('annotation-samples').getAttribute('aria-pressed')"), 'true');
    await key('t');
    await key('e');
    same('the event', await text('#annotation-heads [aria-pressed=true]'), '% cache-misses');
    await key('e');
    // Source lines.
    const withSource = await count('.annotation-row.source');
    if (withSource < 8) wrong(`${withSource} source lines`);
    if (!(await text('#annotation-rows')).includes('        for (const double& value : values) {')) wrong('a source line is missing');
    await key('s');
    same('source lines after s', await count('.annotation-row.source'), 0);
    if (!(await text(CURRENT)).includes('addsd')) wrong(`the current row after s: ${await text(CURRENT)}`);
    await key('s');
    same('source lines after s again', await count('.annotation-row.source'), withSource);
    // A jump: its arrow is marked, and Enter follows it.
    await click('.annotation-follow[aria-label^="Jumps up"]');
    if (!(await text(CURRENT)).includes('401014')) wrong(`the target of the jump: ${await text(CURRENT)}`);
    same('the arrow to the target', await count('.arrow.from, .arrow.to'), 1);
    await key('Backspace');
    if (!(await text(CURRENT)).includes('jne')) wrong(`back at the jump: ${await text(CURRENT)}`);
    same('the marked arrow', await count('.arrow.from'), 1);
    if (!(await text(CURRENT)).includes('taken 5,120 times, 0.61 % mispredicted, 12.0 cycles each')) wrong(`branches: ${await text(CURRENT)}`);
    // A call.
    await click('.annotation-follow[title^="Calls rescale"]');
    same('the called function', await text(NAME), 'rescale(double*, unsigned long) [guessed]');
    same('the function in the list', await text('#list [aria-current=true] .name'), 'rescale(double*, unsigned long) [guessed]');
    await key('Backspace');
    same('back in the caller', await text(NAME), OF_LOOP);
    // Search.
    await key('/');
    await page.type('addsd|MULSD');
    same('a search with capitals', await text('#annotation-found'), '1 line');
    await page.evaluate("document.getElementById('annotation-search').value = ''");
    await page.type('addsd|mulsd|memcpy|double sum =');
    same('instructions, names and source lines that were found', await text('#annotation-found'), '4 lines');
    await key('Enter');
    same('the row that was found is current', await count(`${CURRENT}.found`), 1);
    same('texts without contrast in lines that were found', await page.evaluate(FAINT), []);
    await page.shoot('search');
    await page.theme('dark');
    await page.drawn();
    same('texts without contrast in lines that were found, in dark mode', await page.evaluate(FAINT), []);
    await page.theme('light');
    await key('Escape');
    same('the search after Escape', await page.evaluate("document.getElementById('annotation-search').value"), '');
    // All cells are in rows, and these are those that assistive programs count.
    same('rows of the table', await page.evaluate("Number(document.getElementById('annotation-grid').getAttribute('aria-rowcount'))"), await count('[role=row]'));
    same('cells out of rows', await count('[role=gridcell]:not([role=row] > *), [role=columnheader]:not([role=row] > *)'), 0);
    const active = await page.evaluate("document.getElementById(document.getElementById('annotation-grid').getAttribute('aria-activedescendant'))?.className");
    if (!active?.includes('current')) wrong(`the active row is ${active}`);

    await checkHostile(page);
    await checkLong(page);

    await click('#list li:nth-child(5) button');
    if (!(await text('#annotation-rows')).includes('ffffffff81200004')) wrong('the address in the kernel');
    if (!(await text('#annotation-about')).includes('code of kcore')) wrong('the origin of the code');
    await page.shoot('kernel');
    await click('#list li:nth-child(2) button');
    await page.shoot('helper');
    await page.size(390, 844, true);
    await click('#list li:nth-child(1) button');
    await page.shoot('phone');
    await page.close();
}

async function checkHostile(page) {
    const { text, count, click } = page;
    await click('#list li:nth-child(3) button');
    const made = 'img, [onerror], [onload], [onclick], svg:not(#annotation-arrows), #annotation-rows script';
    same('elements that texts made', await count(made), 0);
    same('the hostile name', await text(NAME), '<b onclick=alert(4)>evil</b>');
    const rows = await text('#annotation-rows');
    for (const part of ['<img src=x onerror=alert(1)>', '→ </script><img src=x onerror=alert(3)>', '</script><img src=x onerror=alert(6)><!--\\u{2028}\\u{202e}']) {
        if (!rows.includes(part)) wrong(`the rows lack ${part}: ${rows}`);
    }
    await page.shoot('hostile');
}

async function checkLong(page) {
    const { text, count, click, key } = page;
    await click('#list li:nth-child(4) button');
    same('the long function', await text(NAME), 'generated_parser');
    same('its rows', await page.evaluate("document.getElementById('annotation-grid').getAttribute('aria-rowcount')"), '20001');
    const few = async (when) => {
        const rows = await count('.annotation-row');
        if (rows < 20 || rows > MOST_ROWS) wrong(`${rows} rows in the page ${when}`);
    };
    await few('at first');
    await page.shoot('long-light');
    await page.theme('dark');
    await page.shoot('long-dark');
    await page.theme('light');
    await page.evaluate("document.getElementById('annotation-grid').focus()");
    await key('End');
    if (!(await text(CURRENT)).includes('11387c')) wrong(`the last row: ${await text(CURRENT)}`);
    await few('at the end');
    await page.evaluate("document.getElementById('annotation-grid').scrollTop = 200000");
    await page.drawn();
    await few('in the middle');
    if (!(await text('#annotation-rows')).includes('109c40')) wrong('the rows in the middle are missing');
    // Far jumps are drawn when they are pointed at.
    await key('Home');
    same('the far arrow of the first row', await count('.arrow.from'), 1);
}

async function checkFlames() {
    const page = await open('flames.html');
    const { evaluate, text, key, click, count } = page;
    same('the panel at first', await evaluate("document.getElementById('annotation').hidden"), true);
    await evaluate("document.getElementById('graph').focus()");
    // The widest frames that are called, until one has its instructions.
    for (let depth = 0; depth < 12 && await count('.annotation-link') === 0; depth++) await key('ArrowDown');
    same('the link', await text('.annotation-link'), 'Source and instructions (a)');
    const frame = await text('#details b');
    await key('Enter');
    same('the panel after Enter', await evaluate("document.getElementById('annotation').hidden"), false);
    same('the function of the frame', await text(NAME), frame);
    if (!(await text(CURRENT)).includes('addsd')) wrong(`the first row is ${await text(CURRENT)}`);
    for (const id of ['annotation-grid', 'details', 'scroll']) {
        const { top, bottom, height } = await evaluate(`(({ top, bottom, height }) => ({ top, bottom, height }))(document.getElementById('${id}').getBoundingClientRect())`);
        if (top < 0 || bottom > 800 || height < 50) wrong(`${id} is from ${top} to ${bottom}`);
    }
    await page.shoot('flames-light');
    await page.theme('dark');
    await page.shoot('flames-dark');
    await page.theme('light');
    // Closed, it stays so until it is asked for.
    await click('#annotation-close');
    await key('Enter');
    same('the panel that was closed', await evaluate("document.getElementById('annotation').hidden"), true);
    await key('a');
    same('the panel after a', await evaluate("document.getElementById('annotation').hidden"), false);
    same('the focus', await evaluate('document.activeElement.id'), 'annotation-grid');
    await key('Escape');
    same('the panel after Escape', await evaluate("document.getElementById('annotation').hidden"), true);
    await page.close();
}

// A click on a frame of the flame graph shows its instructions.
async function checkClick() {
    const page = await open('flames.html');
    const { evaluate, text } = page;
    const { x, y } = await evaluate("(({ x, y }) => ({ x, y }))(document.getElementById('graph').getBoundingClientRect())");
    for (let row = 1; row < 8 && await evaluate("document.getElementById('annotation').hidden"); row++) await page.clickAt(x + 200, y + 20 * row + 10);
    same('the function of the frame that was clicked', await text(NAME), await text('#details b'));
    if (!(await text('#annotation-rows')).includes('addsd')) wrong('the frame that was clicked has no instructions');
    await page.close();
}

async function checkEmpty() {
    const page = await open('none.html');
    same('a page without functions', await page.text('#none'), 'No function has samples and instructions.');
    same('its panel is hidden', await page.evaluate("document.getElementById('annotation').hidden"), true);
    await page.close();
}

async function check() {
    await checkFunctions();
    await checkFlames();
    await checkClick();
    await checkEmpty();
    console.log('annotated functions: pages opened');
}

await end(check());
