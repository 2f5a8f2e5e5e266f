"""A seismote-feed under test: its settings, its ports, what it costs and what it has declared missing."""

import os
import socket
import sqlite3
import time
import urllib.request

from kinds import free_port
from programs import Program


class Feed(Program):
    """`broker`: the words that tell it where its broker is; `lines`: further settings."""

    def __init__(self, program, folder, broker, *lines):
        self.program, self.folder, self.broker = program, folder, broker
        self.seedlink, self.web = free_port(), free_port()
        self.lines = lines
        os.makedirs(folder, exist_ok=True)
        super().__init__(os.path.join(folder, "feed.log"))

    def line(self):
        settings = [f"feed.state={self.folder}", f"feed.seedlink_port={self.seedlink}", f"feed.web_port={self.web}",
                    "feed.patience_s=14", "feed.idle_s=5", "feed.record_s=2", "mqtt.reconnect.min_s=0.2",
                    "mqtt.reconnect.max_s=1", *self.lines]
        return [self.program, *self.broker, *[word for one in settings for word in ("--set", one)]]

    def start(self, last=None):
        """`last`: the port that it listens on last; else that of the web services."""
        super().start()
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", last or self.web), 1).close()
                return self
            except OSError:
                time.sleep(0.05)
        raise SystemExit(f"FAILED: the feed does not listen: {self.words()[-500:]}")

    def cost(self):
        """(seconds of processor time, MiB of memory now, MiB at most)"""
        return self.cpu(), self.memory_kib() / 1024, self.memory_kib("VmHWM") / 1024

    def get(self, path, **headers):
        request = urllib.request.Request(f"http://127.0.0.1:{self.web}{path}", headers=headers)
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.read().decode()

    def missing(self):
        """{channel: [(from, to, samples)]} as it has declared them."""
        with sqlite3.connect(f"file:{self.folder}/feed.db?mode=ro", uri=True) as ring:
            rows = ring.execute(
                "SELECT network || '.' || station.code || '.' || location || '.' || channel.code, start, stop, samples "
                "FROM missing JOIN channel ON channel.n = missing.channel JOIN station ON station.n = channel.station")
            found = {}
            for name, start, stop, samples in rows:
                found.setdefault(name, []).append((start, stop, samples))
            return found
