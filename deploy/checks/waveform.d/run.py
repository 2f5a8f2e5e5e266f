"""run.py AGENT FOLDER RECORDING: compares the waveforms that the agent publishes with the recordings it
played. See deploy/checks/waveform."""

import asyncio
import hashlib
import io
import json
import os
import sys

import numpy as np
import obspy
from pymseed import MS3Record

from agent import Agent
from client import Client
from kinds import Mosquitto
from verdict import Failure, expect, finish, within

AXES = "ENZ"
# Counts per m/s² of the recording's channels, see deploy/recordings/README.md.
SENSITIVITY = {"E": 213945.0, "N": 213808.0, "Z": 213740.0}


def recorded(path):
    """{axis: {time in ns: counts}} of a miniSEED file, read with pymseed."""
    samples = {axis: {} for axis in AXES}
    for record in MS3Record.from_file(path, unpack_data=True):
        step = 1e9 / record.samprate
        for i, count in enumerate(record.np_datasamples):
            samples[record.sourceid[-1]][record.starttime + round(i * step)] = int(count)
    return samples


def read_v3(payload):
    """(axis, source, start in ns, rate, counts, unit) of each record, read with pymseed."""
    for record in MS3Record.from_buffer(payload, unpack_data=True):
        expect(record.formatversion == 3, f"miniSEED {record.formatversion}, not 3")
        expect(record.encoding_str().startswith("STEIM-2"), f"coded as {record.encoding_str()}, not Steim2")
        unit = json.loads(record.extra)["seismote"]
        expect(unit["unit"] == "m/s^2", f"unit {unit['unit']}")
        yield (record.sourceid[-1], record.sourceid, record.starttime, record.samprate,
               record.np_datasamples.copy(), unit["unit_per_count"])


def read_v2(payload):
    """The same, read with ObsPy; miniSEED 2 does not say what a count is."""
    for trace in obspy.read(io.BytesIO(payload), format="MSEED"):
        header = trace.stats
        expect(header.mseed.encoding == "STEIM2", f"coded as {header.mseed.encoding}, not Steim2")
        yield (header.channel[-1], trace.id, header.starttime.ns, header.sampling_rate, trace.data, None)


def check_traces(messages):
    """Each trace message alone, read with ObsPy: raw, filtered and RMS of three axes, one second after the other."""
    ends, blocks, size = {}, 0, 0
    for message in messages:
        if not message.topic.endswith("/data/trace"):
            continue
        stream = obspy.read(io.BytesIO(message.payload), format="MSEED")
        sources = sorted(trace.stats.channel for trace in stream)
        expect(sources == sorted("B" + source + axis for source in "NXY" for axis in AXES), f"channels {sources}")
        for trace in stream:
            header = trace.stats
            expect(header.mseed.encoding == "STEIM2" and header.sampling_rate == 20 and header.npts == 20,
                   f"{trace}: {header.mseed.encoding}, {header.sampling_rate} Hz, {header.npts} samples")
            gap = header.starttime - ends.get(trace.id, header.starttime)
            expect(abs(gap) < 1e-4, f"{trace.id}: {gap} s between two messages")
            ends[trace.id] = header.endtime + header.delta
        blocks, size = blocks + 1, size + len(message.payload)
    expect(blocks > 20, f"only {blocks} blocks of traces")
    return f"{blocks} blocks of traces, {size // blocks} bytes each"


def with_gap(path):
    """Writes a recording at 31.25 Hz of 120 s whose strong part has a gap of 3 s in the middle."""
    generator = np.random.default_rng(5)
    rate, start = 31.25, obspy.UTCDateTime(2026, 1, 5, 10, 20, 30, 120000)
    stream = obspy.Stream()
    for k, axis in enumerate(AXES):
        t = np.arange(3750) / rate
        shake = 20000 * np.exp(-((t - 60) / 6) ** 2) * np.sin(2 * np.pi * (2.5 + k) * t)
        counts = np.round(shake + generator.normal(0, 30, t.size)).astype(np.int32)
        for first, last in ((0, 1900), (1994, 3750)):
            stream += obspy.Trace(counts[first:last].copy(), {
                "network": "XX", "station": "GAP", "location": "00", "channel": "BN" + axis,
                "sampling_rate": rate, "starttime": start + first / rate})
    stream.write(path, format="MSEED", encoding="STEIM2", reclen=512)


