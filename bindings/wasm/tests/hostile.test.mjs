// Damaged captures and wrong options: an exception with an offset or an account, never a trap.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';

import { Capture, captures, isOrdinary } from './common.mjs';

// Numbers that are the same in each run.
function* numbers(seed) {
    for (let state = seed; ;) {
        state = (Math.imul(state, 1103515245) + 12345) >>> 0;
        yield state >>> 8;
    }
}

function useAll(bytes) {
    let capture;
    try {
        capture = new Capture(bytes);
    } catch (error) {
        assert.ok(isOrdinary(error), error.stack);
        assert.equal(typeof error.offset, 'number');
        return;
    }
    const { account } = capture.info();
    assert.equal(account.is_clean, account.faults === 0 && account.bytes_skipped === 0 && !account.unfinished);
    for (const method of ['fold', 'report', 'flamegraph', 'firefox', 'speedscope', 'pprof']) {
        try {
            capture[method]();
        } catch (error) {
            assert.ok(isOrdinary(error), `${method}: ${error.stack}`);
        }
    }
    capture.timeline(10);
    capture.free();
}

for (const path of captures('hostile', 'captures')) {
    test(`${basename(path)}: whole, cut, and with other bytes`, () => {
        const bytes = readFileSync(path);
        useAll(bytes);
        const random = numbers(bytes.length);
        const next = (end) => random.next().value % end;
        for (let round = 0; round < 6; round += 1) {
            useAll(bytes.subarray(0, next(bytes.length)));
            const changed = Uint8Array.from(bytes);
            for (let change = 0; change < 1 + 20 * round; change += 1) changed[next(round % 2 ? changed.length : 4096)] = next(256);
            useAll(changed);
        }
    });
}

test('no capture', () => {
    for (const bytes of [[], [...'PERFILE2'].map((it) => it.charCodeAt(0)), new Array(1000).fill(0)]) {
        assert.throws(() => new Capture(Uint8Array.from(bytes)), (error) => isOrdinary(error) && typeof error.offset === 'number');
    }
});
