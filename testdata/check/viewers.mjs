// Compares what viewers of profiles read with what was written for them.
//
//     node viewers.mjs speedscope WRITTEN SAVED
//     node viewers.mjs firefox WRITTEN PROFILER_CLI
//
// SAVED is what speedscope saved after it read WRITTEN. PROFILER_CLI is the script of @firefox-devtools/profiler-cli, which
// reads profiles by the code of the Firefox Profiler. Prints what differs, and exits with 1 then.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const [viewer, file, other] = process.argv.slice(2);
const written = JSON.parse(readFileSync(file));
const differences = [];

function same(what, expected, found) {
    const [one, two] = [expected, found].map((value) => JSON.stringify(value));
    if (one !== two) differences.push(`${what}: ${one} was written, ${two} was read`);
}

function add(map, key, count) {
    map.set(key, (map.get(key) ?? 0) + count);
}

// What each function has: by itself, and with what it calls.
const sorted = (map) => [...map].sort();

// The stacks of a profile of speedscope, each with its weight: of samples, or as speedscope saves them, of calls and returns.
function stacks({ samples, weights, events }) {
    if (samples) return samples.map((stack, sample) => [stack, weights[sample]]);
    const open = [];
    let before = 0;
    return events.map(({ type, frame, at }) => {
        const part = [[...open], at - before];
        before = at;
        if (type === 'O') open.push(frame);
        else if (open.pop() !== frame) differences.push(`the call that ends at ${at} is another one`);
        return part;
    });
}

// The weights of the functions in a profile.
function weights({ shared: { frames } }, profile) {
    const [self, total] = [new Map(), new Map()];
    stacks(profile).filter(([stack, weight]) => stack.length > 0 && weight > 0).forEach(([stack, weight]) => {
        const names = stack.map((frame) => JSON.stringify(frames[frame]));
        add(self, names.at(-1), weight);
        new Set(names).forEach((name) => add(total, name, weight));
    });
    return { self: sorted(self), total: sorted(total) };
}

function speedscope() {
    const saved = JSON.parse(readFileSync(other));
    const members = ({ profiles }, name) => profiles.map((profile) => profile[name]);
    for (const name of ['name', 'unit', 'startValue', 'endValue']) {
        same(name, members(written, name), members(saved, name));
    }
    written.profiles.forEach((profile, number) => {
        same(profile.name, weights(written, profile), weights(saved, saved.profiles[number]));
    });
    return written.profiles.length;
}

// The samples of the functions in a thread of Firefox's profile, as the format defines them.
function samples({ libs, shared }, { samples }) {
    const { stackTable, frameTable, funcTable, resourceTable, stringArray } = shared;
    const [self, total] = [new Map(), new Map()];
    const name = (func) => {
        const resource = funcTable.resource[func];
        const lib = resource === -1 ? '' : libs[resourceTable.lib[resource]].name;
        const of = stringArray[funcTable.name[func]];
        // profiler-cli leaves out a library that has the name of the function.
        return JSON.stringify([lib === of ? '' : lib, of]);
    };
    samples.stack.forEach((stack, sample) => {
        const names = [];
        for (let node = stack; node !== null; node = stackTable.prefix[node]) {
            names.push(frameTable.func[stackTable.frame[node]]);
        }
        if (names.length > 0) add(self, name(names[0]), samples.weight[sample]);
        new Set(names).forEach((func) => add(total, name(func), samples.weight[sample]));
    });
    return { self: sorted(self), total: sorted(total) };
}

function firefox() {
    const query = (...args) => execFileSync(process.execPath, [other, ...args], { encoding: 'utf8', maxBuffer: 1 << 30 });
    const ask = (...args) => JSON.parse(query(...args, '--json'));
    query('load', file);
    try {
        const { threads } = ask('thread', 'list', '--limit', '0');
        threads.sort((one, other) => one.threadIndex - other.threadIndex);
        same('threads', written.threads.map(({ name, isMainThread, processName, pid, tid, markers }) => {
            return [isMainThread ? processName : name, processName, pid, tid, markers.length];
        }), threads.map(({ name, processName, pid, tid, markerCount }) => [name, processName, pid, tid, markerCount]));
        threads.forEach(({ threadHandle, threadIndex, name }) => {
            const thread = written.threads[threadIndex];
            if (thread.samples.length === 0) return;
            const { functions } = ask('thread', 'functions', '--include-idle', '--limit', '0', '--thread', threadHandle);
            const [self, total] = [new Map(), new Map()];
            functions.forEach(({ name, library, selfSamples, totalSamples }) => {
                const key = JSON.stringify([library ?? '', name]);
                if (selfSamples > 0) add(self, key, selfSamples);
                add(total, key, totalSamples);
            });
            same(name, samples(written, thread), { self: sorted(self), total: sorted(total) });
        });
    } finally {
        query('stop');
    }
    return written.threads.length;
}

const count = { speedscope, firefox }[viewer]();
if (count === 0) differences.push('nothing was written');
differences.forEach((difference) => console.log(`${file}: ${difference.slice(0, 600)}`));
process.exitCode = differences.length > 0 ? 1 : 0;
