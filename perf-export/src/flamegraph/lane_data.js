// What each thread did, in time order. Samples are placed by the part of the time that they are in. The order of those in the
// same part is not known: they are in the order of their stacks.

// Events whose rows are times off the CPU, which ended in the row's part of the time; and what those are called.
const WAITS = { 'off-cpu': '[blocked]', runnable: '[runnable]', stopped: '[stopped]' };
// Stacks of a thread in a part of the time, at the most: more would be narrower than a pixel.
const MOST = 32;
const WAIT_NAMES = Object.values(WAITS);
const waitOf = (event) => Object.keys(WAITS).indexOf(meta.events[event].name);
// The event `running` is the time between waits, which samples tell more of.
const isOnCpu = (event) => waitOf(event) < 0 && meta.events[event].name !== 'running';

// A function, or a wait: -2 and below.
const laneName = (fn) => fn < 0 ? WAIT_NAMES[-2 - fn] : functions.names[nameOf(fn)];

// The event whose samples are what runs.
function laneEvent() {
    if (isOnCpu(state.event)) return state.event;
    const first = meta.events.findIndex((_, event) => isOnCpu(event));
    return first < 0 ? state.event : first;
}

const eventOf = (row) => rows.start.findLastIndex((start) => start <= row);

// Threads with samples, those of a process together, and the rows of each in time order.
function lanesOf() {
    const shownEvents = [laneEvent(), ...meta.events.keys()].filter((event, i) => i === 0 || waitOf(event) >= 0);
    const [from, to] = state.span ?? [1, meta.buckets];
    const all = [];
    for (const event of new Set(shownEvents)) {
        for (const row of rowsInOrder(view, event)) {
            // A wait may have begun in the span and end after it.
            if (rows.bucket[row] < from || rows.bucket[row] > to && waitOf(event) < 0) continue;
            all.push(row);
        }
    }
    const ids = new Map();
    const laneOf = meta.threads.map(([capture, process, pid, tid, comm]) => {
        const id = `${capture} ${process} ${tid}`;
        if (!ids.has(id)) ids.set(id, { capture, process, pid, tid, comm, rows: [], depth: 0, value: 0, stacks: null });
        const lane = ids.get(id);
        lane.comm = comm;
        return lane;
    });
    const depth = depthsOf(view.tree);
    for (const row of all) {
        const lane = laneOf[rows.thread[row]];
        lane.rows.push(row);
        lane.depth = Math.max(lane.depth, depth[view.node[row]] + (waitOf(eventOf(row)) >= 0 ? 1 : 0));
        lane.value += rows.samples[row];
    }
    const lanes = [...ids.values()].filter((lane) => lane.rows.length > 0);
    const ofProcess = new Map();
    for (const lane of lanes) ofProcess.set(lane.process, (ofProcess.get(lane.process) ?? 0) + lane.value);
    return lanes.sort((a, b) => ofProcess.get(b.process) - ofProcess.get(a.process) || a.process - b.process || (b.tid === b.pid) - (a.tid === a.pid) || a.tid - b.tid);
}

function depthsOf({ count, caller }) {
    const depth = new Uint16Array(count);
    for (let node = 1; node < count; node++) depth[node] = depth[caller[node]] + 1;
    return depth;
}

// The usual time between samples of a lane, for events that count something else than time.
function usualStep(buckets) {
    const steps = buckets.slice(1).map((bucket, i) => bucket - buckets[i]).filter((step) => step > 0).sort((a, b) => a - b);
    return steps.length > 0 ? steps[steps.length >> 1] : 1;
}

// Of the rows of a part of the time, those with most samples, in the same order.
function mostOf(group) {
    if (group.length <= MOST) return group;
    const least = group.map(({ row }) => rows.samples[row]).sort((a, b) => b - a)[MOST - 1];
    return group.filter(({ row }) => rows.samples[row] >= least).slice(0, MOST);
}

// The times of a lane's rows: from, to in parts of the time, and what ran or waited then.
function segmentsOf(lane) {
    const part = meta.timeline / meta.buckets;
    const isTime = (event) => meta.events[event].unit === 'ns';
    const list = lane.rows.map((row) => {
        const event = eventOf(row);
        const length = isTime(event) ? rows.period[row] / part : -1;
        return { row, event, bucket: rows.bucket[row], length, isLongWait: waitOf(event) >= 0 && length >= 1 };
    });
    // A wait that began in an earlier part was over before what else is in this one. A stable sort: other rows stay in the
    // order of their stacks.
    list.sort((a, b) => a.bucket - b.bucket || b.isLongWait - a.isLongWait);
    const usual = usualStep(list.filter(({ event }) => waitOf(event) < 0).map(({ bucket }) => bucket));
    const segments = [];
    let before = 0;
    for (let i = 0; i < list.length;) {
        let next = i;
        while (next < list.length && list[next].bucket === list[i].bucket) next++;
        const group = mostOf(list.slice(i, next));
        const after = group.filter(({ isLongWait }) => !isLongWait).length;
        const lengths = group.map(({ length, isLongWait }) => {
            if (isLongWait || after === group.length) return length < 0 ? usual : length;
            return Math.min(length < 0 ? usual : length, 0.5 / after);
        });
        const end = list[i].bucket;
        const wanted = lengths.reduce((sum, length) => sum + length, 0);
        // Gaps shorter than the usual step have no sample because none was due: what ran before a wait ran up to it.
        const isNear = end - wanted - before <= usual + 1;
        if (isNear && group[0].isLongWait && segments.length > 0 && end - wanted > before) {
            before = segments.at(-1).to = end - wanted;
        }
        const start = isNear ? Math.min(before, end) : end - wanted;
        const scale = wanted > 0 ? (end - start) / wanted : 0;
        let at = start;
        group.forEach(({ row, event }, j) => {
            const to = at + lengths[j] * scale;
            segments.push({ from: at, to, row, wait: waitOf(event) });
            at = to;
        });
        before = end;
        i = next;
    }
    return segments;
}

// The frames of a lane by depth: from, to, the function, and whether it only waits. Neighbours with the same callers are one frame.
function stacksOf(lane) {
    if (lane.stacks) return lane.stacks;
    const { caller, fn } = view.tree;
    const stacks = Array.from({ length: lane.depth }, () => []);
    let [before, last] = [[], 0];
    for (const { from, to, row, wait } of segmentsOf(lane)) {
        if (to <= from) continue;
        const stack = wait >= 0 ? [-2 - wait] : [];
        for (let node = view.node[row]; node > 0; node = caller[node]) stack.unshift(fn[node]);
        let isSame = from - last < 1e-6;
        stack.forEach((it, depth) => {
            isSame = isSame && before[depth] === it;
            if (isSame) {
                const frame = stacks[depth].at(-1);
                frame.to = to;
                frame.isWait &&= wait >= 0;
            } else stacks[depth].push({ from, to, fn: it, isWait: wait >= 0 });
        });
        [before, last] = [stack, to];
    }
    lane.stacks = stacks;
    return stacks;
}
