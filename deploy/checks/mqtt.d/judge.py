"""What a case of a check is judged by: conditions, each with what is wrong when it does not hold."""

import asyncio
import time


class Judge:
    def __init__(self):
        self.problems = []

    def says(self, good, problem):
        if not good:
            self.problems.append(problem)
        return good

    @staticmethod
    async def wait(seconds, wanted):
        """What `wanted()` gives as soon as that is true; None when it never is in time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            result = wanted()
            if result:
                return result
            await asyncio.sleep(0.02)
        return None
