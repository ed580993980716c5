#!/usr/bin/env python3
"""Compares a text of `perf report --stdio` with one of `perfdata report`.

    report_text.py [--addresses] PERF PERFDATA

Exits with 0 if they are the same, with 3 if only the order differs of what has the same percentage, with 4 if also only
the ends of names differ, and else with 1 after a print of the differences. What is not compared:

- Blanks between columns count as one, and the dotted lines are left out: perf makes a column of names as wide as the name
  that the thread has last. It cuts other names there; hence the exit status 4, for which names are cut.
- What perf prints after [...], from memory that it did not write.
- Comments after the last table: a tip of perf, the quality of perfdata.
- With --addresses, addresses without a name in rows: for callers, perf prints the address in memory and the mode of the
  frame before, and perfdata the offset in the file and the mode of the frame.

The order in perf of branches with the same weight depends on where perf has its objects in memory, and that of rows with
the same percentage on the threads that had them first. For exit status 3, such rows are sorted, and so are the lines of
call graphs.
"""

import difflib
import re
import sys

ROW = re.compile(rb"^ *-?[0-9.]+%| +N/A  ")


def blocks(lines):
    """Yields lists of lines: a comment or blank line alone, a row with its call graph together."""
    block = []
    for line in lines:
        is_start = line.startswith(b"#") or ROW.match(line)
        if not is_start and block and ROW.match(block[0]):
            block.append(line)
            continue
        if block:
            yield block
        block = [line]
    if block:
        yield block


def parsed(path, addresses):
    """Returns pairs of a percentage and lines."""
    with open(path, "rb") as file:
        # The statistics of branches come after the tables.
        lines = file.read().split(b"#\n# Branch Statistics:")[0].split(b"\n")
    # The comments at the end, and what a table without rows has.
    while lines and (not lines[-1].strip() or lines[-1].startswith(b"#")):
        if lines[-1].startswith(b"# Event count"):
            break
        lines.pop()
    out = []
    for block in blocks(lines):
        first = re.sub(rb" *, *", b",", re.sub(rb" +", b" ", block[0])).strip()
        if ROW.match(block[0]):
            if addresses:
                first = re.sub(rb"\[.\] (0x[0-9a-f]{16}|0{16})$", b"[?]", first)
            rest = [line.rstrip().replace(b"[...] (inlined)", b"[...]") for line in block[1:]]
            while rest and not rest[-1]:
                rest.pop()
            percent = re.match(rb"[0-9.]+%", first)
            out.append((percent[0] if percent else first, [first, *rest]))
        elif first and not re.fullmatch(rb"#[. ]+", first):
            out.append((b"", [first]))
    return out


def cut(out):
    """Returns the rows with names as long as the shortest column of threads is wide."""
    return [(percent, [re.sub(rb"[^ ]{8,}", lambda it: it[0][:7], row[0]), *row[1:]]) for percent, row in out]


def without_order(out):
    """Returns the lines with rows of the same percentage sorted."""
    lines, start = [], 0
    while start < len(out):
        end = start + 1
        while out[start][0] and end < len(out) and out[end][0] == out[start][0]:
            end += 1
        same = [[row[0], *sorted(re.sub(rb"^[| ]*(---?)?", b"", line) for line in row[1:])] for _, row in out[start:end]]
        lines.extend(line for row in sorted(same) for line in row)
        start = end
    return lines


def main():
    addresses = sys.argv[1] == "--addresses"
    perf, perfdata = (parsed(path, addresses) for path in sys.argv[-2:])
    if perf == perfdata:
        return 0
    if without_order(perf) == without_order(perfdata):
        return 3
    if without_order(cut(perf)) == without_order(cut(perfdata)):
        return 4
    perf, perfdata = without_order(perf), without_order(perfdata)
    shown = difflib.unified_diff([it.decode(errors="replace") for it in perf], [it.decode(errors="replace") for it in perfdata], n=0, lineterm="")
    for line in list(shown)[2:]:
        if not line.startswith("@@"):
            print(line)
    return 1


sys.exit(main())
