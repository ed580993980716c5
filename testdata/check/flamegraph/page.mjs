// The table, the contrast of texts, the saved picture, and the address.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { act, chips, find, shownSamples, undo } from './actions.mjs';
import { contrastsOfElements } from '../contrast.mjs';

export async function functionTable(open, { wrong, same }) {
    const { key, evaluate, text, drawn } = open;
    await evaluate("document.getElementById('table').open = true");
    await drawn();
    await drawn();
    const cells = () => evaluate("[...document.querySelectorAll('#visible .row')].map((row) => [...row.children].map((it) => it.textContent).join('|'))");
    const sorting = () => evaluate("[...document.querySelectorAll('#heads [role=columnheader]')].map((it) => it.ariaSort)");
    const sort = async (head) => {
        await evaluate(`[...document.querySelectorAll('#heads button')].find((it) => it.textContent.startsWith('${head}')).click()`);
        await drawn();
    };
    const first = await cells();
    same('the table', first.slice(0, 3).map((row) => row.split('|').slice(0, 3)), [['52.9 %', '52.9 %', 'free'], ['20.6 %', '20.6 %', 'fib'], ['20.6 %', '20.6 %', 'memcpy']]);
    if (!first.some((row) => row.endsWith('|inner|lines.c:6|lines|inlined'))) wrong(`no line in the table: ${first}`);
    same('rows of the table', await evaluate("document.getElementById('grid').ariaRowCount"), String(first.length + 1));
    same('sorted', (await sorting()).slice(0, 3), ['descending', 'none', 'none']);
    await sort('Function');
    const names = (await cells()).map((row) => row.split('|')[2]);
    same('sorted by name', names[1], 'fib');
    same('sorted by name', (await sorting())[2], 'ascending');
    await sort('Function');
    same('the other way', (await cells()).map((row) => row.split('|')[2]), [...names].reverse());
    await sort('Total');
    same('the largest total', (await cells())[0].split('|').slice(1, 3), ['100.0 %', 'main']);
    // Keys: the second row, a search for it, and an action on it.
    await evaluate("document.getElementById('grid').focus()");
    await key('ArrowDown');
    await key('ArrowDown');
    same('the active row', await evaluate("document.getElementById(document.getElementById('grid').getAttribute('aria-activedescendant')).ariaRowIndex"), '3');
    await key('Enter');
    const wanted = (await cells())[1].split('|')[1];
    if (!(await text('found')).startsWith(wanted)) wrong(`the search from the table: ${await text('found')}`);
    await open.shoot('table');
    await key('h');
    if ((await chips(open)).length !== 1) wrong('an action from the table');
    await undo(open);
}

// Text of chips, buttons and the menu, in both modes; and each button has a name for a screen reader.
export async function readable(open, { wrong, same }) {
    await find(open, '^fib$');
    await act(open, 'Focus');
    await open.key('t');
    await open.press('heat');
    await open.evaluate("document.getElementById('table').open = true");
    await open.evaluate("document.getElementById('graph').focus()");
    await open.key('ArrowDown');
    await open.evaluate("document.getElementById('graph').dispatchEvent(new PointerEvent('contextmenu', { pointerId: -1, cancelable: true }))");
    for (const mode of ['light', 'dark']) {
        await open.theme(mode);
        await open.drawn();
        const { low, count } = await contrastsOfElements(open.evaluate);
        if (low.length > 0 || count < 40) wrong(`low contrasts of ${count} texts, ${mode}: ${low.join('; ')}`);
        await open.shoot(`readable-${mode}`);
    }
    same('the menu is open', await open.evaluate("document.activeElement.getAttribute('role')"), 'menuitem');
    const nameless = await open.evaluate("[...document.querySelectorAll('button, input, select, canvas')].filter((it) => !it.textContent.trim() && !it.ariaLabel && !it.labels?.length).map((it) => it.id)");
    same('controls without a name', nameless, []);
    // All keys are in the list of keys.
    const keys = await open.evaluate("[...document.querySelectorAll('#keys dt')].map((it) => it.textContent).join(', ')");
    for (const it of 'wfhxcrstevpomin/N?') {
        if (!keys.split(', ').includes(it)) wrong(`the key ${it} is not in the list of keys`);
    }
}

