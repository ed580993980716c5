"""How long system calls take: python syscall_latency.py perf.data, of perf record -e 'raw_syscalls:*'."""

import collections
import sys

import pyarrow

import perfdata

tables = perfdata.open(sys.argv[1], names=False).tables(trace=True)
enters, exits = (pyarrow.table(tables[f"trace_raw_syscalls_sys_{way}"]).to_pylist() for way in ("enter", "exit"))
begun, times = {}, collections.defaultdict(list)
for row in sorted(enters + exits, key=lambda row: row["time"]):
    if "ret" not in row:
        begun[row["tid"]] = row
    elif row["tid"] in begun:
        times[row["id"]].append(row["time"] - begun.pop(row["tid"])["time"])
for call, spans in sorted(times.items(), key=lambda it: -sum(it[1])):
    print(f"call {call:4}: {len(spans):6} times, {sum(spans) / len(spans) / 1e3:10.1f} us each, at most {max(spans) / 1e3:.1f} us")
