"""An I2C adapter that is a program, with one chip on it: what the firmware of i2c-tiny-usb does.

The kernel's drivers/i2c/busses/i2c-tiny-usb.c sends each message of a transfer as a control request of its own (bit 0
and 1 of the request: first, last) and then asks whether the chip has acknowledged. What comes out of it is a real
/dev/i2c-N with I2C_RDWR.
"""

import glob
import os
import struct
import time

from .usbip import Device

DEVICE = struct.pack("<BBHBBBBHHHBBBB", 18, 1, 0x0110, 0xFF, 0, 0, 8, 0x0403, 0xC631, 0x0205, 0, 0, 0, 1)
CONFIGURATION = (struct.pack("<BBHBBBBB", 9, 2, 18, 1, 1, 0, 0x80, 50)
                 + struct.pack("<BBBBBBBBB", 9, 4, 0, 0, 0, 0xFF, 0, 0, 0))
FUNCTIONALITY = struct.pack("<I", 0x0EFF0009)  # I2C_FUNC_I2C and all of SMBus that can be made of it
GET_FUNCTIONALITY, SET_DELAY, GET_STATUS, TRANSFER = 1, 2, 3, 4
ACKNOWLEDGED, NOT_ACKNOWLEDGED = b"\x01", b"\x02"
INWARDS, NOT_STANDARD = 0x80, 0x60
GET_DESCRIPTOR, DEVICE_DESCRIPTOR, CONFIGURATION_DESCRIPTOR = 6, 1, 2


class Adapter:
    """The adapter and its chip. `faults` says what goes wrong at the moment; `slow` is how long a read takes, in s."""

    def __init__(self, chip, faults, slow=0.0):
        self.chip = chip
        self.faults = faults
        self.slow = slow
        self.status = ACKNOWLEDGED
        self.bus = None
        self.was_missing = self.was_other = False
        self.device = Device(self.control, lambda: faults.now("jam"))

    def plug(self):
        """Gives its bus a number: the one that was not there before. The caller serves until `found` says so."""
        self.before = set(buses())
        self.device.plug()

    def found(self):
        """True once the kernel has made a bus of it."""
        new = [bus for bus in buses() if bus not in self.before]
        if new:
            self.bus = new[0]
        return bool(new)

    def control(self, kind, request, value, index, length, data):
        """Answers a control request."""
        if kind & NOT_STANDARD == 0:
            if request == GET_DESCRIPTOR and kind & INWARDS:
                found = {DEVICE_DESCRIPTOR: DEVICE, CONFIGURATION_DESCRIPTOR: CONFIGURATION}.get(value >> 8)
                return found and found[:length]
            return bytes(length) if kind & INWARDS else b""
        if request >= TRANSFER:
            return self.transfer(index, length if kind & INWARDS else None, data)
        if request == GET_STATUS:
            return self.status
        if request == GET_FUNCTIONALITY:
            return FUNCTIONALITY[:length]
        return bytes(length) if kind & INWARDS else b""

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
