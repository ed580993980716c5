// A capture as a viewer imports it: the bytes of a file that was dropped become the JSON of speedscope, in a page or in node:
//
//     node speedscope.mjs perf.data > perf.speedscope.json

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Capture } from 'perfdata';

// Returns the profile, or null if the bytes are no capture.
export function importPerfData(name, bytes) {
    let capture;
    try {
        capture = new Capture(bytes);
    } catch {
        return null;
    }
    try {
        return JSON.parse(capture.speedscope({ name }));
    } finally {
        capture.free();
    }
}

const [path] = process.argv.slice(2);
const profile = importPerfData(basename(path), readFileSync(path));
if (profile === null) throw new Error(`${path} is no capture of perf`);
process.stdout.write(JSON.stringify(profile));
