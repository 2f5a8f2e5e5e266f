"""What programs do whose standard output takes nothing, takes it later, or has no reader any more.

output.py FOLDER RECORDING: programs of that folder, as a user starts them. Prints a line for each fault, then how many
commands were tried; fails when there was a fault."""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import time

folder, recording = sys.argv[1:]
COMMANDS = [
    "seismote --help", "seismote version", "seismote config default", "seismote config schema", "seismote interface asyncapi",
    "seismote interface manual", "seismote filter show shake:lp5 --rate 100 --json",
    f"seismote replay {recording} --scale 4.674e-06,4.677e-06,4.679e-06 --quiet", "seismoted --help", "seismoted --version",
    "seismote-network --help", "seismote-network --default", "seismote-broker --help", "seismote-update --help",
]
# What is said where more was printed than the last buffer: of what went before nobody has kept the reason.
UNKNOWN = "a part is missing; the disk may be full"


def start(command, output, **more):
    name, *words = command.split()
    return subprocess.Popen([os.path.join(folder, name), *words], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE, **more)


def end(process):
    _, said = process.communicate(timeout=60)
    return process.returncode, said.decode()


def judge(command):
    """What is wrong with it, a line for each."""
    process = start(command, subprocess.PIPE)
    whole, said = process.communicate(timeout=60)
    if process.returncode != 0 or not whole:
        yield f"ends with {process.returncode} and prints {len(whole)} bytes"

    with open("/dev/full", "wb") as full:
        status, said = end(start(command, full))
    if status != 74 or not ("No space left on device" in said or UNKNOWN in said):
        yield f"on a full disk it ends with {status}: {said!r}"

    status, said = end(start(command, None, preexec_fn=lambda: os.close(1)))
    if status != 74 or not ("Bad file descriptor" in said or UNKNOWN in said):
        yield f"with a closed standard output it ends with {status}: {said!r}"

    # Another program that has the same pipe has made it non-blocking; who reads is slow.
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETFL, os.O_NONBLOCK)
    process = start(command, writer)
    read = b""
    # (Until the pipe is full, or the program has ended.)
    filled = min(len(whole), fcntl.fcntl(reader, fcntl.F_GETPIPE_SZ))
    while waiting(reader) < filled and process.poll() is None:
        time.sleep(0.01)
    if not fcntl.fcntl(writer, fcntl.F_GETFL) & os.O_NONBLOCK:
        yield "it has changed what another program has set"
    os.close(writer)
    while part := os.read(reader, 5000):
        read += part
    os.close(reader)
    status, said = end(process)
    if status != 0 or read != whole:
        yield f"into a non-blocking pipe it writes {len(read)} of {len(whole)} bytes, and ends with {status}: {said!r}"

    reader, writer = os.pipe()
    os.close(reader)
    process = start(command, writer)
    os.close(writer)
    status, said = end(process)
    if status != -signal.SIGPIPE or said:
        yield f"without a reader it ends with {status}: {said!r}"


def judge_service(work):
    """An agent that is started without any standard file: no other file may have their numbers, or its log goes there."""
    settings = os.path.join(work, "settings.yaml")
    with open(settings, "w", encoding="utf-8") as file:
        file.write(f"station: {{id: closed}}\nsensor: {{driver: simulate}}\nstorage: {{directory: {work}}}\n"
                   'mqtt: {uri: "mqtt://127.0.0.1:1"}\n')
    process = subprocess.Popen(
        [os.path.join(folder, "seismoted"), "--config", settings], preexec_fn=lambda: [os.close(number) for number in range(3)])
    try:
        ready = time.monotonic() + 20
        while not os.path.exists(os.path.join(work, "spool.db")) and time.monotonic() < ready:
            time.sleep(0.05)
        names = [os.readlink(f"/proc/{process.pid}/fd/{number}") for number in range(3)]
        if names != ["/dev/null"] * 3:
            yield f"without standard files it has {', '.join(names)} in their places"
    finally:
        process.terminate()
        if process.wait(20) != 0:
            yield f"without standard files it ends with {process.returncode}"


def waiting(pipe):
    """Bytes that are in it."""
    return int.from_bytes(fcntl.ioctl(pipe, 0x541B, bytes(4)), sys.byteorder)  # FIONREAD


# (What Python ignores, it would hand on.)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
faults = [f"FAILED {command}: {fault}" for command in COMMANDS for fault in judge(command)]
with tempfile.TemporaryDirectory() as work:
    faults += [f"FAILED seismoted: {fault}" for fault in judge_service(work)]
print("\n".join([*faults, f"{len(COMMANDS)} commands with five kinds of standard output, {len(faults)} faults"]))
sys.exit(1 if faults else 0)
