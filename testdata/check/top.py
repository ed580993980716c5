#!/usr/bin/env python3
"""Drives `perfdata top` on a terminal of its own, as a user does.

    top.py PERFDATA PROGRAM

PROGRAM has the functions spin, heavy and light, and runs until it is ended. The script waits for its rows, expands one, pauses,
saves, looks at the keys, and leaves. It writes perf.data to the current folder.
"""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

DEADLINE = 60


ROWS, COLUMNS = 40, 120
# A position of the cursor, another sequence, or a character.
PART = re.compile(r"\x1b\[(\d+);(\d+)H|\x1b\[[0-9;?]*[a-zA-Z]|(.)", re.S)


class Terminal:
    """A terminal that knows what it shows: the program draws only what changes."""

    def __init__(self, arguments):
        self.lines = [[" "] * COLUMNS for _ in range(ROWS)]
        self.row = self.column = 0
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
            os.execv(arguments[0], arguments)

    def read(self):
        """Reads what the program draws; returns whether it still runs."""
        if not select.select([self.fd], [], [], 0.2)[0]:
            return True
        try:
            text = os.read(self.fd, 1 << 16).decode(errors="replace")
        except OSError:
            return False
        for row, column, letter in PART.findall(text):
            if row:
                self.row, self.column = int(row) - 1, int(column) - 1
            elif letter and self.row < ROWS and self.column < COLUMNS:
                self.lines[self.row][self.column] = letter
                self.column += 1
        return bool(text)

    def shown(self):
        """The screen as text."""
        return "\n".join("".join(line).rstrip() for line in self.lines)

    def wait_for_update(self):
        """Waits until the number of samples is another one."""
        def samples():
            return re.search(r"([\d,]+) samples of 10 s", self.shown())[1]

        before, end = samples(), time.monotonic() + DEADLINE
        while samples() == before:
            if time.monotonic() > end or not self.read():
                sys.exit(f"no update came:\n{self.shown()}")

    def wait(self, what):
        """Waits until the screen shows a text."""
        end = time.monotonic() + DEADLINE
        while what not in (shown := self.shown()):
            if time.monotonic() > end or not self.read():
                sys.exit(f"{what!r} did not come:\n{shown}")

    def press(self, key):
        os.write(self.fd, key.encode())

    def end(self):
        """Reads the rest, and returns the exit status."""
        while self.read():
            pass
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
    terminal.wait("Shared Object")
    terminal.press("p")
    terminal.wait("samples of 10 s")
    # What is expanded stays so.
    for _ in range(2):
        terminal.wait_for_update()
        terminal.wait("\n- ")
    terminal.press("q")
    if (status := terminal.end()) not in (0, 128 + 15):
        sys.exit(f"exit status {status}")
    text = subprocess.run([perfdata, "report", "--stdio", "--sort", "sym", "-i", "perf.data"], check=True,
                          capture_output=True, text=True).stdout
    for function in ("spin", "heavy", "light"):
        if not re.search(rf"\[\.\] {function}$", text, re.M):
            sys.exit(f"{function} is not in what was saved: {text[:2000]}")
    listed = subprocess.run([perfdata, "info", "--build-ids", "perf.data"], check=True, capture_output=True, text=True).stdout
    if os.path.basename(program) not in listed:
        sys.exit(f"what was saved has no build id of the program: {listed}")


main()
