"""Kills the broker of many stations and counts how they come back. run.py AGENT FOLDER STATIONS OUTAGE"""

import asyncio
import collections
import math
import os
import signal
import sys
import time

from agent import Agent
from client import Client
from kinds import Mosquitto
from proxy import Proxy
from readings import Readings
from verdict import Judge, verdict, within

# Pauses between attempts (s): each between the first and three times the one before, at most the last.
FIRST, LONGEST = 1.0, 15.0
# Seconds by which an attempt may come late on a machine on which all of them, and other checks, run.
BUSY = 4


class Fleet(Judge):
    def __init__(self, program, folder, stations, outage):
        super().__init__()
        self.names = [f"station-{i}" for i in range(stations)]
        self.folder, self.program, self.outage = folder, program, outage
        self.agents, self.readings = [], {name: Readings(name) for name in self.names}
        self.client = None

    def take(self, message):
        reading = self.readings.get(message.topic.split("/")[1])
        if reading:
            reading.take(message)

    async def listen(self):
        self.client = await Client("reader", take=self.take).connect(self.broker.port)
        await self.client.subscribe("seismote/#")

    def online(self, since):
        """Station -> when it first said `online` after that."""
        found = {}
        for name, reading in self.readings.items():
            when = next((at for at, text, kept in reading.online if at > since and text == "online" and not kept), None)
            if when is not None:
                found[name] = when
        return found

    async def until_all(self, since, seconds):
        await within(lambda: len(self.online(since)) == len(self.names), seconds, every=0.05)
        return self.online(since)

    async def run(self):
        self.broker = await Mosquitto(self.folder, "broker").start()
        self.proxy = await Proxy(self.broker.port).open()
        await self.listen()
        for name in self.names:
            self.agents.append(Agent(self.program, self.folder, name, {
                "mqtt": {"uri": f"mqtt://127.0.0.1:{self.proxy.port}", "keepalive_s": 30,
                         "reconnect": {"min_s": FIRST, "max_s": LONGEST}},
                "health": {"interval_s": 5}}).start())
        began = time.monotonic()
        here = await self.until_all(0, 30)
        self.expect(len(here) == len(self.names), f"only {len(here)} stations came online at all")
        await asyncio.sleep(max(0.0, 6 - (time.monotonic() - began)))
        self.cost("in calm", *await self.spent(5))

        down = time.monotonic()
        self.broker.stop()
        cpu, seconds = await self.spent(self.outage)
        # The reader first, so that it hears all of them; until then the broker is not reached.
        self.proxy.mode = "close"
        await self.broker.start()
        await self.listen()
        self.proxy.mode, up = "pass", time.monotonic()
        self.cost("without a broker", cpu, seconds)
        back = await self.until_all(up, LONGEST + 45)
        self.judge(down, up, back)
        await asyncio.sleep(6)
        self.sampling()

    async def spent(self, seconds):
        began, before = time.monotonic(), sum(agent.cpu() for agent in self.agents)
        await asyncio.sleep(seconds)
        return sum(agent.cpu() for agent in self.agents) - before, time.monotonic() - began

    def cost(self, when, cpu, seconds):
        print(f"{when}: {100 * cpu / seconds / len(self.agents):.2f} % of a core each")

    def judge(self, down, up, back):
        count = len(self.names)
        times = sorted(at - down for at in self.proxy.attempts if at > down)
        seconds = collections.Counter(int(at) for at in times)
        tenths = collections.Counter(int(at * 10) for at in times)
        print("attempts in each second after the broker's death: "
              + " ".join(str(seconds[i]) for i in range(int(times[-1]) + 1 if times else 0)))
        # The first pause is spread evenly over FIRST to 3 × FIRST: half of them in each of its two seconds, here with
        # five standard deviations; and who has failed in the first comes again in the second.
        share = count / (2 * FIRST)
        bound = math.ceil(share * 1.2 + 5 * math.sqrt(share))
        worst = max(seconds.values(), default=0)
        print(f"worst second {worst} attempts of {count} stations, bound {bound}; worst tenth "
              f"{max(tenths.values(), default=0)}, bound {self.tenth(share)}")
        self.expect(worst <= bound, f"{worst} attempts in one second, {bound} allowed")
        self.expect(max(tenths.values(), default=0) <= self.tenth(share), "attempts in lockstep")
        late = [n for second, n in seconds.items() if 8 <= second < up - down]
        if late:
            self.expect(max(late) <= max(8, bound / 2), f"{max(late)} attempts a second after 8 s without a broker")
        for name in self.names:
            self.expect(name in back, f"{name} is not back")
        # When a station tries is its own; how long it takes to be back is a matter of the machine, too.
        last = times[-1] - (up - down) if times else 0.0
        print(f"last attempt {last:.1f} s after the broker was back, bound {LONGEST + BUSY:.0f} s")
        self.expect(last <= LONGEST + BUSY, f"the last attempt came only {last:.1f} s after the broker")
        if back:
            waits = sorted(at - up for at in back.values())
            print(f"back after the broker: half of them in {waits[len(waits) // 2]:.1f} s, all in {waits[-1]:.1f} s")
        memory = [agent.memory_kib() for agent in self.agents]
        print(f"memory: {sum(memory) / count / 1024:.1f} MiB resident each, {max(memory) / 1024:.1f} at most, "
              f"{sum(self.own(agent) for agent in self.agents) / count / 1024:.1f} with what they share divided")

    @staticmethod
    def tenth(share):
        return math.ceil(share / 10 * 1.2 + 6 * math.sqrt(share / 10))

    @staticmethod
    def own(agent):
        """KiB that would be free without it (proportional set size: what it shares is divided)."""
        with open(f"/proc/{agent.number()}/smaps_rollup", encoding="utf-8") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Pss:"))

    def sampling(self):
        came = missing = again = 0
        for name, reading in self.readings.items():
            last = reading.health[-1][1] if reading.health else {}
            self.expect(last.get("gaps") == 0 and last.get("lost_samples") == 0, f"{name}: sampling disturbed: {last}")
            one = reading.account("trace")
            came, missing, again = came + one[0], missing + one[1], again + one[2]
        print(f"traces: {came} came, {again} of them again; {missing} missing, which the killed broker had "
              "acknowledged and not passed on")
        # It acknowledges before it passes on: about one round of messages may go with it.
        self.expect(missing <= 2 * len(self.names), f"{missing} traces missing")

    async def close(self):
        for agent in self.agents:
            if agent.running:
                os.kill(agent.number(), signal.SIGTERM)
        for agent in self.agents:
            await asyncio.to_thread(agent.stop)
        if self.client:
            await self.client.close()
        await self.proxy.close()
        self.broker.stop()


async def main():
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    fleet = Fleet(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
    try:
        await fleet.run()
    finally:
        await fleet.close()
    print(f"{len(fleet.names)} stations, {len(fleet.complaints)} complaints")
    return verdict(fleet.complaints, 20)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
