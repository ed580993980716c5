"""The top functions of many captures, by SQL: python fleet_by_duckdb.py *.data."""

import sys

import duckdb
import pyarrow

import perfdata

captures = [perfdata.open(path).tables() for path in sys.argv[1:]]
samples, stacks, frames, hosts = (
    pyarrow.concat_tables(pyarrow.table(tables[name]) for tables in captures)
    for name in ("samples", "stacks", "frames", "captures")
)
print(
    duckdb.sql(
        """SELECT hostname, event, coalesce(function, '[unknown]') AS function, count(*) AS samples, sum(period) AS period
           FROM samples JOIN stacks USING (capture, stack_id) JOIN frames ON frames.capture = stacks.capture AND frame_id = leaf
           JOIN hosts ON hosts.capture = samples.capture GROUP BY ALL ORDER BY samples DESC, period DESC LIMIT 20"""
    )
)
