"""messages.py PROGRAMS FOLDER COUNT SEED: see deploy/checks/bad-input. PROGRAMS is the folder of the programs; with names of
classes behind SEED (Agents, Network, Feeds, Notify, Tool) only these."""

import asyncio
import fcntl
import json
import math
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
for name in ("feed.d", "notify.d", "association.d"):
    sys.path.append(os.path.join(HERE, "..", name))

from agent import Agent
from client import Client, response_to
from drawing import Drawing, network_event, stamp
from kinds import Mosquitto, free_port
from program import Feed
from programs import Program
from services import Server
from synthetic import kilometres, log_peak
from verdict import Judge, finish, verdict, within

PROGRAMS, FOLDER, COUNT, SEED = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
ONLY = sys.argv[5:]
# What an agent lets through, less what the others here ask of it.
COMMANDS_A_SECOND = 18
# These end the agent, or ask the updater for something: they are sent only where they must be refused.
ENDING = {"restart", "update", "update-confirm"}
judge = Judge(aloud=True)


def drawn(text):
    """[(topic below the station, recorded message)], as often as they are drawn: a line for each, with that number."""
    rows = [line.split() for line in text.strip().splitlines()]
    return [(topic, golden) for topic, golden, count in rows for _ in range(int(count))]


def told(counts):
    return f"{sum(counts.values())} refused ({', '.join(f'{reason} {count}' for reason, count in counts.items() if count)})"


class Case:
    """One program, with a broker of its own."""
    kinds = []

    def __init__(self):
        self.name = type(self).__name__.lower()
        self.folder = os.path.join(FOLDER, self.name)
        os.makedirs(self.folder)
        self.drawing = Drawing(f"{SEED} {self.name}")
        self.counted, self.memory = "", {}

    def expect(self, condition, words):
        return judge.expect(condition, f"{self.name}: {words}")

    async def until(self, condition, words, seconds=20):
        return self.expect(await within(condition, seconds), f"not within {seconds} s: {words}")

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def program(self, name, *words):
        return Program(self.path(f"{name}.log"), os.path.join(PROGRAMS, name), *words)

    @property
    def address(self):
        return f"mqtt://127.0.0.1:{self.broker.port}"

    async def run(self):
        self.broker = await Mosquitto(self.folder, "broker").start()
        self.client = await Client("hostile").connect(self.broker.port)
        try:
            await self.start()
            await self.storm()
            await self.judge()
        finally:
            await self.stop()
            await self.client.close(politely=False)
            self.broker.stop()
        print(f"{self.name}: {COUNT} hostile messages, {self.counted}", flush=True)

    def message(self):
        """A hostile message: (topic, payload, whether it is to be retained)."""
        dice = self.drawing.dice
        station = self.drawing.station()
        topic, golden = dice.choice(self.kinds)
        if topic.endswith("/+"):
            topic = topic[:-1] + dice.choice(["trigger", "clock", "a" * 70, "é", "x/y", "net-1", station])
        topic = f"seismote/{topic}" if topic.startswith("network/") else f"seismote/{station}/{topic}"
        if dice.random() < 0.02:
            topic += dice.choice(["/", "/more", "é", "/" * 100, " "])
        is_cbor = topic.endswith("trace") and dice.random() < 0.4
        return topic, self.drawing.drawn(self.drawing.good(golden, station), is_cbor), dice.random() < 0.1

    async def storm(self):
        """All of them, some at a time; the memory of the programs is looked at after a third and at the end."""
        for done in range(0, COUNT, 50):
            some = [self.message() for _ in range(min(50, COUNT - done))]
            await asyncio.gather(*(self.client.publish(topic, payload, retain=retain, seconds=60) for topic, payload, retain in some))
            if not self.check(done >= COUNT / 3):
                return
            await self.pace()

    async def pace(self):
        await asyncio.sleep(0.02)

    def check(self, is_warm):
        for program in self.programs:
            if not self.expect(program.running, f"{os.path.basename(program.line()[0])} has ended with {program.process.poll()}: "
                               f"{program.words()[-1500:]}"):
                return False
            if is_warm:
                self.memory.setdefault(program, program.memory_kib())
        return True

    def judge_memory(self, more=8192):
        """It must not grow with the number of messages: half as much again, and some."""
        if not self.check(True):
            return
        for program, before in self.memory.items():
            now = program.memory_kib()
            self.expect(now <= 1.5 * before + more, f"memory grows: {before} KiB after a third, {now} KiB at the end")
            self.counted += f"; {before / 1024:.1f} MiB after a third, {now / 1024:.1f} at the end"

    async def stop(self):
        for program in self.programs:
            was_running = program.running
            program.stop(15)
            if was_running:
                self.expect(program.process.returncode == 0, f"ends with {program.process.returncode}: {program.words()[-500:]}")


