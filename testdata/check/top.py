#!/usr/bin/env python3
"""Drives `perfdata top` on a terminal of its own, as a user does.

    top.py PERFDATA PROGRAM

PROGRAM has the functions spin, heavy and light, and runs until it is ended. The script waits for its rows, expands one, pauses,
saves, looks at the keys, and leaves. It writes perf.data to the current folder.
"""

import os
import pty
import re
import select
import subprocess
import sys
import time

DEADLINE = 60


class Terminal:
    def __init__(self, arguments):
        self.screen = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            os.execv(arguments[0], arguments)

    def wait(self, what):
        """Waits until the terminal gets a text, without what moves the cursor."""
        end = time.monotonic() + DEADLINE
        while what not in self.screen:
            if time.monotonic() > end:
                sys.exit(f"{what!r} did not come: {self.screen[-2000:]!r}")
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    text = os.read(self.fd, 1 << 16).decode(errors="replace")
                except OSError:
                    sys.exit(f"the program ended before {what!r}: {self.screen[-2000:]!r}")
                self.screen += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
        self.screen = ""

    def press(self, key):
        os.write(self.fd, key.encode())

    def end(self):
        """Reads the rest, and returns the exit status."""
        while True:
            try:
                if not os.read(self.fd, 1 << 16):
                    break
            except OSError:
                break
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def main():
    perfdata, program = sys.argv[1:]
    terminal = Terminal([perfdata, "top", "-e", "cpu-clock:u", "-g", "-d", "0.5", "--", program])
    terminal.wait("spin")
    terminal.press("p")
    terminal.wait("paused")
    terminal.press("\r")
    terminal.wait("heavy")
    terminal.press("s")
    terminal.wait("written: perf.data")
    terminal.press("?")
    terminal.wait("Pause the updates")
    terminal.press("\x1b")
    terminal.press("p")
    terminal.wait("samples of 10 s")
    terminal.press("q")
    if (status := terminal.end()) not in (0, 128 + 15):
        sys.exit(f"exit status {status}")
    text = subprocess.run([perfdata, "report", "--stdio", "--sort", "sym", "-i", "perf.data"], check=True,
                          capture_output=True, text=True).stdout
    for function in ("spin", "heavy", "light"):
        if not re.search(rf"\[\.\] {function}$", text, re.M):
            sys.exit(f"{function} is not in what was saved: {text[:2000]}")
    if "build" not in subprocess.run([perfdata, "info", "-i", "perf.data"], check=True, capture_output=True, text=True).stdout:
        sys.exit("what was saved has no build ids")


main()
