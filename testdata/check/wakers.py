#!/usr/bin/env python3
"""Compares the times off the CPU and the wakers of `perfdata fold --off-cpu --wakers` with what follows from perf script.

    wakers.py PERFDATA PERF

Records the scheduler while processes write to each other by pipes, reads the text of perf script, and adds up for each
stack with its wakers how long its threads were away. Of frames, only the files are compared: other checks are about names.
Exits with 1 if a stack differs, with 3 if nothing can be recorded.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

LEVELS = 2
BLOCKED = ("S", "D", "I")
ENVIRONMENT = dict(os.environ, PERF_CONFIG="/dev/null", PERF_PAGER="cat")
WORK = "yes | head -c 3000000 | tr y z | cat >/dev/null"
HEAD = re.compile(r"^(.*?) +(-?\d+) +(\d+)\.(\d+): +([\w:]+): (.*)$")
FRAME = re.compile(r"^\s+([0-9a-f]+) \((.*)\)$")
KERNEL = re.compile(r"PERF_RECORD_MMAP -1/0: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\) .*\[kernel\.kallsyms\]")


def samples(perf, capture):
    """Returns the samples of perf script: comm, tid, time, event, fields, and the frames with the outermost one first.

    Once perf has read the kernel's symbols, the kernel ends for it at the last of them: the code that runs while the machine
    starts, in whose functions the idle thread of the first processor began, is then in the kernel. By the kernel's MMAP
    record, it is in no file, whenever it is asked for.
    """
    fields = ["--show-mmap-events", "-F", "comm,tid,time,event,trace,ip,dso", "--ns"]
    text = subprocess.run([perf, "script", "-i", capture, *fields], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT, check=True).stdout
    sample, kernel = None, range(0)
    for line in text.decode(errors="surrogateescape").splitlines():
        if record := KERNEL.search(line):
            start, length = (int(number, 16) for number in record.groups())
            kernel = range(start, start + length)
        elif head := HEAD.match(line):
            comm, tid, seconds, fraction, event, trace = head.groups()
            sample = (comm.strip(), int(tid), int(seconds) * 10**9 + int(fraction), event, dict(re.findall(r"(\w+)=(\S+)", trace)), [])
        elif sample and (frame := FRAME.match(line)):
            ip, dso = int(frame.group(1), 16), frame.group(2)
            is_unknown = dso == "[unknown]" or dso == "[kernel.kallsyms]" and ip not in kernel
            sample[5].insert(0, "[unknown]" if is_unknown else f"[{os.path.basename(dso)}]")
        elif sample:
            yield sample
            sample = None


def expected(perf, capture):
    """Returns the nanoseconds of each folded stack."""
    away, chains, sums = {}, {}, collections.Counter()

    def ends(thread, end):
        since, folded, _ = away.pop(thread)
        woken, chain = chains.get(thread, (-1, []))
        for waker, frames in chain if woken >= since else []:
            folded = folded + [f"[woken by {waker}]", *reversed(frames)]
        sums[";".join(folded)] += end - since

    for comm, tid, time, event, fields, stack in samples(perf, capture):
        if event == "sched:sched_waking":
            before = chains.get(tid, (0, []))[1]
            woken = int(fields["pid"])
            chains[woken] = (time, [(comm, stack), *before][:LEVELS])
            # From the first wake-up on, the thread is not blocked.
            if woken in away and away[woken][2] is None:
                away[woken][2] = time
            continue
        back = int(fields["next_pid"])
        if back in away:
            ready = away[back][2]
            ends(back, time if ready is None else ready)
        # The kernel left out the switch with which it came back: it waited until it was woken up, at least.
        if tid in away:
            ready = away[tid][2]
            ends(tid, away[tid][0] if ready is None else ready)
        # Others are preempted, are stopped, or end.
        if tid != 0 and fields["prev_state"] in BLOCKED:
            away[tid] = [time, [comm.replace(" ", "_"), *stack], None]
    return sums


def is_bare(folded):
    """Returns whether a folded stack has no frame of the thread itself."""
    _, *frames = folded.split(";")
    return not frames or frames[0].startswith("[woken by ")


def main():
    perfdata, perf = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        capture = os.path.join(folder, "perf.data")
        events = ["-a", "-g", "-e", "sched:sched_switch", "-e", "sched:sched_waking"]
        record = [perf, "record", "-q", *events, "-o", capture, "--", "sh", "-c", WORK]
        if subprocess.run(record, env=ENVIRONMENT, stderr=subprocess.DEVNULL).returncode != 0:
            print("not run: the scheduler's tracepoints cannot be recorded")
            sys.exit(3)
        fold = [perfdata, "fold", "--off-cpu", "--wakers", str(LEVELS), "--no-symbols", capture]
        text = subprocess.run(fold, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        found = collections.Counter()
        for line in text.decode(errors="surrogateescape").splitlines():
            stack, count = line.rsplit(" ", 1)
            found[stack] += int(count)
        wanted = expected(perf, capture)
    woken = sum(1 for stack in wanted if "[woken by " in stack)
    twice = sum(1 for stack in wanted if stack.count("[woken by ") == 2)
    differ = [stack for stack in {**wanted, **found} if wanted[stack] != found[stack]]
    # perf prints no frame of a stack with a word that looks like a marker of a context: what perfdata has in stacks of a
    # thread, perf has without frames.
    for root in {stack.split(";")[0] for stack in differ if is_bare(stack)}:
        of_root = [stack for stack in differ if stack.split(";")[0] == root]
        more = {stack: found[stack] - wanted[stack] for stack in of_root}
        if all((by < 0) == is_bare(stack) for stack, by in more.items()) and sum(more.values()) == 0:
            differ = [stack for stack in differ if stack not in more]
    for stack in differ[:3]:
        print(f"perfdata {found[stack]}, perf script {wanted[stack]}: {stack}")
    print(f"stacks: {len(wanted)}, with a waker: {woken}, with two: {twice}, that differ: {len(differ)}")
    sys.exit(bool(differ) or twice == 0)


main()
