// The functions as a table, of which only the visible rows are elements.

const TABLE_ROW = 24;
// Rows above and below the visible ones, so that a scroll has something to show.
const MARGIN = 8;
// The columns, the order of the functions, the active row, and how they are sorted: by a column, and which way.
const table = { columns: [], order: [], active: -1, by: 0, isDown: true };

// What each function takes itself and in all, by what a row counts. A function that calls itself counts once for a stack.
function sumsOfFunctions(count) {
    const [own, whole] = [new Float64Array(functions.count), new Float64Array(functions.count)];
    const seen = new Uint32Array(functions.count);
    const { caller, fn } = view.tree;
    shownRows().forEach((row, i) => {
        const [leaf, value] = [view.node[row], count(row)];
        if (leaf > 0) own[fn[leaf]] += value;
        for (let node = leaf; node > 0; node = caller[node]) {
            if (seen[fn[node]] === i + 1) continue;
            seen[fn[node]] = i + 1;
            whole[fn[node]] += value;
        }
    });
    return { own, whole };
}

// The columns with numbers: their heads, a value to sort by, and a text.
function ownColumns() {
    const { own, whole } = sumsOfFunctions((row) => tree.values[row]);
    const all = tree.value[0];
    const column = (head, values) => ({ head, value: (fn) => values[fn], text: (fn) => percent(values[fn], all), title: (fn) => valueText(values[fn]), isNumber: true });
    return { columns: [column('Self', own), column('Total', whole)], has: (fn) => whole[fn] > 0 };
}

function textColumns() {
    const text = (head, of, title = of) => ({ head, text: of, title, compare: (a, b) => of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : 0 });
    const columns = [text('Function', (fn) => shownName(functions.names[nameOf(fn)]), (fn) => functions.names[nameOf(fn)])];
    if (functions.sources.length > 0) columns.push(text('Line', (fn) => lineOf(fn, true), (fn) => lineOf(fn, false)));
    return [...columns, text('File', (fn) => functions.files[functions.file[fn]]), text('Kind', (fn) => KINDS[functions.kind[fn]])];
}

function showTable() {
    const { columns, has } = compare ? comparedColumns() : ownColumns();
    table.columns = [...columns, ...textColumns()];
    table.by = Math.min(table.by, table.columns.length - 1);
    const active = table.order[table.active];
    table.order = Uint32Array.from({ length: functions.count }, (_, fn) => fn).filter(has);
    table.active = table.order.indexOf(active);
    sortTable();
    const grid = $('grid');
    grid.setAttribute('aria-rowcount', table.order.length + 1);
    grid.setAttribute('aria-colcount', table.columns.length);
    const width = ({ head, isNumber }) => isNumber ? '9em' : head === 'Function' ? 'minmax(12em, 3fr)' : 'minmax(6em, 1fr)';
    grid.style.setProperty('--columns', table.columns.map(width).join(' '));
    $('count').textContent = `${number(table.order.length)} functions. Arrow keys choose one, Enter searches for it.`;
    showHeads();
    showRows();
}

// Sorts the functions; the active one stays active.
function sortTable() {
    const active = table.order[table.active];
    const { value, compare: by } = table.columns[table.by];
    const sign = table.isDown ? -1 : 1;
    // As much in the first column is ordered by the second one, everything else by the names, whose order functions have.
    const second = table.by === 0 ? table.columns[1].value : () => 0;
    table.order.sort((a, b) => sign * (value ? value(a) - value(b) : by(a, b)) || second(b) - second(a) || a - b);
    table.active = table.order.indexOf(active);
}

