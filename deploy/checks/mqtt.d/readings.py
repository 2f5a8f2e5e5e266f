"""Keeps account of what a station's messages say: whether every one of a stream has come, and how often."""

import calendar
import collections
import hashlib
import json
import struct
import time


def seconds(text):
    """Since 1970, of a time as the agent writes it."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float("0." + (fraction or "0"))


def begin(records):
    """When the first of some miniSEED records begins, as what sorts like it."""
    if records[:2] == b"MS":
        nanoseconds, year, day, hour, minute, second = struct.unpack_from("<IHHBBB", records, 4)
        return year, day, hour, minute, second, nanoseconds
    year, day, hour, minute, second, fraction = struct.unpack_from(">HHBBBxH", records, 20)
    return year, day, hour, minute, second, 100_000 * fraction


class Readings:
    """Of one station, live and back-filled together, until `forget`."""

    def __init__(self, station, root="seismote"):
        self.prefix = f"{root}/{station}/"
        # (boot, stream) -> {seq: how often}
        self.streams = collections.defaultdict(collections.Counter)
        # Live ones that came for the first time after a later one: (stream, number, the later one's).
        self.out_of_order = []
        self.highest = {}
        self.health, self.online = [], []
        self.waveforms = collections.defaultdict(list)
        self.ended, self.backfilled = {}, 0
        self.onsets = set()
        self.last_trace = self.last_summary = 0.0
        self.trace_times, self.delays = [], []
        # Bytes of each, and when it came last.
        self.topics, self.latest = collections.Counter(), {}

    def take(self, message):
        """One message; those that the broker had kept tell nothing of what flows."""
        if not message.topic.startswith(self.prefix):
            return
        topic = message.topic[len(self.prefix):]
        self.topics[topic.split("/waveform/")[0]] += len(message.payload)
        if topic == "state/online":
            self.online.append((message.at, message.payload.decode("utf-8", "replace"), message.retain))
            return
        if message.retain or not message.payload:
            return
        self.latest[topic] = message.at
        late = topic.startswith("data/history/")
        if late:
            self.backfilled += 1
            topic = "data/" + topic[len("data/history/"):]
        if topic.startswith("data/waveform/"):
            known = self.waveforms[topic.split("/")[-1]]
            if message.payload not in known:
                known.append(message.payload)
            return
        if topic.endswith("/trigger") or topic in ("data/trace", "state/health", "state/summary"):
            self.json(topic.split("/")[-1], json.loads(message.payload), message, late)

    def json(self, stream, object_, message, late):
        key = (object_["boot"], stream)
        seq = object_["seq"]
        if not late and seq < self.highest.get(key, -1) and seq not in self.streams[key]:
            self.out_of_order.append((stream, seq, self.highest[key]))
        self.highest[key] = max(seq, self.highest.get(key, -1))
        self.streams[key][seq] += 1
        if stream == "trace":
            self.last_trace = message.at
            self.trace_times.append((message.at, seq))
            self.delays.append((message.at, time.time() - seconds(object_["t"])))
        elif stream == "summary":
            self.last_summary = message.at
        elif stream == "health":
            self.health.append((message.at, object_))
        elif stream == "trigger":
            if object_["event_type"] == "onset":
                self.onsets.add(object_["event_id"])
            elif object_["event_type"] == "end":
                self.ended[object_["event_id"]] = object_

    def lacks(self, message):
        """Whether it is an event's or a trace, and has not come."""
        topic = message.topic[len(self.prefix):]
        stream = topic.split("/")[-1]
        if message.payload and topic.startswith("data/waveform/"):
            return message.payload not in self.waveforms.get(stream, ())
        if not message.payload or stream not in ("trace", "trigger"):
            return False
        object_ = json.loads(message.payload)
        return object_["seq"] not in self.streams.get((object_["boot"], stream), ())

    def account(self, stream, since=0):
        """(messages that came, numbers that are missing, messages that came again) of all runs together. `since`:
        numbers below are none of ours, for a reader that came late."""
        came = missing = again = 0
        for (_, name), seen in self.streams.items():
            if name != stream:
                continue
            numbers = [number for number in seen if number >= since]
            if not numbers:
                continue
            came += len(numbers)
            missing += max(numbers) - min(numbers) + 1 - len(numbers)
            again += sum(seen[number] - 1 for number in numbers)
        return came, missing, again

    def holes(self, stream):
        """The missing numbers, for a message."""
        found = []
        for (_, name), seen in self.streams.items():
            if name == stream:
                found += [n for n in range(min(seen), max(seen) + 1) if n not in seen]
        return found

    def broken_waveforms(self):
        """Events whose waveform is not what their last message says: [(event id, why)]."""
        broken = []
        for name, end in self.ended.items():
            said = end.get("waveform")
            if not said:
                continue
            parts = self.waveforms.get(name, [])
            # One over which a connection broke may have come after the next: then in order of time.
            orders = (parts, sorted(parts, key=begin))
            if not any(hashlib.sha256(b"".join(order)).hexdigest() == said["sha256"] for order in orders):
                size = sum(len(part) for part in parts)
                broken.append((name, f"{len(parts)} messages, {size} bytes of {said['bytes']}"))
        return broken
