"""run.py AGENT TOOL FOLDER LINE.SO [--short] [--rabbitmq ROOT]: see deploy/checks/warning."""

import asyncio
import csv
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

from agent import Agent
from brokers import Mosquitto, RabbitMQ
from client import Client
from programs import Program
from score import seconds
from shaking import Shaking, Tables, info, lattice, shift
from synthetic import kilometres, stamp
from verdict import expect, finish, until

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
RECORDING = REPOSITORY / "deploy/recordings/ridgecrest-2019-07-06-clc.mseed"
CENTRE = (38.0, 23.0)
# Seconds from the recording's begin to its P wave, and its largest acceleration, m/s².
P, PEAK = 31.0, 5.02
# Seconds of noise in front of it: the long average of the detector takes 30 s.
LEAD = 15.0
# Seconds to the line: from the version of the network event, and from the message that decides.
LIMITS = {"median": 0.2, "most": 1.0}
# East and north of the network's middle, km.
HOUSES = [(12, 4), (-18, 9), (22, -16), (-4, 27), (31, 8), (-29, -20), (8, -38), (44, 12), (-36, 34), (20, 50)]


class Observer:
    def __init__(self):
        self.heard = []
        self.client = Client("observer", version=5, take=self.take)

    def take(self, message):
        try:
            payload = json.loads(message.payload) if message.payload else None
        except (ValueError, RecursionError):
            payload = None
        self.heard.append((time.time(), message.topic, message.retain, payload))

    async def start(self, broker):
        await self.client.connect(broker.port, **broker.user)
        for topic in ("seismote/network/event", "seismote/+/event/#", "seismote/+/state/health", "seismote/+/res/#"):
            await self.client.subscribe(topic)

    def of(self, topic, since=0.0):
        return [(when, payload) for when, one, retained, payload in self.heard if one == topic and when >= since and payload and not retained]


def waveform(tool, folder):
    """Samples in m/s², by the agent's own reader."""
    path = os.path.join(folder, "series.csv")
    subprocess.run([tool, "replay", RECORDING, "--scale", "4.674e-06,4.677e-06,4.679e-06", "--series", path, "--output", os.devnull, "--quiet"], check=True)
    with open(path, encoding="utf-8", newline="") as file:
        return [tuple(float(row[name]) for name in ("x_raw", "y_raw", "z_raw")) for row in csv.DictReader(file)]


