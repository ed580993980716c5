// The trees that are drawn. A frame is made when it is looked at, so that a million stacks cost no more than what is
// visible.

// The widest frame is the first one. Sorting keeps the order of those that are as wide.
const byValue = (a, b) => b.value - a.value;

// A frame of a tree is an index of these lists. `order` has rows of samples; each frame has those from `start` to `end`.
class Tree {
    constructor(data, values, order, groups) {
        this.data = data;
        this.values = values;
        this.order = order;
        this.fn = [];
        this.group = [];
        this.node = [];
        this.start = [];
        this.end = [];
        this.above = [];
        this.depth = [];
        this.value = [];
        this.self = [];
        // The index of the first frame below, and their number; -1 until it is looked at.
        this.first = [];
        this.count = [];
        let value = 0;
        for (const row of order) value += values[row];
        this.add(-1, -1, 0, 0, order.length, value);
        this.groups = groups;
        if (groups.length > 0) this.addGroups(groups);
    }

    add(above, fn, node, start, end, value) {
        this.fn.push(fn);
        this.group.push(-1);
        this.node.push(node);
        this.start.push(start);
        this.end.push(end);
        this.above.push(above);
        this.depth.push(above < 0 ? 0 : this.depth[above] + 1);
        this.value.push(value);
        this.self.push(0);
        this.first.push(0);
        this.count.push(-1);
        return this.fn.length - 1;
    }

    addGroups(groups) {
        this.first[0] = this.fn.length;
        this.count[0] = groups.length;
        groups.forEach(({ start, end, value }, group) => {
            this.group[this.add(0, -1, 0, start, end, value)] = group;
        });
    }

    // The number of frames below a frame.
    below(frame) {
        if (this.count[frame] < 0) {
            const first = this.fn.length;
            this.first[frame] = first;
            this.expand(frame);
            this.count[frame] = this.fn.length - first;
        }
        return this.count[frame];
    }

    name(frame) {
        const { names, name } = this.data.functions;
        if (this.fn[frame] < 0 && this.group[frame] < 0) return 'all';
        return this.group[frame] >= 0 ? this.groups[this.group[frame]].label : names[name[this.fn[frame]]];
    }

    // What a frame is called in all trees.
    key(frame) {
        return this.group[frame] >= 0 ? `g${this.groups[this.group[frame]].label}` : this.fn[frame];
    }

    // Whether a frame is a caller of the frame that the tree is of.
    isUp() {
        return false;
    }

    // The frame at which the keys lead, as far as they do.
    find([isUp, ...keys]) {
        let frame = isUp && this.isUp(1) ? 1 : 0;
        for (const key of keys) {
            const [count, first] = [this.below(frame), this.first[frame]];
            let next = first;
            while (next < first + count && this.key(next) !== key) next++;
            if (next === first + count) break;
            frame = next;
        }
        return frame;
    }

    keys(frame) {
        const keys = [];
        for (let at = frame; this.above[at] >= 0; at = this.above[at]) keys.unshift(this.key(at));
        return [this.isUp(frame), ...keys];
    }

    // Adds what a frame calls. The rows of a node and of all that it calls are neighbours.
    expandCallees(frame, { tree, node: nodeOf }) {
        const { order } = this;
        if (!this.sums) {
            // Of all rows before: a sum is a difference.
            this.sums = new Float64Array(order.length + 1);
            order.forEach((row, i) => {
                this.sums[i + 1] = this.sums[i] + this.values[row];
            });
        }
        const { sums } = this;
        const [node, end] = [this.node[frame], this.end[frame]];
        let at = this.start[frame];
        while (at < end && nodeOf[order[at]] === node) at++;
        this.self[frame] = sums[at] - sums[this.start[frame]];
        const below = [];
        while (at < end) {
            let called = nodeOf[order[at]];
            while (tree.caller[called] !== node) called = tree.caller[called];
            // The first row of a node after it.
            let [low, high] = [at + 1, end];
            while (low < high) {
                const middle = low + high >> 1;
                if (nodeOf[order[middle]] < tree.end[called]) low = middle + 1;
                else high = middle;
            }
            below.push({ called, start: at, end: low, value: sums[low] - sums[at] });
            at = low;
        }
        for (const { called, start, end, value } of below.sort(byValue)) {
            this.add(frame, tree.fn[called], called, start, end, value);
        }
    }

    // Adds the callers of a frame, whose rows are divided by them.
    expandCallers(frame, tree) {
        const { order, at, values } = this;
        // The part of each function, plus 1; all are 0 between two calls.
        const parts = this.parts ??= new Uint32Array(functions.count);
        const [start, end] = [this.start[frame], this.end[frame]];
        const found = [];
        let self = 0;
        for (let i = start; i < end; i++) {
            if (this.fn[frame] >= 0) at[i] = tree.caller[at[i]];
            if (at[i] === 0) {
                self += values[order[i]];
                continue;
            }
            const fn = tree.fn[at[i]];
            if (parts[fn] === 0) parts[fn] = found.push({ fn, count: 0, value: 0, next: 0 });
            const part = found[parts[fn] - 1];
            part.count++;
            part.value += values[order[i]];
        }
        this.self[frame] = self;
        let next = start;
        for (const part of [...found].sort(byValue)) {
            part.next = next;
            this.add(frame, part.fn, 0, next, next + part.count, part.value);
            next += part.count;
        }
        // Those that have come to the root are after the others.
        const [rows, nodes] = [order.slice(start, end), at.slice(start, end)];
        for (let i = 0; i < rows.length; i++) {
            const to = nodes[i] === 0 ? next++ : found[parts[tree.fn[nodes[i]]] - 1].next++;
            order[to] = rows[i];
            at[to] = nodes[i];
        }
        for (const { fn } of found) parts[fn] = 0;
    }
}

// Callers first.
class FromRoot extends Tree {
    expand(frame) {
        this.expandCallees(frame, this.data);
    }
}

// Leaves first. A frame's rows are divided by the next caller when it is looked at.
class FromLeaf extends Tree {
    constructor(...parts) {
        super(...parts);
        // The node of each row that the frames with this row have come to.
        this.at = this.order.map((row) => this.data.node[row]);
    }

    expand(frame) {
        this.expandCallers(frame, this.data.tree);
    }
}

// Those of `sorted` rows in the selected spans, ordered by groups, and in a group as before. `groupOf` has the group of each thread.
function select(sorted, values, groupOf, labels) {
    const counts = new Uint32Array(labels.length + 1);
    const sums = new Float64Array(labels.length + 1);
    const { span, other } = state;
    const isIn = (row) => state.pair ? sideOfRow(row) >= 0 : span === null || isInSpan(span, rows.bucket[row]) || isInSpan(other, rows.bucket[row]);
    for (const row of sorted) {
        if (!isIn(row)) continue;
        const group = labels.length > 0 ? groupOf[rows.thread[row]] : 0;
        counts[group]++;
        sums[group] += values[row];
    }
    const found = labels.map((label, group) => ({ label, group, value: sums[group] }));
    const groups = found.filter(({ group }) => counts[group] > 0).sort((a, b) => b.value - a.value || a.group - b.group);
    const next = new Uint32Array(labels.length + 1);
    let sum = 0;
    for (const it of groups) {
        next[it.group] = it.start = sum;
        sum += counts[it.group];
        it.end = sum;
    }
    const order = new Uint32Array(counts.reduce((all, count) => all + count, 0));
    for (const row of sorted) {
        if (isIn(row)) order[next[labels.length > 0 ? groupOf[rows.thread[row]] : 0]++] = row;
    }
    return { order, groups };
}
