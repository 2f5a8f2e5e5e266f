"""Judges a wait without the time in which there was no processor."""

import asyncio
import bisect
import glob
import time


class Processors:
    """How long this program, or a thread of the one that is looked at, was ready to work and got no processor: other
    programs' share in a wait. One that works for somebody else, or waits for its disk, has a processor or wants none:
    nothing of that counts."""

    STEP = 0.02

    def __init__(self, process):
        self.process, self.times, self.lost = process, [time.monotonic()], [0.0]

    def waiting(self):
        """[seconds] that each of its threads has waited for a processor."""
        found = []
        for path in glob.glob(f"/proc/{self.process.pid}/task/*/schedstat"):
            try:
                with open(path, encoding="ascii") as file:
                    found.append(int(file.read().split()[1]) / 1e9)
            except OSError:
                pass
        return found

    async def watch(self):
        before = self.waiting()
        while True:
            await asyncio.sleep(self.STEP)
            now, own = self.waiting(), time.monotonic()
            passed = own - self.times[-1]
            theirs = max((b - a for a, b in zip(before, now)), default=0) if len(before) == len(now) else 0
            # (Both may have waited at the same time, or one after the other; never longer than it lasted.)
            self.lost.append(self.lost[-1] + min(passed, max(0, passed - self.STEP) + theirs))
            self.times.append(own)
            before = now

    def without(self, begin, end):
        """What is left of a time."""
        first = max(0, bisect.bisect_right(self.times, begin) - 1)
        last = min(len(self.times) - 1, bisect.bisect_left(self.times, end))
        return max(0.0, end - begin - (self.lost[last] - self.lost[first]))
