// What a person does with the panel.

class PanelKeys {
    constructor(panel) {
        this.panel = panel;
    }

    listen() {
        const { panel } = this;
        const on = (id, type, action) => $(`annotation-${id}`).addEventListener(type, action);
        const set = (name, value) => () => this.set(name, value);
        on('local', 'click', set('ofCapture', false));
        on('global', 'click', set('ofCapture', true));
        on('period', 'click', set('bySamples', false));
        on('samples', 'click', set('bySamples', true));
        on('source', 'click', () => this.set('withSource', !panel.state.withSource));
        on('hotter', 'click', () => this.hot(-1));
        on('colder', 'click', () => this.hot(1));
        on('back', 'click', () => panel.back());
        on('close', 'click', () => panel.close());
        on('help', 'click', () => $('annotation-keys').showModal());
        on('grid', 'scroll', () => panel.plan());
        on('search', 'input', () => {
            panel.search = $('annotation-search').value;
            panel.showSearch();
            panel.draw();
        });
        on('rows', 'click', (event) => this.click(event));
        on('rows', 'pointerover', (event) => this.hover(this.lineOf(event)));
        on('rows', 'pointerleave', () => this.hover(-1));
        on('heads', 'click', ({ target }) => target.dataset.event && this.set('event', Number(target.dataset.event)));
        on('overview', 'click', ({ offsetY }) => panel.go(Math.floor(offsetY / $('annotation-overview').clientHeight * panel.lines.count), true));
        $('annotation').addEventListener('keydown', (event) => this.press(event));
    }

    lineOf({ target }) {
        const row = target.closest('[data-line]');
        return row ? Number(row.dataset.line) : -1;
    }

    hover(line) {
        if (line === this.panel.state.hovered) return;
        this.panel.state.hovered = line;
        this.panel.drawArrows();
    }

    click(event) {
        const line = this.lineOf(event);
        if (line < 0) return;
        const isFollowed = event.target.closest('.annotation-follow') !== null;
        $('annotation-grid').focus({ preventScroll: true });
        this.panel.go(line);
        if (isFollowed) this.panel.follow(line);
    }

    // Changes how the function is shown; the current instruction stays.
    set(name, value) {
        const { panel } = this;
        const row = panel.lines.instructionAt(panel.state.line);
        panel.state[name] = value;
        panel.arrange(Math.max(row, 0));
    }

    // Goes to the instruction with the next fewer samples, or the next more; from another one, to that with most.
    hot(by) {
        const { panel } = this;
        const rows = panel.hot;
        const at = rows.indexOf(panel.lines.kinds[panel.state.line] === INSTRUCTION ? panel.lines.items[panel.state.line] : -1);
        const next = at < 0 ? 0 : Math.max(0, Math.min(at + by, rows.length - 1));
        if (rows.length > 0) panel.goToInstruction(rows[next]);
    }

    // Goes to the next line that was found, from the current one on, or to the one before it.
    next(by) {
        const { panel } = this;
        const lines = [...panel.found];
        const after = lines.findIndex((line) => line > panel.state.line);
        const isFound = panel.found.has(panel.state.line);
        const end = after < 0 ? lines.length : after;
        const at = by > 0 ? end : end - (isFound ? 2 : 1);
        if (lines.length > 0) panel.go(lines[(at + lines.length) % lines.length], true);
    }

    escape() {
        if (this.panel.search !== '') {
            $('annotation-search').value = this.panel.search = '';
            this.panel.showSearch();
            this.panel.draw();
            $('annotation-grid').focus();
        } else if (!$('annotation-close').hidden) this.panel.close();
    }

    press(event) {
        if (event.ctrlKey || event.metaKey || event.altKey || $('annotation-keys').open) return;
        const { panel } = this;
        const { state } = panel;
        const page = Math.max(1, Math.floor($('annotation-grid').clientHeight / LINE) - 3);
        const isTyping = event.target === $('annotation-search');
        const onGrid = event.target === $('annotation-grid');
        const actions = isTyping ? {
            Enter: () => this.next(event.shiftKey ? -1 : 1),
            Escape: () => this.escape(),
        } : {
            '/': () => $('annotation-search').focus(),
            '?': () => $('annotation-keys').showModal(),
            s: () => this.set('withSource', !state.withSource),
            t: () => this.set('bySamples', !state.bySamples),
            g: () => this.set('ofCapture', !state.ofCapture),
            e: () => this.set('event', (state.event + 1) % Math.max(panel.of.events.length, 1)),
            n: () => this.hot(1),
            p: () => this.hot(-1),
            Backspace: () => panel.back(),
            Escape: () => this.escape(),
        };
        if (onGrid) {
            Object.assign(actions, {
                ArrowUp: () => panel.go(state.line - 1),
                ArrowDown: () => panel.go(state.line + 1),
                PageUp: () => panel.go(state.line - page),
                PageDown: () => panel.go(state.line + page),
                Home: () => panel.go(0),
                End: () => panel.go(panel.lines.count - 1),
                Enter: () => panel.follow(state.line),
            });
        }
        // The page has other uses for these keys.
        event.stopPropagation();
        if (!Object.hasOwn(actions, event.key)) return;
        event.preventDefault();
        actions[event.key]();
    }
}
