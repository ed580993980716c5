#!/usr/bin/env python3
"""Measures `perfdata export --to parquet`: rows in a second, memory, bytes of a sample, and a query.

    columns.py [--perfdata PROGRAM] [--engines FOLDER] [--rows N] [--rounds N] MACHINE DWARF

MACHINE is a capture of `perf record -a -g`, DWARF one of `perf record --call-graph dwarf`, of this machine; perfdata has the
feature parquet. FOLDER is where pip installed duckdb. MACHINE is repeated, with its times moved, until it has N samples
(1,500,000); DWARF until it has 40,000. Prints a table in Markdown. Times are those of the processors, user and system, unless they
are called wall clock: the median of all rounds. Memory is the largest resident set, and what of it is not of mapped files when
it was read last at its largest.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import struct
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "testdata" / "check"))
import fleet  # noqa: E402

IP, TID, TIME, STREAM_ID, CPU, ID, IDENTIFIER = 1, 2, 4, 512, 128, 64, 65536
SAMPLE, USER = 9, 64


def places(kind):
    """Where the time is: from the start of a sample's payload, and from the end of the other records."""
    head = 8 * bool(kind & IDENTIFIER) + 8 * bool(kind & IP) + 8 * bool(kind & TID)
    trailer = 8 * sum(bool(kind & bit) for bit in (TIME, ID, STREAM_ID, CPU, IDENTIFIER))
    return head, trailer


def repeat(capture, samples, out):
    """Repeats the records of a capture, until there are so many samples. Returns how many there are."""
    size, attr_size, attrs, attrs_size, data, data_size = struct.unpack_from("<6Q", capture, 8)
    kinds = {struct.unpack_from("<Q", capture, at + 24)[0] for at in range(attrs, attrs + attrs_size, attr_size)}
    assert len(kinds) == 1, "the records of the events differ"
    head, trailer = places(kinds.pop())
    records, times, at = [], [], data
    count = 0
    while at < data + data_size:
        kind, _, length = struct.unpack_from("<IHH", capture, at)
        place = None
        if kind == SAMPLE:
            place, count = at + 8 + head, count + 1
        elif kind < USER:
            place = at + length - trailer
        when = struct.unpack_from("<Q", capture, place)[0] if place else None
        times.extend([when] if when else [])
        # What perf made up at the start is needed once.
        records.append((at, length, place, when))
        at += length
    span = max(times) - min(times) + 1
    copies = -(-samples // count)
    body = bytearray()
    with open(out, "wb") as file:
        file.write(capture[:data])
        for copy in range(copies):
            body.clear()
            for start, length, place, when in records:
                if copy > 0 and place and not when:
                    continue
                body += capture[start : start + length]
                if place and when:
                    struct.pack_into("<Q", body, len(body) - length + place - start, when + copy * span)
            file.write(body)
        end = file.tell()
        # The features are after the records, by their offsets.
        moved = end - (data + data_size)
        features = bytearray(capture[data + data_size :])
        for number in range(len(fleet.sections(capture))):
            offset = struct.unpack_from("<Q", features, 16 * number)[0]
            struct.pack_into("<Q", features, 16 * number, offset + moved)
        file.write(features)
        file.seek(48)
        file.write(struct.pack("<Q", end - data))
    return copies * count


def run(words):
    """Runs a program. Returns wall clock, processors' time, memory in MB, and how much of it is anonymous."""
    start = time.monotonic()
    process = os.posix_spawn(words[0], [str(word) for word in words], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)])
    watched = threading.Thread(target=watch, args=(process, sizes := [(0, 0, 0)]))
    watched.start()
    # The process id is not used again before this.
    os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
    watched.join()
    _, status, usage = os.wait4(process, 0)
    assert os.waitstatus_to_exitcode(status) in (0, 3), words
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, (max(size[2] for size in sizes), max(sizes)[1])


def watch(process, sizes):
    """Reads the largest resident set and the anonymous part of the one of now, in MB, until the process ends. The kernel's
    ru_maxrss would have that of this program, from which the process was made."""
    while True:
        try:
            status = pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
        except OSError:
            return
        values = {words[0]: int(words[1]) / 1024 for words in map(str.split, status) if words[0].startswith(("Vm", "Rss"))}
        if "VmHWM:" not in values:
            return
        sizes.append((values["VmRSS:"], values["RssAnon:"], values["VmHWM:"]))
        time.sleep(0.02)


