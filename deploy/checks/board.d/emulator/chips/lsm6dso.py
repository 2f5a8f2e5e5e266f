"""LSM6DSO, ST's data sheet DS12140 and application note AN5192. The gyroscope stays silent."""

import struct

from ..chip import Chip

FIFO_CTRL1, FIFO_CTRL2, FIFO_CTRL3, FIFO_CTRL4, WHO_AM_I, CTRL1_XL, CTRL3_C, CTRL5_C = (
    0x07, 0x08, 0x09, 0x0A, 0x0F, 0x10, 0x12, 0x14)
STATUS, OUTX_A, OUTZ_H_A, FIFO_STATUS1, FIFO_STATUS2, TAG, DATA_Z_H = 0x1E, 0x28, 0x2D, 0x3A, 0x3B, 0x78, 0x7E
ACCELEROMETER = 2  # sensor in the tag, AN5192


class LSM6DSO(Chip):
    """16 bits; words of 7 bytes in the FIFO, a tag and a sample each."""

    address = 0x6A
    identity_register = WHO_AM_I
    data_register = TAG
    data_length = 7
    power_on_values = {WHO_AM_I: 0x6C, CTRL3_C: 0x04}
    depth = 512
    RATES = (None, 12.5, 26, 52, 104, 208, 416, 833, 1666, 3332, 6667, 1.6)

    def power_on(self):
        super().power_on()
        self.latest_output = bytes(6)
        self.words = 0

    def next_pointer(self, register):
        if not self.registers[CTRL3_C] & 4:
            return register
        return TAG if register == DATA_Z_H else (register + 1) & 0x7F

    def written(self, register, value):
        if register in (WHO_AM_I, STATUS, FIFO_STATUS1, FIFO_STATUS2) or OUTX_A <= register <= OUTZ_H_A:
            return
        if register == CTRL3_C and value & 0x01:
            self.power_on()  # the bit clears itself
            return
        before = self.registers[register]
        self.registers[register] = value & 0x7F if register == CTRL3_C else value
        if register in (FIFO_CTRL3, FIFO_CTRL4) and not self.queueing():
            self.queue.clear()
        if register == CTRL1_XL and (value ^ before) & 0xF0:
            self.measure(self.RATES[value >> 4] if value >> 4 < len(self.RATES) else None)

    def queueing(self):
        # Samples go into the FIFO at the accelerometer's batch rate, which is taken to be that of its output.
        if not self.registers[FIFO_CTRL3] & 0x0F:
            return None
        return {1: "stop", 3: "stream", 4: "stream", 6: "stream", 7: "stream"}.get(self.registers[FIFO_CTRL4] & 7)

    def sensitivity(self):
        # Table 2: mg per digit; the codes are not in order.
        return (0.061e-3, 0.488e-3, 0.122e-3, 0.244e-3)[self.registers[CTRL1_XL] >> 2 & 3]

    def limits(self):
        return -32768, 32767

    def self_test(self):
        # Table 2: 50 to 1700 mg.
        return {1: (0.4, 0.4, 0.4), 2: (-0.4, -0.4, -0.4)}.get(self.registers[CTRL5_C] & 3)

    def sample_bytes(self):
        if not self.queue:
            return bytes(7)
        tag = ACCELEROMETER << 3 | (self.words & 3) << 1
        self.words += 1
        return bytes([tag | bin(tag).count("1") & 1]) + struct.pack("<3h", *self.pop()[2:])

    def value(self, register):
        if register == OUTX_A:
            self.latest_output = struct.pack("<3h", *self.pop_latest()[2:])
        if OUTX_A <= register <= OUTZ_H_A:
            return self.latest_output[register - OUTX_A]
        if register == STATUS:
            return 0x01 if self.fresh else 0
        level = len(self.queue)
        if register == FIFO_STATUS1:
            return level & 0xFF
        if register == FIFO_STATUS2:
            watermark = self.registers[FIFO_CTRL1] | (self.registers[FIFO_CTRL2] & 1) << 8
            overrun, self.overrun = self.overrun, False
            return ((0x80 if watermark and level >= watermark else 0) | (0x48 if overrun else 0)
                    | (0x20 if level >= self.depth else 0) | level >> 8)
        return self.registers[register]

    def pop_latest(self):
        """The output registers, which have nothing to do with the FIFO."""
        queue, self.queue = self.queue, None
        sample = self.pop()
        self.queue = queue
        return sample
