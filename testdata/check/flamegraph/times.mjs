// Times: lanes, the heat map and comparisons.

import { act, chips, drag, find, shownSamples, undo } from './actions.mjs';

// Of the chosen frame in a lane: its name, and when it was, in milliseconds.
async function laneFrame(open) {
    const [name, , when] = await open.evaluate("[...document.getElementById('details').children].map((it) => it.textContent)");
    const [from, to] = (when ?? '').match(/[\d.]+(?= ms| µs| s| ns)/g)?.map(Number) ?? [];
    return [name, Math.round(from), Math.round(to)];
}

// Threads in time order, with the gap off the CPU.
export async function lanes(open, { wrong, same }) {
    const { key, evaluate, text } = open;
    await evaluate("document.getElementById('graph').focus()");
    await key('t');
    if (!(await text('details')).includes('Samples are placed to 77.1 µs')) wrong(`lanes: ${await text('details')}`);
    await key('ArrowDown');
    const seen = [await laneFrame(open)];
    await key('ArrowDown');
    for (let i = 0; i < 4; i++) {
        seen.push(await laneFrame(open));
        await key('ArrowRight');
    }
    const functions = seen.map(([name]) => name.split('<')[0]);
    same('the frames of main', functions, ['main', 'fib', 'std::map', 'memcpy', 'memcpy']);
    // What ran: 0 to 39 ms, 39 to 79 with the wait, and 79 to 98 ms after the first sample; to the width of a part.
    const near = (found, expected, what) => Math.abs(found - expected) <= 1 || wrong(`${what} at ${found} ms, not ${expected}`);
    near(seen[1][2], 39, 'the end of fib');
    near(seen[2][1], 39, 'the start of find');
    near(seen[2][2], 79, 'the end of find');
    near(seen[3][2], 98, 'the end of memcpy');
    await open.shoot('lanes');
    // The head of the first lane folds it: the second one is then where the first frame was.
    const { x, y } = await open.box('graph');
    await open.click(x + 60, y + 10);
    await open.click(x + 1000, y + 65);
    if ((await laneFrame(open))[0] !== 'main' || !(await text('details')).includes('worker (')) wrong(`below a folded lane: ${await text('details')}`);
    await open.shoot('lanes-folded');
    await open.click(x + 60, y + 10);
    await open.choose('search', 'memcpy');
    await open.press('next');
    same('matches in lanes', (await text('found')).split(' · ')[1], '1 of 2');
    await open.choose('search', '');
    await open.press('lanes');
    await open.key('t');
    await open.choose('search', 'fib');
    await open.press('next');
    await evaluate("document.getElementById('graph').focus()");
    await key('Enter');
    if (!/^Selected: 0 ns to 3[89]/.test(await text('span'))) wrong(`the time of fib: ${await text('span')}`);
    await open.shoot('lanes-zoomed');
    same('samples of fib', await shownSamples(open), 39);
}

// 2048 parts of the time are 79 columns of 26 cells, 2 ms, in which time goes up.
export async function heatMap(open, { same, openPage, url }) {
    const { text, mouse, box, drawn } = open;
    await open.press('heat');
    const times = await box('timeline');
    same('the height of the heat map', times.height, 128);
    await mouse('mouseMoved', times.x + times.width * 0.5 / 79, times.y + times.height - 16);
    await drawn();
    same('the cell at the pointer', await text('tip'), '0 ns to 77.1 µs1.0 ms');
    await open.shoot('heat');
    // From the lowest cell of the first column to the highest one of the twentieth.
    await drag(open, [0.5 / 79, 0.99], [19.5 / 79, 0.01]);
    same('the selected span', await text('span'), 'Selected: 0 ns to 40.1 ms');
    same('its samples', await shownSamples(open), 41);
    // By a key, to the next column.
    await open.evaluate("document.getElementById('timeline').focus()");
    await open.key('ArrowRight');
    same('the span a column later', await text('span'), 'Selected: 2.0 ms to 42.1 ms');
    const again = await openPage(url + await open.evaluate('location.hash'));
    same('the heat map of the same address', [(await again.box('timeline')).height, await again.text('span')], [128, 'Selected: 2.0 ms to 42.1 ms']);
    await again.close();
    await open.press('heat');
    same('the height of the timeline', (await box('timeline')).height, 56);
}

// The first quarter, mostly fib, against the third one, mostly free.
export async function comparison(open, { wrong, same, openPage, url }) {
    const { text, evaluate } = open;
    await drag(open, [0.001, 0.5], [0.249, 0.5]);
    const quarter = await shownSamples(open);
    await open.press('versus');
    same('what is asked for', await text('span'), 'Drag over the span to compare with.');
    await drag(open, [0.65, 0.5], [0.98, 0.5]);
    if (!(await text('totals')).startsWith(`${quarter} samples in A · 52 in B`)) wrong(`compared: ${await text('totals')}`);
    await find(open, '^free$');
    if (!/in A 0\.00 % · in B 88\.46 % · \+88\.46 %/.test(await text('details'))) wrong(`free, compared: ${await text('details')}`);
    await open.choose('width', 'both');
    await find(open, '^fib$');
    if (!/in A 97\.44 % · in B 0\.00 % · −97\.44 %/.test(await text('details'))) wrong(`fib, compared: ${await text('details')}`);
    if (!(await text('legend')).includes('only in B')) wrong(`the legend of a comparison: ${await text('legend')}`);
    await open.choose('search', '');
    await open.shoot('comparison');
    const again = await openPage(url + await evaluate('location.hash'));
    same('the comparison of the same address', await again.text('totals'), await text('totals'));
    await again.close();
    await undo(open);
    same('only the second span', await shownSamples(open), 52);
}

// The threads against each other: a group, and the next one that is clicked.
export async function groups(open, { wrong, same, openPage, url }) {
    const { text, key, evaluate } = open;
    await evaluate("document.getElementById('graph').focus()");
    await key('ArrowDown');
    await act(open, 'Compare with another group');
    same('what is asked for', await text('actions'), 'Now click the other group');
    await evaluate("document.getElementById('graph').focus()");
    await key('ArrowRight');
    await key('Enter');
    same('compared groups', [await text('totals'), await chips(open)], ['110 samples in A · 79 in B', ['A worker compared with B main ✕']]);
    await find(open, '^main$');
    if (!/in A 100\.00 % · in B 100\.00 % · \+0\.00 %/.test(await text('details'))) wrong(`main in both groups: ${await text('details')}`);
    const again = await openPage(url + await evaluate('location.hash'));
    same('the groups of the same address', await again.text('totals'), await text('totals'));
    await again.close();
    await undo(open);
    same('samples of all groups', await shownSamples(open), 189);
}
