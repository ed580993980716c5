#!/usr/bin/env python3
"""Compares the text of samples of AMD Instruction-Based Sampling with that of `perf script -D`.

    ibs.py IBS PERF... [--samples COUNT] [--seed SEED]

IBS is the program of perf-aux/examples/ibs.rs. Each PERF is perf 6.1 or 7.2. Makes captures of random registers, for machines
on which the registers differ in meaning, as ibs_fetch and ibs_op record them; it writes them itself, without the crates. Exits
with 1 if a line differs or nothing was compared, and with 3 if a perf is another release.
"""

import argparse
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

# Family and model of the CPU, and the capabilities that its header states.
ZEN4 = ["zen4_ibs_extensions"]
MACHINES = [
    (0x10, 2, []),
    (0x17, 0x31, []),
    (0x19, 0x01, []),
    (0x19, 0x01, ZEN4),
    (0x19, 0x11, ZEN4),
    (0x1A, 0x02, [*ZEN4, "ldlat", "dtlb_pgsize"]),
    (0x1A, 0x50, [*ZEN4, "ldlat", "dtlb_pgsize", "rmtsocket", "strmst"]),
    (0x1A, 0xA0, [*ZEN4]),
    (0x1B, 0x00, ["rmtsocket", "strmst", "ldlat"]),
]

# The type of the PMU, the number of registers that perf reads, and the bits that make a sample valid.
FETCH, OP = (9, 4, 0b11 << 48), (10, 8, 0b11 << 17)

# These registers are there: BRNTRGT and FETCHCTLEXTD.
CAPS = 1 << 5 | 1 << 9

# Bits of header features.
ARCH, CPUID, PMU_MAPPINGS, PMU_CAPS = 6, 9, 16, 31

PREFIXES = ("ibs_", "ic_ibs_", "Ibs")


def string(text):
    size = (len(text) + 64) // 64 * 64
    return struct.pack("<I", size) + text.encode().ljust(size, b"\0")


def registers(count, valid):
    """Words of few, half, or most of the bits; one sample of 50 is not valid."""
    words = []
    for _ in range(count):
        word = random.getrandbits(64)
        kind = random.randrange(4)
        if kind == 0:
            word &= random.getrandbits(64) & random.getrandbits(64)
        elif kind == 1:
            word |= random.getrandbits(64) | random.getrandbits(64)
        elif kind == 2:
            word = 1 << random.randrange(64)
        words.append(word)
    if random.randrange(50):
        words[0] |= valid
    return words


def capture(machine, pmu, samples):
    family, model, caps = machine
    kind, count, valid = pmu
    # type, size, config, sample_period, sample_type IP|TID|TIME|RAW, read_format, flags sample_id_all.
    attr = struct.pack("<IIQQQQQ", kind, 112, 0, 100000, 0x407, 0, 1 << 18).ljust(112, b"\0")
    data = bytearray()
    for time in range(samples):
        raw = struct.pack(f"<I{count}Q", CAPS, *registers(count, valid))
        body = struct.pack("<QIIQI", 0x401000, 7, 7, time + 1, len(raw)) + raw
        data += struct.pack("<IHH", 9, 2, 8 + len(body)) + body
    features = {
        ARCH: string("x86_64"),
        CPUID: string(f"AuthenticAMD,{family},{model},0"),
        PMU_MAPPINGS: struct.pack("<II", 2, FETCH[0]) + string("ibs_fetch") + struct.pack("<I", OP[0]) + string("ibs_op"),
        PMU_CAPS: struct.pack("<II", 1, len(caps)) + b"".join(string(cap) + string("1") for cap in caps) + string("ibs_op"),
    }
    at = 104 + 128
    bits = sum(1 << number for number in features)
    header = struct.pack("<8s12Q", b"PERFILE2", 104, 128, 104, 128, at, len(data), 0, 0, bits, 0, 0, 0)
    table, sections = b"", b""
    start = at + len(data) + 16 * len(features)
    for number in sorted(features):
        table += struct.pack("<QQ", start + len(sections), len(features[number]))
        sections += features[number]
    return header + attr + struct.pack("<QQ", 0, 0) + bytes(data) + table + sections


def lines(command):
    environment = dict(os.environ, LC_ALL="C", PERF_PAGER="cat", PAGER="cat", PERF_CONFIG="/dev/null")
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=environment, check=False, timeout=600)
    return [line for line in done.stdout.decode(errors="replace").splitlines() if line.startswith(PREFIXES)]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("ibs")
    arguments.add_argument("perf", nargs="+")
    arguments.add_argument("--samples", type=int, default=100000, help="samples for each perf")
    arguments.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = arguments.parse_args()
    print(f"seed {options.seed}")
    unknown = 0
    for perf in options.perf:
        there = shutil.which(perf)
        version = subprocess.run([perf, "--version"], capture_output=True, check=False).stdout.decode().strip() if there else ""
        release = next((it for it in ("6.1", "7.2") if version.startswith(f"perf version {it}.")), None)
        if release is None:
            print(f"not run: {perf} is {version or 'not there'}")
            unknown += 1
            continue
        random.seed(options.seed)
        compared = samples = 0
        count = -(-options.samples // (2 * len(MACHINES)))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "ibs.data"
            for machine in MACHINES:
                for pmu in (FETCH, OP):
                    path.write_bytes(capture(machine, pmu, count))
                    ours = lines([options.ibs, str(path), release])
                    theirs = lines([perf, "script", "-D", "-i", str(path)])
                    for ours_line, theirs_line in zip(ours, theirs):
                        if ours_line != theirs_line:
                            print(f"{machine} {pmu}:\n  ours {ours_line}\n  perf {theirs_line}")
                            return 1
                    if len(ours) != len(theirs) or not ours:
                        print(f"{machine} {pmu}: {len(ours)} lines of ours, {len(theirs)} of perf")
                        return 1
                    compared += len(ours)
                    samples += count
        print(f"{version}: {compared} lines of {samples} samples are the same")
    return 3 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
