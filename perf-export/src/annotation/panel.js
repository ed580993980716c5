// The panel: which function it shows, how, and from where on. Only the lines that can be seen are in the page.

// Lines above and below the visible ones.
const SPARE = 12;

class AnnotationPanel {
    constructor(functions) {
        this.functions = functions;
        this.cells = new PanelCells(this);
        this.state = { index: -1, event: 0, line: 0, hovered: -1, withSource: true, bySamples: false, ofCapture: false };
        this.of = this.lines = this.arrows = null;
        // Instructions with samples, those with most first.
        this.hot = [];
        this.search = '';
        this.found = new Set();
        // Functions that a call was followed from.
        this.history = [];
        this.onOpen = () => {};
        this.isPlanned = false;
        this.svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
        this.svg.id = 'annotation-arrows';
        this.svg.setAttribute('aria-hidden', 'true');
        this.body = make('div');
        $('annotation-rows').append(this.svg, this.body);
        new PanelKeys(this).listen();
        new ResizeObserver(() => this.plan()).observe($('annotation-grid'));
        // The overview is drawn in the colours of the theme.
        new MutationObserver(() => this.plan()).observe(document.documentElement, { attributeFilter: ['data-theme'] });
    }

    // Shows a function: from an instruction on, or from the one with most samples.
    open(index, row = -1, event = null) {
        const of = this.functions[index];
        if (!of) return;
        $('annotation').hidden = false;
        if (this.state.index !== index) {
            of.read();
            this.of = of;
            this.state.index = index;
            const named = of.events.findIndex(({ name }) => name === event);
            this.state.event = named >= 0 ? named : Math.min(this.state.event, Math.max(of.events.length - 1, 0));
            this.arrows = new Arrows(of);
            this.showHead();
            this.showNotes();
        }
        this.state.hovered = -1;
        this.arrange(row);
        this.onOpen(index);
    }

    close() {
        $('annotation').hidden = true;
        this.onOpen(-1);
    }

    // Orders the lines anew, and goes to an instruction, or to that with most samples.
    arrange(row) {
        this.lines = new PanelLines(this.of, this.state.withSource);
        this.hot = hottest(this.of, this.state.event, this.state.bySamples);
        this.showSearch();
        this.showButtons();
        this.showHeads();
        $('annotation-rows').style.height = `${this.lines.count * LINE}px`;
        $('annotation-grid').setAttribute('aria-rowcount', this.lines.count + 1);
        this.go(this.lines.places[row >= 0 ? row : this.hot[0] ?? 0] ?? 0, true);
    }

    // Makes a line the current one, and scrolls to it: to the middle, or only as far as needed.
    go(line, toMiddle = false) {
        this.state.line = Math.max(0, Math.min(line, this.lines.count - 1));
        const grid = $('annotation-grid');
        const [top, height] = [this.state.line * LINE, grid.clientHeight - $('annotation-heads').offsetHeight];
        if (toMiddle) grid.scrollTop = top - Math.floor(height / LINE / 2) * LINE;
        else if (top < grid.scrollTop) grid.scrollTop = top;
        else if (top + LINE > grid.scrollTop + height) grid.scrollTop = top + LINE - height;
        this.draw();
    }

    goToInstruction(row) {
        this.go(this.lines.places[row], true);
    }

    // Follows what the instruction of a line leads to.
    follow(line) {
        if (this.lines.kinds[line] !== INSTRUCTION) return;
        const row = this.lines.items[line];
        const [jump, link] = [this.of.jump[row], this.of.exits.get(row)?.link];
        if (jump < 0 && !link) return;
        this.history.push([this.state.index, row]);
        if (jump >= 0) this.goToInstruction(jump);
        else this.open(link[0], link[0] === this.state.index ? link[1] : -1);
        this.showBack();
    }

    back() {
        const before = this.history.pop();
        if (before) this.open(...before);
        this.showBack();
    }

    showBack() {
        $('annotation-back').hidden = this.history.length === 0;
    }

    showHead() {
        const { of } = this;
        $('annotation-name').replaceChildren(of.name || '[unknown]');
        if (of.guess) {
            const mark = make('span', ' [guessed]', 'annotation-guess');
            mark.title = `The name is a guess: ${of.guess}`;
            $('annotation-name').append(mark);
        }
        const end = (of.start + BigInt(of.size)).toString(16);
        const parts = [of.dso, `${of.start.toString(16)}–${end}`, counted(of.count, 'instruction')];
        if (of.origin !== 'file') parts.push(`code of ${of.origin}`);
        $('annotation-about').textContent = parts.filter(Boolean).join(' · ');
        $('annotation-about').title = of.buildId ? `build id ${of.buildId}` : 'no build id';
        $('annotation-grid').setAttribute('aria-label', `Instructions of ${of.name}`);
        this.showBack();
    }

