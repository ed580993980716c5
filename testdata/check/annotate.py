#!/usr/bin/env python3
"""Compares the percentage of each instruction that `perfdata annotate` prints with that of `perf annotate --stdio`.

annotate.py PERFDATA PERF CAPTURE...

perf asks objdump for the instructions. Of a file whose segments have other offsets than addresses (lld), perf 6.1 shows other code:
its functions are left out, and counted. Functions of the kernel need vmlinux or /proc/kcore. Exits with 1 if a percentage differs, or
if little was compared.
"""

import re
import subprocess
import sys

HEAD = re.compile(r"^ Percent +\|\s+Source code & Disassembly of (.*) for (.*) \((\d+) samples, percent: local period\)$")
LINE = re.compile(r"^ +(\d+\.\d+) +:\s+([0-9a-f]+):\s")


def functions(command):
    """Returns the lines of each function: by file, event, samples and first address, the percentage of each address."""
    run = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    found, head, lines = {}, None, {}
    for line in run.stdout.splitlines() + [" Percent | end"]:
        if line.startswith(" Percent "):
            if head and lines:
                found[(*head, min(lines))] = lines
            match = HEAD.match(line)
            head, lines = (match.groups() if match else None), {}
        elif match := LINE.match(line):
            lines[int(match[2], 16)] = match[1]
    return found


def main():
    perfdata, perf, *captures = sys.argv[1:]
    same, differ, left_out = 0, 0, 0
    for capture in captures:
        ours = functions([perfdata, "annotate", "-i", capture, "--stdio", "--percent-limit", "0", "--skip-missing"])
        theirs = functions([perf, "annotate", "-i", capture, "--stdio", "--stdio-color", "never"])
        for key, lines in theirs.items():
            if key not in ours:
                left_out += 1
                continue
            # objdump ends a function where the next symbol is, perf where its own does.
            counted = {at: text for at, text in lines.items() if float(text)}
            of_ours = {at: text for at, text in ours[key].items() if float(text)}
            if counted == of_ours:
                same += 1
            else:
                differ += 1
                print(f"{capture}: {key}: perf {counted}, perfdata {of_ours}")
    print(f"functions: {same} same, {differ} differ, {left_out} of perf alone")
    sys.exit(1 if differ or same == 0 else 0)


main()
