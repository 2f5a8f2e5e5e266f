"""Four lines of GPIO on USB: what the kernel's drivers/usb/serial/cp210x.c asks of a CP2104, as far as its pins go. The
kernel makes a real gpiochip of it; the journal has the time of each change of a line.
"""

import glob
import os
import struct

from .journal import Journal
from .usbip import Product

DEVICE = struct.pack("<BBHBBBBHHHBBBB", 18, 1, 0x0110, 0, 0, 0, 64, 0x10C4, 0xEA60, 0x0100, 0, 0, 0, 1)
CONFIGURATION = (struct.pack("<BBHBBBBB", 9, 2, 32, 1, 1, 0, 0x80, 50)
                 + struct.pack("<BBBBBBBBB", 9, 4, 0, 0, 2, 0xFF, 0, 0, 0)
                 + struct.pack("<BBBBHB", 7, 5, 0x81, 2, 64, 0) + struct.pack("<BBBBHB", 7, 5, 0x01, 2, 64, 0))
# Pins that push and pull, all low after a reset, none with a function of its own.
PORT = struct.pack("<HxxHxxxxHB", 0x0F00, 0, 0, 0)
VENDOR, GET_PART, GET_PORT, READ_LATCH, WRITE_LATCH = 0xFF, 0x370B, 0x370C, 0x00C2, 0x37E1
SET_LINE_CONTROL, GET_LINE_CONTROL = 0x03, 0x04


class Relay(Product):
    """Looks to the emulator as an adapter with a chip does."""

    address, rate = 0, None

    def __init__(self, faults):
        self.faults = faults
        self.journal = Journal()
        self.chip = self
        self.latch = 0
        self.line_control = 0x0800
        super().__init__(DEVICE, CONFIGURATION, chips)

    def own(self, kind, request, value, index, length, data):
        """Its pins and its line."""
        if request == VENDOR and kind & self.INWARDS:
            found = {GET_PART: b"\x04", GET_PORT: PORT, READ_LATCH: bytes([self.latch])}.get(value)
            return found and found[:length]
        if request == VENDOR and value == WRITE_LATCH:
            mask, state = index & 0xFF, index >> 8
            latch = self.latch & ~mask | state & mask
            for line in range(4):
                if (latch ^ self.latch) >> line & 1:
                    self.journal.event(f"line {line} {latch >> line & 1}")
            self.latch = latch
            return b""
        if request == SET_LINE_CONTROL:
            self.line_control = value
        if request == GET_LINE_CONTROL:
            return struct.pack("<H", self.line_control)[:length]
        return bytes(length) if kind & self.INWARDS else b""

    def about(self):
        """For its journal."""
        return {"chip": "cp2104", "rate": 0}

    def begin(self):
        """The recording begins."""
        self.journal.event("begin")

    def power_on(self):
        """Nothing to forget."""


def chips():
    """Numbers of the gpiochips on USB."""
    for path in glob.glob("/sys/bus/gpio/devices/gpiochip*"):
        if "usb" in os.path.realpath(path):
            yield int(os.path.basename(path)[8:])
