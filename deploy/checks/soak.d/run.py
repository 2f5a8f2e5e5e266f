"""run.py AGENT FOLDER RECORDING SECONDS SPEED: see deploy/checks/soak."""

import asyncio
import json
import os
import signal
import sys
import time

from agent import playing
from kinds import Mosquitto

from client import Client
from verdict import verdict

RATE = 100  # Hz, of the recording
BUDGET = 16  # MB
# SQLite's log, which is written first: 1 MiB, and what a round adds before it is emptied (KiB). At 720 times real time on
# a busy machine a round of the storage thread has minutes of data: 4.4 MiB were seen.
LOG = 8192


class Look:
    """What the agent has at one moment."""

    def __init__(self, agent):
        folder = agent.settings["storage"]["directory"]
        self.memory = agent.memory_kib()
        self.threads = len(os.listdir(f"/proc/{agent.number()}/task"))
        self.descriptors = agent.descriptors()
        self.files = sum(entry.stat().st_size for entry in os.scandir(folder)) >> 10


def most(looks, name):
    return max(getattr(look, name) for look in looks)


async def main(program, folder, recording, duration, speed):
    broker = Mosquitto(folder, persistent=True)
    await broker.start()
    agent = playing(program, folder, "soak", recording, speed, {
        "mqtt": {"uri": f"mqtt://127.0.0.1:{broker.port}"},
        "storage": {"budget_mb": BUDGET, "ring_minutes": 10, "backfill_per_s": 1000}})
    agent.start()
    began, third, looks = time.monotonic(), float(duration) / 3, []
    breaks = 0
    while time.monotonic() < began + float(duration):
        await asyncio.sleep(1)
        assert agent.running, f"the agent has ended: {agent.words()[-2000:]}"
        looks.append(Look(agent))
        # Breaks of the broker in every third alike.
        if time.monotonic() > began + (breaks + 0.5) * third / 2:
            breaks += 1
            broker.stop(signal.SIGTERM)
            await asyncio.sleep(2)
            await broker.start()
    reader = Client("soak-reader", version=4)
    await reader.connect(broker.port)
    await reader.subscribe("seismote/soak/#")
    await asyncio.sleep(3)
    health = [message for message in reader.messages if message.topic.endswith("/health")]
    stopped = agent.stop()
    await reader.close()
    broker.stop()
    parts = [looks[len(looks) * i // 3:len(looks) * (i + 1) // 3] for i in range(3)]
    # By the agent's own count: a busy machine may not keep up with the speed that was asked for.
    data = (json.loads(health[-1].payload)["samples"] if health else 0) / RATE / 86400
    print(f"{float(duration):.0f} s, {data:.1f} days of data, {breaks} breaks of the broker; stopped within {stopped:.1f} s")
    problems = []
    for name, unit, allowed in (("memory", " KiB", lambda before: before * 1.02 + 256), ("threads", "", lambda n: n),
                                ("descriptors", "", lambda n: n), ("files", " KiB", lambda n: max(n, BUDGET * 1_000_000 // 1024 + LOG))):
        values = [most(part, name) for part in parts]
        print(f"{name:12} most in each third: {', '.join(f'{value}{unit}' for value in values)}")
        if values[2] > allowed(values[1]):
            problems.append(f"{name} grows")
    if not health:
        problems.append("no health at the end")
    if stopped > 5:
        problems.append("it took too long to stop")
    return verdict(problems)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
