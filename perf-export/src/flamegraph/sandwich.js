// A function in all stacks that have it: above it who calls it, below it what it calls. Of a function that calls itself,
// each stack counts once, from its outermost call on.

class Sandwich extends Tree {
    // `order` has the selected rows in the order of their nodes.
    constructor(view, values, order, name) {
        super(view, values, new Uint32Array(0), []);
        const { tree, node } = view;
        // The outermost call of the function in the stack of each node; 0 without one.
        const outermost = new Uint32Array(tree.count);
        for (let at = 1; at < tree.count; at++) {
            outermost[at] = outermost[tree.caller[at]] || (nameOf(tree.fn[at]) === name ? at : 0);
        }
        const first = order.find((row) => outermost[node[row]] > 0);
        const fn = first === undefined ? functions.name.indexOf(name) : tree.fn[outermost[node[first]]];
        const { tree: called, became } = rebuilt(tree, (at, above, child) => {
            if (outermost[at] === 0) return 0;
            return outermost[at] === at ? child(0, fn) : child(above, tree.fn[at]);
        });
        this.callees = { tree: called, node: node.map((at) => at === GONE ? GONE : became[at]) };
        const below = sortedByNode((each) => order.forEach((row) => outermost[node[row]] > 0 && each(row)), this.callees.node, called.count);
        const count = below.length;
        // The rows twice: for what is called, and for the callers, which have an order of their own.
        this.order = new Uint32Array(2 * count);
        this.order.set(below);
        this.order.set(below, count);
        this.at = new Uint32Array(2 * count);
        for (let i = 0; i < count; i++) this.at[count + i] = outermost[node[below[i]]];
        const value = below.reduce((sum, row) => sum + values[row], 0);
        [this.fn[0], this.node[0], this.end[0], this.value[0]] = [fn, 1, count, value];
        this.add(-1, fn, 0, count, 2 * count, value);
    }

    isUp(frame) {
        return frame === 1 || frame > 1 && this.start[frame] >= this.end[0] && this.end[0] > 0;
    }

    expand(frame) {
        if (this.isUp(frame)) this.expandCallers(frame, this.data.tree);
        else if (this.end[0] > 0) this.expandCallees(frame, this.callees);
    }
}
