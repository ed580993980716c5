// Decodes profiles with npm's pprof-format, and checks that all numbers in them are of entries that are there, that each
// address is in its mapping, and that the sums of the values are those expected.
//
//     node pprof.mjs node_modules/pprof-format EXPECTED.json
//
// EXPECTED.json has the total of each event of each profile: {"PROFILE": {"EVENT": TOTAL}}.
import assert from "node:assert";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import zlib from "node:zlib";

const [folder, list] = process.argv.slice(2);
const { Profile } = createRequire(import.meta.url)(path.resolve(folder));
const expected = JSON.parse(fs.readFileSync(list, "utf8"));
let samples = 0;
for (const [file, events] of Object.entries(expected)) {
    const profile = Profile.decode(zlib.gunzipSync(fs.readFileSync(file)));
    const strings = profile.stringTable.strings ?? profile.stringTable;
    const text = (number) => {
        assert(Number(number) < strings.length, `${file}: string ${number}`);
        return strings[Number(number)];
    };
    assert.equal(text(0), "");
    const byId = (things) => {
        const map = new Map(things.map((it) => [Number(it.id), it]));
        assert(map.size == things.length && !map.has(0), `${file}: ids`);
        return map;
    };
    const [mappings, locations, functions] = [profile.mapping, profile.location, profile.function].map(byId);
    for (const it of functions.values()) assert(text(it.name) != "" && text(it.systemName) != "");
    for (const it of mappings.values()) assert(/^([0-9a-f]{2})*$/.test(text(it.buildId)));
    for (const it of locations.values()) {
        for (const line of it.line) assert(functions.has(Number(line.functionId)), `${file}: function`);
        if (!Number(it.mappingId)) continue;
        const { memoryStart, memoryLimit } = mappings.get(Number(it.mappingId));
        const address = BigInt(it.address);
        assert(BigInt(memoryStart) <= address && address <= BigInt(memoryLimit), `${file}: address ${address}`);
    }
    const sums = profile.sampleType.map(() => 0n);
    for (const it of profile.sample) {
        for (const id of it.locationId) assert(locations.has(Number(id)), `${file}: location`);
        assert.equal(it.value.length, sums.length);
        it.value.forEach((value, index) => (sums[index] += BigInt(value)));
        const keys = it.label.map((label) => text(label.key));
        assert.deepEqual(keys.filter((key) => key != "cpu"), ["pid", "tid", "comm"]);
    }
    const totals = Object.fromEntries(profile.sampleType.map((it, index) => [text(it.type), sums[index]]));
    for (const [event, total] of Object.entries(events)) {
        // JavaScript's JSON has no larger numbers.
        if (Number.isSafeInteger(total)) assert.equal(totals[event] ?? 0n, BigInt(total), `${file}: ${event}`);
    }
    samples += profile.sample.length;
}
assert(samples > 0);
console.log(`pprof-format: ${samples} samples of ${Object.keys(expected).length} profiles are as expected`);
