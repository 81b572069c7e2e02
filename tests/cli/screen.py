"""A terminal to watch the program on: a pseudo-terminal of a given width."""

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import termios
import time


class Screen:
    """Collects what is written; `descriptor` is the end to hand to a process."""

    def __init__(self, columns=100):
        self.ours, self.descriptor = pty.openpty()
        self.resize(columns)
        self.text = ""

    def resize(self, columns):
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def read(self, seconds):
        """Takes in what comes within that time, or until the other end closes."""
        until = time.monotonic() + seconds
        with contextlib.suppress(OSError):
            while (left := until - time.monotonic()) > 0:
                if select.select([self.ours], [], [], left)[0]:
                    self.text += os.read(self.ours, 65536).decode()
        return self.text

    def wait_for(self, pattern, seconds=40):
        """Reads until the text holds the pattern; the match."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.read(0.02)
            if match := re.search(pattern, self.text):
                return match
        raise AssertionError(f"{pattern!r} did not come; there is {self.text!r}")

    def close_program_side(self):
        os.close(self.descriptor)

    def shown(self):
        """What a person sees in the end: lines with carriage returns and erasures applied."""
        lines = []
        for line in self.text.split("\n"):
            seen = ""
            for part in re.split(r"\r(?=\x1b\[K)", line.rstrip("\r")):
                seen = part[3:] if part.startswith("\x1b[K") else seen + part
            lines.append(seen)
        return lines
