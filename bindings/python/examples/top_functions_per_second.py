"""The top functions of each second: python top_functions_per_second.py perf.data [SPAN, such as 1s or 10ms]."""

import itertools
import sys

import perfdata

quantum = sys.argv[2] if len(sys.argv) > 2 else "1s"
rows = perfdata.open(sys.argv[1]).report("time,dso,sym", time_quantum=quantum)
rows.sort(key=lambda row: (row["event"], row["time"], -row["period"]))
for (event, time), of_span in itertools.groupby(rows, lambda row: (row["event"], row["time"])):
    print(f"{event} at {time / 1e9:.6f} s")
    for row in itertools.islice(of_span, 3):
        print(f"  {row['samples']:6} samples  {row['symbol'] or '[unknown]'} ({row['dso']})")
