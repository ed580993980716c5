"""Sums and names are those of the program, for each capture of the repository."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import warnings
from collections import Counter
from pathlib import Path

import pytest

import perfdata

pytestmark = pytest.mark.filterwarnings("ignore::perfdata.CaptureWarning")

# Another compressor of the same library; and the name of the capture, which the program has from its arguments.
FORMATS = ["folded", "pprof", "otlp", "otlp-json", "firefox", "speedscope"]


def expected(program, *arguments: object) -> bytes:
    try:
        return program(*arguments)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"the program refuses it: {error.stderr.decode()[:200]}")


def test_folded_stacks(program, any_capture: Path) -> None:
    text = expected(program, "fold", any_capture)
    assert perfdata.open(any_capture).fold().encode() == text


def test_folded_stacks_of_each_event(program, any_capture: Path) -> None:
    capture = perfdata.open(any_capture)
    for event in capture.events:
        text = expected(program, "fold", "--event", event.index, "--root", "tid", "--mark", "all", any_capture)
        of_event = perfdata.open(any_capture, event=event.index)
        assert of_event.fold(root="tid", mark="all").encode() == text


@pytest.mark.parametrize("format", FORMATS)
def test_formats(program, any_capture: Path, format: str, tmp_path: Path) -> None:
    if format == "firefox" and any_capture.name == "threads.dir":
        pytest.skip("the name of a folder is no file name")
    document = expected(program, "export", "--to", format, "-o", "-", any_capture)
    capture = perfdata.open(any_capture)
    assert capture.export(format) == document
    assert capture.export(format, tmp_path / "out") is None
    assert (tmp_path / "out").read_bytes() == document


def test_branch_stacks(program, tmp_path: Path) -> None:
    maker = Path(program.path).parent / "examples/branch_stacks"
    if not maker.exists():
        pytest.skip("cargo build -p perf-parse --example branch_stacks")
    capture, binary = tmp_path / "branches.data", shutil.which("env")
    branches = ["7f0000002010:7f0000002100", "7f0000002200:7f0000002004", "7f0000002104:7f0000002180"]
    subprocess.run([maker, capture, binary, "7f0000000000", "0", "8000", "3", "chain", *branches], check=True)
    opened = perfdata.open(capture)
    for format in ("brstack", "preagg", "autofdo"):
        text = program("export", "--to", format, "-o", "-", capture)
        assert text and opened.export(format) == text
        assert opened.export(format, tmp_path / format, binary="env") is None
        assert (tmp_path / format).read_bytes() == text
        with pytest.raises(perfdata.Error, match="no branch is in this file"):
            opened.export(format, binary="other")
        with pytest.raises(perfdata.Error, match="no sample has a branch stack"):
            perfdata.open(Path(__file__).resolve().parents[3] / "testdata/captures/plain.data").export(format)


@pytest.mark.parametrize("ending", [".html", ".svg"])
def test_flame_graphs(program, any_capture: Path, ending: str, tmp_path: Path) -> None:
    page, ours = tmp_path / f"program{ending}", tmp_path / f"ours{ending}"
    try:
        program("flamegraph", any_capture, "-o", page)
    except subprocess.CalledProcessError:
        # It prints nothing on the standard output.
        pass
    if not page.exists():
        pytest.skip("the program refuses it")
    graph = perfdata.open(any_capture).flamegraph(ours)
    assert ours.read_text() == graph.document
    assert parts_of(ours.read_text()) == parts_of(page.read_text())


def parts_of(page: str) -> list:
    """Return a page with its JSON decoded: the order of the members of an object has no meaning."""
    parts = re.split(r'(?<=<script type="application/json" id="data-meta">)(.*?)(?=</script>)', page, flags=re.DOTALL)
    return [json.loads(part) if number % 2 else part for number, part in enumerate(parts)]


@pytest.mark.parametrize("sort", [None, "comm,dso,sym", "tid,srcline", "cpu,time"])
@pytest.mark.parametrize("children", [False, True])
def test_reports(program, any_capture: Path, sort: str | None, children: bool) -> None:
    options = ["--format", "json", "--no-group", "--no-call-graph", "--children" if children else "--no-children"]
    options += ["--sort", sort] if sort else []
    tables = json.loads(expected(program, "report", *options, any_capture))["tables"]
    theirs = [flat(table, row) for table in tables for row in table["rows"]]
    ours = perfdata.open(any_capture).report(sort, children=children)
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs):
        for name, value in other.items():
            if name in TEXTS:
                continue
            assert mine[name] == value or (name.endswith("percent") and mine[name] == pytest.approx(value)), name


# The program prints perf's texts of these words.
TEXTS = {"mem", "snoop", "tlb", "locked", "blocked", "transaction", "cgroup_id"}


def flat(table: dict, row: dict) -> dict:
    """Return a row of the program's JSON with the names of the package."""
    row = dict(row)
    (own,) = row.pop("self")
    values = {"event": table["name"], **own}
    for children in row.pop("children", []):
        values |= {f"children_{name}": value for name, value in children.items()}
    return values | row


