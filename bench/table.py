#!/usr/bin/env python3
"""One table: each job of perfdata against its best peer.

    table.py [--perfdata PROGRAM] [--perf PROGRAM]... [--perfparser PROGRAM] [--samply PROGRAM] [--inferno FOLDER]
             [--bench PROGRAM --inputs FOLDER [--binary FILE]] [--rounds N] [--limit SECONDS] --dwarf CAPTURE --machine CAPTURE

Each round runs every program once, in turn, with its output to /dev/null; the first round is not counted. A row has the
median of the times of perfdata and of the peer that was fastest, and the median of the ratios within a round: of the
times, and of the times of the processors, which depend less on what else the machine does. The last column has the other
peers that were there. Peers that are not there, that fail, or that take longer than --limit, are named
after the table. The captures are those of `perf record --call-graph dwarf` of a program with debug information, and of
`perf record -a -g`. perfdata keeps no names from run to run, but in the rows that say "again".

With --bench, the program of this folder, the rows of the libraries are added: whole files in time order, against
linux-perf-data, over the captures in --inputs; with --binary, also functions, inlined functions and lines of random addresses of a
file with debug information, against addr2line, blazesym and llvm-symbolizer.
"""

import argparse
import contextlib
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import tempfile
import threading
import time

# perfdata keeps no names from run to run, unless a job has a folder for them: none can be made there.
ENVIRONMENT = dict(os.environ, PERF_CONFIG="/dev/null", PERF_PAGER="cat", XDG_CACHE_HOME="/dev/null")


def run(commands, limit):
    """Runs programs that read from each other. Returns the time until all have ended and the time of the processors, in
    seconds; and why that failed."""
    before = processors()
    start = time.monotonic()
    processes = []
    for number, command in enumerate(commands):
        is_last = number + 1 == len(commands)
        processes.append(
            subprocess.Popen(
                command,
                stdin=processes[-1].stdout if processes else subprocess.DEVNULL,
                stdout=subprocess.DEVNULL if is_last else subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=ENVIRONMENT,
                # So that what a program has started ends with it.
                start_new_session=True,
            )
        )
        if number > 0:
            # So that the one before ends if this one does.
            processes[number - 1].stdout.close()
    # A wait with a limit would ask every 50 ms, which is as long as some programs take.
    is_late = threading.Event()

    def end():
        is_late.set()
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(limit, end)
    timer.start()
    statuses = [process.wait() for process in processes]
    timer.cancel()
    timer.join()
    if is_late.is_set():
        return None, f"took more than {limit} s"
    seconds = time.monotonic() - start, processors() - before
    return (seconds, None) if not any(statuses) else (None, "failed")


def processors():
    """Returns the time that the processors have spent on programs that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def jobs(args, folder):
    """Returns of each job its name, perfdata's commands, and the name and commands of each peer."""

    def ours(*arguments):
        return [[args.perfdata, *arguments]]

    perfs = [(f"perf {version_of(perf)}", perf) for perf in args.perf]
    collapse, draw = (os.path.join(args.inferno, "bin", f"inferno-{name}") for name in ("collapse-perf", "flamegraph"))

    def again(*arguments):
        return [["env", f"XDG_CACHE_HOME={folder}", args.perfdata, *arguments]]

    def of_perfs(*arguments, then=()):
        tail = "".join(f", {os.path.basename(command[0])}" for command in then)
        return [(f"{name} {arguments[0]}{tail}", [[perf, *arguments], *then]) for name, perf in perfs]

    out = os.path.join(folder, "out")
    samply = [("samply import", [[args.samply, "import", "--save-only", "-o", out + ".samply.json", "{}"]])]
    parser = [("hotspot-perfparser", [[args.perfparser, "--input", "{}", "--output", os.devnull]])]
    fields = ["-F", "tid,cpu,time,event,ip"]
    for kind, capture in (("machine", args.machine), ("dwarf", args.dwarf)):
        of = lambda peers: [(name, [[word.replace("{}", capture) for word in it] for it in all]) for name, all in peers]
        if kind == "machine":
            yield f"print five fields, {kind}", ours("dump", "--fields", fields[1], capture), of_perfs("script", *fields, "--no-inline", "-i", capture)
        yield (
            f"print samples with names, {kind}",
            ours("script", capture),
            of_perfs("script", "-i", capture) + of(parser),
        )
        yield (
            f"print samples with names, not inlined, {kind}",
            ours("script", "--no-inline", capture),
            of_perfs("script", "--no-inline", "-i", capture),
        )
        yield (
            f"report with call graphs, {kind}",
            ours("report", "--stdio", "-g", "--no-inline", capture),
            of_perfs("report", "--stdio", "-g", "--no-inline", "-i", capture),
        )
        for said, options in (("", []), (", not inlined", ["--no-inline"])):
            yield (
                f"folded stacks{said}, {kind}",
                ours("fold", *options, capture),
                of_perfs("script", *options, "-i", capture, then=[[collapse, "-q"]]),
            )
        yield (
            f"folded stacks, again, {kind}",
            again("fold", capture),
            of_perfs("script", "-i", capture, then=[[collapse, "-q"]]),
        )
        yield (
            f"flame graph, {kind}",
            ours("flamegraph", "-o", out + ".svg", capture),
            of_perfs("script", "-i", capture, then=[[collapse, "-q"], [draw, "-q"]]),
        )
        # samply looks no names up here, which flatters it.
        yield (
            f"Firefox Profiler, {kind}",
            ours("export", "--to", "firefox", "-o", out + ".json", capture),
            of(samply),
        )
    yield "pprof, machine", ours("export", "--to", "pprof", "-o", out + ".pb.gz", args.machine), []


