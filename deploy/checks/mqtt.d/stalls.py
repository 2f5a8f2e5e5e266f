"""The machine's own stalls, for judgements of real time: a check that runs on a shared machine must not blame the agent
for moments in which nothing ran. A clock beside the check on each processor notes when it was woken more than 10 ms late.

    with Stalls(folder) as stalls:
        ...
    stalls.lost(since, until)    how many seconds of that time the machine stood still
    stalls.stood(since, until)   whether it did at all

Times are those of time.monotonic(); `wall` makes one of them of a time.time()."""

import glob
import os
import signal
import subprocess
import sys
import time

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
        self.folder, self.clocks, self.found, self.sizes = folder, [], [], None
        self.offset = time.monotonic() - time.time()

    def __enter__(self):
        for processor in sorted(os.sched_getaffinity(0)):
            with open(os.path.join(self.folder, f"stalls.{processor}"), "wb") as file:
                self.clocks.append(subprocess.Popen(
                    ["setpriv", "--pdeathsig", "KILL", "taskset", "--cpu-list", str(processor), sys.executable, "-c",
                     CLOCK], stdin=subprocess.DEVNULL, stdout=file))
        return self

    def __exit__(self, *_):
        self.read()
        for clock in self.clocks:
            clock.send_signal(signal.SIGTERM)
            clock.wait()
        self.clocks.clear()

    def wall(self, moment):
        return moment + self.offset

    def read(self):
        """[(from, to)], in order and without overlaps; also after the end."""
        paths = sorted(glob.glob(os.path.join(self.folder, "stalls.*")))
        sizes = [os.path.getsize(path) for path in paths]
        if not self.clocks or sizes == self.sizes:
            return self.found
        self.sizes, found = sizes, []
        for path in paths:
            with open(path, encoding="utf-8") as file:
                fields = [line.split() for line in file]
            found += [(int(pair[0]) / 1e9, int(pair[1]) / 1e9) for pair in fields if len(pair) == 2]
        self.found = []
        for begin, end in sorted(found):
            if self.found and begin <= self.found[-1][1]:
                earlier = self.found.pop()
                begin, end = earlier[0], max(end, earlier[1])
            self.found.append((begin, end))
        return self.found

    def lost(self, since, until):
        return sum(max(0.0, min(end, until) - max(begin, since)) for begin, end in self.read())

    def stood(self, since, until):
        return any(begin < until and end > since for begin, end in self.read())
