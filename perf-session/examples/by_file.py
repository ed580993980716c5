"""Counts in which file each program ran: perfdata script --format jsonl perf.data | python3 by_file.py"""

import collections, json, sys

samples = collections.Counter()
for line in sys.stdin:
    sample = json.loads(line)
    if stack := sample.get("stack"):
        samples[sample["comm"], stack[0].get("dso", "[unknown]")] += 1
for (comm, file), count in sorted(samples.items()):
    print(f"{count:8} {comm} {file}")