def write(samples, path, begin, factor, before):
    """A recording that begins then, its P wave `LEAD` + `P` + `before` seconds later; in front of it the noise of its first 15 s,
    forwards and backwards: it has a bump 11 s before P that a detector triggers on, however weak all of it is."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("t,x,y,z\n")
        noise = samples[:1500] + samples[1499::-1]
        quiet = round(100 * (LEAD + before + P - 0.5))
        front = (noise * (quiet // len(noise) + 1))[:quiet]
        for i, sample in enumerate(front + samples[round(100 * (P - 0.5)):7000]):
            file.write(f"{begin + i / 100:.2f}," + ",".join(f"{factor * one:.6g}" for one in sample) + "\n")


class House:
    """A real agent with an alarm line."""

    def __init__(self, program, folder, name, place, mqtt, line, alarm=None, **sensor):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        self.name, self.place = name, place
        self.line, self.clock = os.path.join(folder, name, "line"), os.path.join(folder, name, "unsynced")
        self.agent = Agent(program, folder, name, {
            "station": {"latitude": round(place[0], 5), "longitude": round(place[1], 5), "elevation_m": 0},
            "sensor": sensor, "conditioning": {"settle_s": 5}, "detection": {"event": {"pre_event_s": 5, "post_event_s": 10}},
            "trace": {"enabled": False}, "waveform": {"enabled": False}, "mqtt": mqtt,
            "alarm": {"network": {"enabled": True, "mmi": 4}, "gpio": {"line": "gpiochip99:1"}, **(alarm or {})}},
            command=["env", f"LD_PRELOAD={line}", f"LINE_LOG={self.line}", f"LINE_CLOCK={self.clock}"])

    def changes(self, since=0.0):
        """[(time, on)] of the line."""
        if not os.path.exists(self.line):
            return []
        with open(self.line, encoding="utf-8") as file:
            found = [(float(at), value == "1") for at, value in (line.split() for line in file)]
        return [x for x in found if x[0] >= since]


async def say(client, when, topic, payload):
    wait = when - time.time()
    if wait > 0:
        await asyncio.sleep(wait)
    await client.publish(topic, json.dumps(payload).encode(), qos=1)
    return time.time()


def said_of(observer, version):
    """When stations said something of their onsets in a version."""
    names = {x["event_id"] for x in version["stations"]}
    return [when for when, topic, retained, payload in observer.heard if topic.endswith("/event/trigger") and not retained and payload and payload["event_id"] in names]


async def earthquake(program, folder, line, broker, observer, client, samples, times, rng, number, stations):
    """An earthquake of M 6: the houses, and of those whose line sounded (house, its warning, seconds from the version and from the
    message that decides to the line, whether that was an onset, seconds from there to S)."""
    broker.accounts([f"house-{number}-{i}" for i in range(len(HOUSES))])
    begin = time.time() + 12
    quake = Shaking(times, begin + LEAD + P, shift(CENTRE, rng.uniform(-8, 8), rng.uniform(-8, 8)), rng.uniform(8, 12), 6.0)
    houses = []
    for i, (east, north) in enumerate(HOUSES):
        place = shift(CENTRE, east + rng.uniform(-2, 2), north + rng.uniform(-2, 2))
        here, path = quake.at(place, 0), os.path.join(folder, f"{number}-{i}.csv")
        write(samples, path, begin, min(1, here["peak"] / PEAK), here["p"] - quake.origin)
        houses.append(House(program, folder, f"house-{number}-{i}", place, broker.settings(f"house-{number}-{i}"), line, driver="replay", replay={"file": path, "speed": 1.0}))
    # One that has no broker: its own alarm is as ever.
    path = os.path.join(folder, f"{number}-alone.csv")
    write(samples, path, begin, 1, 0)
    alone = House(program, folder, f"alone-{number}", shift(CENTRE, 1, 1), {"uri": "mqtt://127.0.0.1:1"}, line, alarm={"enabled": True}, driver="replay", replay={"file": path, "speed": 1.0})
    while time.time() < begin - 0.2:
        await asyncio.sleep(0.02)
    for house in [*houses, alone]:
        house.agent.start()
    said = quake.messages(rng, stations)
    sent = await asyncio.gather(*(say(client, *x) for x in said))
    onsets = {payload["event_id"]: when for when, (_, _, payload) in zip(sent, said) if payload["event_type"] == "onset"}
    await asyncio.sleep(max(0, quake.origin + 45 - time.time()))
    onsets.update({payload["event_id"]: when for when, topic, _, payload in observer.heard
                   if payload and topic.endswith("/event/trigger") and payload["event_type"] == "onset" and "/house-" in topic})
    versions = {(x["event_id"], x["version"]): (when, x) for when, x in observer.of("seismote/network/event", begin)
                if seconds(x["origin_time"]) > begin}
    expect(versions, "no network event")
    names = {event for event, _ in versions}
    expect(len(names) == 1, f"{len(names)} network events: {names}")
    found = []
    for house in houses:
        warnings = observer.of(f"seismote/{house.name}/event/warning", begin)
        alarms = [x for _, x in warnings if x["alarm"]]
        s = quake.at(house.place, 0)["s"]
        changes = house.changes(begin)
        expect(bool(alarms) == bool(changes), f"{house.name}: {len(alarms)} warnings ask for the line, which changed {len(changes)} times")
        expect(warnings, f"{house.name}: no warning at all")
        if not alarms:
            continue
        key = alarms[0]["network_event"], alarms[0]["version"]
        came, version = versions[key]
        # The last onset that the version before had not; where it had all of them, what a station has said of its peak since.
        known = {x["event_id"] for x in versions[key[0], key[1] - 1][1]["stations"]} if key[1] > 1 else set()
        new = [onsets[x["event_id"]] for x in version["stations"] if x["event_id"] not in known and x["event_id"] in onsets]
        decides = max(new) if new else max((x for x in said_of(observer, version) if x < came), default=came)
        on = changes[0][0]
        found.append((house, alarms[0], on - came, on - decides, bool(new), s - on))
        # On and off, each half a second, until 10 s after the arrival that was said last.
        gaps = [b[0] - a[0] for a, b in zip(changes, changes[1:])]
        expect(all(a[1] != b[1] for a, b in zip(changes, changes[1:])) and not changes[-1][1], f"{house.name}: {changes}")
        expect(all(0.35 < x < 0.65 for x in gaps[:-1]), f"{house.name}: the line was on and off for {gaps}")
        last = [x for _, x in warnings if x["state"] == "coming"][-1]
        end = changes[-1][0] - seconds(last["s_arrival"])
        expect(9.3 < end < 10.3, f"{house.name}: the line ended {end:.2f} s after S")
        expect(abs(seconds(last["s_arrival"]) - s) < 2.5, f"{house.name}: S was said {seconds(last['s_arrival']) - s:.1f} s off")
        expect(warnings[-1][1]["state"] == "passed", f"{house.name}: it ended with {warnings[-1][1]['state']}")
    own = alone.changes(begin)
    expect(own and own[0][1] and (len(own) == 1 or own[1][0] - own[0][0] > 20), f"without a broker the own alarm was {own}")
    alone.agent.stop()
    distance = {house.name: kilometres(house.place, quake.place) for house in houses}
    print(f"earthquake {number}: {len(versions)} versions, the first {min(x[0] for x in versions.values()) - quake.origin:.1f} s after the origin; "
          f"line at {len(found)} of {len(houses)} houses: "
          + ", ".join(f"{left:.1f} s before S at {distance[house.name]:.0f} km" for house, *_, left in sorted(found, key=lambda x: distance[x[0].name])), flush=True)
    return houses, found


def event(here, version=1, identity="net-made", made=None, magnitude=7.0, km=60, **more):
    """A version of a network event, north of a place."""
    made = made or time.time()
    at = shift(here, 0, km)
    return dict(
        v=1, boot="b", seq=0, t=stamp(made), event_type="onset" if version == 1 else "update", event_id=identity, version=version, origin_time=stamp(made - 3),
        latitude=at[0], longitude=at[1], depth_km=10.0, ellipse=dict(semi_major_km=2.0, semi_minor_km=1.0, azimuth_deg=0), place=dict(quality="good"),
        magnitude=dict(value=magnitude, sigma=0.2, relation="x"), stations=[dict(id=f"s{i}", event_id=f"s{i}-1") for i in range(6)], **{"class": dict(likely="earthquake")}) | more


async def hostile(house, observer, client):
    """What is not believed changes nothing, and is counted; people silence; the network withdraws."""
    topic, own = "seismote/network/event", f"seismote/{house.name}/event/warning"

    async def publish(payload):
        await client.publish(topic, payload if isinstance(payload, bytes) else json.dumps(payload).encode(), qos=1)
        # (Of those that wait for it at a time an agent takes the newest eight.)
        await asyncio.sleep(0.1)

    async def command(verb, number):
        await client.publish(f"seismote/{house.name}/cmd/{verb}", json.dumps(dict(id=number)).encode(), qos=1)
        await until(lambda: [x for _, one, _, x in observer.heard if one == f"seismote/{house.name}/res/{number}"], 5, f"the reply to {verb}")

    began = time.time()
    refused = {
        "old": event(house.place, made=time.time() - 40), "clock": event(house.place, made=time.time() + 9), "place": event(house.place, place=dict(quality="poor")),
        "stations": event(house.place, stations=[dict(id="s1", event_id=f"s1-{i}") for i in range(9)]), "magnitude": event(house.place, magnitude=None) | dict(magnitude=None),
        "disputed": event(house.place, disputed=True), "class": event(house.place) | {"class": dict(likely="disturbance")}, "distance": event(house.place, km=700),
        "unreadable": b"{" * 5000}
    for payload in refused.values():
        await publish(payload)
    for payload in (b"", b"\x00\xff" * 900, b"[" * 60000, json.dumps(event(house.place, latitude=1e308)).encode(), b"x" * 300000):
        await publish(payload)
    await client.publish(f"seismote/{house.name}/cmd/network/event", json.dumps(event(house.place)).encode(), qos=1)
    # An event whose bytes the broker keeps is not for now. (It comes with the next connection.)
    health = await until(lambda: [x for _, x in observer.of(f"seismote/{house.name}/state/health", began)
                                  if set(refused) <= set(x["warnings"]["refused"]) and x["warnings"]["refused"]["unreadable"] >= 5],
                         10, "refusals in state/health")
    counts = health[-1]["warnings"]["refused"]
    expect(not house.changes(began) and not observer.of(own, began), "what is not to be believed was warned of")
    # Believed; silenced, also through an update; another event sounds again; withdrawn.
    await publish(event(house.place))
    await until(lambda: house.changes(began), 2, "the line")
    await command("silence", "quiet")
    await until(lambda: not house.changes(began)[-1][1], 1, "silence")
    count = len(house.changes(began))
    await publish(event(house.place, 2, magnitude=7.4))
    await until(lambda: len(observer.of(own, began)) == 2, 2, "the update")
    await asyncio.sleep(1)
    expect(len(house.changes(began)) == count, "a silenced warning sounds again with an update")
    await publish(event(house.place, identity="net-other"))
    await until(lambda: len(house.changes(began)) > count, 2, "the line, for another event")
    for identity, version in (("net-other", 2), ("net-made", 3)):
        await publish(event(house.place, version, identity=identity, withdrawn=True))
    await until(lambda: [x["state"] for _, x in observer.of(own, began)][-2:] == ["cancelled"] * 2, 2, "the cancelled warnings")
    await asyncio.sleep(0.3)
    expect(not house.changes(began)[-1][1], "the line goes on after the event was withdrawn")
    # Without a clock: now.
    open(house.clock, "w", encoding="utf-8").close()
    asked = time.time()
    await publish(event(house.place, identity="net-clock"))
    found = await until(lambda: observer.of(own, asked), 2, "a warning without a clock")
    expect("s_arrival" not in found[0][1] and found[0][1]["alarm"] and found[0][1]["seconds"] == 0, f"without a clock: {found}")
    os.remove(house.clock)
    await publish(event(house.place, 2, identity="net-clock", withdrawn=True))
    await until(lambda: observer.of(own, asked)[-1][1]["state"] == "cancelled", 2, "the cancelled warning")
    # Off: nothing of it any more.
    await client.publish(f"seismote/{house.name}/cmd/config", json.dumps(dict(id="off", set={"alarm": {"network": {"enabled": False}}})).encode(), qos=1)
    await until(lambda: [x for _, one, _, x in observer.heard if one == f"seismote/{house.name}/res/off" and x["phase"] == "done"], 10, "the change of settings")
    await asyncio.sleep(2)
    asked = time.time()
    await publish(event(house.place, identity="net-off"))
    await asyncio.sleep(1.5)
    expect(not observer.of(own, asked) and not house.changes(asked), "it warns though it is switched off")
    expect("warnings" not in observer.of(f"seismote/{house.name}/state/health", asked)[-1][1], "state/health has warnings though it is switched off")
    print("a hostile publisher, silence, withdrawal, no clock, switched off: as they should be; refused " + ", ".join(f"{k} {v}" for k, v in counts.items()))


async def main():
    program, tool, folder, line = sys.argv[1:5]
    rounds = 0 if "--hostile" in sys.argv else 1 if "--short" in sys.argv else 8
    rng, times = random.Random(27), Tables()
    # (It takes some seconds, in which nothing else happens here.)
    for depth in (8, 10, 12):
        times.p(0, depth), times.s(0, depth)
    samples = waveform(tool, folder)
    broker = RabbitMQ(folder, sys.argv[sys.argv.index("--rabbitmq") + 1]) if "--rabbitmq" in sys.argv else Mosquitto(folder)
    try:
        await watch(program, tool, folder, line, rounds, rng, times, samples, await broker.start())
    finally:
        broker.stop()


async def watch(program, tool, folder, line, rounds, rng, times, samples, broker):
    observer = Observer()
    await observer.start(broker)
    client = Client("fleet", version=5)
    await client.connect(broker.port, **broker.user)
    broker.accounts(["quiet"])
    detector = Program(os.path.join(folder, "network.log"), tool, "network", "run", *broker.detector()).start()
    await until(lambda: broker.is_heard(detector.log), 60, "the detector is at work")
    stations = dict(list(lattice(rng, CENTRE, 6).items())[:30])
    for name, place in stations.items():
        await client.publish(f"seismote/{name}/state/info", json.dumps(info(name, place, time.time())).encode(), retain=True)
        await client.publish(f"seismote/{name}/state/online", b"online", retain=True)
    found, running = [], []
    try:
        for number in range(rounds):
            for house in running:
                house.agent.stop()
            running, one = await earthquake(program, folder, line, broker, observer, client, samples, times, rng, number, stations)
            found += one
        quiet = House(program, folder, "quiet", shift(CENTRE, 20, 20), broker.settings("quiet"), line, driver="simulate", rate_hz=50, simulate={"scenario": "quiet"})
        running.append(quiet)
        quiet.agent.start()
        await until(lambda: observer.of("seismote/quiet/state/health"), 20, "the quiet house")
        await hostile(quiet, observer, client)
    finally:
        for house in running:
            house.agent.stop()
        # For whoever looks for what went wrong.
        with open(os.path.join(folder, "heard.jsonl"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(x) + "\n" for x in observer.heard if "health" not in x[1])
        detector.stop(60)
    wrong = []
    for what, values in [] if not found else (("version of the network event", [x[2] for x in found]), ("message that decides", [x[3] for x in found]),
                                                ("onset that decides", [x[3] for x in found if x[4]])):
        values = sorted(values)
        if not values:
            continue
        print(f"from the {what} to the line: {1e3 * statistics.median(values):.0f} ms (median), {1e3 * values[int(.99 * len(values))]:.0f} ms (99 %), {len(values)} times")
        if statistics.median(values) > LIMITS["median"] or values[int(.99 * len(values))] > LIMITS["most"]:
            wrong.append(f"the line is too late behind the {what}")
    grown = [x[3] for x in found if not x[4]]
    if grown:
        print(f"{len(grown)} of these lines were decided by peaks that grew, after the last onset: the earthquake was not expected to be that strong there before")
    expect(rounds == 0 or len(found) >= rounds * len(HOUSES) // 3, f"the line sounded at {len(found)} of {rounds * len(HOUSES)} houses")
    expect(not wrong, "; ".join(wrong))


finish(main())
