"""The lines of source code that page faults happened in: python page_faults_by_line.py perf.data."""

import sys

import perfdata

capture = perfdata.open(sys.argv[1], event="page-faults")
for row in capture.report("srcline", percent_limit=1):
    place = f"{row['file']}:{row['line']}" if row["line"] else row["srcline"]
    print(f"{row['percent']:6.2f} %  {row['period']:8} faults  {place}")
