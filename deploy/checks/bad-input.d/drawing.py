"""Hostile messages: good ones in which members are missing, of another type, out of every range, there twice, unknown or
nested too deep, as JSON or CBOR that is cut short, damaged or no UTF-8. The same with the same seed."""

import datetime
import json
import os
import random
import re
import struct
import time

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "../../../Tests/Vectors/messages")
STATION = "basement-north"


class Raw(bytes):
    """What stands in the JSON as it is; in CBOR, bytes."""


class Members(list):
    """An object, as [name, value] one after the other: a name may be there twice."""


def stamp(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")


def network_event(now, names=("a", "b", "c", "d")):
    """A version of a network event; none of the recorded messages is one."""
    return {
        "v": 1, "boot": "6a1f3c52-9d0e-4b7a-8f21-0c5d7e9b1a34", "seq": 0, "t": stamp(now), "event_type": "update",
        "event_id": f"net-{int(now * 1000)}", "version": 2, "origin_time": stamp(now - 9), "latitude": 46.25,
        "longitude": 7.5, "depth_km": 8, "depth_sigma_km": 3, "depth_class": "shallow",
        "ellipse": {"semi_major_km": 4, "semi_minor_km": 2, "azimuth": 30},
        "place": {"quality": "good", "azimuthal_gap": 90, "region": [[46.2, 7.4], [46.3, 7.6]], "others": []}, "rms_s": .2,
        "magnitude": {"value": 4.6, "sigma": .3, "relation": "cua_heaton"}, "pga": {"value": .4, "station": names[0]},
        "mmi": {"value": 4.1, "station": names[0]}, "class": {"likely": "earthquake", "earthquake": 3, "disturbance": 0},
        "stations": [{"id": name, "event_id": f"{name}-{int(now)}{index}", "onset": stamp(now - 5 + index / 2), "phase": "P",
                      "residual_s": .1, "distance_km": 9 + index} for index, name in enumerate(names)],
        "silent": ["hall"], "disputed": False, "clocks": [{"id": "hall", "offset_s": 2.5}]}


def encoded(value):
    if isinstance(value, Members):
        return b"{" + b",".join(encoded(name) + b":" + encoded(one) for name, one in value) + b"}"
    if isinstance(value, list):
        return b"[" + b",".join(map(encoded, value)) + b"]"
    if isinstance(value, Raw):
        return bytes(value)
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def head(kind, number):
    if number < 24:
        return bytes([kind << 5 | number])
    size = next(size for size in (1, 2, 4, 8) if number < 1 << 8 * size)
    return bytes([kind << 5 | {1: 24, 2: 25, 4: 26, 8: 27}[size]]) + number.to_bytes(size, "big")


def encoded_cbor(value):
    if isinstance(value, Members):
        return head(5, len(value)) + b"".join(encoded_cbor(name) + encoded_cbor(one) for name, one in value)
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(map(encoded_cbor, value))
    if isinstance(value, Raw):
        return bytes(value[:8])
    if value is None or isinstance(value, bool):
        return {None: b"\xf6", True: b"\xf5", False: b"\xf4"}[value]
    if isinstance(value, str):
        data = value.encode("utf-8", "surrogatepass")
        return head(3, len(data)) + data
    if isinstance(value, int) and abs(value) < 1 << 63:
        return head(0, value) if value >= 0 else head(1, -1 - value)
    return b"\xfb" + struct.pack(">d", float(value) if abs(value) < 1e300 else 1e300)


NUMBERS = [
    0, -0.0, 1, -1, 0.5, 9.6, 12.6, 90.000001, -90.1, 180.5, 701, 1e-308, 5e-324, 1e19, -1e19, 1e300, -1.7e308, 1 << 31, 1 << 32,
    (1 << 53) + 1, (1 << 63) - 1, -(1 << 63), 1 << 63, 1 << 64]
NO_NUMBERS = [*map(Raw, [
    b"NaN", b"-NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e999999999", b"1e-400", b"9" * 400, b"0." + b"1" * 3000, b"01", b"+1",
    b".5", b"5.", b"0x10", b"1e", b"--1", b"1_000"])]
TEXTS = [
    "", " ", "net-", "net-1", "NET-1", "-", "good", "end", "onset", "\0x", "\x1b[2J", "\x1b]0;x\x07", "a\nb", "é", "\u202e", "../..",
    "\ud800",
    "1677-09-21T00:12:43.145224193Z", "2262-04-11T23:47:16.854775807Z", "1970-01-01T00:00:00Z", "0000-00-00T00:00:00Z",
    "9999-12-31T23:59:60Z", "2026-02-30T00:00:00Z", "2026-01-05T10:20:30+99:99", "9" * 70_000, "a-" * 64, "<script>", "' OR 1=1 --",
    "%s%n", "NaN", "true", "{}", "\u0000" * 3000]
NO_TEXTS = [*map(Raw, [
    b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\u00"', b'"\\x"', b'"a', b'"\xff\xfe"', b'"\xc0\x80"', b'"\xed\xa0\x80"', b'"\xf5\x80\x80\x80"',
    b"'a'", b"undefined", b"tru", b"/*x*/1"])]
WHOLE = [
    b"", b" ", b"null", b"true", b"0", b"[]", b"{}", b'""', b"{", b"}", b"[" * 50_000, b'{"a":' * 20_000, b"\xff\xfe", bytes(range(256)),
    b"x" * 300_000,
    b"\x00" * 70_000, b"9" * 70_000, b'"' + b"a" * 200_000 + b'"', b"\xef\xbb\xbf{}", b"{}{}", b"\xbf" * 5000, b"\x9f" * 50_000,
    b"\xd9\xd9\xf7" * 9000,
    b"\xbb\xff\xff\xff\xff\xff\xff\xff\xff", b"\x9b\x7f\xff\xff\xff\xff\xff\xff\xff", b"\x7b\x7f\xff\xff\xff\xff\xff\xff\xff",
    b"\x81" * 50_000,
    b"{" + b",".join(b'"%d":0' % n for n in range(20_000)) + b"}", b"[" + b"0," * 60_000 + b"0]", b"online", b"offline", b"maybe",
]


class Drawing:
    def __init__(self, seed):
        self.dice, self.golden = random.Random(seed), {}

    def good(self, name, station, now=None):
        """A recorded message as if this station had just sent it; `network-event`: one of a network."""
        now = time.time() if now is None else now
        if name == "network-event":
            return json.dumps(network_event(now)).encode()
        if name not in self.golden:
            with open(os.path.join(GOLDEN, name), "rb") as file:
                self.golden[name] = file.read()
        data = self.golden[name]
        if not name.endswith(".json"):
            return data
        text = data.decode().replace(STATION, station)
        text = re.sub(r'"20\d\d-\d\d-\d\dT[0-9:.]+Z"', json.dumps(stamp(now - self.dice.random() * 5)), text)
        return re.sub(r"20\d{6}T\d{9}Z", str(int(now * 1000)), text).encode()

    def drawn(self, good, cbor=False):
        """A hostile message made of a good one."""
        dice = self.dice
        if dice.random() < 0.04:
            return dice.choice(WHOLE)
        try:
            tree = json.loads(good, object_pairs_hook=lambda pairs: Members([name, one] for name, one in pairs))
        except ValueError:
            return self.damaged(good)
        for _ in range(dice.randint(1, 3)):
            tree = self.changed(tree)
        data = encoded_cbor(tree) if cbor or dice.random() < 0.05 else encoded(tree)
        return self.damaged(data) if dice.random() < 0.12 else data

    def changed(self, tree, depth=0):
        """The tree with one place of it changed, on average not far below its root."""
        dice = self.dice
        if isinstance(tree, Members) and tree:
            tree, at = Members(map(list, tree)), dice.randrange(len(tree))
            kind = dice.randrange(20)
            if kind < 3:
                del tree[at]
            elif kind < 6:
                tree[at][1] = self.wild()
            elif kind == 6:
                other = dice.randrange(len(tree))
                tree[at][1], tree[other][1] = tree[other][1], tree[at][1]
            elif kind == 7:
                tree.insert(dice.randint(0, len(tree)), [tree[at][0], self.wild()])
            elif kind < 10:
                tree.append([dice.choice(["x", "", "id", "__proto__", "a" * 5000, "é"]), self.wild()])
            else:
                tree[at][1] = self.changed(tree[at][1], depth + 1)
            return tree
        if type(tree) is list and tree:
            tree, at = list(tree), dice.randrange(len(tree))
            kind = dice.randrange(6)
            if kind == 0:
                del tree[at]
            elif kind == 1:
                tree.append(self.wild())
            elif kind == 2:
                tree = [tree[at]] * dice.choice([0, 2, 300])
            else:
                tree[at] = self.changed(tree[at], depth + 1)
            return tree
        return self.wild()

    def wild(self, depth=0):
        dice = self.dice
        kind = dice.randrange(12)
        if kind < 2:
            return dice.choice([None, True, False])
        if kind < 6:
            return dice.choice(NUMBERS if dice.random() < 0.85 else NO_NUMBERS)
        if kind < 9:
            return dice.choice(TEXTS if dice.random() < 0.9 else NO_TEXTS)
        if kind == 9:
            deep = dice.choice([3, 60, 600, 20_000])
            return Raw(b"[" * deep + b"]" * deep) if dice.random() < 0.5 else Raw(b'{"a":' * deep + b"0" + b"}" * deep)
        if kind == 10 and depth < 4:
            return [self.wild(depth + 1) for _ in range(dice.randint(0, 3))]
        if depth < 4:
            return Members([name, self.wild(depth + 1)] for name in dice.sample(["value", "id", "t", "station"], dice.randint(0, 3)))
        return dice.uniform(-1000, 1000)

    def damaged(self, data):
        dice, data = self.dice, bytearray(data)
        if not data:
            return bytes(data)
        kind = dice.randrange(4)
        if kind == 0:
            return bytes(data[:dice.randrange(len(data))])
        if kind == 1:
            at = dice.randrange(len(data))
            return bytes(data[:at]) + dice.choice([b"\xff", b"\xc3", b"\xed\xa0\x80", b"\0", b"\xf4\x90\x80\x80"]) + bytes(data[at:])
        if kind == 2:
            return bytes(data) + dice.choice([b" x", b",", b"}", b"\0", bytes(data)])
        for _ in range(dice.randint(1, 4)):
            at = dice.randrange(len(data))
            if dice.random() < 0.5:
                data[at] = dice.randrange(256)
            else:
                data.insert(at, dice.choice(b'0919-e{}[],:"\\'))
        return bytes(data)

    def station(self):
        """A name of one of twelve stations; now and then what is none."""
        if self.dice.random() < 0.04:
            return self.dice.choice(["", "group", "network", "é", "a" * 64, "a" * 65, "a b", "..", "%", "NaN", "feed", "\u202e"])
        return f"hostile-{self.dice.randrange(12)}"
