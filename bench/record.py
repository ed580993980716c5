#!/usr/bin/env python3
"""record.py PERFDATA [ROUNDS]: `perfdata record` against `perf record` in one run: processor time, losses, wake-ups, memory.

Each storm runs in a process of its own, to which the recorder is attached (-p), so that the recorder's times are its own.
The recorders take turns. What is printed are sums over all rounds and their ratios: ours to perf's. The processor time is
that beyond the time for a process that does nothing. Needs root, perf, cc. The files are written to TMPDIR.
"""
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

PERFDATA = os.path.abspath(sys.argv[1])
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 10
SOURCE = r"""
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static void touch(long rounds) {
    for (; rounds > 0; rounds--) {
        char *page = mmap(0, 4096000, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (long i = 0; i < 1000; i++) page[i * 4096] = 1;
        munmap(page, 4096000);
    }
}
static void turns(long rounds) {
    int to[2], from[2];
    char byte = 0;
    if (pipe(to) || pipe(from)) exit(1);
    if (!fork()) {
        for (long i = 0; i < rounds && read(to[0], &byte, 1) == 1; i++)
            if (write(from[1], &byte, 1) != 1) exit(1);
        exit(0);
    }
    for (long i = 0; i < rounds; i++)
        if (write(to[1], &byte, 1) != 1 || read(from[0], &byte, 1) != 1) exit(1);
    wait(0);
}
int main(int argc, char **argv) {
    long rounds = argc > 2 ? atol(argv[2]) : 0;
    if (!strcmp(argv[1], "touch")) touch(rounds);
    if (!strcmp(argv[1], "turns")) turns(rounds);
    if (!strcmp(argv[1], "sleep")) sleep(rounds);
    return 0;
}
"""
# Name, options, work.
STORMS = [
    ("page faults", ["-e", "page-faults", "-c", "1"], ["touch", "400"]),
    ("sched_switch", ["-e", "sched:sched_switch"], ["turns", "100000"]),
    ("dwarf", ["-e", "page-faults", "-c", "1", "--call-graph", "dwarf"], ["touch", "20"]),
]


def record(recorder, options, work, folder):
    """Records the work by its process id; returns the recorder's usage, the number of lost records, and the file's size."""
    out = os.path.join(folder, "out.data")
    if os.path.exists(out):
        os.unlink(out)
    worker = subprocess.Popen(["sh", "-c", 'kill -STOP $$; exec "$@"', "sh", os.path.join(folder, "work"), *work])
    os.waitpid(worker.pid, os.WUNTRACED)
    command = [*recorder, "-m", "128", *options, "-o", out, "-p", str(worker.pid)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not (os.path.exists(out) and os.path.getsize(out)) and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.3)
    os.kill(worker.pid, signal.SIGCONT)
    _, status, usage = os.wait4(process.pid, 0)
    worker.wait()
    if status:
        sys.exit(f"{command}: status {status}")
    return usage, lost(out), os.path.getsize(out)


def lost(capture):
    """The samples that the kernel lost, by its own count."""
    text = subprocess.run(["perf", "report", "--stats", "-i", capture], capture_output=True, text=True).stdout
    return lost_records(capture, text)


def lost_records(capture, stats):
    if "LOST_SAMPLES" not in stats and " LOST " not in stats:
        return 0
    dump = subprocess.run([PERFDATA, "dump", "--type", "LOST_SAMPLES,LOST", "--fields", "type,lost", capture],
                          capture_output=True, text=True).stdout
    sums = {}
    for line in dump.splitlines():
        words = line.split()
        if len(words) >= 2 and words[-1].isdigit():
            sums[words[0]] = sums.get(words[0], 0) + int(words[-1])
    return max(sums.values(), default=0)


def cpu(usage):
    return usage.ru_utime + usage.ru_stime


def wakeups(recorder, folder):
    """How often the recorder of a process that sleeps for five seconds is scheduled."""
    start, _, _ = record(recorder, ["-e", "cpu-clock"], ["sleep", "0"], folder)
    slept, _, _ = record(recorder, ["-e", "cpu-clock"], ["sleep", "5"], folder)
    return slept.ru_nvcsw - start.ru_nvcsw


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    recorders = {"perfdata": [PERFDATA, "record", "-q", "-N"], "perf": ["perf", "record", "-q", "-N"]}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cc", "-O1", "-g", "-fomit-frame-pointer", "-x", "c", "-o", os.path.join(folder, "work"), "-"],
                       input=SOURCE, text=True, check=True)
        print(f"{'':14}{'perfdata':>22}{'perf':>22}{'ratio':>8}")
        for name, options, work in STORMS:
            sums = {who: [0.0, 0, 0, 0] for who in recorders}
            for _ in range(ROUNDS):
                for who, recorder in recorders.items():
                    idle, _, _ = record(recorder, options, ["nothing"], folder)
                    usage, gone, size = record(recorder, options, work, folder)
                    total = sums[who]
                    total[0] += cpu(usage) - cpu(idle)
                    total[1] += gone
                    total[2] = max(total[2], usage.ru_maxrss)
                    total[3] += size
            ours, perfs = sums["perfdata"], sums["perf"]
            rows = [("CPU s", 0), ("lost", 1), ("RSS KiB", 2), ("bytes", 3)]
            for what, at in rows:
                ratio = f"{ours[at] / perfs[at]:8.2f}" if perfs[at] else f"{'-':>8}"
                shown = [f"{total[at]:22.3f}" if at == 0 else f"{total[at]:22d}" for total in (ours, perfs)]
                print(f"{name:13} {what:8}".ljust(22) + "".join(shown) + ratio, flush=True)
        counts = {who: wakeups(recorder, folder) for who, recorder in recorders.items()}
        print(f"idle 5 s      wakeups {counts['perfdata']:22d}{counts['perf']:22d}")


main()
