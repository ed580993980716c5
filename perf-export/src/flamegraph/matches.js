// The frames that a search finds, one after the other.

// Frames that are looked at, at the most: from the leaf on, each function may have all the others as callers.
const LOOKED_AT = 50_000;
// The frames, in the order in which they are drawn, once a step is made.
let matching = null, matchingAt = -1, isMore = false;

function forgetMatches() {
    [matching, matchingAt] = [null, -1];
}

// Whether each node is a match or calls one. Frames of other trees than that from the root have no such node.
function nodesWithMatches() {
    const { caller, fn, count } = tree.data.tree;
    const has = new Uint8Array(count);
    for (let node = count - 1; node > 0; node--) {
        has[node] |= matches[fn[node]];
        has[caller[node]] |= has[node];
    }
    return has;
}

function listMatches() {
    [matching, matchingAt, isMore] = [[], -1, false];
    if (state.lanes) {
        matching = matchesInLanes();
        return;
    }
    const has = tree instanceof FromRoot ? nodesWithMatches() : null;
    let count = 0;
    const stack = state.sandwich === null ? [0] : [0, 1];
    while (stack.length > 0) {
        const frame = stack.pop();
        if (++count > LOOKED_AT) {
            isMore = true;
            return;
        }
        // A sandwich has its function twice.
        if (isMatch(frame) && !(frame === 1 && tree.isUp(1))) matching.push(frame);
        if (has && tree.fn[frame] >= 0 && !has[tree.node[frame]]) continue;
        const below = tree.below(frame);
        for (let i = below - 1; i >= 0; i--) {
            if (tree.value[tree.first[frame] + i] > 0) stack.push(tree.first[frame] + i);
        }
    }
}

function isUnder(frame, above) {
    let at = frame;
    while (at > above) at = tree.above[at];
    return at === above;
}

// Chooses a frame, and zooms as far as it needs to be seen.
function goTo(frame) {
    const isWide = (at) => tree.value[frame] / tree.value[at] * columns >= 24;
    const top = tree.isUp(frame) ? 1 : 0;
    let at = isUnder(frame, focus) ? focus : top;
    if (!isWide(at)) {
        at = frame;
        while (at > top && isWide(tree.above[at])) at = tree.above[at];
        // With its caller, unless that is too wide.
        if (at === frame && frame > top) at = tree.above[frame];
        if (!isWide(at)) at = frame;
    }
    if (at !== focus && !(at === 1 && tree.isUp(1))) zoom(at);
    choose(frame);
}

function stepMatch(by) {
    if (matches === null) return;
    if (matching === null) listMatches();
    if (matching.length === 0) return;
    matchingAt = matchingAt < 0 && by < 0 ? matching.length - 1 : (matchingAt + by + matching.length) % matching.length;
    if (state.lanes) chooseInLanes(matching[matchingAt]);
    else goTo(matching[matchingAt]);
    showFound();
}