class Listener:
    """Hears the events and waveforms of one station."""

    def __init__(self, name):
        self.name, self.messages = name, []
        self.client = Client(f"reader-{name}", version=5, take=self.take)

    async def connect(self, port):
        await self.client.connect(port)
        for topics in ("event/#", "data/waveform/#", "data/trace"):
            await self.client.subscribe(f"seismote/{self.name}/{topics}")
        return self

    def take(self, message):
        if not message.retain and message.payload:
            self.messages.append(message)

    def ends(self):
        """How many events have ended, and have been said to be the last one."""
        return min(sum(m.topic.endswith("/event/last") for m in self.messages),
                   sum(m.topic.endswith("/event/trigger") and b'"event_type":"end"' in m.payload for m in self.messages))

    async def until_end(self, events, seconds):
        await within(lambda: self.ends() >= events, seconds, every=0.1)
        expect(self.ends() >= events, f"{self.ends()} of {events} events had ended after {seconds} s; got "
               + str([m.topic for m in self.messages]))
        return self.messages


async def run(agent, port, folder, name, recording, scale, encoding, chunk, protocol, events):
    station = Agent(agent, folder, name, {
        "station": {"network": "XX", "code": "WAVE", "location": "10"},
        "conditioning": {"settle_s": None},
        "sensor": {"driver": "replay", "replay": {"file": recording, "speed": 20, "scale": scale}},
        "waveform": {"chunk_s": chunk} | ({"encoding": encoding} if encoding else {}),
        "trace": {"encoding": "mseed2" if encoding is None else "json"},
        "detection": {"event": {"pre_event_s": 10, "post_event_s": 8, "dead_time_s": 5}},
        "mqtt": {"uri": f"mqtt://127.0.0.1:{port}", "protocol": protocol}})
    listener = await Listener(name).connect(port)
    station.start()
    try:
        return await listener.until_end(events, 90)
    except Failure as failure:
        raise Failure(f"{failure}; the agent said: {station.words()[-2000:]}") from None
    finally:
        await asyncio.to_thread(station.stop, 20)
        await listener.client.close()


def ns(text):
    """Nanoseconds of an RFC 3339 time."""
    whole, fraction = text.rstrip("Z").split(".")
    return obspy.UTCDateTime(whole).ns + int(fraction)


