// The lines of the panel: instructions, with source lines and inlined functions between them.

const [INSTRUCTION, SOURCE, INLINED] = [0, 1, 2];

// What a line shows: `items` has an instruction, an index of a source line, or the first instruction of a part that is inlined.
class PanelLines {
    constructor(of, withSource) {
        this.of = of;
        this.kinds = [];
        this.items = [];
        // The line of each instruction.
        this.places = new Uint32Array(of.count);
        // Lines that name the file, as the source line before is of another one.
        this.newFiles = new Set();
        let [line, source, fn] = [-1, -1, 0];
        for (let row = 0; row < of.count; row++) {
            if (of.fn[row] !== fn) this.add(INLINED, row);
            fn = of.fn[row];
            const next = of.line[row];
            if (withSource && next >= 0 && next !== line) {
                if (of.lines[next].source !== source) this.newFiles.add(this.kinds.length);
                source = of.lines[next].source;
                this.add(SOURCE, next);
            }
            line = next;
            this.places[row] = this.kinds.length;
            this.add(INSTRUCTION, row);
        }
    }

    add(kind, item) {
        this.kinds.push(kind);
        this.items.push(item);
    }

    get count() {
        return this.kinds.length;
    }

    // The instruction of a line; of another line, the next one. -1 without one.
    instructionAt(line) {
        let at = Math.max(line, 0);
        while (at < this.count && this.kinds[at] !== INSTRUCTION) at++;
        return at < this.count ? this.items[at] : -1;
    }

    // What a search looks at.
    searched(line) {
        const [of, item] = [this.of, this.items[line]];
        if (this.kinds[line] === SOURCE) return of.lines[item].text ?? of.sources[of.lines[item].source]?.path ?? '';
        if (this.kinds[line] === INLINED) return of.functions[of.fn[item]]?.name ?? '';
        const exit = of.exits.get(item);
        return exit ? `${of.instruction(item)} ${exit.name}` : of.instruction(item);
    }

    totals() {
        return [this.of.totals, this.of.lineTotals, this.of.functionTotals];
    }

    // The samples of a line: of the instruction, of all instructions of the source line, or of the inlined function.
    totalsOf(line) {
        const item = this.items[line];
        const kind = this.kinds[line];
        return { totals: this.totals()[kind], item: kind === INLINED ? this.of.fn[item] : item };
    }
}

// Instructions with samples, those with most first.
function hottest(of, event, bySamples) {
    const totals = of.totals[event];
    if (!totals) return [];
    const values = bySamples || of.events[event].period === 0 ? totals.samples : totals.period;
    const rows = [];
    values.forEach((value, row) => value > 0 && rows.push(row));
    return rows.sort((a, b) => values[b] - values[a] || a - b);
}
