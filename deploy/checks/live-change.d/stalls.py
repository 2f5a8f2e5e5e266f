"""Clocks beside the check, one on each processor, that note when they were woken more than 10 ms late."""

import glob
import os
import signal
import subprocess
import sys

CLOCK = """
import time
while True:
    before = time.monotonic_ns()
    time.sleep(0.002)
    after = time.monotonic_ns()
    if after - before > 12_000_000: print(before, after, flush=True)
"""


class Stalls:
    def __init__(self, folder):
        self.folder, self.clocks = folder, []

    def __enter__(self):
        for processor in sorted(os.sched_getaffinity(0)):
            with open(os.path.join(self.folder, f"stalls.{processor}"), "wb") as file:
                self.clocks.append(subprocess.Popen(
                    ["setpriv", "--pdeathsig", "KILL", "taskset", "--cpu-list", str(processor), sys.executable, "-c",
                     CLOCK], stdin=subprocess.DEVNULL, stdout=file))
        return self

    def __exit__(self, *_):
        for clock in self.clocks:
            clock.send_signal(signal.SIGTERM)
            clock.wait()

    def read(self):
        """[(from, to)] of the monotonic clock, seconds."""
        found = []
        for path in glob.glob(os.path.join(self.folder, "stalls.*")):
            with open(path, encoding="utf-8") as file:
                fields = [line.split() for line in file]
            found += [(int(pair[0]) / 1e9, int(pair[1]) / 1e9) for pair in fields if len(pair) == 2]
        return found
