"""Judges a wait without the time in which there was no processor."""

import asyncio
import bisect
import contextlib
import glob
import threading
import time

from programs import descendants


def waited(paths):
    """{path: seconds} that each thread of these schedstat files has been ready to work and got no processor; without those that
    are gone."""
    found = {}
    for path in paths:
        with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
            found[path] = int(file.read().split()[1]) / 1e9
    return found


class Processors:
    """How long this program, or a thread of the one that is looked at, was ready to work and got no processor: other
    programs' share in a wait. One that works for somebody else, or waits for its disk, has a processor or wants none:
    nothing of that counts."""

    STEP = 0.02

    def __init__(self, process):
        self.process, self.times, self.lost = process, [time.monotonic()], [0.0]

    def waiting(self):
        """[seconds] that each of its threads has waited for a processor."""
        return list(waited(glob.glob(f"/proc/{self.process.pid}/task/*/schedstat")).values())

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


class Waits:
    """The same of a browser, whose own clock tells when something was seen: how long the main thread of one of its processes
    was ready to work and got no processor. What this program waited for is no part of it."""

    STEP = 0.01

    def __init__(self, process):
        self.paths = [f"/proc/{number}/task/{number}/schedstat" for number in descendants(process.pid)]
        self.times, self.found, self.over = [], [], threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def watch(self):
        while not self.over.wait(self.STEP):
            now = time.time()
            self.found.append(waited(self.paths))
            self.times.append(now)

    def within(self, begin, end):
        """The most of one of them between two times (s since 1970)."""
        if end <= begin or not self.times:
            return 0.0
        first, last = (self.found[max(0, bisect.bisect_right(self.times, at) - 1)] for at in (begin, end))
        return max((seconds - first.get(path, seconds) for path, seconds in last.items()), default=0.0)
