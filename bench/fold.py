#!/usr/bin/env python3
"""Races `perfdata fold` with `perf script | inferno-collapse-perf`: the time from a capture to folded stacks.

    fold.py [--perfdata PROGRAM] [--perf PROGRAM] [--inferno PROGRAM] [--rounds N] CAPTURE...

Each round runs each of them once for each capture, in turn, with and without inlined functions, with the output to
/dev/null. The first round is not counted. Prints a table in Markdown for each capture: the median of the times, the samples
in a second, and the median of the ratios to perfdata's time within one round. The captures are those of `perf record
--call-graph dwarf` of a program with debug information, and of `perf record -a -g`, for example.
"""

import argparse
import os
import statistics
import subprocess
import time

ENVIRONMENT = dict(os.environ, PERF_CONFIG="/dev/null", PERF_PAGER="cat")


def run(commands):
    """Runs programs that read from each other; returns the time until the last one has ended, in seconds."""
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
            )
        )
        if number > 0:
            # So that the one before ends if this one does.
            processes[number - 1].stdout.close()
    for command, process in zip(commands, processes):
        if process.wait() != 0:
            raise SystemExit(f"{' '.join(command)}: exit status {process.returncode}")
    return time.monotonic() - start


def samples_of(perfdata, capture):
    """Returns the number of samples."""
    text = subprocess.run(
        [perfdata, "fold", "--no-symbols", "--weight", "samples", capture], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ).stdout
    return sum(int(line.rsplit(b" ", 1)[1]) for line in text.splitlines())


def contestants(args, capture):
    """Returns the name, the commands, and the name of perfdata's same work, of each."""
    for option in ([], ["--no-inline"]):
        ours = " ".join(["perfdata fold", *option])
        yield ours, [[args.perfdata, "fold", *option, capture]], None
        script = [args.perf, "script", *option, "-i", capture]
        yield " ".join(["perf script", *option, "| inferno-collapse-perf"]), [script, [args.inferno, "-q"]], ours


def race(args, capture):
    """Prints the table of a capture."""
    samples = samples_of(args.perfdata, capture)
    work = list(contestants(args, capture))
    rounds = [{name: run(commands) for name, commands, _ in work} for _ in range(args.rounds + 1)][1:]
    print(f"\n{os.path.basename(capture)}: {samples:,} samples\n")
    print("| program | s, median | min-max | samples/s | x the time of perfdata |")
    print("|---|---|---|---|---|")
    for name, _, ours in work:
        times = [of_round[name] for of_round in rounds]
        ratio = statistics.median(of_round[name] / of_round[ours] for of_round in rounds) if ours else None
        cells = [name, f"{statistics.median(times):.2f}", f"{min(times):.2f}-{max(times):.2f}"]
        cells += [f"{samples / statistics.median(times):,.0f}", f"{ratio:.1f}" if ratio else ""]
        print("|", " | ".join(cells), "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--perfdata", default="target/release/perfdata")
    parser.add_argument("--perf", default="perf")
    parser.add_argument("--inferno", default="inferno-collapse-perf")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("captures", nargs="+", metavar="CAPTURE")
    args = parser.parse_args()
    for capture in args.captures:
        race(args, capture)


main()
