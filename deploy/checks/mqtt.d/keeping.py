"""A reader that outlives interruptions: what a persistent broker has acknowledged, it gets in the end."""

import asyncio

from client import Client, Refused
from readings import Readings


class Reader:
    """Reads everything with a session that outlives connections, and comes back when the broker does."""

    def __init__(self, broker, stations):
        self.broker = broker
        self.readings = {name: Readings(name) for name in stations}
        self.ready = asyncio.Event()
        self.client = None
        self.task = asyncio.create_task(self.run())

    def take(self, message):
        name = message.topic.split("/")[1] if "/" in message.topic else ""
        if name in self.readings:
            self.readings[name].take(message)

    async def run(self):
        while True:
            self.client = client = Client("reader", version=4, take=self.take)
            try:
                await client.connect(self.broker.port, clean=False)
                await client.subscribe("seismote/#")
                self.ready.set()
                await client.closed.wait()
            except (OSError, Refused, asyncio.TimeoutError, asyncio.IncompleteReadError):
                pass
            finally:
                await client.close(politely=False)
            await asyncio.sleep(0.1)

    def deafen(self):
        """It reads nothing more, and so acknowledges nothing, until `cut`."""
        self.client.writer.transport.pause_reading()

    def cut(self):
        """Its connection ends, and what lay in it unread is lost: the broker has to send it again."""
        self.client.writer.transport.abort()

    def close(self):
        self.task.cancel()
