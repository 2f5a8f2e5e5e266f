"""run.py AGENT TOOL FOLDER RECORDING KILLS: see deploy/checks/history."""

import asyncio
import io
import json
import os
import random
import subprocess
import sys
import time

import obspy
from obspy.io.quakeml.core import _validate

from agent import Agent, playing
from client import Client, Refused, response_to
from kinds import Mosquitto
from verdict import Failure, expect


class Reader:
    """One who hears a station's events, and is killed now and then."""

    def __init__(self, port, station):
        self.port, self.station = port, station
        self.seen, self.replies, self.health, self.number = {}, {}, [], 0
        self.client = None

    async def connect(self, *more):
        while True:
            self.number += 1
            try:
                self.client = Client(f"reader-{self.number}", version=5, take=self.take)
                await self.client.connect(self.port, seconds=2)
                for topic in ("event/trigger", "data/history/event/trigger", "res/#", "state/health", *more):
                    await self.client.subscribe(f"seismote/{self.station}/{topic}")
                return self
            except (OSError, Refused, asyncio.TimeoutError):
                await asyncio.sleep(0.05)

    async def kill(self):
        if self.client:
            await self.client.close(politely=False)

    def take(self, message):
        kind = message.topic.split("/", 2)[2]
        if kind.endswith("event/trigger"):
            body = json.loads(message.payload)
            number = body["boot"], body["seq"]
            expect(self.seen.setdefault(number, message.payload) == message.payload, f"{number} is not the same again")
        elif kind == "state/health":
            self.health.append(json.loads(message.payload))
        elif kind.startswith("res/"):
            self.replies.setdefault(kind[4:], []).append((time.monotonic(), message))

    async def ask(self, verb, request, seconds=20):
        """The last reply and how long it took."""
        self.number += 1
        name = f"q{self.number}"
        topic = f"seismote/{self.station}/cmd/{verb}"
        began = time.monotonic()
        await self.client.publish(
            topic, json.dumps({**request, "id": name}).encode(),
            properties=response_to(f"seismote/{self.station}/res/{name}", name))
        while time.monotonic() < began + seconds:
            for at, message in self.replies.get(name, []):
                if message.properties.get(0x03) == b"application/cbor":
                    return message.payload, at - began
                reply = json.loads(message.payload)
                if reply["phase"] != "accepted":
                    return reply, at - began
            await asyncio.sleep(0.01)
        raise Failure(f"{verb}: no answer in {seconds} s")


def holes(seen):
    """{boot: [(from, to)]} of the numbers between the first and the last that are missing."""
    found = {}
    for boot in {boot for boot, _ in seen}:
        numbers = {number for other, number in seen if other == boot}
        missing = [number for number in range(max(numbers) + 1) if number not in numbers]
        ranges = []
        for number in missing:
            if ranges and ranges[-1][1] == number - 1:
                ranges[-1][1] = number
            else:
                ranges.append([number, number])
        found[boot] = ranges
    return found


async def fill(program, folder, recording, kills, chance):
    broker = await Mosquitto(folder, "holes").start()
    agent = playing(program, folder, "holes", os.path.abspath(recording), 15,
                    {"mqtt": {"uri": f"mqtt://127.0.0.1:{broker.port}", "reconnect": {"min_s": 0.1, "max_s": 0.5}}}).start()
    reader = await Reader(broker.port, "holes").connect()
    try:
        for _ in range(kills):
            await asyncio.sleep(chance.uniform(0.3, 2))
            await reader.kill()
            await asyncio.sleep(chance.uniform(0, 1))
            await reader.connect()
            await asyncio.sleep(chance.uniform(0.3, 1.5))
            broker.stop()
            await asyncio.sleep(chance.uniform(0, 0.5))
            await broker.start()
            await reader.kill()
            await reader.connect()
        # What waited for the broker comes by itself.
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not (
                reader.health and reader.health[-1]["outbox"]["messages"] == 0):
            await asyncio.sleep(0.2)
        await asyncio.sleep(1)
        missed = holes(reader.seen)
        count = sum(last - first + 1 for ranges in missed.values() for first, last in ranges)
        for boot, ranges in missed.items():
            for first, last in ranges:
                reply, _ = await reader.ask(
                    "resend", {"stream": "event/trigger", "boot": boot, "from_seq": first, "to_seq": last})
                expect(reply["phase"] == "done" and reply["result"]["gone"] == [], f"{first} to {last}: {reply}")
                expect(reply["result"]["sent"] == last - first + 1, f"{first} to {last}: {reply}")
        deadline = time.monotonic() + 30
        left = missed
        while time.monotonic() < deadline and any(left.values()):
            await asyncio.sleep(0.2)
            seen = {number for number in reader.seen if number[1] <= max(
                [last for _, last in missed.get(number[0], [])] + [0])}
            left = holes(seen)
        expect(not any(left.values()), f"still missing after resend: {left}")
        beyond, _ = await reader.ask(
            "resend", {"stream": "event/trigger", "boot": boot, "from_seq": 1_000_000, "to_seq": 1_000_002})
        expect(beyond["result"]["gone"] == [[1_000_000, 1_000_002]], f"{beyond}")
        expect(count > 0, "no hole was made: nothing was tried")
        print(f"holes: {kills} kills of a reader and {kills} of the broker made {count} holes among {len(reader.seen)} "
              "messages; resend filled all of them", flush=True)
    finally:
        await reader.kill()
        agent.stop()
        broker.stop()


