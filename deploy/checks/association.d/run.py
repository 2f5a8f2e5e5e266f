"""run.py AGENT TOOL FOLDER RECORDING FLEET SECONDS: see deploy/checks/association."""

import asyncio
import csv
import json
import math
import os
import signal
import sqlite3
import subprocess
import sys
import time

from agent import Agent
from client import Client, Refused
from kinds import Mosquitto
from score import seconds
from synthetic import kilometres

CENTRE, DEPTH = (35.70, -117.50), 8.0
# Seconds from the recording's begin to its P wave.
P = 31.0
# Kilometres east and north of the epicentre. (The direct wave is the first one as near as this, with 5.8 km/s.)
HOUSES = [(6, 3), (-9, 4), (2, -11), (14, 9), (-15, -8), (20, -12), (-4, 19), (-24, 10), (9, 27), (28, 15), (-18, -26),
          (24, -14)]
SPEED = 5.8


class Failure(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Failure(text)


def at(east, north):
    return CENTRE[0] + north / 111.19, CENTRE[1] + east / 111.19 / math.cos(math.radians(CENTRE[0]))


class Detector:
    """`seismote-network`, which can be killed."""

    def __init__(self, tool, folder, port, *settings):
        self.folder, self.log = os.path.join(folder, "network"), os.path.join(folder, "network.log")
        self.command = [tool + "-network", "--broker", f"mqtt://127.0.0.1:{port}"]
        for one in (f"network.state={self.folder}", "network.status_s=2", "network.confirm=true", *settings):
            self.command += ["--set", one]
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *self.command], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            # (Less than systemd waits. What it still has to take may be much where the processors are full.)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                raise Failure("the detector did not end within 60 s") from None
            expect(self.process.returncode == 0, f"the detector ended with {self.process.returncode}")

    def versions(self):
        """event -> its messages as they are in the store, and how many of them the broker has not got."""
        with sqlite3.connect(os.path.join(self.folder, "network.db")) as base:
            rows = base.execute("SELECT event, version, payload, sent FROM published ORDER BY n").fetchall()
        events = {}
        for event, version, payload, _ in rows:
            events.setdefault(event, []).append(json.loads(payload))
            expect(events[event][-1]["version"] == version == len(events[event]), f"{event} has no version before {version}")
        return events, sum(not sent for *_, sent in rows)


class Observer:
    """Sees what is published, also behind the death of a broker."""

    def __init__(self, broker):
        self.broker, self.heard, self.wrong = broker, [], []
        self.task = asyncio.create_task(self.run())

    async def run(self):
        number = 0
        while True:
            number += 1
            client = Client(f"observer-{number}", version=5, take=self.take)
            try:
                await client.connect(self.broker.port)
                await client.subscribe("seismote/network/#")
                await client.subscribe("seismote/+/event/trigger")
                await client.closed.wait()
            except (OSError, Refused, asyncio.TimeoutError):
                pass
            await asyncio.sleep(0.1)

    def take(self, message):
        if message.payload and not message.topic.endswith("/sync"):
            self.heard.append((time.time(), message.topic, message.retain, json.loads(message.payload)))

    def of(self, topic):
        return [(when, payload) for when, one, _, payload in self.heard if one == topic]

    async def until(self, wanted, limit, what):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            found = wanted()
            if found:
                return found
            await asyncio.sleep(0.05)
        raise Failure(f"{what} did not come within {limit} s")


def waveform(tool, recording, folder):
    """Samples in m/s², by the agent's own reader."""
    path = os.path.join(folder, "series.csv")
    subprocess.run([tool, "replay", recording, "--scale", "4.674e-06,4.677e-06,4.679e-06", "--series", path, "--output",
                    os.devnull, "--quiet"], check=True)
    with open(path, encoding="utf-8", newline="") as file:
        return [tuple(float(row[name]) for name in ("x_raw", "y_raw", "z_raw")) for row in csv.DictReader(file)]


