"""Kills nodes of a RabbitMQ cluster and detectors that read from it, and counts what is missing afterwards.

run.py AGENT TOOL FOLDER ROOT KILLS PAUSE STATIONS ENGINE

ENGINE: amqp (two of `seismote-network` on one queue, the second stands by) or mqtt (one, with its log in SQLite).
"""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time

from agent import Agent
from judge import Failure, Record, judge
from rabbit import Cluster
from steady import Ledger, Publisher, Reader


class Detector:
    """One `seismote-network`."""

    def __init__(self, tool, folder, name, settings):
        self.tool, self.folder = tool, os.path.join(folder, name)
        os.makedirs(self.folder, exist_ok=True)
        self.file, self.log, self.process = os.path.join(self.folder, "network.yaml"), os.path.join(self.folder, "log"), None
        with open(self.file, "w", encoding="utf-8") as file:
            json.dump(settings, file)

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", self.tool + "-network", "--config", self.file],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def kill(self, sign=signal.SIGKILL):
        self.process.send_signal(sign)
        self.process.wait()

    def words(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def turns(self):
        """How often it was at work."""
        return self.words().count("at work as ")


class Trial:
    def __init__(self, agent, tool, folder, cluster):
        self.agent, self.tool, self.folder, self.cluster = agent, tool, folder, cluster
        self.detectors, self.agents, self.kills, self.asked = [], [], [], []
        self.truth = os.path.join(folder, "truth.jsonl")
        self.fleet = None

    # --- who is there

    def settings(self):
        mqtt = {"uri": self.cluster.uris("mqtts"), "username": "seismote-network",
                "password_file": self.cluster.account("network", "seismote-network"), "tls": {"ca_file": self.cluster.ca}}
        return {"mqtt": mqtt, "network": {"confirm": True, "status_s": 5, "cluster": self.cluster.uris("amqps")}}

    async def furnish(self, stations):
        cluster, ports = self.cluster, self.cluster.ports["mqtt"]
        # Somebody who may do everything: the simulated stations are many.
        self.everybody = cluster.everybody()
        self.reader = Reader(
            ["count/#", "seismote/network/event", "seismote/network/status", "seismote/+/event/trigger", "seismote/+/state/info"],
            "reader", ports, "everybody", "everybody-secret").start()
        await asyncio.wait_for(self.reader.ready.wait(), 30)
        self.publishers = [Publisher(f"p{i}", ports, "everybody", "everybody-secret", i).start() for i in range(3)]
        for name in ("one", "two"):
            self.detectors.append(Detector(self.tool, self.folder, name, self.settings()).start())
            await asyncio.sleep(1)
        for i in range(2):
            name = f"house-{i}"
            # Far away from the fleet, so that it has no part in its earthquakes; their rights are those of the account.
            self.agents.append(Agent(self.agent, self.folder, name, {
                "station": {"latitude": -35, "longitude": round(120 + 0.01 * i, 5), "elevation_m": 0},
                "waveform": {"enabled": False},
                "mqtt": {"uri": cluster.uris("mqtts"), "username": name, "password_file": cluster.account("station", name),
                         "tls": {"ca_file": cluster.ca}}}))
            self.agents[-1].start()
        self.fleet = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", os.path.join(os.path.dirname(self.tool), "simulate-fleet"), str(stations),
             *(f"--broker={uri}" for uri in cluster.uris("mqtt")), "--user", "everybody", "--password-file", self.everybody,
             "--radius", "60", "--earthquake-every", "20", "--magnitudes", "4.5,5.5", "--false-onsets", "50",
             "--truth", self.truth],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(os.path.join(self.folder, "fleet.log"), "wb"))

    async def until(self, what, seconds, say):
        end = time.time() + seconds
        while not what():
            if time.time() > end:
                raise Failure(f"not within {seconds} s: {say}")
            await asyncio.sleep(0.2)

    # --- deaths

    async def deaths(self, count, pause):
        loop = asyncio.get_running_loop()
        chance = random.Random(1)
        longest = float(os.environ.get("SEISMOTE_CLUSTERS_SECONDS", "3000"))
        end = time.time() + longest
        for number in range(count):
            await asyncio.sleep(pause)
            if time.time() > end:
                print(f"no more kills after {longest:.0f} s: {number} of {count}")
                return
            if number % 3 == 1:
                # The node that leads the detector's queue.
                queues = await loop.run_in_executor(None, self.cluster.queues)
                names = [name for name in queues if name.startswith(("seismote-network", "mqtt-subscription-seismote-network"))]
                i = queues[names[0]][0] if names else chance.randrange(3)
                self.kills.append((time.time(), f"{'leader' if names else 'node'} n{i}"))
                self.cluster.kill(i)
                await asyncio.sleep(3)
                self.cluster.start(i)
                await self.until(lambda i=i: self.cluster.is_ready(i), 120, f"n{i} is back")
            elif number % 3 == 2:
                i = chance.randrange(3)
                self.kills.append((time.time(), f"node n{i}"))
                self.cluster.kill(i)
                await asyncio.sleep(3)
                self.cluster.start(i)
                await self.until(lambda i=i: self.cluster.is_ready(i), 120, f"n{i} is back")
            else:
                # The one at work: of two, the one that has said so last.
                statuses = self.reader.of("seismote/network/status")
                boot = statuses[-1][1]["boot"] if statuses else None
                one = self.at_work(boot)
                self.kills.append((time.time(), f"detector {os.path.basename(one.folder)}"))
                one.kill()
                await asyncio.sleep(2)
                one.start()
                await self.command()

    def at_work(self, boot):
        for one in self.detectors:
            if boot and boot in one.words():
                return one
        return max(self.detectors, key=lambda one: os.path.getmtime(one.log))

    async def command(self):
        """A command of `seismote ctl` to both agents, as its sender would give it."""
        process = await asyncio.create_subprocess_exec(
            self.tool, "ctl", *(f"--broker={uri}" for uri in self.cluster.uris("mqtt")), "--user", "everybody",
            "--password-file", self.everybody, "ping", *(one.station for one in self.agents), stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT)
        output = (await process.communicate())[0].decode()
        self.asked.append((time.time(), process.returncode, output.strip()[-300:]))

    # --- the whole

    async def run(self, stations, kills, pause):
        await self.furnish(stations)
        counters = [asyncio.create_task(one.count(20)) for one in self.publishers]
        await self.until(lambda: os.path.exists(self.truth) and os.path.getsize(self.truth), 60 + stations / 100,
                         "the first earthquake")
        await self.until(lambda: self.reader.of("seismote/network/event"), 30, "the first network event")
        print(f"furnished: {stations} stations, {len(self.agents)} agents, first network event", flush=True)
        self.wanted = kills
        await self.deaths(kills, pause)
        await asyncio.sleep(25)
        for one in self.publishers:
            one.wanted = False
        await asyncio.gather(*counters)
        self.ended = time.time()
        await asyncio.sleep(15)
        await self.command()

    async def close(self):
        for one in self.agents:
            one.kill() if one.running else None
        for one in self.detectors:
            if one.process and one.process.poll() is None:
                one.kill()
        if self.fleet and self.fleet.poll() is None:
            self.fleet.kill()
            self.fleet.wait()
        for one in (*getattr(self, "publishers", ()), *([self.reader] if hasattr(self, "reader") else ())):
            await one.stop()

    def record(self):
        """What the judgement is about."""
        with open(self.truth, encoding="utf-8") as file:
            quakes = [json.loads(line) for line in file]
        onsets = sorted((at, one["event_id"]) for at, message in self.reader.heard
                        if message.topic.endswith("/event/trigger") for one in [json.loads(message.payload)]
                        if one["event_type"] == "onset")
        ledger = Ledger(self.publishers, self.reader)
        return Record(
            wanted=self.wanted, kills=self.kills, acknowledged=ledger.acknowledged(), delivered=ledger.delivered(),
            silence=max(one.silence for one in self.publishers), quakes=quakes, ended=self.ended,
            versions=self.reader.of("seismote/network/event"), onsets=onsets, asked=self.asked,
            agents={one.station: one.words() for one in self.agents},
            turns={os.path.basename(one.folder): one.turns() for one in self.detectors})


async def main():
    agent, tool, folder, root, kills, pause, stations = sys.argv[1:]
    # Ended from outside, it ends its nodes, too.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    cluster = Cluster(root, folder)
    trial = Trial(agent, tool, folder, cluster)
    failed = 0
    try:
        print(f"three nodes of RabbitMQ are up after {cluster.up():.0f} s", flush=True)
        await trial.run(int(stations), int(kills), float(pause))
    except (Failure, RuntimeError) as error:
        print(f"FAILED: {error}")
        failed = 1
    finally:
        await trial.close()
        cluster.down()
    if not failed:
        try:
            judge(trial.record())
        except Failure as error:
            print(f"FAILED: {error}")
            failed = 1
    if failed:
        for one in trial.detectors:
            print(f"--- {one.folder}\n" + "\n".join(one.words().strip().splitlines()[-12:]))
    return failed


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
