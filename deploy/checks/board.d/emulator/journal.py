"""What the chip has handed out, to compare with what the agent made of it.

Two files: NAME.json says what the chip is and what happened, NAME.samples has six numbers of 64 bits for each sample
that was read: its number, when it was taken, when it was read (ns of UTC by the machine's clock), x, y, z in counts.
"""

import array
import json
import time


class Journal:
    """Kept in memory until `write`."""

    COLUMNS = 6

    def __init__(self):
        self.samples = array.array("q")
        self.events = []
        self.to_wall = time.time_ns() - time.monotonic_ns()

    def sample(self, sample, moment):
        """A sample (number, taken at, x, y, z) was read at a moment (both monotonic, ns)."""
        number, taken, x, y, z = sample
        self.samples.extend((number, taken + self.to_wall, moment + self.to_wall, x, y, z))

    def event(self, what):
        """Something happened now."""
        self.events.append({"t": time.time_ns(), "what": what})

    def write(self, name, about):
        """Writes both files."""
        with open(name + ".samples", "wb") as file:
            self.samples.tofile(file)
        with open(name + ".json", "w", encoding="ascii") as file:
            json.dump({**about, "events": self.events}, file)
