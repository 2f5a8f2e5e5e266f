"""What programs do whose standard output takes nothing, takes it later, or has no reader any more.

output.py FOLDER RECORDING: programs of that folder, as a user starts them. Prints a line for each fault, then how many
commands were tried; fails when there was a fault."""

import fcntl
import os
import signal
import subprocess
import sys
import time

folder, recording = sys.argv[1:]
COMMANDS = [
    "seismote --help", "seismote version", "seismote config default", "seismote config schema", "seismote interface asyncapi",
    "seismote interface manual", "seismote filter show shake:lp5 --rate 100 --json",
    f"seismote replay {recording} --scale 4.674e-06,4.677e-06,4.679e-06 --quiet", "seismoted --help", "seismoted --version",
    "seismote-network --help", "seismote-network --default", "seismote-broker --help", "seismote-update --help",
]


def start(command, output):
    name, *words = command.split()
    return subprocess.Popen([os.path.join(folder, name), *words], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE)


def end(process):
    _, said = process.communicate(timeout=60)
    return process.returncode, said.decode()


def judge(command):
    """What is wrong with it, a line for each."""
    whole = subprocess.run(
        [os.path.join(folder, command.split()[0]), *command.split()[1:]], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    if whole.returncode != 0 or not whole.stdout:
        yield f"ends with {whole.returncode} and prints {len(whole.stdout)} bytes"

    with open("/dev/full", "wb") as full:
        status, said = end(start(command, full))
    # (Of what went before the end nobody has kept the reason.)
    if status != 74 or not ("No space left on device" in said or "is the disk full?" in said):
        yield f"on a full disk it ends with {status}: {said!r}"

    # Another program that has the same pipe has made it non-blocking; who reads is slow.
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
    process = start(command, writer)
    read = b""
    # (Until the pipe is full, or the program has ended.)
    filled = min(len(whole.stdout), fcntl.fcntl(reader, fcntl.F_GETPIPE_SZ))
    while waiting(reader) < filled and process.poll() is None:
        time.sleep(0.01)
    if not fcntl.fcntl(writer, fcntl.F_GETFL) & os.O_NONBLOCK:
        yield "it has changed what another program has set"
    os.close(writer)
    while part := os.read(reader, 5000):
        read += part
    os.close(reader)
    status, said = end(process)
    if status != 0 or read != whole.stdout:
        yield f"into a non-blocking pipe it writes {len(read)} of {len(whole.stdout)} bytes, and ends with {status}: {said!r}"

    reader, writer = os.pipe()
    os.close(reader)
    process = start(command, writer)
    os.close(writer)
    status, said = end(process)
    if status != -signal.SIGPIPE or said:
        yield f"without a reader it ends with {status}: {said!r}"


def waiting(pipe):
    """Bytes that are in it."""
    return int.from_bytes(fcntl.ioctl(pipe, 0x541B, bytes(4)), sys.byteorder)  # FIONREAD


# (What Python ignores, it would hand on.)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
faults = [f"FAILED {command}: {fault}" for command in COMMANDS for fault in judge(command)]
print("\n".join([*faults, f"{len(COMMANDS)} commands with four kinds of standard output, {len(faults)} faults"]))
sys.exit(1 if faults else 0)