def check(name, messages, samples, scale, read, tolerance_ns, protocol):
    """Compares each event's waveform with the recording; returns what was seen, for people."""
    ends = [json.loads(m.payload) for m in messages if m.topic.endswith("/event/trigger")
            and json.loads(m.payload)["event_type"] == "end"]
    lasts = [json.loads(m.payload) for m in messages if m.topic.endswith("/event/last")]
    expect(ends == lasts, "event/last is not the same as the end messages")
    scales = dict(zip(AXES, scale if isinstance(scale, list) else [scale] * 3))
    lines = []
    for end in ends:
        said = end["waveform"]
        payloads = [m for m in messages if m.topic == said["topic"]]
        expect(said["topic"].endswith("/data/waveform/" + end["event_id"]), f"topic {said['topic']}")
        whole = b"".join(m.payload for m in payloads)
        expect(len(payloads) == said["messages"], f"{len(payloads)} messages, {said['messages']} were said")
        expect(len(whole) == said["bytes"], f"{len(whole)} bytes, {said['bytes']} were said")
        expect(hashlib.sha256(whole).hexdigest() == said["sha256"], "the digest is not that of the bytes")
        if protocol == 5:
            types = {m.properties.get(0x03, b"").decode() for m in payloads}
            expect(types == {"application/vnd.fdsn.mseed"}, f"content types {types}")
        unit, worst, exact, count = said["unit_per_count"], 0.0, 0, 0
        times = {axis: [] for axis in AXES}
        for axis, source, start, rate, counts, extra in (r for m in payloads for r in read(m.payload)):
            expect("XX" in source and "WAVE" in source and "10" in source, f"channel {source}")
            expect(extra is None or extra == unit, f"unit {extra} in the record, {unit} in the event")
            known = samples[axis]
            for i, value in enumerate(counts):
                at = start + round(i * 1e9 / rate)
                slack = range(-tolerance_ns, tolerance_ns + 1)
                truth = next((known[at + d] for d in slack if at + d in known), None)
                expect(truth is not None, f"{source}: a sample at {at} that the recording does not have")
                difference = abs(int(value) * unit - truth * scales[axis])
                worst = max(worst, difference)
                exact += int(value) * unit == truth * scales[axis]
                times[axis].append(at)
                count += 1
        expect(worst <= 0.5 * unit * (1 + 1e-6), f"off by {worst} m/s²: more than half a count of {unit}")
        if isinstance(scale, float):
            expect(unit == scale, f"a count is {unit} m/s², the recording's is {scale}")
            expect(exact == count, f"{count - exact} of {count} samples are not the very same")
        for axis in AXES:
            expect(times[axis] == times["E"], f"{axis} has other times than E")
        # Everything that the recording has from ten seconds (and at most a sample) before the onset to the end, and no more.
        expect(len(set(times["E"])) == len(times["E"]), "a sample came twice")
        begin, last = ns(end["onset"]) - 10_000_000_000, ns(end["end"]) + tolerance_ns
        first = min(times["E"])
        expect(begin - first <= 1e9 / rate, f"the first sample is {begin - first} ns before the ten seconds")
        wanted = sorted(t for t in samples["E"] if min(first, begin + tolerance_ns) <= t <= last)
        expect(len(wanted) == len(times["E"]), f"{len(times['E'])} samples of {len(wanted)}")
        holes, gaps = (int((np.diff(np.array(t)) > 1.5e9 / rate).sum()) for t in (times["E"], wanted))
        expect(holes == gaps == end.get("gaps", 0), f"{holes} gaps in the waveform, {gaps} in the recording, {end.get('gaps', 0)} in the event")
        lines.append(f"{count} samples, {exact} the very same, worst {worst:.2g} m/s² (a count is {unit:.4g}), "
                     f"{said['messages']} messages, {said['records']} records, {said['bytes']} bytes")
    if name == "quake-default":
        lines.append(check_traces(messages))
    for line in lines:
        print(f"{name:<22} {line}", flush=True)


async def main():
    agent, folder, recording = *sys.argv[1:3], os.path.abspath(sys.argv[3])
    gapped = os.path.join(folder, "gap.mseed")
    with_gap(gapped)
    real, made = recorded(recording), recorded(gapped)
    separate = [1 / SENSITIVITY[axis] for axis in AXES]
    cases = [
        # name, file, samples, scale, encoding, reader, nanoseconds of slack, seconds per message, protocol, events: behind the
        # gap there is a second one, whose ten seconds it cuts
        ("quake-default", recording, real, 4.674e-06, None, read_v2, 1, 10, 5, 1),
        ("quake-v3", recording, real, 4.674e-06, "mseed3", read_v3, 1, 10, 5, 1),
        ("quake-v2", recording, real, separate, "mseed2", read_v2, 1, 10, 5, 1),
        ("quake-v3-separate", recording, real, separate, "mseed3", read_v3, 1, 3.7, "3.1.1", 1),
        ("gap-v3", gapped, made, 1e-05, "mseed3", read_v3, 1, 10, 5, 2),
        ("gap-v2", gapped, made, 1e-05, "mseed2", read_v2, 1, 10, 5, 2),
    ]

    async def one(name, file, samples, scale, encoding, read, slack, chunk, protocol, events):
        try:
            messages = await run(agent, broker.port, folder, name, file, scale, encoding, chunk, protocol, events)
            check(name, messages, samples, scale, read, slack, protocol)
        except Failure as failure:
            print(f"{name:<22} FAILED: {failure}", flush=True)
            return False
        return True

    broker = await Mosquitto(folder).start()
    try:
        return 0 if all(await asyncio.gather(*(one(*case) for case in cases))) else 1
    finally:
        broker.stop()


finish(main())
