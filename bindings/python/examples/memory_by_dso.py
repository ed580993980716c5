"""Page faults of each file, and the functions that cause them: python memory_by_dso.py perf.data, of perf record -e page-faults."""

import collections
import sys

import perfdata

faults = collections.defaultdict(collections.Counter)
for sample in perfdata.open(sys.argv[1], event="page-faults").samples():
    frame = sample.stack[0] if sample.stack else None
    faults[frame and frame.dso][frame and frame.function or "[unknown]"] += sample.period
for dso, functions in sorted(faults.items(), key=lambda it: -sum(it[1].values())):
    print(f"{sum(functions.values()):8}  {dso}: " + ", ".join(f"{name} {count}" for name, count in functions.most_common(3)))