class Agents(Case):
    """seismoted: its commands, its network's events, what a broker has kept of it, what others write on its topics."""

    async def start(self):
        with open(os.path.join(HERE, "../commands.d/table.jsonl"), encoding="utf-8") as file:
            self.table = [json.loads(line) for line in file]
        self.table = [(row["cmd"], row.get("send", "{}").encode()) for row in self.table if "repeat" not in row]
        self.programs = [Agent(os.path.join(PROGRAMS, "seismoted"), self.folder, f"agent-{index}", {
            "station": {"latitude": 46.2, "longitude": 7.5, "elevation_m": 500, "groups": ["north"]},
            "alarm": {"network": {"enabled": True, "mmi": 3}},
            "trace": {"rate_hz": 20}, "mqtt": {"uri": [self.address], "home_assistant": {"enabled": True}},
            "locked": ["mqtt", "station", "sensor", "storage", "alarm", "trace", "health"],
        }) for index in range(4 if COUNT > 1000 else 2)]
        self.replies, self.health, self.traces, self.named = {}, {}, {}, [0, 0]
        self.reader = await Client("reader", take=self.take).connect(self.broker.port)
        for topic in ("res/#", "state/health", "data/trace"):
            await self.reader.subscribe(f"seismote/+/{topic}")
        await self.reader.subscribe("replies/#")
        # Replies without an id go to a response topic, which MQTT 5 has.
        self.asking = await Client("asking", version=5).connect(self.broker.port)
        # What a broker has kept of an event that a power cut has interrupted.
        for number in range(3 if COUNT > 1000 else 1):
            for agent in self.programs:
                if agent.running:
                    agent.kill()
                payload = self.drawing.drawn(self.drawing.good("event-update.json", agent.station))
                await self.client.publish(f"seismote/{agent.station}/event/current", payload, retain=True)
                self.health.pop(agent.station, None)
                agent.start()
            for agent in self.programs:
                await self.until(lambda agent=agent: agent.station in self.health, f"the agent works ({number}): {agent.words()[-300:]}")
        self.rejected = sum(self.health[agent.station]["mqtt"]["rejected_commands"] for agent in self.programs)

    def take(self, message):
        if message.retain:
            return
        if message.topic.startswith("replies/"):
            return self.reply(json.loads(message.payload) if message.payload[:1] == b"{" else {})
        station, rest = message.topic.split("/", 2)[1:]
        if rest == "state/health":
            self.health[station] = json.loads(message.payload)
        elif rest == "data/trace":
            trace = json.loads(message.payload)
            self.traces.setdefault((station, trace["boot"]), []).append(trace["seq"])
        elif message.payload[:1] == b"{":
            self.reply(json.loads(message.payload))

    def reply(self, reply):
        self.replies[reply.get("id", "")] = reply
        for error in reply.get("errors", []):
            self.expect(error.get("code") and error.get("message"), f"a refusal without words: {reply}")
            # The other errors are of the whole message, or of the station's state.
            is_of_member = error["code"] in ("type", "range", "unknown_key", "out_of_range") and "no command" not in error["message"] \
                and not error["message"].startswith(("A command is", "Replies are"))
            self.named[bool(error.get("path"))] += 1
            self.expect(error.get("path") or not is_of_member, f"a refusal that names no member: {error}")

    def message_to(self, agent):
        """A hostile message to that agent; with whether it is a command."""
        dice, drawing = self.drawing.dice, self.drawing
        kind = dice.random()
        if kind < 0.12:
            return "seismote/network/event", drawing.drawn(drawing.good("network-event", agent.station)), False, False
        if kind < 0.16:
            return "homeassistant/status", drawing.drawn(b'"online"'), False, False
        if kind < 0.2:
            topic, golden = dice.choice([("state/online", "online.txt"), ("state/info", "info.json"), ("state/config", "config.json"), (
                "event/current", "event-update.json"), ("event/last", "event-end.json"), ("state/alert/clock", "alert.json")])
            return f"seismote/{agent.station}/{topic}", drawing.drawn(drawing.good(golden, agent.station)), True, False
        verb, good = dice.choice(self.table)
        if dice.random() < 0.05:
            verb = dice.choice(["é", "a" * 300, "config/set", "CONFIG", "selfcheck/x", " ", "..", "ping%"])
        payload = drawing.drawn(good)
        if verb in ENDING:
            payload = b'{"hostile":' + (payload if len(payload) < 1000 else b"0")
        where = f"group/{dice.choice(['all', 'north', 'south'])}" if dice.random() < 0.03 and verb not in ENDING else agent.station
        return f"seismote/{where}/cmd/{verb}", payload, dice.random() < 0.02, True

    async def storm(self):
        await asyncio.gather(*(self.at(agent, COUNT // len(self.programs)) for agent in self.programs))

    async def at(self, agent, count):
        for number in range(count):
            topic, payload, retain, is_command = self.message_to(agent)
            wants = is_command and self.drawing.dice.random() < 0.8
            properties = response_to(f"replies/{number}", "x" * (number % 7)) if wants else b""
            await self.asking.publish(topic, payload, retain=retain, properties=properties, seconds=60)
            if retain and is_command:
                await self.client.publish(topic, b"", retain=True, seconds=60)
            if is_command:
                await asyncio.sleep(1 / COMMANDS_A_SECOND)
            if not number % 20 and not self.check(number >= count / 3):
                return

    async def judge(self):
        await asyncio.sleep(6)
        rejected = sum(self.health[agent.station]["mqtt"]["rejected_commands"] for agent in self.programs) - self.rejected
        for agent in self.programs:
            station, id = agent.station, f"after-{agent.station}"
            await self.client.publish(f"seismote/{station}/cmd/ping", json.dumps({"id": id}).encode())
            await self.until(lambda id=id: id in self.replies, f"a ping is answered: {agent.words()[-300:]}")
            self.expect(self.replies.get(id, {}).get("phase") == "done", f"the reply to a ping is {self.replies.get(id)}")
            for (name, _), numbers in self.traces.items():
                if name == station and numbers:
                    missing = max(numbers) - min(numbers) + 1 - len(set(numbers))
                    self.expect(not missing, f"{missing} traces are missing")
            count = sum(len(numbers) for (name, _), numbers in self.traces.items() if name == station)
            await self.until(lambda: sum(len(numbers) for (name, _), numbers in self.traces.items() if name == station) > count + 1,
                             "traces go on")
        self.expect(rejected > COUNT / 4, f"only {rejected} commands are counted as rejected")
        self.expect(self.named[1] > COUNT / 10, f"only {self.named[1]} errors name a member")
        self.counted = f"{rejected} commands rejected, {self.named[1]} errors name a member, {self.named[0]} are of the whole message"
        refused = {}
        for agent in self.programs:
            for reason, count in self.health[agent.station].get("warnings", {}).get("refused", {}).items():
                refused[reason] = refused.get(reason, 0) + count
        self.expect(sum(refused.values()) > COUNT / 100, f"events of the network refused: {refused}")
        self.counted += f", {sum(refused.values())} events of the network refused"
        self.judge_memory()

    async def stop(self):
        await super().stop()
        await self.reader.close(politely=False)
        await self.asking.close(politely=False)


class Network(Case):
    """seismote-network: stations' events, descriptions and presence, places that an operator enters, its own topics."""
    kinds = drawn("""
        event/trigger event-onset.json 5
        event/trigger event-update.json 2
        event/trigger event-end.json 2
        data/history/event/trigger event-end.json 2
        state/info info.json 2
        event/current event-update.json 1
        event/last event-end.json 1
        state/online online.txt 1
        network/place/+ info.json 1
        network/event network-event 1
        network/event/last network-event 1
        network/status health.json 1
        network/sync reply.json 1
    """)
    centre = (64.1, -20.3)

    async def start(self):
        self.programs = [self.program("seismote-network", "--broker", self.address, *(word for one in (
            f"network.state={self.path('state')}", "network.status_s=1", "network.confirm=true", "network.home_assistant=homeassistant")
            for word in ("--set", one))).start()]
        self.statuses = self.path("status")
        self.listener = self.broker.listener(self.statuses, "-t", "seismote/network/status")
        await self.until(lambda: self.status(), "the detector says its status")
        for index in range(12):
            name = f"hostile-{index}"
            await self.client.publish(f"seismote/{name}/state/info", self.drawing.good("info.json", name), retain=True)
        self.before = self.status()

    def status(self):
        """The newest one of the detector itself: its `t` and numbers are whole."""
        with open(self.statuses, "rb") as file:
            for line in reversed(file.read().splitlines()):
                try:
                    found = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if isinstance(found, dict) and isinstance(found.get("published"), int) and "open_events" in found:
                    return found
        return None

    def seen(self, path):
        with open(path, "rb") as file:
            return any(b"net-" in line and all(b'"good-%d"' % index in line for index in range(8)) for line in file.read().splitlines())

    async def judge(self):
        heard = self.path("events")
        listener = self.broker.listener(heard, "-t", "seismote/network/event")
        await asyncio.sleep(3)
        # An earthquake of magnitude 5, 10 km deep, that eight houses feel.
        origin = time.time() - 4
        offsets = [(6, 3), (-9, 4), (2, -11), (14, 9), (-15, -8), (10, -12), (-4, 15), (0, 1)]
        wide = 111.19 * math.cos(math.radians(self.centre[0]))
        houses = {f"good-{index}": (self.centre[0] + north / 111.19, self.centre[1] + east / wide)
                  for index, (east, north) in enumerate(offsets)}
        for name, (latitude, longitude) in houses.items():
            station = {"id": name, "latitude": latitude, "longitude": longitude, "elevation_m": 0}
            info = {"v": 1, "t": stamp(origin - 60), "station": station}
            await self.client.publish(f"seismote/{name}/state/info", json.dumps(info).encode(), retain=True)
            await self.client.publish(f"seismote/{name}/state/online", b"online", retain=True)
        for name, place in houses.items():
            distance = kilometres(self.centre, place)
            onset = origin + math.hypot(distance, 10) / 5.8
            pga = 10 ** log_peak(5, math.hypot(distance, 10), "P") / 100
            event = {"v": 1, "station": name, "boot": f"{name}-boot", "seq": 0, "t": stamp(onset), "event_type": "onset",
                     "event_id": f"{name}-{int(onset * 1000)}", "onset": stamp(onset), "pga": pga}
            await self.client.publish(f"seismote/{name}/event/trigger", json.dumps(event).encode())
        await self.until(lambda: self.seen(heard), "an earthquake is found: " + self.programs[0].words()[-300:])
        await asyncio.sleep(2)
        status = self.status()
        refused = {reason: count - self.before.get("refused", {}).get(reason, 0) for reason, count in status["refused"].items()}
        self.expect(sum(refused.values()) > COUNT / 4, f"only {refused} refused")
        self.counted = f"{told(refused)}, {status['taken']} taken"
        self.judge_memory(24_576)
        listener.kill()

    async def stop(self):
        await super().stop()
        self.listener.kill()


class Feeds(Case):
    """seismote-feed: traces as JSON, CBOR and miniSEED, events, descriptions, levels, replies of stations."""
    kinds = drawn("""
        data/trace trace.json 3
        data/trace trace.mseed 1
        data/history/trace trace.json 1
        data/history/trace trace.mseed 1
        event/trigger event-end.json 3
        event/last event-end.json 3
        data/history/event/trigger event-end.json 1
        network/event network-event 3
        network/event/last network-event 1
        state/info info.json 1
        state/config config.json 1
        state/level level.json 1
        state/health health.json 1
        state/online online.txt 1
        data/vibration vibration.json 1
        data/history/waveform/feed-1-1 waveform-v2.mseed 1
        res/feed-1-1 reply.json 1
    """)

    async def start(self):
        self.agent = Agent(os.path.join(PROGRAMS, "seismoted"), self.folder, "good", {
            "station": {"code": "GOOD", "latitude": 46.2, "longitude": 7.5, "elevation_m": 500},
            "trace": {"rate_hz": 100, "signals": ["raw"]}, "mqtt": {"uri": [self.address]}}).start()
        self.feed = Feed(os.path.join(PROGRAMS, "seismote-feed"), self.path("feed"), ["--broker", self.address], "feed.ahead_s=30").start()
        self.programs = [self.feed, self.agent]
        for index in range(12):
            name = f"hostile-{index}"
            for topic in ("info", "config"):
                payload = self.drawing.good(f"{topic}.json", name)
                payload = payload.replace(b'"code":"BASE"', b'"code":"H%d"' % index)
                await self.client.publish(f"seismote/{name}/state/{topic}", payload, retain=True)
        await self.until(lambda: self.metrics().get("seismote_feed_packets_total", 0) > 3, "packets of a station")
        self.before = self.metrics()

    def metrics(self):
        found = {}
        for line in self.feed.get("/metrics").splitlines():
            if line[:1] != "#":
                name, value = line.rsplit(" ", 1)
                found[name] = float(value)
        return found

    async def judge(self):
        before = self.metrics()
        event = network_event(time.time(), ("good-a", "good-b", "good-c"))
        # (The newest of all: those of the hostile stations are of the last seconds, too.)
        event["event_id"], event["origin_time"] = "net-good", stamp(time.time() + 5)
        await self.client.publish("seismote/network/event", json.dumps(event).encode())
        query = "/fdsnws/event/1/query?format=text&limit=100&orderby=time"
        await self.until(lambda: "net-good" in self.feed.get(query), "an event is served")
        await self.until(lambda: self.metrics()["seismote_feed_packets_total"] > before["seismote_feed_packets_total"] + 3, "packets go on")
        missing = [name for name in self.feed.missing() if "GOOD" in name]
        self.expect(not missing, f"samples of {missing} are missing")
        now = self.metrics()
        refused = {name.split('"')[1]: int(now[name] - self.before.get(name, 0))
                   for name in now if name.startswith("seismote_feed_refused_total")}
        unreadable = int(now["seismote_feed_unreadable_messages_total"] - self.before["seismote_feed_unreadable_messages_total"])
        self.expect(sum(refused.values()) + unreadable > COUNT / 4, f"only {refused} refused, {unreadable} traces unreadable")
        lines = [line for line in self.feed.words().splitlines() if "hostile-" in line or line.startswith("network")]
        for line in lines:
            self.expect(line.isprintable() and len(line) < 1000, f"a line for nobody: {line[:200]!r}")
        self.counted = f"{told(refused)}, {unreadable} traces unreadable, {len(lines)} lines of the log"
        self.judge_memory(32_768)


class Notify(Case):
    """seismote-notify: events of stations and of a network, presence, alerts."""
    kinds = drawn("""
        event/trigger event-onset.json 1
        event/trigger event-update.json 4
        event/trigger event-end.json 1
        network/event network-event 4
        state/online online.txt 1
        state/alert/+ alert.json 1
    """)

    async def start(self):
        self.server = Server(free_port()).start()
        rules = {"intensity": 2, "magnitude": 3, "alarm": True, "offline": True, "alerts": "info", "earthquake": True, "disputed": True}
        settings, address = self.path("notify.yaml"), f"http://127.0.0.1:{self.server.port}"
        with open(settings, "w", encoding="utf-8") as file:
            json.dump({
                "mqtt": {"uri": [self.address], "reconnect": {"min_s": 0.2, "max_s": 1}},
                "notify": {"state": self.folder, "recipients": [
                    {"name": "all", "ntfy": f"{address}/all", "names": True, "places": True, "rules": rules},
                    {"name": "after", "ntfy": f"{address}/after", "stations": ["good"], "rules": {"intensity": 2}}]}}, file)
        self.programs = [self.program("seismote-notify", "--config", settings).start()]
        await self.until(lambda: ": connected to" in self.programs[0].words(), "a connection")
        await asyncio.sleep(0.5)

    async def judge(self):
        now = time.time()
        event = {"v": 1, "station": "good", "event_type": "update", "event_id": f"good-{int(now)}", "version": 1,
                 "onset": stamp(now - 5), "mmi": 5, "class": {"likely": "earthquake", "p": .9}}
        await self.client.publish("seismote/good/event/trigger", json.dumps(event).encode())
        await self.until(lambda: self.server.of("after"), "a message after all", 30)
        titles = self.server.titles("after")
        self.expect(titles == ["Shaking, probably an earthquake, intensity V"], f"after has {titles}")
        for one in self.server.of("all"):
            self.expect((one["title"] + one["message"].replace("\n", "")).isprintable(), f"a message for nobody: {one}")
        # (20 an hour of the network, as many of all else, the same of urgent ones, and what was held back.)
        self.expect(len(self.server.of("all")) <= 100, f"{len(self.server.of('all'))} messages within minutes")
        # (It says their number at most once a minute.)
        wanted = COUNT // 4 if COUNT > 1000 else 1
        await self.until(lambda: self.unreadable() >= wanted, f"{wanted} messages that could not be read are told", 70)
        self.counted = f"{self.unreadable()} could not be read when that was said last, {len(self.server.of('all'))} messages for people"
        self.judge_memory()

    def unreadable(self):
        counts = re.findall(r"(\d+) messages could not be read", self.programs[0].words())
        return int(counts[-1]) if counts else 0

    async def stop(self):
        await super().stop()
        self.server.stop()


class Screen:
    """`seismote ctl watch` on a terminal."""

    def __init__(self, *words):
        self.shown = b""
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 300, 0, 0))
        self.words_of = words
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *words], stdin=slave, stdout=slave, stderr=slave,
                                        env={**os.environ, "TERM": "xterm"})
        os.close(slave)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        while True:
            try:
                if not select.select([self.master], [], [], 1)[0]:
                    continue
                data = os.read(self.master, 1 << 16)
            except OSError:
                return
            if not data:
                return
            self.shown = (self.shown + data)[-200_000:]


