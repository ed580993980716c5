// What stacks are before they are drawn: without hidden functions, only with some, without others, without recursion.
// Transforms are by name, as one function may be inlined in one place and called in another.

const TRANSFORMS = { hide: 'without', focus: 'only with', merge: 'merged' };
// The node of a row that is not shown.
const GONE = 0xffffffff;

const nameOf = (fn) => functions.name[fn];
const nameIndexes = new Map();
// The index of a name; -1 if no function has it.
function nameIndex(name) {
    if (nameIndexes.size === 0) functions.names.forEach((it, index) => nameIndexes.set(it, index));
    return nameIndexes.get(name) ?? -1;
}

// Makes a tree of the nodes that remain. `target` returns for a node what its caller has become and `child`, which makes a
// node of a function below it; it returns what the node becomes.
function rebuilt({ count, caller, fn }, target) {
    const [callers, fns] = [new Uint32Array(count), new Uint32Array(count)];
    let made = 1;
    // Nodes by their caller and function: a hash table with open addresses, as a Map is slow for millions.
    const bits = Math.ceil(Math.log2(2 * count + 2));
    const slots = new Uint32Array(2 ** bits);
    const child = (above, of) => {
        let slot = (Math.imul(above, 0x9e3779b1) ^ Math.imul(of, 0x85ebca6b)) >>> 32 - bits;
        for (; slots[slot] > 0; slot = slot + 1 & slots.length - 1) {
            if (callers[slots[slot]] === above && fns[slots[slot]] === of) return slots[slot];
        }
        [callers[made], fns[made]] = [above, of];
        slots[slot] = made;
        return made++;
    };
    const became = new Uint32Array(count);
    for (let node = 1; node < count; node++) became[node] = target(node, became[caller[node]], child, fns);
    return inOrder(callers.subarray(0, made), fns, became);
}

// Numbers nodes anew, so that each is followed by all that it calls.
function inOrder(callers, fns, became) {
    const count = callers.length;
    const sizes = new Uint32Array(count).fill(1);
    for (let node = count - 1; node > 0; node--) sizes[callers[node]] += sizes[node];
    const [numbers, next] = [new Uint32Array(count), new Uint32Array(count)];
    const [caller, fn, end] = [0, 1, 2].map(() => new Uint32Array(count));
    next[0] = 1;
    end[0] = count;
    for (let node = 1; node < count; node++) {
        const above = callers[node];
        const number = next[above];
        next[above] += sizes[node];
        numbers[node] = number;
        next[node] = number + 1;
        caller[number] = numbers[above];
        fn[number] = fns[node];
        end[number] = number + sizes[node];
    }
    return { tree: { count, caller, fn, end }, became: became.map((node) => numbers[node]) };
}

// Whether each node is a function with this name, or is called by one.
function nodesUnder({ count, caller, fn }, name) {
    const is = new Uint8Array(count);
    for (let node = 1; node < count; node++) is[node] = is[caller[node]] | (nameOf(fn[node]) === name ? 1 : 0);
    return is;
}

// The tree and the node of each row after the transforms.
function transformed(transforms, isCollapsed) {
    let [{ tree }, node] = [data, rows.node];
    const renumber = ({ tree: to, became }) => {
        tree = to;
        node = node.map((at) => at === GONE ? GONE : became[at]);
    };
    for (const { kind, name } of transforms) {
        const index = nameIndex(name);
        if (kind === 'merge') {
            const { fn } = tree;
            renumber(rebuilt(tree, (at, above, child) => nameOf(fn[at]) === index ? above : child(above, fn[at])));
        } else {
            const isUnder = nodesUnder(tree, index);
            const gone = kind === 'hide' ? 1 : 0;
            node = node.map((at) => at === GONE || isUnder[at] === gone ? GONE : at);
        }
    }
    if (isCollapsed) {
        const { fn } = tree;
        renumber(rebuilt(tree, (at, above, child, fns) => above > 0 && nameOf(fns[above]) === nameOf(fn[at]) ? above : child(above, fn[at])));
    }
    return { functions, tree, node, isWhole: tree === data.tree && node === rows.node };
}

// All rows of an event.
const rowsOf = (event) => Uint32Array.from({ length: (rows.start[event + 1] ?? 0) - (rows.start[event] ?? 0) }, (_, i) => rows.start[event] + i);

// The rows of an event that are shown, in the order of their nodes.
function rowsInOrder(view, event) {
    const [start, end] = [rows.start[event] ?? 0, rows.start[event + 1] ?? 0];
    const { node, tree: { count } } = view;
    if (view.isWhole) return rowsOf(event);
    return sortedByNode((each) => {
        for (let row = start; row < end; row++) if (node[row] !== GONE) each(row);
    }, node, count);
}

// Sorts the rows that `over` passes to its argument.
function sortedByNode(over, node, count) {
    const next = new Uint32Array(count + 1);
    over((row) => next[node[row] + 1]++);
    for (let i = 0; i < count; i++) next[i + 1] += next[i];
    const order = new Uint32Array(next[count]);
    over((row) => {
        order[next[node[row]]++] = row;
    });
    return order;
}
