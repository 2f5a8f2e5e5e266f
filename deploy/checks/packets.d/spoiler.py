"""A broker for one station that keeps all it is sent, converses as it should, and spoils one packet in each connection.

It takes no care of anybody: no other client, no session, no last will.
"""

import asyncio
import collections
import socket
import struct

from client import Client, Message, read_properties, text
from mutation import (
    AUTH, CONNACK, DISCONNECT, NAMES, PINGRESP, PUBACK, PUBLISH, SUBACK, UNSUBACK, Packet, mutate, out_of_turn)

# What is spoiled, as often as it stands here.
STAGES = ["connack"] * 5 + ["suback"] * 3 + ["unsuback"] + ["puback"] * 4 + ["publish"] * 4 + [
    "pingresp", "disconnect", "auth", "turn", "turn", "turn", "early"]


class Line:
    """One connection: what is to be spoiled in it, and whether it has been."""

    def __init__(self, writer, stage):
        self.writer, self.stage, self.version = writer, stage, 4
        # Acknowledgements to let pass before.
        self.left = 0
        self.listens = False


class Broker:
    def __init__(self, random, station, take, wants=None):
        self.random, self.station, self.take, self.wants = random, station, take, wants
        self.spoils = False
        self.server, self.port = None, 0
        self.lines = set()
        self.sent = collections.Counter()
        # The last spoiled packets, for whoever wants to know what killed whom.
        self.last = collections.deque(maxlen=4)
        self.connects, self.refused_old, self.number = collections.Counter(), 0, 0

    async def open(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    def change(self, spoils):
        """From now on one that spoils, or a broker like any other; what was begun otherwise is cut."""
        self.spoils = spoils
        for line in list(self.lines):
            line.writer.transport.abort()

    async def close(self):
        self.change(False)
        self.server.close()

    def send(self, line, packet, stage):
        """As it is, or spoiled when it is its turn."""
        if line.stage == stage and stage in ("suback", "puback") and line.left > 0:
            line.left -= 1
        elif line.stage == stage:
            return self.spoil(line, packet)
        self.write(line, packet.bytes())

    @staticmethod
    def write(line, data):
        if not line.writer.transport.is_closing():
            line.writer.write(data)

    def spoil(self, line, packet, manner=None):
        data, name = (packet.bytes(), manner) if manner else mutate(self.random, packet)
        line.stage = None
        self.sent[line.version, NAMES.get(packet.first & 0xF0, "other")] += 1
        self.last.append(f"MQTT {line.version} {NAMES.get(packet.first & 0xF0, '?')} {name}: {data[:120].hex(' ')}")
        if self.random.random() < 0.1:
            for byte in data[:200]:
                self.write(line, bytes([byte]))
        else:
            self.write(line, data)
        # Most hang up by themselves; a few are left to find out that nothing comes any more.
        asyncio.get_running_loop().call_later(
            8 if self.random.random() < 0.005 else self.random.uniform(0.02, 0.1), line.writer.transport.abort)

    async def serve(self, reader, writer):
        line = Line(writer, self.random.choice(STAGES) if self.spoils else None)
        line.left = self.random.choice([0, 0, 1, 3, 8])
        self.lines.add(line)
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while True:
                kind, body = await Client.read(reader)
                self.handle(line, kind, body)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self.lines.discard(line)
            writer.close()

    def handle(self, line, kind, body):
        properties = [] if line.version == 5 else None
        if kind == 0x10:
            self.connect(line, body)
        elif kind >> 4 == 3:
            self.publication(line, kind, body)
        elif kind == 0x82:
            at = read_properties(body, 2)[1] if line.version == 5 else 2
            line.listens = True
            self.send(line, Packet(SUBACK, body[:2], properties, b"\1" * self.filters(body, at)), "suback")
        elif kind == 0xA2:
            self.send(line, Packet(UNSUBACK, body[:2], properties, b"\0" if line.version == 5 else b""), "unsuback")
        elif kind == 0xC0:
            self.send(line, Packet(PINGRESP), "pingresp")
        elif kind >> 4 == 14:
            line.writer.close()

    @staticmethod
    def filters(body, at):
        count = 0
        while at < len(body):
            at += 3 + struct.unpack_from(">H", body, at)[0]
            count += 1
        return count

    def connect(self, line, body):
        line.version = body[6]
        self.connects[line.version] += 1
        if line.version == 4 and self.wants == 5 and self.refused_old < 3:
            # It has taken us for a broker without 5.
            self.refused_old += 1
            self.write(line, Packet(CONNACK, b"\0\1").bytes())
            return
        self.refused_old = 0
        properties = [] if line.version == 5 else None
        if line.stage == "early":
            return self.spoil(line, out_of_turn(self.random, line.version, self.topic("cmd/ping")), "early")
        if line.version == 5:
            # What brokers say of themselves: receive maximum, topic aliases.
            properties = [b"\x21\x00\x14", b"\x22\x00\x0a"]
        self.send(line, Packet(CONNACK, b"\0\0", properties), "connack")
        if line.stage:
            # What waits for a packet that does not come is not waited for.
            sends = line.stage in ("publish", "disconnect", "auth", "turn")
            patience = 6 if line.stage == "pingresp" and self.random.random() < 0.1 else 0.4
            asyncio.get_running_loop().call_later(
                self.random.uniform(0.0, 0.1) if sends else patience, self.later, line)

    def later(self, line):
        if line not in self.lines or line.stage is None:
            return
        properties = [] if line.version == 5 else None
        if line.stage == "publish":
            self.number += 1
            qos = self.random.choice([0, 1, 1, 2])
            head = text(self.topic("cmd/ping")) + (struct.pack(">H", self.number % 65535 + 1) if qos else b"")
            if line.version == 5:
                properties = [b"\x08" + text("seismote/replies"), b"\x09" + text(b"\1\2\3")]
            self.spoil(line, Packet(
                PUBLISH | qos << 1, head, properties, b'{"id":"p%d"}' % self.number))
        elif line.stage not in ("disconnect", "auth"):
            packet = out_of_turn(self.random, line.version, self.topic("cmd/ping"))
            self.spoil(line, packet, "out of turn" if self.random.random() < 0.5 else None)
        else:
            kind = DISCONNECT if line.stage == "disconnect" else AUTH
            self.spoil(line, Packet(kind, b"\x8b" if line.version == 5 else b"", properties))

    def topic(self, rest):
        return f"seismote/{self.station}/{rest}"

    def publication(self, line, kind, body):
        size = struct.unpack_from(">H", body)[0]
        at, qos = 2 + size, kind >> 1 & 3
        mark = body[at:at + 2] if qos else b""
        at += len(mark)
        if line.version == 5:
            at = read_properties(body, at)[1]
        topic = body[2:2 + size]
        # For the accounts it is a subscriber, to whom it comes as a message of now.
        self.take(Message(topic.decode(), body[at:], qos, False, bool(kind & 8), {}))
        if line.listens and topic.startswith(self.topic("cmd/").encode()):
            # By this an agent sees that the broker does not throw away what it sends.
            self.write(line, Packet(PUBLISH, text(topic), [] if line.version == 5 else None, body[at:]).bytes())
        if qos:
            self.send(line, Packet(
                PUBACK, mark + (b"\0" if line.version == 5 else b""), [] if line.version == 5 else None), "puback")
