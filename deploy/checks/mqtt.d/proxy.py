"""A TCP proxy on loopback that spoils connections, and notes when each attempt came. Standard library only."""

import asyncio
import random
import socket
import struct
import time

UP, DOWN = 0, 1


class Pair:
    """One connection through the proxy. A dead way swallows what comes and passes nothing on."""

    def __init__(self, client, server):
        self.client, self.server = client, server
        self.dead, self.seen = [False, False], False
        # Bytes from the client until the connection is cut; None: never.
        self.until_cut = None


class Proxy:
    """`mode` says what happens to new connections:
    pass     on to the target, spoiled by latency, jitter, rate and chunk
    mute     accepted, never answered
    close    accepted and reset at once
    nonsense accepted and answered with what is no MQTT
    brief    CONNACK of success, then closed
    `cut` gives each new connection a number of bytes after which it is cut.
    """

    def __init__(self, target, host="127.0.0.1", seed=1, buffer=65536):
        self.target, self.host, self.random = target, host, random.Random(seed)
        self.mode, self.cut, self.polite = "pass", None, False
        # Bytes that wait in the proxy at most: what a slow line holds.
        self.buffer = buffer
        self.latency = self.jitter = self.rate = 0.0
        self.chunk = 65536
        self.pairs, self.others, self.tasks = set(), set(), set()
        # Times of time.monotonic(): when attempts came, and (mode, from, to) of those that are over.
        self.attempts, self.lives = [], []
        # MQTT version of each CONNECT that was passed on.
        self.versions = []
        self.bytes, self.cuts = [0, 0], 0
        self.server, self.port = None, 0

    async def open(self):
        listener = socket.create_server((self.host, self.port))
        if self.buffer < 65536:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.buffer)
        self.server = await asyncio.start_server(self.serve, sock=listener, limit=self.buffer)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def refuse(self):
        """Stops listening: the kernel answers with RST. Connections that are there stay."""
        self.server.close()
        await asyncio.sleep(0)

    def half_open(self, up=True, down=True):
        """The connections of now pass nothing any more and do not end; new ones are not touched."""
        for pair in self.pairs:
            pair.dead = [up, down]

    def end(self, reset=True):
        """All connections, with RST or with FIN."""
        for writer in [w for pair in self.pairs for w in (pair.client, pair.server)] + list(self.others):
            self.end_one(writer, reset)

    def end_one(self, writer, reset):
        if reset:
            sock = writer.get_extra_info("socket")
            if sock and sock.fileno() >= 0:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        else:
            writer.close()

    async def close(self):
        self.server.close()
        self.end()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.sleep(0)

    async def serve(self, reader, writer):
        self.tasks.add(asyncio.current_task())
        mode, began = self.mode, time.monotonic()
        self.attempts.append(began)
        try:
            if mode == "pass":
                await self.carry(reader, writer)
            else:
                await self.entertain(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.lives.append((mode, began, time.monotonic()))
            self.tasks.discard(asyncio.current_task())
            writer.close()

    async def entertain(self, reader, writer):
        if self.mode == "close":
            self.end_one(writer, True)
            return
        self.others.add(writer)
        try:
            if self.mode == "nonsense":
                writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 4\r\n\r\nwhat")
            elif self.mode == "brief":
                connect = await reader.readexactly(8)
                await asyncio.sleep(0.01)
                # The ninth byte would be the version; the fixed header's length may take two bytes.
                version = (connect + await reader.readexactly(2)).split(b"MQTT", 1)[1][0]
                writer.write(b"\x20\x03\0\0\0" if version == 5 else b"\x20\x02\0\0")
                await writer.drain()
                return
            while await reader.read(65536):
                pass
        finally:
            self.others.discard(writer)

    async def carry(self, reader, writer):
        there, to = await asyncio.open_connection(self.host, self.target)
        for each in (writer, to):
            each.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pair = Pair(writer, to)
        pair.until_cut = self.cut() if self.cut else None
        self.pairs.add(pair)
        ways = [asyncio.create_task(self.pump(pair, reader, to, UP)),
                asyncio.create_task(self.pump(pair, there, writer, DOWN))]
        try:
            done, rest = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            # One side has ended: so does the other, when what was under way has been passed on.
            if rest and not any([task.exception() for task in done]):
                await asyncio.wait(rest, timeout=0.1)
        finally:
            for task in ways:
                task.cancel()
            self.pairs.discard(pair)
            to.close()
            await asyncio.gather(*ways, return_exceptions=True)

    async def pump(self, pair, reader, writer, way):
        """A queue between the two, so that latency delays and does not throttle; it is bounded, so that a low rate
        throttles the sender as a slow line does."""
        queue = asyncio.Queue(1000 if not self.rate else 4)
        loop = asyncio.get_running_loop()
        sender = asyncio.create_task(self.send(pair, queue, writer, way))
        try:
            while True:
                data = await reader.read(1024 if self.rate else 65536)
                if not data:
                    if pair.dead[way]:
                        # Not even the end gets through.
                        await asyncio.Event().wait()
                    break
                if pair.dead[way]:
                    continue
                if way == UP and not pair.seen:
                    pair.seen = True
                    self.versions.append(data.split(b"MQTT", 1)[1][0] if b"MQTT" in data[:-5] else None)
                self.bytes[way] += len(data)
                if way == UP and pair.until_cut is not None:
                    if len(data) >= pair.until_cut:
                        await queue.put((0, data[:pair.until_cut]))
                        await asyncio.sleep(0.02)
                        self.cuts += 1
                        for each in (pair.client, pair.server):
                            self.end_one(each, not self.polite)
                        return
                    pair.until_cut -= len(data)
                delay = self.latency + self.jitter * self.random.random()
                await queue.put((loop.time() + delay if delay else 0, data))
            await queue.put((0, None))
            await sender
        finally:
            sender.cancel()

    async def send(self, pair, queue, writer, way):
        loop = asyncio.get_running_loop()
        while True:
            due, data = await queue.get()
            if data is None:
                return
            if due > loop.time():
                await asyncio.sleep(due - loop.time())
            at = 0
            while at < len(data) and not pair.dead[way]:
                # (A scenario changes the size of a piece while one is under way.)
                part = data[at:at + self.chunk]
                at += len(part)
                writer.write(part)
                await writer.drain()
                if self.rate:
                    await asyncio.sleep(len(part) / self.rate)
                elif self.chunk < 64:
                    await asyncio.sleep(0)
