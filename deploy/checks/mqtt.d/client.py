"""A small MQTT client for the checks, 3.1.1 and 5, standard library only: it shows what a broker says bit by bit
(retained, duplicate, granted QoS, properties), which a comfortable client hides."""

import asyncio
import struct
import time

import contract

# What every message of a station is held against.
CONTRACT = contract.declared()


class Refused(Exception):
    """The broker answered CONNECT with this code."""

    def __init__(self, code):
        super().__init__(f"CONNACK {code}")
        self.code = code


class Message:
    """One PUBLISH as it came; `at` is time.monotonic()."""

    __slots__ = ("topic", "payload", "qos", "retain", "dup", "properties", "at")

    def __init__(self, topic, payload, qos, retain, dup, properties):
        self.topic, self.payload, self.qos = topic, payload, qos
        self.retain, self.dup, self.properties = retain, dup, properties
        self.at = time.monotonic()


def text(value):
    data = value.encode() if isinstance(value, str) else value
    return struct.pack(">H", len(data)) + data


def length(number):
    out = bytearray()
    while True:
        number, low = divmod(number, 128)
        out.append(low | (128 if number else 0))
        if not number:
            return bytes(out)


def packet(first, *parts):
    body = b"".join(parts)
    return bytes([first]) + length(len(body)) + body


def read_length(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


# How the value of each MQTT 5 property is written (MQTT 5.0, table 2-4).
BYTE = {0x01, 0x17, 0x19, 0x24, 0x25, 0x28, 0x29, 0x2A}
TWO = {0x13, 0x21, 0x22, 0x23}
FOUR = {0x02, 0x11, 0x18, 0x27}
TEXT = {0x03, 0x08, 0x09, 0x12, 0x15, 0x16, 0x1A, 0x1C, 0x1F}


def read_properties(data, at):
    """({number: value}, where they end); user properties, which may repeat, are a list of pairs under 0x26."""
    size, at = read_length(data, at)
    end, found = at + size, {}
    while at < end:
        number, at = data[at], at + 1
        if number in BYTE:
            found[number], at = data[at], at + 1
        elif number in TWO:
            found[number], at = struct.unpack_from(">H", data, at)[0], at + 2
        elif number in FOUR:
            found[number], at = struct.unpack_from(">I", data, at)[0], at + 4
        elif number in TEXT or number == 0x26:
            values = []
            for _ in range(2 if number == 0x26 else 1):
                size = struct.unpack_from(">H", data, at)[0]
                values.append(data[at + 2:at + 2 + size])
                at += 2 + size
            if number == 0x26:
                found.setdefault(0x26, []).append(tuple(values))
            else:
                found[number] = values[0]
        elif number == 0x0B:
            found[number], at = read_length(data, at)
        else:
            raise ValueError(f"unknown MQTT 5 property {number:#x}")
    return found, end


def response_to(topic, correlation):
    """The properties of a request: its response topic and correlation data, coded."""
    return b"\x08" + text(topic) + b"\x09" + text(correlation)


class Client:
    """One connection. Messages go to `take`, or to `messages` when there is none."""

    def __init__(self, name, version=4, take=None):
        self.name, self.version, self.take = name, version, take
        self.messages, self.connack = [], {}
        self.waiting, self.number = {}, 0
        self.closed = asyncio.Event()
        self.writer = self.tasks = None

    async def connect(self, port, host="127.0.0.1", user=None, password=None, seconds=10, sock=None, clean=True,
                      keepalive=60):
        opened = asyncio.open_connection(sock=sock) if sock else asyncio.open_connection(host, port)
        reader, self.writer = await asyncio.wait_for(opened, seconds)
        flags = (2 if clean else 0) | (0x80 if user is not None else 0) | (0x40 if password is not None else 0)
        # MQTT 5: no properties.
        head = text("MQTT") + bytes([self.version, flags]) + struct.pack(">H", keepalive)
        self.writer.write(packet(
            0x10, head, b"\0" if self.version == 5 else b"", text(self.name),
            text(user) if user is not None else b"", text(password) if password is not None else b""))
        try:
            kind, body = await asyncio.wait_for(self.read(reader), seconds)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.writer.close()
            raise Refused("nothing, closes") from None
        if kind >> 4 != 2 or body[1] != 0:
            self.writer.close()
            raise Refused(body[1] if kind >> 4 == 2 else f"packet {kind:#x}")
        if self.version == 5:
            self.connack, _ = read_properties(body, 2)
        self.tasks = [asyncio.create_task(self.run(reader)), asyncio.create_task(self.ping())]
        return self

    async def ping(self):
        while True:
            await asyncio.sleep(20)
            self.writer.write(packet(0xC0))

    @staticmethod
    async def read(reader):
        kind = (await reader.readexactly(1))[0]
        size = shift = 0
        while True:
            byte = (await reader.readexactly(1))[0]
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        return kind, await reader.readexactly(size)

    async def run(self, reader):
        try:
            while True:
                kind, body = await self.read(reader)
                if kind >> 4 == 3:
                    self.publication(kind, body)
                elif kind >> 4 in (4, 9, 11):
                    done = self.waiting.pop((kind >> 4, struct.unpack_from(">H", body)[0]), None)
                    if done and not done.done():
                        done.set_result(body)
                elif kind >> 4 == 14:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.closed.set()

    def publication(self, kind, body):
        size = struct.unpack_from(">H", body)[0]
        at, qos, number = 2 + size, kind >> 1 & 3, None
        if qos:
            number = body[at:at + 2]
            at += 2
        properties = {}
        if self.version == 5:
            properties, at = read_properties(body, at)
        message = Message(body[2:2 + size].decode(), body[at:], qos, bool(kind & 1), bool(kind & 8), properties)
        if qos == 1:
            self.writer.write(packet(0x40, number))
        if CONTRACT:
            CONTRACT.look(message)
        self.take(message) if self.take else self.messages.append(message)

    async def asked(self, answer, first, *parts, seconds=5):
        """Sends a packet with a number of its own, waits for the answer of that kind."""
        self.number = self.number % 65535 + 1
        done = asyncio.get_running_loop().create_future()
        self.waiting[(answer, self.number)] = done
        number = struct.pack(">H", self.number)
        self.writer.write(packet(first, *(number if part is None else part for part in parts)))
        return await asyncio.wait_for(done, seconds)

    async def subscribe(self, pattern, qos=1, seconds=5):
        """The granted QoS, or the code of a refusal. Raises asyncio.TimeoutError when no answer comes."""
        properties = b"\0" if self.version == 5 else b""
        body = await self.asked(9, 0x82, None, properties, text(pattern), bytes([qos]), seconds=seconds)
        return body[-1]

    async def publish(self, topic, payload, qos=1, retain=False, properties=b"", seconds=5):
        """The reason of the PUBACK (0 with 3.1.1), None for QoS 0. Properties are bytes, already coded."""
        first = 0x30 | qos << 1 | retain
        extra = length(len(properties)) + properties if self.version == 5 else b""
        if not qos:
            self.writer.write(packet(first, text(topic), extra, payload))
            return None
        body = await self.asked(4, first, text(topic), None, extra, payload, seconds=seconds)
        return body[2] if len(body) > 2 else 0

    async def close(self, politely=True):
        for task in self.tasks or ():
            task.cancel()
        if self.writer:
            if politely and not self.writer.is_closing():
                self.writer.write(packet(0xE0))
            self.writer.close()
