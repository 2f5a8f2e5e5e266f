"""MMA8451Q and MMA8452Q, NXP's data sheets MMA8451Q revision 10.3 and MMA8452Q revision 10."""

import struct

from ..chip import Chip

STATUS, OUT_X_MSB, OUT_Z_LSB, F_SETUP, WHO_AM_I, XYZ_DATA_CFG, CTRL_REG1, CTRL_REG2 = (
    0x00, 0x01, 0x06, 0x09, 0x0D, 0x0E, 0x2A, 0x2B)


class MMA8452(Chip):
    """12 bits, left-justified, the high byte first; no FIFO."""

    address = 0x1C
    identity_register = WHO_AM_I
    data_register = OUT_X_MSB
    power_on_values = {WHO_AM_I: 0x2A}
    bits = 12

    def next_pointer(self, register):
        if register == OUT_Z_LSB:
            return OUT_X_MSB if self.queueing() else STATUS  # tables 11 and 12: the pointer goes round
        return (register + 1) & 0xFF

    def written(self, register, value):
        if register <= OUT_Z_LSB or register == WHO_AM_I:
            return
        if register == CTRL_REG2 and value & 0x40:
            self.power_on()  # reset; the bit clears itself
            return
        before = self.registers[register]
        self.registers[register] = value
        if register == F_SETUP and not self.queueing():
            self.queue.clear()
        if register == CTRL_REG1 and (value ^ before) & 0x39:
            rates = (800, 400, 200, 100, 50, 12.5, 6.25, 1.56)
            self.measure(rates[value >> 3 & 7] if value & 1 else None)

    def sensitivity(self):
        return 4 / 2 ** self.bits * 2 ** (self.registers[XYZ_DATA_CFG] & 3)

    def limits(self):
        return -(1 << self.bits - 1), (1 << self.bits - 1) - 1

    def self_test(self):
        # Self-test output change at 4 g (MMA8451Q table 2): 181, 255 and 1680 counts of 1/2048 g.
        return (181 / 2048, 255 / 2048, 1680 / 2048) if self.registers[CTRL_REG2] & 0x80 else None

    def sample_bytes(self):
        return struct.pack(">3h", *(count << 16 - self.bits for count in self.pop()[2:]))

    def value(self, register):
        if register == STATUS:
            return self.status()
        return self.registers[register]

    def status(self):
        """Register 0: what is new."""
        return 0x0F if self.fresh else 0


class MMA8451(MMA8452):
    """14 bits, and a FIFO of 32 samples."""

    power_on_values = {WHO_AM_I: 0x1A}
    bits = 14

    def queueing(self):
        return (None, "stream", "stop", "stop")[self.registers[F_SETUP] >> 6]

    def status(self):
        if not self.queueing():
            return super().status()
        watermark = self.registers[F_SETUP] & 0x3F
        level = len(self.queue)
        overrun, self.overrun = self.overrun, False
        return (0x80 if overrun else 0) | (0x40 if watermark and level >= watermark else 0) | level
