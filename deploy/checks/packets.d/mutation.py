"""Packets of a broker, and the ways in which they are spoiled. Everything comes from one random.Random."""

import struct

from client import BYTE, FOUR, TEXT, TWO, length, read_properties, text

CONNACK, PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP, SUBACK, UNSUBACK, PINGRESP, DISCONNECT, AUTH = (
    0x20, 0x30, 0x40, 0x50, 0x62, 0x70, 0x90, 0xB0, 0xD0, 0xE0, 0xF0)
NAMES = {0x20: "CONNACK", 0x30: "PUBLISH", 0x40: "PUBACK", 0x50: "PUBREC", 0x60: "PUBREL", 0x70: "PUBCOMP",
         0x90: "SUBACK", 0xB0: "UNSUBACK", 0xD0: "PINGRESP", 0xE0: "DISCONNECT", 0xF0: "AUTH"}
KNOWN = sorted(BYTE | FOUR | TEXT | TWO | {0x09, 0x0B, 0x16, 0x26})
# A broker that asks for less gets less: that is no loss. So none of these may come by chance.
LESS = {0x24, 0x25, 0x27}


class Packet:
    """`head` comes before the properties and `tail` after; `properties` is None where there are none (3.1.1)."""

    def __init__(self, first, head=b"", properties=None, tail=b""):
        self.first, self.head, self.properties, self.tail = first, head, properties, tail

    def body(self):
        if self.properties is None:
            return self.head + self.tail
        inside = b"".join(self.properties)
        return self.head + length(len(inside)) + inside + self.tail

    def bytes(self):
        body = self.body()
        return bytes([self.first]) + length(len(body)) + body


def value(random, number):
    """One property with a value of the right form."""
    coded = length(number)
    if number in BYTE:
        return coded + bytes([random.choice([0, 1, 2, 255])])
    if number in TWO:
        return coded + struct.pack(">H", random.choice([0, 1, 2, 60, 65535]))
    if number in FOUR:
        return coded + struct.pack(">I", random.choice([0, 1, 255, 2**31, 2**32 - 1]))
    if number == 0x0B:
        return coded + length(random.choice([0, 1, 127, 128, 268435455]))
    if number == 0x26:
        return coded + text("k") + text(random.choice(["", "v", "v" * 300]))
    return coded + text(random.choice([b"", b"x", b"seismote/x/cmd/ping", b"\xff\xfe", b"a\0b", b"y" * 500]))


# Each takes a packet and gives the bytes that go out instead.

def unknown_property(random, packet):
    number = random.choice([0, 4, 5, 6, 7, 10, 0x0D, 0x14, 0x2B, 0x30, 0x7F, 0x80, 0xFF, 0x3FFF, 2097152])
    packet.properties = list(packet.properties or [])
    packet.properties.insert(random.randint(0, len(packet.properties)), length(number) + random.randbytes(
        random.choice([0, 1, 1, 2, 4])))
    return packet.bytes()


def other_property(random, packet):
    packet.properties = list(packet.properties or []) + [value(random, random.choice(KNOWN))]
    return packet.bytes()


def property_twice(random, packet):
    one = value(random, random.choice(KNOWN))
    packet.properties = list(packet.properties or []) + [one, one]
    return packet.bytes()


def property_cut(random, packet):
    one = value(random, random.choice(KNOWN))
    packet.properties = list(packet.properties or []) + [one[:random.randint(0, max(0, len(one) - 1))]]
    packet.tail = b"" if random.random() < 0.5 else packet.tail
    return packet.bytes()


def property_length(random, packet):
    inside = b"".join(packet.properties or [])
    wrong = random.choice([
        length(len(inside) + random.randint(1, 300)), length(max(0, len(inside) - 1)), b"\xff\xff\xff\x7f",
        b"\xff\xff\xff\xff", b"\xff\xff\xff\xff\x01", b"\x80\x00", b"\x80"])
    body = packet.head + wrong + inside + packet.tail
    return bytes([packet.first]) + length(len(body)) + body


def longer(random, packet):
    body = packet.body()
    return bytes([packet.first]) + length(len(body) + random.choice([1, 2, 10, 200, 70000])) + body


def shorter(random, packet):
    body = packet.body()
    return bytes([packet.first]) + length(random.randint(0, max(0, len(body) - 1))) + body