def test_samples(program, any_capture: Path) -> None:
    """Each sample counts once, for the function that a report names."""
    options = ["--format", "json", "--no-group", "--no-call-graph", "--no-children", "--sort", "tid,symbol"]
    tables = json.loads(expected(program, "report", *options, any_capture))["tables"]
    capture = perfdata.open(any_capture)
    if any(event.sample_type & (1 << 11) for event in capture.events):
        pytest.skip("a report of branches does not count samples")
    counts: Counter = Counter()
    periods: Counter = Counter()
    names: set = set()
    for sample in capture.samples(errors="skip"):
        counts[sample.event, sample.tid] += 1
        periods[sample.event, sample.tid] += sample.period
        names |= {(sample.event, sample.tid, frame.function) for frame in sample.stack[:1]}
    of_report: Counter = Counter()
    periods_of_report: Counter = Counter()
    named = set()
    for table in tables:
        for row in table["rows"]:
            key = (table["name"], row["tid"])
            of_report[key] += row["self"][0]["samples"]
            periods_of_report[key] += row["self"][0]["period"]
            named.add((*key, row["symbol"]))
    assert +counts == +of_report
    assert +periods == +periods_of_report
    assert {it for it in named if it[2] is not None} <= {
        (event, tid, frame.function)
        for sample in perfdata.open(any_capture).samples(errors="skip")
        for event, tid in [(sample.event, sample.tid)]
        for frame in sample.stack
    }


def test_tables(program, any_capture: Path) -> None:
    """The table of samples has the samples and periods of a report."""
    pyarrow = pytest.importorskip("pyarrow")
    tables = json.loads(
        expected(program, "report", "--format", "json", "--no-group", "--no-call-graph", "--sort", "tid", any_capture)
    )["tables"]
    capture = perfdata.open(any_capture)
    if any(event.sample_type & (1 << 11 | 1 << 4) for event in capture.events):
        pytest.skip("a report of branches, or of counters that samples read, does not count samples")
    samples = pyarrow.table(capture.tables()["samples"])
    counts = Counter(samples["event"].to_pylist())
    periods: Counter = Counter()
    for event, period in zip(samples["event"].to_pylist(), samples["period"].to_pylist()):
        periods[event] += period % 2**64
    totals: Counter = Counter()
    total_periods: Counter = Counter()
    for table in tables:
        totals[table["name"]] += table["totals"][0]["samples"]
        total_periods[table["name"]] += table["totals"][0]["period"]
    assert +counts == +totals
    assert +periods == +total_periods
    # Without names, the same samples.
    without = pyarrow.table(perfdata.open(any_capture, names=False).tables()["samples"])
    for column in ("time", "tid", "event", "period", "ip"):
        assert without[column].equals(samples[column])