// The saved picture is XML, and has what is shown.
export async function picture(open, { wrong, same }) {
    const folder = mkdtempSync(join(tmpdir(), 'picture-'));
    const saved = async (press) => {
        await open.page('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder });
        await press();
        const path = join(folder, 'known.data.svg');
        for (let tries = 0; tries < 300 && !existsSync(path); tries++) await open.drawn();
        const text = readFileSync(path, 'utf8');
        rmSync(path);
        return open.evaluate(`(() => {
            const root = new DOMParser().parseFromString(${JSON.stringify(text)}, 'image/svg+xml').documentElement;
            return { root: root.localName, scripts: root.querySelectorAll('script').length, texts: [...root.querySelectorAll('text')].map((it) => it.textContent), titles: [...root.querySelectorAll('title')].map((it) => it.textContent) };
        })()`);
    };
    const whole = await saved(() => open.press('save'));
    same('the saved picture', [whole.root, whole.scripts], ['svg', 0]);
    same('its frames', whole.titles.length, 16);
    if (!whole.titles.some((it) => it.startsWith('<alloc::vec::Vec<T,A> as')) || !whole.texts.includes('alloc::vec::Vec<…>::drop')) wrong(`names of the picture: ${whole.texts}`);
    await find(open, '^fib$');
    await act(open, 'Hide');
    await open.key('t');
    const lanes = await saved(() => open.key('p'));
    if (!lanes.texts.includes('▾ worker (4194002/4194003)') || lanes.titles.includes('fib') || !lanes.titles.includes('[blocked]')) wrong(`lanes of the picture: ${lanes.texts}`);
    if (!lanes.texts[1].endsWith('without fib')) wrong(`the head of the picture: ${lanes.texts[1]}`);
    rmSync(folder, { recursive: true, force: true });
}

// The address has what is shown: on load, after going back, and when it is edited. What is wrong in it is ignored.
export async function address(open, { same, openPage, url }) {
    const { text, evaluate, drawn, box } = open;
    const hash = () => evaluate('location.hash');
    await find(open, '^memcpy$');
    await act(open, 'Focus');
    await open.choose('search', 'fin');
    await open.choose('group', 'none');
    await evaluate("document.getElementById('leaf').click()");
    await open.key('s');
    await open.click((await box('graph')).x + 20, (await box('graph')).y + 30);
    const kept = await hash();
    const seen = async (of) => [await of.text('totals'), await of.text('found'), await of.text('path'), await of.text('details'), await chips(of)];
    const before = await seen(open);
    same('the path', before[2], 'allmemcpy');
    const again = await openPage(url + kept);
    same('the page of the same address', await seen(again), before);
    await again.shoot('address');
    await again.close();
    // Back through the zoom, the names and the direction.
    for (const step of ['all', 'names', 'fromLeaf']) {
        const was = await hash();
        await evaluate('history.back()');
        for (let tries = 0; tries < 100 && await hash() === was; tries++) await drawn();
        await drawn();
        if (step === 'all') same('the path after going back', await text('path'), 'all');
        if (step === 'names') same('short names', await evaluate("document.getElementById('short').ariaPressed"), 'true');
        if (step === 'fromLeaf') same('from the root', await evaluate("document.getElementById('root').ariaPressed"), 'true');
    }
    await evaluate("location.hash = '#event=cpu-clock:HG&hide=fib'");
    for (let tries = 0; tries < 100 && (await chips(open)).length === 0; tries++) await drawn();
    same('an edited address', [await shownSamples(open), await chips(open)], [150, ['without fib ✕']]);
    for (const wrongHash of ['#event=none&size=1&group=x&span=9-3&zoom=[[', '#zoom={}&hide=nobody&of=nobody&span=0-99999', '#%ff%', '#zoom=[true,99999999,null]&__proto__=1']) {
        const page = await openPage(url + wrongHash);
        same(`the totals at ${wrongHash}`, (await page.text('totals')).split(' · ')[0], '1 samples');
        await page.close();
    }
}
