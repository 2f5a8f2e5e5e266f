"""What all chips have in common: registers, a clock of their own, and a queue of samples.

A chip is written from its data sheet and from nothing else: the agent's tables are another reading of the same pages,
and the two have to agree.
"""

import time
from collections import deque

from .world import GRAVITY


class Chip:
    """Registers with a pointer that the first written byte sets, and that each further byte moves on."""

    #: Where it answers unless said otherwise.
    address = 0
    #: Registers that are not zero after power-on.
    power_on_values = {}
    #: The register that says what it is.
    identity_register = 0
    #: First register of the latest or oldest sample, and how many registers it has.
    data_register = 0
    data_length = 6
    #: Samples that the queue holds.
    depth = 32

    def __init__(self, world, faults, journal, clock_error=0.0, address=None):
        self.world = world
        self.faults = faults
        self.journal = journal
        self.clock_error = clock_error
        self.address = self.address if address is None else address
        self.origin = None
        self.rate = None
        self.count = None
        self.taken = 0
        self.before = 0
        self.power_on()

    # What a chip may do in its own way.

    def written(self, register, value):
        """A byte was written to a register."""
        self.registers[register] = value

    def value(self, register):
        """A byte is read from a register that holds no sample."""
        return self.registers[register]

    def sample_bytes(self):
        """The next sample, as the registers with data show it."""
        raise NotImplementedError

    def next_pointer(self, register):
        """Where the pointer goes after this register."""
        return (register + 1) & 0xFF

    def sensitivity(self):
        """g per count, as the registers are now."""
        raise NotImplementedError

    def limits(self):
        """Smallest and largest count."""
        raise NotImplementedError

    def queueing(self):
        """`stream` (the oldest sample gives way), `stop` (the newest does), or None: there is only the last sample."""
        return None

    def self_test(self):
        """What the self-test adds now, in g for x, y, z; None when it is off."""
        return None

    # The bus.

    def power_on(self):
        """As after power-on: nothing is measured."""
        self.registers = bytearray(256)
        self.output = bytes(self.data_length)
        for register, value in self.power_on_values.items():
            self.registers[register] = value
        self.pointer = 0
        self.period = None
        self.queue = deque()
        self.overrun = False
        self.latest = None
        self.fresh = False

    def write(self, data):
        """A message to the chip."""
        if not data:
            return
        self.pointer = data[0]
        for byte in data[1:]:
            self.advance()
            self.written(self.pointer, byte)
            self.pointer = self.next_pointer(self.pointer)

    def read(self, length):
        """A message from the chip."""
        self.advance()
        out = bytearray()
        first, last = self.data_register, self.data_register + self.data_length - 1
        while len(out) < length:
            if first <= self.pointer <= last:
                if self.pointer == first:
                    self.output = self.sample_bytes()
                    if length - len(out) >= self.data_length and self.next_pointer(first) != first:
                        out += self.output
                        self.pointer = self.next_pointer(last)
                        continue
                value = self.output[self.pointer - first]
            else:
                value = self.value(self.pointer)
            if self.pointer == self.identity_register and self.faults.now("identity"):
                value ^= 0xFF
            out.append(value)
            self.pointer = self.next_pointer(self.pointer)
        return bytes(out)

    # The chip's own clock.

    def begin(self):
        """The recording and the timetable of faults begin now."""
        self.origin = time.monotonic_ns()
        self.faults.begin(self.origin)
        self.journal.event("begin")

    def measure(self, rate):
        """Measures from now on, this often each second by a perfect clock; None: no more."""
        if rate is None:
            self.period = None
            return
        now = time.monotonic_ns()
        self.rate = rate
        self.period = 1e9 / (rate * (1 + self.clock_error))
        self.start = now
        self.before += self.taken  # numbers go on
        self.taken = 0

    def advance(self):
        """Takes all samples that are due by now."""
        if self.period is None:
            return
        due = int((time.monotonic_ns() - self.start) / self.period)
        if due == self.taken:
            return
        mode = self.queueing()
        depth = self.depth if mode else 1
        if due - self.taken > 4 * depth:
            # They would be thrown away in any case.
            if mode != "stop":
                self.taken = due - 2 * depth
                self.overrun = bool(mode)
        for number in range(self.taken + 1, due + 1):
            if mode == "stop" and len(self.queue) >= depth:
                self.overrun = True
                break
            self.latest = self.take(number)
            self.fresh = True
            if mode:
                self.store(self.latest)
        self.taken = due

    def store(self, sample):
        """Puts a sample into the queue."""
        if len(self.queue) >= self.depth:
            self.queue.popleft()
            self.overrun = True
        self.queue.append(sample)

    def take(self, number):
        """Sample `number` since `measure`."""
        moment = self.start + round(number * self.period)
        number += self.before
        felt = self.world.at((moment - self.origin) / 1e9 if self.origin else -1, number)
        if self.faults.entries:
            if self.latest and self.faults.at("freeze", moment):
                return (number, moment, *self.latest[2:])
            if self.faults.at("saturate", moment):
                felt = [axis + (400 if number // 8 % 2 else -400) for axis in felt]
        extra = self.self_test()
        if extra:
            felt = [axis + GRAVITY * more for axis, more in zip(felt, extra)]
        low, high = self.limits()
        self.count = self.sensitivity() * GRAVITY
        x, y, z = [min(high, max(low, round(axis / self.count))) for axis in felt]
        return (number, moment, x, y, z)

    # For the registers with data.

    def pop(self):
        """The oldest sample of the queue (the latest where there is none), which is thereby handed out."""
        sample = self.queue.popleft() if self.queue else self.latest
        self.fresh = False
        now = time.monotonic_ns()
        sample = sample or (0, now, 0, 0, 0)  # the registers before the first sample
        self.journal.sample(sample, now)
        return sample

    def about(self):
        """What the journal says of the chip."""
        return {"chip": type(self).__name__.lower(), "clock_error": self.clock_error,
                "rate": self.rate, "count": self.count}
