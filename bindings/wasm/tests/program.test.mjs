// Compares the package with the program, for every capture.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';

import { Capture, asJson, captures, program, skip } from './common.mjs';

// Of a row of the program, what is text for a terminal there and the bits of the kernel here.
const TEXTS = ['mem', 'snoop', 'tlb', 'locked', 'blocked', 'transaction'];

function comparable(rows) {
    return rows.map((row) => Object.fromEntries(Object.entries(row)
        .filter(([name]) => name !== 'callchain' && !TEXTS.includes(name))
        .sort(([one], [other]) => one < other ? -1 : 1)));
}

for (const path of captures('captures', 'synthetic')) {
    const name = basename(path);
    const open = () => new Capture(readFileSync(path));

    test(`${name}: fold`, { skip }, () => {
        assert.equal(open().fold(), program('fold', path));
        assert.equal(open().fold({ root: 'tid', weight: 'samples' }), program('fold', '--root', 'tid', '--weight', 'samples', path));
    });

    for (const options of [[], ['--no-children', '--sort', 'pid,comm,dso,sym'], ['--sort', 'sym,srcline,cpu']]) {
        test(`${name}: report ${options.join(' ')}`, { skip }, () => {
            const sort = options.includes('--sort') ? options.at(-1) : undefined;
            const expected = program('report', '-i', path, '--format', 'json', ...options);
            if (expected === null) {
                assert.throws(() => open().report({ sort, children: !options.includes('--no-children') }), Error);
                return;
            }
            const json = JSON.parse(expected);
            const found = asJson(open().report({ sort, children: !options.includes('--no-children') }));
            assert.deepEqual(found.tables.map((it) => it.name), json.tables.map((it) => it.name));
            found.tables.forEach((table, at) => {
                const other = json.tables[at];
                assert.deepEqual(table.totals, other.totals);
                assert.deepEqual(table.columns, other.columns);
                assert.deepEqual(comparable(table.rows), comparable(other.rows));
            });
            assert.deepEqual(found.quality.stacks, json.quality.stacks);
            assert.deepEqual(found.quality.frames, json.quality.frames);
            assert.equal(found.account.records, json.account.records);
        });
    }

    test(`${name}: info`, { skip }, () => {
        const info = asJson(open().info());
        const text = program('info', path);
        const number = (pattern) => Number(pattern.exec(text)?.[1] ?? NaN);
        assert.equal(info.events.length, number(/^events: (\d+)/m));
        assert.equal(info.features.length, number(/^features: (\d+)/m));
        assert.equal(info.account.records, number(/^records: (\d+)/m));
        assert.equal(info.account.bytes, number(/^records: \d+, (\d+) bytes/m));
        assert.equal(info.account.lost_samples, number(/^lost while recording: \d+ records, (\d+) samples/m));
        assert.equal(info.account.is_clean, /^account: clean/m.test(text));
        const counts = text.split(/^records: .*\n/m)[1].split('\n').map((line) => /^  (\S+) +(\d+)$/.exec(line)).filter(Boolean);
        assert.deepEqual(info.records.map(({ type, count }) => [type, count]), counts.map(([, type, count]) => [type, Number(count)]));
        const report = program('report', '-i', path, '--format', 'json');
        if (report === null) return;
        const { header } = JSON.parse(report);
        for (const member of ['hostname', 'os_release', 'arch', 'perf_version']) assert.equal(info[member] ?? undefined, header[member], member);
        assert.deepEqual(info.events.map((it) => it.name), header.events);
    });
}
