"""Errors say where and what to do; nothing is written of what fails."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import pytest
from conftest import TESTDATA, capture

import perfdata


def test_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as error:
        perfdata.open(tmp_path / "missing.data")
    assert error.value.filename == str(tmp_path / "missing.data")
    with pytest.raises(perfdata.Error, match="give a file that perf record wrote") as wrong:
        (tmp_path / "text").write_text("no capture" * 100)
        perfdata.open(tmp_path / "text")
    assert wrong.value.offset == 0
    (tmp_path / "short").write_bytes(capture("plain.data").read_bytes()[:50])
    with pytest.raises(perfdata.Error, match="copy the file again"):
        perfdata.open(tmp_path / "short")
    with pytest.raises(FileNotFoundError):
        perfdata.open(capture("plain.data")).export("pprof", tmp_path / "missing" / "out")
    with pytest.raises(OSError, match="is not a file"):
        perfdata.open(capture("plain.data")).export("pprof", "/dev/null")
    assert issubclass(perfdata.Error, Exception) and perfdata.Error("x").offset is None


def test_a_damaged_capture_warns(tmp_path: Path) -> None:
    data = capture("plain.data").read_bytes()
    cut = tmp_path / "cut.data"
    cut.write_bytes(data[: len(data) // 2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        damaged = perfdata.open(cut)
    for use in (damaged.fold, damaged.report, damaged.tables, damaged.flamegraph, lambda: list(damaged.samples())):
        with pytest.warns(perfdata.CaptureWarning, match="faults: 20.*perfdata.edit writes a copy"):
            use()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(perfdata.CaptureWarning):
            damaged.fold()
        samples = damaged.samples()
        with pytest.raises(perfdata.CaptureWarning):
            list(samples)
        # The account is that of all records.
        assert samples.account["faults"] == 20 and not samples.account["clean"]
        assert list(samples) == []


def test_a_damaged_sample_raises(tmp_path: Path) -> None:
    """A call chain of more frames than its record has is an error of that sample alone."""
    data = bytearray(capture("callchain.data").read_bytes())
    at, end = (int.from_bytes(data[it : it + 8], "little") for it in (40, 48))
    end += at
    samples = []
    while at < end:
        if int.from_bytes(data[at : at + 4], "little") == 9:
            samples.append(at)
        at += int.from_bytes(data[at + 6 : at + 8], "little")
    damaged = samples[5]
    # After the address, the ids, the time and the period.
    chain = next(it for it in range(damaged + 32, damaged + 64, 8) if data[it + 8 : it + 16][-1] == 0xFF)
    data[chain : chain + 8] = (1 << 40).to_bytes(8, "little")
    path = tmp_path / "damaged.data"
    path.write_bytes(data)
    samples = perfdata.open(path).samples()
    seen = 0
    with pytest.raises(perfdata.Error, match="damaged.data: .*callchain") as error:
        for _ in samples:
            seen += 1
    assert damaged <= error.value.offset < damaged + 4096
    with pytest.warns(perfdata.CaptureWarning):
        rest = len(list(samples))
    whole = len(list(perfdata.open(capture("callchain.data")).samples()))
    assert seen + rest == whole - 1
    with pytest.warns(perfdata.CaptureWarning):
        assert len(list(perfdata.open(path).samples(errors="skip"))) == whole - 1


def test_broken_captures_never_crash() -> None:
    hostile = sorted(it for it in (TESTDATA / "hostile").rglob("*") if it.is_file() and it.suffix != ".md")
    if not hostile:
        pytest.skip("testdata/hostile has no captures")
    outcomes = set()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for path in hostile[:200]:
            try:
                opened = perfdata.open(path)
                opened.fold(), opened.report(), opened.tables(), list(opened.samples(errors="skip"))
                outcomes.add("read")
            except (perfdata.Error, OSError) as error:
                assert str(error)
                outcomes.add("refused")
    assert outcomes and all(issubclass(it.category, perfdata.CaptureWarning) for it in warned)


def test_arguments(tmp_path: Path) -> None:
    path = capture("everything.data")
    for arguments, text in [
        ({"time": "x"}, "time x"),
        ({"cpu": "a"}, "cpu a"),
    ]:
        with pytest.raises(perfdata.Error, match=text):
            perfdata.open(path, **arguments)
    with pytest.raises(perfdata.Error, match="event nothing"):
        perfdata.open(path, event="nothing").fold()
    opened = perfdata.open(path)
    # The capture tells which fields of tracepoints are keys.
    with pytest.raises(perfdata.Error, match="sort: nothing: there is no such key"):
        opened.report("nothing")
    for use, text in [
        (lambda: opened.report("nothing!"), "nothing!"),
        (lambda: opened.fold(root="x"), "must be comm, pid or tid"),
        (lambda: opened.fold(weight="x"), "must be period or samples"),
        (lambda: opened.fold(mark="x"), "must be kernel, inlined, jit or all"),
        (lambda: opened.export("x"), "must be folded"),
        (lambda: opened.flamegraph("x.png"), "ends in .html or .svg"),
        (lambda: opened.samples(errors="x"), "must be raise or skip"),
        (lambda: opened.edit(tmp_path / "x", drop="x"), "must be user-stack"),
        (lambda: opened.edit(tmp_path / "x", redact=["x"]), "must be comms"),
        (lambda: opened.edit(tmp_path / "x", compress=23), "from 1"),
        (lambda: opened.edit(tmp_path / "x", sample_every=0), "at least 1"),
        (lambda: opened.edit(tmp_path / "x", salt="x"), "used with redact"),
        (lambda: opened.edit(tmp_path / "x", to="x"), "must be file or pipe"),
        (lambda: opened.edit(tmp_path / "x", release="x"), "must be perf-6.1"),
        (lambda: opened.diff(opened, normalize="x"), "must be share, time or nothing"),
    ]:
        with pytest.raises(ValueError, match=text):
            use()
    with pytest.raises(perfdata.Error, match="off-cpu: .*record with"):
        perfdata.open(capture("plain.data")).fold(off_cpu=True)
    with pytest.raises(perfdata.Error, match="branches: "):
        perfdata.open(capture("plain.data")).report(branches=True)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(TypeError):
        pickle.dumps(opened)


def test_facts() -> None:
    opened = perfdata.open(capture("everything.data"))
    info = opened.info
    assert (info["mode"], info["endianness"], info["hostname"], info["arch"]) == ("file", "little", "vm", "x86_64")
    assert info["cmdline"][1] == "record" and info["cpus"] == 2 and "HOSTNAME" in info["features"]
    assert perfdata.open(TESTDATA / "synthetic/plain.be.data").info["endianness"] == "big"
    assert [(it.index, it.name) for it in opened.events][:2] == [(0, "page-faults"), (1, "cpu-clock")]
    assert opened.events[0].type == 1 and opened.events[0].config == 2 and opened.events[0].ids
    assert opened.account["clean"] and opened.path == capture("everything.data")
    sample = next(opened.samples())
    assert sample.comm and sample.pid > 0 and sample.time > 0 and sample.stack[0].ip
    assert sample.stack is sample.stack
    for thing in (opened, opened.events[0], sample, sample.stack[0], opened.tables()["samples"], opened.flamegraph()):
        assert repr(thing).startswith("<perfdata.")


def test_notebooks_show_a_sandboxed_page() -> None:
    page = perfdata.open(capture("plain.data")).flamegraph()
    shown = page._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts" ') and shown.endswith("</iframe>")
    import html
    import re

    (source,) = re.findall('srcdoc="([^"]*)"', shown)
    assert html.unescape(source) == page.document
