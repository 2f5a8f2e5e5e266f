"""run.py NOTIFY FOLDER FAKETIME APPRISE, see deploy/checks/notify."""

import asyncio
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
import time

from client import Client
from kinds import Mosquitto, free_port
from programs import Program
from services import Mail, Server
from verdict import Judge, verdict, within

program, folder, faketime, apprise = sys.argv[1:]
SECRET = "tk_secret_of_anna"
judge = Judge(aloud=True)
expect = judge.expect


def utc(text):
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc).timestamp()


class Clock:
    """The time that a program sees that is started now: `start` (s of UTC; None: the true one), so many times as fast."""

    def __init__(self, start=None, speed=1):
        self.began = time.time()
        self.start, self.speed = self.began if start is None else start, speed

    def now(self):
        return self.start + (time.time() - self.began) * self.speed

    def environment(self):
        shift = self.start - time.time()
        if abs(shift) < 1 and self.speed == 1:
            return {}
        return {"LD_PRELOAD": faketime, "FAKETIME": f"{shift:+.3f} x{self.speed}", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                "FAKETIME_CACHE_DURATION": "100000"}


class Notify(Program):
    def __init__(self, name, broker, recipients, path, **more):
        self.folder = os.path.join(folder, name)
        os.makedirs(self.folder)
        self.settings, self.path, self.clock = os.path.join(self.folder, "notify.yaml"), path, Clock()
        super().__init__(os.path.join(self.folder, "log"), program, "--config", self.settings)
        with open(self.settings, "w", encoding="utf-8") as file:
            json.dump({"mqtt": {"uri": [f"mqtt://127.0.0.1:{broker.port}"], "reconnect": {"min_s": 0.2, "max_s": 1}},
                       "notify": {"state": self.folder, "recipients": recipients, **more}}, file)

    def start(self, clock=None):
        self.clock = clock or Clock()
        return super().start(env={"PATH": self.path, **self.clock.environment()})

    def ended(self):
        """Its status after a polite end."""
        self.stop(10)
        return self.process.returncode

    def memory(self):
        return self.memory_kib("VmHWM") / 1024

    async def connected(self, times=1):
        await until(lambda: self.words().count(": connected to") >= times, f"connection {times}", 15)
        # The subscriptions are behind it.
        await asyncio.sleep(0.3)


async def until(is_so, words, seconds=10):
    return expect(await within(is_so, seconds), f"not within {seconds} s: {words}")


