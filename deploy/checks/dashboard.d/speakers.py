"""Stations that are only their messages, for what one machine cannot run: a thousand of them, a month of events, a class.

    speakers.py PORT station ID   one that answers `events`, `event`, `history`, `label` and `ping`, with a month of events,
                                  an open event with class and estimate; prints each command
    speakers.py PORT recording ID [TIME]
                                  the same, but all of it is until TIME (2019-07-07T06:30:00Z), as of a recording that is played
    speakers.py PORT live ID      one with live traces, levels of the hour before and the samples of all of it
    speakers.py PORT late ID      the same in the middle of an event that began 40 s before and is an alarm; its waveform comes every 4 s
    speakers.py PORT slow ID      live traces of 2 Hz
    speakers.py PORT first ID     a recording whose first event is open: it keeps none yet
    speakers.py PORT site ID      one at a building site: a day of vibration with a limit, a month of modes; an interval every second
    speakers.py PORT fleet COUNT  COUNT stations that speak `state/level` once a second, a few of them with problems
"""

import asyncio
import datetime
import hashlib
import json
import math
import os
import random
import struct
import sys
import time

from client import Client

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference", "records", "r10_ridgecrest38_tow2.mseed")
VERBS = ["config", "config-get", "snapshot", "events", "event", "history", "label", "ping"]
BOOT = "6a1f3c52-9d0e-4b7a-8f21-0c5d7e9b1a34"
# From where the fleet is: a few networks, and some stations by themselves.
PLACES = [(35.7, 139.7, "kanto"), (38.1, 15.6, "sicily"), (41.0, 29.0, "marmara"), (35.8, -117.6, "california"), (-33.4, -70.6, "chile"), (64.1, -21.9, "iceland")]


