"""Tables reach Arrow libraries without a copy."""

from __future__ import annotations

import pytest
from conftest import capture

import perfdata

pyarrow = pytest.importorskip("pyarrow")


def addresses(table) -> set:
    """Return the addresses of all buffers with data, those of lists and structures included."""
    found = set()
    for column in table.columns:
        for chunk in column.chunks:
            found |= {buffer.address for buffer in chunk.buffers() if buffer is not None and buffer.size > 0}
    return found


def test_no_copy() -> None:
    tables = perfdata.open(capture("everything.data")).tables()
    for name, table in tables.items():
        first, second = pyarrow.table(table), pyarrow.table(table)
        # Both are of the memory of the table. An empty column may have a buffer of its own.
        assert first.equals(second)
        if table.num_rows:
            assert addresses(first) == addresses(second), name
            assert addresses(first), name


def test_memory_outlives_the_capture() -> None:
    table = pyarrow.table(perfdata.open(capture("everything.data")).tables()["samples"])
    assert table.num_rows == 147
    assert set(table["event"].to_pylist()) == {"page-faults", "raw_syscalls:sys_exit"}
    table.validate(full=True)


def test_streams_can_be_released() -> None:
    table = perfdata.open(capture("plain.data")).tables()["samples"]
    for _ in range(100):
        table.__arrow_c_stream__()
        table.__arrow_c_schema__()
    assert pyarrow.schema(table).names == table.column_names
    assert pyarrow.RecordBatchReader.from_stream(table).read_all().num_rows == len(table)


def test_polars() -> None:
    polars = pytest.importorskip("polars")
    tables = perfdata.open(capture("everything.data")).tables()
    samples = polars.DataFrame(tables["samples"])
    assert samples.height == tables["samples"].num_rows
    by_event = samples.group_by("event").agg(polars.col("period").sum()).sort("event")
    assert by_event.rows() == [("page-faults", 114), ("raw_syscalls:sys_exit", 33)]
    stacks = polars.DataFrame(tables["stacks"])
    assert (stacks["frame_ids"].list.len() == stacks["depth"]).all()


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    samples = pyarrow.table(perfdata.open(capture("plain.data")).tables()["samples"]).to_pandas()
    assert isinstance(samples, pandas.DataFrame)
    assert samples["period"].sum() == sum(row["period"] for row in perfdata.open(capture("plain.data")).report())


def test_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    tables = perfdata.open(capture("callchain.data")).tables()
    samples, stacks, frames = (pyarrow.table(tables[name]) for name in ("samples", "stacks", "frames"))
    rows = duckdb.sql(
        "SELECT function, sum(period) FROM samples JOIN stacks USING (stack_id) "
        "JOIN frames ON frames.frame_id = stacks.leaf GROUP BY 1 ORDER BY 2 DESC"
    ).fetchall()
    assert sum(period for _, period in rows) == sum(
        row["period"] for row in perfdata.open(capture("callchain.data")).report()
    )
    assert samples.num_rows and stacks.num_rows and frames.num_rows


def test_optional_columns() -> None:
    plain = perfdata.open(capture("raw.data")).tables()
    tables = perfdata.open(capture("raw.data")).tables(trace=True, flat=True)
    assert "trace_raw_syscalls_sys_enter" in set(tables) - set(plain)
    samples = pyarrow.table(tables["samples"])
    assert all(stack for stack in samples["stack"].to_pylist())
    calls = pyarrow.table(tables["trace_raw_syscalls_sys_enter"])
    assert calls.num_rows == samples["event"].to_pylist().count("raw_syscalls:sys_enter")
    branches = perfdata.open(capture("../synthetic/branches.le.data")).tables(branches=True)
    assert any(pyarrow.table(branches["samples"])["branches"].to_pylist())
    registers = perfdata.open(capture("user_regs.data")).tables(registers=True)
    assert any(pyarrow.table(registers["samples"])["user_registers"].to_pylist())
