"""A flame graph of each thread, into a folder: python flame_graph_of_each_thread.py perf.data FOLDER."""

import pathlib
import sys

import perfdata

folder = pathlib.Path(sys.argv[2])
folder.mkdir(exist_ok=True)
for row in perfdata.open(sys.argv[1], names=False).report("tid"):
    page = folder / f"{row['tid']}.html"
    perfdata.open(sys.argv[1], tid=row["tid"]).flamegraph(page)
    print(f"{row['samples']:8} samples  {page}")
