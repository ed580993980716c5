// What the tests share.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const here = dirname(fileURLToPath(import.meta.url));
export const testdata = join(here, '../../../testdata');
export const { Capture } = createRequire(import.meta.url)('../pkg/nodejs/perfdata.js');

// The program that the package is compared with.
export const perfdata = process.env.PERFDATA;
export const skip = perfdata && existsSync(perfdata) ? false : 'PERFDATA does not name the program perfdata';

// A folder without files, so that the program finds none of this machine either.
const nothing = mkdtempSync(join(tmpdir(), 'perfdata-'));

// What the program prints; `null` if it cannot read the capture. Status 3: the capture is damaged, but was read.
export function program(...args) {
    const env = { ...process.env, HOME: nothing };
    try {
        const options = { env, encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore'] };
        return execFileSync(perfdata, args.includes('--symfs') || args[0] === 'info' ? args : [...args, '--symfs', nothing], options);
    } catch (error) {
        return error.status === 3 ? error.stdout : null;
    }
}

// The captures of these folders, of one file each.
export function captures(...folders) {
    return folders.flatMap((folder) => readdirSync(join(testdata, folder)).filter((name) => name.endsWith('.data'))
        .map((name) => join(testdata, folder, name))).filter((path) => statSync(path).isFile());
}

// Values as JSON has them: bigints as numbers.
export const asJson = (value) => JSON.parse(JSON.stringify(value, (_, it) => typeof it === 'bigint' ? Number(it) : it));

// Whether the error is one that the package makes, not one of the machine that runs it.
export function isOrdinary(error) {
    return error instanceof Error && !(error instanceof WebAssembly.RuntimeError) && !(error instanceof RangeError)
        && !error.message.startsWith('perfdata has a bug');
}
