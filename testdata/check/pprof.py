#!/usr/bin/env python3
"""Shows that the profiles of `perfdata export --to pprof` are what other programs read.

    pprof.py PERFDATA [CAPTURE...]

For each event of each capture, compares `go tool pprof -top`, flat and cum of all functions, with `perfdata report`: once with
--no-inline, and once with inlined functions. In the report, as in that of perf, a sample in an inlined function counts for
the function around it as its own, and for pprof it is the inlined one's: then only cum is compared, of samples with stacks. Then
npm's pprof-format decodes each profile, and pprof.mjs checks its tables and sums. Without captures, reads ../captures,
../synthetic and ../unwind.

    go             $GO, or go of PATH
    pprof-format   $PPROF_FORMAT: the folder node_modules/pprof-format

A name that several rows have (of functions that are inlined at one place and called at another, or of several files) is one
row for pprof. Its flat must be the sum of theirs; its cum can be less than their sum, as a stack may have several of them,
but not less than the largest. Functions without a name are one row of each file for pprof, and left out here; that nothing is
missing, the totals show.

Exits with 0 if all agree, with 1 if not, and with 3 if a program is not there.
"""
import json
import multiprocessing
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROW = re.compile(r"^ *(\S+) +\S+% +\S+% +(\S+) +(\S+)%  ?(.*)$")
TOTAL = re.compile(r"of (-?[0-9]+)(?:ns)? total$")


def run(*words, ok=(0,)):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode not in ok:
        raise AssertionError(f"{' '.join(map(str, words))}: {done.returncode}: {done.stderr[:500]}")
    return done.stdout


def reported(perfdata, capture, options):
    """The total of each event, the rows of each function, (self, children) by name, and whether it has stacks."""
    words = ("report", "--no-group", "--no-branch-stack", "--format", "json")
    words += ("--sort", "sym", "-g", "none", "--percent-limit", "0")
    # 3: the capture is damaged, and was read.
    document = json.loads(run(perfdata, *words, *options, capture, ok=(0, 3)))
    events = {}
    for table in document["tables"]:
        event = events.setdefault(table["name"], [0, {}, False])
        event[0] += table["totals"][0]["period"]
        rows = event[1]
        for row in table["rows"]:
            own = row["self"][0]["period"]
            children = row.get("children", row["self"])[0]["period"]
            name = row["symbol"]
            # pprof has no other place for the mark.
            name = f"{name} [guessed]" if name and row.get("guessed") else name
            rows.setdefault(name, []).append((own, children))
            event[2] |= children > own
    return events


def top(go, profile, event):
    """The total, and the (flat, cum, percentage) of each function that has a name."""
    options = ["-symbolize=none", "-top", "-trim=false", "-unit=ns", f"-sample_index={event}"]
    text = run(go, "tool", "pprof", *options, profile)
    total, rows = 0, {}
    for line in text.splitlines():
        if found := TOTAL.search(line):
            total = int(found[1])
        elif found := ROW.match(line):
            name = re.sub(r" \((partial-)?inline\)$", "", found[4])
            value = [int(word.removesuffix("ns")) for word in found.group(1, 2)]
            rows.setdefault(name, []).append((*value, float(found[3])))
    return total, rows


def compare(name, event, report, pprof, has_flat):
    """Returns the numbers of functions with equal rows, and of those that several rows have."""
    (total, ours, _), (of_pprof, theirs) = report, pprof
    if total != of_pprof:
        raise AssertionError(f"{name} {event}: report counts {total}, pprof {of_pprof}")
    equal = shared = 0
    for function, rows in ours.items():
        if function is None or re.fullmatch(r"0x[0-9a-f]+", function):
            continue
        found = theirs.pop(function, [])
        flat, cums = sum(own for own, _ in rows), [cum for _, cum in rows]
        if has_flat and sum(it[0] for it in found) != flat:
            raise AssertionError(f"{name} {event}: {function}: flat {found}, and in the report {rows}")
        if len(rows) == len(found) == 1:
            percent = 100 * cums[0] / total if total else 0
            if found[0][1] != cums[0] or abs(found[0][2] - percent) > 0.051 + percent / 1000:
                raise AssertionError(f"{name} {event}: {function}: cum {found}, and in the report {rows}")
            equal += 1
        else:
            cum = max((it[1] for it in found), default=0)
            if not found or cum > sum(cums) or sum(it[1] for it in found) < max(cums):
                raise AssertionError(f"{name} {event}: {function}: cum {found}, and in the report {rows}")
            shared += 1
    # What is left are functions without a name, by file.
    named = [it for it in theirs if not re.fullmatch(r"\[.*\]|<unknown>", it)]
    if named:
        raise AssertionError(f"{name} {event}: only pprof has {named[:3]}")
    return equal, shared


def of_capture(perfdata, go, capture, profile):
    """Writes a profile, and compares it. Returns the totals, and the numbers of functions with equal rows, of those that
    several rows have, and of events."""
    equal = shared = events = 0
    run(perfdata, "export", "--to", "pprof", "-o", profile, capture, ok=(0, 3))
    report = reported(perfdata, capture, [])
    totals = {event: total for event, (total, *_) in report.items()}
    if not go or not any(totals.values()):
        return totals, equal, shared, events
    without = profile.with_suffix(".without")
    run(perfdata, "export", "--no-inline", "--to", "pprof", "-o", without, capture, ok=(0, 3))
    reports = [(reported(perfdata, capture, ["--no-inline"]), without, True), (report, profile, False)]
    for report, profile, has_flat in reports:
        for event, of_event in report.items():
            # pprof refuses impossible totals.
            if not 0 < of_event[0] < 1 << 62 or not (has_flat or of_event[2]):
                continue
            found = compare(capture.name, event, of_event, top(go, profile, event), has_flat)
            equal, shared, events = equal + found[0], shared + found[1], events + has_flat
    return totals, equal, shared, events


def main():
    perfdata = pathlib.Path(sys.argv[1]).resolve()
    folders = [HERE.parent / folder for folder in ("captures", "synthetic", "unwind")]
    found = [it for folder in folders for it in sorted(folder.iterdir()) if it.suffix in (".data", ".dir")]
    captures = [pathlib.Path(it) for it in sys.argv[2:]] or found
    go, format = shutil.which(os.environ.get("GO", "go")), os.environ.get("PPROF_FORMAT", "")
    missing = [name for name, is_there in [("go", go), ("pprof-format", os.path.isdir(format))] if not is_there]
    for name in missing:
        print(f"not run: {name} is not there")
    with tempfile.TemporaryDirectory() as work, multiprocessing.Pool() as pool:
        profiles = [pathlib.Path(work) / f"{number}.pb.gz" for number in range(len(captures))]
        tasks = [(perfdata, go, capture, profile) for capture, profile in zip(captures, profiles)]
        found = pool.starmap(of_capture, tasks)
        equal, shared, events = (sum(counts) for counts in zip(*(counts for _, *counts in found)))
        expected = {str(profile): totals for profile, (totals, *_) in zip(profiles, found)}
        if go:
            print(f"go tool pprof: {equal} functions of {events} events have equal rows; {shared} share theirs")
            if not equal:
                raise AssertionError("no function was compared")
        if os.path.isdir(format):
            (pathlib.Path(work) / "expected.json").write_text(json.dumps(expected))
            print(run("node", HERE / "pprof.mjs", format, f"{work}/expected.json"), end="")
    sys.exit(3 if missing else 0)


if __name__ == "__main__":
    main()