def endless_length(random, packet):
    return bytes([packet.first]) + b"\xff" * random.randint(4, 9) + packet.body()


def huge(random, packet):
    """Announces up to 256 MB, and sends some of it."""
    return bytes([packet.first]) + random.choice([b"\xff\xff\xff\x7f", b"\x80\x80\x80\x10"]) + packet.body() + bytes(
        random.choice([0, 1000, 300000]))


def truncated(random, packet):
    data = packet.bytes()
    return data[:random.randint(1, max(1, len(data) - 1))]


def reserved_bits(random, packet):
    packet.first ^= random.randint(1, 15)
    return packet.bytes()


def other_kind(random, packet):
    packet.first = random.randint(0, 255)
    return packet.bytes()


def nothing_inside(random, packet):
    return bytes([packet.first, 0])


def reason(random, packet):
    """The byte that is a reason, where there is one, or any other of the head."""
    if packet.head:
        at = len(packet.head) - 1
        packet.head = packet.head[:at] + bytes([random.randint(0, 255)]) + packet.head[at + 1:]
    return packet.bytes()


def number(random, packet):
    """Another number than that of the packet that is answered; of a PUBLISH, the length of its topic."""
    if len(packet.head) > 1 and packet.first & 0xF0 != CONNACK:
        packet.head = struct.pack(">H", random.choice([0, 1, 65535, random.randint(0, 65535)])) + packet.head[2:]
    return packet.bytes()


def flipped(random, packet):
    data = bytearray(packet.bytes())
    for _ in range(random.randint(1, 4)):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(data)


def cut_out(random, packet):
    data = packet.bytes()
    at = random.randrange(len(data))
    return data[:at] + data[at + random.randint(1, 4):]


def put_in(random, packet):
    data = packet.bytes()
    at = random.randint(0, len(data))
    return data[:at] + random.randbytes(random.randint(1, 8)) + data[at:]


def noise(random, packet):
    return random.randbytes(random.randint(1, 400))


def again(random, packet):
    return packet.bytes() * random.randint(2, 5)


def large(random, packet):
    packet.tail += bytes(random.choice([5000, 70000, 1_000_000]))
    return packet.bytes()


MANNERS = [unknown_property, unknown_property, unknown_property, other_property, other_property, property_twice,
           property_cut, property_cut, property_length, property_length, longer, shorter, endless_length, huge, truncated,
           reserved_bits, other_kind, nothing_inside, reason, reason, number, flipped, flipped, flipped, cut_out, put_in,
           noise, again, large]


def asks_for_less(data):
    """Whether this is a CONNACK with one of the limits that make messages smaller, worse or none."""
    try:
        return data[0] == CONNACK and bool(LESS & set(read_properties(data, 4)[0]))
    except (ValueError, IndexError, struct.error):
        return False


def mutate(random, packet):
    """(bytes, how they were spoiled)"""
    while True:
        manner = random.choice(MANNERS)
        if packet.properties is None and "property" in manner.__name__:
            continue
        copy = Packet(packet.first, packet.head, packet.properties, packet.tail)
        data = manner(random, copy)
        if not asks_for_less(data):
            return data, manner.__name__


def out_of_turn(random, version, topic):
    """A packet that nobody asked for."""
    properties = [] if version == 5 else None
    some = struct.pack(">H", random.choice([1, 2, 3, 65535]))
    kind = random.choice([CONNACK, PUBACK, PUBREC, PUBREL, PUBCOMP, SUBACK, UNSUBACK, PINGRESP, DISCONNECT, AUTH, 0x10,
                          0x82, 0xA2, 0xC0, 0x34])
    if kind == CONNACK:
        return Packet(kind, b"\0\0", properties)
    if kind in (PUBACK, PUBREC, PUBREL, PUBCOMP):
        return Packet(kind, some + (b"\0" if version == 5 else b""), properties)
    if kind in (SUBACK, UNSUBACK):
        return Packet(kind, some, properties, b"\1")
    if kind in (DISCONNECT, AUTH):
        return Packet(kind, bytes([random.choice([0, 0x18, 0x19, 0x81, 0x8E, 0x9C])]) if version == 5 else b"", properties)
    if kind == 0x34:
        return Packet(kind, text(topic) + some, properties, b"{}")
    return Packet(kind, b"" if kind == 0xC0 else some)
