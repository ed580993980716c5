// bundler.mjs FOLDER: installs the package as a stranger would, from its tarball, and uses it by `import` in node and bundled by webpack.
// FOLDER is empty. Needs npm and its registry.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2];
const run = (program, ...args) => execFileSync(program, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
const write = (name, text) => writeFileSync(join(folder, name), text);

const [{ filename, files }] = JSON.parse(run('npm', 'pack', '--json', join(here, '../pkg')));
const packed = files.map(({ path }) => path);
for (const name of ['README.md', 'LICENSE-MIT', 'LICENSE-APACHE', 'THIRD-PARTY.txt', 'web/perfdata.d.ts', 'bundler/perfdata_bg.wasm']) {
    assert.ok(packed.includes(name), `${name} is not in the package`);
}
write('package.json', '{ "private": true, "type": "module" }');
run('npm', 'install', '--no-fund', '--no-audit', '--silent', join(folder, filename), 'webpack@5', 'webpack-cli@6');

const program = `
    import { readFileSync } from 'node:fs';
    import { Capture } from 'perfdata';
    process.stdout.write(new Capture(readFileSync(process.argv[2])).fold());
`;
write('program.js', program);
// The package's entry for bundlers, not that for node.
write('webpack.config.cjs', `module.exports = {
    mode: 'production', target: 'node', entry: './program.js', experiments: { asyncWebAssembly: true },
    output: { filename: 'bundle.cjs' }, resolve: { conditionNames: ['import', 'default'] },
};`);
run('npx', 'webpack', '--config', 'webpack.config.cjs');

const capture = join(here, '../../../testdata/captures/callchain.data');
const { Capture } = await import('../pkg/nodejs/perfdata.js');
const expected = new Capture(readFileSync(capture)).fold();
assert.ok(expected.length > 0);
assert.equal(run('node', 'program.js', capture), expected);
assert.equal(run('node', 'dist/bundle.cjs', capture), expected);

// As a viewer imports a capture.
write('speedscope.mjs', readFileSync(join(here, '../examples/speedscope.mjs'), 'utf8'));
const imported = JSON.parse(run('node', 'speedscope.mjs', capture));
assert.deepEqual(imported, JSON.parse(new Capture(readFileSync(capture)).speedscope({ name: 'callchain.data' })));
assert.ok(imported.profiles.length > 0);
console.log('package: as it should be');
