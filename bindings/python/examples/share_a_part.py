"""A part of a capture to show others, without names of threads, files and the host: python share_a_part.py perf.data OUT."""

import sys

import perfdata

edited = perfdata.edit(sys.argv[1], sys.argv[2], time="0%-50%", drop="user-stack", redact=True, compress=3)
print(f"{sys.argv[2]}: {edited['written']} records, {edited['left_out']} left out")
for row in perfdata.open(sys.argv[2]).report("comm,dso")[:5]:
    print(f"{row['percent']:6.2f} %  {row['comm']}  {row['dso']}")
