"""Many simulated stations in one process on the three nodes, and an earthquake below the middle of them: what brokers and
detector take of processor and memory, how many messages a second each stage has, and how long it is from an onset to the
version of the network event that has it. What must hold is judged by judge_load.py; how long it takes is said.

load.py TOOL FOLDER ROOT STATIONS MAGNITUDE SECONDS
"""

import asyncio
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

from client import Client
from judge import Failure, seconds
from judge_load import Load, judge_load
from rabbit import Cluster
from run import Detector
from steady import Reader

TICKS = os.sysconf("SC_CLK_TCK")
# The reader may be so far behind.
PATIENCE = 600


def cost(process):
    """Seconds of processor time, MiB of anonymous memory."""
    with open(f"/proc/{process.pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
        memory = [int(line.split()[1]) for line in file if line.startswith("RssAnon")]
    return (int(fields[11]) + int(fields[12])) / TICKS, memory[0] / 1024


def busy():
    """Share of the whole machine that is not idle, as (busy, all) ticks."""
    with open("/proc/stat", encoding="utf-8") as file:
        fields = [int(one) for one in file.readline().split()[1:]]
    return sum(fields) - fields[3] - fields[4], sum(fields)


class Meter:
    """What everybody has taken since it was looked at last."""

    def __init__(self, cluster, detectors, fleet):
        self.cluster, self.detectors, self.fleet = cluster, detectors, fleet
        self.last = self.now()

    def now(self):
        return (time.monotonic(), self.cluster.cost(), [cost(one.process) for one in self.detectors], cost(self.fleet), busy())

    def say(self, phase):
        before, self.last = self.last, self.now()
        span = self.last[0] - before[0]
        share = [100 * (self.last[1][0] - before[1][0]) / span,
                 *[100 * (new[0] - old[0]) / span for new, old in zip(self.last[2], before[2])],
                 100 * (self.last[3][0] - before[3][0]) / span]
        whole = 100 * (self.last[4][0] - before[4][0]) / (self.last[4][1] - before[4][1])
        print(f"{phase} ({span:.0f} s): processor (100 % is one core): three nodes {share[0]:.0f} %, detectors "
              f"{' and '.join(f'{one:.1f}' for one in share[1:-1])} %, fleet {share[-1]:.0f} %; the whole machine {whole:.0f} % of all "
              f"its cores busy. Memory: three nodes {self.last[1][1]:.0f} MiB, detectors "
              f"{' and '.join(f'{one[1]:.0f}' for one in self.last[2])} MiB, fleet {self.last[3][1]:.0f} MiB", flush=True)


class Trial:
    def __init__(self, tool, folder, cluster, stations, magnitude):
        self.tool, self.folder, self.cluster, self.stations, self.magnitude = tool, folder, cluster, stations, magnitude
        self.truth, self.log, self.sent = (os.path.join(folder, name) for name in ("truth.jsonl", "fleet.log", "sent.jsonl"))
        self.detectors, self.fleet, self.reader, self.observer, self.seen = [], None, None, None, []

    async def furnish(self):
        cluster, ports = self.cluster, self.cluster.ports["mqtt"]
        password = cluster.everybody()
        # One that has to have everything, as a recorder or a store; and one that looks at what the detector says.
        self.reader = Reader(["seismote/+/event/trigger"], "reader", ports, "everybody", "everybody-secret").start()
        await asyncio.wait_for(self.reader.ready.wait(), 30)
        self.observer = Client("observer", 4, take=lambda message: self.seen.append((time.time(), message)))
        await self.observer.connect(ports[1], user="everybody", password="everybody-secret")
        for one in ("event", "status"):
            await self.observer.subscribe(f"seismote/network/{one}", qos=0)
        for name in ("one", "two"):
            self.detectors.append(Detector(self.tool, self.folder, name, {
                "mqtt": {"uri": cluster.uris("mqtts"), "username": "seismote-network",
                         "password_file": cluster.account("network", "seismote-network"), "tls": {"ca_file": cluster.ca}},
                "network": {"cluster": cluster.uris("amqps"), "status_s": 5}}).start())
        with open(self.log, "wb") as out:
            self.fleet = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", os.path.join(os.path.dirname(self.tool), "simulate-fleet"), str(self.stations),
                 *(f"--broker={uri}" for uri in cluster.uris("mqtt")), "--user", "everybody", "--password-file", password,
                 # (A subscription is a decision of all nodes, one after the other: more at a time only wait longer.)
                 "--radius", "200", "--per-second", "1000", "--at-once", "60", "--magnitude", str(self.magnitude), "--false-onsets", "3",
                 "--truth", self.truth, "--sent", self.sent],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=out)

    def fleet_said(self):
        with open(self.log, encoding="utf-8") as file:
            return ([line for line in file.read().splitlines() if " connected, " in line] or ["nothing"])[-1]

    def answers(self):
        if not os.path.exists(self.sent):
            return []
        with open(self.sent, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    def heard(self):
        """When each message came, by event and what it says of it."""
        found = {}
        for at, message in self.reader.heard:
            one = json.loads(message.payload)
            found.setdefault((one["event_id"], one["event_type"]), []).append((at, message.dup))
        return found

    def of(self, topic):
        return [(at, json.loads(one.payload)) for at, one in self.seen if one.topic == topic and one.payload]

    async def run(self, length):
        await self.furnish()
        began = time.time()
        meter = Meter(self.cluster, self.detectors, self.fleet)
        while not (os.path.exists(self.truth) and os.path.getsize(self.truth)):
            if time.time() > began + self.stations / 10 + 120:
                raise Failure(f"the earthquake does not come: {self.fleet_said()}; {self.cluster.refusals()[-6:]}")
            await asyncio.sleep(0.2)
        with open(self.truth, encoding="utf-8") as file:
            self.origin = seconds(json.loads(file.readline())["origin_time"])
        print(f"all are connected, and their subscriptions taken, after {self.origin - 15 - began:.0f} s, "
              f"{self.stations / (self.origin - 15 - began):.0f} a second: {self.fleet_said()}", flush=True)
        meter.say("connecting, and 15 s of calm")
        await asyncio.sleep(max(0, self.origin + 20 - time.time()))
        meter.say("the first 20 s of the earthquake")
        await asyncio.sleep(max(0, self.origin + length - time.time()))
        meter.say("after it")
        # What the cluster has acknowledged until now has to come, however long that takes here.
        wanted = {(one["event_id"], one["event_type"]) for one in self.answers() if one["reason"] < 128}
        while len(wanted) > len(wanted & set(self.heard())) and time.time() < self.origin + length + PATIENCE:
            await asyncio.sleep(1)
        meter.say("until the reader had everything")
        self.fleet.terminate()
        end = time.time() + 30
        while self.fleet.poll() is None and time.time() < end:
            await asyncio.sleep(0.2)
        await asyncio.sleep(2)

    async def close(self):
        for one in self.detectors:
            if one.process.poll() is None:
                one.kill()
        if self.fleet and self.fleet.poll() is None:
            self.fleet.kill()
            self.fleet.wait()
        if self.observer:
            await self.observer.close()
        if self.reader:
            await self.reader.stop()

    def record(self):
        said = re.search(r"(\d+) of \d+ connected", self.fleet_said())
        return Load(stations=self.stations, connected=int(said[1]) if said else 0, origin=self.origin, sent=self.answers(),
                    heard=self.heard(), versions=self.of("seismote/network/event"), statuses=self.of("seismote/network/status"))


async def main():
    tool, folder, root, stations, magnitude, length = sys.argv[1:]
    # Whoever has connections, has files: each node its part of the stations, the fleet as many in each of its threads.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if int(stations) / 3 + 2000 > most:
        print(f"skipped: a node needs {int(stations) // 3 + 2000} open files for {stations} stations, and the limit here is {most}")
        return 77
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    cluster = Cluster(root, folder)
    trial, failure = Trial(tool, folder, cluster, int(stations), magnitude), None
    try:
        print(f"three nodes of RabbitMQ are up after {cluster.up():.0f} s", flush=True)
        await trial.run(float(length))
    except (Failure, RuntimeError) as error:
        failure = error
    finally:
        await trial.close()
        alive, refusals = cluster.alive(), cluster.refusals()
        cluster.down()
    print(f"fleet: {trial.fleet_said()}; nodes alive: {alive}; errors in their logs: {len(refusals)} {refusals[-3:]}")
    try:
        if failure:
            raise failure
        judge_load(trial.record())
    except (Failure, RuntimeError) as error:
        print(f"FAILED: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
