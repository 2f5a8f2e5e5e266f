"""Stations whose brokers spoil one packet in each connection, and behave now and then; see deploy/checks/packets.

run.py AGENT FOLDER SECONDS SEED [FOLDER-WITH-LIBMOSQUITTO]
"""

import asyncio
import collections
import os
import random
import subprocess
import sys
import time

from agent import Agent
from spoiler import Broker
from readings import Readings
from verdict import Judge

# Seconds in which packets are spoiled, and in which the brokers behave, in turns.
SPOILING, BEHAVING = 12, 6
RATE = 100


class Station(Judge):
    """An agent, its broker, and who starts it again when it dies."""

    def __init__(self, name, protocol, seed, folder, program, command):
        super().__init__()
        self.name, self.protocol = name, protocol
        self.readings = Readings(name)
        self.broker = Broker(
            random.Random(seed), name, self.take, wants=None if protocol == "3.1.1" else 5)
        self.folder, self.program, self.command = folder, program, command
        self.deaths, self.boots = [], {}
        self.agent = self.health = None
        self.memory = self.files = 0

    def take(self, message):
        self.readings.take(message)
        if message.topic.endswith("/state/health") and message.payload:
            self.health = self.readings.health[-1][1]
            self.boots[self.health["boot"]] = self.health

    async def start(self):
        await self.broker.open()
        self.agent = Agent(self.program, self.folder, self.name, {
            "mqtt": {"uri": f"mqtt://127.0.0.1:{self.broker.port}", "protocol": self.protocol,
                     "reconnect": {"min_s": 0.1, "max_s": 0.2}},
            "storage": {"backfill_per_s": 500},
        }, self.command).start()

    def look(self):
        """Starts the agent again when it is gone, as a supervisor does."""
        if self.agent.running:
            return
        self.deaths.append(f"ended with {self.agent.process.returncode}; sent last: " + " | ".join(self.broker.last))
        self.agent.start()

    async def settled(self, since, seconds):
        """Waits until nothing is left to be sent: on disk a message may wait for the trial of its topic."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            at, health = self.readings.health[-1] if self.readings.health else (0, {})
            if at > since + 2 and health["outbox"]["messages"] < 5 and not self.readings.account("trigger")[1]:
                return True
            await asyncio.sleep(0.1)
        return False

    def judge(self):
        self.expect(not self.deaths, f"died {len(self.deaths)} times")
        self.expect(sum(self.broker.sent.values()) > 0, "nothing was spoiled")
        gaps = sum(health["gaps"] + health["lost_samples"] for health in self.boots.values())
        self.expect(self.health and gaps == 0, f"{gaps} gaps and lost samples")
        self.expect(self.health and self.health["sensor"] == "ok", "the sensor is not well")
        for stream in ("trace", "trigger"):
            came, missing, again = self.readings.account(stream)
            # What had no time to reach the disk goes with the process.
            self.expect(came > 0 and (missing == 0 or self.deaths and stream == "trace"),
                      f"{stream}: {came} came, missing {self.readings.holes(stream)[:20]}")
        self.expect(not self.readings.broken_waveforms(), f"waveforms: {self.readings.broken_waveforms()[:2]}")

    def line(self):
        traces, triggers = self.readings.account("trace"), self.readings.account("trigger")
        versions = "+".join(f"{count} {'5' if version == 5 else '3.1.1'}"
                            for version, count in sorted(self.broker.connects.items(), reverse=True))
        return (f"{self.name:10} {sum(self.broker.sent.values()):7} {versions:>22} {len(self.deaths):6} "
                f"{traces[0]:6}-{traces[1]}+{traces[2]} {triggers[0]:5}-{triggers[1]}+{triggers[2]} "
                f"{self.memory:7} {self.files:5}")


def library(folder):
    """The number of the libmosquitto that a program started so would load, such as 2000011."""
    script = ("import ctypes; print(ctypes.CDLL('libmosquitto.so.1').mosquitto_lib_version("
              "*(ctypes.byref(ctypes.c_int()) for _ in range(3))))")
    environment = {**os.environ, **({"LD_LIBRARY_PATH": folder} if folder else {})}
    return int(subprocess.run([sys.executable, "-c", script], env=environment, check=True, capture_output=True).stdout)


async def main(program, folder, seconds, seed, libraries=None):
    number = library(libraries)
    command = ["env", f"LD_LIBRARY_PATH={libraries}"] if libraries else []
    print(f"libmosquitto {number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}, seed {seed}")
    kinds = [("auto1", "auto"), ("auto2", "auto"), ("auto3", "auto"), ("old", "3.1.1"), ("five1", 5), ("five2", 5)]
    stations = [Station(name, protocol, f"{seed} {name}", os.path.join(folder, str(number)), program,
                        command) for name, protocol in kinds]
    for station in stations:
        await station.start()

    async def supervise():
        while True:
            for station in stations:
                station.look()
            await asyncio.sleep(0.3)

    supervisor = asyncio.create_task(supervise())
    await asyncio.sleep(4)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for station in stations:
            station.broker.change(spoils=True)
        await asyncio.sleep(min(SPOILING, max(1, end - time.monotonic())))
        began = time.monotonic()
        for station in stations:
            station.broker.change(spoils=False)
        if time.monotonic() + BEHAVING < end:
            await asyncio.sleep(BEHAVING)
    for station in stations:
        station.expect(await station.settled(began, 40), "what waits is not sent to a broker that behaves")
    supervisor.cancel()
    for station in stations:
        station.look()
        station.memory, station.files = station.agent.memory_kib(), station.agent.descriptors()
    for station in stations:
        station.expect(await asyncio.to_thread(station.agent.stop) < 6, "does not end in time")
        await station.broker.close()
        station.judge()
    report(stations)
    return any(station.complaints for station in stations)


def report(stations):
    print(f"{'station':10} {'spoiled':>7} {'connections':>22} {'deaths':>6} {'traces':>10} {'events':>9} {'KiB':>7} files")
    for station in stations:
        print(station.line())
    sent = sum((station.broker.sent for station in stations), collections.Counter())
    for version in (5, 4):
        kinds = ", ".join(f"{count} {name}" for (said, name), count in sent.most_common() if said == version)
        print(f"MQTT {'5' if version == 5 else '3.1.1'}: {kinds or 'none'}")
    for station in stations:
        for death in station.deaths:
            print(f"{station.name}: {death}")
        for problem in station.complaints:
            print(f"WRONG {station.name}: {problem}")
    deaths = sum(len(station.deaths) for station in stations)
    print(f"{sum(sent.values())} spoiled packets, {deaths} aborts")


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4], *sys.argv[5:6])))
