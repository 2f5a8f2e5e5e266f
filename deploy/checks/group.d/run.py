"""run.py AGENT FOLDER STATIONS CONFIRM_S: see deploy/checks/group."""

import asyncio
import collections
import json
import os
import signal
import statistics
import sys
import time

from agent import Agent, merge
from client import Client, response_to
from kinds import Mosquitto
from readings import Readings
from verdict import Judge, verdict

# The random delay before a group is answered (s), and what a busy machine may add to a time.
DELAY, BUSY = 5, 15
G = 9.80665e-3
BEFORE, AFTER = "5 mg", "8 mg"
# 12 Hz is more than a sensor of 20 Hz can do.
CHANGE = {"axes": {"all": {
    "filter": {"butterworth": {"type": "bandpass", "corners_hz": [0.5, 12], "order": 2, "start": "zero"}},
    "detection": {"threshold": AFTER}}}, "trace": {"rate_hz": 10}}

# What a station is: of twenty, so many; the code of its refusal; its settings.
KINDS = {
    "locked": (1, "locked", {"locked": ["axes.z.detection.threshold"]}),
    "slow": (1, "cross_field", {"sensor": {"rate_hz": 20}, "axes": {"all": {"filter": {
        "butterworth": {"type": "bandpass", "corners_hz": [0.5, 5], "order": 2, "start": "zero"}}}}}),
    "changed": (1, "conflict", {}),
    "unconfirmed": (2, None, {}),
    "old": (2, None, {"mqtt": {"protocol": "3.1.1"}}),
    "plain": (13, None, {}),
}


class Station(Readings):
    """One agent, and what it says."""

    def __init__(self, name, kind):
        super().__init__(name)
        self.name, self.kind = name, kind
        self.code, self.replies = KINDS[kind][1], collections.defaultdict(list)
        self.reverted = None

    def take(self, message):
        super().take(message)
        if message.topic.endswith("/state/alert/config_reverted") and message.payload and not message.retain:
            self.reverted = message.at

    def final(self, identity):
        """(when, reply) of the one that is not `accepted`; None: it is silent."""
        return next((pair for pair in self.replies[identity] if pair[1]["phase"] != "accepted"), None)

    def outcome(self, identity):
        found = self.final(identity)
        if not found:
            return "silent"
        codes = sorted({error["code"] for error in found[1]["errors"]})
        return " ".join([found[1]["phase"], *codes])


