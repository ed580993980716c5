// What the page shows, from what the worker answers. Texts of captures are set as text, never as HTML.

// An element with attributes, properties that are functions, and children.
function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (typeof value === 'function') made[key] = value;
        else if (value !== undefined) made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
}

const grouped = (number) => Number(number).toLocaleString('en');
const seconds = (time) => `${time / 1000000000n}.${String(time % 1000000000n).padStart(9, '0')}`;

function definitions(pairs) {
    const known = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
    return element('dl', {}, ...known.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, String(value))]));
}

// A table of texts and numbers; `kinds` has 'number' for columns of numbers.
function plainTable(headings, rows, kinds = []) {
    const cell = (name) => (value, at) => element(name, { class: kinds[at] }, String(value ?? ''));
    return element('table', {},
        element('thead', {}, element('tr', {}, ...headings.map(cell('th')))),
        element('tbody', {}, ...rows.map((row) => element('tr', {}, ...row.map(cell('td'))))));
}

function faults(account) {
    const count = `${grouped(account.faults)} faults, ${grouped(account.bytes_skipped)} bytes skipped`;
    const parts = [element('h2', {}, 'Account')];
    if (account.is_clean) return [...parts, element('p', {}, 'Clean: every byte was decoded.')];
    parts.push(element('p', { class: 'bad', id: 'faults' }, `${count}. What could be decoded is shown.`));
    if (account.unfinished) parts.push(element('p', { class: 'bad' }, 'The recorder did not finish the file.'));
    if (account.diagnostics.length > 0) {
        const rows = account.diagnostics.map(({ offset, type, field, message }) => [grouped(offset), type, field, message]);
        parts.push(plainTable(['offset', 'record', 'field', 'fault'], rows, ['number']));
    }
    if (account.diagnostics_omitted > 0) parts.push(element('p', {}, `${grouped(account.diagnostics_omitted)} more faults are not listed.`));
    return parts;
}

function showSummary(place, info, name) {
    const { time, account } = info;
    place.replaceChildren(
        definitions([
            ['capture', name], ['format', `${info.mode} mode, ${info.endianness}-endian, ${grouped(info.size)} bytes`],
            ['host', info.hostname], ['kernel', info.os_release], ['architecture', info.arch], ['CPU', info.cpu],
            ['perf', info.perf_version],
            ['time', time && `${seconds(time[0])} to ${seconds(time[1])}, ${seconds(time[1] - time[0])} s`],
            ['records', `${grouped(account.records)}, ${grouped(account.bytes)} bytes`],
            ['lost', account.lost + account.lost_samples > 0 ? `${grouped(account.lost)} records, ${grouped(account.lost_samples)} samples` : ''],
            ['features', info.features.join(' ')],
        ]),
        ...faults(account),
        element('h2', {}, 'Events'),
        plainTable(['event', 'type', 'config', 'ids'], info.events.map((it) => [it.name, it.type, `0x${it.config.toString(16)}`, it.ids.length]), ['', '', '', 'number']),
        element('h2', {}, 'Records'),
        plainTable(['type', 'records'], info.records.map(({ type, count }) => [type, grouped(count)]), ['', 'number']),
    );
}

// The most rows that are made at once: a browser takes a second for 10,000.
const MOST_ROWS = 1000;

// The columns of a table: percentages, samples, and the keys.
function columnsOf(table) {
    const columns = [];
    table.events.forEach((_, event) => {
        const suffix = table.events.length > 1 ? ` ${event + 1}` : '';
        if (table.rows.some((row) => row.children)) columns.push({ heading: `Children${suffix}`, of: (row) => row.children?.[event].percent, percent: true });
        columns.push({ heading: `Self${suffix}`, of: (row) => row.self[event].percent, percent: true });
        columns.push({ heading: `Samples${suffix}`, of: (row) => row.self[event].samples, isNumber: true });
    });
    table.columns.forEach((name, at) => {
        if (['overhead', 'overhead_children', 'overhead_sys', 'overhead_us', 'sample', 'period'].includes(name)) return;
        const of = (row) => row.beyond_limits ? '(beyond the limits)' : row[name] ?? (name === 'symbol' && row.address !== undefined ? `0x${row.address.toString(16)}` : row[name]);
        columns.push({ heading: table.headings[at], of });
    });
    return columns;
}

function compare(one, other) {
    if (typeof one === 'number' && typeof other === 'number') return other - one;
    return String(one ?? '').localeCompare(String(other ?? ''), 'en', { numeric: true });
}

