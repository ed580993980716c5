#!/usr/bin/env python3
"""Writes a small capture of which all is known, and the names of its functions.

    known_program.py OUT.data FOLDER

FOLDER is for --symfs: it has tmp/perf-PID.map, and a program with lines. Two threads are sampled each millisecond by
cpu-clock, and SWITCH records tell when they are off the CPU:

    main    0 ms to 40 ms    main, fib, fib, fib         (recursion)
            40 to 60         main, find, memcpy          (C++)
            60 to 80         off the CPU, in main, find
            80 to 100        main, memcpy
    worker  50 to 150        main, drop, free            (Rust)
            150 to 160       main, outer, middle, inner  (inlined, with lines)
"""

import os
import shutil
import struct
import sys

PID = 4_194_002
BASE = 0x10000
MS = 1_000_000
FIND = "std::map<std::string, std::vector<int, std::allocator<int> > >::find(std::string const&)"
DROP = "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop::h0123456789abcdef"

out, folder = sys.argv[1], sys.argv[2]
check = os.path.dirname(os.path.abspath(__file__))

# cpu-clock; IP, TID, TIME, CALLCHAIN, PERIOD; the flags mmap, comm, sample_id_all and context_switch.
SAMPLE_TYPE = 1 | 2 | 4 | 0x20 | 0x100
FLAGS = 1 << 8 | 1 << 9 | 1 << 18 | 1 << 26
attr = struct.pack("<IIQQQQQ", 1, 112, 0, MS, SAMPLE_TYPE, 0, FLAGS).ljust(112, b"\0")


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def trailer(tid, time):
    return struct.pack("<IIQ", PID, tid, time)


names = {}


def function(name):
    return names.setdefault(name, BASE + 0x100 * len(names)) + 0x10


def sample(tid, time, chain):
    ips = [0xFFFF_FFFF_FFFF_FE00, *reversed(chain)]  # PERF_CONTEXT_USER
    body = struct.pack(f"<QIIQQQ{len(ips)}Q", ips[1], PID, tid, time, MS, len(ips), *ips)
    return time, record(9, 2, body)


def switch(tid, time, is_out):
    return time, record(14, 1 << 13 if is_out else 0, trailer(tid, time))


main, fib, find, memcpy, drop, free = (function(name) for name in ("main", "fib", FIND, "memcpy", DROP, "free"))
WORKER = PID + 1
records = [sample(PID, ms * MS, [main, fib, fib, fib]) for ms in range(1, 40)]
records += [sample(PID, ms * MS, [main, find, memcpy]) for ms in range(40, 59)]
records += [sample(PID, 59 * MS, [main, find]), switch(PID, 60 * MS, True), switch(PID, 80 * MS, False)]
records += [sample(PID, ms * MS, [main, memcpy]) for ms in range(80, 100)]
records += [sample(WORKER, ms * MS + 1, [main, drop, free]) for ms in range(50, 150)]
# The line 6 of the program's code is at 0x2000, in functions that are inlined.
records += [sample(WORKER, ms * MS + 1, [main, 0x2007]) for ms in range(150, 160)]
records.sort(key=lambda it: it[0])

with open(out, "wb") as file:
    file.write(b"\0" * 104 + attr + struct.pack("<QQ", 0, 0))
    start = file.tell()
    file.write(record(3, 0, struct.pack("<II", PID, PID) + b"main\0\0\0\0" + trailer(PID, 1)))
    file.write(record(3, 0, struct.pack("<II", PID, WORKER) + b"worker\0\0" + trailer(WORKER, 1)))
    for address, name in ((BASE, b"//anon\0\0"), (0x1000, b"/lines\0\0")):
        mapping = struct.pack("<IIQQQ", PID, PID, address, 0x2000, 0) + name
        file.write(record(1, 2, mapping + trailer(PID, 2)))
    file.write(b"".join(it for _, it in records))
    end = file.tell()
    file.seek(0)
    sections = struct.pack("<QQQQQQ", 104, len(attr) + 16, start, end - start, 0, 0)
    file.write(b"PERFILE2" + struct.pack("<QQ", 104, len(attr) + 16) + sections)

os.makedirs(f"{folder}/tmp", exist_ok=True)
shutil.copyfile(f"{check}/../../perf-symbol/tests/fixtures/lines", f"{folder}/lines")
with open(f"{folder}/tmp/perf-{PID}.map", "w") as file:
    for name, address in names.items():
        file.write(f"{address:x} 100 {name}\n")
