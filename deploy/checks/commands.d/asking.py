"""A station and a client that asks it, for the check of the commands."""

import asyncio
import json
import struct

from agent import Agent
from client import Client, response_to

ROOT = "seismote"


def station(program, folder, name, port, version=5, **more):
    """An agent that nothing shakes, so that its state is the same each time."""
    return Agent(program, folder, name, {
        "sensor": {"simulate": {"scenario": "quiet"}},
        "mqtt": {"uri": f"mqtt://127.0.0.1:{port}", "protocol": "5" if version == 5 else "3.1.1"},
        "station": {"groups": ["north"]}, **more})


class Asker:
    """Sends commands to one station and hears its replies: by response topic with MQTT 5, else by `res/<id>`."""

    def __init__(self, port, station, version, name="asker"):
        self.port, self.station, self.version = port, station, version
        self.base = f"{ROOT}/{station}"
        self.client = Client(f"{name}-{station}", version, self.take)
        self.topic = f"replies/{name}/{station}"
        self.heard, self.state, self.number = [], {}, 0
        self.news = asyncio.Event()

    async def connect(self):
        await self.client.connect(self.port)
        for pattern in (self.topic, f"{self.base}/res/+", f"{self.base}/state/#"):
            await self.client.subscribe(pattern)
        return self

    async def close(self):
        await self.client.close()

    def take(self, message):
        if message.topic.startswith(f"{self.base}/state/"):
            self.state[message.topic[len(self.base) + 7:]] = message
        else:
            self.heard.append((message, json.loads(message.payload)))
        self.news.set()

    async def until(self, wanted, seconds=10):
        """Waits until `wanted()` gives something; raises TimeoutError."""
        end = asyncio.get_running_loop().time() + seconds
        while not (found := wanted()):
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), max(0.01, end - asyncio.get_running_loop().time()))
        return found

    async def ready(self):
        """The station is there and reads its commands."""
        await self.until(lambda: "online" in self.state and self.state["online"].payload == b"online", 30)
        for _ in range(100):
            try:
                if await self.ask("ping", b'{"id":"ready"}', 1):
                    break
            except asyncio.TimeoutError:
                continue
        # Its sensor has settled.
        await self.until(lambda: "health" in self.state and json.loads(self.state["health"].payload)["sensor"] == "ok", 30)

    async def send(self, verb, payload, correlation=b"", retain=False, to=None):
        self.heard.clear()
        extra = response_to(self.topic, correlation) if self.version == 5 else b""
        topic = f"{to or self.base}/cmd/{verb}"
        return await self.client.publish(topic, payload, retain=retain, properties=extra)

    async def ask(self, verb, payload, seconds=10, **more):
        """The last reply, after those that say `accepted`; None when none comes."""
        self.number += 1
        correlation = struct.pack(">I", self.number)
        await self.send(verb, payload, correlation, **more)

        try:
            own = json.loads(payload).get("id")
        except (ValueError, AttributeError, RecursionError):
            own = None

        def last():
            for message, reply in self.heard:
                if reply["phase"] == "accepted":
                    continue
                # (3.1.1 has no correlation, and after a kill an earlier reply comes once more.)
                if self.version == 4 and isinstance(own, str) and reply.get("id", own) != own:
                    continue
                if self.version == 5 and message.properties.get(0x09) != correlation:
                    continue
                return message, reply
            return None

        try:
            message, reply = await self.until(last, seconds)
        except asyncio.TimeoutError:
            return None
        envelope = reply["v"] == 1 and reply["station"] == self.station and len(reply["boot"]) == 36
        # Without a response topic (3.1.1 has none) the id says where the reply goes, and `no-id` where there is none.
        where = self.topic if self.version == 5 else f"{self.base}/res/{reply.get('id', 'no-id')}"
        if not envelope or message.topic != where or message.retain or message.qos != 1:
            raise SystemExit(f"not a reply: {message.topic} {message.payload!r}")
        if self.version == 5 and message.properties.get(0x03) != b"application/json":
            raise SystemExit(f"no content type: {message.properties}")
        return reply

    async def fence(self):
        """What came until a ping of now is answered, without its answer."""
        self.number += 1
        mark = f"fence-{self.number}"
        extra = response_to(self.topic, b"fence") if self.version == 5 else b""
        body = json.dumps({"id": mark}).encode()
        await self.client.publish(f"{self.base}/cmd/ping", body, properties=extra)
        await self.until(lambda: any(reply.get("id") == mark for _, reply in self.heard))
        return [reply for _, reply in self.heard if reply.get("id") != mark]

    async def health(self):
        self.number += 1
        reply = await self.ask("status", json.dumps({"id": f"health-{self.number}"}).encode())
        return reply["result"]
