"""Clients of a cluster that go to the next node when theirs is gone: a reader whose session outlives it, and publishers
that send again what was not acknowledged."""

import asyncio
import collections
import json
import time

from client import Client, Refused


class Steady:
    """`ports` of all nodes; the session is kept by the cluster (3.1.1, clean session 0)."""

    def __init__(self, name, ports, user, password, first=0):
        self.name, self.ports, self.user, self.password, self.at = name, ports, user, password, first
        self.client, self.connections, self.task = None, 0, None

    def start(self):
        self.task = asyncio.create_task(self.run())
        return self

    async def run(self):
        while True:
            client = Client(self.name, 4, take=self.take)
            try:
                await client.connect(self.ports[self.at % len(self.ports)], user=self.user, password=self.password,
                                     seconds=5, clean=False, keepalive=20)
                self.client, self.connections = client, self.connections + 1
                await self.up(client)
                await client.closed.wait()
            except (OSError, Refused, asyncio.TimeoutError):
                pass
            finally:
                self.client = None
                await client.close(politely=False)
            self.at += 1
            await asyncio.sleep(0.3)

    async def up(self, client):
        pass

    def take(self, message):
        pass

    async def stop(self):
        self.task.cancel()
        try:
            await self.task
        except asyncio.CancelledError:
            pass


class Reader(Steady):
    """Hears everything of its filters once it has subscribed; `heard` are (seconds, message)."""

    def __init__(self, filters, *arguments):
        super().__init__(*arguments)
        self.filters, self.heard, self.ready = filters, [], asyncio.Event()

    async def up(self, client):
        if not self.ready.is_set():
            for one in self.filters:
                if await client.subscribe(one) != 1:
                    raise RuntimeError(f"no subscription to {one}")
            self.ready.set()

    def take(self, message):
        self.heard.append((time.time(), message))

    def of(self, topic):
        """(seconds, object, whether the broker says it may be a repetition)."""
        return [(at, json.loads(one.payload), one.dup) for at, one in self.heard if one.topic == topic and one.payload]


class Publisher(Steady):
    """Numbers on count/NAME, each until it is acknowledged."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.acknowledged, self.silence, self.wanted = set(), 0.0, True

    async def count(self, rate):
        number, last = 0, time.monotonic()
        while self.wanted:
            while True:
                client = self.client
                if client and not client.closed.is_set():
                    try:
                        await client.publish(f"count/{self.name}", json.dumps({"n": number}).encode(), seconds=3)
                        break
                    except (OSError, asyncio.TimeoutError):
                        pass
                await asyncio.sleep(0.02)
            self.silence = max(self.silence, time.monotonic() - last)
            last = time.monotonic()
            self.acknowledged.add(number)
            number += 1
            await asyncio.sleep(1 / rate)


class Ledger:
    """What was acknowledged, and what was delivered."""

    def __init__(self, publishers, reader):
        self.publishers, self.reader = publishers, reader

    def acknowledged(self):
        return {(one.name, number) for one in self.publishers for number in one.acknowledged}

    def delivered(self):
        """How often each came."""
        return collections.Counter(
            (one.topic.split("/")[1], json.loads(one.payload)["n"]) for _, one in self.reader.heard
            if one.topic.startswith("count/"))
