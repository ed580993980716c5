// The page of annotated functions: their list, and its start.

const panel = new AnnotationPanel(readAnnotations());

const isDark = () => document.documentElement.dataset.theme === 'dark';
function setTheme(dark) {
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
}

function showFunctions() {
    const items = panel.functions.map((of, index) => {
        const [item, button] = [make('li'), make('button')];
        button.type = 'button';
        const share = of.share(0, false);
        button.append(make('span', percent(share, 100), `share heat-${heatOf(share)}`), make('span', of.guess ? `${of.name} [guessed]` : of.name, 'name'), make('span', fileName(of.dso), 'file'));
        button.title = `${of.name}\n${of.dso}`;
        button.onclick = () => panel.open(index);
        item.append(button);
        return item;
    });
    $('list').replaceChildren(...items);
}

function filterFunctions() {
    const text = $('filter').value.toLowerCase();
    let count = 0;
    [...$('list').children].forEach((item, index) => {
        item.hidden = !panel.functions[index].name.toLowerCase().includes(text);
        if (!item.hidden) count += 1;
    });
    $('none').hidden = count > 0;
    $('none').textContent = panel.functions.length > 0 ? 'No such function.' : 'No function has samples and instructions.';
}

function start() {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    setTheme(dark.matches);
    dark.addEventListener('change', () => setTheme(dark.matches));
    $('theme').addEventListener('click', () => setTheme(!isDark()));
    $('filter').addEventListener('input', filterFunctions);
    panel.onOpen = (index) => {
        [...$('list').children].forEach(({ firstChild }, i) => firstChild.setAttribute('aria-current', i === index));
        $('list').children[index]?.scrollIntoView({ block: 'nearest' });
    };
    showFunctions();
    filterFunctions();
    $('totals').textContent = counted(panel.functions.length, 'function');
    panel.open(0);
    $('annotation-grid').focus();
    performance.mark('drawn');
}

start();
