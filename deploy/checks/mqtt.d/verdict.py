"""How a check waits, judges and ends."""

import asyncio
import sys
import time


class Failure(AssertionError):
    """What is not as it should be, in words: there is no going on."""


def expect(condition, text):
    if not condition:
        raise Failure(text)


class Judge:
    """Notes what is not as it should be, and goes on; says it at once where it is `aloud`."""

    def __init__(self, aloud=False):
        self.complaints, self.aloud = [], aloud

    def expect(self, right, text):
        if not right:
            self.complaints.append(text)
            if self.aloud:
                print(f"NOT AS IT SHOULD BE: {text}", flush=True)
        return right


async def within(wanted, seconds, every=0.02):
    """What `wanted()` gives as soon as that is true; what it gave last when it never is in time."""
    end = time.monotonic() + seconds
    while not (found := wanted()) and time.monotonic() < end:
        await asyncio.sleep(every)
    return found


async def until(wanted, seconds, what, every=0.02):
    """The same; fails when it never is."""
    found = await within(wanted, seconds, every)
    expect(found, f"{what}: not within {seconds} s")
    return found


def wait_until(wanted, seconds, what, every=0.05):
    """The same in a check without a loop."""
    end = time.monotonic() + seconds
    while not (found := wanted()):
        expect(time.monotonic() < end, f"not within {seconds} s: {what}")
        time.sleep(every)
    return found


def verdict(problems, most=40):
    """Says what is wrong, at most so many times; gives the exit status."""
    for problem in problems[:most]:
        print(f"WRONG: {problem}")
    return 1 if problems else 0


def finish(work):
    """Does all of a check (a function, or a coroutine) and ends it, with the status that it gives or with what has failed."""
    try:
        sys.exit(asyncio.run(work) if asyncio.iscoroutine(work) else work())
    except Failure as failure:
        sys.exit(f"FAILED: {failure}")
