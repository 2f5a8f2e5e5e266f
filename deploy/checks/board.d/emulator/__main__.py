"""I2C adapters with a chip on each, for the kernel of this machine: stock modules make real buses of them.

    python3 -m emulator --ready FILE NAME=CHIP[,KEY=VALUE...] ...

For each adapter a line `NAME BUS ADDRESS` is written to FILE once all are there. On SIGUSR1 the recording and the
timetable of faults begin. A chip `cp2104` is a gpiochip with four lines instead (BUS is its number). On SIGTERM the chips'
journals are written to NAME.json and NAME.samples. A chip's keys:

    address=0x53        another address than its first
    world=FILE          a recording, see world.py; lead=SECONDS of quiet before it
    noise=M_PER_S2      standard deviation of the ground's noise
    clock=PERCENT       how much too fast the chip's clock is, such as -3.8
    faults=TIMETABLE    see faults.py
    switches=FOLDER     the same by hand
    slow=MS             how long the bus takes for a read, in ms
"""

import argparse
import gc
import os
import signal
import sys
import time

from .adapter import Adapter
from .chips import CHIPS
from .faults import Faults
from .journal import Journal
from .relay import Relay
from .world import World


def parse(text):
    """(name, adapter) of an argument."""
    name, _, rest = text.partition("=")
    chip, *options = rest.split(",")
    options = dict(option.split("=", 1) for option in options)
    if chip == "cp2104":
        return name, Relay(Faults(""))
    world = World(options.pop("world", None), float(options.pop("lead", 0)), float(options.pop("noise", 0.02)))
    faults = Faults(options.pop("faults", ""), options.pop("switches", None))
    address = options.pop("address", None)
    slow = float(options.pop("slow", 0)) / 1000
    made = CHIPS[chip](world, faults, Journal(), float(options.pop("clock", 0)) / 100, address and int(address, 0))
    if options:
        sys.exit(f"unknown: {', '.join(options)}")
    return name, Adapter(made, faults, slow)


class Bench:
    """One adapter, served until the process is told to end."""

    def __init__(self, adapter):
        self.adapter = adapter
        self.device = adapter.device
        self.begun = False

    def plug(self):
        """Puts the adapter in and serves until the kernel has made a bus of it."""
        self.adapter.plug()
        while not self.adapter.found():
            self.serve(0.02)
        self.adapter.chip.journal.event(f"bus {self.adapter.bus}")

    def serve(self, seconds):
        """Serves the requests of one turn; waits for them so long at most (None: for ever)."""
        self.device.socket.settimeout(seconds)
        try:
            if not self.device.serve():
                self.device.unplug()
        except TimeoutError:
            pass

    def act_on_faults(self):
        """Pulls the adapter and puts it in, lets go of a jammed bus; gives the time to the next change."""
        faults = self.adapter.faults
        if faults.now("unplug"):
            if self.device.socket:
                self.adapter.chip.journal.event("unplugged")
                self.device.unplug()
                self.adapter.chip.power_on()
        elif not self.device.socket:
            self.plug()
        else:
            self.device.answer()
        change = faults.next_change()
        return None if change is None else change + 0.001

    def run(self):
        """Serves for ever."""
        while not self.begun:
            self.serve(0.5)
        while True:
            wait = self.act_on_faults()
            until = None if wait is None else time.monotonic() + wait
            while until is None or time.monotonic() < until:
                if not self.device.socket:
                    time.sleep(max(0.001, until - time.monotonic()) if until else 1)
                else:
                    self.serve(self.patience(None if until is None else max(0.001, until - time.monotonic())))

    def patience(self, wait):
        """How long to wait for a request. A quick chip makes its samples meanwhile: made only when they are asked for,
        they would keep the bus waiting for longer than from one to the next."""
        chip = self.adapter.chip
        if chip.rate is None or chip.rate < 800 or self.device.hung():
            return wait
        chip.advance()
        return 0.002 if wait is None else min(wait, 0.002)


def main():
    """Parses, plugs, serves."""
    parser = argparse.ArgumentParser(prog="emulator", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ready", required=True)
    parser.add_argument("adapter", nargs="+")
    arguments = parser.parse_args()
    benches = {name: Bench(adapter) for name, adapter in map(parse, arguments.adapter)}
    for bench in benches.values():
        bench.plug()
    # Each adapter goes on in a process of its own, so that none waits for another.
    children = []
    for name, bench in benches.items():
        child = os.fork()
        if child == 0:
            serve_alone(name, bench, benches)
        children.append(child)
    for bench in benches.values():
        bench.device.socket.close()  # the child's alone: else it could not be pulled out
    with open(arguments.ready, "w", encoding="ascii") as file:
        for name, bench in benches.items():
            file.write(f"{name} {bench.adapter.bus} {bench.adapter.chip.address:#04x}\n")

    def finish(*_):
        for child in children:
            os.kill(child, signal.SIGTERM)
            os.waitpid(child, 0)
        sys.exit(0)

    def begin(*_):
        for child in children:
            os.kill(child, signal.SIGUSR1)

    signal.signal(signal.SIGTERM, finish)
    signal.signal(signal.SIGUSR1, begin)
    while True:
        signal.pause()


def serve_alone(name, bench, benches):
    """Serves one adapter; writes its chip's journal at the end."""

    def finish(*_):
        bench.adapter.chip.journal.write(name, bench.adapter.chip.about())
        os._exit(0)

    def begin(*_):
        bench.adapter.chip.begin()
        bench.begun = True

    signal.signal(signal.SIGTERM, finish)
    signal.signal(signal.SIGUSR1, begin)
    for other in benches.values():
        if other is not bench:
            other.device.socket.close()
    gc.collect()
    gc.freeze()
    bench.run()


main()
