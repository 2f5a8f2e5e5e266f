"""The conversation that every broker gets, and the list of what came of it."""

import asyncio
import json
import os
import time

from agent import Agent
from client import Client
from proxy import Proxy
from readings import Readings
from verdict import within

CONTENT_TYPE, RECEIVE_MAXIMUM, SERVER_KEEPALIVE, SESSION_EXPIRY = 0x03, 0x21, 0x13, 0x11
PACKET_MAXIMUM, TOPIC_ALIASES = 0x27, 0x22
SAID = {RECEIVE_MAXIMUM: "receive maximum", SERVER_KEEPALIVE: "keepalive", SESSION_EXPIRY: "session expiry",
        PACKET_MAXIMUM: "packet maximum", TOPIC_ALIASES: "topic aliases"}


class Conversation:
    def __init__(self, broker, folder, program):
        self.broker, self.folder, self.program = broker, folder, program
        self.station = broker.name.replace(".", "")
        self.readings, self.clients, self.seen = Readings(self.station), [], {}
        # Feature -> True, False, or a word that says how.
        self.results, self.figures, self.notes = {}, {}, []
        self.proxy = self.agent = self.end = None

    def topic(self, rest):
        return f"seismote/{self.station}/{rest}"

    def take(self, message):
        self.readings.take(message)
        self.seen.setdefault(message.topic, []).append(message)

    async def reader(self, pattern="seismote/#", take=None, tries=3):
        """A subscriber of the check's own. (amqtt has left a subscription unanswered on a busy machine.)"""
        client = Client(f"reader-{self.station}-{len(self.clients)}", self.broker.version, take)
        self.clients.append(client)
        await client.connect(self.broker.port, user=self.broker.user, password=self.broker.password)
        try:
            granted = await client.subscribe(pattern)
        except asyncio.TimeoutError:
            if tries == 1:
                raise
            self.notes.append(f"subscription to {pattern} not answered")
            await client.close()
            return await self.reader(pattern, take, tries - 1)
        if granted > 1:
            self.notes.append(f"subscription to {pattern} refused with {granted}")
        return client

    def result(self, feature, value):
        self.results[feature] = value
        return value

    def launch(self, protocol):
        mqtt = {"uri": f"mqtt://127.0.0.1:{self.proxy.port}", "protocol": protocol, "keepalive_s": 10}
        if self.broker.user:
            secret = os.path.join(self.folder, self.station + ".password")
            with open(secret, "w", encoding="utf-8") as file:
                file.write(self.broker.password + "\n")
            os.chmod(secret, 0o600)
            mqtt |= {"username": self.broker.user, "password_file": secret}
        self.agent = Agent(self.program, os.path.join(self.folder, "stations"), self.station, {"mqtt": mqtt}).start()

    def online(self, since, text="online"):
        return any(at > since and said == text for at, said, _ in self.readings.online)

    async def run(self, seconds):
        """The whole conversation; broken off after so many seconds, of which the broker's own starts do not count."""
        async with asyncio.timeout(seconds) as self.end:
            await self.talk()

    async def start(self):
        """Starts the broker. (On a busy machine RabbitMQ took 100 s. How long a start may last it knows itself.)"""
        now = asyncio.get_running_loop().time
        left = self.end.when() - now()
        self.end.reschedule(None)
        took = (await self.broker.start()).took
        self.end.reschedule(now() + left)
        self.figures["start"] = max(self.figures.get("start", 0), took)

    async def talk(self):
        await self.start()
        self.proxy = await Proxy(self.broker.port).open()
        main = await self.reader(take=self.take)
        self.notes += [f"{name} {main.connack[number]}" for number, name in SAID.items() if number in main.connack]
        await self.arrival()
        await self.stream()
        await self.kept()
        await self.overwritten()
        await self.command()
        await self.death()
        await self.restart()
        began = time.monotonic()
        self.figures["stop"] = await asyncio.to_thread(self.agent.stop)
        self.result("offline at the end", await within(lambda: self.online(began, "offline"), 3))
        self.result("ends with 0", self.agent.process.returncode == 0)

    async def arrival(self):
        """Online, in the version that the broker has; all states at birth."""
        began = time.monotonic()
        self.launch(self.broker.protocol)
        here = await within(lambda: self.online(began), self.broker.arrival)
        if not here and self.broker.protocol == 5:
            self.result("falls back", False)
            await asyncio.to_thread(self.agent.stop)
            self.launch("3.1.1")
            here = await within(lambda: self.online(began), self.broker.arrival)
        elif 4 in self.proxy.versions and self.broker.protocol == 5:
            self.result("falls back", True)
        self.figures["online"] = time.monotonic() - began
        self.figures["attempts"] = len(self.proxy.attempts)
        self.result("online", here)
        version = self.proxy.versions[-1] if self.proxy.versions else None
        self.figures["version"] = {5: "5", 4: "3.1.1"}.get(version, "?")
        if self.broker.protocol == 5:
            self.result("MQTT 5", version == 5)
        for name, topic in (("info", "state/info"), ("config", "state/config"), ("schema", "state/config/schema")):
            self.result(name, await within(lambda topic=topic: self.topic(topic) in self.seen, 10))

    async def stream(self):
        """Traces, events with their whole waveform, acknowledgements."""
        await asyncio.sleep(8)
        self.result("event", await within(lambda: self.readings.ended, 15))
        await asyncio.sleep(0.5)
        came, missing, again = self.readings.account("trace")
        self.figures["traces"] = f"{came}-{missing}+{again}"
        self.result("traces", came > 5 and missing == 0)
        missing = self.readings.account("trigger")[1]
        self.result("waveform", bool(self.readings.ended) and missing == 0 and not self.readings.broken_waveforms())
        for name, why in self.readings.broken_waveforms():
            self.notes.append(f"waveform of {name}: {why}")
        if self.figures["version"] == "5" and self.broker.version == 5:
            blocks = self.seen.get(self.topic("data/trace"), [])
            self.result("content type", bool(blocks) and all(
                block.properties.get(CONTENT_TYPE) == b"application/json" for block in blocks))
        self.result("acks counted", await within(self.acked, 20))
        healths = [health for _, health in self.readings.health]
        self.figures["acked"] = healths[-1]["mqtt"]["acked"] if healths else 0
        refused = healths[-1]["mqtt"].get("refused") if healths else None
        if refused:
            self.notes.append(f"refused: {json.dumps(refused)}")

    def acked(self):
        """Whether the count of acknowledged messages rises and little waits; a broker may take its time for the first."""
        healths = [health for _, health in self.readings.health if health["mqtt"]["acked"] > 0]
        return (len(healths) > 2 and healths[-1]["mqtt"]["acked"] > healths[0]["mqtt"]["acked"]
                and healths[-1]["outbox"]["messages"] < 20)

    async def late(self, pattern, wanted):
        """Whether a subscriber that comes now is told at once, and that it was kept."""
        client = await self.reader(pattern)
        await within(lambda: any(m.topic == wanted and m.retain for m in client.messages), 3)
        kept = [message for message in client.messages if message.topic == wanted and message.retain]
        await client.close()
        return kept[-1].payload if kept else None

    async def kept(self):
        """Retained state, for those who come later."""
        info = self.topic("state/info")
        self.result("retained, exact", await self.late(info, info) is not None)
        whole = await self.late("seismote/#", info)
        level = await self.late("seismote/+/state/info", info)
        self.result("retained, wildcard", whole is not None and level is not None)

    async def overwritten(self):
        """Somebody else's `offline` on the station's topic: the station says `online` again, and the broker keeps that."""
        topic = self.topic("state/online")
        client = await self.reader(topic)
        began = time.monotonic()
        await client.publish(topic, b"offline", retain=True)
        self.result("foreign offline", await within(lambda: self.online(began), 3))
        self.figures["corrected"] = time.monotonic() - began
        self.result("online is kept", await self.late(topic, topic) == b"online")
        await client.close()

    async def command(self):
        """A command without a response topic, which 3.1.1 does not have: the reply comes to `res/<id>`."""
        client = await self.reader(self.topic("res/#"))
        await client.publish(self.topic("cmd/ping"), b'{"id":"q1"}')
        self.result("command", await within(lambda: self.topic("res/q1") in self.seen, 5))
        await client.close()

    async def death(self):
        """SIGKILL: the broker speaks for the agent; then it starts anew."""
        began = time.monotonic()
        self.agent.kill()
        self.result("last will", await within(lambda: self.online(began, "offline"), 10))
        self.figures["will"] = time.monotonic() - began
        online = self.topic("state/online")
        self.result("last will kept", await self.late(online, online) == b"offline")
        began = time.monotonic()
        self.launch("3.1.1" if self.results.get("falls back") is False else self.broker.protocol)
        self.result("online after death", await within(lambda: self.online(began), self.broker.arrival))
        await within(lambda: self.readings.last_trace > began, 10)

    async def restart(self):
        """The broker is killed and started again: the agent reconnects and publishes its retained messages again."""
        self.readings.streams.clear()
        before = len(self.proxy.attempts)
        self.proxy.mode = "close"
        self.broker.stop()
        self.proxy.end()
        await asyncio.sleep(1)
        await self.start()
        self.seen.clear()
        await self.retried(lambda: self.reader(take=self.take))
        began = time.monotonic()
        self.proxy.mode = "pass"
        self.result("back after restart", await within(lambda: self.online(began), 15))
        self.figures["back"] = time.monotonic() - began
        names = ["state/info", "state/config"] + ([] if "schema" in self.broker.lacks else ["state/config/schema"])
        self.result("birth again", await within(
            lambda: all(self.topic(name) in self.seen for name in names), 10))
        self.result("traces again", await within(lambda: self.readings.last_trace > began, 10))
        await asyncio.sleep(2)
        came, missing, again = self.readings.account("trace")
        self.figures["after"] = f"{came}-{missing}+{again}"
        times = self.proxy.attempts[before:]
        gaps = [later - earlier for earlier, later in zip(times, times[1:])]
        # (After two closed connections with 3.1.1, what was accepted is followed at once by the better form: once.)
        at_once = sum(gap <= 0.18 for gap in gaps)
        self.result("attempts spaced", at_once <= (0 if self.broker.protocol == 5 and self.broker.version == 5 else 1))

    @staticmethod
    async def retried(make, seconds=20):
        """Some brokers accept connections before they answer them."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                return await make()
            except Exception:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.3)

    async def close(self):
        if self.agent and self.agent.running:
            await asyncio.to_thread(self.agent.stop)
        for client in self.clients:
            await client.close()
        if self.proxy:
            await self.proxy.close()
        self.figures["MiB"] = self.broker.memory_mib()
        self.broker.stop()
