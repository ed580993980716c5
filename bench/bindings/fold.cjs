// fold.cjs PACKAGE CAPTURE: prints the folded stacks of a capture, without names, by the package.
const { openSync, readSync, fstatSync, writeSync } = require('node:fs');
const { resolve } = require('node:path');

const [folder, path] = process.argv.slice(2);
const { Capture } = require(resolve(folder, 'nodejs/perfdata.js'));
const file = openSync(path, 'r');
const bytes = new Uint8Array(fstatSync(file).size);
for (let at = 0; at < bytes.length;) at += readSync(file, bytes, at, Math.min(bytes.length - at, 1 << 30), at);
const text = Buffer.from(new Capture(bytes).fold());
for (let at = 0; at < text.length;) at += writeSync(1, text, at, text.length - at);
