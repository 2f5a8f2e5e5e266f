"""A reader that outlives interruptions: what a persistent broker has acknowledged, it gets in the end."""

import asyncio

from client import Client, Refused
from readings import Readings


class Reader:
    """Reads everything with a session that outlives connections, and comes back when the broker does."""

    def __init__(self, broker, stations):
        self.broker = broker
        self.readings = {name: Readings(name) for name in stations}
        # While it is connected, and has asked for everything.
        self.ready = asyncio.Event()
        self.transport = None
        self.task = asyncio.create_task(self.run())

    def take(self, message):
        if readings := self.of(message):
            readings.take(message)

    def of(self, message):
        """The readings of the station whose message it is; None: of none that it reads."""
        return self.readings.get(message.topic.split("/")[1] if "/" in message.topic else "")

    async def run(self):
        while True:
            client = Client("reader", version=4, take=self.take)
            try:
                await client.connect(self.broker.port, clean=False)
                await client.subscribe("seismote/#")
                self.transport = client.writer.transport
                self.ready.set()
                await client.closed.wait()
            except (OSError, Refused, asyncio.TimeoutError, asyncio.IncompleteReadError):
                pass
            finally:
                self.ready.clear()
                await client.close(politely=False)
            await asyncio.sleep(0.1)

    async def deafen(self):
        """From now on it reads nothing, and so acknowledges nothing, until `cut`."""
        await asyncio.wait_for(self.ready.wait(), 30)
        self.transport.pause_reading()

    def cut(self):
        """Its connection ends, and what lay in it unread is lost: the broker has to send it again, which may be late."""
        self.transport.abort()

    def close(self):
        self.task.cancel()
