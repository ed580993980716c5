"""The GIL is released, progress is reported, and Ctrl-C ends the work."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import capture, large_capture

import perfdata

SAMPLES = 400_000


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return large_capture(tmp_path_factory.mktemp("large") / "large.data", SAMPLES)


def test_progress(large: Path) -> None:
    seen: list = []
    opened = perfdata.open(large, names=False, progress=lambda done, total: seen.append((done, total)))
    assert sum(row["samples"] for row in opened.report("tid")) == SAMPLES
    assert seen == sorted(seen) and len(seen) > 1
    assert seen[-1] == (large.stat().st_size, large.stat().st_size)


@pytest.mark.parametrize("use", ["report", "annotate", "fold", "tables", "edit"])
def test_an_exception_of_the_callback_ends_the_work(large: Path, use: str, tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def stop(done: int, total: int) -> None:
        assert done < total
        raise Enough

    opened = perfdata.open(large, names=False, progress=stop)
    with pytest.raises(Enough):
        opened.edit(tmp_path / "out") if use == "edit" else getattr(opened, use)()
    assert list(tmp_path.iterdir()) == []


def test_other_threads_run(large: Path) -> None:
    counted, over = 0, threading.Event()
    opened = perfdata.open(large, names=False)
    work = threading.Thread(target=lambda: (opened.tables(), over.set()))
    work.start()
    while not over.is_set():
        counted += 1
        time.sleep(0.001)
    work.join()
    # With the GIL held, this thread would have run once or twice.
    assert counted > 20


def test_one_capture_on_several_threads() -> None:
    opened = perfdata.open(capture("everything.data"))
    expected, results = opened.fold(), []
    threads = [threading.Thread(target=lambda: results.append(opened.fold())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


@pytest.mark.parametrize("use", ["report()", "annotate().functions", "fold()", "tables()", "export('firefox')", "edit(sys.argv[2])", "samples()"])
def test_ctrl_c(large: Path, use: str, tmp_path: Path) -> None:
    """Work that takes long enough ends soon after the signal, with KeyboardInterrupt."""
    program = (
        "import perfdata, sys\n"
        "def show(done, total): print(done, flush=True)\n"
        "print('began', flush=True)\n"
        "while True:\n"
        "    it = perfdata.open(sys.argv[1], names=False, progress=show)." + use + "\n"
        "    if not isinstance(it, (list, str, dict, bytes)): [0 for _ in it]\n"
    )
    command = [sys.executable, "-c", program, str(large), str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        if use != "samples()":
            process.stdout.readline()
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in errors and "Panic" not in errors
    assert time.monotonic() - began < 5
    assert process.returncode != 0


def test_memory_of_samples_is_bounded(large: Path) -> None:
    """400,000 samples take no more memory one by one than 4,000."""
    program = (
        "import perfdata, resource, sys\n"
        "count = sum(1 for _ in perfdata.open(sys.argv[1], names=False).samples())\n"
        "print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    small = large.with_name("small.data")
    large_capture(small, 4000)
    sizes = []
    for path, samples in ((small, 4000), (large, SAMPLES)):
        out = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
        count, kib = map(int, out.stdout.split())
        assert count == samples
        sizes.append(kib)
    assert sizes[1] - sizes[0] < 16 * 1024, sizes
