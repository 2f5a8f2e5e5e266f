"""LIS3DH, ST's data sheet DocID17530 and application note AN3308."""

import struct

from ..chip import Chip

WHO_AM_I, CTRL1, CTRL4, CTRL5, STATUS, OUT_X, OUT_Z_H, FIFO_CTRL, FIFO_SRC = (
    0x0F, 0x20, 0x23, 0x24, 0x27, 0x28, 0x2D, 0x2E, 0x2F)


class LIS3DH(Chip):
    """Moves its pointer on only where bit 7 of the sub-address was set."""

    address = 0x18
    identity_register = WHO_AM_I
    data_register = OUT_X
    power_on_values = {WHO_AM_I: 0x33, CTRL1: 0x07}

    def power_on(self):
        super().power_on()
        self.increments = False

    def write(self, data):
        if data:
            self.increments = bool(data[0] & 0x80)
            super().write(bytes([data[0] & 0x7F]) + data[1:])

    def next_pointer(self, register):
        if not self.increments:
            return register
        if register == OUT_Z_H and self.queueing():
            return OUT_X  # the next sample of the FIFO
        return (register + 1) & 0x7F

    def written(self, register, value):
        if register in (WHO_AM_I, STATUS, FIFO_SRC) or OUT_X <= register <= OUT_Z_H:
            return
        before = self.registers[register]
        self.registers[register] = value
        if register in (FIFO_CTRL, CTRL5) and not self.queueing():
            self.queue.clear()
        if register == CTRL1 and (value ^ before) & 0xF8:
            low_power = value & 8
            # Table 31.
            rates = (None, 1, 10, 25, 50, 100, 200, 400, 1620 if low_power else None, 5376 if low_power else 1344)
            self.measure(rates[value >> 4] if value >> 4 < len(rates) else None)

    def queueing(self):
        if not self.registers[CTRL5] & 0x40:
            return None
        return (None, "stop", "stream", "stop")[self.registers[FIFO_CTRL] >> 6]

    def bits(self):
        """Table 10: 8 in low-power mode, 12 in high-resolution mode, else 10; always left-justified."""
        return 8 if self.registers[CTRL1] & 8 else 12 if self.registers[CTRL4] & 8 else 10

    def sensitivity(self):
        # Table 4, mg per digit of 12 bits.
        return (1, 2, 4, 12)[self.registers[CTRL4] >> 4 & 3] * 2 ** (12 - self.bits()) / 1000

    def limits(self):
        return -(1 << self.bits() - 1), (1 << self.bits() - 1) - 1

    def self_test(self):
        # Table 4: 17 to 360 digits of 4 mg; self-test 1 goes the other way.
        return {1: (0.4, 0.4, 0.4), 2: (-0.4, -0.4, -0.4)}.get(self.registers[CTRL4] >> 1 & 3)

    def sample_bytes(self):
        shift = 16 - self.bits()
        x, y, z = self.pop()[2:]
        self.overrun = False
        return struct.pack("<3h", x << shift, y << shift, z << shift)

    def value(self, register):
        if register == STATUS:
            return 0x0F if self.fresh else 0
        if register == FIFO_SRC:
            level = len(self.queue)
            threshold = self.registers[FIFO_CTRL] & 31
            return (0x80 if level > threshold else 0) | (0x40 if level == 32 else 0) | (0 if level else 0x20) | min(31, level)
        return self.registers[register]