class Bench:
    def __init__(self, args, scratch):
        self.args, self.scratch = args, scratch

    def export(self, captures, name, *options):
        """Exports; returns the medians of wall clock and processors' time, the most memory, and the bytes by table."""
        results = []
        folder = self.scratch / name
        for _ in range(self.args.rounds):
            shutil.rmtree(folder, ignore_errors=True)
            results.append(run([self.args.perfdata, "export", "--to", "parquet", *options, *captures, "-o", folder]))
        sizes = {table.name: sum(file.stat().st_size for file in table.rglob("*.parquet")) for table in folder.iterdir()}
        wall, cpu, memory = zip(*results)
        largest, anonymous = max(memory)
        return statistics.median(wall), statistics.median(cpu), f"{largest:.0f} ({anonymous:.0f} anonymous)", sizes


def line(what, value, goal=""):
    print(f"| {what} | {value} | {goal} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--perfdata", default="target/release/perfdata")
    parser.add_argument("--engines")
    parser.add_argument("--rows", type=int, default=1_500_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("machine")
    parser.add_argument("dwarf")
    args = parser.parse_args()
    args.perfdata = shutil.which(args.perfdata)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        bench = Bench(args, scratch)
        print("| what | measured | goal |\n|---|---|---|")
        machine = scratch / "machine.data"
        rows = repeat(pathlib.Path(args.machine).read_bytes(), args.rows, machine)
        line("samples of the whole machine", f"{rows:,} in {machine.stat().st_size / 1e6:,.0f} MB")
        _, cpu, memory, sizes = bench.export([machine], "interned", "--no-symbols", "--threads", "1")
        line("rows/s of a core, without symbols", f"{rows / cpu:,.0f}", ">= 1,500,000")
        line("memory, MB", memory, "<= 200")
        line("bytes a sample, interned: all tables", f"{sum(sizes.values()) / rows:.1f}", "<= 14")
        line("bytes a sample, interned: the table samples", f"{sizes['samples'] / rows:.1f}")
        _, cpu, memory, sizes = bench.export([machine], "flat", "--flat", "--no-symbols", "--threads", "1")
        line("rows/s of a core, flat", f"{rows / cpu:,.0f}")
        line("memory, flat, MB", memory, "<= 200")
        line("bytes a sample, flat: all tables", f"{sum(sizes.values()) / rows:.1f}", "<= 20")
        _, cpu, memory, _ = bench.export([machine], "named", "--threads", "1")
        line("rows/s of a core, with symbols", f"{rows / cpu:,.0f}")
        line("memory, with symbols, MB", memory, "<= 200")
        if args.engines:
            sys.path.insert(0, args.engines)
            query(scratch)
        machine.unlink()
        dwarf = scratch / "dwarf.data"
        for samples in (1, 40_000):
            rows = repeat(pathlib.Path(args.dwarf).read_bytes(), samples, dwarf)
            _, cpu, memory, _ = bench.export([dwarf], "dwarf", "--threads", "1")
            line(f"samples/s of a core, dwarf with inlines, {rows:,} samples", f"{rows / cpu:,.0f}", ">= 100,000")
            line("memory, dwarf, MB", memory, "<= 200")
        dwarf.unlink()
        captures = scratch / "captures"
        captures.mkdir()
        made = fleet.make(captures, 200, [args.machine])
        one, cpu_of_one, *_ = bench.export(made, "one", "--no-symbols", "--threads", "1")
        two, cpu_of_two, memory, _ = bench.export(made, "two", "--no-symbols", "--threads", "2")
        line("200 captures: wall clock of one core / of two", f"{one:.2f} s / {two:.2f} s = {one / two:.2f}", ">= 1.8")
        line("200 captures: processors' time of one core / of two", f"{cpu_of_one:.2f} s / {cpu_of_two:.2f} s")
        line("memory, two captures at a time, MB", memory, "<= 200")


def query(scratch):
    import duckdb

    connection = duckdb.connect()
    for table in ("samples", "stacks", "frames", "dsos", "captures"):
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM '{scratch}/named/{table}/*/*/*.parquet'")
    queries = HERE.parent / "perf-export" / "queries"
    for name, goal in (("02_top_inclusive", "<= 0.5"), ("01_top_self", "")):
        sql = (queries / f"{name}.sql").read_text()
        times = []
        for _ in range(7):
            start = time.monotonic()
            assert connection.execute(sql).fetchall()
            times.append(time.monotonic() - start)
        line(f"{name} in DuckDB, s wall clock", f"{statistics.median(times):.2f} ({min(times):.2f} to {max(times):.2f})", goal)


if __name__ == "__main__":
    main()