class Group(Judge):
    def __init__(self, program, folder, count, confirm):
        super().__init__()
        self.program, self.folder, self.confirm = program, folder, confirm
        turn = [kind for kind, (share, _, _) in KINDS.items() for _ in range(share)]
        self.stations = {}
        for i in range(count):
            # 7 and 20 have no common divisor: any few of them are of all kinds.
            kind = turn[i * 7 % len(turn)]
            self.stations[f"station-{i}"] = Station(f"station-{i}", kind)
        self.agents, self.counts = [], collections.Counter()
        self.client = self.reader = None
        self.news = asyncio.Event()

    def take(self, message):
        parts = message.topic.split("/")
        if parts[0] == "replies" or parts[2:3] == ["res"]:
            reply = json.loads(message.payload)
            station = self.stations.get(reply.get("station"))
            if station and reply.get("id"):
                station.replies[reply["id"]].append((message.at, reply))
                self.note("replies", message)
            self.news.set()
        elif parts[1] in self.stations:
            self.stations[parts[1]].take(message)
            self.note("/".join(parts[2:4]), message)
            self.news.set()

    def note(self, kind, message):
        if not message.retain:
            self.counts[kind] += 1
            self.counts[kind + " bytes"] += len(message.payload)

    async def until(self, missing, seconds):
        """Waits until `missing()` is empty, or false; what is left."""
        deadline = time.monotonic() + seconds
        while (left := missing()) and time.monotonic() < deadline:
            self.news.clear()
            try:
                await asyncio.wait_for(self.news.wait(), 0.2)
            except asyncio.TimeoutError:
                pass
            # Not each message by itself: there are hundreds a second.
            await asyncio.sleep(0.02)
        return left

    def of(self, *kinds):
        return [station for station in self.stations.values() if station.kind in kinds]

    def kept(self):
        return [station for station in self.stations.values() if station.kind != "unconfirmed"]

    async def send(self, to, verb, identity, **fields):
        """The moment before it went."""
        body = json.dumps({"id": identity, "source": "check", **fields}).encode()
        self.sent = len(body)
        began = time.monotonic()
        await self.client.publish(f"seismote/{to}/cmd/{verb}", body, properties=response_to("replies/all", b"check"),
                                  seconds=60)
        return began

    async def ask(self, group, members, verb, identity, **fields):
        """Sends one command to a group and waits for all; (seconds until the last reply, CPU seconds, counts)."""
        before, cpu = self.counts.copy(), self.cpu()
        began = await self.send(f"group/{group}", verb, identity, **fields)
        silent = await self.until(lambda: [s.name for s in members if not s.final(identity)], DELAY + BUSY)
        for name in silent:
            self.complaints.append(f"{name} ({self.stations[name].kind}) says nothing to {verb}")
        cpu = self.cpu() - cpu
        took = sorted(s.final(identity)[0] - began for s in members if s.final(identity))
        outcomes = collections.Counter(s.outcome(identity) for s in members)
        print(f"{verb} to {len(members)} stations: "
              + ", ".join(f"{number} {what}" for what, number in sorted(outcomes.items(), key=lambda pair: -pair[1])))
        # Who has changed something says so to everybody.
        said = outcomes["done"] if verb != "config-get" else 0
        late = await self.until(lambda: self.counts["state/config"] - before["state/config"] < said, BUSY)
        self.expect(not late, f"{verb}: {said} done, {self.counts['state/config'] - before['state/config']} state/config")
        counts = self.counts - before
        if took:
            print(f"  replies after {took[0]:.2f} s (first), {statistics.median(took):.2f} (median), {took[-1]:.2f} (last); "
                  f"1 command of {self.sent} bytes, {counts['replies']} replies of {counts['replies bytes']} bytes, "
                  f"{counts['state/config']} state/config of {counts['state/config bytes']}; "
                  f"{100 * cpu / took[-1] / len(self.agents):.2f} % of a core each")
            self.expect(took[-1] <= DELAY + BUSY, f"{verb}: the last reply after {took[-1]:.1f} s")
        again = [s.name for s in members if len([1 for _, r in s.replies[identity] if r["phase"] != "accepted"]) > 1]
        self.expect(not again, f"{verb}: more than one reply from {again[:5]}")
        return began, took[-1] if took else 0.0

    def cpu(self):
        return sum(agent.cpu() for agent in self.agents)

    async def start(self):
        # Without a limit of messages under way: hundreds a second go to one reader.
        self.broker = await Mosquitto(self.folder, "broker", ["max_inflight_messages 0"]).start()
        self.reader = await Client("reader", version=5, take=self.take).connect(self.broker.port)
        for pattern in ("state/online", "state/health", "state/config", "state/alert/+", "data/trace", "data/history/#"):
            await self.reader.subscribe(f"seismote/+/{pattern}", qos=0)
        # A connection of its own, so that replies do not wait behind all that.
        self.client = await Client("check", version=5, take=self.take).connect(self.broker.port)
        for pattern in ("replies/#", "seismote/+/res/+"):
            await self.client.subscribe(pattern)
        for station in self.stations.values():
            settings = {
                "station": {"groups": ["building"] + ["kept"] * (station.kind != "unconfirmed")},
                "sensor": {"simulate": {"scenario": "quiet"}},
                "axes": {"all": {"detection": {"threshold": BEFORE}}},
                "mqtt": {"uri": f"mqtt://127.0.0.1:{self.broker.port}", "keepalive_s": 30},
                "health": {"interval_s": 5}}
            merge(settings, json.loads(json.dumps(KINDS[station.kind][2])))
            self.agents.append(Agent(self.program, self.folder, station.name, settings).start())
        left = await self.until(lambda: [s.name for s in self.stations.values() if not (
            s.health and s.health[-1][1]["sensor"] == "ok")], 60 + len(self.stations))
        if left:
            raise SystemExit(f"{len(left)} stations do not come up: {left[:10]}")

    async def run(self):
        began = time.monotonic()
        await self.start()
        shares = ", ".join(f"{len(self.of(kind))} {kind}" for kind in KINDS)
        print(f"{len(self.stations)} stations ({shares}) up in {time.monotonic() - began:.1f} s")
        cpu, began = self.cpu(), time.monotonic()
        await asyncio.sleep(5)
        calm = (self.cpu() - cpu) / (time.monotonic() - began) / len(self.agents)
        print(f"in calm {100 * calm:.2f} % of a core each")
        for station in self.of("changed"):
            await self.send(station.name, "config", "before", set={"trace": {"block_s": 2}})
        left = await self.until(lambda: [s.name for s in self.of("changed") if not s.final("before")], BUSY)
        self.expect(not left, f"not changed before: {left}")

        everybody = list(self.stations.values())
        began, first = await self.ask("building", everybody, "config", "change", set=CHANGE, if_rev=0,
                                      confirm_s=self.confirm)
        for station in everybody:
            wanted = f"failed {station.code}" if station.code else "done"
            self.expect(station.outcome("change") in (wanted, "silent"),
                        f"{station.name} ({station.kind}): {station.outcome('change')}, wanted {wanted}")
        confirmed, second = await self.ask("kept", self.kept(), "config-confirm", "confirm")
        for station in self.kept():
            wanted = "failed conflict" if station.code else "done"
            self.expect(station.outcome("confirm") in (wanted, "silent"),
                        f"{station.name} ({station.kind}): {station.outcome('confirm')}, wanted {wanted}")
        print(f"from the command to the last confirmation {confirmed + second - began:.2f} s")
        await self.reverts(began)
        await self.ask("building", everybody, "config-get", "after")
        for station in everybody:
            self.settings(station)
        await self.sampling()

    async def reverts(self, began):
        members = self.of("unconfirmed")
        left = await self.until(lambda: [s.name for s in members if s.reverted is None], self.confirm + DELAY + BUSY)
        for name in left:
            self.complaints.append(f"{name} was not confirmed and has not gone back")
        took = [station.reverted - began for station in members if station.reverted]
        if took:
            print(f"not confirmed: {len(took)} of {len(members)} have gone back, {min(took):.1f} to {max(took):.1f} s "
                  f"after the command (confirm_s {self.confirm:g})")
            self.expect(self.confirm <= min(took) and max(took) <= self.confirm + DELAY + BUSY, "at the wrong time")
        self.expect(not any(s.reverted for s in self.kept()), "who was confirmed has gone back")

    def settings(self, station):
        """What the station says of its settings in the end is what its replies have said."""
        found = station.final("after")
        if not found or found[1]["phase"] != "done":
            return
        result = found[1]["result"]
        is_new = station.kind in ("plain", "old")
        wanted = {"plain": 1, "old": 1, "changed": 1, "unconfirmed": 2}.get(station.kind, 0)
        self.expect(result["rev"] == wanted, f"{station.name} ({station.kind}): revision {result['rev']}, wanted {wanted}")
        self.expect(result["pending"] is None, f"{station.name}: {result['pending']} is pending")
        config = result["config"]
        level = config["axes"]["y"]["detection"]["threshold"]
        self.expect(abs(level - (8 if is_new else 5) * G) < 1e-6, f"{station.name} ({station.kind}): threshold {level}")
        self.expect(config["trace"]["rate_hz"] == (10 if is_new else 20), f"{station.name}: {config['trace']}")

    async def sampling(self):
        """Health that was said after all this, and numbers of traces without a hole."""
        since = time.monotonic()
        late = await self.until(
            lambda: [s.name for s in self.stations.values() if s.health[-1][0] < since], 10 + BUSY)
        self.expect(not late, f"no health of {late[:5]}")
        came = missing = 0
        for station in self.stations.values():
            last = station.health[-1][1]
            self.expect(last["gaps"] == 0 and last["lost_samples"] == 0, f"{station.name}: sampling disturbed: {last}")
            one = station.account("trace")
            came, missing = came + one[0], missing + one[1]
            self.expect(not one[1], f"{station.name}: traces missing {station.holes('trace')[:10]}")
        memory = [agent.memory_kib() for agent in self.agents]
        print(f"traces: {came} came, {missing} missing; no sample lost by any; {sum(memory) / len(memory) / 1024:.1f} MiB "
              f"resident each")

    async def close(self):
        for agent in self.agents:
            if agent.running:
                os.kill(agent.number(), signal.SIGTERM)
        for agent in self.agents:
            await asyncio.to_thread(agent.stop, 20)
        for client in (self.client, self.reader):
            if client:
                await client.close()
        self.broker.stop()


async def main(program, folder, count, confirm):
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    group = Group(program, folder, int(count), float(confirm))
    try:
        await group.run()
    finally:
        await group.close()
    group.expect(all(os.path.exists(os.path.join(agent.settings["storage"]["directory"], "level.json")) for agent in group.agents),
                 "who ended in order has not written down the level of the sensor")
    print(f"{len(group.stations)} stations, {len(group.complaints)} complaints")
    return verdict(group.complaints, 20)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
