// The page: takes files, and shows the views of a capture when they are asked for.

const byId = (id) => document.getElementById(id);
const PARTS = 200;

let capture;
let files = [];
// The views that show the capture, and the files, as they are now.
let shown = new Set();
let report;

const say = (text) => { byId('status').textContent = text; };
const complain = (text) => { byId('failure').textContent = text; };

const reader = new Reader(
    (bytes) => say(`Reading: ${grouped(Math.round(bytes / 1e6))} MB`),
    (message) => complain(`The reader failed, and was started again. ${message}`),
);

// Runs work that the person waits for, and shows its error.
async function waitFor(what, work) {
    say(`${what} ...`);
    document.body.setAttribute('aria-busy', 'true');
    try {
        const start = performance.now();
        await work();
        say(`${what}: done in ${((performance.now() - start) / 1000).toFixed(2)} s`);
    } catch (error) {
        const at = error.offset === undefined ? '' : ` (offset ${grouped(error.offset)})`;
        if (!byId('failure').textContent) complain(`${what}: ${error.message}${at}`);
        say('');
    } finally {
        document.body.removeAttribute('aria-busy');
    }
}

const views = {
    async summary() {
        showSummary(byId('summary'), await reader.call('info'), capture.name);
    },
    async report() {
        const sort = byId('sort').value.trim();
        report = await reader.call('report', { sort: sort || undefined, children: byId('children').checked });
        showReport(byId('tables'), report, byId('filter').value);
    },
    async flamegraph() {
        showFlameGraph(byId('flamegraph'), await reader.call('flamegraph', { name: capture.name }));
    },
    async timeline() {
        showTimeline(byId('timeline'), await reader.call('timeline', { parts: PARTS }));
    },
};

// What a file is, by its first bytes.
async function kindOf(file) {
    const start = new Uint8Array(await file.slice(0, 262).arrayBuffer());
    const text = String.fromCharCode(...start);
    if (/^(PERFILE2|2ELIFREP|PERFFILE|ELIFFREP)/.test(text)) return 'capture';
    // An archive, which has a capture and the files with its names.
    if (text.startsWith('\x28\xb5\x2f\xfd') || text.startsWith('BZh') || text.slice(257, 262) === 'ustar') return 'capture';
    return 'names';
}

async function take(dropped) {
    complain('');
    const found = await Promise.all([...dropped].map(async (file) => ({ file, kind: await kindOf(file) })));
    const of = (wanted) => found.filter(({ kind }) => kind === wanted).map(({ file }) => file);
    const captures = of('capture');
    if (captures.length > 1) return complain('Drop one capture at a time.');
    const names = of('names');
    if (captures.length === 0 && !capture) return complain(`${names[0]?.name ?? 'This'} is no capture: a perf.data begins with PERFILE2.`);
    const opened = captures[0] ?? capture;
    const all = captures.length > 0 ? names : [...files.filter((it) => !names.some(({ name }) => name === it.name)), ...names];
    await waitFor(`Opening ${opened.name}`, async () => {
        await reader.open(opened, all);
        [capture, files] = [opened, all];
        shown.clear();
        document.title = `${capture.name} - perfdata`;
        byId('views').hidden = false;
    });
    if (capture === opened) await select(document.querySelector('[role=tab][aria-selected=true]'));
}

async function select(tab) {
    for (const it of document.querySelectorAll('[role=tab]')) {
        const isSelected = it === tab;
        it.setAttribute('aria-selected', isSelected);
        it.tabIndex = isSelected ? 0 : -1;
        byId(it.getAttribute('aria-controls')).hidden = !isSelected;
    }
    const name = tab.getAttribute('aria-controls');
    if (shown.has(name)) return;
    await waitFor(tab.textContent, async () => {
        await views[name]();
        shown.add(name);
    });
}

async function save({ dataset: { format, ending }, textContent }) {
    complain('');
    await waitFor(`Writing the ${textContent}`, async () => {
        const content = await reader.call(format, { name: capture.name });
        const url = URL.createObjectURL(new Blob([content]));
        element('a', { href: url, download: `${capture.name}.${ending}` }).click();
        setTimeout(() => URL.revokeObjectURL(url), 60_000);
    });
}

byId('files').onchange = ({ target }) => take(target.files);
document.ondragover = (event) => {
    event.preventDefault();
    byId('drop').classList.add('over');
};
document.ondragleave = () => byId('drop').classList.remove('over');
document.ondrop = (event) => {
    event.preventDefault();
    byId('drop').classList.remove('over');
    take(event.dataTransfer.files);
};
const tabs = [...document.querySelectorAll('[role=tab]')];
tabs.forEach((tab, at) => {
    tab.onclick = () => { complain(''); select(tab); };
    tab.onkeydown = ({ key }) => {
        const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[key];
        if (to === undefined) return;
        const next = tabs[(to + tabs.length) % tabs.length];
        next.focus();
        next.click();
    };
});
byId('report-options').onsubmit = (event) => {
    event.preventDefault();
    complain('');
    waitFor('Report', views.report);
};
byId('filter').oninput = ({ target }) => report && showReport(byId('tables'), report, target.value);
for (const button of document.querySelectorAll('#save button')) button.onclick = () => save(button);
