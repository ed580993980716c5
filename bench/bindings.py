#!/usr/bin/env python3
"""Measures the bindings against the libraries that they translate: samples in C, folded stacks in node, rows in Python.

    bindings.py [--prefix FOLDER] [--package FOLDER] [--python PROGRAM] [--perfdata PROGRAM] [--samples N] [--rounds N] CAPTURE

CAPTURE is one of `perf record -g` whose records have the same layout. It is repeated, with its times moved, until it has N samples
(1,000,000). FOLDER of --prefix is where `bindings/c/build.sh` installed libperfdata, that of --package is `bindings/wasm/pkg`; PROGRAM
of --python is a Python with the wheel and polars. A binding without its option is left out. No names are looked up: what is
compared is the way of a sample through a binding. Those that are compared print the same. Prints a table in Markdown. Times are
those of the processors, user and system. A ratio is between two programs of one round; the table has the median, the least and the
largest.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import columns

HERE = pathlib.Path(__file__).resolve().parent


def run(words):
    """Runs a program. Returns its processor time in seconds, its wall clock time, and what it printed."""
    started = time.perf_counter()
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE)
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{words[0]}: status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - started, printed


def compare(what, goal, binding, library, rounds):
    """Prints the ratio of the times of a binding and of the library."""
    ratios, seconds = [], []
    for number in range(rounds + 1):
        (ours, _, printed), (theirs, _, expected) = run(binding), run(library)
        if printed != expected:
            sys.exit(f"{what}: the binding and the library print different things")
        # The first round reads the files into memory.
        if number:
            ratios.append(ours / theirs)
            seconds.append((ours, theirs))
    ours, theirs = (statistics.median(side) for side in zip(*seconds))
    ratio, least, most = statistics.median(ratios), min(ratios), max(ratios)
    print(f"| {what} | {ours:.2f} s, {theirs:.2f} s | {ratio:.2f} ({least:.2f} to {most:.2f}) | {goal} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    for option in ("prefix", "package", "python"):
        parser.add_argument(f"--{option}")
    parser.add_argument("--perfdata", default=HERE.parent / "target/release/perfdata")
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("capture")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        capture = scratch / "capture.data"
        samples = columns.repeat(pathlib.Path(args.capture).read_bytes(), args.samples, capture)
        print(f"{samples:,} samples, {capture.stat().st_size >> 20} MiB\n")
        print("| work | binding, library | ratio | goal |\n|---|---|---|---|", flush=True)
        if args.prefix:
            manifest = HERE / "Cargo.toml"
            subprocess.run(["cargo", "build", "--quiet", "--release", "--manifest-path", manifest, "--example", "samples"], check=True)
            target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE / "target"))
            prefix = pathlib.Path(args.prefix)
            library = [prefix / "lib/libperfdata.a", "-lgcc_s", "-lpthread", "-lm", "-ldl"]
            program = scratch / "samples"
            source = HERE / "bindings/samples.c"
            subprocess.run(["cc", "-O2", f"-I{prefix}/include", source, "-o", program, *library], check=True)
            rust = target / "release/examples/samples"
            compare("samples one by one, C", "1.1", [program, capture], [rust, capture], args.rounds)
        if args.package:
            script = HERE / "bindings/fold.cjs"
            fold = [args.perfdata, "fold", "--threads", "1", "--symfs", scratch, capture]
            compare("folded stacks, node", "2.5", ["node", script, args.package, capture], fold, args.rounds)
        if args.python:
            script = HERE / "bindings/rows.py"
            # An interpreter and its imports take as long as many rows.
            empty = min(run([args.python, "-c", "import perfdata, polars"])[1] for _ in range(3))
            rates = [samples / (run([args.python, script, capture])[1] - empty) / 1e6 for _ in range(args.rounds)]
            print(f"| rows of samples into polars | | {statistics.median(rates):.2f} M rows/s "
                  f"({min(rates):.2f} to {max(rates):.2f}), wall clock | 5 M |", flush=True)


if __name__ == "__main__":
    main()
