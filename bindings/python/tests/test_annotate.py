"""Annotated functions are those of the program, and errors say what to do."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import capture
from made import ADDRESS, FIRST, program_and_capture

import perfdata


def document(annotations: perfdata.Annotations) -> dict:
    """Return annotations as the program's JSON has them."""
    missing = [{"symbol": it.symbol, "dso": it.dso, "why": it.why} for it in annotations.missing]
    return {"functions": [function_of(it) for it in annotations.functions], "missing": missing}


def function_of(it: perfdata.Annotation) -> dict:
    value = members(it, "symbol guess dso build_id code start end")
    value["events"] = [members(event, "name samples period all_samples all_period precise_ip") for event in it.events]
    value["functions"] = [{**members(row, "caller samples period"), "name": row.name or ""} for row in it.functions]
    value["sources"] = [members(row, "path is_newer first text") for row in it.sources]
    value["lines"] = [members(row, "source line samples period") for row in it.lines]
    value["instructions"] = [instruction_of(row) for row in it.instructions]
    value["branches"] = [
        {**members(row, "count mispredicted cycles timed"), **some({"from": row.from_address, "to": row.to_address})}
        for row in it.branches
    ]
    return value


def instruction_of(it: perfdata.AnnotatedInstruction) -> dict:
    value = members(it, "address text line column function samples period") | {"bytes": it.bytes.hex()}
    for name in ("target", "data"):
        target = getattr(it, name)
        if target is not None:
            value[name] = members(target, "address symbol offset is_call")
    if it.line is not None:
        value |= members(it, "is_stmt discriminator")
    return value


def members(it: object, names: str) -> dict:
    return some({name: getattr(it, name) for name in names.split()})


def some(values: dict) -> dict:
    return {name: value for name, value in values.items() if value is not None}


def expected(program, path: Path, *options: object) -> dict:
    try:
        value = json.loads(program("annotate", "--format", "json", "-i", path, *options))
    except subprocess.CalledProcessError as error:
        pytest.skip(f"the program refuses it: {error.stderr.decode()[:200]}")
    del value["account"]
    return value


@pytest.mark.filterwarnings("ignore::perfdata.CaptureWarning")
def test_every_capture(program, any_capture: Path) -> None:
    assert document(perfdata.open(any_capture).annotate()) == expected(program, any_capture)


def test_a_small_program(tmp_path: Path) -> None:
    opened = perfdata.open(program_and_capture(tmp_path))
    annotations = opened.annotate()
    assert annotations.missing == () and annotations.account["clean"]
    first, second = annotations.functions
    assert (first.symbol, first.guess, first.dso, first.build_id) == ("first", None, str(tmp_path / "prog"), None)
    assert (first.code, first.start, first.end) == ("file", ADDRESS, ADDRESS + len(FIRST))
    (event,) = first.events
    assert (event.name, event.precise_ip) == ("cpu-clock", 0)
    assert (event.samples, event.period, event.all_samples, event.all_period) == (4, 4000, 5, 5000)
    push, move, call, pop, jump = first.instructions
    assert (push.address, push.bytes, push.text) == (ADDRESS, b"\x55", "push   %rbp")
    assert (push.samples, push.period) == ([1], [1000])
    assert (move.samples, move.period) == ([2], [2000])
    assert call.target.symbol == "second" and call.target.is_call and call.target.offset == 0
    assert (jump.target.address, jump.target.is_call, jump.data) == (ADDRESS, False, None)
    assert (pop.samples, pop.line, pop.column, pop.function) == ([0], None, None, 0)
    assert (first.functions[0].name, first.functions[0].caller, first.functions[0].samples) == ("first", None, [4])
    assert first.lines == first.sources == first.branches == ()
    assert second.symbol == "second" and [it.text.split()[0] for it in second.instructions] == ["nop", "ret"]
    for thing in (annotations, first, event, push, call.target):
        assert "perfdata.Annota" in repr(thing)


