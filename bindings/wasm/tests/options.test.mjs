// Options, slices, files with names, progress.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readFileSync, readSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { Capture, asJson, captures, isOrdinary, program, skip, testdata } from './common.mjs';

const path = join(testdata, 'captures/callchain.data');
const open = () => new Capture(readFileSync(path));

test('a selection is that of the program', { skip }, () => {
    assert.equal(open().fold({ time: '10%-50%', root: 'pid' }), program('fold', '--time', '10%-50%', '--root', 'pid', path));
    const [thread] = open().timeline(1).events[0].threads;
    assert.equal(open().fold({ tid: thread.tid }), program('fold', '--tid', String(thread.tid), path));
    assert.equal(open().fold({ comm: [thread.comm] }), program('fold', '--comm', thread.comm, path));
    assert.equal(open().fold({ maxStack: 2 }), program('fold', '--max-stack', '2', path));
});

test('what is wrong with an option is said', () => {
    const refused = (options, pattern) => assert.throws(() => open().report(options), { name: 'Error', message: pattern });
    refused({ colour: 1 }, /^colour: no such option; the options are time, /);
    refused({ sort: 'nothing!' }, /^sort nothing!/);
    // The capture tells which fields of tracepoints are keys.
    refused({ sort: 'nothing' }, /^sort: nothing: there is no such key/);
    refused({ time: 'soon' }, /^time soon: /);
    refused({ event: 'nothing' }, /^event nothing: /);
    refused({ comm: 1 }, /^comm: must be a string/);
    refused({ children: 'yes' }, /^children: must be true or false/);
    refused({ maxStack: -1 }, /^maxStack: must be a number/);
    refused({ offCpu: true }, /off.cpu/i);
    refused('comm', /^the options must be an object/);
    assert.throws(() => open().timeline(0), /^Error: parts 0/);
});

test('slices have the same samples as the whole', () => {
    for (const path of captures('captures')) {
        const file = openSync(path);
        let most = 0;
        const read = (offset, length) => {
            most = Math.max(most, length);
            const bytes = new Uint8Array(length);
            assert.equal(readSync(file, bytes, 0, length, offset), length);
            return bytes;
        };
        const sliced = Capture.fromSlices(statSync(path).size, read);
        const whole = new Capture(readFileSync(path));
        assert.equal(sliced.fold(), whole.fold(), path);
        assert.deepEqual(sliced.info(), whole.info(), path);
        assert.ok(most <= 1 << 20);
        sliced.free();
    }
});

test('slices that cannot be read', () => {
    const fails = () => { throw new Error('gone'); };
    assert.throws(() => Capture.fromSlices(1000, fails), /cannot be read/);
    assert.throws(() => Capture.fromSlices(1000, () => 'text'), /cannot be read/);
    // It ends before its size.
    const bytes = readFileSync(path);
    const cut = (offset, length) => Uint8Array.from(bytes.subarray(0, 5000).subarray(offset, offset + length));
    try {
        assert.equal(Capture.fromSlices(bytes.length, cut).info().account.is_clean, false);
    } catch (error) {
        assert.equal(typeof error.offset, 'number');
    }
});

// Returns a folder with the file that a capture maps, as the root of the machine that recorded.
function rootOf(path, elf) {
    const mapped = / (\/[^ \n]+)$/m.exec(program('script', '--show-mmap-events', '-i', path))[1];
    const root = mkdtempSync(join(tmpdir(), 'perfdata-'));
    mkdirSync(join(root, dirname(mapped)), { recursive: true });
    writeFileSync(join(root, mapped), elf);
    return { root, mapped };
}

for (const machine of ['aarch64', 'arm', 'i686', 'thumb']) {
    test(`${machine}: names and stacks with an ELF file are those of the program`, { skip }, () => {
        const path = join(testdata, `unwind/${machine}.data`);
        const elf = readFileSync(join(testdata, `unwind/${machine}.elf`));
        const { root, mapped } = rootOf(path, elf);
        const expected = program('fold', '--symfs', root, path);
        // By its path, and by its name alone.
        for (const name of [mapped, basename(mapped)]) {
            const capture = new Capture(readFileSync(path));
            assert.notEqual(capture.fold(), expected);
            capture.addFile(name, elf);
            assert.equal(capture.fold(), expected);
            capture.free();
        }
    });
}

test('an archive has the names of its files', { skip }, () => {
    const path = join(testdata, 'unwind/aarch64.data');
    const { root } = rootOf(path, readFileSync(join(testdata, 'unwind/aarch64.elf')));
    const packed = join(root, 'packed.tar.zst');
    assert.notEqual(program('archive', '--symfs', root, '-o', packed, path), null);
    const expected = program('fold', '--symfs', root, path);
    const bytes = readFileSync(packed);
    const slices = Capture.fromSlices(bytes.length, (offset, length) => Uint8Array.from(bytes.subarray(offset, offset + length)));
    for (const capture of [new Capture(bytes), slices]) {
        assert.equal(capture.fold(), expected);
        assert.deepEqual(capture.info(), new Capture(readFileSync(path)).info());
        capture.free();
    }
    assert.throws(() => new Capture(bytes.subarray(0, bytes.length / 2)), isOrdinary);
    // perf archive packs the files alone.
    const files = mkdtempSync(join(tmpdir(), 'perfdata-'));
    mkdirSync(join(files, '.build-id'));
    execFileSync('tar', ['cf', join(root, 'perf.tar'), '-C', files, '.build-id']);
    assert.throws(() => new Capture(readFileSync(join(root, 'perf.tar'))), /no capture/);
});

test('progress, and its end', () => {
    const big = captures('captures').map((path) => readFileSync(path)).toSorted((one, other) => other.length - one.length)[0];
    const calls = [];
    new Capture(big).fold({ progress: (bytes) => { calls.push(bytes); } });
    assert.deepEqual(calls, calls.toSorted((one, other) => one - other));
    if (calls.length > 0) assert.throws(() => new Capture(big).fold({ progress: () => false }), /cancelled/);
});

test('documents', () => {
    const capture = open();
    assert.ok(JSON.parse(capture.firefox({ name: 'it' })).meta.product === 'it');
    assert.ok(JSON.parse(capture.speedscope({ name: 'it' })).profiles.length > 0);
    assert.ok(gunzipSync(capture.pprof()).length > 0);
    assert.match(capture.flamegraph({ name: 'it' }), /^<!doctype html>/);
});

test('a timeline has all samples', () => {
    const timeline = asJson(open().timeline(7));
    const [table] = open().report({ sort: 'comm' }).tables;
    const sum = timeline.events[0].threads.reduce((sum, { total }) => sum + total, 0);
    assert.equal(sum, table.totals[0].samples);
    assert.ok(timeline.events[0].threads.every(({ samples }) => samples.length === 7));
});
