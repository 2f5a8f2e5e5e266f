"""Tries, inside the unit's sandbox, what must be refused there and what must not. BUS and DEVICE name what a sensor is
behind. Fails with a line for each that is not as it should be."""

import ctypes
import errno
import mmap
import os
import signal
import socket
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)


def call(name, *arguments):
    """A function of the C library; its errno is an error."""
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


def write(path, text=None):
    """Opens a file to write, and writes what is given."""
    file = os.open(path, os.O_WRONLY | (os.O_CREAT if text else 0))
    try:
        if text:
            os.write(file, text)
    finally:
        os.close(file)


def make(path):
    """Makes a file, and takes it away."""
    write(path, b"x")
    os.unlink(path)


def others():
    """Processes of others cannot be seen: an error if there are none to be seen."""
    found = [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    if not [name for name in found if os.stat("/proc/" + name).st_uid != os.getuid()]:
        raise OSError(errno.ENOENT, "none")


def real_time(priority):
    """Real-time priority for this process."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def suid():
    """A file that runs with its owner's rights."""
    path = os.environ["STATE_DIRECTORY"] + "/suid"
    write(path, b"x")
    try:
        os.chmod(path, 0o4755)
    finally:
        os.unlink(path)


def attribute():
    """One of the files that a sensor of the kernel is set with, written as it is."""
    path = f"/sys/bus/iio/devices/{os.environ['DEVICE']}/sampling_frequency"
    with open(path, encoding="ascii") as file:
        value = file.read()
    write(path, value.encode())


def trigger():
    """A timer of the kernel that paces it."""
    path = "/sys/kernel/config/iio/triggers/hrtimer/try"
    os.mkdir(path)
    os.rmdir(path)


STATE = os.environ["STATE_DIRECTORY"]
ALLOWED = {
    "its own folder": lambda: make(STATE + "/file"),
    "its folder in memory": lambda: make(os.environ["RUNTIME_DIRECTORY"] + "/file"),
    "a folder for what is passing": lambda: make("/tmp/file"),
    "the I2C bus": lambda: os.close(os.open(f"/dev/i2c-{os.environ['BUS']}", os.O_RDWR)),
    "the sensor of the kernel": lambda: os.close(os.open(f"/dev/{os.environ['DEVICE']}", os.O_RDONLY)),
    "its settings": attribute,
    "a trigger for it": trigger,
    "real-time priority 40": lambda: real_time(40),
    "TCP": lambda: socket.create_connection(("localhost", 8883)).close(),
    "a local socket": lambda: socket.socket(socket.AF_UNIX).close(),
    "the state of the clock": lambda: open("/run/seismote-clock/state", encoding="ascii").close(),
    "the number of this boot": lambda: open("/proc/sys/kernel/random/boot_id", encoding="ascii").close(),
}
REFUSED = {
    "to set the clock": lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()),
    "to steer the clock": lambda: call("adjtimex", ctypes.create_string_buffer(208)),
    "real-time priority 41": lambda: real_time(41),
    "a better niceness": lambda: os.setpriority(os.PRIO_PROCESS, 0, -5),
    "the host's name": lambda: socket.sethostname("other"),
    "another root": lambda: os.chroot("/tmp"),
    "another user": lambda: os.setuid(0),
    "a file of another user": lambda: os.chown(STATE, 0, 0),
    "a mount": lambda: call("mount", b"none", b"/tmp", b"tmpfs", 0, None),
    "a namespace": lambda: call("unshare", 0x10000000),
    "a kernel module": lambda: call("delete_module", b"loop", 0),
    "the kernel's log": lambda: call("klogctl", 3, ctypes.create_string_buffer(16), 16),
    "ptrace": lambda: call("ptrace", 16, os.getppid(), 0, 0),
    "memory that is written and run": lambda: mmap.mmap(
        -1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC),
    "a file that runs as its owner": suid,
    "raw packets": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close(),
    "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close(),
    "the first process": lambda: os.kill(1, signal.SIGCONT),
    "processes of others": others,
    "settings of the kernel": lambda: write("/proc/sys/kernel/hostname"),
    "tunables": lambda: write("/sys/module/printk/parameters/time"),
    "its own settings": lambda: write("/etc/seismote/seismote.yaml"),
    "a program": lambda: write("/usr/bin/seismoted"),
    "a file in /etc": lambda: make("/etc/file"),
    "a file in /run": lambda: make("/run/file"),
    "passwords": lambda: open("/etc/shadow", encoding="ascii").close(),
    "somebody's home": lambda: os.listdir("/root"),
    "memory of the machine": lambda: os.close(os.open("/dev/mem", os.O_RDONLY)),
    "its clock": lambda: os.close(os.open("/dev/rtc0", os.O_RDONLY)),
    "a terminal": lambda: os.close(os.open("/dev/ttyS0", os.O_RDWR)),
    "a device of one's own": lambda: os.mknod(STATE + "/device", 0o600 | 0o020000, os.makedev(1, 1)),
}


def main():
    """Tries all; the exit status says whether all is as it should be."""
    wrong = 0
    for rights, wanted in ((ALLOWED, True), (REFUSED, False)):
        for name, attempt in rights.items():
            try:
                attempt()
                answer = None
            except OSError as error:
                answer = error.strerror
            good = (answer is None) == wanted
            wrong += not good
            print(f"{'' if good else 'WRONG: '}{name}: {answer or 'allowed'}", flush=True)
    return min(wrong, 1)


sys.exit(main())
