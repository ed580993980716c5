// The size of what a page loads.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { here } from './common.mjs';

// The goal is 900 KB, and is missed: see README.md.
const MOST = 1_250_000;

test('the module is small', () => {
    const size = gzipSync(readFileSync(join(here, '../pkg/web/perfdata_bg.wasm')), { level: 9 }).length;
    assert.ok(size <= MOST, `${size} bytes, more than ${MOST}`);
});

test('nothing is imported but JavaScript itself', () => {
    const imports = WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(join(here, '../pkg/web/perfdata_bg.wasm'))));
    assert.deepEqual([...new Set(imports.map(({ module }) => module))], ['./perfdata_bg.js']);
});
