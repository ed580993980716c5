"""Loops by their branches back, with the number of iterations that were seen: python lbr_loops.py perf.data, of perf record -b."""

import collections
import sys

import pyarrow

import perfdata

samples = pyarrow.table(perfdata.open(sys.argv[1], names=False).tables(branches=True)["samples"])
branches = [branch for stack in samples["branches"].to_pylist() for branch in stack or []]
loops = collections.Counter((it["to"], it["from"]) for it in branches if 0 <= it["from"] - it["to"] < 4096)
for (start, end), count in loops.most_common(20):
    print(f"{count:8}  {start % 2**64:#x} to {end % 2**64:#x}, {end - start} bytes")
