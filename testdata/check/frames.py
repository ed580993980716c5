#!/usr/bin/env python3
"""Compares the mapping of every frame of `perfdata script` with that of `perf script`: its address and its file.

    frames.py PERFDATA PERF [CAPTURE...]

Without captures, compares all of ../captures, ../synthetic and ../foreign. Prints how many frames perf prints for each
capture, how many of them perfdata prints for the same sample at the same depth with the same address and file, and the
sums. Exits with 1 if a frame differs in a capture that KNOWN does not list, or if there were no frames.

perf 6.1 prints a user frame of a call chain by its offset in the file, which perfdata's text does, too. Newer ones print
its address, which perfdata's JSON lines have. Symbols are not compared, and neither are stacks that were copied into the
samples: check/perf_unwind.py compares them. Of captures that have them, only the address of the sample is compared (-G).
"""

import collections
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys

# A pattern of the capture's name, and why frames differ.
KNOWN = [
    ("records.*", "a FORK record has the process id of another thread, which is then a new process"),
    ("perf.data.intel_pt-*", "perf decodes the traces of the processor"),
]

# perf refuses fields that no sample has.
FIELDS = ["comm,pid,tid,time,ip,dso", "comm,pid,tid,ip,dso", "time,ip,dso", "ip,dso"]

FRAME = re.compile(r"^(.*?)\s([0-9a-f]+)(?: \[unknown\]| [^()]*)? \((.*)\)$")


def run(command):
    environment = dict(os.environ, LC_ALL="C", TZ="UTC", PERF_PAGER="cat", PAGER="cat")
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, timeout=300
    )
    return done.stdout.decode("utf-8", "replace") if done.returncode in (0, 3) else None


def samples(text):
    """Returns what precedes the frames of each sample, and its frames."""
    found = []
    for line in text.splitlines():
        frame = FRAME.match(line)
        if line.startswith("\t"):
            if frame and found:
                found[-1][1].append((frame[2], frame[3]))
        elif line.strip():
            head, frames = (frame[1], [(frame[2], frame[3])]) if frame else (line, [])
            found.append((" ".join(head.split()), frames))
    return found


def counted(found):
    """Counts the frames of each sample, by what identifies them."""
    seen = collections.Counter()
    result = collections.Counter()
    for head, frames in found:
        seen[head] += 1
        for depth, frame in enumerate(frames):
            result[(head, seen[head], depth, frame)] += 1
    return result


def has_copied_stacks(perfdata, capture):
    first = (run([perfdata, "dump", capture, "--format", "jsonl", "--limit", "1"]) or "{}").split("\n", 1)[0]
    attrs = json.loads(first).get("header", {}).get("attrs", [])
    return any(attr.get("sample_stack_user") for attr in attrs)


def with_addresses(found, lines):
    """Replaces the addresses of text by those of the JSON lines of the same samples."""
    objects = [json.loads(line) for line in lines.splitlines()]
    stacks = [it["stack"] for it in objects if "stack" in it]
    if len(stacks) != len(found):
        sys.exit(f"{len(found)} samples as text, and {len(stacks)} as JSON lines")
    result = []
    for (head, frames), stack in zip(found, stacks):
        # A sample without an address has 0 as text, and no frame as JSON.
        ips = [format(frame["ip"], "x") for frame in stack] or [ip for ip, _ in frames]
        result.append((head, [(ip, dso) for ip, (_, dso) in zip(ips, frames)]))
    return result


def compare(perfdata, perf, is_6_1, capture):
    """Returns the number of frames that perf prints, and how many of them are the same."""
    alone = ["-G"] if has_copied_stacks(perfdata, capture) else []
    for fields in FIELDS:
        # perf 7.2 does not give some new threads the name of their parent, which perf 6.1 does.
        fields = fields if is_6_1 else fields.removeprefix("comm,")
        theirs = run([perf, "script", "--no-inline", "-i", capture, "-F", fields, *alone])
        if theirs is not None:
            break
    else:
        return 0, 0
    ours = samples(run([perfdata, "script", "--no-inline", capture, "-F", fields, *alone]) or "")
    if not is_6_1 and not alone:
        ours = with_addresses(ours, run([perfdata, "script", "--no-inline", capture, "--format", "jsonl"]) or "")
    theirs, ours = counted(samples(theirs)), counted(ours)
    return theirs.total(), (theirs & ours).total()


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: frames.py PERFDATA PERF [CAPTURE...]")
    perfdata, perf, *captures = sys.argv[1:]
    is_6_1 = "version 6.1." in run([perf, "--version"])
    if not captures:
        root = pathlib.Path(__file__).resolve().parent.parent
        folders = ["captures", "synthetic", "foreign"]
        captures = [str(it) for folder in folders for it in sorted((root / folder).rglob("*")) if it.suffix != ".md"]
        captures = [it for it in captures if os.path.isfile(it) or os.path.exists(os.path.join(it, "data"))]
    total, same, of_known, differing = 0, 0, 0, []
    for capture in captures:
        frames, equal = compare(perfdata, perf, is_6_1, capture)
        name = os.path.basename(capture)
        reason = next((why for pattern, why in KNOWN if fnmatch.fnmatch(name, pattern)), None)
        if frames:
            print(f"{name}: {equal} of {frames}" + (f" ({reason})" if equal < frames and reason else ""))
        total, same = total + frames, same + equal
        if equal < frames and reason:
            of_known += frames - equal
        elif equal < frames:
            differing.append(name)
    print(f"frames: {total}, same: {same}, known differences: {of_known}, other captures that differ: {len(differing)}")
    sys.exit(1 if differing or not total else 0)


main()