    showNotes() {
        const { of } = this;
        const notes = of.events.map((it, event) => `${it.name}: ${counted(it.samples, 'sample')}, ${percent(of.share(event, false), 100)} of the capture`);
        if (of.events.some(({ precise }) => precise === 0)) notes.push('samples may be at an instruction after the one that caused them');
        const missing = of.sources.filter(({ isFound }) => !isFound).map(({ path }) => path);
        missing.slice(0, 3).forEach((path) => notes.push(`source not found: ${path}`));
        if (missing.length > 3) notes.push(`${number(missing.length - 3)} more source files not found`);
        const newer = of.sources.filter(({ isNewer }) => isNewer).map(({ path }) => path);
        if (newer.length > 0) notes.push(`modified after the recording, so that lines may be others: ${newer[0]}${newer.length > 1 ? ` and ${number(newer.length - 1)} more` : ''}`);
        $('annotation-notes').replaceChildren(...notes.map((note) => make('span', note)));
    }

    showHeads() {
        const { of, state } = this;
        const heads = make('div', '', 'annotation-row');
        heads.setAttribute('role', 'row');
        heads.setAttribute('aria-rowindex', 1);
        const add = (className, ...content) => {
            const head = make('span', '', className);
            head.setAttribute('role', 'columnheader');
            head.append(...content);
            heads.append(head);
        };
        of.events.forEach(({ name }, event) => {
            const text = `% ${name}`;
            const button = make('button', text);
            button.type = 'button';
            button.title = `${name}: n and p follow its samples`;
            button.dataset.event = event;
            button.setAttribute('aria-pressed', event === state.event);
            add('annotation-percent', of.events.length > 1 ? button : text);
        });
        add('annotation-gutter', '');
        add('annotation-address', 'address');
        add('annotation-code', state.withSource && of.lineCount > 0 ? 'instruction and source' : 'instruction');
        $('annotation-heads').replaceChildren(heads);
        const digits = of.count > 0 ? of.address(of.count - 1).length : 1;
        // Wide enough for the names of most events, if there is room.
        const widest = innerWidth > 640 ? 18 : 10;
        const percents = of.events.map(({ name }) => Math.max(10, Math.min(name.length + 5, widest)));
        const columns = [...percents.map((width) => `${width}ch`), `${this.arrows.width}px`, `${Math.max(digits, 7) + 3}ch`, 'auto'];
        $('annotation-grid').style.setProperty('--columns', columns.join(' '));
        $('annotation-grid').style.setProperty('--gutter', `${percents.reduce((sum, width) => sum + width, 0)}ch`);
        $('annotation-grid').setAttribute('aria-colcount', of.events.length + 3);
    }

    showButtons() {
        const { state } = this;
        const press = (id, is) => $(`annotation-${id}`).setAttribute('aria-pressed', is);
        press('local', !state.ofCapture);
        press('global', state.ofCapture);
        press('period', !state.bySamples);
        press('samples', state.bySamples);
        press('source', state.withSource);
        $('annotation-source').hidden = this.of.lineCount === 0;
    }

    // Finds the lines that match.
    showSearch() {
        this.found = new Set();
        const output = $('annotation-found');
        output.textContent = '';
        if (this.search === '') return;
        let pattern;
        try {
            pattern = new RegExp(this.search, /[A-Z]/.test(this.search) ? '' : 'i');
        } catch {
            output.textContent = 'not a regular expression';
            return;
        }
        for (let line = 0; line < this.lines.count; line++) {
            if (pattern.test(this.lines.searched(line))) this.found.add(line);
        }
        output.textContent = counted(this.found.size, 'line');
    }

    plan() {
        if (this.isPlanned || !this.lines) return;
        this.isPlanned = true;
        requestAnimationFrame(() => {
            this.isPlanned = false;
            this.draw();
        });
    }

    draw() {
        const grid = $('annotation-grid');
        const last = this.lines.count - 1;
        const first = Math.max(0, Math.min(Math.floor(grid.scrollTop / LINE) - SPARE, last));
        const end = Math.min(last, Math.ceil((grid.scrollTop + grid.clientHeight) / LINE) + SPARE);
        const rows = [];
        for (let line = first; line <= end; line++) rows.push(this.cells.row(line));
        this.body.replaceChildren(...rows);
        grid.setAttribute('aria-activedescendant', `annotation-row-${this.state.line}`);
        this.seen = [first, end];
        this.drawArrows();
        drawOverview(this);
    }

    drawArrows() {
        const { lines, state, arrows, seen: [first, end] } = this;
        const from = lines.instructionAt(first);
        if (from < 0) return this.svg.replaceChildren();
        let to = end;
        while (to > first && lines.kinds[to] !== INSTRUCTION) to--;
        const chosen = [state.line, state.hovered].filter((line) => lines.kinds[line] === INSTRUCTION).map((line) => lines.items[line]);
        this.svg.style.transform = `translateY(${first * LINE}px)`;
        const yOf = (row) => (lines.places[row] - first + 0.5) * LINE;
        arrows.draw(this.svg, arrows.between(from, lines.items[to], chosen), yOf, (end - first + 1) * LINE);
    }
}
