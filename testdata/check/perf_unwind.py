#!/usr/bin/env python3
"""Compares the stacks of the example `unwind` with those of `perf script`, address by address.

perf_unwind.py CAPTURE [--unwind target/release/examples/unwind] [--show N] [--perf-text FILE]

perf prints offsets in files, and return addresses minus one. Its kernel frames are left out. Each sample is in one of
these classes:

  equal      the same user frames
  better     ours is rooted and perf's is not, and one of them is the start of the other, or they part after a guess
  rooted     both are rooted, and they differ
  different  all others
"""
import argparse
import collections
import re
import subprocess
import sys

ROOTS = {"_start", "clone3", "__clone3", "clone", "__clone", "__GI___clone", "_dl_start_user", "thread_start"}


def perf_stacks(lines):
    """(tid, time in us): [(offset, symbol, dso)], user frames only."""
    stacks, frames = {}, None
    for line in lines:
        line = line.rstrip("\n")
        if not line:
            frames = None
        elif line[0] in " \t":
            found = re.match(r"\s+([0-9a-f]+) (.*) \((.*)\)$", line)
            if found and frames is not None and not found[3].startswith("[kernel") and found[3] != "inlined":
                # A module of the kernel is in brackets, too.
                if not (found[3].startswith("[") and int(found[1], 16) >= 1 << 63):
                    frames.append((int(found[1], 16), found[2], found[3]))
        else:
            found = re.search(r"\s(-?\d+)/(-?\d+)\s+(\d+)\.(\d+):", line)
            frames = stacks.setdefault((int(found[2]), int(found[3]) * 10**6 + int(found[4])), [])
    return stacks


def our_stacks(lines):
    """(tid, time in us): ([(offset, dso, mark)], end)"""
    stacks, key, frames = {}, None, []
    for line in lines:
        line = line.rstrip("\n")
        if line.startswith("\t= "):
            stacks[key] = (frames, line[3:])
        elif line.startswith("\t"):
            address, offset, dso, *mark = line[1:].split(" ")
            if int(address, 16) < 1 << 63:
                frames.append((int(offset, 16), dso, mark))
        elif line:
            found = re.search(r" (-?\d+)/(-?\d+) (\d+):$", line)
            # perf cuts the time to microseconds.
            key, frames = (int(found[2]), int(found[3]) // 1000), []
    return stacks


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("capture")
    options.add_argument("--unwind", default="target/release/examples/unwind")
    options.add_argument("--perf", default="perf")
    options.add_argument("--perf-text", help="what perf printed before")
    options.add_argument("--show", type=int, default=3, help="how many stacks of each class are printed")
    options.add_argument("--at-least", type=float, default=99.9, help="percentage of equal and better stacks")
    options = options.parse_args()
    fields = "comm,pid,tid,time,ip,sym,dso"
    command = [options.perf, "script", "--no-inline", "-F", fields, "-i", options.capture]
    if options.perf_text:
        with open(options.perf_text, errors="replace") as file:
            theirs = perf_stacks(file)
    else:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        theirs = perf_stacks(run.stdout.decode(errors="replace").split("\n"))
    run = subprocess.run([options.unwind, options.capture], stdout=subprocess.PIPE, check=True)
    ours = our_stacks(run.stdout.decode(errors="replace").split("\n"))

    classes, shown = collections.Counter(), collections.defaultdict(list)
    for key in theirs.keys() & ours.keys():
        their, (our, end) = theirs[key], ours[key]
        # The innermost frame is no return address; perf subtracts one from the others, except after a signal.
        same = len(their) == len(our) and all(
            offset in (frame[0], frame[0] - 1) for (offset, _, _), frame in zip(their, our)
        )
        is_root = bool(their) and their[-1][1] in ROOTS
        if same:
            kind = "equal"
        elif end.startswith("rooted") and not is_root:
            kind = "better"
        elif end.startswith("rooted"):
            kind = "rooted"
        else:
            kind = "different"
        classes[kind, end, "perf rooted" if is_root else "perf not rooted"] += 1
        shown[kind].append((key, their, our, end))
    total = sum(classes.values())
    print(f"{total} samples in both, {len(theirs)} of perf, {len(ours)} of ours")
    for (kind, end, perf), count in sorted(classes.items()):
        print(f"{count:8} {100 * count / total:8.3f} % {kind}, {end}, {perf}")
    for kind in shown:
        if kind == "equal":
            continue
        for key, their, our, end in shown[kind][: options.show]:
            print(f"\n{kind}: thread {key[0]}, {key[1]} us, {end}")
            for place in range(max(len(their), len(our))):
                left = their[place] if place < len(their) else ("", "", "")
                right = our[place] if place < len(our) else ("", "", "")
                left = f"{left[0]:x} {left[1]}" if left[1] else ""
                right = f"{right[0]:x} {right[1]} {' '.join(right[2])}" if right[1] else ""
                print(f"    {left:60.60} | {right}")
    good = sum(count for (kind, _, _), count in classes.items() if kind in ("equal", "better"))
    print(f"\nequal or better: {100 * good / total:.3f} %")
    return 0 if 100 * good / total >= options.at_least else 1


if __name__ == "__main__":
    sys.exit(main())
