"""LIS2DW12, ST's data sheet DocID029682 and application note AN5038."""

import struct

from ..chip import Chip

WHO_AM_I, CTRL1, CTRL2, CTRL3, CTRL6, STATUS, OUT_X, OUT_Z_H, FIFO_CTRL, FIFO_SAMPLES = (
    0x0F, 0x20, 0x21, 0x22, 0x25, 0x27, 0x28, 0x2D, 0x2E, 0x2F)
OUT_T_L, OUT_T_H, OUT_T = 0x0D, 0x0E, 0x26
HIGH_PERFORMANCE = 1


class LIS2DW12(Chip):
    """14 bits, or 12 in low-power mode 1; left-justified."""

    address = 0x19
    identity_register = WHO_AM_I
    data_register = OUT_X
    power_on_values = {WHO_AM_I: 0x44, CTRL2: 0x04}

    def next_pointer(self, register):
        if not self.registers[CTRL2] & 4:
            return register
        if register == OUT_Z_H and self.queueing():
            return OUT_X  # AN5038: the address rolls back while the FIFO is read
        return (register + 1) & 0x7F

    def written(self, register, value):
        if register in (WHO_AM_I, STATUS, FIFO_SAMPLES) or OUT_X <= register <= OUT_Z_H:
            return
        if register == CTRL2 and value & 0x40:
            self.power_on()  # soft reset; the bit clears itself
            return
        before = self.registers[register]
        self.registers[register] = value & 0x7F if register == CTRL2 else value
        if register == FIFO_CTRL and not self.queueing():
            self.queue.clear()
        if register == CTRL1 and value != before:
            # Table 29: codes 7 to 9 give more than 200 Hz in high-performance mode only; code 1 is 12.5 Hz there.
            high = value >> 2 & 3 == HIGH_PERFORMANCE
            rates = ((None, 12.5, 12.5, 25, 50, 100, 200, 400, 800, 1600) if high
                     else (None, 1.6, 12.5, 25, 50, 100, 200, 200, 200, 200))
            self.measure(rates[value >> 4] if value >> 4 < len(rates) else None)

    def queueing(self):
        return {1: "stop", 3: "stream", 4: "stream", 6: "stream"}.get(self.registers[FIFO_CTRL] >> 5)

    def bits(self):
        """Low-power mode 1 has 12, all other modes 14."""
        return 12 if self.registers[CTRL1] & 0x0F == 0 else 14

    def sensitivity(self):
        # Table 3: 0.244 mg at 2 g with 14 bits, 0.976 mg with 12.
        return 0.244e-3 * 2 ** (self.registers[CTRL6] >> 4 & 3) * 2 ** (14 - self.bits())

    def limits(self):
        return -(1 << self.bits() - 1), (1 << self.bits() - 1) - 1

    def self_test(self):
        # Table 3: 70 to 1500 mg.
        return {1: (0.4, 0.4, 0.4), 2: (-0.4, -0.4, -0.4)}.get(self.registers[CTRL3] >> 6)

    def sample_bytes(self):
        shift = 16 - self.bits()
        x, y, z = self.pop()[2:]
        self.overrun = False
        return struct.pack("<3h", x << shift, y << shift, z << shift)

    def value(self, register):
        if register == STATUS:
            return 0x01 if self.fresh else 0
        if register == FIFO_SAMPLES:
            level = len(self.queue)
            threshold = self.registers[FIFO_CTRL] & 31
            return (0x80 if level >= threshold else 0) | (0x40 if self.overrun else 0) | level
        return self.registers[register]  # OUT_T is 0: 25 °C
