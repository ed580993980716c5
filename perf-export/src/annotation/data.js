// Annotated functions, as data.rs and numbers.rs write them.

const [TARGET, CALL, INSIDE, LINKED] = [1, 2, 4, 8];

// A function. Its instructions are read when it is shown first.
class AnnotatedFunction {
    constructor(of, strings) {
        this.strings = strings;
        const text = (index) => strings[index];
        this.name = text(of.name);
        this.dso = text(of.dso);
        this.guess = of.guess;
        this.buildId = of.buildId;
        this.origin = of.origin;
        this.start = BigInt(`0x${of.start}`);
        this.size = of.size;
        this.frames = of.frames;
        this.events = of.events.map((event) => ({ ...event, name: text(event.name) }));
        this.sources = of.sources.map(([path, isFound, isNewer]) => ({ path: text(path), isFound, isNewer }));
        [this.functionCount, this.lineCount, this.count] = of.counts;
        this.numbers = of.numbers;
    }

    read() {
        if (this.numbers === null) return;
        const numbers = new Numbers(this.numbers);
        this.numbers = null;
        const signed = () => {
            const number = numbers.next();
            return number % 2 === 1 ? -(number + 1) / 2 : number / 2;
        };
        this.functions = [];
        for (let i = 0; i < this.functionCount; i++) this.functions.push({ name: this.strings[numbers.next()], caller: numbers.next() - 1 });
        this.lines = [];
        let number = 0;
        for (let i = 0; i < this.lineCount; i++) {
            const source = numbers.next();
            number += signed();
            this.lines.push({ source, number, text: this.strings[numbers.next() - 1] ?? null });
        }
        this.readInstructions(numbers, signed);
        this.functionTotals = this.readTotals(numbers, this.functionCount);
        this.lineTotals = this.readTotals(numbers, this.lineCount);
        this.totals = this.readTotals(numbers, this.count);
        this.branches = new Map();
        let row = 0;
        for (let left = numbers.next(); left > 0; left--) {
            row += numbers.next();
            const sums = this.branches.get(row) ?? [0, 0, 0, 0];
            this.branches.set(row, sums.map((sum) => sum + numbers.next()));
        }
    }

    readInstructions(numbers, signed) {
        this.offset = new Float64Array(this.count);
        this.text = new Uint32Array(this.count);
        // Indices of lines, and of the instructions that jumps lead to; -1 without one.
        this.line = new Int32Array(this.count);
        this.jump = new Int32Array(this.count).fill(-1);
        this.fn = new Uint32Array(this.count);
        // Branches that leave the function, and calls.
        this.exits = new Map();
        let [offset, line] = [0, 0];
        for (let row = 0; row < this.count; row++) {
            offset += numbers.next();
            this.offset[row] = offset;
            this.text[row] = numbers.next();
            line += signed();
            this.line[row] = line > this.lineCount ? -1 : line - 1;
            this.fn[row] = numbers.next();
            const flags = numbers.next();
            if ((flags & INSIDE) !== 0) this.jump[row] = row + signed();
            else if ((flags & TARGET) !== 0) {
                const name = this.strings[numbers.next()];
                const link = (flags & LINKED) !== 0 ? [numbers.next(), numbers.next()] : null;
                this.exits.set(row, { name, isCall: (flags & CALL) !== 0, link });
            }
        }
    }

    // The samples of each item, for each event.
    readTotals(numbers, count) {
        return this.events.map(() => {
            const [samples, period] = [new Float64Array(count), new Float64Array(count)];
            let item = 0;
            for (let left = numbers.next(); left > 0; left--) {
                item += numbers.next();
                samples[item] = numbers.next();
                period[item] = numbers.next();
            }
            return { samples, period };
        });
    }

    address(row) {
        return (this.start + BigInt(this.offset[row])).toString(16);
    }

    instruction(row) {
        return this.strings[this.text[row]];
    }

    // The percent that a number of samples or a period is of those of the function or of the capture.
    percent(event, { samples, period }, item, bySamples, ofCapture) {
        const it = this.events[event];
        const isCounted = bySamples || it.period === 0;
        const all = isCounted ? ofCapture ? it.allSamples : it.samples : ofCapture ? it.allPeriod : it.period;
        return all > 0 ? 100 * ((isCounted ? samples[item] : period[item]) ?? 0) / all : 0;
    }

    // The part of the capture that the function is.
    share(event, bySamples) {
        const it = this.events[event];
        if (!it) return 0;
        const [part, all] = bySamples || it.allPeriod === 0 ? [it.samples, it.allSamples] : [it.period, it.allPeriod];
        return all > 0 ? 100 * part / all : 0;
    }
}

function readAnnotations() {
    const { strings, functions } = JSON.parse(take('data-annotations'));
    return functions.map((of) => new AnnotatedFunction(of, strings));
}