class Tool(Case):
    """seismote: what shows messages as they come, what asks stations, and what reads recorded messages."""
    kinds = drawn("""
        state/summary summary.json 3
        state/online online.txt 1
        state/info info.json 1
        state/health health.json 1
        state/config config.json 1
        state/level level.json 1
        state/update update.json 1
        state/alert/+ alert.json 1
        event/trigger event-update.json 3
        event/trigger event-end.json 1
        event/last event-end.json 1
        data/trace trace.json 3
        data/trace trace.mseed 1
        network/status health.json 1
        network/place/+ info.json 1
        network/event network-event 1
    """)
    # What is recorded of the result of a command's reply; else that of `status`.
    results = {"config-get": "config.json", "event": "event-end.json", "log-tail": "log.json"}
    # STATIONS: all twelve; ONE: one of them.
    asking = [line.split() for line in """
        ctl status STATIONS --timeout 1
        ctl status STATIONS --timeout 1 --json
        ctl alerts STATIONS --timeout 1
        ctl get STATIONS --timeout 1
        ctl ping STATIONS --timeout 1
        ctl history STATIONS --timeout 1
        ctl history STATIONS --timeout 1 --json
        ctl log STATIONS --duration 1 --timeout 1
        ctl event ONE-20260105T102030120Z --timeout 1
        ctl snapshot ONE --last 10 -o snapshot --timeout 1
        ctl stream ONE --duration 1 --timeout 1
        ctl list --wait 1
        ctl list --wait 1 --json
        ctl events --last
        ctl events --since 1d --timeout 1
        ctl events --since 1d --timeout 1 --csv
        ctl events --since 1d --timeout 1 --quakeml
        network stations --wait 1
        network stations --wait 1 --json
    """.strip().splitlines()]
    showing = [line.split() for line in ("ctl watch --plain", "ctl watch --json", "ctl events --updates", "ctl events --json")]

    async def start(self):
        self.tool = os.path.join(PROGRAMS, "seismote")
        self.programs = []
        for number, words in enumerate(self.showing):
            program = Program(self.path(f"shown-{number}"), self.tool, *words, "--broker", self.address)
            self.programs.append(program.start())
        self.screens = [Screen(self.tool, "ctl", "watch", *names, "--broker", self.address) for names in (["hostile-1"], [])]
        self.replying = await Client("replying", take=self.answer).connect(self.broker.port)
        await self.replying.subscribe("seismote/+/cmd/#")
        await asyncio.sleep(1)

    def answer(self, message):
        """A hostile reply to each request, some of them after a good `accepted`."""
        try:
            request = json.loads(message.payload)
            station, verb = message.topic.split("/")[1], message.topic.rsplit("/", 1)[1]
            topic = f"seismote/{station}/res/{request['id']}"
        except (ValueError, KeyError, TypeError):
            return
        dice = self.drawing.dice
        errors = [] if dice.random() < .7 else [{"path": "/a", "code": "range", "message": "No.", "got": 1, "allowed": "2"}]
        good = {"v": 1, "station": station, "boot": "b", "seq": 0, "t": stamp(time.time()), "id": request["id"], "cmd": verb,
                "phase": "failed" if errors else "done", "rev": 1, "errors": errors,
                "result": json.loads(self.drawing.good(self.results.get(verb, "health.json"), station))}
        if verb == "alerts":
            good["result"] = {"alerts": [json.loads(self.drawing.good("alert.json", station))]}
        elif verb in ("events", "history"):
            good["result"] = {"events": [json.loads(self.drawing.good("event-end.json", station))], "next": None,
                              "columns": ["t", "x"], "rows": [[1, 2], [3, None]]}
        payload = self.drawing.drawn(json.dumps(good).encode())
        asyncio.get_running_loop().create_task(self.replying.publish(topic, payload, qos=0))

    async def ask(self, words):
        """One command, which ends by itself; its status is its own."""
        station = f"hostile-{self.drawing.dice.randrange(12)}"
        command = []
        for word in words:
            command += [f"hostile-{index}" for index in range(12)] if word == "STATIONS" else [word.replace("ONE", station)]
        await self.ended_well([*command, "--broker", self.address])

    async def ended_well(self, command):
        process = await asyncio.create_subprocess_exec(
            "timeout", "-k", "1", "30", self.tool, *command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, cwd=self.folder)
        said = (await process.communicate())[0]
        words = " ".join(command)[:60]
        self.ended[process.returncode] = self.ended.get(process.returncode, 0) + 1
        self.expect(0 <= process.returncode < 124 and process.returncode not in (64, 70),
                    f"{words} ends with {process.returncode}: {said[-1500:].decode(errors='replace')}")
        self.look(said, words)

    def look(self, said, words):
        """Nothing that a terminal would obey."""
        wrong = re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae", said)
        self.expect(not wrong, f"{words} prints {said[max(0, wrong.start() - 60):wrong.end() + 20]!r}" if wrong else "")

    def check(self, is_warm):
        for screen in self.screens:
            if not self.expect(screen.process.poll() is None, f"{' '.join(screen.words_of[1:4])} has ended with "
                               f"{screen.process.poll()}: {screen.shown[-2000:].decode(errors='replace')}"):
                return False
        return super().check(is_warm)

    async def judge(self):
        self.ended = {}
        rounds = max(1, COUNT // 500)
        for number in range(rounds * len(self.asking) // 4):
            # Four at a time; what is retained is another each time.
            await asyncio.gather(*(self.ask(self.asking[(4 * number + index) % len(self.asking)]) for index in range(4)))
            for _ in range(20):
                topic, payload, _ = self.message()
                await self.client.publish(topic, payload, retain=True)
        summary = json.loads(self.drawing.good("summary.json", "hostile-1"))
        summary["pga"] = 0.123456
        before = len(self.programs[0].words())
        await asyncio.sleep(1)
        await self.client.publish("seismote/hostile-1/state/summary", json.dumps(summary).encode())
        await self.until(lambda: "PGA 0.123" in self.programs[0].words()[before:], "a summary is shown")
        for screen in self.screens:
            await self.until(lambda screen=screen: b"0.123" in screen.shown, f"{' '.join(screen.words_of[1:4])} shows a summary")
        event = json.loads(self.drawing.good("event-end.json", "hostile-1"))
        event["boot"] = "another-run"
        await self.client.publish("seismote/hostile-1/event/trigger", json.dumps(event).encode())
        await self.until(lambda: event["event_id"] in self.programs[3].words(), "an event is printed")
        for program in self.programs:
            self.look(program.words().encode(errors="replace"), " ".join(program.line()[1:4]))
        await self.recorded()
        ends = ", ".join(f"{count} with {status}" for status, count in sorted(self.ended.items()))
        self.counted = f"commands ended: {ends}"
        self.judge_memory(24_576)

    async def recorded(self):
        """Files of hostile messages, for what converts and replays them."""
        jsonl = self.path("messages.jsonl")
        with open(jsonl, "wb") as objects:
            for _ in range(COUNT):
                topic, payload, _ = self.message()
                arrival = self.drawing.dice.choice([time.time(), time.time(), -1, 1e300, 0])
                line = payload[:20_000].replace(b"\n", b" ")
                objects.write(b'{"topic":%s,"payload":%s,"arrival":%r}\n' % (json.dumps(topic).encode(), line, arrival))
        process = await asyncio.create_subprocess_exec(
            self.tool, "network", "replay", jsonl, "-o", self.path("out.jsonl"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = (await process.communicate())[0]
        self.expect(process.returncode in (0, 65),
                    f"network replay ends with {process.returncode}: {said[-1500:].decode(errors='replace')}")
        self.look(said, "network replay")
        # One hostile message among good ones, which ends a conversion.
        for number in range(max(8, COUNT // 50)):
            await self.convert(number)

    async def convert(self, number):
        lines, dice = self.path("messages.txt"), self.drawing.dice
        golden = dice.choice(["trace.json", "trace.json", "trace.cbor", "trace.mseed", "waveform-v2.mseed", "waveform-v3.mseed"])
        topic = "trace" if golden.startswith("trace") else "waveform/hostile-1-1"
        good = self.drawing.good(golden, "hostile-1")
        with open(lines, "w", encoding="ascii") as file:
            for payload in (good, self.drawing.drawn(good, dice.random() < 0.3), good):
                file.write(f"seismote/hostile-1/data/{topic} {payload.hex()}\n")
        await self.ended_well(["convert", lines, "-o", self.path("out.csv" if number % 2 else "out.mseed"), "--count", "1e-6"])

    async def stop(self):
        for program in self.programs:
            if program.running:
                program.process.send_signal(signal.SIGINT)
                program.process.wait(10)
        for screen in self.screens:
            if screen.process.poll() is None:
                os.write(screen.master, b"q")
                try:
                    self.expect(screen.process.wait(10) in (0, 2, 130), f"a screen ends with {screen.process.returncode}")
                except subprocess.TimeoutExpired:
                    screen.process.kill()
                    self.expect(False, "a screen does not end at q")
        await self.replying.close(politely=False)


async def main():
    cases = [one for one in (Agents, Network, Feeds, Notify, Tool) if not ONLY or one.__name__ in ONLY]
    results = await asyncio.gather(*(one().run() for one in cases), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            traceback.print_exception(result)
            judge.expect(False, f"{type(result).__name__}: {result}")
    return verdict(judge.complaints)


finish(main())