def test_functions_are_chosen(program, tmp_path: Path) -> None:
    path = program_and_capture(tmp_path)
    opened = perfdata.open(path)
    for arguments, options in [
        ({}, []),
        ({"symbol": "second"}, ["second"]),
        ({"percent_limit": 50}, ["--percent-limit", "50"]),
        ({"symbol": "second", "percent_limit": 50}, ["second", "--percent-limit", "50"]),
        ({"syntax": "intel"}, ["-M", "intel"]),
    ]:
        assert document(opened.annotate(**arguments)) == expected(program, path, *options), options
    assert [it.symbol for it in opened.annotate(percent_limit=50).functions] == ["first"]
    assert opened.annotate("second", percent_limit=50).functions == ()
    assert opened.annotate(syntax="intel").functions[0].instructions[1].text == "mov    rbp,rsp"
    # The selection is that of the capture.
    selected = perfdata.open(path, symbol="second").annotate()
    assert document(selected) == expected(program, path, "--symbols", "second")
    assert [it.symbol for it in selected.functions] == ["second"]


def test_functions_that_cannot_be_shown(program, tmp_path: Path) -> None:
    path = program_and_capture(tmp_path)
    (tmp_path / "prog").unlink()
    assert perfdata.open(path).annotate().functions == ()
    with pytest.raises(perfdata.Error, match=r'symbol "first": no sample is in a function of this name; report\(\)'):
        perfdata.open(path).annotate("first")
    # The names of the kernel were recorded, and its code was not.
    path = capture("system_wide.data")
    annotations = perfdata.open(path).annotate()
    assert document(annotations) == expected(program, path)
    assert all(it.symbol and it.dso and it.why for it in annotations.missing)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"syntax": "x"}, "must be att or intel"),
        ({"percent_limit": 101}, "percent_limit 101: must be from 0 to 100"),
        ({"percent_limit": float("nan")}, "must be from 0 to 100"),
        ({"prefix_strip": 1}, "must be used with prefix"),
    ],
)
def test_arguments(tmp_path: Path, arguments: dict, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        perfdata.open(program_and_capture(tmp_path)).annotate(**arguments)


def test_an_exception_of_the_callback_ends_the_work(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def stop(done: int, total: int) -> None:
        raise Enough

    with pytest.raises(Enough):
        perfdata.open(program_and_capture(tmp_path), progress=stop).annotate()


SOURCE = """\
static inline unsigned step(unsigned x) { return x * 1664525u + 1013904223u; }
unsigned spin(unsigned n) {
    unsigned x = n;
    for (unsigned i = 0; i < n; i++)
        x ^= step(x);
    return x;
}
int main(void) { return spin(200000000u) == 1; }
"""


@pytest.mark.skipif(not hasattr(perfdata, "record"), reason="recording needs Linux")
def test_source_lines(program, tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc")
    built, path = tmp_path / "built", tmp_path / "perf.data"
    built.mkdir()
    (built / "spin.c").write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-O1", "-fno-stack-protector", "-o", "spin", "spin.c"], cwd=built, check=True)
    try:
        perfdata.record([built / "spin"], output=path, events="cpu-clock:u")
    except perfdata.Error as error:
        pytest.skip(f"this machine permits no recording: {error}")
    opened = perfdata.open(path)
    annotations = opened.annotate("spin")
    assert document(annotations) == expected(program, path, "spin")
    (spin,) = annotations.functions
    assert [it.name for it in spin.functions] == ["spin", "step"] and spin.functions[1].caller == 0
    (source,) = spin.sources
    assert (Path(source.path).name, source.is_newer) == ("spin.c", False)
    assert source.text == SOURCE.splitlines()[source.first - 1 :][: len(source.text)]
    hottest = max(spin.instructions, key=lambda it: it.period)
    assert spin.lines[hottest.line].line in (1, 4, 5) and sum(spin.lines[hottest.line].samples) > 0
    # Without the folder that was recorded, the source is found below another one.
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (built / "spin.c").rename(elsewhere / "spin.c")
    assert opened.annotate("spin").functions[0].sources[0].text == []
    found = opened.annotate("spin", source=[elsewhere])
    assert found.functions[0].sources[0].text == source.text
    assert document(found) == expected(program, path, "spin", "--source", elsewhere)
