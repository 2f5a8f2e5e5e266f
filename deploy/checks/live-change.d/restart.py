"""restart.py AGENT FOLDER: a real agent on a floor that vibrates, ended in order, killed, and started again. See deploy/checks/live-change."""

import asyncio
import json
import os
import sys
import time

from agent import Agent
from client import Client
from kinds import Mosquitto
from verdict import verdict

HZ, AMPLITUDE = 12, 0.04
# The trapezoidal integral is a little low at such a frequency; the noise of the sensor is 0.01 of it.
PGV = AMPLITUDE / (2 * 3.14159265 * HZ)


class Check:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.summaries, self.events, self.complaints = [], [], []

    def take(self, message):
        kind = message.topic.split("/", 2)[-1]
        if kind == "state/summary" and not message.retain:
            self.summaries.append(json.loads(message.payload))
        elif kind == "event/trigger":
            self.events.append(json.loads(message.payload))

    async def until_valid(self, limit, more=0):
        """The boot's summaries up to the first one that is valid, and `more` behind it."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            valid = [i for i, one in enumerate(self.summaries) if one["valid"]]
            if valid and len(self.summaries) > valid[0] + more:
                return valid[0]
            await asyncio.sleep(0.1)
        self.complaints.append(f"no valid summary in {limit} s: {len(self.summaries)} summaries")
        return len(self.summaries)

    async def run(self):
        broker = await Mosquitto(self.folder, "restarts").start()
        client = await Client("check", version=5, take=self.take).connect(broker.port)
        await client.subscribe("seismote/floor/#")
        agent = Agent(self.program, self.folder, "floor", {
            "sensor": {"rate_hz": 200, "simulate": {
                "scenario": "sine", "frequency_hz": HZ, "amplitude": f"{AMPLITUDE} m/s^2"}},
            "mqtt": {"uri": f"mqtt://127.0.0.1:{broker.port}"}})
        level = os.path.join(agent.settings["storage"]["directory"], "level.json")
        waits = {}
        try:
            for name in ("first", "after an orderly end", "after a kill"):
                self.summaries = []
                agent.start()
                waits[name] = await self.until_valid(120, more=8)
                for one in self.summaries:
                    if one["valid"] and not 0.9 < one["pgv"] / PGV < 1.1:
                        self.complaints.append(f"{name}: a valid PGV of {one['pgv']:.3g} m/s; the floor has {PGV:.3g}")
                if name == "first":
                    agent.stop()
                else:
                    agent.kill()
                if not os.path.exists(level):
                    self.complaints.append(f"{name}: no level.json")
            if self.events:
                self.complaints.append(f"events of a floor that only vibrates: {self.events[:2]}")
        finally:
            agent.stop()
            await client.close()
            broker.stop()
        print("a floor that vibrates, seconds until the summary is valid: "
              + ", ".join(f"{name} {seconds}" for name, seconds in waits.items()))
        # (The simulated sine begins at its zero, which is the level: no start knows it sooner.)
        if any(waits[name] > waits["first"] + 1 for name in waits):
            self.complaints.append("the floor is known later after a restart")


def main(program, folder):
    check = Check(program, folder)
    asyncio.run(check.run())
    return verdict(check.complaints)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