async def ask_all(reader, what, limit):
    """Asks for all that only reads; the slowest answer."""
    slowest = 0.0
    now = time.time()
    at = lambda ago: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - ago))
    for verb, request in (
            ("events", {"limit": 100}), ("events", {"min_mmi": 1, "limit": 100}),
            ("history", {"from": at(4900), "to": at(0), "step_s": 1}),
            ("history", {"from": at(4900), "to": at(0), "step_s": 1, "encoding": "cbor"}),
            ("history", {"from": at(30 * 86400), "to": at(0), "step_s": 600})):
        reply, seconds = await reader.ask(verb, request)
        expect(isinstance(reply, bytes) or reply["phase"] == "done", f"{what}: {verb}: {reply}")
        size = len(reply) if isinstance(reply, bytes) else len(json.dumps(reply))
        print(f"{what}: {verb} {json.dumps({k: v for k, v in request.items() if k not in ('from', 'to')})}: "
              f"{seconds:.2f} s, {size // 1000} kB", flush=True)
        slowest = max(slowest, seconds)
    expect(slowest < limit, f"{what}: an answer took {slowest:.2f} s")


async def busy(program, tool, folder):
    broker = await Mosquitto(folder, "busy").start()
    small = os.path.join(folder, "small")
    is_small = os.path.ismount(small)
    settings = {"mqtt": {"uri": f"mqtt://127.0.0.1:{broker.port}"}, "sensor": {"rate_hz": 1000},
                "storage": {"budget_mb": 16, **({"directory": small} if is_small else {})}}
    agent = Agent(program, folder, "busy", settings).start()
    reader = await Reader(broker.port, "busy").connect("data/history/waveform/#")
    try:
        await asyncio.sleep(4)
        for _ in range(3):
            reply, _ = await reader.ask("test-event", {})
            expect(reply["phase"] == "done", f"test-event: {reply}")
            await asyncio.sleep(7)
        expect(reader.health, f"no health: {agent.words()[-1000:]}")
        before = agent.memory_kib()
        await ask_all(reader, "1000 Hz", 2)
        reply, _ = await reader.ask("events", {"limit": 5})
        events = reply["result"]["events"]
        expect(len(events) >= 1, f"no events: {reply}")
        one, _ = await reader.ask("event", {"event_id": events[0]["event_id"], "waveform": True})
        expect(one["result"]["sha256"] == events[0]["waveform"]["sha256"], "another waveform than the event's")
        xml = subprocess.run(
            [tool, "ctl", "events", "busy", "--since", "1d", "--quakeml", "--broker", f"127.0.0.1:{broker.port}"],
            check=True, capture_output=True).stdout
        expect(_validate(io.BytesIO(xml)), "the QuakeML is not valid")
        catalogue = obspy.read_events(io.BytesIO(xml), format="QUAKEML")
        picks = {str(event.picks[0].time)[:23] for event in catalogue}
        wanted = {event["onset"][:23] for event in (await reader.ask("events", {"limit": 100}))[0]["result"]["events"]}
        expect(picks <= wanted and len(catalogue) >= len(events), f"{picks} and {wanted}")
        print(f"QuakeML: {len(catalogue)} events, valid, picks and amplitudes as published", flush=True)
        # (At the moment when a disk fills up the database may be busy with it.)
        if is_small:
            filler = os.open(os.path.join(small, "filler"), os.O_WRONLY | os.O_CREAT)
            try:
                while True:
                    os.write(filler, b"\0" * 4096)
            except OSError:
                os.close(filler)
            await asyncio.sleep(14)
            expect("storage unavailable" in agent.words(), "the disk is full, and nobody has noticed")
            await ask_all(reader, "full disk", 2)
            refused, _ = await reader.ask(
                "resend", {"stream": "event/trigger", "boot": events[0]["boot"], "from_seq": 0, "to_seq": 1})
            print(f"full disk: resend: {refused['phase']} {[e['message'] for e in refused['errors']]}", flush=True)
        grown = agent.memory_kib() - before
        await asyncio.sleep(1.5)
        health = reader.health[-1]
        expect(health["gaps"] == 0 and health["lost_samples"] == 0, f"{health['gaps']} gaps, {health['lost_samples']} lost")
        print(f"1000 Hz: {health['samples']} samples, no gap; memory grew by {grown} kB, loop late by at most "
              f"{max(one['loop_late_ms'] for one in reader.health):.0f} ms", flush=True)
        expect(grown < 6000, f"memory grew by {grown} kB")
    finally:
        await reader.kill()
        agent.stop()
        broker.stop()


async def main():
    agent, tool, folder, recording, kills = *sys.argv[1:5], int(sys.argv[5])
    failed = False
    for one in (fill(agent, folder, recording, kills, random.Random(kills)), busy(agent, tool, folder)):
        try:
            await one
        except Failure as failure:
            print(f"FAILED: {failure}", flush=True)
            failed = True
    sys.exit(1 if failed else 0)


asyncio.run(main())
