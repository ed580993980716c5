#!/usr/bin/env python3
"""Runs perf's own tests with `perf record`, `stat` and `list` answered by perfdata.

usage: perf_tests.py --perfdata PROGRAM [--perf PERF] [--tests FOLDER] [--only NAME,...] [--seconds N] [-o REPORT.md]

Two kinds of tests come with perf, in the folder `tests` beside its scripts
(Debian's linux-perf: /usr/lib/perf-core/tests):

- Scripts (`shell/*.sh`) that call `perf`. Here a wrapper in PATH answers the
  verbs `record`, `stat` and `list` by perfdata, and all others by the real perf.
  Scripts that use none of the three verbs are left out.
- Expectations of the events that a command line opens (`attr/test-*`), which
  perf's attr.py compares. The events are seen by a library that stands between
  a program and the kernel; it also opens events of hardware that this machine
  lacks, as the event `dummy`. Needs a C compiler.

Each test runs with the real perf alone, and with perfdata. The report has both
results: pass, skip (the test says that it cannot run here), fail, or timeout.

With --seconds, no test starts after that time, and the last one is ended; the
report has the tests that were run.

Exit status: 0 if perfdata passes or skips whatever perf passes, apart from the
differences that are intended (DIFFERENT); 1 if not; 3 if the tests are not
there. A test may well fail with both.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

VERBS = ("record", "stat", "list")
# Seconds for one test. perf's own longest one needs less.
LIMIT = 180
# Tests that perf passes and perfdata does not, and why that is intended.
DIFFERENT = {
    "test-record-branch-filter-hv": "-j hv records the branches of the hypervisor; perf records all",
    "test-record-branch-filter-k": "-j k records the branches of the kernel; perf records all",
    "test-record-branch-filter-u": "-j u records the branches of user space; perf records all",
    "test-record-graph-dwarf": "samples have no ADDR and DATA_SRC, 16 bytes that unwinding does not need",
    "test-record-dummy-C0": "an event of its own records mappings, beside the dummy that is asked for",
    "test-record-group-sampling": "the group is inherited, as Linux 6.12 allows and newer versions of perf do",
    "test-record-group2": "the group is inherited, as Linux 6.12 allows and newer versions of perf do",
    "test-record-no-samples": "an event that takes no samples has no frequency, which is 0 there",
    "stat+json_output.sh": "the JSON is that of perf 7.2, in which an event without a count has no metric",
}
# The same for the tests of perf 7.
DIFFERENT_OF_7 = {
    "stat+std_output.sh": "the text is that of perf 6.1; that of perf 7.2 has the names of metrics",
    "stat.sh": "perf 7.2 prints that no event is supported on a CPU that is offline; perfdata that it is offline",
}
WRAPPER = """#!/bin/sh
# perf's tests expect perf's clock.
if [ "$1" = record ]; then
    shift
    set -- record --no-clockid "$@"
fi
# The size of the attr is not compared: see perf_tests_shim.c.
if [ -n "$PERF_TEST_ATTR" ]; then
    folder=$PERF_TEST_ATTR
    {perfdata} "$@"
    status=$?
    sed -i 's/^size=.*/size=*/' "$folder"/event-* 2>/dev/null
    exit $status
