"""Samples of AUX data are those of the program."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
from conftest import capture
from made import spe_capture

import perfdata


@pytest.fixture
def traced(tmp_path: Path) -> Path:
    return spe_capture(tmp_path / "spe.data")


def test_all_kinds_are_made_of_arm_spe(program, traced: Path) -> None:
    opened = perfdata.open(traced)
    assert len(opened.events) == 11
    assert len(list(opened.samples())) == 129, "64 of memory, and 65 of instructions, as perf makes them: one before the first record"
    for event in opened.events:
        text = program("fold", "--event", event.index, traced)
        assert perfdata.open(traced, event=event.index).fold().encode() == text


def test_letters_select_kinds(program, traced: Path) -> None:
    rows = json.loads(program("report", "--itrace=i1iM", "--format", "json", traced))
    opened = perfdata.open(traced, itrace="i1iM")
    assert len(opened.events) == 3 and len(list(opened.samples())) == 129
    assert sum(row["samples"] for row in opened.report()) == 129 and rows
    assert len(list(perfdata.open(traced, itrace="i10i").samples())) == 6
    assert len(list(perfdata.open(traced, itrace=True).samples())) == 129


def test_none_are_made(traced: Path) -> None:
    opened = perfdata.open(traced, itrace=False)
    assert len(opened.events) == 1 and list(opened.samples()) == []
    assert len(perfdata.open(capture("plain.data"), itrace="i1i").events) == 1, "it has no trace"


def test_errors_and_warnings(traced: Path, tmp_path: Path) -> None:
    with pytest.raises(perfdata.Error, match="itrace: at \"k\": must be a unit"):
        perfdata.open(traced, itrace="i1k")
    with pytest.raises(perfdata.Error, match="itrace: a period of nanoseconds is not possible"):
        perfdata.open(traced, itrace="i100us")
    data = traced.read_bytes()
    cut = tmp_path / "cut.data"
    # A byte that is no packet, in the last record.
    at = data.rindex(b"\x49\x00\xb2")
    cut.write_bytes(data[:at] + b"\xff" + data[at + 1 :])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        perfdata.open(cut)
    assert any("AUX data: " in str(it.message) for it in caught), [str(it.message) for it in caught]
