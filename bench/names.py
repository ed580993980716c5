#!/usr/bin/env python3
"""Races programs that give names to a capture's stacks: perfdata, perf, hotspot-perfparser and samply.

    names.py [--perfdata PROGRAM] [--perf PROGRAM] [--perfparser PROGRAM] [--samply PROGRAM] [--rounds N] CAPTURE...

Each round runs each program once for each capture, in turn, with its output to /dev/null. The first round is not counted.
Prints a table in Markdown for each capture: the median of the times, the samples in a second, the median of the ratios
to perfdata's same work within one round, and the largest amount of anonymous memory (RssAnon, read every 5 ms). Programs
that are not there are left out. The captures are those of `perf record --call-graph dwarf` of a program with debug
information, and of `perf record -a -g`, for example.

samply looks names up only when a browser asks for them. Here the script asks its server, for all addresses at once.
"""

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request


def run(command):
    """Runs a program; returns its time in seconds, and its largest anonymous memory in MB."""
    start = time.monotonic()
    # perfdata keeps no names from run to run: no folder can be made there.
    environment = dict(os.environ, PERF_CONFIG="/dev/null", PERF_PAGER="cat", XDG_CACHE_HOME="/dev/null")
    serves = "--no-open" in command
    with open(os.devnull, "r+b") as null:
        out = subprocess.PIPE if serves else null
        process = subprocess.Popen(command, stdin=null, stdout=out, stderr=null, env=environment)
        asking = threading.Thread(target=ask, args=(process,), daemon=True)
        if serves:
            asking.start()
        peak = 0
        while process.poll() is None:
            peak = max(peak, anonymous(process.pid))
            time.sleep(0.005)
    if process.returncode != (-signal.SIGTERM if serves else 0):
        raise SystemExit(f"{' '.join(command)}: exit status {process.returncode}")
    return time.monotonic() - start, peak / 1024


def ask(process):
    """Asks samply's server for the names of all addresses, and ends it. Any failure ends it otherwise."""
    try:
        server = None
        while server is None:
            line = process.stdout.readline().decode(errors="replace")
            if not line:
                return
            server = re.search(r"http://127\.0\.0\.1:\d+/\w+", urllib.parse.unquote(line))
        server = server[0]
        with urllib.request.urlopen(f"{server}/profile.json") as answer:
            profile = json.load(answer)
        addresses = set()
        for thread in profile["threads"]:
            frames, functions, resources = thread["frameTable"], thread["funcTable"], thread["resourceTable"]
            for address, function in zip(frames["address"], frames["func"]):
                resource = functions["resource"][function]
                if address >= 0 and resource >= 0:
                    addresses.add((resources["lib"][resource], address))
        modules = [[lib["debugName"], lib["breakpadId"]] for lib in profile["libs"]]
        job = {"memoryMap": modules, "stacks": [sorted(addresses)]}
        body = json.dumps({"jobs": [job]}).encode()
        with urllib.request.urlopen(f"{server}/symbolicate/v5", data=body) as answer:
            named = json.load(answer)["results"][0]["stacks"][0]
        if sum("function" in frame for frame in named) * 2 > len(addresses):
            process.terminate()
            process.wait()
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)


def anonymous(pid):
    """Returns the anonymous memory of a process and its children in KB; 0 when it has ended."""
    total = 0
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
            total += sum(int(line.split()[1]) for line in status if line.startswith("RssAnon"))
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
            total += sum(map(anonymous, children.read().split()))
    except OSError:
        pass
    return total


def samples_of(perfdata, capture):
    """Returns the number of samples."""
    lines = subprocess.Popen(
        [perfdata, "dump", "--type", "SAMPLE", "--fields", "tid", capture], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    count = sum(1 for line in lines.stdout if not line.startswith(b"#"))
    lines.wait()
    return count


def contestants(args, capture, folder):
    """Returns the name, the command, and the name of perfdata's same work, of each."""
    perfdata = args.perfdata
    yield "perfdata script", [perfdata, "script", capture], None
    yield "perfdata script --no-inline", [perfdata, "script", "--no-inline", capture], None
    yield "perfdata report -g", [perfdata, "report", "-g", capture], None
    if perf := shutil.which(args.perf):
        yield "perf script", [perf, "script", "-i", capture], "perfdata script"
        yield "perf script --no-inline", [perf, "script", "--no-inline", "-i", capture], "perfdata script --no-inline"
        yield "perf report -g --no-inline", [perf, "report", "--stdio", "-g", "--no-inline", "-i", capture], "perfdata report -g"
    if perfparser := shutil.which(args.perfparser):
        yield "hotspot-perfparser", [perfparser, "--input", capture, "--output", os.devnull], "perfdata script"
    if samply := shutil.which(args.samply):
        out = os.path.join(folder, "samply.json")
        yield "samply import", [samply, "import", "--save-only", "-o", out, capture], "perfdata script"
        resolved = [samply, "import", "--no-open", "-o", out, capture]
        yield "samply import, symbols resolved", resolved, "perfdata script"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--perfdata", default="target/release/perfdata")
    parser.add_argument("--perf", default="perf")
    parser.add_argument("--perfparser", default="hotspot-perfparser")
    parser.add_argument("--samply", default="samply")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("captures", nargs="+", metavar="CAPTURE")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for capture in args.captures:
            race(args, capture, folder)


def race(args, capture, folder):
    """Prints the table of a capture."""
    samples = samples_of(args.perfdata, capture)
    work = list(contestants(args, capture, folder))
    rounds = [{name: run(command) for name, command, _ in work} for _ in range(args.rounds + 1)][1:]
    print(f"\n{os.path.basename(capture)}: {samples:,} samples\n")
    print("| program | s, median | min-max | samples/s | x the time of perfdata | RssAnon, MB |")
    print("|---|---|---|---|---|---|")
    for name, _, ours in work:
        times = [of_round[name][0] for of_round in rounds]
        ratio = statistics.median(of_round[name][0] / of_round[ours][0] for of_round in rounds) if ours else None
        memory = max(of_round[name][1] for of_round in rounds)
        cells = [name, f"{statistics.median(times):.2f}", f"{min(times):.2f}-{max(times):.2f}"]
        cells += [f"{samples / statistics.median(times):,.0f}", f"{ratio:.1f}" if ratio else "", f"{memory:.0f}"]
        print("|", " | ".join(cells), "|")


main()