def write(samples, path, begin, factor, before):
    """A recording that begins then, its P wave `P` + `before` seconds later. What it needs in front of itself is its own
    noise backwards, so that there is no step."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("t,x,y,z\n")
        for i, sample in enumerate(samples[round(100 * before):0:-1] + samples[:7000]):
            file.write(f"{begin + i / 100:.2f}," + ",".join(f"{factor * one:.6g}" for one in sample) + "\n")


async def agents(agent, tool, folder, recording):
    broker = await Mosquitto(folder, "broker").start()
    observer, detector = Observer(broker), Detector(tool, folder, broker.port).start()
    samples = waveform(tool, recording, folder)
    # Written before they start: all of it takes some seconds.
    begin = time.time() + 8
    stations = []
    for i, (east, north) in enumerate([*HOUSES, (-3, -5)]):
        is_lorry = i == len(HOUSES)
        far = math.hypot(math.hypot(east, north), DEPTH)
        # The lorry comes 20 s after the wave.
        before = 20 if is_lorry else far / SPEED
        name, path = "lorry" if is_lorry else f"house-{i}", os.path.join(folder, f"{i}.csv")
        write(samples, path, begin, 0.2 if is_lorry else min(1, 5 / far), before)
        north, east = at(east, north)
        stations.append(Agent(agent, folder, name, {
            "station": {"latitude": round(north, 5), "longitude": round(east, 5), "elevation_m": 0},
            "sensor": {"driver": "replay", "replay": {"file": path, "speed": 1.0}},
            "conditioning": {"settle_s": 5}, "detection": {"event": {"pre_event_s": 5, "post_event_s": 10}},
            "trace": {"enabled": False}, "waveform": {"enabled": False}, "mqtt": {"uri": f"mqtt://127.0.0.1:{broker.port}"}}))
    while time.time() < begin - 0.2:
        await asyncio.sleep(0.05)
    try:
        for station in stations:
            station.start()
        first = await observer.until(lambda: observer.of("seismote/network/event"), 90, "a network event")
        onset = min(when for when, topic, _, payload in observer.heard
                    if topic.endswith("/event/trigger") and "/house-" in topic and payload["event_type"] == "onset")
        decides = sorted(when for when, topic, _, payload in observer.heard
                         if topic.endswith("/event/trigger") and payload["event_type"] == "onset")
        waited = first[0][0] - decides[min(3, len(decides) - 1)]
        detector.kill()
        detector.start()
        await observer.until(lambda: len(observer.of("seismote/network/event")) > 2, 20, "a version of the successor")
        died = time.time()
        broker.stop()
        await asyncio.sleep(0.5)
        await broker.start()
        await observer.until(
            lambda: [one for _, topic, _, one in observer.heard
                     if topic.startswith("seismote/network/event") and one["event_type"] == "end"], 120, "the end of the event")
        await asyncio.sleep(1)
        detector.stop()
        # The loop stood still while the detector ended.
        await observer.until(
            lambda: not observer.of("seismote/network/status")[-1][1]["online"], 10, "that the detector is away")
    finally:
        for station in stations:
            station.kill() if station.running else None
        if detector.process.poll() is None:
            detector.kill()
        observer.task.cancel()
        broker.stop()
    events, unsent = detector.versions()
    judge(observer, events, unsent, begin, died)
    print(f"the first version came {first[0][0] - onset:.1f} s after the first onset and {waited:.2f} s after the fourth one "
          f"was at the broker, with {len(first[0][1]['stations'])} stations")


def judge(observer, events, unsent, begin, died):
    expect(len(events) == 1, f"{len(events)} network events, not one: {list(events)}")
    (name, versions), = events.items()
    last = versions[-1]
    ids = sorted(one["id"] for one in last["stations"])
    expect(ids == sorted(f"house-{i}" for i in range(len(HOUSES))), f"in the network event are {ids}")
    expect(unsent == 0, f"{unsent} versions did not reach the broker")
    away = kilometres((last["latitude"], last["longitude"]), CENTRE)
    late = seconds(last["origin_time"]) - (begin + P)
    expect(away < 5 and abs(late) < 1.5, f"{away:.1f} km and {late:.1f} s off")
    seen = {}
    for _, payload in observer.of("seismote/network/event"):
        expect(seen.setdefault(payload["version"], payload) == payload, f"version {payload['version']} came twice, not the same")
    # Only a broker that dies can have passed on what it did not acknowledge.
    came = {}
    for when, one in observer.of("seismote/network/event"):
        came.setdefault(one["version"], []).append(when)
    twice = sorted(version for version, times in came.items() if len(times) > 1)
    wrong = [version for version in twice if len(came[version]) > 2 or not came[version][0] < died + 0.5 < came[version][1]]
    expect(not wrong, f"versions {wrong} were published twice, and not because the broker died")
    confirmed = {topic.split("/")[-1] for _, topic, _, payload in observer.heard if "/confirmed/" in topic and payload["confirmed"]}
    expect(confirmed == set(ids), f"confirmed were {sorted(confirmed)}")
    states = [payload["online"] for _, payload in observer.of("seismote/network/status")]
    expect(states and states[-1] is False and True in states, f"network/status said {states}")
    print(f"{name}: {len(versions)} versions over the deaths of detector and broker, {len(seen)} of them seen, twice: "
          f"{twice or 'none'}; "
          f"12 stations, the lorry is not among them; {away:.1f} km and {late:.1f} s off, ellipse "
          f"{last['ellipse']['semi_major_km']:.1f} km, magnitude {json.dumps(last['magnitude'])}")


async def fleet(tool, folder, count, length):
    folder = os.path.join(folder, "fleet")
    broker = await Mosquitto(folder, "broker").start()
    observer = Observer(broker)
    detector = Detector(tool, folder, broker.port).start()
    truth = os.path.join(folder, "truth.jsonl")
    # (With so few open files that two threads share the stations, as those of ten thousand are.)
    limit = 3 * ((count + 1) // 2) + 100
    process = await asyncio.create_subprocess_exec(
        "setpriv", "--pdeathsig", "KILL", "prlimit", f"--nofile={limit}:{limit}", 
        os.path.join(os.path.dirname(tool), "simulate-fleet"), str(count), "--broker", f"mqtt://127.0.0.1:{broker.port}", "--seconds", str(length), "--radius", "60", "--earthquake-every", "25",
        "--magnitudes", "4.5,5.5", "--faults", "6000", "--false-onsets", "200", "--truth", truth,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT)
    try:
        output = (await process.communicate())[0].decode()
        # (From here on no station says anything. On a busy machine the detector takes its time to end.)
        ended = time.time()
        await asyncio.sleep(1)
        status = observer.of("seismote/network/status")[-1][1]
        detector.stop()
    finally:
        if process.returncode is None:
            process.kill()
        if detector.process.poll() is None:
            detector.kill()
        observer.task.cancel()
        broker.stop()
    expect(process.returncode == 0, f"simulate-fleet ended with {process.returncode}: {output}")
    events, _ = detector.versions()
    with open(truth, encoding="utf-8") as file:
        quakes = [json.loads(line) for line in file]
    # What began in the last seconds of the stations may not have been seen by them.
    old = [one for one in quakes if seconds(one["origin_time"]) < ended - 15]
    found, errors = set(), []
    for name, versions in events.items():
        last = versions[-1]
        if "merged_into" in last or last.get("withdrawn"):
            continue
        near = [i for i, one in enumerate(quakes) if abs(seconds(one["origin_time"]) - seconds(last["origin_time"])) < 5]
        expect(near and near[0] not in found, f"{name} is no earthquake, or one that was found already")
        found.add(near[0])
        errors.append(kilometres((last["latitude"], last["longitude"]), (quakes[near[0]]["latitude"], quakes[near[0]]["longitude"])))
    expect(len(found) >= len(old) > 0, f"{len(found)} of {len(quakes)} earthquakes found")
    expect(status["asked_again"] > 0, "nothing was asked for again")
    print(f"fleet of {count}: {len(found)} of {len(quakes)} earthquakes, {max(errors):.1f} km off at most; "
          f"{status['asked_again']} requests to send again, {status['missing']} messages missing, {status['lost']} lost; "
          f"{output.strip().splitlines()[-1]}")


async def places(tool, folder):
    """A station that states another place takes no part until it is confirmed; over a restart of the detector, too."""
    folder = os.path.join(folder, "places")
    os.makedirs(folder, exist_ok=True)
    broker = await Mosquitto(folder, "broker").start()
    detector = Detector(tool, folder, broker.port).start()

    async def run(*words):
        process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        output, errors = await process.communicate()
        return process.returncode, output.decode(), errors.decode()

    async def state(station, north):
        info = json.dumps({"station": {"id": station, "latitude": north, "longitude": 7.25}})
        code, _, errors = await run(
            "mosquitto_pub", "-p", str(broker.port), "-r", "-q", "1", "-t", f"seismote/{station}/state/info", "-m", info)
        expect(code == 0, f"mosquitto_pub: {errors}")

    async def told(*words):
        code, output, errors = await run(tool, "network", "stations", "--json", "--broker", f"mqtt://127.0.0.1:{broker.port}", *words)
        rows = {row["station"]: row for row in map(json.loads, output.splitlines())}
        return code, rows, errors

    async def until_moved(names):
        for _ in range(60):
            code, rows, errors = await told("--wait", "1")
            if code == 0 and sorted(name for name, row in rows.items() if row["moved"]) == names:
                return rows
        raise Failure(f"moved are not {names}: {rows} {errors}")

    try:
        for station, north in (("attic", 46.5), ("barn", 46.51), ("cellar", 46.52)):
            await state(station, north)
        await until_moved([])
        await state("barn", 46.9)
        rows = await until_moved(["barn"])
        expect(43 < rows["barn"]["apart_km"] < 44, f"apart: {rows['barn']}")
        detector.kill()
        detector.start()
        await until_moved(["barn"])
        code, rows, errors = await told("--confirm", "barn")
        expect(code == 0 and not rows["barn"]["moved"] and rows["barn"]["entered"]["latitude"] == 46.9, f"{code} {rows} {errors}")
        detector.kill()
        detector.start()
        await until_moved([])
        detector.stop()
        code, rows, errors = await told("--forget", "barn", "--wait", "1")
        expect(code == 2 and "no detector" in errors, f"without a detector: {code} {errors}")
    finally:
        if detector.process.poll() is None:
            detector.kill()
        broker.stop()
    print("a station that stated another place took no part until it was confirmed, over two deaths of the detector")


async def main():
    agent, tool, folder, recording, count, length = sys.argv[1:]
    os.makedirs(os.path.join(folder, "fleet"), exist_ok=True)
    results = await asyncio.gather(
        agents(agent, tool, folder, recording), fleet(tool, folder, int(count), float(length)),
        places(tool, folder), return_exceptions=True)
    failed = False
    for one in results:
        if isinstance(one, Failure):
            print(f"FAILED: {one}")
            failed = True
        elif one is not None:
            raise one
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