def version_of(perf):
    text = subprocess.run([perf, "--version"], stdout=subprocess.PIPE, text=True).stdout
    return ".".join(text.split()[-1].split(".")[:2])


def shown(seconds):
    """Returns seconds as the table has them."""
    return f"{seconds:.2f}" if seconds >= 1 else f"{seconds:.3f}"


def is_there(commands):
    return all(shutil.which(command[0]) for command in commands)


def race(name, ours, peers, rounds, limit, absent):
    """Returns the cells of a row."""
    times = {"perfdata": []}
    work = {"perfdata": ours}
    for peer, commands in peers:
        if is_there(commands):
            work[peer] = commands
            times[peer] = []
        else:
            absent.add(f"{peer}: not there")
    for number in range(rounds + 1):
        for contestant, commands in list(work.items()):
            seconds, why = run(commands, limit)
            if seconds is None:
                absent.add(f"{contestant} {why}: {name}")
                del work[contestant], times[contestant]
            elif number > 0:
                times[contestant].append(seconds)
    if "perfdata" not in times:
        return None
    mine = times.pop("perfdata")
    cells = [name, shown(statistics.median(own for own, _ in mine))]
    if not times:
        return cells + ["none", "", "", "", ""]
    median = {peer: statistics.median(theirs for theirs, _ in all) for peer, all in times.items()}
    best = min(median, key=median.get)
    ratio, of_processors = (
        statistics.median(theirs[kind] / own[kind] for theirs, own in zip(times[best], mine)) for kind in (0, 1)
    )
    others = ", ".join(f"{peer} {shown(seconds)}" for peer, seconds in median.items() if peer != best)
    return cells + [best, shown(median[best]), f"{ratio:.1f}", f"{of_processors:.1f}", others]


def libraries(args):
    """Returns the rows of linux-perf-data."""
    command = [args.bench, "--inputs", args.inputs, "file"]
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    for title, body in re.findall(r"^### (.*)\n\n((?:.*\n)*?)(?=###|\Z)", text, re.M):
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in body.splitlines() if line.startswith("| ")]
        of = {row[0]: row[1] for row in rows}
        ours = next((name for name in of if name.startswith("perf-parse")), None)
        if ours and "linux-perf-data" in of:
            mine, theirs = float(of[ours]), float(of["linux-perf-data"])
            yield [f"{title}, ns a record", f"{mine:.2f}", "linux-perf-data", f"{theirs:.2f}", f"{theirs / mine:.1f}", "", ""]


def symbolizers(args):
    """Returns the rows of the libraries that find names."""
    command = [args.bench, "--binary", args.binary, "symbols"]
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    head = next(row for row in rows if row[0] == "way")
    of = {row[0]: row[1:] for row in rows if len(row) == len(head)}
    mine = of["perf-symbol, `functions_of`"]
    number = lambda cell: float(cell.replace(",", ""))
    for column, title in enumerate(head[1:]):
        if "ms" not in title and "ns" not in title:
            continue
        peers = {name: number(row[column]) for name, row in of.items() if not name.startswith(("perf-symbol", "way"))}
        best = min(peers, key=peers.get)
        others = ", ".join(f"{name} {time:,}" for name, time in peers.items() if name != best)
        ratio = peers[best] / number(mine[column])
        yield [f"names, {title}", mine[column], best, f"{peers[best]:,}", f"{ratio:.1f}", "", others]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--perfdata", default="target/release/perfdata")
    parser.add_argument("--perf", action="append")
    parser.add_argument("--perfparser", default="hotspot-perfparser")
    parser.add_argument("--samply", default="samply")
    parser.add_argument("--inferno", default="", help="folder in which cargo install put inferno")
    parser.add_argument("--bench")
    parser.add_argument("--inputs")
    parser.add_argument("--binary")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=120, help="seconds that a run may take")
    parser.add_argument("--dwarf", required=True)
    parser.add_argument("--machine", required=True)
    args = parser.parse_args()
    args.perf = [perf for perf in args.perf or ["perf"] if shutil.which(perf)]
    absent = set()
    print("| job | perfdata, s | best peer | s | x | x, processors | other peers, s |")
    print("|---|---:|---|---:|---:|---:|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, ours, peers in jobs(args, folder):
            if cells := race(name, ours, peers, args.rounds, args.limit, absent):
                print("|", " | ".join(cells), "|", flush=True)
    if args.bench:
        for cells in [*libraries(args), *(symbolizers(args) if args.binary else [])]:
            print("|", " | ".join(cells), "|")
    print()
    print(f"`table.py --rounds {args.rounds}`; load at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs.")
    for line in sorted(absent):
        print(f"- {line}")


main()
