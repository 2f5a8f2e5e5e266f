"""MPU-6050, InvenSense's product specification PS-MPU-6000A-00 3.4 and register map RM-MPU-6000A-00 4.2.

The gyroscope gives zeros. The FIFO is one of bytes: when it runs over, the oldest bytes go, and what is read next begins
in the middle of a sample.
"""

import struct
from collections import deque

from ..chip import Chip

SELF_TEST_X, SELF_TEST_A, SMPLRT_DIV, CONFIG, ACCEL_CONFIG, FIFO_EN, INT_STATUS = (
    0x0D, 0x10, 0x19, 0x1A, 0x1C, 0x23, 0x3A)
ACCEL_XOUT_H, ACCEL_ZOUT_L, TEMP_OUT_H, GYRO_ZOUT_L = 0x3B, 0x40, 0x41, 0x48
SIGNAL_PATH_RESET, USER_CTRL, PWR_MGMT_1, PWR_MGMT_2, FIFO_COUNTH, FIFO_COUNTL, FIFO_R_W, WHO_AM_I = (
    0x68, 0x6A, 0x6B, 0x6C, 0x72, 0x73, 0x74, 0x75)
TEMPERATURE = struct.pack(">h", round((25 - 36.53) * 340))
# Codes of 5 bits of the factory trim, x, y, z; the high three bits in the first registers, the low two in the last.
TRIM = (18, 17, 20)


class MPU6050(Chip):
    """Up to 1 kHz; 16 bits, the high byte first."""

    address = 0x68
    identity_register = WHO_AM_I
    data_register = ACCEL_XOUT_H
    data_length = 14
    power_on_values = {
        WHO_AM_I: 0x68, PWR_MGMT_1: 0x40,
        0x0D: TRIM[0] >> 2 << 5, 0x0E: TRIM[1] >> 2 << 5, 0x0F: TRIM[2] >> 2 << 5,
        0x10: (TRIM[0] & 3) << 4 | (TRIM[1] & 3) << 2 | TRIM[2] & 3,
    }
    SIZE = 1024
    depth = SIZE // 6

    def power_on(self):
        super().power_on()
        self.bytes = deque()

    def next_pointer(self, register):
        return register if register == FIFO_R_W else (register + 1) & 0x7F

    def written(self, register, value):
        if register in (INT_STATUS, FIFO_COUNTH, FIFO_COUNTL, WHO_AM_I) or ACCEL_XOUT_H <= register <= GYRO_ZOUT_L:
            return
        if register == PWR_MGMT_1 and value & 0x80:
            self.power_on()  # the bit clears itself
            return
        before = self.rate_now()
        if register == USER_CTRL:
            if value & 0x04:
                self.bytes.clear()
            value &= ~0x07
        self.registers[register] = value if register != SIGNAL_PATH_RESET else 0
        if self.rate_now() != before:
            self.measure(self.rate_now())

    def rate_now(self):
        """Samples per second: the gyroscope's 8 kHz (no low pass) or 1 kHz, divided; the accelerometer has 1 kHz."""
        if self.registers[PWR_MGMT_1] & 0x40:
            return None
        whole = 8000 if self.registers[CONFIG] & 7 in (0, 7) else 1000
        return whole / (1 + self.registers[SMPLRT_DIV])

    def queueing(self):
        return "stream" if self.registers[USER_CTRL] & 0x40 and self.registers[FIFO_EN] else None

    def store(self, sample):
        frame = b""
        enabled = self.registers[FIFO_EN]
        if enabled & 0x08:
            frame += struct.pack(">3h", *sample[2:])
        if enabled & 0x80:
            frame += TEMPERATURE
        frame += bytes(2 * bin(enabled & 0x70).count("1"))
        for byte in frame[:-1]:
            self.bytes.append((byte, None))
        self.bytes.append((frame[-1], sample))
        while len(self.bytes) > self.SIZE:
            self.bytes.popleft()
            self.overrun = True

    def sensitivity(self):
        return 2 ** (self.registers[ACCEL_CONFIG] >> 3 & 3) / 16384

    def limits(self):
        return -32768, 32767

    def self_test(self):
        # Register map, page 10: the factory trim in counts at 8 g; this chip's change is 3 % more.
        return [1.03 * 0.34 * (0.92 / 0.34) ** ((code - 2) / 30) if self.registers[ACCEL_CONFIG] & bit else 0
                for code, bit in zip(TRIM, (0x80, 0x40, 0x20))]

    def sample_bytes(self):
        return struct.pack(">3h", *self.pop()[2:]) + TEMPERATURE + bytes(6)

    def read(self, length):
        if self.pointer != FIFO_R_W:
            return super().read(length)
        self.advance()
        out = bytearray()
        for _ in range(min(length, len(self.bytes))):
            byte, sample = self.bytes.popleft()
            out.append(byte)
            if sample:
                self.queue.append(sample)
                self.pop()
        return bytes(out) + bytes(length - len(out))

    def value(self, register):
        if register == FIFO_COUNTH:
            return len(self.bytes) >> 8
        if register == FIFO_COUNTL:
            return len(self.bytes) & 0xFF
        if register == INT_STATUS:
            overrun, self.overrun = self.overrun, False
            return (0x10 if overrun else 0) | (0x01 if self.fresh else 0)
        return self.registers[register]
