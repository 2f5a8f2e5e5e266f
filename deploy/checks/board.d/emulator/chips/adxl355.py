"""ADXL355, Analog Devices' data sheet revision B."""

import struct

from ..chip import Chip

STATUS, FIFO_ENTRIES, TEMP2, XDATA3, ZDATA1, FIFO_DATA = 0x04, 0x05, 0x06, 0x08, 0x10, 0x11
FILTER, RANGE, POWER_CTL, SELF_TEST, RESET = 0x28, 0x2C, 0x2D, 0x2E, 0x2F
EMPTY, IS_X = 2, 1


class ADXL355(Chip):
    """20 bits, left-justified in three bytes, the highest first; 96 entries in the FIFO, one for each axis."""

    address = 0x1D
    identity_register = 0x02
    data_register = XDATA3
    data_length = 9
    power_on_values = {0x00: 0xAD, 0x01: 0x1D, 0x02: 0xED, 0x03: 0x01, 0x29: 0x60, RANGE: 0x81, POWER_CTL: 0x01}

    def power_on(self):
        super().power_on()
        self.entries = []  # of the sample that is being read from the FIFO
        self.entry = b""

    def next_pointer(self, register):
        return register if register == FIFO_DATA else (register + 1) & 0x7F

    def written(self, register, value):
        if register <= FIFO_DATA:
            return
        if register == RESET:
            if value == 0x52:
                self.power_on()
            return
        before = self.registers[register]
        self.registers[register] = value
        if register == POWER_CTL and (value ^ before) & 1:
            # Table 44: 4000 Hz at code 0, half of that for each further code.
            self.queue.clear()
            self.measure(None if value & 1 else 4000 / 2 ** (self.registers[FILTER] & 15))

    def queueing(self):
        return "stream"

    def sensitivity(self):
        # Table 1: 256 000, 128 000, 64 000 counts per g at 2, 4, 8 g.
        return {1: 1, 2: 2, 3: 4}.get(self.registers[RANGE] & 3, 1) / 256000

    def limits(self):
        return -(1 << 19), (1 << 19) - 1

    def self_test(self):
        # Table 1: typically 0.3 g, 0.3 g, 1.5 g, where both bits are set.
        return (0.3, 0.3, 1.5) if self.registers[SELF_TEST] & 3 == 3 else None

    @staticmethod
    def left_justified(count):
        return struct.pack(">i", count << 12)[:3]

    def sample_bytes(self):
        queue, self.queue = self.queue, None  # these registers have nothing to do with the FIFO
        sample = self.pop()
        self.queue = queue
        return b"".join(map(self.left_justified, sample[2:]))

    def value(self, register):
        if register == FIFO_DATA:
            return self.next_of_fifo()
        if register == FIFO_ENTRIES:
            return 3 * len(self.queue) + len(self.entries)
        if register == STATUS:
            overrun, self.overrun = self.overrun, False
            return (4 if overrun else 0) | (2 if len(self.queue) >= self.depth else 0) | (1 if self.fresh else 0)
        if register in (TEMP2, TEMP2 + 1):
            return struct.pack(">H", 1885)[register - TEMP2]  # 25 °C
        return self.registers[register]

    def next_of_fifo(self):
        """The next byte at FIFO_DATA: three for an entry, x first, which is marked."""
        if not self.entry:
            if not self.entries and self.queue:
                x, y, z = map(self.left_justified, self.pop()[2:])
                self.entries = [x[:2] + bytes([x[2] | IS_X]), y, z]
            self.entry = self.entries.pop(0) if self.entries else bytes([0, 0, EMPTY])
        byte, self.entry = self.entry[0], self.entry[1:]
        return byte