function reportTable(table, matches) {
    const columns = columnsOf(table);
    const body = element('tbody');
    const more = element('p');
    let rows = table.rows.filter((row) => matches(columns.map(({ of }) => of(row) ?? '').join(' ')));
    const headings = columns.map((column) => element('th', { class: column.percent || column.isNumber ? 'number' : undefined, scope: 'col' },
        element('button', { type: 'button', onclick: () => sortBy(column) }, column.heading)));
    const shown = (value, { percent, isNumber }) => percent ? `${(value ?? 0).toFixed(2)}%` : isNumber ? grouped(value) : String(value ?? '');
    function draw(most) {
        body.replaceChildren(...rows.slice(0, most).map((row) => element('tr', {}, ...columns.map((column) =>
            element('td', { class: column.percent || column.isNumber ? 'number' : undefined }, shown(column.of(row), column))))));
        const left = rows.length - Math.min(most, rows.length);
        more.replaceChildren(...left > 0 ? [element('button', { type: 'button', onclick: () => draw(Infinity) }, `Show ${grouped(left)} more rows`)] : []);
    }
    function sortBy(column) {
        const heading = headings[columns.indexOf(column)];
        const isReversed = heading.getAttribute('aria-sort') === 'descending';
        const sign = isReversed ? -1 : 1;
        rows = rows.toSorted((one, other) => sign * compare(column.of(one), column.of(other)));
        headings.forEach((it) => it.removeAttribute('aria-sort'));
        heading.setAttribute('aria-sort', isReversed ? 'ascending' : 'descending');
        draw(MOST_ROWS);
    }
    draw(MOST_ROWS);
    const total = table.totals.map(({ samples }) => `${grouped(samples)} samples`).join(', ');
    return [element('h2', {}, `${table.name}: ${total}`),
        element('table', { class: 'report' }, element('thead', {}, element('tr', {}, ...headings)), body), more];
}

function showReport(place, { tables, quality }, filter) {
    const needle = filter.toLowerCase();
    const parts = tables.flatMap((table) => reportTable(table, (text) => text.toLowerCase().includes(needle)));
    const { total, mapped, named } = quality.frames;
    const share = (count) => `${(total === 0 ? 0 : 100 * count / total).toFixed(1)} %`;
    parts.push(element('h2', {}, 'Names'), element('p', {}, `${grouped(total)} frames: ${share(total - mapped)} unmapped, ${share(mapped - named)} unnamed`));
    if (quality.missing.length > 0) {
        const rows = quality.missing.map(({ dso, build_id, frames, hint }) => [dso, build_id, grouped(frames), hint]);
        parts.push(element('p', {}, 'Drop these files to see their names:'), plainTable(['file', 'build id', 'frames', 'why'], rows, ['', '', 'number']));
    }
    place.replaceChildren(...parts);
}

function showFlameGraph(place, page) {
    // Without an origin of its own: it can reach nothing of this page.
    const frame = element('iframe', { sandbox: 'allow-scripts', title: 'Flame graph' });
    frame.srcdoc = page;
    place.replaceChildren(frame);
}

function strip(samples, most) {
    const canvas = element('canvas', { class: 'strip', width: samples.length * 4, height: 18 });
    const context = canvas.getContext('2d');
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--accent');
    samples.forEach((count, at) => {
        const height = Math.ceil(18 * count / most);
        context.fillRect(at * 4, 18 - height, 4, height);
    });
    return canvas;
}

function showTimeline(place, timeline) {
    if (!timeline) {
        place.replaceChildren(element('p', {}, 'The samples of this capture have no times.'));
        return;
    }
    const { span, events } = timeline;
    const parts = events.filter(({ threads }) => threads.length > 0).flatMap(({ name, most, threads }) => [
        element('h2', {}, name),
        element('table', {}, element('tbody', {}, ...threads.slice(0, MOST_ROWS).map((it) => element('tr', {},
            element('th', { scope: 'row' }, it.comm), element('td', { class: 'number' }, `${it.pid}/${it.tid}`),
            element('td', { class: 'number' }, `${grouped(it.total)} samples`), element('td', {}, strip(it.samples, most)))))),
    ]);
    place.replaceChildren(element('p', {}, `${seconds(span[0])} to ${seconds(span[1])} s, in parts of ${(timeline.part / 1e6).toFixed(3)} ms`), ...parts);
}
