// What a person does with the page of known_program.py, and what is seen of it.

// Chooses the first frame that a search finds.
export async function find(open, pattern) {
    await open.choose('search', '');
    await open.choose('search', pattern);
    await open.press('next');
}

// The first number of the totals.
export const shownSamples = async (open) => Number((await open.text('totals')).split(' ')[0].replaceAll(',', ''));

// Presses one of the buttons below the graph by its text.
export const act = async (open, text) => {
    await open.evaluate(`[...document.querySelectorAll('#actions button')].find((it) => it.textContent === '${text}').click()`);
    await open.drawn();
};

export const chips = (open) => open.evaluate("[...document.querySelectorAll('#chips button')].map((it) => it.textContent)");

export const undo = (open) => open.evaluate("document.querySelector('#chips button').click()").then(open.drawn);

// Selects a span by the mouse, from one place of the timeline to another, in parts of its width and height.
export async function drag(open, [fromX, fromY], [toX, toY]) {
    const times = await open.box('timeline');
    const at = (x, y) => [times.x + times.width * x, times.y + (times.height - 14) * y];
    await open.mouse('mousePressed', ...at(fromX, fromY), 1);
    await open.mouse('mouseMoved', ...at((fromX + toX) / 2, (fromY + toY) / 2), 1);
    await open.mouse('mouseMoved', ...at(toX, toY), 1);
    await open.mouse('mouseReleased', ...at(toX, toY));
    await open.drawn();
}
