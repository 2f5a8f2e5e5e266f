"""An I2C adapter that is a program, with one chip on it: what the firmware of i2c-tiny-usb does.

The kernel's drivers/i2c/busses/i2c-tiny-usb.c sends each message of a transfer as a control request of its own (bit 0
and 1 of the request: first, last) and then asks whether the chip has acknowledged. What comes out of it is a real
/dev/i2c-N with I2C_RDWR.
"""

import glob
import os
import struct
import time

from .usbip import Product

DEVICE = struct.pack("<BBHBBBBHHHBBBB", 18, 1, 0x0110, 0xFF, 0, 0, 8, 0x0403, 0xC631, 0x0205, 0, 0, 0, 1)
CONFIGURATION = (struct.pack("<BBHBBBBB", 9, 2, 18, 1, 1, 0, 0x80, 50)
                 + struct.pack("<BBBBBBBBB", 9, 4, 0, 0, 0, 0xFF, 0, 0, 0))
FUNCTIONALITY = struct.pack("<I", 0x0EFF0009)  # I2C_FUNC_I2C and all of SMBus that can be made of it
GET_FUNCTIONALITY, SET_DELAY, GET_STATUS, TRANSFER = 1, 2, 3, 4
ACKNOWLEDGED, NOT_ACKNOWLEDGED = b"\x01", b"\x02"


class Adapter(Product):
    """The adapter and its chip. `faults` says what goes wrong at the moment; `slow` is how long a read takes, in s."""

    def __init__(self, chip, faults, slow=0.0):
        self.chip = chip
        self.faults = faults
        self.slow = slow
        self.status = ACKNOWLEDGED
        self.was_missing = self.was_other = False
        super().__init__(DEVICE, CONFIGURATION, buses, lambda: faults.now("jam"))

    def own(self, kind, request, value, index, length, data):
        """A message of a transfer, or what it asks of the adapter."""
        if request >= TRANSFER:
            return self.transfer(index, length if kind & self.INWARDS else None, data)
        if request == GET_STATUS:
            return self.status
        if request == GET_FUNCTIONALITY:
            return FUNCTIONALITY[:length]
        return bytes(length) if kind & self.INWARDS else b""

    def transfer(self, address, length, data):
        """One message: reads `length` bytes, or writes `data` where that is None."""
        missing, other = self.faults.now("missing"), self.faults.now("identity")
        if (missing, other) != (self.was_missing, self.was_other):
            self.was_missing, self.was_other = missing, other
            self.chip.power_on()
        if missing or address != self.chip.address:
            self.status = NOT_ACKNOWLEDGED
            return bytes(length or 0)
        self.status = ACKNOWLEDGED
        if length is not None:
            time.sleep(self.slow)
            return self.chip.read(length)
        self.chip.write(data)
        return b""


def buses():
    """Numbers of the buses that i2c-tiny-usb has made."""
    for path in glob.glob("/sys/bus/i2c/devices/i2c-*/name"):
        with open(path, encoding="ascii") as file:
            if "i2c-tiny-usb" in file.read():
                yield int(os.path.basename(os.path.dirname(path))[4:])
