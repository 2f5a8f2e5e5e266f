"""A mosquitto and a reader that outlive interruptions: what the broker has acknowledged, the reader gets in the end."""

import asyncio
import getpass

from client import Client, Refused
from kinds import Mosquitto, found
from readings import Readings


class KeepingMosquitto(Mosquitto):
    """As it is set up by those who care: persistent, saved each second. A SIGKILL costs it messages all the same."""

    # More lines of its settings.
    more = ""

    def launch(self):
        path = self.write("mosquitto.conf", f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence true\n"
                          f"persistence_location {self.folder}/\nautosave_interval 1\nmax_queued_messages 0\n"
                          f"user {getpass.getuser()}\n{self.more}")
        self.spawn([found("mosquitto"), "-c", path])


class Reader:
    """Reads everything with a session that outlives connections, and comes back when the broker does."""

    def __init__(self, broker, stations):
        self.broker = broker
        self.readings = {name: Readings(name) for name in stations}
        self.ready = asyncio.Event()
        self.task = asyncio.create_task(self.run())

    def take(self, message):
        name = message.topic.split("/")[1] if "/" in message.topic else ""
        if name in self.readings:
            self.readings[name].take(message)

    async def run(self):
        while True:
            client = Client("reader", version=4, take=self.take)
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

    def close(self):
        self.task.cancel()