def test_selections(program) -> None:
    path = Path(__file__).resolve().parents[3] / "testdata/captures/everything.data"
    for options, arguments in [
        (["--time", "10%-40%"], {"time": "10%-40%"}),
        (["--event", "cpu-clock"], {"event": "cpu-clock"}),
        (["--no-inline"], {"inline": False}),
        (["--no-symbols"], {"names": False}),
        (["--max-stack", "2"], {"max_stack": 2}),
        (["--cpu", "0"], {"cpu": 0}),
        (["--cpu", "0-1"], {"cpu": [0, 1]}),
        (["--symfs", "/nowhere"], {"symfs": "/nowhere"}),
    ]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert perfdata.open(path, **arguments).fold().encode() == program("fold", *options, path), options
    rows = perfdata.open(path).report("comm,pid")
    comm, tid = rows[0]["comm"], rows[0]["pid"]
    assert perfdata.open(path, comm=comm, tid=[tid]).fold().encode() == program(
        "fold", "--comms", comm, "--tid", tid, path
    )


def test_edits(program, any_capture: Path, tmp_path: Path) -> None:
    for number, (options, arguments) in enumerate(
        [
            ([], {}),
            (["--drop", "callchain", "--sort"], {"drop": "callchain", "sort": True}),
            (["--sample-every", "3", "--limit", "20"], {"sample_every": 3, "limit": 20}),
            (["--redact", "--hash", "salt"], {"redact": True, "salt": "salt"}),
            (["--redact=comms,paths", "--hash", "s"], {"redact": ["comms", "paths"], "salt": "s"}),
            (["--aslr=seed"], {"aslr": "seed"}),
            (["--to", "pipe"], {"to": "pipe"}),
            (["--for", "perf-6.1"], {"release": "perf-6.1"}),
            (["--compress", "zstd:3"], {"compress": 3}),
        ]
    ):
        theirs, ours = tmp_path / f"theirs{number}", tmp_path / f"ours{number}"
        done = subprocess.run([program.path, "edit", any_capture, "-o", theirs, *options], capture_output=True)
        if done.returncode not in (0, 3):
            with pytest.raises(perfdata.Error):
                perfdata.edit(any_capture, ours, **arguments)
            continue
        edited = perfdata.edit(any_capture, ours, **arguments)
        assert ours.read_bytes() == theirs.read_bytes(), options
        assert f"records written: {edited['written']}, left out: {edited['left_out']}" in done.stderr.decode()
        assert ours.stat().st_mode & 0o777 == 0o600


def test_merge(program, tmp_path: Path) -> None:
    source = Path(__file__).resolve().parents[3] / "testdata/captures/everything.data"
    parts = [tmp_path / "first.data", tmp_path / "second.data"]
    for part, time in zip(parts, ["0%-50%", "50%-100%"]):
        perfdata.edit(source, part, time=time)
    program_file = tmp_path / "theirs"
    subprocess.run([program.path, "edit", *parts, "-o", program_file], check=True, capture_output=True)
    merged = perfdata.merge(parts, tmp_path / "ours")
    assert (tmp_path / "ours").read_bytes() == program_file.read_bytes()
    assert merged["not_decoded"] == 0
    with pytest.raises(ValueError, match="there is no input 2"):
        perfdata.merge(parts, tmp_path / "ours", clock_offsets={2: 1})
    with pytest.raises(perfdata.Error, match="must be"):
        perfdata.merge([source, Path(__file__).resolve().parents[3] / "testdata/synthetic/plain.be.data"], tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_differences(program) -> None:
    captures = Path(__file__).resolve().parents[3] / "testdata/captures"
    before, after = captures / "callchain.data", captures / "system_wide.data"
    rows = [json.loads(line) for line in program("diff", "--format", "jsonl", before, after).splitlines()]
    theirs = [it for it in rows if "delta" in it]
    ours = perfdata.open(before).diff(perfdata.open(after))
    assert ours and sum(row["before"] for row in ours) == pytest.approx(100)
    assert sum(row["after"] for row in ours) == pytest.approx(100)
    assert theirs and len(ours) >= len(theirs)
    # The program leaves small changes out.
    for mine, other in zip(ours, theirs):
        for name in ("symbol", "dso", "kernel"):
            assert mine[name] == other[name]
        assert mine["delta"] == pytest.approx(other["delta"])
        assert [mine["before"], mine["after"]] == pytest.approx(other["own"])
        assert [mine["before_with_callees"], mine["after_with_callees"]] == pytest.approx(other["whole"])
