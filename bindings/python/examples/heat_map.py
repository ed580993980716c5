"""When each CPU was busy, as text: python heat_map.py perf.data. A column is a fiftieth of the capture."""

import collections
import sys

import perfdata

samples = [(s.time, s.cpu) for s in perfdata.open(sys.argv[1], names=False).samples() if s.time and s.cpu is not None]
first, last = min(samples)[0], max(samples)[0]
counts = collections.Counter((cpu, (time - first) * 50 // (last - first + 1)) for time, cpu in samples)
most = max(counts.values())
for cpu in sorted({cpu for cpu, _ in counts}):
    print(f"cpu {cpu:3} |" + "".join(" .:-=+*#%@"[min(9, 10 * counts[cpu, part] // (most + 1))] for part in range(50)) + "|")
