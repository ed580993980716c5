#!/usr/bin/env python3
"""Measures perfdata annotate against perf annotate, both as text, for the functions of a capture with most samples.

    annotate.py [--perfdata PROGRAM] [--perf PROGRAM] [--functions N] [--rounds N] [--large SYMBOL] CAPTURE

All functions with at least as many samples as the one of rank N (20) are shown, then the first of them alone: the memory must not grow
with the capture's other functions. With --large, CAPTURE is of a program with 30 MB of code or more, and SYMBOL is its only function that
is shown. Prints a table in Markdown. Times are those of the processors, user and system, and those of the wall clock. A ratio is
between two programs of one round; the table has the median, the least and the largest. A program and its children count. Memory is the
largest resident set of a process.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def run(words):
    """Runs a program. Returns its processor time and wall clock time in seconds, its memory in MB, and what it printed."""
    started = time.perf_counter()
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    printed = process.stdout.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{words[0]}: status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - started, usage.ru_maxrss / 1024, printed


def functions(perf, capture):
    """Returns the functions with their parts of the samples, in percent, those with most samples first."""
    words = [perf, "report", "-q", "-i", capture, "--stdio", "--no-children", "-F", "overhead,sym"]
    rows = (line.split(maxsplit=2) for line in run(words)[3].splitlines() if line.strip())
    return [(float(row[0].rstrip("%")), row[2].rstrip(" -").rstrip()) for row in rows]


def compare(what, ours, theirs, rounds):
    """Prints a row of the table."""
    sides = []
    # The first round reads the files into memory.
    for number in range(rounds + 1):
        round_ = run(ours), run(theirs)
        shown = [side[3].count("Percent |") for side in round_]
        if number:
            sides.append(round_)
    cells = []
    for kind in (0, 1):
        mine, other = (statistics.median(round_[side][kind] for round_ in sides) for side in (0, 1))
        ratios = [round_[1][kind] / round_[0][kind] for round_ in sides]
        cells.append(f"{mine:.3f} s, {other:.2f} s | {statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})")
    memory = [statistics.median(round_[side][2] for round_ in sides) for side in (0, 1)]
    print(f"| {what} | {shown[0]}, {shown[1]} | {cells[0]} | {cells[1]} | {memory[0]:.0f}, {memory[1]:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--perfdata", default=HERE.parent / "target/release/perfdata")
    parser.add_argument("--perf", default="perf")
    parser.add_argument("--functions", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--large")
    parser.add_argument("capture")
    args = parser.parse_args()
    ours = [args.perfdata, "annotate", "--stdio", "-i", args.capture]
    theirs = [args.perf, "annotate", "--stdio", "-i", args.capture]
    print("| functions | shown: perfdata, perf | processor: perfdata, perf | ratio | wall clock | ratio | MB |")
    print("|---|---|---|---|---|---|---|", flush=True)
    if args.large:
        compare(f"`{args.large}`", [*ours, "-s", args.large], [*theirs, "-s", args.large], args.rounds)
        return
    found = functions(args.perf, args.capture)
    if len(found) < args.functions:
        sys.exit(f"the capture has {len(found)} functions")
    # Percents are rounded to two digits.
    for count in (args.functions, 1):
        limit = ["--percent-limit", f"{found[count - 1][0] - 0.006:.3f}"]
        compare(f"{count} with most samples", [*ours, *limit], [*theirs, *limit], args.rounds)


if __name__ == "__main__":
    main()