fi
case "$1" in
{verbs}) exec {perfdata} "$@" ;;
*) exec {perf} "$@" ;;
esac
"""


def run(command, environment, folder, limit):
    """Returns the status of a command and its output; None for the status if it takes too long."""
    process = subprocess.Popen(
        command,
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit)
        return process.returncode, output.decode(errors="replace")
    except subprocess.TimeoutExpired:
        # Only the processes of this test, which have a session of their own.
        os.killpg(process.pid, 9)
        output, _ = process.communicate()
        return None, output.decode(errors="replace")


def of_status(status):
    return {0: "pass", 2: "skip", None: "timeout"}.get(status, "fail")


def last_words(output, folders):
    """Returns the last line of an output that says something, for the report, without folders of this machine."""
    for folder in folders:
        output = output.replace(folder.rstrip("/") + "/", "")
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:100].replace("|", "\\|") if lines else ""


class Tests:
    def __init__(self, args, work):
        self.args, self.work = args, work
        self.end = time.monotonic() + args.seconds if args.seconds else None
        self.left_out = []
        self.perf = shutil.which(args.perf) or sys.exit(f"perf_tests.py: {args.perf}: no such program")
        self.wrappers = {}
        perfdata = os.path.abspath(args.perfdata)
        for name, answers in (("perf", self.perf), ("perfdata", perfdata)):
            folder = os.path.join(work, name)
            os.mkdir(folder)
            path = os.path.join(folder, "perf")
            with open(path, "w") as file:
                file.write(WRAPPER.format(verbs="|".join(VERBS), perfdata=answers, perf=self.perf))
            os.chmod(path, 0o755)
            self.wrappers[name] = path

    def environment(self, name, **more):
        path = os.path.dirname(self.wrappers[name]) + os.pathsep + os.environ["PATH"]
        # The build-id cache and the configuration of the user are left alone.
        return {**os.environ, "PATH": path, "HOME": self.work, "PERF_CONFIG": "/dev/null", **more}

    def wanted(self, name):
        if self.args.only and name not in self.args.only:
            return False
        if self.end and time.monotonic() >= self.end:
            self.left_out.append(name)
            return False
        return True

    def limit(self):
        return max(1, min(LIMIT, self.end - time.monotonic())) if self.end else LIMIT

    def scripts(self):
        """Yields the name and the results of each script."""
        folder = os.path.join(self.args.tests, "shell")
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if not name.endswith(".sh") or not os.path.isfile(path) or not self.wanted(name):
                continue
            text = open(path, errors="replace").read()
            # attr.sh is in the other part; it needs the hook that is built into perf.
            if name == "attr.sh" or not re.search(rf"\bperf\s+({'|'.join(VERBS)})\b", text):
                continue
            shell = "bash" if "bash" in text.split("\n", 1)[0] else "sh"
            results = {program: self.script(shell, path, program) for program in self.wrappers}
            if results["perf"][0] == "pass" and results["perfdata"][0] == "fail" and name not in DIFFERENT:
                # Some tests depend on time, and fail on a busy machine.
                results["perfdata"] = self.script(shell, path, "perfdata")
            yield name, results

    def script(self, shell, path, program):
        """Returns the result of a script, and its last words."""
        scratch = tempfile.mkdtemp(dir=self.work)
        status, output = run([shell, path], self.environment(program), scratch, self.limit())
        shutil.rmtree(scratch, ignore_errors=True)
        return of_status(status), last_words(output, [scratch, self.work, self.args.tests, "/tmp"])

    def attrs(self):
        """Yields the name and the results of each expectation of events."""
        places = [("", "attr.py"), ("shell", "lib/attr.py")]
        found = [
            (os.path.join(self.args.tests, folder, "attr"), os.path.join(self.args.tests, folder, script))
            for folder, script in places
        ]
        found = [(folder, script) for folder, script in found if os.path.isdir(folder) and os.path.isfile(script)]
        if not found:
            print("no expectations of events (attr) are there", file=sys.stderr)
            return
        shim = os.path.join(self.work, "shim.so")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "perf_tests_shim.c")
        built = subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", shim, source, "-ldl"]) if shutil.which("cc") else None
        if not built or built.returncode != 0:
            print("the expectations of events need a C compiler, which is not there", file=sys.stderr)
            return
        folder, script = found[0]
        for name in sorted(os.listdir(folder)):
            if not name.startswith("test-") or not self.wanted(name):
                continue
            results = {}
            for program, wrapper in self.wrappers.items():
                more = {"LD_PRELOAD": shim, "FAKE_EVENTS": "1"}
                if program == "perfdata":
                    more["STORE_EVENTS"] = "1"
                command = [sys.executable, script, "-d", folder, "-t", name, "-p", wrapper, "-v"]
                status, output = run(command, self.environment(program, **more), self.work, self.limit())
                result = of_status(status)
                # It says so when the command has another status than expected, and when it is for another architecture.
                if result == "pass" and re.search(r"^(unsupp|skipped)", output, re.M):
                    result = "skip"
                results[program] = result, last_words(output, [self.work, self.args.tests]) if result != "pass" else ""
            yield name, results


def table(title, rows):
    lines = [f"## {title}", "", "| test | perf | perfdata | last words with perfdata |", "|---|---|---|---|"]
    for name, results in rows:
        result, words = results["perfdata"]
        if result == "fail" and name in DIFFERENT:
            lines.append(f"| {name} | {results['perf'][0]} | intended: {DIFFERENT[name]} | |")
            continue
        words = "" if result == "pass" else f"`{words}`" if words else ""
        lines.append(f"| {name} | {results['perf'][0]} | {result} | {words} |")
    for program in ("perf", "perfdata"):
        counts = {}
        for name, results in rows:
            is_intended = program == "perfdata" and results[program][0] == "fail" and name in DIFFERENT
            result = "intended" if is_intended else results[program][0]
            counts[result] = counts.get(result, 0) + 1
        lines.append(("\n" if program == "perf" else "") + f"{program}: " + ", ".join(f"{count} {result}" for result, count in sorted(counts.items())) + "  ")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--perfdata", required=True)
    parser.add_argument("--perf", default="perf")
    parser.add_argument("--tests", default="/usr/lib/perf-core/tests")
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--seconds", type=int)
    parser.add_argument("-o", "--output")
    args = parser.parse_args()
    if not os.path.isdir(os.path.join(args.tests, "shell")):
        print(f"{args.tests}: perf's tests are not there; Debian has them in linux-perf", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as work:
        tests = Tests(args, work)
        version = subprocess.run([tests.perf, "--version"], capture_output=True, text=True).stdout.strip()
        if version.startswith("perf version 7."):
            DIFFERENT.update(DIFFERENT_OF_7)
        # The short ones first.
        attrs = list(tests.attrs())
        scripts = list(tests.scripts())
    report = f"# Tests of {version}, Linux {platform.release()}\n\n"
    report += "By `testdata/check/perf_tests.py`. `perf record`, `stat` and `list` are answered by perf, and by perfdata.\n\n"
    report += table("Scripts", scripts) + "\n" + table("Expectations of events", attrs)
    if args.output:
        with open(args.output, "w") as file:
            file.write(report)
    else:
        print(report, end="")
    if tests.left_out:
        print(f"left out, because the time was over: {', '.join(tests.left_out)}", file=sys.stderr)
    is_worse = lambda results: results["perf"][0] == "pass" and results["perfdata"][0] not in ("pass", "skip")
    cut = lambda results: args.seconds and results["perfdata"][0] == "timeout"
    worse = [name for name, results in scripts + attrs if is_worse(results) and not cut(results) and name not in DIFFERENT]
    if worse:
        print(f"perf passes these, and perfdata does not: {', '.join(worse)}", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
