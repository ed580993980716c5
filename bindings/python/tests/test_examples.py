"""Each example runs on a capture that has what it needs, and finds what is in it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import TESTDATA, capture
from made import program_and_capture

import perfdata

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
OFF_CPU = TESTDATA / "foreign/simpleperf/perf_with_trace_offcpu_v2.data"

# The example, its arguments (OUT is a path that is free), what its output must have, and the libraries that it needs.
CASES = [
    ("top_functions_per_second", [capture("callchain.data"), "10ms"], r"cpu-clock at \d+\.\d+ s\n +\d+ samples  \S", []),
    ("page_faults_by_line", [capture("plain.data")], r"\d+ faults  \S+", []),
    ("scheduler_delay", [OFF_CPU], r"longest_ns", ["polars"]),
    ("off_cpu", [OFF_CPU], r"off-cpu +\d+\.\d+ ms", []),
    ("diff_of_two_builds", [capture("callchain.data"), capture("system_wide.data")], r"\d+\.\d\d % -> +\d+\.\d\d %", []),
    ("heat_map", [capture("system_wide.data")], r"cpu   0 \|.{50}\|", []),
    ("fleet_by_duckdb", [capture("plain.data"), capture("callchain.data")], r"page-faults", ["duckdb", "pyarrow"]),
    ("lbr_loops", [TESTDATA / "foreign/quipper/perf.data.branch_stack_hw_index"], r"0x[0-9a-f]+ to 0x[0-9a-f]+, \d+ bytes", ["pyarrow"]),
    ("memory_by_dso", [capture("plain.data")], r"\d+  /\S+: \S+ \d+", []),
    ("flame_graph_of_each_thread", [capture("tasks.data"), "OUT"], r"\d+ samples  \S+\.html", []),
    ("share_a_part", [capture("everything.data"), "OUT"], r"\d+ records, \d+ left out\n +\d+\.\d\d %  \S", []),
]


def run(name: str, *arguments: object) -> str:
    command = [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("name", "arguments", "expected", "needs"), CASES, ids=[case[0] for case in CASES])
def test_example(name: str, arguments: list, expected: str, needs: list, tmp_path: Path) -> None:
    for module in needs:
        pytest.importorskip(module)
    output = run(name, *[tmp_path / "out" if it == "OUT" else it for it in arguments])
    assert re.search(expected, output), output


def test_syscall_latency(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "calls.data"
    try:
        events = "raw_syscalls:sys_enter,raw_syscalls:sys_exit"
        perfdata.record(["ls", "/"], events=events, period=1, output=path)
    except (perfdata.Error, ValueError) as error:
        pytest.skip(f"this machine permits no recording of tracepoints: {error}")
    assert re.search(r"call +\d+: +\d+ times, +\d+\.\d us each, at most", run("syscall_latency", path))


def test_hot_instructions(tmp_path: Path) -> None:
    output = run("hot_instructions", program_and_capture(tmp_path))
    assert re.search(r"^first in /\S+/prog: 80\.00 % of cpu-clock\n +2  5001  mov    %rsp,%rbp", output), output


def test_every_example_has_a_test() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {case[0] for case in CASES} | {"syscall_latency", "hot_instructions"}
    assert len(list(EXAMPLES.glob("*.py"))) == 13
