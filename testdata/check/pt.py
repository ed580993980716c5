#!/usr/bin/env python3
"""Intel PT packets and events, as perf prints them.

    pt.py RANDOM PRINTER PERF...

RANDOM is the example `random_intel_pt` of testdata, which writes captures with random traces, PRINTER the example `intel_pt` of
perf-aux, which prints them. Compares 100,000 packets with `perf script -D` of each perf, the packets of the captures in ../foreign
and of those that the variable CORPUS names, and 20,000 events with `perf script --itrace=pweI`: their order, fields, and times in
nanoseconds, and their addresses where the trace has them without its branches. The variable SEED chooses other traces; each run
prints it. Exits with 1 if something differs.

Differences that are expected: perf 6.1 has no names of two types of control flow events. perf prints changes of the interrupt flag,
too. For a PWRE packet without MWAIT perf prints the payload of an earlier one: the random traces have none.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

FOREIGN = pathlib.Path(__file__).resolve().parent.parent / "foreign"
PACKETS, EVENTS, TRACES = 25_000, 5_000, 4
PACKET = re.compile(rb"^\.  [0-9a-f]{8}: ")
ERROR = re.compile(r" instruction trace error type \d+ time (\d+)\.(\d{9}) .* code \d+: (.*)")
EVENT = re.compile(r" *(\d+)\.(\d{9}): +(\w+): +(.*?) +([0-9a-f]+) *")


def perf(program, args, capture, home):
    environment = dict(os.environ, HOME=home, PERF_CONFIG="/dev/null", PERF_PAGER="cat", LC_ALL="C")
    command = [program, "script", *args, "-i", capture]
    return subprocess.run(command, env=environment, capture_output=True, stdin=subprocess.DEVNULL, check=True).stdout


def differing(what, ours, theirs):
    """Prints the first difference of two lists. Returns whether there is one."""
    for number, (one, other) in enumerate(zip(ours + [None], theirs + [None])):
        if one != other:
            print(f"{what}: line {number}\n  ours: {one}\n  perf: {other}")
            return True
    print(f"{what}: {len(ours)} are the same")
    return False


def packets(printer, program, capture, home):
    ours = subprocess.run([printer, capture, "packets"], capture_output=True, check=True).stdout.splitlines()
    theirs = [line for line in perf(program, ["-D"], capture, home).splitlines() if PACKET.match(line)]
    return differing(f"packets of {pathlib.Path(capture).name}, {program}", ours, theirs) or not ours


def our_events(printer, capture):
    out = subprocess.run([printer, capture, "events"], capture_output=True, check=True, text=True).stdout
    for line in out.splitlines():
        time, address, rest = line.split(" ", 2)
        name, _, text = rest.partition(": ")
        yield time, name, " ".join(text.split()), address


def perf_events(program, capture, home):
    out = perf(program, ["--itrace=pweI", "--ns", "-F", "time,event,ip,synth"], capture, home)
    for line in out.decode(errors="surrogateescape").splitlines():
        if error := ERROR.fullmatch(line):
            yield str(int(error[1] + error[2])), "error", error[3], "-"
        elif (event := EVENT.fullmatch(line)) and event[3] != "iflag":
            text = event[4].replace("cfe: 12 ", "cfe: UINTR ").replace("cfe: 13 ", "cfe: UIRET ")
            yield str(int(event[1] + event[2])), event[3], " ".join(text.split()), event[5]


def events(printer, program, capture, home):
    ours, theirs = list(our_events(printer, capture)), list(perf_events(program, capture, home))
    # What only perf has, as it decodes no branches here: the address before.
    theirs = [(*their[:3], "-" if our[3] == "-" else their[3]) for our, their in zip(ours, theirs)] + theirs[len(ours):]
    return differing(f"events, {program}", ours, theirs) or not ours


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    random, printer, *perfs = sys.argv[1:]
    seed = int(os.environ.get("SEED", os.getpid()))
    print(f"SEED={seed}")
    captures = [str(path) for path in sorted(FOREIGN.glob("*/*intel_pt-*")) if path.suffix not in (".buildids", ".pb_text")]
    captures += os.environ.get("CORPUS", "").split()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(TRACES):
            made = {}
            for kind, count in (("packets", PACKETS), ("events", EVENTS)):
                made[kind] = os.path.join(folder, f"{kind}.{number}.data")
                subprocess.run([random, kind, str(seed + number), str(count), made[kind]], check=True)
            captures.append(made["packets"])
            failed += sum(events(printer, program, made["events"], folder) for program in perfs)
        failed += sum(packets(printer, program, capture, folder) for capture in captures for program in perfs)
    sys.exit(failed > 0)


main()
