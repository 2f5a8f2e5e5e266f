"""ADXL345, Analog Devices' data sheet revision G."""

import struct

from ..chip import Chip

BW_RATE, POWER_CTL, INT_SOURCE, DATA_FORMAT, DATAX0, DATAZ1, FIFO_CTL, FIFO_STATUS = (
    0x2C, 0x2D, 0x30, 0x31, 0x32, 0x37, 0x38, 0x39)


class ADXL345(Chip):
    """32 samples in the FIFO and one at the output filter (page 27): a queue of 33."""

    address = 0x53
    power_on_values = {0x00: 0xE5, BW_RATE: 0x0A}
    data_register = DATAX0
    depth = 33

    def written(self, register, value):
        if register in (0x00, INT_SOURCE, FIFO_STATUS) or DATAX0 <= register <= DATAZ1:
            return  # read-only
        before = self.registers[register]
        self.registers[register] = value
        if register == FIFO_CTL and value >> 6 == 0:
            self.queue.clear()  # bypass empties the FIFO, page 21
        measuring = self.registers[POWER_CTL] & 8
        if (register == POWER_CTL and (value ^ before) & 8) or (register == BW_RATE and measuring and value != before):
            # Table 7: 3200 Hz at code 15, half of that for each code below.
            self.measure(3200 / 2 ** (15 - (self.registers[BW_RATE] & 15)) if measuring else None)

    def queueing(self):
        return (None, "stop", "stream", "stop")[self.registers[FIFO_CTL] >> 6]

    def sensitivity(self):
        full_resolution = self.registers[DATA_FORMAT] & 8
        return (1 if full_resolution else 2 ** (self.registers[DATA_FORMAT] & 3)) / 256

    def limits(self):
        bits = 10 + (self.registers[DATA_FORMAT] & 3 if self.registers[DATA_FORMAT] & 8 else 0)
        return -(1 << bits - 1), (1 << bits - 1) - 1

    def self_test(self):
        # Table 1, at 2.5 V: 0.20 to 2.10 g, -2.10 to -0.20 g, 0.30 to 3.40 g.
        return (0.6, -0.6, 0.9) if self.registers[DATA_FORMAT] & 0x80 else None

    def sample_bytes(self):
        # Each read, however long, takes one sample off the FIFO (page 27); all drivers begin it at the first register.
        counts = self.pop()[2:]
        self.overrun = False
        if self.registers[DATA_FORMAT] & 4:
            counts = [count << 15 - self.limits()[1].bit_length() for count in counts]
        return struct.pack("<3h", *counts)

    def value(self, register):
        if register == INT_SOURCE:
            watermark = self.registers[FIFO_CTL] & 31
            return ((0x80 if self.queue or self.fresh else 0)
                    | (2 if watermark and len(self.queue) >= watermark else 0) | self.overrun)
        if register == FIFO_STATUS:
            return len(self.queue)
        return self.registers[register]
