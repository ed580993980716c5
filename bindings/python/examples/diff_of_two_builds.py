"""The functions that take more or less of the time in another build: python diff_of_two_builds.py old.data new.data."""

import sys

import perfdata

old, new = map(perfdata.open, sys.argv[1:3])
for row in old.diff(new)[:20]:
    print(f"{row['before']:6.2f} % -> {row['after']:6.2f} %  {row['delta']:+6.2f}  {row['symbol'] or '[unknown]'} ({row['dso']})")
