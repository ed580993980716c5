"""What the tests share: the captures of the repository, and the program whose answers the package must give."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

TESTDATA = Path(__file__).resolve().parents[3] / "testdata"
CAPTURES = sorted((TESTDATA / "captures").iterdir()) + sorted((TESTDATA / "synthetic").glob("*.data"))
# PERFDATA_EACH=N tests each Nth capture alone, where time is short.
CAPTURES = CAPTURES[:: int(os.environ.get("PERFDATA_EACH", "1"))]


def capture(name: str) -> Path:
    return TESTDATA / "captures" / name


class Program:
    """The program ``perfdata``. The variable PERFDATA has its path."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __call__(self, *arguments: object) -> bytes:
        """Return the standard output; raise CalledProcessError if it refuses the capture."""
        done = subprocess.run([self.path, *map(str, arguments)], capture_output=True, stdin=subprocess.DEVNULL)
        # 3 is for captures with faults, of which the rest is printed.
        if done.returncode not in (0, 3):
            raise subprocess.CalledProcessError(done.returncode, arguments, done.stdout, done.stderr)
        return done.stdout


@pytest.fixture(scope="session")
def program() -> Program:
    path = os.environ.get("PERFDATA")
    if path is None:
        pytest.skip("PERFDATA is not set: build the program with cargo build -p perf-cli, and set it to its path")
    return Program(path)


@pytest.fixture(params=CAPTURES, ids=lambda path: path.name)
def any_capture(request: pytest.FixtureRequest) -> Path:
    return request.param


def large_capture(path: Path, samples: int) -> Path:
    """Write a pipe whose samples are those of a capture, again and again, each 1 us after the one before."""
    import perfdata

    source = path.with_suffix(".source")
    perfdata.edit(capture("callchain.data"), source, to="pipe")
    return repeat(source, path, samples)


def repeat(source: Path, path: Path, samples: int) -> Path:
    """Write the samples of a pipe again and again, in rounds as perf writes them."""
    data = source.read_bytes()
    head, repeated, at = bytearray(data[:16]), [], 16
    while at < len(data):
        kind = int.from_bytes(data[at : at + 4], "little")
        record = bytearray(data[at : at + int.from_bytes(data[at + 6 : at + 8], "little")])
        if kind == SAMPLE:
            repeated.append(record)
        elif kind != FINISHED_ROUND:
            head += record
        at += len(record)
    with path.open("wb") as out:
        out.write(head)
        time = int.from_bytes(repeated[0][TIME : TIME + 8], "little")
        for number in range(samples):
            record = repeated[number % len(repeated)]
            time += 1000
            record[TIME : TIME + 8] = time.to_bytes(8, "little")
            out.write(record)
            if number % 2000 == 0:
                out.write(FINISHED_ROUND.to_bytes(4, "little") + (8 << 16).to_bytes(4, "little"))
    return path


SAMPLE, FINISHED_ROUND = 9, 68
# Offset of the time in the samples of callchain.data: after the header, the address and the ids of process and thread.
TIME = 8 + 8 + 8
