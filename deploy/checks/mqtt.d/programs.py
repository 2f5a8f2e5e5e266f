"""Programs under test, and those that they need around them."""

import os
import re
import signal
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")


def spawn(command, log=os.devnull, **options):
    """Starts it in the background; what it says goes to the end of that file. The kernel ends it should this check be killed."""
    with open(log, "ab") as file:
        return subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], **{
            "stdin": subprocess.DEVNULL, "stdout": file, "stderr": file, **options})


def descendants(number):
    """The numbers of a process, of those that it has started, and of those that these have started."""
    found, todo = [], [number]
    while todo:
        one = todo.pop()
        found.append(one)
        try:
            for task in os.listdir(f"/proc/{one}/task"):
                with open(f"/proc/{one}/task/{task}/children", encoding="utf-8") as file:
                    todo += [int(child) for child in file.read().split()]
        except OSError:
            pass
    return found


class Program:
    """One process, which is killed and started again; its output is in `log`."""

    def __init__(self, log, *command):
        self.log, self.command, self.process = log, list(command), None

    def line(self):
        """What is started."""
        return self.command

    def start(self, **options):
        self.process = spawn(self.line(), self.log, **options)
        return self

    @property
    def running(self):
        return self.process is not None and self.process.poll() is None

    def number(self):
        return self.process.pid

    def cpu(self):
        """Seconds of processor time so far."""
        with open(f"/proc/{self.number()}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory_kib(self, which="VmRSS"):
        """Now, or at most (`VmHWM`)."""
        with open(f"/proc/{self.number()}/status", encoding="utf-8") as file:
            return int(re.search(rf"{which}:\s+(\d+)", file.read()).group(1))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.number()}/fd"))

    def words(self):
        """What it has said; nothing where it has not been started."""
        if not os.path.exists(self.log):
            return ""
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def kill(self):
        os.kill(self.number(), signal.SIGKILL)
        self.process.wait()

    def stop(self, seconds=6):
        """Politely; how long it took."""
        if not self.running:
            return 0.0
        began = time.monotonic()
        os.kill(self.number(), signal.SIGTERM)
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
        return time.monotonic() - began