def stamp(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")


def event(station, onset, intensity, version=1, **more):
    return f"seismote/{station}/event/trigger", json.dumps({
        "v": 1, "station": station, "event_type": "update", "event_id": f"{station}-{int(onset * 1000)}", "version": version,
        "onset": stamp(onset), "mmi": intensity, "class": {"likely": "earthquake", "p": 0.9}, **more}).encode()


def network(origin, version, magnitude, stations, **more):
    return "seismote/network/event", json.dumps({
        "event_type": "update", "event_id": f"net-{int(origin)}", "version": version, "origin_time": stamp(origin),
        "latitude": 46.25, "longitude": 7.5, "depth_km": 8, "place": {"quality": "good"},
        "magnitude": magnitude and {"value": magnitude}, "mmi": {"value": 4.1, "station": stations[0][0]},
        "stations": [{"id": id, "event_id": f"{id}-{int(onset * 1000)}"} for id, onset in stations], **more}).encode()


def person(name, port, **more):
    return {"name": name, "ntfy": f"http://127.0.0.1:{port}/{name}", "rules": {"intensity": 2, "magnitude": 3}, **more}


async def storm(client, server, notify, mail):
    """40 stations, each message twice."""
    onsets = [(f"house-{i}", notify.clock.now() - 30 + i / 4) for i in range(40)]
    began = time.monotonic()
    for version in (1, 2, 3):
        for id, onset in onsets:
            for _ in range(2):
                await client.publish(*event(id, onset, 1.5 + version, version))
        if version < 3:
            await client.publish(*network(onsets[0][1] - 3, version, 4.6 if version == 2 else None, onsets[:10 * version]))
    took = time.monotonic() - began
    await until(lambda: server.of("anna") and mail.all() and server.apprise() and
                "4.6" in (server.titles("updates") or [""])[-1], "the messages of an earthquake", 20)
    await asyncio.sleep(1)
    titles = server.titles("anna")
    expect(titles == ["Shaking, probably an earthquake, intensity III"], f"anna has {titles}")
    mails = mail.all()
    expect(len(mails) == 1 and "\nSubject: Shaking, probably an earthquake" in mails[0], f"{len(mails)} mails")
    expect([one["title"] for one in server.apprise()] == titles, f"Apprise has {server.apprise()}")
    updates = server.of("updates")
    expect(2 <= len(updates) <= 10 and len({one["sequence_id"] for one in updates}) == 1, f"updates: {updates}")
    expect([one["priority"] for one in updates] == [3] + [2] * (len(updates) - 1), "an update makes a noise")
    expect(updates[-1]["title"].startswith("Earthquake M 4.6"), f"the last update is {updates[-1]}")
    expect(re.fullmatch(r"https://page\.example/#/earthquake/net-\d+", updates[-1]["click"]), f"{updates[-1]}")
    for one in [*server.of("anna"), *updates]:
        expect("house" not in json.dumps(one) and "46.2" not in json.dumps(one), f"names or places: {one}")
    headers = next(headers for _, _, headers, content in server.got if content.get("topic") == "anna")
    expect(headers.get("Authorization") == f"Bearer {SECRET}", "ntfy gets no token")
    print(f"40 stations, 242 messages in {took:.1f} s: 1 message for each of three recipients, "
          f"{len(updates)} editions of it for one that replaces", flush=True)


async def latency(client, server, notify):
    """From the broker to the service, with one service that never answers."""
    server.silent_topics = {"deaf"}
    times = []
    for i in range(5):
        count = len(server.of("quick"))
        began = time.monotonic()
        await client.publish(*event("quick-house", notify.clock.now() - 900 + i * 100, 3))
        await until(lambda: len(server.of("quick")) > count, "a message beside a service that does not answer")
        times.append(time.monotonic() - began)
    expect(max(times) < 10, f"a message took {max(times):.1f} s beside a service that does not answer")
    print(f"from the broker to the service: {statistics.median(times) * 1000:.0f} ms (median of {len(times)}), "
          f"at most {max(times) * 1000:.0f} ms, while another service does not answer", flush=True)


async def hostile(client, notify):
    """What is no message of a station."""
    now = notify.clock.now()
    for topic, payload in [
            ("x/event/trigger", b"\xff\xfe"), ("x/event/trigger", b"[" * 5000), event("liar", now + 3600, 9),
            ("x/event/trigger", event("other", now, 9)[1]), ("network/event", b'{"event_id":"net-1"}'),
            ("x/state/online", b"maybe"), ("x/state/alert/a", b"no"), ("x/event/trigger", b"x" * 2_000_000)]:
        await client.publish(topic if topic.startswith("seismote") else f"seismote/{topic}", payload)
    await until(lambda: "messages could not be read" in notify.words(), "a word about what could not be read")
    expect(notify.running, "hostile messages end the program")


def arguments():
    """The command lines of all processes."""
    for id in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{id}/cmdline", "rb") as file:
                yield file.read()
        except OSError:
            pass


async def outage(path):
    """The service is away, and the program is killed meanwhile."""
    server, broker = Server(free_port()), await Mosquitto(folder, "outage-broker").start()
    client = await Client("stations").connect(broker.port)
    notify = Notify("outage", broker, [person("bert", server.port)], path, client_id="outage").start(Clock(speed=60))
    await notify.connected()
    onset = notify.clock.now() - 120
    await client.publish(*event("house-1", onset, 3))
    await until(lambda: "next attempt in 30 s" in notify.words(), "a first attempt that fails")
    notify.kill()
    notify.start(Clock(notify.clock.now(), 60))
    await notify.connected(2)
    # The same again, and a version that is later: nothing new for somebody who is to be told already.
    await client.publish(*event("house-1", onset, 3))
    await client.publish(*event("house-2", onset + 3, 3.5, 2))
    server.behaviour = "failing"
    server.start()
    await until(lambda: server.refused, "an attempt at a server that fails", 15)
    server.behaviour = "good"
    await until(lambda: "bert: delivered" in notify.words(), "a message after the outage", 30)
    count = len(server.refused)
    notify.kill()
    notify.start(Clock(notify.clock.now(), 60))
    await asyncio.sleep(1.5)
    titles = server.titles("bert")
    expect(titles == ["Shaking, probably an earthquake, intensity III"], f"after an outage: {titles}")
    expect(notify.ended() == 0, "SIGTERM is no good end")
    server.stop()
    await client.close()
    broker.stop()
    print(f"outage: refused connections, {count} answers 503, two kill -9: one message", flush=True)


async def absence(path):
    """A station and a broker that are away for ten minutes of the program's clock."""
    server = Server(free_port()).start()
    broker = await Mosquitto(folder, "absent").start()
    rules = {"offline": True, "alerts": "warning", "codes": ["vibration_limit"]}
    notify = Notify("absence", broker, [
        {"name": "admin", "ntfy": f"http://127.0.0.1:{server.port}/admin", "names": True, "rules": rules}],
        path, client_id="absence").start(Clock(speed=200))
    await notify.connected()
    own = await Client("house").connect(broker.port)
    # (Before the message: a second of this clock is five milliseconds.)
    away = notify.clock.now()
    for id, word in (("cellar", b"offline"), ("attic", b"offline"), ("hall", b"online")):
        await own.publish(f"seismote/{id}/state/online", word, retain=True)
    await own.publish("seismote/attic/state/online", b"online", retain=True)
    for code, severity in (("clock", "info"), ("sensor_missing", "error"), ("vibration_limit", "info")):
        alert = {"code": code, "severity": severity, "since": stamp(notify.clock.now() - 5), "message": "Something."}
        await own.publish(f"seismote/hall/state/alert/{code}", json.dumps(alert).encode(), retain=True)
    await until(lambda: "A station is offline: cellar" in server.titles("admin"), "a station that is offline")
    waited = notify.clock.now() - away
    expect(600 <= waited < 3000, f"a station was said to be offline after {waited:.0f} s")
    await own.publish("seismote/cellar/state/online", b"online", retain=True)
    await until(lambda: "A station is online again: cellar" in server.titles("admin"), "a station that is back")
    broker.stop()
    await until(lambda: "The broker cannot be reached" in server.titles("admin"), "a broker that is away")
    # (With a clock so fast the connection's own waiting is not to be relied on.)
    notify.stop()
    await broker.start()
    notify.start(Clock(notify.clock.now()))
    await until(lambda: "The broker is there again" in server.titles("admin"), "a broker that is back")
    await asyncio.sleep(0.5)
    titles = sorted(server.titles("admin"))
    expect(titles == ["A station is offline: cellar", "A station is online again: cellar", "Alert: sensor_missing: hall",
                      "Alert: vibration_limit: hall", "The broker cannot be reached", "The broker is there again"],
           f"the administrator has {titles}")
    notify.stop()
    broker.stop()
    server.stop()
    print(f"absence: said after {waited:.0f} s of the program's clock, of a station and of the broker, and taken back", flush=True)


async def night(path, words, evening, before, end):
    """Quiet hours 22:00-07:00 in Zurich: what is ordinary comes at `end` (UTC), and not before."""
    name = f"night-{words}"
    server, broker = Server(free_port()).start(), await Mosquitto(folder, f"{name}-broker").start()
    client = await Client("stations").connect(broker.port)
    notify = Notify(name, broker, [person("carla", server.port, quiet="22:00-07:00")], path, client_id=name,
                    time_zone="Europe/Zurich").start(Clock(utc(evening)))
    await notify.connected()
    now = notify.clock.now()
    await client.publish(*event("house-1", now - 200, 3))
    await client.publish(*event("house-2", now - 400, 3, test=True, alarm=True))
    await client.publish(*event("house-3", now - 600, 5.4))
    await until(lambda: server.of("carla"), "a message at night of intensity V")
    await asyncio.sleep(0.7)
    expect(notify.ended() == 0, "SIGTERM is no good end")
    strong = server.of("carla")
    expect([one["title"] for one in strong] == ["Shaking, probably an earthquake, intensity V"], f"at night: {strong}")
    expect([one["priority"] for one in strong] == [5], f"at night: {strong}")
    notify.start(Clock(utc(before), 60))
    await until(lambda: len(server.of("carla")) > 1, "the digest", 15)
    at = notify.clock.now()
    expect(0 <= at - utc(end) < 1200, f"the digest came {at - utc(end):.0f} s after the end of quiet hours")
    digest = server.of("carla")[1]
    lines = digest["message"].split("\n")
    expect(digest["title"] == "2 messages were held back" and len(lines) == 2, f"the digest is {digest}")
    expect(sum("Test: " in line for line in lines) == 1, f"the digest is {digest}")
    notify.stop()
    server.stop()
    await client.close()
    broker.stop()
    print(f"quiet hours, {words}: one message at night, the digest {at - utc(end):.0f} s after 07:00 by the local clock", flush=True)


async def weekly(broker, path):
    """The weekly test on a Monday after the change of the clock, once, also with a new start."""
    server = Server(free_port()).start()
    notify = Notify("weekly", broker, [person("dora", server.port)], path, client_id="weekly", time_zone="Europe/Zurich",
                    test="mon 12:00").start(Clock(utc("2027-03-29T09:58:00"), 60))
    await until(lambda: server.of("dora"), "the weekly test", 15)
    at = notify.clock.now() - utc("2027-03-29T10:00:00")
    expect(0 <= at < 1200, f"the weekly test came {at:.0f} s after its time")
    notify.stop()
    notify.start(Clock(notify.clock.now(), 60))
    await asyncio.sleep(1.5)
    notify.stop()
    found = server.of("dora")
    expect([one["title"] for one in found] == ["Weekly test"] and "stations are online" in found[0]["message"], f"{found}")
    server.stop()
    print("weekly test: once, at 12:00 by the local clock", flush=True)


async def main():
    broker = await Mosquitto(folder, "broker").start()
    server, mail = Server(free_port()).start(), Mail(os.path.join(folder, "bin"))
    os.symlink(apprise, os.path.join(folder, "bin", "apprise"))
    path = f"{folder}/bin:/usr/bin:/bin"
    token, addresses = os.path.join(folder, "token"), os.path.join(folder, "apprise.conf")
    with open(token, "w", encoding="utf-8") as file:
        file.write(f"{SECRET}\n")
    with open(addresses, "w", encoding="utf-8") as file:
        file.write(f"json://127.0.0.1:{server.port}/apprise\n")
    rules = {"intensity": 2, "magnitude": 3}
    notify = Notify("main", broker, [
        person("anna", server.port, token_file=token, rules={**rules, "offline": True}), person("updates", server.port, updates=True),
        {"name": "board", "apprise": addresses, "rules": rules}, {"name": "post", "mail": "me@example.org", "rules": rules},
        person("quick", server.port, stations=["quick-house"]), person("deaf", server.port, stations=["quick-house"]),
    ], path, page="https://page.example/")
    client = await Client("stations").connect(broker.port)

    tried = subprocess.run([program, "test", "anna", "--config", notify.settings], capture_output=True, text=True,
                           check=False, env={"PATH": path})
    expect(tried.returncode == 0 and "anna: delivered" in tried.stdout and server.titles("anna") == ["Test"], f"test: {tried}")
    server.got.clear()
    notify.start()
    await notify.connected()
    others = [asyncio.create_task(one) for one in (
        outage(path), absence(path), weekly(broker, path))]
    await storm(client, server, notify, mail)
    await latency(client, server, notify)
    expect(not any(SECRET.encode() in line for line in arguments()), "the token is in a command line")
    await hostile(client, notify)
    # A broker that is away for a moment is nothing.
    broker.stop()
    await broker.start()
    await notify.connected(2)
    expect(not any("broker" in title for title in server.titles("anna")), "a short loss of the broker is told")
    print(f"memory: {notify.memory():.1f} MiB at most", flush=True)
    expect(notify.memory() < 40, "more than 40 MiB of memory")
    notify.stop()
    server.stop()
    await asyncio.gather(
        *others,
        night(path, "spring", "2027-03-27T22:00:00", "2027-03-28T04:58:00", "2027-03-28T05:00:00"),
        night(path, "autumn", "2027-10-30T21:00:00", "2027-10-31T05:58:00", "2027-10-31T06:00:00"))
    await client.close(politely=False)
    broker.stop()
    return verdict(judge.complaints)


sys.exit(asyncio.run(main()))
