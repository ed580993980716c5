#!/usr/bin/env python3
"""Checks that perf prints the samples of an edited capture as it prints those of the original with the same selection.

edit.py PERFDATA PERF... [--captures FOLDER]

Edits each capture of testdata, or of a folder, by time, thread, CPU and name of thread, and compares `perf script` of both,
for each perf. What perf cannot print or select in the original is left out and counted. Captures of simpleperf are left out,
because perf finds the names of their events in the edited file alone. A pipe becomes a pipe.

Exits with 0 if all is the same, with 1 if not.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

TESTDATA = pathlib.Path(__file__).resolve().parent.parent
# Captures of more bytes take minutes.
MOST = 8 << 20


def script(perf, capture, *options):
    """What perf prints of a capture, and on standard error; None if it fails."""
    command = [perf, 'script', '-i', str(capture), *options]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    return (done.stdout, done.stderr) if done.returncode == 0 else None


def selections(perf, capture):
    """Selections that take some of the samples of a capture: options of perfdata, and those of perf."""
    # perf refuses fields that no event has.
    rows = {}
    for field in ('tid', 'cpu', 'comm', 'time'):
        printed = script(perf, capture, '--ns', '-G', '-F', field)
        rows[field] = [row.decode(errors='replace').strip() for row in printed[0].splitlines()] if printed else []
    found = []
    for field, option, of_perf in (('tid', '--tid', '--tid'), ('cpu', '--cpu', '--cpu'), ('comm', '--comm', '--comms')):
        values = collections.Counter(row.strip('[]') for row in rows[field] if row)
        if values:
            # In the middle: neither all nor one.
            value = sorted(values, key=lambda value: (values[value], value))[len(values) // 2]
            if field == 'cpu':
                # perf takes a number that begins with 0 for an octal one.
                value = value.lstrip('0') or '0'
            # Errors of AUX data are printed, too.
            if re.fullmatch(r'[\w.+][\w.+/-]*', value):
                found.append(([option, value], [of_perf, value]))
    times = [time[1] for time in map(re.compile(r'(\d+\.\d+):').match, rows['time']) if time]
    if len(times) > 1:
        times.sort(key=lambda time: tuple(map(int, time.split('.'))))
        span = f'{times[len(times) // 3]},{times[2 * len(times) // 3]}'
        found.append((['--time', span], ['--time', span]))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('perfdata', type=pathlib.Path)
    parser.add_argument('perfs', nargs='+')
    parser.add_argument('--captures', type=pathlib.Path, default=TESTDATA)
    args = parser.parse_args()
    perfdata = args.perfdata.resolve()
    captures = [path for path in sorted(args.captures.rglob('*.data'))
                if path.is_file() and path.stat().st_size <= MOST and not {'hostile', 'simpleperf'} & {*path.parts}]
    compared, left_out, differing = 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        edited = pathlib.Path(folder) / 'edited.data'
        for capture in captures:
            for perf in args.perfs:
                if script(perf, capture) is None:
                    left_out += 1
                    continue
                for options, of_perf in selections(perf, capture):
                    to = 'pipe' if capture.name.endswith('.pipe.data') else 'file'
                    command = [perfdata, 'edit', capture, '-o', edited, '--to', to, *options]
                    status = subprocess.run(command, capture_output=True).returncode
                    expected = script(perf, capture, *of_perf)
                    if status == 1 or expected is None:
                        left_out += 1
                        continue
                    compared += 1
                    now = script(perf, edited)
                    if now is None or now[0] != expected[0] or now[1] and not expected[1]:
                        differing.append(f'{capture.relative_to(args.captures)} {" ".join(options)} ({perf})')
    print(f'{compared} edits of {len(captures)} captures are compared; {left_out} are left out')
    for line in differing:
        print('DIFFERS:', line, file=sys.stderr)
    return 1 if differing or not compared else 0


if __name__ == '__main__':
    sys.exit(main())