def rfc(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f") + "000Z"


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def steps(asked):
    """Begin, length and number of the steps that a station answers `history` with: they begin at multiples of their length,
    and one that has begun counts."""
    step = asked["step_s"]
    begin = seconds(asked["from"]) // step * step
    return begin, step, min(5000, math.ceil((seconds(asked["to"]) - begin) / step))


def envelope(station, seq, at=None):
    return {"v": 1, "station": station, "boot": BOOT, "seq": seq, "t": rfc(time.time() if at is None else at)}


def noise(at, number):
    """0 to 1, for a time the same each time; cheap, since a day has some thousands of them."""
    return (int(at) * 2654435761 + number * 40503 >> 7) % 1009 / 1009


def said(value):
    return json.dumps(value, separators=(",", ":")).encode()


def event(station, onset, number, kind="end"):
    chance = random.Random(number)
    mmi = 1.5 + chance.random() ** 3 * 6
    p = round(chance.random(), 2)
    likely = "earthquake" if p >= 0.5 else "disturbance"
    name = datetime.datetime.fromtimestamp(onset, datetime.timezone.utc).strftime("%Y%m%dT%H%M%S") + f"{int(onset * 1000) % 1000:03}Z"
    pga = 0.01 * 10 ** (mmi / 3)
    found = {**envelope(station, number, onset), "event_type": kind, "event_id": f"{station}-{name}", "onset": rfc(onset),
             "detectors": [{"name": "sta_lta", "signal": "v3", "on": rfc(onset), "max": 12.5, "threshold": 3.0}],
             "sta_lta_max": {"v3": 12.5}, "pga": pga, "pga_pct_g": pga / 0.0980665, "pgv": pga / 20, "pgd": pga / 400, "duration_s": 8.0 + number % 40,
             "intensity": [{"scale": "mmi", "relation": "worden12", "value": round(mmi, 1)}, {"scale": "jma", "relation": "jma", "value": round(mmi / 2, 1)}],
             "peaks": {axis: {"value": pga * part, "t": rfc(onset + 3)} for axis, part in (("x", 1), ("y", 0.7), ("z", 0.4))},
             "class": {"likely": likely, "p": p, "t_s": 5.0, "certain": p >= 0.8, "moved": False, "final": True},
             "onsite": {"t_s": 2, "pv": 0.002, "pd": None, "tau_c": 1.2, "pgv_predicted": pga / 18, "mmi_predicted": mmi, "pgv_low": pga / 90, "pgv_high": pga / 4, "saturated": False, "level": None}}
    if kind == "end":
        found["end"] = rfc(onset + found["duration_s"])
    return found


def miniseed(channel, begin, rate, counts):
    """Whole numbers as miniSEED 2, not compressed; UNIT m/s² each."""
    records = b""
    for first in range(0, len(counts), 112):
        some = counts[first:first + 112]
        at = datetime.datetime.fromtimestamp(begin + first / rate, datetime.timezone.utc)
        when = struct.pack(">HHBBBxH", at.year, at.timetuple().tm_yday, at.hour, at.minute, at.second, at.microsecond // 100)
        head = b"%06dD " % 1 + b"LIVE " + b"  " + channel + b"XX" + when
        head += struct.pack(">HhhBBBBiHH", len(some), rate, 1, 0, 0, 0, 1, 0, 64, 48)
        head += struct.pack(">HHBBBB", 1000, 0, 3, 1, 9, 0)
        records += (head.ljust(64, b"\0") + struct.pack(f">{len(some)}i", *some)).ljust(512, b"\0")
    return records


class Station:
    sensor = {"driver": "iio", "chip": "adxl355", "rate_hz": 100}
    # Seconds by which its own time is away from that of others; how long ago its open event began; more of its summaries.
    behind = 0
    open_for = 20
    more = {}

    def __init__(self, name):
        self.name, self.seq, self.labels = name, 0, {}
        now = self.begun = time.time() - self.behind
        self.events = [event(name, now - 7200 - number * 19000, number) for number in range(140)]
        self.open = event(name, now - self.open_for, 1000, "update")
        with open(RECORD, "rb") as file:
            self.record = file.read()

    async def run(self, port):
        self.client = await Client(f"contract-{self.name}", take=self.take).connect(port)
        await self.client.subscribe(f"seismote/{self.name}/cmd/+")
        await self.client.subscribe("seismote/group/all/cmd/+")
        # Several of them lie on a line to the north.
        north = int(self.name[-1]) * 0.1 if self.name[-1].isdigit() else 0
        where = {"id": self.name, "network": "XX", "code": "CTR", "latitude": 35.7 + north, "longitude": 139.7, "description": "Speaks the contract", "groups": ["test"]}
        await self.publish("state/online", b"online", True)
        await self.publish("state/info", {"agent": {"name": "seismote", "version": "2.0", "build": "contract"}, "station": where,
                                          "sensor": self.sensor, "capabilities": {"verbs": VERBS}}, True)
        await self.publish("state/config", {"rev": 0, "sha256": "0", "config": {"trace": {"enabled": False}}, "sources": {}, "pending": None}, True)
        await self.publish("state/alert/clock_unsynced", {"code": "clock_unsynced", "severity": "warning", "since": rfc(time.time() - 4000),
                                                          "message": "The clock is not synchronised.", "details": {}}, True)
        await self.publish("event/last", self.events[0], True)
        judged = iter([(0.5, 0.31), (1, 0.48), (2, 0.72), (3, 0.88), (5, 0.93)])
        await self.judge(*next(judged))
        while True:
            self.seq += 1
            # Slowly, so that a page that is opened sees it come.
            if self.seq > 6 and (one := next(judged, None)):
                await self.judge(*one)
            mmi = round(3 + math.sin(self.seq / 5), 1)
            await self.publish("state/level", {"pga": 0.04, "mmi": mmi, "jma": mmi / 2, "triggered": True, "valid": True, "synced": False}, True, 0)
            await self.publish("state/summary", {"window_s": 10, "pga": 0.04, "pga_pct_g": 0.4, "pgv": 0.002, "pgd": 0.0001, "triggered": True, "valid": True,
                                                 "intensity": [{"scale": "mmi", "relation": "worden12", "value": mmi}], **self.more}, True, 0)
            await asyncio.sleep(1)

    async def judge(self, at, p):
        self.open["class"] = {"likely": "earthquake" if p >= 0.5 else "unclassified", "p": p, "t_s": float(at), "certain": p >= 0.8, "moved": False, "final": False}
        self.open["alarm"] = p >= 0.88
        self.open.update(envelope(self.name, self.open["seq"] + 1, time.time() - self.behind))
        await self.publish("event/trigger", self.open)
        await self.publish("event/current", self.open, True)

    async def publish(self, topic, body, retain=False, qos=1):
        payload = body if isinstance(body, bytes) else said({**envelope(self.name, self.seq, time.time() - self.behind), **body})
        await self.client.publish(f"seismote/{self.name}/{topic}", payload, qos, retain)

    def take(self, message):
        verb = message.topic.rsplit("/", 1)[1]
        asked = json.loads(message.payload or b"{}")
        print(verb, json.dumps(asked), flush=True)
        asyncio.get_running_loop().create_task(self.answer(verb, asked))

    async def answer(self, verb, asked):
        number = asked.get("id", "none")
        try:
            result = await getattr(self, f"do_{verb.replace('-', '_')}")(asked)
            reply = {"phase": "done", "result": result, "errors": []}
        except AttributeError:
            reply = {"phase": "failed", "errors": [{"path": "", "code": "unavailable", "message": f"There is no command `{verb}`."}]}
        except LookupError as error:
            reply = {"phase": "failed", "errors": [{"path": "/event_id", "code": "unavailable", "message": str(error)}]}
        await self.publish(f"res/{number}", {"id": number, "cmd": verb, **reply})

    async def do_ping(self, _):
        return {}

    async def do_label(self, asked):
        self.labels[asked["event_id"]] = asked["label"]
        return {}

    async def do_events(self, asked):
        def matches(one):
            return (asked.get("from", "") <= one["onset"] < asked.get("to", "9") and one["intensity"][0]["value"] >= asked.get("min_mmi", 0)
                    and asked.get("class", one["class"]["likely"]) == one["class"]["likely"])
        found = [one for one in self.events if matches(one)]
        first = int(asked.get("after", 0))
        some = found[first:first + asked.get("limit", 100)]
        after = first + len(some)
        return {"events": some, "matches": len(found), "next": after if after < len(found) else None}

    async def do_event(self, asked):
        found = next((one for one in self.events if one["event_id"] == asked["event_id"]), None)
        if not found:
            raise LookupError("this event is not kept")
        if not asked.get("waveform"):
            return {"event": found}
        for at in range(0, len(self.record), 16384):
            await self.publish(f"data/history/waveform/{asked['id']}", self.record[at:at + 16384])
        return {"event": found, "bytes": len(self.record), "sha256": hashlib.sha256(self.record).hexdigest()}

    async def do_history(self, asked):
        begin, step, count = steps(asked)
        columns = {axis: {"min": [], "max": [], "rms": []} for axis in "xyz"}
        newest = time.time() - self.behind
        for i in range(count):
            at = begin + i * step
            near = (at - self.begun + 7200) % 19000
            size = 0.0006 + 0.03 * math.exp(-near / 90)
            for number, (axis, offset) in enumerate((("x", 0), ("y", 0.02), ("z", 9.81))):
                gap = 30000 < at % 86400 < 31500 or not newest - 40 * 86400 < at < newest
                low, high = (None, None) if gap else (round(offset - size * (0.6 + noise(at, 2 * number)), 6), round(offset + size * (0.6 + noise(at, 2 * number + 1)), 6))
                columns[axis]["min"].append(low)
                columns[axis]["max"].append(high)
                columns[axis]["rms"].append(None if gap else round(size / 2, 6))
        return {"from": rfc(begin), "step_s": step, **columns}


class Recording(Station):
    """Its own time is that of the recording: until the morning of 7 July 2019, or as it is told."""
    behind = time.time() - seconds(sys.argv[4] if len(sys.argv) > 4 else "2019-07-07T06:30:00Z")
    sensor = {"driver": "replay", "rate_hz": 100}


class First(Recording):
    async def do_events(self, _):
        return {"events": [], "matches": 0, "next": None}

    async def publish(self, topic, body, retain=False, qos=1):
        if topic != "event/last":
            await super().publish(topic, body, retain, qos)


class Live(Station):
    """Sines whose samples are known: ±1 mm/s² at 1 Hz on x, at 2 Hz on y, at 3 Hz on z, beside gravity."""
    rate = 20

    async def run(self, port):
        asyncio.get_running_loop().create_task(super().run(port))
        while True:
            await asyncio.sleep(1)
            if not hasattr(self, "client") or self.seq == 0:
                continue
            begin = math.floor(time.time()) - 1
            block = {axis: {"raw": self.samples(axis, begin, self.rate, self.rate), "filtered": self.samples(axis, begin, self.rate, self.rate, 0)} for axis in "xyz"}
            await self.publish("data/trace", {"t": rfc(begin), "rate_hz": self.rate, "n": self.rate, **block}, False, 0)

    @staticmethod
    def samples(axis, begin, rate, count, gravity=9.81):
        hz = " xyz".index(axis)
        return [round((gravity if axis == "z" else 0) + 1e-3 * math.sin(2 * math.pi * hz * (begin % 3600 + i / rate)), 6) for i in range(count)]

    async def do_history(self, asked):
        begin, step, count = steps(asked)
        offset = {"x": 0, "y": 0, "z": 9.81}
        return {"from": rfc(begin), "step_s": step, **{axis: {"min": [offset[axis] - 1e-3] * count, "max": [offset[axis] + 1e-3] * count, "rms": [7e-4] * count} for axis in "xyz"}}

    def ring(self, begin, end):
        return b"".join(miniseed(channel, begin, self.rate, [round(value * 1e6) for value in self.samples(axis, begin, self.rate, (end - begin) * self.rate)])
                        for axis, channel in (("x", b"HN1"), ("y", b"HN2"), ("z", b"HNZ")))

    async def do_snapshot(self, asked):
        # What goes out with a live block is there, and no more.
        begin, end = (math.floor(seconds(asked[one])) for one in ("from", "to"))
        end = min(end, math.floor(time.time()) - 1)
        record = self.ring(begin, end)
        for at in range(0, len(record), 16384):
            await self.publish(f"data/history/waveform/{asked['id']}", record[at:at + 16384])
        return {"bytes": len(record), "sha256": hashlib.sha256(record).hexdigest()}


class Slow(Live):
    rate = 2


class Late(Live):
    open_for = 40
    more = {"h": {"rms": 1.0, "peak": 5.16}, "direction": {"azimuth_deg": 353.0, "axis": "+x"},
            "intensity": [{"scale": "mmi", "relation": "worden12", "value": 3.2}, {"scale": "jma", "relation": "jma", "value": 4.1}]}

    async def judge(self, at, p):
        await super().judge(at, max(p, 0.9))

    async def run(self, port):
        asyncio.get_running_loop().create_task(super().run(port))
        begin = math.floor(time.time())
        while True:
            await asyncio.sleep(4)
            if hasattr(self, "client") and self.seq > 0:
                await self.client.publish(f"seismote/{self.name}/data/waveform/{self.open['event_id']}", self.ring(begin, begin + 4), 1)
                begin += 4


class Site(Station):
    """Piles from 7 to 11 h UTC of each day at 10 Hz and 1 mm/s on x, quiet at 30 Hz elsewhere; a mode of 2.4 Hz, and one of 3.1 Hz."""

    async def run(self, port):
        asyncio.get_running_loop().create_task(super().run(port))
        while True:
            await asyncio.sleep(1)
            if not hasattr(self, "client") or self.seq == 0:
                continue
            one = {"ppv": 4.0, "t": rfc(time.time()), "frequency_hz": 20.0, "rms": 1.0}
            await self.publish("data/vibration", {"start": rfc(time.time() // 60 * 60), "interval_s": 60, "seconds": 60, "pvs": 5.0,
                                                  "x": one, "y": {**one, "ppv": 0.2}, "z": {**one, "ppv": 0.1, "frequency_hz": None}})

    async def do_history(self, asked):
        begin, end = seconds(asked["from"]), min(seconds(asked["to"]), time.time())
        if asked.get("kind") == "modes":
            starts = range(int(begin // 3600 + 1) * 3600, int(end) - 3600, 3600)
            return {"kind": "modes", "n": len(starts), "periods": [
                {"start": rfc(at), "seconds": 3600, "segments": 89, "resolution_hz": 0.025, "temperature_c": round(15 + 5 * math.sin(at / 13750), 2), "modes": [
                    {"id": 1, "frequency_hz": round(2.4 - 0.02 * math.sin(at / 13750), 4), "damping": 0.01, "x": 1, "y": 0.2, "z": 0, "prominence_db": 20},
                    {"id": 2, "frequency_hz": 3.1, "damping": 0.012, "x": 0, "y": 1, "z": 0, "prominence_db": 15}]} for at in starts]}
        if asked.get("kind") != "vibration":
            return await super().do_history(asked)
        # In two replies, as where the broker's largest packet is small.
        first = math.ceil(begin / 60) * 60
        starts = list(range(first, int(end) - 60, 60))[:800]
        piles = [7 <= at % 86400 / 3600 < 11 for at in starts]
        columns = {axis: {"weighting": "wd", "ppv": [round((1.0 if pile and axis == "x" else 0.02) + 0.005 * (at // 60 % 7), 3) for at, pile in zip(starts, piles)],
                          "frequency_hz": [10.0 if pile and axis == "x" else 30.0 + at // 60 % 9 for at, pile in zip(starts, piles)]} for axis in "xyz"}
        more = {"next": rfc(starts[-1] + 60)} if len(starts) == 800 else {}
        return {"kind": "vibration", "n": len(starts), "from": rfc(first), "interval_s": 60, "band": {"lower_hz": 1, "upper_hz": 80}, **more,
                "limit": {"name": "din4150-3:dwellings:foundation", "hz": [1, 10, 50, 100], "value": [5, 5, 15, 20]},
                "start_s": [at - first for at in starts], "seconds": [60] * len(starts), "pvs": [1] * len(starts), **columns}


async def fleet(port, count):
    """One connection speaks for all: what comes to a page is the same."""
    client = await Client("contract-fleet", take=lambda _: None).connect(port)
    chance = random.Random(5)
    names = [f"net-{number:04}" for number in range(count)]
    for number, name in enumerate(names):
        latitude, longitude, group = PLACES[number % len(PLACES)]
        online = number % 97 != 5
        where = {"id": name, "latitude": round(latitude + chance.gauss(0, 1.2), 4), "longitude": round(longitude + chance.gauss(0, 1.5), 4),
                 "description": f"{group.title()}, school {number}", "groups": [group]}
        state = f"seismote/{name}/state"
        await client.publish(f"{state}/online", b"online" if online else b"offline", 1, True)
        await client.publish(f"{state}/info", said({**envelope(name, 0), "agent": {"name": "seismote", "version": "2.0.1"}, "station": where,
                                                    "sensor": {"driver": "iio", "chip": "adxl355", "rate_hz": 100}, "capabilities": {"verbs": VERBS}}), 1, True)
        if number % 151 == 7:
            await client.publish(f"{state}/alert/storage_full", said({**envelope(name, 1), "code": "storage_full", "severity": "warning",
                                                                      "since": rfc(time.time() - 500), "message": "The storage is full."}), 0, True)
    print("ready", flush=True)
    seq, begun = 0, time.monotonic()
    while True:
        seq += 1
        for number, name in enumerate(names):
            if number % 97 == 5 or (number % 211 == 9 and seq > 20):
                continue
            shaking = number % 250 == 3
            mmi = round((5 if shaking else 1.2) + chance.random(), 1)
            level = {**envelope(name, seq), "pga": round((0.4 if shaking else 0.003) * (1 + chance.random()), 7), "mmi": mmi, "jma": round(mmi / 2, 1),
                     "triggered": shaking, "valid": True, "synced": number % 61 != 4}
            await client.publish(f"seismote/{name}/state/level", said(level), 0, True)
            # Spread over the second, as real ones are.
            if number % 20 == 19:
                await asyncio.sleep(max(0, begun + seq + number / count - time.monotonic()))
        await client.writer.drain()
        await asyncio.sleep(max(0, begun + seq + 1 - time.monotonic()))


def main():
    port, mode, what = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    kinds = {"station": Station, "recording": Recording, "live": Live, "late": Late, "slow": Slow, "first": First, "site": Site}
    asyncio.run(kinds[mode](what).run(port) if mode in kinds else fleet(port, int(what)))


main()
