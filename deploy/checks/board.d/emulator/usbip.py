"""A USB device that is a program: the kernel's vhci-hcd talks USB/IP to a socket, and this is the other end of it.

Documentation/usb/usbip_protocol.rst of the kernel: numbers are big endian, each request and reply begins with a header
of 48 bytes. Only control transfers are served, which is all that the adapter needs.
"""

import errno
import glob
import os
import socket
import struct

CONTROLLER = "/sys/devices/platform/vhci_hcd.0/"
SUBMIT, UNLINK, SUBMITTED, UNLINKED = 1, 2, 3, 4
NOTHING_THERE, FULL_SPEED = 4, 2
HEADER = 48
# command, number, device, direction, endpoint, flags, length (of an unlink: flags is the number that is called back)
REQUEST = struct.Struct(">7I")
SETUP = struct.Struct("<BBHHH")
REPLY = struct.Struct(">5Ii4I8x")
UNLINK_REPLY = struct.Struct(">5Ii24x")


def hardware_priority():
    """Hardware does not wait for a processor: this process and the controller's threads come before all others."""
    priority = os.sched_param(90)
    os.sched_setscheduler(0, os.SCHED_FIFO, priority)
    for path in glob.glob("/proc/[0-9]*/comm"):
        try:
            with open(path, encoding="ascii") as file:
                if file.read().startswith("vhci_"):
                    os.sched_setscheduler(int(path.split("/")[2]), os.SCHED_FIFO, priority)
        except OSError:
            pass  # it has just ended


class Device:
    """One device. `control(type, request, value, index, length, data)` gives the bytes of the answer, or None to
    refuse; while `hung()` is true, nothing is answered at all."""

    def __init__(self, control, hung):
        self.control = control
        self.hung = hung
        self.socket = None
        self.input = b""
        self.waiting = {}

    def plug(self):
        """Appears on the controller's first free port."""
        ours, kernels = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with open(CONTROLLER + "status", encoding="ascii") as file:
            ports = [line.split() for line in file.readlines()[1:]]
        port = next(int(words[1]) for words in ports if words[0] == "hs" and int(words[2]) == NOTHING_THERE)
        with open(CONTROLLER + "attach", "w", encoding="ascii") as file:
            file.write(f"{port} {kernels.fileno()} {1 << 16 | port + 2} {FULL_SPEED}")
        kernels.close()
        hardware_priority()
        self.socket, self.input, self.waiting = ours, b"", {}

    def unplug(self):
        """Is pulled out."""
        if self.socket:
            self.socket.close()
            self.socket = None

    def serve(self):
        """Takes in what the kernel has sent, and answers. False when the kernel has let go of the device."""
        data = self.socket.recv(1 << 16)
        if not data:
            return False
        self.input += data
        while len(self.input) >= HEADER:
            command, number, _, inwards, endpoint, flags, length = REQUEST.unpack_from(self.input)
            if command == UNLINK:
                self.input = self.input[HEADER:]
                # 0: it had been answered before; the kernel then takes that answer.
                status = -errno.ECONNRESET if self.waiting.pop(flags, None) else 0
                self.socket.sendall(UNLINK_REPLY.pack(UNLINKED, number, 0, 0, 0, status))
                continue
            size = HEADER + (0 if inwards else length)
            if len(self.input) < size:
                break
            self.waiting[number] = (inwards, endpoint, length, self.input[HEADER - 8:HEADER], self.input[HEADER:size])
            self.input = self.input[size:]
        self.answer()
        return True

    def answer(self):
        """Answers all that waits, unless hung."""
        while self.waiting and not self.hung():
            number = next(iter(self.waiting))
            inwards, endpoint, length, setup, data = self.waiting.pop(number)
            answer = self.control(*SETUP.unpack(setup), data) if endpoint == 0 else None
            if answer is None:
                reply = REPLY.pack(SUBMITTED, number, 0, 0, 0, -errno.EPIPE, 0, 0, 0, 0)
            elif inwards:
                reply = REPLY.pack(SUBMITTED, number, 0, 0, 0, 0, len(answer), 0, 0, 0) + answer
            else:
                reply = REPLY.pack(SUBMITTED, number, 0, 0, 0, 0, length, 0, 0, 0)
            self.socket.sendall(reply)


class Product:
    """A device as it is plugged in and found: the kernel's driver gives a number to what it makes of it. A subclass says
    what else it answers, in `own`."""

    DEVICE_DESCRIPTOR, CONFIGURATION_DESCRIPTOR = 1, 2
    GET_DESCRIPTOR, INWARDS, NOT_STANDARD = 6, 0x80, 0x60

    def __init__(self, device, configuration, numbers, hung=lambda: False):
        """Its two descriptors, and a function that lists the kernel's numbers of what there is of its kind."""
        self.descriptors = {self.DEVICE_DESCRIPTOR: device, self.CONFIGURATION_DESCRIPTOR: configuration}
        self.numbers = numbers
        self.bus = None
        self.device = Device(self.control, hung)

    def plug(self):
        """Its number will be one that is not there now. The caller serves until `found` says so."""
        self.before = set(self.numbers())
        self.device.plug()

    def found(self):
        """True once the kernel has made something of it."""
        new = [number for number in self.numbers() if number not in self.before]
        if new:
            self.bus = new[0]
        return bool(new)

    def control(self, kind, request, value, index, length, data):
        """Answers a control request."""
        if kind & self.NOT_STANDARD:
            return self.own(kind, request, value, index, length, data)
        if request == self.GET_DESCRIPTOR and kind & self.INWARDS:
            found = self.descriptors.get(value >> 8)
            return found and found[:length]
        return bytes(length) if kind & self.INWARDS else b""