function showHeads() {
    $('heads').replaceChildren(...table.columns.map(({ head, isNumber }, index) => {
        const cell = make('div', '', isNumber ? 'number' : '');
        cell.setAttribute('role', 'columnheader');
        const isBy = index === table.by;
        cell.setAttribute('aria-sort', !isBy ? 'none' : table.isDown ? 'descending' : 'ascending');
        const button = make('button', isBy ? `${head} ${table.isDown ? '▾' : '▴'}` : head);
        button.type = 'button';
        button.title = 'Sort by this column';
        button.onclick = () => {
            // Numbers from the largest, texts from the first.
            [table.by, table.isDown] = [index, isBy ? !table.isDown : Boolean(isNumber)];
            sortTable();
            showHeads();
            $('body').scrollTop = 0;
            showRows();
            $('heads').children[index].firstElementChild.focus();
        };
        cell.append(button);
        return cell;
    }));
}

function showRows() {
    const body = $('body');
    $('spacer').style.height = `${table.order.length * TABLE_ROW}px`;
    const first = Math.max(0, Math.floor(body.scrollTop / TABLE_ROW) - MARGIN);
    const last = Math.min(table.order.length, Math.ceil((body.scrollTop + body.clientHeight) / TABLE_ROW) + MARGIN);
    const list = [];
    for (let index = first; index < last; index++) list.push(rowOfTable(index));
    $('visible').style.transform = `translateY(${first * TABLE_ROW}px)`;
    $('visible').replaceChildren(...list);
    const isSeen = table.active >= first && table.active < last;
    if (isSeen) $('grid').setAttribute('aria-activedescendant', `row-${table.active}`);
    else $('grid').removeAttribute('aria-activedescendant');
}

function rowOfTable(index) {
    const fn = table.order[index];
    const row = make('div', '', 'row');
    row.id = `row-${index}`;
    row.setAttribute('role', 'row');
    row.setAttribute('aria-rowindex', index + 2);
    row.setAttribute('aria-selected', index === table.active);
    for (const { text, title, isNumber } of table.columns) {
        const cell = make('div', text(fn), isNumber ? 'number' : '');
        cell.setAttribute('role', 'gridcell');
        cell.title = title ? title(fn) : '';
        row.append(cell);
    }
    return row;
}

// The name of the active function, if the table has the focus.
function namedInTable() {
    const fn = $('grid').contains(document.activeElement) ? table.order[table.active] : undefined;
    return fn === undefined ? null : functions.names[nameOf(fn)];
}

function activate(index) {
    if (table.order.length === 0) return;
    table.active = Math.max(0, Math.min(index, table.order.length - 1));
    const [top, body] = [table.active * TABLE_ROW, $('body')];
    if (top < body.scrollTop) body.scrollTop = top;
    else if (top + TABLE_ROW > body.scrollTop + body.clientHeight) body.scrollTop = top + TABLE_ROW - body.clientHeight;
    showRows();
}

function searchFor(name) {
    $('search').value = `^${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`;
    search();
    draw();
    saveState(true);
}

function listenToTable(on) {
    const indexAt = (event) => {
        const row = event.target.closest('.row');
        return row ? Number(row.id.slice(4)) : -1;
    };
    on('table', 'toggle', () => $('table').open && showTable());
    on('body', 'scroll', () => requestAnimationFrame(showRows));
    on('visible', 'click', (event) => {
        if (indexAt(event) < 0) return;
        activate(indexAt(event));
        $('grid').focus();
        searchFor(functions.names[nameOf(table.order[table.active])]);
    });
    on('visible', 'contextmenu', (event) => {
        if (indexAt(event) < 0) return;
        event.preventDefault();
        activate(indexAt(event));
        $('grid').focus();
        openMenu(functions.names[nameOf(table.order[table.active])], event.clientX, event.clientY);
    });
    on('grid', 'keydown', (event) => {
        const page = Math.floor($('body').clientHeight / TABLE_ROW);
        const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
        if (by !== undefined) activate(table.active + by);
        else if (event.key === 'Enter' && event.target === $('grid') && table.active >= 0) searchFor(namedInTable());
        else return;
        event.preventDefault();
        event.stopPropagation();
    });
}
