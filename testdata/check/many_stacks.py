#!/usr/bin/env python3
"""Writes a capture in which no two samples have the same stack, and the names of its functions.

    many_stacks.py SAMPLES OUT.data FOLDER

FOLDER is for --symfs: it has tmp/perf-PID.map. A stack has as many frames as the number of its sample has digits, three
that all have before them, and two of its own after them.
"""

import os
import struct
import sys

PID = 4_194_001
BASE = 0x10000
TAILS = 5000

samples, out, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3]
digits = len(str(samples - 1))

# IP, TID, TIME, CALLCHAIN, PERIOD; the flags mmap, comm and sample_id_all.
SAMPLE_TYPE = 1 | 2 | 4 | 0x20 | 0x100
attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1000, SAMPLE_TYPE, 0, 1 << 8 | 1 << 9 | 1 << 18).ljust(112, b"\0")


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def trailer(time):
    return struct.pack("<IIQ", PID, PID, time)


names = {}


def function(name):
    return names.setdefault(name, BASE + 0x100 * len(names)) + 0x10


stem = [function(name) for name in ("_start", "main", "run")]
level = [[function(f"level_{i}_{digit}") for digit in range(10)] for i in range(digits)]
tails = [function(f"tail_{i}") for i in range(TAILS)]

with open(out, "wb") as file:
    file.write(b"\0" * 104 + attr + struct.pack("<QQ", 0, 0))
    start = file.tell()
    file.write(record(3, 0, struct.pack("<II", PID, PID) + b"many\0\0\0\0" + trailer(1)))
    mapping = struct.pack("<IIQQQ", PID, PID, BASE, 0x100 * (len(names) + 1), 0) + b"//anon\0\0"
    file.write(record(1, 2, mapping + trailer(2)))
    rows = []
    for i in range(samples):
        number = str(i).zfill(digits)
        tail = i * 2654435761 % TAILS
        chain = stem + [level[n][int(digit)] for n, digit in enumerate(number)] + [tails[tail], tails[(tail * 7 + i) % TAILS]]
        chain.append(0xFFFF_FFFF_FFFF_FE00)  # PERF_CONTEXT_USER
        chain.reverse()
        period = 1000 + i * 40503 % 5000
        body = struct.pack(f"<QIIQQQ{len(chain)}Q", chain[1], PID, PID, 1000 + 1000 * i, period, len(chain), *chain)
        rows.append(record(9, 2, body))
        if len(rows) == 1000:
            file.write(b"".join(rows))
            rows.clear()
    file.write(b"".join(rows))
    end = file.tell()
    file.seek(0)
    sections = struct.pack("<QQQQQQ", 104, len(attr) + 16, start, end - start, 0, 0)
    file.write(b"PERFILE2" + struct.pack("<QQ", 104, len(attr) + 16) + sections)

os.makedirs(f"{folder}/tmp", exist_ok=True)
with open(f"{folder}/tmp/perf-{PID}.map", "w") as file:
    for name, address in names.items():
        file.write(f"{address:x} 100 {name}\n")
