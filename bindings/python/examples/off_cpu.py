"""Where threads were blocked: python off_cpu.py perf.data, of perf record --switch-events or perfdata record --off-cpu."""

import sys

import perfdata

for row in perfdata.open(sys.argv[1]).report("comm,sym", off_cpu=True)[:20]:
    print(f"{row['event']:9} {row['period'] / 1e6:10.3f} ms  {row['samples']:6} times  {row['comm']}  {row['symbol'] or '[unknown]'}")
