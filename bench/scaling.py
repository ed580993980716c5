#!/usr/bin/env python3
"""How much of each verb is serial, counted, and what that means for more processors.

    scaling.py [--perfdata PROGRAM] [--rounds N] CAPTURE...

Runs each verb on two and on four threads in valgrind, as from three on more of the work is shared, and counts the instructions of each thread, and of the functions that threads share: those are
parallel, whichever thread ran them. One thread reads the symbols of files beside the walk over the records. What is left is serial: the
walk and the counting, while other threads work, and what comes before and after. So on n processors a verb takes the time of

    what is before and after the walk + max(the walk, symbols, (the walk + what is parallel to it + symbols) / n) + other parallel parts / n

With --rounds, one and two threads also run in turn, and the table has the measured ratio of their times beside that of the model: the
difference is the error of the model, which knows neither how evenly work is divided nor what memory and locks cost. At last it counts
how often 64 threads wait for each other or are woken up: the calls of futex, if perf can count them.
"""

import argparse
import glob
import os
import re
import statistics
import subprocess
import tempfile
import time

# Names are looked up each time.
ENVIRONMENT = dict(os.environ, XDG_CACHE_HOME="/dev/null")

# Functions that any thread runs: while the records are read, and at other times. None calls another one.
BESIDE_THE_WALK = [r"perf_profile::samples::batch::NoteBatch<.*>::work", r"perf_cli::dump::block::Block::format"]
AT_OTHER_TIMES = [
    r"perf_profile::function_table::look_up::\{\{closure\}\}",
    r"perf_profile::work::waves::.*::\{\{closure\}\}",
    r"perf_cli::report::printed::PrintedRows::print",
]
WALK = [r"perf_profile::samples::walk::SampleWalk::step", r"perf_profile::samples::Passing<.*>::deliver"]
LOADS = [r"perf_symbol::shared::SymbolsKey::load"]

VERBS = {
    "fold": ["fold"],
    "report": ["report", "--stdio"],
    "flame graph": ["flamegraph", "-o", "OUT.html"],
    "Firefox": ["export", "--to", "firefox", "-o", "OUT.json"],
    "pprof": ["export", "--to", "pprof", "-o", "OUT.pb.gz"],
    "script": ["script"],
    "dump": ["dump"],
}


def counted(words, folder):
    """Returns of each thread the number of its instructions, and of each function with what it calls."""
    out = os.path.join(folder, "callgrind.out")
    for old in glob.glob(out + "*"):
        os.remove(old)
    words = ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={out}", *words]
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, env=ENVIRONMENT)
    threads = []
    for of_thread in sorted(glob.glob(out + "-*")):
        words = ["callgrind_annotate", "--inclusive=yes", "--threshold=100", of_thread]
        text = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
        functions = {}
        for count, name in re.findall(r"^\s*([\d,]+) \([ \d.]+%\)\s+(?:\S*?:)?(.*?)(?: \[\S+\])?$", text, re.M):
            # A function that calls itself is listed once more for that.
            if not re.search(r"'\d+$", name):
                functions[name] = max(functions.get(name, 0), int(count.replace(",", "")))
        threads.append((functions.pop("PROGRAM TOTALS", 0), functions))
    return threads


def parts(threads):
    """Returns the instructions in all, of the walk, parallel to it, of the thread that reads symbols, and of other parallel parts."""
    total = sum(count for count, _ in threads)
    walk, beside, other = (sum(sum_of(functions, it) for _, functions in threads) for it in (WALK, BESIDE_THE_WALK, AT_OTHER_TIMES))
    symbols = sum(count for count, functions in threads if sum_of(functions, LOADS) and not sum_of(functions, WALK + BESIDE_THE_WALK + AT_OTHER_TIMES))
    return total, walk, beside, symbols, other


def sum_of(functions, patterns):
    return sum(count for name, count in functions.items() if any(re.fullmatch(it, name) for it in patterns))


def seconds(words):
    start = time.monotonic()
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, env=ENVIRONMENT)
    return time.monotonic() - start


def waits(words):
    """Returns the number of calls of futex; None if it cannot be counted."""
    perf = ["perf", "stat", "-x,", "-e", "syscalls:sys_enter_futex", "--", *words]
    result = subprocess.run(perf, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    found = re.search(r"^(\d+),", result.stderr, re.M)
    return int(found.group(1)) if result.returncode == 0 and found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--perfdata", default="target/release/perfdata")
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("captures", nargs="+")
    args = parser.parse_args()
    print("| verb | capture | instructions, M | serial, % | of it the walk, % | x at 2 | measured | 4 | 16 | 64 | waits at 64 |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        for capture in args.captures:
            for verb, words in VERBS.items():
                words = [os.path.join(folder, word) if word.startswith("OUT.") else word for word in words]
                on = lambda threads: [args.perfdata, *words, "--threads", str(threads), capture]
                one, *two = parts(counted(on(2), folder))
                total, *four = parts(counted(on(4), folder))

                def model(n):
                    """Returns how many times as fast n processors are as the instructions of the run on two."""
                    all_of, (walk, beside, symbols, other) = (one, two) if n == 2 else (total, four)
                    rest = all_of - walk - beside - symbols - other
                    return one / (rest + max(walk, symbols, (walk + beside + symbols) / n) + other / n)

                walk = four[0]
                rest = total - sum(four)
                ratio = ""
                if args.rounds:
                    pairs = [(seconds(on(1)), seconds(on(2))) for _ in range(args.rounds + 1)][1:]
                    measured = statistics.median(one / two for one, two in pairs)
                    errors.append(abs(model(2) / measured - 1))
                    ratio = f"{measured:.2f}"
                futex = waits(on(64))
                cells = [verb, os.path.basename(capture), f"{total / 1e6:,.0f}", f"{(walk + rest) / total:.1%}"[:-1]]
                cells += [f"{walk / total:.1%}"[:-1], f"{model(2):.2f}", ratio, *(f"{model(n):.1f}" for n in (4, 16, 64))]
                print("|", " | ".join([*cells, "" if futex is None else f"{futex:,}"]), "|", flush=True)
    if errors:
        print(f"\nThe model is off by {statistics.median(errors):.0%} at two threads, the median, and by {max(errors):.0%} at most.")


main()
