"""Many simulated stations in one process on the three nodes, and an earthquake below the middle of them: what brokers and
detector take of processor and memory, and how long it is from an onset to the version of the network event that has it.

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

from judge import Failure, expect, percentile, seconds
from rabbit import Cluster
from run import Detector
from steady import Reader

TICKS = os.sysconf("SC_CLK_TCK")


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


async def main():
    tool, folder, root, stations, magnitude, length = sys.argv[1:]
    # Three files for each station; root may raise the limit.
    hard = max(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 3 * int(stations) + 5000)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (ValueError, OSError):
        print(f"skipped: {stations} stations in one process need {hard} open files, and the limit here cannot be raised so far")
        return 77
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    cluster = Cluster(root, folder)
    truth, log = os.path.join(folder, "truth.jsonl"), os.path.join(folder, "fleet.log")
    detectors, fleet, reader, rate = [], None, None, 250
    try:
        print(f"three nodes of RabbitMQ are up after {cluster.up():.0f} s", flush=True)
        cluster.ctl("add_user", "everybody", "everybody-secret")
        cluster.ctl("set_permissions", "everybody", ".*", ".*", ".*")
        password = os.path.join(folder, "everybody.password")
        with open(password, "w", encoding="utf-8") as file:
            file.write("everybody-secret\n")
        reader = Reader(["seismote/network/event", "seismote/network/status", "seismote/+/event/trigger"], "reader",
                        cluster.ports["mqtt"], "everybody", "everybody-secret").start()
        await asyncio.wait_for(reader.ready.wait(), 30)
        for name in ("one", "two"):
            detectors.append(Detector(tool, folder, name, {
                "mqtt": {"uri": cluster.uris("mqtts"), "username": "seismote-network",
                         "password_file": cluster.account("network", "seismote-network"), "tls": {"ca_file": cluster.ca}},
                "network": {"cluster": cluster.uris("amqps"), "status_s": 5}}).start())
        with open(log, "wb") as out:
            fleet = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", tool, "simulate-fleet", stations,
                 *(f"--broker={uri}" for uri in cluster.uris("mqtt")), "--user", "everybody", "--password-file", password,
                 "--radius", "200", "--per-second", str(rate), "--magnitude", magnitude, "--false-onsets", "3",
                 "--truth", truth], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=out)
        meter = Meter(cluster, detectors, fleet)
        end = time.time() + int(stations) / rate * 3 + 120
        while not (os.path.exists(truth) and os.path.getsize(truth)):
            if time.time() > end:
                raise Failure("the earthquake does not come")
            await asyncio.sleep(0.5)
        meter.say("connecting, and 15 s of calm")
        begin = time.time()
        await asyncio.sleep(20)
        meter.say("the first 20 s of the earthquake")
        await asyncio.sleep(max(0, float(length) - 20))
        meter.say("after it")
    except (Failure, RuntimeError) as error:
        print(f"FAILED: {error}")
        return 1
    finally:
        for one in detectors:
            if one.process.poll() is None:
                one.kill()
        if fleet and fleet.poll() is None:
            fleet.kill()
            fleet.wait()
        if reader:
            await reader.stop()
        refusals = [f"alive: {cluster.alive()}", *cluster.refusals()]
        cluster.down()
    with open(log, encoding="utf-8") as file:
        fleet_said = file.read().strip().splitlines()[-1]
    print("fleet: " + fleet_said)
    with open(truth, encoding="utf-8") as file:
        origin = seconds(json.loads(file.readline())["origin_time"])
    onsets, late = {}, []
    for at, message in reader.heard:
        if message.topic.endswith("/event/trigger"):
            one = json.loads(message.payload)
            if one["event_type"] == "onset":
                onsets.setdefault(one["event_id"], at)
                if at >= begin:
                    late.append(at - seconds(one["onset"]))
    waits, events = {}, {}
    for at, one, _ in reader.of("seismote/network/event"):
        if abs(seconds(one["origin_time"]) - origin) < 10:
            events.setdefault(one["event_id"], []).append((at, one))
            for station in one["stations"]:
                if station["event_id"] in onsets:
                    waits.setdefault(station["event_id"], at - onsets[station["event_id"]])
    in_20 = sum(1 for at in onsets.values() if begin - 1 <= at < begin + 20)
    last = max(events.values(), key=len)[-1][1] if events else {"stations": []}
    print(f"{len(onsets)} onsets at the reader, {in_20} in the first 20 s of the earthquake; from the onset's own time to the reader "
          f"p50 {percentile(late, .5):.2f} s, p99 {percentile(late, .99):.2f} s")
    print(f"network events of it: {len(events)}; the first version {min((v[0][0] for v in events.values()), default=0) - origin:.1f} s after the "
          f"origin, {sum(map(len, events.values()))} versions, the last with {len(last['stations'])} stations; from an onset at the "
          f"reader to the version that has it p50 {percentile(waits.values(), .5):.2f} s, p99 {percentile(waits.values(), .99):.2f} s")
    try:
        connected = re.search(r"(\d+) of (\d+) connected", fleet_said)
        expect(connected and connected[1] == connected[2], f"not all stations were connected: {refusals[-6:]}")
        said = re.search(r"(\d+) onsets", fleet_said)
        expect(said and len(onsets) > 0.95 * int(said[1]), f"of {said and said[1]} onsets of the fleet {len(onsets)} came to a reader")
        expect(events, "no network event")
        expect(len([v for v in events.values() if "merged_into" not in v[-1][1] and not v[-1][1].get("withdrawn")]) == 1,
               "the earthquake was found more than once")
    except Failure as error:
        print(f"FAILED: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
