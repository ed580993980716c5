#!/usr/bin/env python3
"""The tools of several versions of perf on recordings of `perfdata record`.

    tools.py PERFDATA PERF...

Makes recordings of the same kinds with perfdata and with each perf, and runs the tools of each perf on them. A tool must
end with the same status on ours as on the recording of its own perf, and print nothing to standard error that it does not
print about the other, apart from numbers and names of files. Exits with 1 if it does, with 3 if nothing can be recorded.
"""

import os
import re
import subprocess
import sys
import tempfile

WORK = "for i in 1 2 3 4 5 6 7 8; do ls -l /usr/bin >/dev/null; done; ls / | sort | cat >/dev/null"
EVERYWHERE = [["script"], ["report", "--stdio"], ["evlist", "-v"], ["buildid-list"], ["report", "--header-only", "-I"]]
# Name, options of `record`, and tools for this kind of recording alone.
KINDS = [
    ("call chains", ["-g", "-e", "page-faults", "-c", "1"],
     [["annotate", "--stdio"], ["inject", "-b", "-o", "OUT"], ["archive"], ["report", "--stdio", "-s", "dso,sym"]]),
    ("copied stacks", ["--call-graph", "dwarf", "-e", "page-faults", "-c", "50"], []),
    ("compressed", ["-z", "-e", "cpu-clock", "-F", "2000"], [["inject", "-b", "-o", "OUT"]]),
    ("two events", ["-e", "page-faults,cpu-clock", "--switch-events", "-d"], [["mem", "report", "--stdio"]]),
    ("a group", ["-e", "{cpu-clock,page-faults}:S"], [["report", "--stdio", "--group"]]),
    ("namespaces", ["-a", "--namespaces", "--all-cgroups", "-e", "cpu-clock"], [["report", "--stdio", "-s", "cgroup_id"]]),
    ("the scheduler", ["-a", "-e", "sched:sched_switch,sched:sched_wakeup,sched:sched_waking,sched:sched_migrate_task"],
     [["sched", "latency"], ["sched", "timehist"], ["sched", "map"], ["timechart", "-o", "OUT"]]),
    ("system calls", ["-e", "raw_syscalls:sys_enter,raw_syscalls:sys_exit"], [["trace", "-o", "OUT"], ["trace", "-s", "-o", "OUT"]]),
]


class Checks:
    def __init__(self, perfdata, folder):
        self.perfdata, self.folder = perfdata, folder
        self.failures, self.clean, self.all = [], 0, 0

    def run(self, command, home):
        environment = dict(os.environ, HOME=home, PERF_CONFIG="/dev/null", PERF_PAGER="cat", LC_ALL="C",
                           PERF_BUILDID_DIR=os.path.join(home, ".debug"))
        end = subprocess.run(command, cwd=home, env=environment, capture_output=True, stdin=subprocess.DEVNULL, check=False)
        return end.returncode, end.stderr.decode(errors="replace")

    def home(self, recorder):
        home = os.path.join(self.folder, recorder.replace("/", "_"))
        os.makedirs(home, exist_ok=True)
        return home

    def record(self, recorder, options):
        """Returns the capture of a recorder, or None. The rings have room for all, even if a debug build reads them."""
        home = self.home(recorder)
        capture = os.path.join(home, "perf.data")
        if os.path.exists(capture):
            os.unlink(capture)
        status, err = self.run([recorder, "record", "-q", "-m", "16M", *options, "-o", capture, "--", "sh", "-c", WORK], home)
        return (capture, "") if status == 0 else (None, err)

    def tool(self, perf, words, capture):
        """Returns the status of a tool, and the set of what it prints to standard error, without numbers and names."""
        home = os.path.dirname(capture)
        words = [os.path.join(home, "out") if word == "OUT" else word for word in words]
        if words[0] == "archive":
            # A script that calls the perf in PATH.
            archive = os.path.join(home, "perf.data.tar.bz2")
            if os.path.exists(archive):
                os.unlink(archive)
            place = [capture]
        else:
            place = ["-i", capture]
        if words[0] in ("sched", "mem"):
            words, place = [words[0], *place, *words[1:]], []
        status, err = self.run([perf, *words, *place], home)
        lines = {re.sub(r"0x[0-9a-f]+|[0-9a-f]{16,}|\d+|/\S*", "N", line).strip() for line in err.splitlines()}
        return status, lines - {""}

    def compare(self, perf, name, words, ours, perfs):
        self.all += 1
        status, lines = self.tool(perf, words, ours)
        expected_status, expected = self.tool(perf, words, perfs)
        self.clean += expected_status == 0 and not expected
        if (status, lines - expected) != (expected_status, set()):
            what = f"{perf} {' '.join(words)}, {name}: status {status} ({expected_status}), {sorted(lines - expected)}"
            self.failures.append(what)
            print("DIFFERS:", what)


def main():
    perfdata, *perfs = sys.argv[1:]
    perfdata = os.path.abspath(perfdata)
    with tempfile.TemporaryDirectory() as folder:
        checks = Checks(perfdata, folder)
        recorded = 0
        for name, options, more in KINDS:
            ours, err = checks.record(perfdata, options)
            for perf in perfs:
                theirs, why = checks.record(perf, options)
                if ours is None or theirs is None:
                    print(f"{name}: left out: perfdata: {err.strip()!r}, {perf}: {why.strip()!r}")
                    if theirs is not None:
                        checks.failures.append(f"{name}: {perf} records, and perfdata does not")
                    continue
                recorded += 1
                for words in EVERYWHERE + more:
                    checks.compare(perf, name, words, ours, theirs)
        print(f"{recorded} pairs of recordings, {checks.all} runs of tools, {checks.clean} without a warning about perf's recording;"
              f" {len(checks.failures)} differ")
        sys.exit(3 if not recorded else bool(checks.failures))


main()
