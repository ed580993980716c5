"""How long threads that could run waited for a CPU: python scheduler_delay.py perf.data, with sched:sched_switch."""

import sys

import polars

import perfdata

switches = polars.DataFrame(perfdata.open(sys.argv[1], names=False).tables()["switches"])
delays = switches.filter(polars.col("is_preempted")).group_by("comm", "tid").agg(
    polars.len().alias("waits"), polars.col("duration").max().alias("longest_ns"), polars.col("duration").sum().alias("total_ns")
)
with polars.Config(tbl_rows=20):
    print(delays.sort("total_ns", descending=True))
