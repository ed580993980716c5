// The cells of a line of the panel.

const LINE = 20;
// Percents from which a cell has the next colour.
const HEATS = [0.005, 0.5, 1.5, 4, 8, 15, 25, 40];
const heatOf = (percent) => HEATS.filter((least) => percent >= least).length;
const fileName = (path) => path.slice(path.lastIndexOf('/') + 1) || path;
const hotText = (percent) => percent <= 0 ? '' : percent < 0.005 ? '<0.01' : reducedTo(percent, 2);
const counted = (count, one) => `${number(count)} ${one}${count === 1 ? '' : 's'}`;

class PanelCells {
    constructor(panel) {
        this.panel = panel;
    }

    row(line) {
        const { lines, of, state } = this.panel;
        const [kind, item] = [lines.kinds[line], lines.items[line]];
        const row = make('div', '', `annotation-row ${['instruction', 'source', 'inlined'][kind]}`);
        row.id = `annotation-row-${line}`;
        row.dataset.line = line;
        row.setAttribute('role', 'row');
        row.setAttribute('aria-rowindex', line + 2);
        row.style.transform = `translateY(${line * LINE}px)`;
        if (line === state.line) {
            row.classList.add('current');
            row.setAttribute('aria-selected', 'true');
        }
        if (this.panel.found.has(line)) row.classList.add('found');
        const { totals, item: counts } = lines.totalsOf(line);
        of.events.forEach((_, event) => row.append(this.percent(totals[event], counts, event, kind)));
        row.append(this.cell('', 'annotation-gutter'));
        const cells = { [INSTRUCTION]: () => this.instruction(item), [SOURCE]: () => this.source(item, line), [INLINED]: () => this.inlined(item) };
        row.append(...cells[kind]());
        return row;
    }

    cell(text, className) {
        const cell = make('span', text, className);
        cell.setAttribute('role', 'gridcell');
        return cell;
    }

    percent(totals, item, event, kind) {
        const { of, state } = this.panel;
        const value = of.percent(event, totals, item, state.bySamples, state.ofCapture);
        const cell = this.cell(hotText(value), 'annotation-percent');
        if (value > 0) {
            if (kind === INSTRUCTION) cell.classList.add(`heat-${heatOf(value)}`);
            const what = ['', ' in all instructions of the line', ' itself in all its instructions'][kind];
            cell.title = `${counted(totals.samples[item], 'sample')}, ${number(totals.period[item])} ${of.events[event].name}${what}`;
        }
        return cell;
    }

    instruction(item) {
        const { of } = this.panel;
        const code = this.cell('', 'annotation-code');
        const [mnemonic, ...operands] = of.instruction(item).split(/(\s.*)/);
        code.append(make('b', mnemonic), operands.join(''));
        const [exit, jump] = [of.exits.get(item), of.jump[item]];
        if (exit) code.append(this.target(exit));
        else if (jump >= 0) code.append(this.button(jump > item ? '↓' : '↑', `Jumps ${jump > item ? 'down' : 'up'} to ${of.address(jump)}`));
        const branches = of.branches.get(item);
        if (branches) code.append(make('span', this.branchText(branches), 'annotation-branches'));
        return [this.cell(of.address(item), 'annotation-address'), code];
    }

    button(text, title) {
        const button = make('button', text, 'annotation-follow');
        button.type = 'button';
        button.tabIndex = -1;
        button.title = title;
        if (text.length === 1) button.setAttribute('aria-label', title);
        return button;
    }

    target({ name, isCall, link }) {
        const text = `→ ${name}`;
        return link ? this.button(text, `${isCall ? 'Calls' : 'Goes to'} ${name}: show it (Enter)`) : make('span', text, 'annotation-target');
    }

    branchText([count, mispredicted, cycles, timed]) {
        const parts = [`taken ${counted(count, 'time')}`];
        if (mispredicted > 0) parts.push(`${percent(mispredicted, count)} mispredicted`);
        if (timed > 0) parts.push(`${reducedTo(cycles / timed, 1)} cycles each`);
        return parts.join(', ');
    }

    source(item, line) {
        const { of, lines } = this.panel;
        const { source, number: lineNumber, text } = of.lines[item];
        const path = of.sources[source]?.path ?? '';
        const place = this.cell(lineNumber, 'annotation-address');
        place.title = `${path}:${lineNumber}`;
        const code = this.cell(text ?? '', 'annotation-code');
        if (text === null) code.append(make('i', path ? `source not found: ${path}:${lineNumber}` : 'source not found'));
        else if (lines.newFiles.has(line)) code.append(make('span', fileName(path), 'annotation-file'));
        return [place, code];
    }

    // The function that goes on, and those that it is inlined into.
    inlined(item) {
        const { of } = this.panel;
        const code = this.cell('', 'annotation-code');
        const fn = of.functions[of.fn[item]];
        const nameOf = (it) => it?.name || 'a function without a name';
        code.append(make('span', fn && fn.caller >= 0 ? 'inlined ' : 'back in ', 'soft'), make('b', nameOf(fn)));
        const around = [];
        for (let at = fn; at && at.caller >= 0 && around.length < 8; at = of.functions[at.caller]) around.push(nameOf(of.functions[at.caller]));
        if (around.length > 0) code.append(make('span', ` in ${around.join(' in ')}`, 'soft'));
        return [this.cell('', 'annotation-address'), code];
    }
}
