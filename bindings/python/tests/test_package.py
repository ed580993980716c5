"""The package as a user has it: stubs, documentation, recordings."""

from __future__ import annotations

import importlib.metadata
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import perfdata


def test_everything_is_documented() -> None:
    for name in perfdata.__all__:
        thing = getattr(perfdata, name)
        if not callable(thing):
            continue
        assert thing.__doc__, name
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            for member in dir(thing):
                if not member.startswith("_"):
                    assert getattr(thing, member).__doc__, f"{name}.{member}"


def test_licences() -> None:
    """A wheel has those of the crates in it. One that pip builds from the sources does not."""
    names = {Path(str(it)).name for it in importlib.metadata.files("perfdata") or []}
    if "THIRD-PARTY.txt" not in names:
        pytest.skip("not a wheel of build.sh")
    assert {"LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-rust-std.html", "perfdata-python.cyclonedx.json"} <= names


def test_stubs() -> None:
    pytest.importorskip("mypy")
    if sys.version_info < (3, 10):
        pytest.skip("this mypy needs Python 3.10")
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "perfdata", "--ignore-missing-stub"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_examples_have_types() -> None:
    pytest.importorskip("mypy")
    program = (
        "import perfdata\n"
        "capture = perfdata.open('perf.data', comm=['a'], cpu='0-3', progress=lambda done, total: None)\n"
        "for sample in capture.samples():\n"
        "    names: list[str | None] = [frame.function for frame in sample.stack]\n"
        "data: bytes = capture.export('pprof')\n"
        "nothing: None = capture.export('pprof', 'out')\n"
        "host: str | None = capture.info['hostname']\n"
        "for it in capture.annotate('main', source=['src']).functions[0].instructions:\n"
        "    place: tuple[int, str, bytes, list[int]] = (it.address, it.text, it.bytes, it.samples)\n"
    )
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not hasattr(perfdata, "record"), reason="recording needs Linux")
def test_recordings(tmp_path: Path) -> None:
    output = tmp_path / "perf.data"
    work = "sum(i * i for i in range(3_000_000))"
    try:
        recorded = perfdata.record([sys.executable, "-c", work], output=output, events="cpu-clock", call_graph="fp")
    except perfdata.Error as error:
        pytest.skip(f"this machine permits no recording: {error}")
    assert recorded["status"] == 0 and recorded["samples"] > 0
    capture = perfdata.open(output)
    assert sum(row["samples"] for row in capture.report("dso")) == recorded["samples"]
    assert any(len(sample.stack) > 1 for sample in capture.samples())
    assert output.stat().st_mode & 0o777 == 0o600
    with pytest.raises(ValueError, match="one of a command, pid and system_wide"):
        perfdata.record()
    with pytest.raises(ValueError):
        perfdata.record(["true"], events="no-such-event", output=tmp_path / "x")
    with pytest.raises(perfdata.Error):
        perfdata.record([str(tmp_path / "no-program")], events="cpu-clock", output=tmp_path / "x")
    ended = perfdata.record(["sleep", "60"], output=output, events="cpu-clock", duration=0.2)
    assert ended["status"] == -15
    assert [path.name for path in tmp_path.iterdir()] == ["perf.data"]
