"""What goes wrong, and when: a timetable in s since the world was told to begin (SIGUSR1).

    missing:30:5    from 30 s, for 5 s: the chip does not acknowledge; then it is back as after power-on
    unplug:30:5     the adapter itself is pulled out, and put in again
    jam:30:5        nothing is answered, until the kernel gives up waiting
    identity:30:5   another chip is there, whose register with the identity says something else
    saturate:30:5   far stronger motion than the chip can say
    freeze:30:5     the chip goes on, but gives the same sample again and again

Beside it there may be a folder of switches: as long as a file with the name of a kind is there, that goes wrong.
"""

import os
import time

KINDS = ("missing", "unplug", "jam", "identity", "saturate", "freeze")


class Faults:
    """The timetable. Before `begin` nothing goes wrong."""

    def __init__(self, text="", switches=None):
        self.entries, self.switches = [], switches
        for entry in text.split("+") if text else []:
            kind, start, length = entry.split(":")
            if kind not in KINDS:
                raise ValueError(f"no such fault: {kind}")
            self.entries.append((kind, round(float(start) * 1e9), round((float(start) + float(length)) * 1e9)))
        self.origin = None

    def begin(self, moment):
        """Says when time zero is (monotonic, ns)."""
        self.origin = moment

    def now(self, kind):
        """Whether this goes wrong now."""
        if self.switches and os.path.exists(os.path.join(self.switches, kind)):
            return True
        return bool(self.entries) and self.at(kind, time.monotonic_ns())

    def at(self, kind, moment):
        """Whether this goes wrong at a moment (monotonic, ns)."""
        if self.origin is None:
            return False
        moment -= self.origin
        return any(kind == name and start <= moment < end for name, start, end in self.entries)

    def next_change(self):
        """Seconds to the next beginning or end of a fault; None when there is none any more."""
        if self.origin is None:
            return None
        moment = time.monotonic_ns() - self.origin
        later = [edge for _, start, end in self.entries for edge in (start, end) if edge > moment]
        return (min(later) - moment) / 1e9 if later else None
