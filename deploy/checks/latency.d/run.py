"""run.py AGENT FOLDER SECONDS: see deploy/checks/latency."""

import asyncio
import json
import statistics
import sys
import time

from agent import Agent
from client import Client
from kinds import Mosquitto
from readings import seconds
from stalls import Stalls

AGENTS, RATE, BLOCK = 8, 100, 16
TYPICAL_MS, LATEST_MS = 10, 100


class Arrivals:
    """Of each kind of message: how late it came, ms, and how late where the machine stood still meanwhile."""

    def __init__(self, stalls):
        self.stalls, self.start = stalls, {}
        self.late, self.stalled = {"onset": [], "summary": []}, {"onset": [], "summary": []}

    def take(self, message, offset):
        station, body = message.topic.split("/")[1], json.loads(message.payload)
        is_summary = message.topic.endswith("/summary")
        # The first summary is of the sample that ends the first second: the time of sample 0 follows.
        if is_summary and body["seq"] == 0:
            self.start[station] = seconds(body["t"]) - (RATE - 1) / RATE
        if station not in self.start:
            return
        if body.get("event_type") == "onset":
            self.note("onset", message.at, self.start[station], seconds(body["onset"]), offset)
        elif is_summary:
            self.note("summary", message.at, self.start[station], seconds(body["t"]), offset)

    def note(self, name, arrived, start, moment, offset):
        index = round((moment - start) * RATE)
        # When the block with that sample was whole, of the clock of arrivals.
        whole = start + (index // BLOCK + 1) * BLOCK / RATE + offset
        where = self.stalled if self.stalls.stood(whole, arrived) else self.late
        where[name].append(1000 * (arrived - whole))

    def judge(self):
        """Prints the figures; whether one of them is wrong."""
        bad = False
        for name, values in self.late.items():
            values.sort()
            stalled = self.stalled[name]
            if stalled:
                print(f"{name:8} {len(stalled):5} while the machine stood still, latest {max(stalled):.2f} ms")
            if len(values) < max(10, len(stalled)):
                print(f"{name}: only {len(values)} arrived while the machine did not stand still")
                bad = True
                continue
            p99, p999 = (values[min(len(values) - 1, int(part * len(values)))] for part in (0.99, 0.999))
            print(f"{name:8} {len(values):5} messages   median {statistics.median(values):7.2f} ms   p99 {p99:7.2f} ms"
                  f"   p99.9 {p999:7.2f} ms   earliest {values[0]:7.2f} ms   latest {values[-1]:7.2f} ms")
            if name == "onset":
                # Of some dozens the 99th percentile is the latest, and that may be the machine's fault.
                typical = p99 if len(values) >= 200 else statistics.median(values)
                bad = bad or typical >= TYPICAL_MS or values[-1] >= LATEST_MS
            bad = bad or values[0] < -5
        return bad


async def main(program, folder, length):
    broker = await Mosquitto(folder, "broker").start()
    reader = await Client("reader").connect(broker.port)
    for topic in ("event/trigger", "state/summary"):
        await reader.subscribe(f"seismote/+/{topic}")
    agents = [Agent(program, folder, f"station-{number}", {
        "mqtt": {"uri": f"mqtt://127.0.0.1:{broker.port}"}, "waveform": {"enabled": False},
        "sensor": {"simulate": {"seed": number}}}) for number in range(1, AGENTS + 1)]
    try:
        with Stalls(folder) as stalls:
            for agent in agents:
                agent.start()
                await asyncio.sleep(0.137)
            await asyncio.sleep(float(length))
            if not all(agent.running for agent in agents):
                sys.exit("an agent has ended")
        arrivals = Arrivals(stalls)
        for message in reader.messages:
            arrivals.take(message, time.monotonic() - time.time())
    finally:
        for agent in agents:
            agent.stop()
        await reader.close()
        broker.stop()
    return 1 if arrivals.judge() else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
